"""Numbers as people write them: with a decimal point or comma, and separators of thousands."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

from numpy.typing import NDArray

from elmbench.datasets.table import is_missing
from elmbench.datasets.user_files.missing_words import is_missing_word

#: A column with at least this share of numbers is a column of numbers.
MOSTLY = 0.8
#: Number of values of a column that determine its kind.
SAMPLE = 1000
#: Numbers by their decimal mark. Thousands, or lakhs and crores, may be separated: 1,234,567 or
#: 12,34,567.
NUMBERS = {
    mark: re.compile(
        rf"[+-]?(([1-9]\d{{0,2}}(?P<mark>[{other}'’ "
        rf"\u00a0\u202f])(\d{{2,3}}(?P=mark))*\d{{3}}|\d+)(\{mark}\d*)?"
        rf"|\{mark}\d+)([eE][+-]?\d+)?",
        re.ASCII,
    )
    for mark, other in (".,", ",.")
}
#: The characters of a number, by its decimal mark, in the notation of Python.
_PLAIN = {
    mark: str.maketrans({**dict.fromkeys(".,'’ \u00a0\u202f"), mark: "."})
    for mark in ".,"
}
#: A number with a unit: a sign, such as % or $, the code of a currency, or a word, such as kg.
_WITH_UNIT = re.compile(
    r"[+-]?(?P<before>[$€£¥₹]|[A-Z]{3}(?=\s))?\s?[+-]?"
    r"\d([\d.,'’]|\s(?=\d{3}(?!\d)))*\s?(?P<after>\D*)"
)
#: A column of words has numbers with units if it has at most this many distinct units.
_MOST_UNITS = 3
#: A number whose point may separate thousands.
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+")


def looks_numeric(word: str) -> bool:
    """Return True if a word is a number with any decimal mark and any separator of thousands.

    Such are 1.234,5 and 1'000, but not 12 kg.
    """
    return any(pattern.fullmatch(normalized(word)) for pattern in NUMBERS.values())


def may_have_thousands(words: Iterable[str]) -> bool:
    """Return True if the points of words may separate thousands, as in 1.234.567.

    There must be a point, and every word with one must have this form. Words for a missing value
    are ignored.
    """
    pointed = {word for word in words if "." in word and not is_missing_word(word)}
    return bool(pointed) and all(map(_GROUPED.fullmatch, map(normalized, pointed)))


def number_with_unit(values: NDArray[Any]) -> str:
    """Return the first number with a unit, such as 12 kg, of a column that mostly holds numbers.

    The numbers may have up to three different units or none. "" for any other column: of words, or
    of numbers without a unit.
    """
    words = sample_words(values)
    matches = [match for match in map(_WITH_UNIT.fullmatch, words) if match]
    if len(matches) < MOSTLY * len(words):
        return ""
    first_words: dict[tuple[str | None, str], str] = {}
    for match in matches:
        unit = (match["before"], match["after"])
        word = match[0]
        first_words.setdefault(unit, word)
    without_unit = (None, "")
    first_words.pop(without_unit, None)
    n_units = len(first_words)
    if not 1 <= n_units <= _MOST_UNITS:
        return ""
    return next(iter(first_words.values()))


def parse_number(word: str | None, decimal: str) -> float | None:
    """Return the number of a word; NaN for a missing value, None if it is not a number.

    `decimal`: its decimal mark, "," or "."; the other one may separate thousands. Missing are None
    and the words of `is_missing_word`, such as NA.
    """
    if word is None or is_missing_word(word):
        return math.nan
    text = normalized(word)
    if not NUMBERS[decimal].fullmatch(text):
        return None
    return float(text.translate(_PLAIN[decimal]))


def normalized(word: str) -> str:
    """Return a word without surrounding spaces, and with an ASCII hyphen as the minus sign.

    Nothing else is changed: decimal marks and separators of thousands stay.
    """
    return word.strip().replace("\u2212", "-")


def sample_words(values: NDArray[Any]) -> list[str]:
    """Return 500 to 1000 evenly spaced words of a column, or all of fewer than 1000.

    None and words for a missing value are then left out. If more than half of the sampled values
    are None, the sample is taken from the others. `values`: an object array.
    """
    step = 1 + len(values) // SAMPLE
    sample = values[::step]
    present = sample[~is_missing(sample)]
    if len(present) < len(sample) / 2:
        # A column of many missing values is searched as a whole.
        all_present = values[~is_missing(values)]
        present = all_present[:: 1 + len(all_present) // SAMPLE]
    return [word for word in present if not is_missing_word(word)]

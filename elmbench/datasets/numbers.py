"""Numbers in the notations of people: decimal commas, separators of thousands, and words for missing values."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elmbench.datasets.table import Table, category_word, is_number, label_word, to_frame
from elmbench.errors import ElmbenchError

if TYPE_CHECKING:
    import pandas as pd

#: Words for a missing value in any column: those of pandas but "None", which may be a category, and "?".
MISSING = {
    "", "?", "NA", "N/A", "n/a", "<NA>", "#N/A", "#N/A N/A", "#NA", "NaN", "nan", "-NaN", "-nan", "NULL", "null",
    "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN",
}  # fmt: skip
#: Further words for a missing value, in lower case; in columns of numbers and of dates only.
_MISSING_NUMBER = {
    "", "none", "na", "n.a.", "n/a", "nan", "null", "nil", "-", "--", "---", ".", "..", "missing", "unknown", "(null)",
    "not available", "#n/a", "#value!", "#div/0!", "#ref!", "#num!", "#name?",
}  # fmt: skip
#: A column with at least this share of numbers is a column of numbers.
MOSTLY = 0.8
#: A target with at most this many distinct numbers may hold labels, and any other word is then a label as well.
_FEW = 20
#: Number of values of a column that determine its kind.
_SAMPLE = 1000
#: Numbers by their decimal mark. Thousands, or lakhs and crores, may be separated: 1,234,567 or 12,34,567.
_NUMBERS = {
    mark: re.compile(
        rf"[+-]?(([1-9]\d{{0,2}}(?P<mark>[{other}'’ \u00a0\u202f])(\d{{2,3}}(?P=mark))*\d{{3}}|\d+)(\{mark}\d*)?"
        rf"|\{mark}\d+)([eE][+-]?\d+)?",
        re.ASCII,
    )
    for mark, other in (".,", ",.")
}
#: The characters of a number, by its decimal mark, in the notation of Python.
_PLAIN = {mark: str.maketrans({**dict.fromkeys(".,'’ \u00a0\u202f"), mark: "."}) for mark in ".,"}
#: A number with a unit: a sign, such as % or $, or a word, such as kg.
_WITH_UNIT = re.compile(r"[+-]?([$€£¥₹]?)\s?[+-]?\d[\d.,]*\s?(\D*)")


def looks_numeric(word: str) -> bool:
    """Return True for a number with any decimal mark and any separator of thousands."""
    return any(pattern.fullmatch(_stripped(word)) for pattern in _NUMBERS.values())


def is_missing_word(word: str) -> bool:
    """Return True if a word of a column of numbers or dates stands for a missing value."""
    return word.strip().lower() in _MISSING_NUMBER


def unit_of(values: NDArray[Any]) -> str:
    """Return the first word of a column of numbers with one unit, such as 12 kg; empty if it is another column."""
    words = _sample(values)
    units = {match.groups() if (match := _WITH_UNIT.fullmatch(word)) else ("", "") for word in words}
    return words[0] if len(units) == 1 and units != {("", "")} else ""


def with_numbers(table: Table, decimal: str = "") -> Table:
    """Convert numbers in other notations, in the features and the target, to floats.

    `decimal` ({"", ".", ","}): the decimal mark; detected if empty. Raises ElmbenchError if most but not all values of
    a column are numbers, or the decimal mark is ambiguous.
    """
    columns: dict[str, NDArray[Any]] = {}
    for name, values in [*table.nominal.items(), (table.target_name, table.target)]:
        sample = _sample(values) if values.dtype == object and name not in table.words else []
        if sample and sum(map(looks_numeric, sample)) >= MOSTLY * len(sample):
            columns[name] = values
    if not columns:
        return table
    decimal = decimal or _decimal_of(table, columns)
    if decimal == ",":
        table = table.remarked("numbers have a decimal comma")
    numbers: dict[str, list[Any]] = {}
    target = table.target
    for name, values in columns.items():
        parsed: dict[Any, Any] = {word: _parse(word, decimal) for word in {*values}}
        odd = [row for row, word in enumerate(values) if parsed[word] is None]
        if odd and (name in table.nominal or len(parsed) > _FEW):
            raise _not_all_numbers(table, name, odd)
        if name in table.nominal:
            numbers[name] = [parsed[word] for word in values]
        elif not odd:  # or else labels stay as they are
            words = {word: word if is_number(word) else repr(number) for word, number in parsed.items() if word}
            target = np.array([None if math.isnan(parsed[word]) else words[word] for word in values], dtype=object)
    return replace(table.with_numbers(numbers), target=target, decimal=decimal)


def as_read(X: Any, numbers: Collection[str], words: Collection[str], decimal: str) -> pd.DataFrame:
    """Return rows as a data frame whose columns have the values that a file of it would be read as: floats and words.

    `decimal`: the decimal mark of numbers that are text. Raises ValueError if a column of numbers holds anything else.
    """
    import pandas as pd

    frame = to_frame(X)
    for name in words:
        spelled = frame[name].astype(object).map(lambda value: category_word(label_word(value)), na_action="ignore")
        frame[name] = spelled.where(frame[name].notna(), np.nan)
    for name in numbers:
        values = frame[name]
        if not pd.api.types.is_numeric_dtype(values):
            text = values.map(str, na_action="ignore").astype(object).where(values.notna(), None).to_numpy()
            parsed = [_parse(word, decimal) for word in text]
            if None in parsed:
                raise ValueError(f"the column {name!r} holds {text[parsed.index(None)]!r}; expected a number")
            values = pd.Series(parsed, frame.index)
        frame[name] = values.to_numpy(dtype=np.float64, na_value=np.nan)
    return frame


def _sample(values: NDArray[Any]) -> list[str]:
    """Return evenly spaced words of a column, or all if they are few."""
    texts = values[[word is not None for word in values]]
    return [word for word in texts[:: 1 + len(texts) // _SAMPLE] if not is_missing_word(word)]


def _decimal_of(table: Table, columns: Mapping[str, NDArray[Any]]) -> str:
    """Return the decimal mark of the numbers in one file that were read as words."""
    pairs = [(name, word) for name, values in columns.items() for word in _sample(values) if looks_numeric(word)]
    comma, point = (next((pair for pair in pairs if _parse(pair[1], mark) is None), None) for mark in ".,")
    either = next((pair for pair in pairs if "," in pair[1] and _parse(pair[1], ".") != _parse(pair[1], ",")), None)
    if either and point is None and table.separator:
        fractions = np.argwhere(np.isfinite(table.X) & (np.round(table.X) != table.X))
        point = next(((table.names[column], str(table.X[row, column])) for row, column in fractions), None)
    if comma and point:
        examples = ", and ".join(f"the column {name!r} holds {word!r}" for name, word in (comma, point))
        next_step = "--drop or correct the odd one, or --decimal , or --decimal . (the other mark separates thousands)"
        raise ElmbenchError(f"{table.origin}: {examples}", expected="one decimal mark", next_step=next_step)
    if either and not (comma or point) and table.separator not in ("", ","):
        name, word = either
        numbers = f"{word.replace(',', '')} or {word.replace(',', '.')}"
        problem = f"{table.origin}: {word!r} in the column {name!r} may be {numbers}"
        expected = "a number that decides, such as 0,5"
        raise ElmbenchError(problem, expected=expected, next_step="--decimal , or --decimal .")
    return "," if comma else "."


def _stripped(word: str) -> str:
    return word.strip().replace("\u2212", "-")


def _parse(word: str | None, decimal: str) -> float | None:
    """Return the number of a word: NaN for a missing value, None if it is not a number."""
    if word is None or is_missing_word(word):
        return math.nan
    text = _stripped(word)
    return float(text.translate(_PLAIN[decimal])) if _NUMBERS[decimal].fullmatch(text) else None


def _not_all_numbers(table: Table, name: str, odd: list[int]) -> ElmbenchError:
    """Return the error for a column of numbers in which some rows hold words."""
    kind, values = ("column", table.nominal[name]) if name in table.nominal else ("target", table.target)
    value = f"{values[odd[0]]!r}" + (f" (and {len(odd) - 1} more)" if len(odd) > 1 else "")
    ways = f"; --words {quote(name)} if they are categories, --drop {quote(name)} to leave it out"
    return ElmbenchError(
        f"{table.origin}: the {kind} {name!r} is mostly numbers, but row {odd[0] + 1} holds {value}",
        expected="a number, or a usual word for a missing value such as NA",
        next_step=f"correct the file{ways * (kind == 'column')}",
    )

"""Numbers in the notations of people: decimal commas, separators of thousands, units, and words for missing values."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from elmbench.datasets.table import Table, category_word, few, is_number, label_word, to_frame
from elmbench.errors import ElmbenchError

if TYPE_CHECKING:
    import pandas as pd

#: Words for a missing value in any column: those of pandas but "None", which may be a category, and "?".
MISSING = {
    "", "?", "NA", "N/A", "n/a", "<NA>", "#N/A", "#N/A N/A", "#NA", "NaN", "nan", "-NaN", "-nan", "NULL", "null",
    "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN",
}  # fmt: skip
#: Further words for a missing value, in lower case; in columns of numbers only.
_MISSING_NUMBER = {
    "", "none", "na", "n.a.", "n/a", "nan", "null", "nil", "-", "--", "---", ".", "..", "missing", "unknown", "(null)",
    "not available", "#n/a", "#value!", "#div/0!", "#ref!", "#num!", "#name?",
}  # fmt: skip
#: A column with at least this share of numbers is a column of numbers.
MOSTLY = 0.8
#: A target with at most this many distinct numbers may hold labels, and any other word is then a label as well.
_FEW = 20
_LIKE_A_NUMBER = re.compile(
    r"[+\-\u2212]?(\d+([.,]\d*)?|[.,]\d+|[1-9]\d{0,2}(?P<mark>[.,'’ \u00a0\u202f])(\d{2,3}(?P=mark))*\d{3}([.,]\d*)?)"
    r"([eE][+-]?\d+)?",
    re.ASCII,
)
#: A number with a unit: a sign, such as % or $, or a word, such as kg.
_WITH_UNIT = re.compile(
    r"(?P<sign>[+\-\u2212]?)(?P<before>[$€£¥₹]?)\s?(?P<number>[\d.,](.*[\d.,])?)\s?(?P<after>[%$€£¥₹]|°?[^\W\d_][\w/]*|)"
)
#: Number of values of a column that determine its kind.
_SAMPLE = 1000
_PLAIN = {mark: re.compile(rf"[+-]?\d+(\{mark}\d+)?", re.ASCII) for mark in ",."}
#: Thousands, or lakhs and crores, are separated: 1,234,567 or 12,34,567.
_GROUPED = {mark: re.compile(rf"[+-]?[1-9]\d{{0,2}}(\{mark}\d{{2,3}})*\{mark}\d{{3}}", re.ASCII) for mark in ",."}


def looks_numeric(word: str) -> bool:
    """Return True for a number with any decimal mark and any separator of thousands."""
    return _LIKE_A_NUMBER.fullmatch(word.strip()) is not None


def with_numbers(table: Table, decimal: str = "") -> Table:
    """Convert numbers in other notations, in the features and the target, to floats.

    `decimal` ({"", ".", ","}): the decimal mark; detected if empty. A unit that all values of a column have is left
    out, but labels keep it. Raises ElmbenchError if most but not all values of a column are numbers, or the decimal
    mark is ambiguous.
    """
    columns: dict[str, NDArray[Any]] = {}
    units: dict[str, str] = {}
    for name, values in [*table.nominal.items(), (table.target_name, table.target)]:
        if values.dtype != object or name in table.words:
            continue
        values, unit = _without_unit(values) if name in table.nominal or len({*values}) > _FEW else (values, "")
        sample = _sample(values)
        if sample and sum(map(looks_numeric, sample)) >= MOSTLY * len(sample):
            columns[name] = values
            units |= {name: unit} if unit else {}
    if not columns:
        return table
    if units:
        examples = few([f"{name} ({unit})" for name, unit in units.items()], 8)
        table = table.remarked(f"numbers are read without their unit: {examples}")
    decimal = decimal or _decimal_of(table, columns)
    if decimal == ",":
        table = table.remarked("numbers have a decimal comma")
    numbers: dict[str, list[float]] = {}
    target = table.target
    for name, values in columns.items():
        parsed = {word: _parse(word, decimal) for word in dict.fromkeys(values) if word is not None}
        if name in table.nominal or len(parsed) > _FEW:
            _check_all_parsed(values, parsed, table, name)
        if name in table.nominal:
            numbers[name] = [math.nan if word is None else cast(float, parsed[word]) for word in values]
        elif None not in parsed.values():  # or else labels stay as they are
            plain = {
                word: None if math.isnan(number) else word if is_number(word) else repr(number)
                for word, number in parsed.items()
                if number is not None
            }
            target = np.array([plain.get(word) for word in values], dtype=object)
    return replace(table.with_numbers(numbers), target=target, decimal=decimal, units=units)


def check_units(units: Mapping[str, str], trained: Mapping[str, str]) -> list[str]:
    """Return a remark on each column without the unit that it has in the training rows.

    Raises ElmbenchError if a column has another unit.
    """
    for name, unit in units.items():
        if unit and unit != trained.get(name):
            expected = f"{trained.get(name) or 'numbers without unit'}, as in the training rows"
            raise ElmbenchError(f"the column {name!r} is in {unit}", expected=expected, next_step="convert it")
    gone = [f"{name} ({unit})" for name, unit in trained.items() if not units.get(name)]
    return [f"numbers without unit are taken in that of the training rows: {few(gone, 8)}"] if gone else []


def as_read(
    X: Any, numbers: Collection[str], words: Collection[str], decimal: str, units: Mapping[str, str]
) -> pd.DataFrame:
    """Return rows as a data frame whose columns have the values that a file of it would be read as: floats and words.

    `decimal`, `units`: the decimal mark, and the units by column, of numbers that are text. Raises ValueError if a
    column of numbers holds anything else.
    """
    from pandas.api.types import is_numeric_dtype

    frame = to_frame(X)
    for name in words:
        values = frame[name].astype(object)
        spelled = values.map(lambda value: category_word(label_word(value)))
        frame[name] = spelled.where(values.notna(), np.nan)
    for name in numbers:
        values = frame[name]
        if is_numeric_dtype(values):
            frame[name] = values.to_numpy(dtype=np.float64, na_value=np.nan)
            continue
        text = values.map(str, na_action="ignore").astype(object).where(values.notna(), None).to_numpy()
        plain, unit = _without_unit(text)
        check_units({name: unit}, units)
        parsed = [math.nan if word is None else _parse(word, decimal) for word in plain]
        if None in parsed:
            raise ValueError(f"the column {name!r} holds {text[parsed.index(None)]!r}; expected a number")
        frame[name] = np.array(parsed, dtype=np.float64)
    return frame


def _without_unit(values: NDArray[Any]) -> tuple[NDArray[Any], str]:
    """Return the words of a column without the unit that all its numbers have, and the unit; empty if there is none."""
    units = {_split(word)[1] for word in _sample(values)}
    unit = units.pop() if len(units) == 1 else ""
    if unit:
        split = {word: _split(word) for word in dict.fromkeys(values) if word is not None}
        plain = {word: number for word, (number, other) in split.items() if other == unit}
        values = np.array([plain.get(word, word) for word in values], dtype=object)
    return values, unit


def _split(word: str) -> tuple[str, str]:
    """Return a number without its unit, and the unit."""
    match = _WITH_UNIT.fullmatch(word.strip())
    return (match["sign"] + match["number"], match["before"] + match["after"]) if match else (word, "")


def _is_missing(word: str) -> bool:
    return word.strip().lower() in _MISSING_NUMBER


def _sample(values: NDArray[Any]) -> list[str]:
    """Return evenly spaced words of a column, or all if they are few."""
    texts = values[[word is not None for word in values]]
    words = texts[:: 1 + len(texts) // _SAMPLE]
    return [word for word in words if not _is_missing(word)]


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


def _parse(word: str, decimal: str) -> float | None:
    """Return the number of a word: NaN for a missing value, None if it is not a number."""
    if _PLAIN[decimal].fullmatch(word):
        return float(word.replace(decimal, "."))
    if _is_missing(word):
        return math.nan
    text = re.sub("(?<=\\d)['’ \u00a0\u202f](?=\\d{3}(?!\\d))", "", word.strip().replace("\u2212", "-"))
    whole, mark, fraction = text.partition(decimal)
    thousands = "," if decimal == "." else "."
    if _GROUPED[thousands].fullmatch(whole):
        whole = whole.replace(thousands, "")
    text = f"{whole}{'.' if mark else ''}{fraction}"
    return float(text) if thousands not in whole and is_number(text) else None


def _check_all_parsed(values: NDArray[Any], parsed: Mapping[str, float | None], table: Table, name: str) -> None:
    """Raise ElmbenchError if a word of a column of numbers is not a number."""
    odd = [row for row, word in enumerate(values) if word is not None and parsed[word] is None]
    if odd:
        kind = "column" if name in table.nominal else "target"
        value = f"{values[odd[0]]!r}" + (f" (and {len(odd) - 1} more)" if len(odd) > 1 else "")
        ways = f"; --words {quote(name)} if they are categories, --drop {quote(name)} to leave it out"
        raise ElmbenchError(
            f"{table.origin}: the {kind} {name!r} is mostly numbers, but row {odd[0] + 1} holds {value}",
            expected="a number, or a usual word for a missing value such as NA",
            next_step=f"correct the file{ways * (kind == 'column')}",
        )

"""Detection of the decimal mark of a file, from the numbers in its columns of words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from elmbench.datasets.table import Table
from elmbench.datasets.user_files.number_text import (
    NUMBERS,
    SAMPLE,
    looks_numeric,
    parse_number,
)
from elmbench.errors import ElmbenchError, wording

#: The beginning of a number of four digits or more without a separator of thousands.
_UNGROUPED = re.compile(r"[+-]?\d{4}")


class _Example(NamedTuple):
    """A number of a file, as it is written there."""

    column: str
    word: str


def detect_decimal_mark(table: Table, columns: Mapping[str, list[str]]) -> str:
    """Return the decimal mark of one file; empty if no number has one.

    A number decides if only one mark can read it. The other mark then separates thousands, which
    must be evident. Without a decision, a point is a decimal point in a comma-separated file and in
    a file that is not text. Raises ElmbenchError if the numbers contradict each other or decide
    nothing.

    `columns`: the words of the columns of numbers.
    """
    comma, point = _deciding_examples(table, columns)
    if not (comma or point):
        return _undecided_mark(table, columns)
    if comma and not point:
        point = _doubtful_thousands(columns, ".")
    elif point and not comma and _may_have_commas(table):
        comma = _doubtful_thousands(columns, ",")
    if comma and point:
        raise _contradiction(table, comma, point)
    return "," if comma else "."


def assumed_mark_warnings(
    table: Table, columns: Mapping[str, list[str]], decimal: str
) -> Iterator[str]:
    """Yield a warning if some number would differ with the other decimal mark, and no number of the
    rows shows that their mark is `decimal`, that of the training rows.
    """
    example = (
        _first_doubtful(table, columns) if decimal == "." else _first_ambiguous(columns)
    )
    decides = _deciding_number(columns, decimal) or (
        decimal == "." and _first_fraction(table)
    )
    if example is None or decides:
        return
    name, word = example
    other = "," if decimal == "." else "."
    value = f"{parse_number(word, decimal):.12g}"
    other_value = f"{parse_number(word, other):.12g}"
    yield (
        f"warning: {word!r} in the column {name!r} is read as {value}, with the decimal mark "
        f"{decimal} of the training rows: --decimal {other} if it is {other_value}"
    )


def _deciding_examples(
    table: Table, columns: Mapping[str, list[str]]
) -> tuple[_Example | None, _Example | None]:
    """Return a number that only a decimal comma can read, and one that only a decimal point can,
    each with its column and None without one.

    All values of the columns are tried only if a sample has no such number.
    """
    samples = {
        name: words[:: 1 + len(words) // SAMPLE] for name, words in columns.items()
    }
    comma = _deciding_number(samples, ",")
    point = _deciding_number(samples, ".")
    if not (comma or point):
        comma = _deciding_number(columns, ",")
        point = _deciding_number(columns, ".")
    return comma, point or _first_fraction(table)


def _undecided_mark(table: Table, columns: Mapping[str, list[str]]) -> str:
    """Return the decimal mark of a file without a deciding number: a point, or empty if no number
    has a mark. Raises ElmbenchError if a mark is doubtful.
    """
    example = _first_doubtful(table, columns)
    if example is not None:
        raise _ambiguity(table, example)
    return "." if _first_ambiguous(columns) else ""


def _may_have_commas(table: Table) -> bool:
    """Return True if the file is text whose fields are not separated by commas."""
    return table.separator not in ("", ",")


def _contradiction(table: Table, *examples: _Example) -> ElmbenchError:
    """Return the error for numbers with different decimal marks."""
    listing = ", and ".join(
        f"the column {name!r} holds {word!r}" for name, word in examples
    )
    options = (
        "--drop or correct the odd one, or --decimal , or --decimal . (the other mark "
        "separates thousands)"
    )
    return ElmbenchError(
        f"{table.origin}: {listing}",
        expected="one decimal mark",
        next_step=wording(
            options, "correct the odd one, or convert the columns to floats"
        ),
    )


def _ambiguity(table: Table, example: _Example) -> ElmbenchError:
    """Return the error for a number that both decimal marks can read, if no other decides."""
    name, word = example
    mark = "." if "." in word else ","
    numbers = f"{word.replace(mark, '')} or {word.replace(mark, '.')}"
    return ElmbenchError(
        f"{table.origin}: {word!r} in the column {name!r} may be {numbers}",
        expected="a number that decides, such as 0,5 or 0.5",
        next_step=wording("--decimal , or --decimal .", "convert the column to floats"),
    )


def _deciding_number(columns: Mapping[str, list[str]], mark: str) -> _Example | None:
    """Return the first number, with its column, that `mark` can read as the decimal mark and the
    other mark cannot; None without one.
    """
    this = NUMBERS[mark]
    other = NUMBERS["." if mark == "," else ","]
    for name, words in columns.items():
        for word in words:
            if not other.fullmatch(word) and this.fullmatch(word):
                return _Example(column=name, word=word)
    return None


def _first_doubtful(table: Table, columns: Mapping[str, list[str]]) -> _Example | None:
    """Return the first number, with its column, whose mark may be a decimal mark or not in such a
    file; None without one.

    Programs write the words of a file that is not text, so a point is a decimal point there. The
    numbers of a comma-separated file have no decimal comma.
    """
    if table.separator == ",":
        return None
    return _first_ambiguous(columns, marks=".," if table.separator else ",")


def _first_ambiguous(
    columns: Mapping[str, list[str]], marks: str = ".,"
) -> _Example | None:
    """Return the first number, with its column, that has one of these marks and that both decimal
    marks can read; None without one.
    """
    for name, words in columns.items():
        for word in words:
            if any(mark in word for mark in marks) and _is_ambiguous(word):
                return _Example(column=name, word=word)
    return None


def _is_ambiguous(word: str) -> bool:
    """Return True if a word is a number with either decimal mark, but of different values, such as
    1.234.
    """
    numbers = {parse_number(word, mark) for mark in ".,"}
    return len(numbers) == 2 and None not in numbers


def _first_fraction(table: Table) -> _Example | None:
    """Return the first number with a decimal point, with its column, among the floats of a text
    file; None without one.
    """
    X = table.X
    if not table.separator or not isinstance(X, np.ndarray):
        return None
    for index, name in enumerate(table.names):
        values = X[:, index]
        is_whole = values == np.round(values)
        is_fraction = np.isfinite(values) & ~is_whole
        fractions = values[is_fraction]
        if len(fractions):
            first = fractions[0]
            return _Example(column=name, word=str(first))
    return None


def _doubtful_thousands(columns: Mapping[str, list[str]], mark: str) -> _Example | None:
    """Return the first number, with its column, in which a mark may separate thousands or decimals;
    None without one.

    It separates thousands if every number of the column from 1000 on has it, and some number would
    not have it with three decimals: one below 1000, or one of two marks.
    """
    for name, words in columns.items():
        marked = [word for word in words if mark in word and _is_ambiguous(word)]
        if not marked:
            continue
        are_evident = _are_evident_thousands(words, mark)
        if not are_evident:
            return _Example(column=name, word=marked[0])
    return None


def _are_evident_thousands(words: list[str], mark: str) -> bool:
    """Return True if the numbers of a column show that a mark separates thousands: those without it
    are all below 1000 and there is one, or a number has several of these marks.
    """
    unmarked = [word for word in words if mark not in word and looks_numeric(word)]
    if any(_UNGROUPED.match(word) for word in unmarked):
        return False
    return bool(unmarked) or any(word.count(mark) > 1 for word in words)

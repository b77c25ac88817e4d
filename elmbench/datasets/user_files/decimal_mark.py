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
    """A number of a file, as it is written there, and the name of its column."""

    column: str
    word: str


def detect_decimal_mark(table: Table, columns: Mapping[str, list[str]]) -> str:
    """Return the decimal mark of one file, "," or "."; empty if no number has one.

    A number decides if only one mark can read it. The mark that cannot then separates thousands,
    which must be evident. Without a decision, a point is a decimal point in a comma-separated file
    and in a file that is not text. Raises ElmbenchError if the numbers contradict each other or
    decide nothing.

    `table`: gives the separator of fields and the floats that are read already. `columns`: {name:
    words} of the columns of words that mostly spell numbers, without missing words.
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
    """Yield a warning if `decimal`, the mark of the training rows, may not be that of `table`.

    `table` holds different rows, such as those to predict. Its mark is doubtful if the mark that is
    not `decimal` would change one of its numbers, and no number of `table` shows that the mark is
    `decimal`. At most one warning. `table`: gives the separator and the floats that are read
    already. `columns`: {name: words} of its columns of words that mostly spell numbers. `decimal`:
    "," or ".".
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
    """Return a number that only a decimal comma can read, and one that only a decimal point can.

    Each is None if there is none. All values of the columns (`columns`: {name: words}) are tried
    only if a sample has neither. Floats of a text file with a fraction prove a decimal point.
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
    """Return the decimal mark of a file in which no number decides: ".", or "" without any mark.

    `columns`: {name: words}. Raises ElmbenchError if a number may have either decimal mark in such
    a file.
    """
    example = _first_doubtful(table, columns)
    if example is not None:
        raise _ambiguity(table, example)
    return "." if _first_ambiguous(columns) else ""


def _may_have_commas(table: Table) -> bool:
    """Return True if the file is text whose fields are not separated by commas."""
    return table.separator not in ("", ",")


def _contradiction(table: Table, *examples: _Example) -> ElmbenchError:
    """Return the error for numbers with different decimal marks, each with its column."""
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
    """Return the error for a number such as 1.234 that both decimal marks can read."""
    name, word = example
    mark = "." if "." in word else ","
    numbers = f"{word.replace(mark, '')} or {word.replace(mark, '.')}"
    return ElmbenchError(
        f"{table.origin}: {word!r} in the column {name!r} may be {numbers}",
        expected="a number that decides, such as 0,5 or 0.5",
        next_step=wording("--decimal , or --decimal .", "convert the column to floats"),
    )


def _deciding_number(columns: Mapping[str, list[str]], mark: str) -> _Example | None:
    """Return the first number that only `mark` can read as the decimal mark; None without one.

    `columns`: {name: words without surrounding spaces}. `mark`: "," or ".".
    """
    this = NUMBERS[mark]
    other = NUMBERS["." if mark == "," else ","]
    for name, words in columns.items():
        for word in words:
            if not other.fullmatch(word) and this.fullmatch(word):
                return _Example(column=name, word=word)
    return None


def _first_doubtful(table: Table, columns: Mapping[str, list[str]]) -> _Example | None:
    """Return the first number whose mark may separate decimals or thousands; None without one.

    Programs write the words of a file that is not text, so a point is a decimal point there. The
    numbers of a comma-separated file have no decimal comma, so none is doubtful. `columns`: {name:
    words}.
    """
    if table.separator == ",":
        return None
    return _first_ambiguous(columns, marks=".," if table.separator else ",")


def _first_ambiguous(
    columns: Mapping[str, list[str]], marks: str = ".,"
) -> _Example | None:
    """Return the first number such as 1.234, whose value depends on the decimal mark; None without.

    The number must have one of `marks`, a text of one or both marks. `columns`: {name: words}.
    """
    for name, words in columns.items():
        for word in words:
            if any(mark in word for mark in marks) and _is_ambiguous(word):
                return _Example(column=name, word=word)
    return None


def _is_ambiguous(word: str) -> bool:
    """Return True if both decimal marks can read a word, with different values, such as 1.234."""
    numbers = {parse_number(word, mark) for mark in ".,"}
    return len(numbers) == 2 and None not in numbers


def _first_fraction(table: Table) -> _Example | None:
    """Return the first float with a fraction of the table, such as 0.5; None without one.

    It proves a decimal point in a text file. None also for sparse rows, or if the file is not text.
    The word of the example is the text of the float, which the file may spell differently (0.50).
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
    """Return the first number in which `mark` may separate thousands or decimals; None without one.

    The mark is known to separate thousands if every number of the column from 1000 on has it, and a
    number of the column shows that it is no decimal mark: one without it, or one with it twice.
    `columns`: {name: words}.
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
    """Return True if the numbers among the `words` of a column show that `mark` separates
    thousands.

    No number without `mark` may begin with four digits. There must be a number without `mark`, or
    one that has it several times.
    """
    unmarked = [word for word in words if mark not in word and looks_numeric(word)]
    if any(_UNGROUPED.match(word) for word in unmarked):
        return False
    return bool(unmarked) or any(word.count(mark) > 1 for word in words)

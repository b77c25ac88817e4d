"""The separator of a text table, which is detected unless it is given."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from elmbench.datasets.user_files.headers import complete_header, n_title_rows
from elmbench.datasets.user_files.number_text import looks_numeric
from elmbench.errors import ElmbenchError

#: Separators in the order of trial: a comma may also be a decimal mark.
SEPARATORS = {
    "\t": "tabs",
    ";": "semicolons",
    "|": "bars",
    ",": "commas",
    " ": "spaces",
}
#: Number of rows from which the separator and the header are detected.
SAMPLE_ROWS = 1000
#: Number of these rows, and of fields of each, whose numbers decide between separators.
_FEW_ROWS = 100
_FEW_FIELDS = 100


def rows_of_fields(text: str, separator: str) -> Iterator[list[str]]:
    """Yield the fields of each row of `text` that is not blank, read as CSV with this separator.

    Spaces after a separator are skipped.
    """
    # Not text.splitlines(): a copy of the text takes longer than the first rows.
    lines = (match[0] for match in re.finditer(".*\n?", text))
    return filter(None, csv.reader(lines, delimiter=separator, skipinitialspace=True))


def separator_of(text: str, separator: str) -> tuple[str, str]:
    """Return the separator, and the text without a first line `sep=;` that some programs write.

    `separator`: one character, `tab`, `space` or `\\t`; "" to take it from that line, or to detect
    it. Raises ElmbenchError for any longer one.
    """
    first = _first_line(text)
    if len(first.strip()) == len("sep=;") and first.startswith("sep="):
        separator = separator or first[4]
        text = text[len(first) + 1 :]
    separator = {"\\t": "\t", "tab": "\t", "space": " "}.get(separator, separator)
    if len(separator) > 1:
        problem = f"the separator {separator!r} has {len(separator)} characters"
        next_step = "correct --sep"
        raise ElmbenchError(
            problem, expected="one character, or tab or space", next_step=next_step
        )
    return separator or _detect_separator(text), text


def _detect_separator(text: str) -> str:
    """Return the separator that splits the first rows of `text` into equally many fields.

    Of several, the one with the most numbers among the fields, and of these the first in
    `SEPARATORS`. If none does, the rows below a title count. If none splits these, the most
    frequent of comma, tab, semicolon and bar in the first line; the comma if there is none.
    """
    samples: dict[str, list[list[str]]] = {}
    for separator in SEPARATORS:
        # A line of a wide table may be too long for one field.
        with suppress(csv.Error):
            samples[separator] = first_rows(text, separator)
    tables = {
        separator: rows for separator, rows in samples.items() if _are_table(rows)
    } or {separator: rows for separator, rows in samples.items() if n_title_rows(rows)}
    if tables:
        return max(tables, key=lambda separator: _n_numbers(tables[separator]))
    return max(",\t;|", key=_first_line(text).count)


def first_rows(text: str, separator: str) -> list[list[str]]:
    """Return the fields of the first thousand rows of `text` that are not blank."""
    return list(islice(rows_of_fields(text, separator), SAMPLE_ROWS))


def _n_numbers(rows: list[list[str]]) -> int:
    """Return how many of the first hundred fields of the first hundred rows but one are numbers."""
    fields = [field for row in rows[1:_FEW_ROWS] for field in row[:_FEW_FIELDS]]
    return sum(map(looks_numeric, fields))


def _first_line(text: str) -> str:
    """Return the first line of a text without its line feed; the rest is not copied."""
    end = text.find("\n")
    return text if end < 0 else text[:end]


def _are_table(rows: list[list[str]]) -> bool:
    """Return True if rows have equally many fields, two or more, once their header is complete.

    The header, the first row, may lack one field, for row names or at the end, but only if two or
    more rows follow. False without rows. `rows`: the fields of each line.
    """
    widths = {len(row) for row in rows}
    has_two_widths = len(widths) == 2
    if has_two_widths and len(rows) > 2:
        # The header may lack the name of the column of row names.
        completed, _ = complete_header(rows)
        widths = {len(row) for row in completed}
    has_one_width = len(widths) == 1
    return has_one_width and widths != {1}

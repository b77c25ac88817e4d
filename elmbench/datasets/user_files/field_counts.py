"""The number of fields in each row of a text table: all rows must have the same."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elmbench.datasets.user_files.separators import SEPARATORS
from elmbench.errors import ElmbenchError, amount

#: Number of bytes of a text that are searched at a time for separators.
_BLOCK = 2**18


def check_field_counts(
    text: str,
    separator: str,
    path: Path,
    *,
    width: int,
    is_detected: bool,
    n_above: int = 0,
) -> None:
    """Raise ElmbenchError unless all rows of `text` below line 1 have `width` fields, as line 1
    has.

    Blank lines are skipped. pandas would complete short rows silently. `is_detected`: True if the
    separator was detected, so that the error says how to name it. `n_above`: the number of lines of
    the file above the text, which count in the error.
    """
    widths = row_widths(text, separator)
    next(widths)
    for start, end, n_fields in widths:
        if n_fields == width:
            continue
        lines = f"line {n_above + start}"
        if end != start:
            lines = f"lines {n_above + start} to {n_above + end}, which a quotation mark joins"
        is_wider = n_fields > width
        is_preamble = is_wider and all(later == n_fields for _, _, later in widths)
        next_step = (
            "remove the lines above the header" if is_preamble else "correct the file"
        )
        if is_detected:
            next_step += ", or name its separator by --sep"
        title = SEPARATORS.get(separator, repr(separator))
        raise ElmbenchError(
            f"{path}: found {amount(n_fields, 'field')} in {lines}",
            expected=f"{amount(width, 'field')} separated by {title}, as in line {n_above + 1}",
            next_step=next_step,
        )


def have_field_count(content: bytes, separator: str, width: int) -> bool:
    """Return True if all lines of a text have `width` fields; False if this look cannot show it.

    It counts separators, and a blank line has one field. It shows nothing if the text has quotation
    marks, or the separator is a space or not ASCII. `content`: the text in UTF-8.
    """
    mark = separator.encode()
    if len(mark) != 1 or mark == b" " or b'"' in content:
        return False
    return all(
        bool((_n_marks(lines, mark) == width - 1).all())
        for lines in _blocks_of_lines(content)
    )


def _blocks_of_lines(content: bytes) -> Iterator[NDArray[np.uint8]]:
    """Yield the bytes of a text in blocks of whole lines that fit into the cache of a processor."""
    start = 0
    while start < len(content):
        line_end = content.find(b"\n", start + _BLOCK)
        is_last_line = line_end < 0
        end = len(content) if is_last_line else line_end + 1
        yield np.frombuffer(content, np.uint8, count=end - start, offset=start)
        start = end


def _n_marks(lines: NDArray[np.uint8], mark: bytes) -> NDArray[np.uint32]:
    """Return how often the byte `mark` occurs in each line, of shape (n_lines,).

    `lines`: the bytes of whole lines; the last one may lack its line feed.
    """
    ends = np.flatnonzero(lines == ord("\n"))
    after_ends = np.append(0, ends + 1)
    has_line = after_ends < len(lines)
    starts = after_ends[has_line]
    is_mark = lines == ord(mark)
    marks = is_mark.view(np.uint8)
    counts: NDArray[np.uint32] = np.add.reduceat(marks, starts, dtype=np.uint32)
    return counts


def _has_plain_fields(text: str, separator: str) -> bool:
    """Return True if every separator in a text ends a field.

    False if the text has a quotation mark, or if the separator is a space.
    """
    return '"' not in text and separator != " "


def row_widths(text: str, separator: str) -> Iterator[tuple[int, int, int]]:
    """Yield (first line, last line, number of fields) of each row that is not blank; lines from 1.

    A row has several lines if a quoted field holds line feeds. `separator`: of the fields.
    """
    if _has_plain_fields(text, separator):
        lines = enumerate(text.split("\n"), start=1)
        yield from (
            (number, number, line.count(separator) + 1)
            for number, line in lines
            if line
        )
        return
    reader = csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=True)
    end = 0
    for row in reader:
        start = end + 1
        end = reader.line_num
        if row:
            yield start, end, len(row)

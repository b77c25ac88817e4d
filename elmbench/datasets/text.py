"""Text tables of users: separator, encoding and header are detected unless they are given."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from elmbench.datasets.missing import MISSING, present_words
from elmbench.datasets.table import Table, few, have_equal_digits, target_of, unused_name
from elmbench.datasets.values import looks_numeric, may_have_thousands
from elmbench.errors import ElmbenchError
from elmbench.specs.datasets.sources import FileOptions

if TYPE_CHECKING:
    import pandas as pd

#: A function from the names of the columns to that of the target.
ChooseTarget = Callable[[list[str]], str]
#: Separators in the order of trial: a comma may also be a decimal mark.
SEPARATORS = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas", " ": "spaces"}
#: Number of rows from which the separator and the header are detected, and of fields for the header
#: of wide rows.
_SAMPLE, _SAMPLE_FIELDS = 1000, 100_000
#: The most names of columns that a note shows.
_SHOWN = 5
#: Layouts of the public files, with and without a header; columns of number text are numbers there.
PUBLIC = FileOptions(separator=",", decimal=".", header=True)
PUBLIC_ROWS = PUBLIC.model_copy(update={"header": False})


def read_text(content: bytes, path: Path, choose: ChooseTarget, layout: FileOptions) -> Table:
    """Read a text table; its notes list the detected settings.

    The target, and the columns that `layout.words` names, keep the spelling of their values.
    """
    import pandas as pd

    text, notes = decode(content)
    separator, text = _separator_of(
        text.replace("\r\n", "\n").replace("\r", "\n"), layout.separator
    )
    if separator != "," and not layout.separator:
        notes.append(f"fields are separated by {SEPARATORS[separator]}")
    is_public = layout in (PUBLIC, PUBLIC_ROWS)
    sample = list(islice(_rows(text, separator), 1 if is_public else _SAMPLE))
    header_words = [*map(str.strip, sample[0])]
    names = [
        name or unused_name(f"column {position}", header_words)
        for position, name in enumerate(header_words, start=1)
    ]
    header = layout.header
    if header is None:
        header = _has_header(sample[: max(20, _SAMPLE_FIELDS // len(names))])
        named = sum(map(bool, header_words))
        if header and 2 * named < len(names):  # a title, such as workbooks have
            title = few([*filter(None, sample[0])], _SHOWN)
            problem = f"{path}: line 1 names {named} of {len(names)} columns ({title})"
            next_step = (
                "remove the lines above the header, or give --header if line 1 is the header"
            )
            raise ElmbenchError(problem, expected="a header", next_step=next_step)
        remark = f"line 1 is taken for the header (--no-header if it is data): {few(names, _SHOWN)}"
        last = len(names) - 1
        data = (
            f"line 1 is taken for data (--header if it holds names): the columns are x0 to x{last}"
        )
        notes.append(remark if header else data)
    if not header:
        names = [f"x{position}" for position in range(len(names))]
    _check_widths(text, separator, path, is_detected=not layout.separator)
    target = target_of(names, choose, path)
    # pandas accepts a point as decimal mark even if the mark is a comma, and would drop the leading
    # zeros of codes.
    words = names if layout.decimal == "," else None if is_public else layout.words
    columns = zip(
        names, zip(*sample[bool(header) :], strict=True), strict=False
    )  # none without rows
    codes = (
        ()
        if is_public
        else [name for name, values in columns if have_equal_digits(present_words(values))]
    )
    # Not by Arrow's reader or with Arrow's strings: that reader's threads outlive the interpreter,
    # and abort its exit.
    with pd.option_context("mode.string_storage", "python"):
        read: Callable[..., pd.DataFrame] = partial(  # type: ignore[assignment]
            pd.read_csv,
            sep=separator,
            header=0 if header else None,
            names=names,
            index_col=False,
            na_values=sorted(MISSING),
            keep_default_na=False,
            skipinitialspace=True,
            engine="c",
            low_memory=False,
        )
        frame = read(
            io.StringIO(text), dtype=dict.fromkeys((*(words or ()), target, *codes), object)
        )
        if not (is_public or layout.decimal):
            # The decimal mark is detected later, from all columns.
            candidates = [*_columns_of_thousands(frame, names, sample[bool(header) :])]
            for name in candidates:
                column = read(io.StringIO(text), dtype=object, usecols=[name])[name]
                if may_have_thousands(column.dropna().unique()):
                    frame[name] = column
                    words = (*(words or ()), name)
        table = Table.of_frame(frame, target, str(path), words)
    return replace(table, notes=tuple(notes), separator=separator, words=frozenset(layout.words))


def _columns_of_thousands(
    frame: pd.DataFrame, names: list[str], sample: list[list[str]]
) -> Iterator[str]:
    """Yield the columns of floats whose decimal points may be separators of thousands."""
    for position, name in enumerate(names):
        values = frame[name]
        if values.dtype != np.float64:
            continue
        pointed = [row[position] for row in sample if "." in row[position]]
        size, thousands = abs(values), values * 1000
        is_short = (size >= 1) & (size < 1000) & (abs(thousands - thousands.round()) < 1e-6)
        is_possible = values.isna() | (values == values.round()) | is_short
        if is_possible.all() and (not pointed or may_have_thousands(pointed)):
            yield name


def decode(content: bytes) -> tuple[str, list[str]]:
    """Return the text of a file, and a note if it is not UTF-8."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16"), []
    if b"\0" in content:
        raise ValueError("it holds zero bytes, so it is not text (UTF-16 needs a byte order mark)")
    try:
        return content.decode("utf-8-sig"), []
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        note = f"line {line} is not UTF-8, so the file is read as Western European (Windows-1252)"
        return content.decode("cp1252", errors="replace"), [note]


def _rows(text: str, separator: str) -> Iterator[list[str]]:
    """Yield the fields of each row that is not blank."""
    lines = (
        match[0] for match in re.finditer(".*\n?", text)
    )  # a copy of the text takes longer than the first rows
    return filter(None, csv.reader(lines, delimiter=separator, skipinitialspace=True))


def _separator_of(text: str, separator: str) -> tuple[str, str]:
    """Return the given separator, or the first that splits all rows of a sample into equally many
    fields, and the text.

    The text lacks the line `sep=;` that some programs put first.
    """
    first, _, rest = text.partition("\n")
    if len(first.strip()) == len("sep=;") and first.startswith("sep="):
        separator, text = separator or first[4], rest
    separator = {"\\t": "\t", "tab": "\t", "space": " "}.get(separator, separator)
    if len(separator) > 1:
        problem, next_step = (
            f"the separator {separator!r} has {len(separator)} characters",
            "correct --sep",
        )
        raise ElmbenchError(problem, expected="one character, or tab or space", next_step=next_step)
    if separator:
        return separator, text
    for separator in SEPARATORS:
        try:
            widths = {len(row) for row in islice(_rows(text, separator), _SAMPLE)}
        except csv.Error:  # a line of a wide table is too long for one field
            continue
        if len(widths) == 1 and widths != {1}:
            return separator, text
    return max(",\t;|", key=first.count), text


def _check_widths(text: str, separator: str, path: Path, is_detected: bool) -> None:
    """Raise ElmbenchError unless all rows have the same number of fields: pandas completes short
    rows silently.
    """
    widths = _widths(text, separator)
    _, _, first = next(widths)
    for start, end, width in widths:
        if width != first:
            lines = (
                f"line {start}"
                if start == end
                else f"lines {start} to {end}, which a quotation mark joins"
            )
            problem = f"{path}: found {width} field{'s' * (width != 1)} in {lines}"
            separated = f"separated by {SEPARATORS.get(separator, repr(separator))}"
            expected = f"{first} field{'s' * (first != 1)} {separated}, as in line 1"
            is_preamble = first < width and all(later == width for _, _, later in widths)
            correct = "remove the lines above the header" if is_preamble else "correct the file"
            next_step = f"{correct}{', or name its separator by --sep' * is_detected}"
            raise ElmbenchError(problem, expected=expected, next_step=next_step)


def _widths(text: str, separator: str) -> Iterator[tuple[int, int, int]]:
    """Yield the first line, the last line and the number of fields of each row that is not
    blank.
    """
    if '"' not in text and separator != " ":  # the usual case, which is faster
        lines = enumerate(text.split("\n"), start=1)
        yield from ((number, number, line.count(separator) + 1) for number, line in lines if line)
        return
    reader, end = csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=True), 0
    for row in reader:
        start, end = end + 1, reader.line_num
        if row:
            yield start, end, len(row)


def _has_header(rows: list[list[str]]) -> bool:
    """Return True if the first row holds names, which differ in kind from the rows below."""
    numbers, repeated, few = [], False, False
    for name, *others in zip(*rows, strict=False):
        texts = [word for word in others if word not in MISSING]
        if texts and 2 * sum(map(looks_numeric, texts)) > len(texts):
            if name and not looks_numeric(name) and name not in MISSING:
                return True
            numbers.append(name)
        else:
            repeated |= name in texts
            few |= len(set(texts)) <= len(texts) / 2
    if repeated or not numbers:
        return not repeated
    # All columns of numbers begin with a number. Names may be numbers as well, such as positions or
    # wavelengths.
    return few or numbers == [str(position) for position in range(len(numbers))]

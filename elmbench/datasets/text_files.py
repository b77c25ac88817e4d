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
from typing import TYPE_CHECKING, Any

import numpy as np

from elmbench.datasets.missing_words import MISSING, present_words
from elmbench.datasets.number_text import looks_numeric, may_have_thousands
from elmbench.datasets.table import Table, few, may_be_codes, target_of, unused_name
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
_SAMPLE = 1000
_SAMPLE_FIELDS = 100_000
#: Number of these rows, and of fields of each, whose numbers decide between separators.
_FEW_ROWS = 100
_FEW_FIELDS = 100
#: The most names of columns that a note shows.
_SHOWN = 5
#: Layouts of the public files, with and without a header; columns of number text are numbers there.
PUBLIC = FileOptions(separator=",", decimal=".", header=True)
PUBLIC_ROWS = PUBLIC.model_copy(update={"header": False})


def read_text(
    content: bytes,
    path: Path,
    choose: ChooseTarget,
    layout: FileOptions,
    *,
    has_plain_numbers: bool = False,
) -> Table:
    """Read a text table; its notes list the detected settings.

    The target, and the columns that `layout.words` names, keep the spelling of their values.
    `has_plain_numbers`: True if no point separates thousands.
    """
    text, notes = decode(content)
    separator, text = _separator_of(
        text.replace("\r\n", "\n").replace("\r", "\n"), layout.separator
    )
    if not text.strip():
        raise ElmbenchError(
            f"{path} is empty",
            expected="rows of data",
            next_step=f"correct or replace {path.name}",
        )
    if separator != "," and not layout.separator:
        notes.append(f"fields are separated by {SEPARATORS[separator]}")
    is_public = layout in (PUBLIC, PUBLIC_ROWS)
    sample = list(islice(_rows(text, separator), 1 if is_public else _SAMPLE))
    has_row_names = False
    if not is_public and layout.header is not False:
        sample, has_row_names = _complete_header(sample)
    names, header = _names_of(sample, path, layout.header)
    width = len(names)
    _check_widths(text, separator, path, width=width, is_detected=not layout.separator)
    rows = sample[1:] if header else sample
    spare = [] if is_public else _spare_columns(sample[0] if header else [], names, rows)
    features = names[has_row_names : width - len(spare)]
    if layout.header is None:
        notes.append(_remark_on_header(features, header))
    target = target_of(features, choose, path)
    # pandas accepts a point as decimal mark even if the mark is a comma, and would drop the leading
    # zeros of codes.
    words = names if layout.decimal == "," else None if is_public else layout.words
    columns = [] if is_public else zip(names, zip(*rows, strict=True), strict=False)
    codes = [name for name, values in columns if may_be_codes(present_words(values))]
    read = partial(_read_columns, text, separator, names, header)
    frame = read(dtype=dict.fromkeys((*(words or ()), target, *codes), object))
    if not (is_public or has_plain_numbers):
        # The decimal mark is detected or checked later, from all columns.
        candidates = [*_columns_of_thousands(frame, names, rows)]
        for name in candidates:
            column = read(dtype=object, usecols=[name])[name]
            if may_have_thousands(column.dropna().unique()):
                frame[name] = column
                words = (*(words or ()), name)
    if has_row_names:
        frame = frame.drop(columns=names[0])
        notes.append("line 1 lacks the name of the first column, which is left out as row names")
    empty = [name for name in spare if frame[name].notna().mean() <= 0.5]
    if any(frame[name].notna().any() for name in empty):
        notes.append(f"nearly empty columns without a name, left out: {few(empty, _SHOWN)}")
    table = Table.of_frame(frame.drop(columns=empty), target, str(path), words)
    return replace(table, notes=tuple(notes), separator=separator, words=frozenset(layout.words))


def _read_columns(
    text: str, separator: str, names: list[str], header: bool, **options: Any
) -> pd.DataFrame:
    """Read a text by pandas, with `options` of its reader."""
    import pandas as pd

    # Not by Arrow's reader or with Arrow's strings: that reader's threads outlive the interpreter,
    # and abort its exit.
    with pd.option_context("mode.string_storage", "python"):
        frame: pd.DataFrame = pd.read_csv(
            io.StringIO(text),
            sep=separator,
            header=0 if header else None,
            names=names,
            index_col=False,
            na_values=sorted(MISSING),
            keep_default_na=False,
            skipinitialspace=True,
            engine="c",
            low_memory=False,
            **options,
        )
    return frame


def _complete_header(rows: list[list[str]]) -> tuple[list[list[str]], bool]:
    """Return rows whose header has a field for each column, and True if the first one is added.

    R leaves out the name of the column of row names; other programs end all rows but the header
    with a separator.
    """
    first, *others = rows
    if {len(row) for row in others} != {len(first) + 1}:
        return rows, False
    if all(row[-1].strip() in MISSING for row in others):
        return [[*first, ""], *others], False
    row_names = [row[0] for row in others]
    are_names = len({*row_names}) == len(row_names) and all(
        name.isdigit() or not looks_numeric(name) for name in row_names
    )
    is_title = len(first) == 1 or (len(others) > 1 and _has_header(others))
    return ([["", *first], *others], True) if are_names and not is_title else (rows, False)


def _names_of(sample: list[list[str]], path: Path, header: bool | None) -> tuple[list[str], bool]:
    """Return the names of the columns, and True if they are in the first row.

    `header`: None to detect it.
    """
    words = [*map(str.strip, sample[0])]
    if header is None:
        header = _has_header(sample[: max(20, _SAMPLE_FIELDS // len(words))])
        named = sum(map(bool, words))
        if header and 2 * named < len(words):  # a title, such as workbooks have
            title = few([*filter(None, words)], _SHOWN)
            problem = f"{path}: line 1 names {named} of {len(words)} columns ({title})"
            next_step = (
                "remove the lines above the header, or give --header if line 1 is the header"
            )
            raise ElmbenchError(problem, expected="a header", next_step=next_step)
    if not header:
        return [f"x{position}" for position in range(len(words))], False
    names = [
        name or unused_name(f"column {position}", words)
        for position, name in enumerate(words, start=1)
    ]
    return names, True


def _remark_on_header(names: list[str], header: bool) -> str:
    if header:
        listing = few(names, _SHOWN)
        return f"line 1 is taken for the header (--no-header if it is data): {listing}"
    last = len(names) - 1
    return f"line 1 is taken for data (--header if it holds names): the columns are x0 to x{last}"


def _spare_columns(header: list[str], names: list[str], rows: list[list[str]]) -> list[str]:
    """Return the last columns that are nearly empty and have no name, such as trailing separators
    and stray cells make.
    """
    spare: list[str] = []
    for position in reversed(range(1, len(names))):
        is_named = bool(header and header[position].strip())
        present = sum(row[position].strip() not in MISSING for row in rows)
        if is_named or not rows or present > (len(rows) / 2 if header else 0):
            break
        spare.append(names[position])
    return spare[::-1]


def _columns_of_thousands(
    frame: pd.DataFrame, names: list[str], sample: list[list[str]]
) -> Iterator[str]:
    """Yield the columns of floats whose decimal points may be separators of thousands."""
    for position, name in enumerate(names):
        # The array: operations on series of pandas would take a millisecond a column.
        values = frame[name].to_numpy()
        if values.dtype != np.float64:
            continue
        pointed = [row[position] for row in sample if "." in row[position]]
        size = np.abs(values)
        with np.errstate(over="ignore", invalid="ignore"):
            thousands = values * 1000
            is_near_whole = np.abs(thousands - np.round(thousands)) < 1e-6
        is_short = (size >= 1) & (size < 1000) & is_near_whole
        is_possible = np.isnan(values) | (values == np.round(values)) | is_short
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
    """Return the given separator, or the one that splits all rows of a sample into equally many
    fields, most of them numbers, and the text.

    The text lacks the line `sep=;` that some programs put first.
    """
    first, _, rest = text.partition("\n")
    if len(first.strip()) == len("sep=;") and first.startswith("sep="):
        separator = separator or first[4]
        text = rest
    separator = {"\\t": "\t", "tab": "\t", "space": " "}.get(separator, separator)
    if len(separator) > 1:
        problem = f"the separator {separator!r} has {len(separator)} characters"
        next_step = "correct --sep"
        raise ElmbenchError(problem, expected="one character, or tab or space", next_step=next_step)
    if separator:
        return separator, text
    numbers: dict[str, int] = {}
    for separator in SEPARATORS:
        try:
            rows = [*islice(_rows(text, separator), _SAMPLE)]
        except csv.Error:  # a line of a wide table is too long for one field
            continue
        widths = {len(row) for row in rows}
        if len(widths) == 2 and len(rows) > 2:
            widths = {len(row) for row in _complete_header(rows)[0]}
        if len(widths) == 1 and widths != {1}:
            fields = [field for row in rows[1:_FEW_ROWS] for field in row[:_FEW_FIELDS]]
            numbers[separator] = sum(map(looks_numeric, fields))
    if numbers:
        return max(numbers, key=lambda separator: numbers[separator]), text
    return max(",\t;|", key=first.count), text


def _check_widths(text: str, separator: str, path: Path, *, width: int, is_detected: bool) -> None:
    """Raise ElmbenchError unless all rows below line 1 have the same number of fields: pandas
    completes short rows silently.

    `width`: that of line 1.
    """
    widths = _widths(text, separator)
    next(widths)
    for start, end, later in widths:
        if later != width:
            lines = (
                f"line {start}"
                if start == end
                else f"lines {start} to {end}, which a quotation mark joins"
            )
            problem = f"{path}: found {later} field{'s' * (later != 1)} in {lines}"
            separated = f"separated by {SEPARATORS.get(separator, repr(separator))}"
            expected = f"{width} field{'s' * (width != 1)} {separated}, as in line 1"
            is_preamble = width < later and all(other == later for _, _, other in widths)
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
    reader = csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=True)
    end = 0
    for row in reader:
        start = end + 1
        end = reader.line_num
        if row:
            yield start, end, len(row)


def _has_header(rows: list[list[str]]) -> bool:
    """Return True if the first row holds names, which differ in kind from the rows below."""
    numbers = []
    repeated = False
    few = False
    for name, *others in zip(*rows, strict=False):
        texts = [word for word in others if word not in MISSING]
        if not (name or texts):
            continue
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

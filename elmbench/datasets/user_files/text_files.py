"""Text tables of users: separator, encoding and header are detected unless they are given.

Decimal marks are detected in `decimal_mark`, and their numbers are read in `values`.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elmbench.datasets.table import (
    Table,
    check_width,
    few,
    may_be_codes,
    target_of,
    unused_name,
)
from elmbench.datasets.user_files.missing_words import MISSING, is_missing_word
from elmbench.datasets.user_files.number_text import looks_numeric, may_have_thousands
from elmbench.errors import ElmbenchError, amount
from elmbench.specs.datasets.sources import FileOptions

if TYPE_CHECKING:
    import pandas as pd

#: A function from the names of the columns to that of the target.
ChooseTarget = Callable[[list[str]], str]
#: Separators in the order of trial: a comma may also be a decimal mark.
SEPARATORS = {
    "\t": "tabs",
    ";": "semicolons",
    "|": "bars",
    ",": "commas",
    " ": "spaces",
}
#: Number of rows from which the separator and the header are detected, and of fields for the header
#: of wide rows.
_SAMPLE = 1000
_SAMPLE_FIELDS = 100_000
#: Number of these rows, and of fields of each, whose numbers decide between separators.
_FEW_ROWS = 100
_FEW_FIELDS = 100
#: The most names of columns that a note shows.
_SHOWN = 5
#: Number of bytes of a text that are searched at a time for separators.
_BLOCK = 2**18
#: Layouts of the public files, with and without a header; columns of number text are numbers there.
PUBLIC = FileOptions(separator=",", decimal=".", header=True)
PUBLIC_ROWS = PUBLIC.model_copy(update={"header": False})


@dataclass(frozen=True)
class _Head:
    """The columns of a text table and its first rows."""

    names: list[str]
    #: True if the first row of the text holds the names.
    has_header: bool
    #: True if the first column holds the names of rows, which the header does not name.
    has_row_names: bool
    #: The last columns, if they are nearly empty and have no name.
    spare: list[str]
    #: The first rows of data.
    rows: list[list[str]]

    @property
    def candidates(self) -> list[str]:
        """The columns that may be a feature or the target."""
        first = 1 if self.has_row_names else 0
        return self.names[first : len(self.names) - len(self.spare)]


def read_text_table(
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
    decoded, notes = decode(content)
    separator, text = _separator_of(_with_line_feeds(decoded), layout.separator)
    _check_not_empty(text, path)
    if separator != "," and not layout.separator:
        notes.append(f"fields are separated by {SEPARATORS[separator]}")
    is_unchanged = text is decoded and text.isascii() and len(text) == len(content)
    if not is_unchanged:
        content = text.encode()
    head = _read_head(text, content, separator, path, layout)
    if layout.header is None:
        notes.append(_remark_on_header(head.candidates, head.has_header))
    target = target_of(head.candidates, choose, path)
    is_public = _is_public(layout)
    words = _columns_of_words(head.names, layout)
    codes = [] if is_public else _columns_of_codes(head)
    objects = [*(words or ()), target, *codes]
    read = partial(_read_columns, content, separator, head.names, head.has_header)
    frame = read(dtype=dict.fromkeys(objects, object))
    if not is_public and not has_plain_numbers:
        for name, column in _texts_with_thousands(frame, head, read).items():
            frame[name] = column
            words = (*(words or ()), name)
    superfluous = _superfluous_columns(frame, head, notes)
    frame = frame.drop(columns=superfluous)
    table = Table.of_frame(frame, target, str(path), words)
    return replace(
        table,
        notes=tuple(notes),
        separator=separator,
        words=frozenset(layout.words),
    )


def _superfluous_columns(frame: Any, head: _Head, notes: list[str]) -> list[str]:
    """Return the names of the columns to leave out: that of row names, and the spare ones that are
    nearly empty. Appends a note on each kind that has content to `notes`.
    """
    superfluous = []
    if head.has_row_names:
        superfluous.append(head.names[0])
        notes.append(
            "line 1 lacks the name of the first column, which is left out as row names"
        )
    has_value = frame[list(head.spare)].notna()
    shares = has_value.mean()
    nearly_empty = [name for name in head.spare if shares[name] <= 0.5]
    if has_value[nearly_empty].any(axis=None):
        names = few(nearly_empty, _SHOWN)
        notes.append(f"nearly empty columns without a name, left out: {names}")
    return superfluous + nearly_empty


def _with_line_feeds(text: str) -> str:
    """Return a text with line feeds in place of all other ends of lines."""
    if "\r" not in text:
        return text
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _check_not_empty(text: str, path: Path) -> None:
    """Raise ElmbenchError for a text without anything but spaces."""
    if text and not text.isspace():
        return
    raise ElmbenchError(
        f"{path} is empty",
        expected="rows of data",
        next_step=f"correct or replace {path.name}",
    )


def _is_public(layout: FileOptions) -> bool:
    """Return True for the layout of a public file, in which nothing is detected."""
    return layout in (PUBLIC, PUBLIC_ROWS)


def _read_head(
    text: str, content: bytes, separator: str, path: Path, layout: FileOptions
) -> _Head:
    """Return the columns and the first rows of a text table; raise ElmbenchError if rows differ in
    length.

    `content`: the text in UTF-8. A public file has no more rows here than the first line.
    """
    is_public = _is_public(layout)
    sample = list(islice(_rows(text, separator), 1 if is_public else _SAMPLE))
    check_width(len(sample[0]), path)  # before each of them is examined
    has_row_names = False
    if not is_public and layout.header is not False:
        sample, has_row_names = _complete_header(sample)
    names, has_header = _names_of(sample, path, layout.header)
    if not _have_width(content, separator, len(names)):
        _check_widths(
            text, separator, path, width=len(names), is_detected=not layout.separator
        )
    header = sample[0] if has_header else []
    rows = sample[1:] if has_header else sample
    spare = [] if is_public else _spare_columns(header, names, rows)
    return _Head(
        names=names,
        has_header=has_header,
        has_row_names=has_row_names,
        spare=spare,
        rows=rows,
    )


def _columns_of_words(names: list[str], layout: FileOptions) -> Collection[str] | None:
    """Return the columns in which text that looks like numbers stays text; None for a public file
    with decimal points. All columns, if the decimal mark is a comma.
    """
    if layout.decimal == ",":
        # pandas accepts a point as decimal mark even if the mark is a comma.
        return names
    return None if _is_public(layout) else layout.words


def _columns_of_codes(head: _Head) -> list[str]:
    """Return the columns that may hold codes, judged by the first rows. pandas would drop their
    leading zeros.
    """
    columns = zip(*head.rows, strict=True)
    return [
        name
        for name, words in zip(head.names, columns, strict=False)
        if may_be_codes(word for word in words if not is_missing_word(word))
    ]


def _texts_with_thousands(
    frame: pd.DataFrame, head: _Head, read: Callable[..., pd.DataFrame]
) -> dict[str, pd.Series[Any]]:
    """Return the text of each column of floats whose points may all separate thousands.

    `read`: reads columns with options of pandas. The decimal mark is detected or checked later,
    from all columns.
    """
    texts = {}
    for name in _columns_of_thousands(frame, head.names, head.rows):
        column = read(dtype=object, usecols=[name])[name]
        if may_have_thousands(column.dropna().unique()):
            texts[name] = column
    return texts


def _read_columns(
    content: bytes, separator: str, names: list[str], header: bool, **options: Any
) -> pd.DataFrame:
    """Return a data frame of a text in UTF-8. `header`: skip line 1, which `names` replace.
    `options`: of `pandas.read_csv`.
    """
    import pandas as pd

    has_spaces = b" " in content or b"\t" in content
    # Not by Arrow's reader or with Arrow's strings: that reader's threads outlive the interpreter,
    # and abort its exit.
    with pd.option_context("mode.string_storage", "python"):
        frame: pd.DataFrame = pd.read_csv(
            io.BytesIO(content),
            sep=separator,
            header=0 if header else None,
            names=names,
            index_col=False,
            na_values=sorted(MISSING),
            keep_default_na=False,
            skipinitialspace=has_spaces,  # this takes a fifth of the time
            engine="c",
            low_memory=False,
            **options,
        )
    return frame


def _complete_header(rows: list[list[str]]) -> tuple[list[list[str]], bool]:
    """Return rows whose header has a field for each column, and True if the first column holds row
    names.

    R leaves out the name of the column of row names; other programs end all rows but the header
    with a separator. Rows of one length are returned as they are, with False.
    """
    header, *data = rows
    n_columns = len(header) + 1
    widths = {len(row) for row in data}
    if widths != {n_columns}:
        return rows, False
    ends_with_separator = all(row[-1].strip() in MISSING for row in data)
    if ends_with_separator:
        completed = [*header, ""]
        return [completed, *data], False
    first_column = [row[0] for row in data]
    if not _are_row_names(first_column) or _is_title(header, data):
        return rows, False
    completed = ["", *header]
    return [completed, *data], True


def _are_row_names(words: list[str]) -> bool:
    """Return True if words may name rows: they are distinct, and each is a whole number or no
    number at all.
    """
    are_distinct = len(set(words)) == len(words)
    return are_distinct and all(
        word.isdigit() or not looks_numeric(word) for word in words
    )


def _is_title(first: list[str], others: list[list[str]]) -> bool:
    """Return True if `first`, a row of one field less than the `others`, is a title above the
    header: it has one field, or the others have a header.
    """
    if len(first) == 1:
        return True
    return len(others) > 1 and _has_header(others)


def _names_of(
    sample: list[list[str]], path: Path, header: bool | None
) -> tuple[list[str], bool]:
    """Return the names of the columns, and True if they are in the first row; else they are x0, x1,
    ... A column without a name in the header becomes `column N`.

    `header`: None to detect it.
    """
    words = [word.strip() for word in sample[0]]
    if header is None:
        header = _has_header(sample[: max(20, _SAMPLE_FIELDS // len(words))])
        if header:
            _check_header(words, path)
    if not header:
        return [f"x{position}" for position in range(len(words))], False
    names = [
        name or unused_name(f"column {position}", words)
        for position, name in enumerate(words, start=1)
    ]
    return names, True


def _check_header(words: list[str], path: Path) -> None:
    """Raise ElmbenchError if fewer than half of the columns have a name in a detected header, as in
    a title of a workbook.
    """
    named = [word for word in words if word]
    if 2 * len(named) >= len(words):
        return
    title = few(named, _SHOWN)
    raise ElmbenchError(
        f"{path}: line 1 names {len(named)} of {len(words)} columns ({title})",
        expected="a header",
        next_step="remove the lines above the header, or give --header if line 1 is the header",
    )


def _remark_on_header(names: list[str], header: bool) -> str:
    """Return a note on the detected header, and on the option that corrects it."""
    if header:
        listing = few(names, _SHOWN)
        correction = "--no-header, or header: false in datasets.yaml, if it is data"
        return f"line 1 is taken for the header ({correction}): {listing}"
    last = len(names) - 1
    correction = "--header, or header: true in datasets.yaml, if it holds names"
    return f"line 1 is taken for data ({correction}): the columns are x0 to x{last}"


def _spare_columns(
    header: list[str], names: list[str], rows: list[list[str]]
) -> list[str]:
    """Return the last columns that are nearly empty and have no name, such as trailing separators
    and stray cells make.

    Without a header, only columns without any value are spare.
    """
    n_rows = len(rows)
    if not n_rows:
        return []
    most_present = n_rows / 2 if header else 0
    spare: list[str] = []
    for position in reversed(range(1, len(names))):
        is_named = bool(header and header[position].strip())
        is_present = [row[position].strip() not in MISSING for row in rows]
        if is_named or sum(is_present) > most_present:
            break
        spare.insert(0, names[position])
    return spare


def _columns_of_thousands(
    frame: pd.DataFrame, names: list[str], sample: list[list[str]]
) -> Iterator[str]:
    """Yield the columns of floats whose decimal points may separate thousands, judged by the floats
    and by the words of the first rows, `sample`.
    """
    for position, name in enumerate(names):
        # The array: operations on series of pandas would take a millisecond a column.
        values = frame[name].to_numpy()
        if values.dtype != np.float64:
            continue
        # The first values decide in most columns.
        if not (_may_be_thousands(values[:_SAMPLE]) and _may_be_thousands(values)):
            continue
        words = [row[position] for row in sample]
        pointed = [word for word in words if "." in word]
        if not pointed or may_have_thousands(pointed):
            yield name


def _may_be_thousands(values: NDArray[np.float64]) -> bool:
    """Return True if all floats are missing, whole, or from 1 to 1000 with three decimals."""
    is_missing = np.isnan(values)
    is_whole = values == np.round(values)
    size = np.abs(values)
    with np.errstate(over="ignore", invalid="ignore"):
        thousands = values * 1000
        remainder = np.abs(thousands - np.round(thousands))
        has_three_decimals = remainder < 1e-6
    is_in_range = (size >= 1) & (size < 1000)
    is_short = is_in_range & has_three_decimals
    may_be = is_missing | is_whole | is_short
    return bool(may_be.all())


def decode(content: bytes) -> tuple[str, list[str]]:
    """Return the text of a file, and a list with a note if it is neither UTF-8 nor UTF-16. Raises
    ValueError if it is not text.
    """
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16"), []
    if b"\0" in content:
        raise ValueError(
            "it holds zero bytes, so it is not text (UTF-16 needs a byte order mark)"
        )
    try:
        return content.decode("utf-8-sig"), []
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        note = f"line {line} is not UTF-8, so the file is read as Western European (Windows-1252)"
        return content.decode("cp1252", errors="replace"), [note]


def _rows(text: str, separator: str) -> Iterator[list[str]]:
    """Yield the fields of each row that is not blank."""
    # Not text.splitlines(): a copy of the text takes longer than the first rows.
    lines = (match[0] for match in re.finditer(".*\n?", text))
    return filter(None, csv.reader(lines, delimiter=separator, skipinitialspace=True))


def _separator_of(text: str, separator: str) -> tuple[str, str]:
    """Return the separator, detected unless `separator` gives it, and the text without a first line
    `sep=;` that some programs write. Raises ElmbenchError if it has several characters.
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
    """Return the separator that splits all rows of a sample into equally many fields, most of them
    numbers. If there is none, return the most frequent one in the first line.
    """
    n_numbers: dict[str, int] = {}
    for separator in SEPARATORS:
        try:
            rows = list(islice(_rows(text, separator), _SAMPLE))
        except csv.Error:  # a line of a wide table is too long for one field
            continue
        if _are_table(rows):
            fields = [field for row in rows[1:_FEW_ROWS] for field in row[:_FEW_FIELDS]]
            n_numbers[separator] = sum(map(looks_numeric, fields))
    if n_numbers:
        return max(n_numbers, key=lambda separator: n_numbers[separator])
    return max(",\t;|", key=_first_line(text).count)


def _first_line(text: str) -> str:
    """Return the first line of a text, of which no copy is made, without its end."""
    end = text.find("\n")
    return text if end < 0 else text[:end]


def _are_table(rows: list[list[str]]) -> bool:
    """Return True if rows have equally many fields, two or more, once their header is complete."""
    widths = {len(row) for row in rows}
    has_two_widths = len(widths) == 2
    if has_two_widths and len(rows) > 2:
        # The header may lack the name of the column of row names.
        completed, _ = _complete_header(rows)
        widths = {len(row) for row in completed}
    has_one_width = len(widths) == 1
    return has_one_width and widths != {1}


def _check_widths(
    text: str, separator: str, path: Path, *, width: int, is_detected: bool
) -> None:
    """Raise ElmbenchError unless all rows below line 1 have the same number of fields: pandas
    completes short rows silently.

    `width`: the number of fields in line 1.
    """
    widths = _row_widths(text, separator)
    next(widths)
    for start, end, found in widths:
        if found == width:
            continue
        lines = f"line {start}"
        if end != start:
            lines = f"lines {start} to {end}, which a quotation mark joins"
        is_preamble = width < found and all(later == found for _, _, later in widths)
        next_step = (
            "remove the lines above the header" if is_preamble else "correct the file"
        )
        if is_detected:
            next_step += ", or name its separator by --sep"
        title = SEPARATORS.get(separator, repr(separator))
        raise ElmbenchError(
            f"{path}: found {amount(found, 'field')} in {lines}",
            expected=f"{amount(width, 'field')} separated by {title}, as in line 1",
            next_step=next_step,
        )


def _have_width(content: bytes, separator: str, width: int) -> bool:
    """Return True if all lines of a text have `width` fields; a blank line has one. False if a
    faster look than at each row cannot show it: with quotation marks, or separators that are spaces
    or no ASCII.
    """
    mark = separator.encode()
    if len(mark) != 1 or mark == b" " or b'"' in content:
        return False
    return all(
        bool((_n_marks(lines, mark) == width - 1).all())
        for lines in _blocks_of_lines(content)
    )


def _blocks_of_lines(content: bytes) -> Iterator[NDArray[np.uint8]]:
    """Yield the bytes of a text in blocks of whole lines, which fit into the cache of a
    processor.
    """
    start = 0
    while start < len(content):
        end = content.find(b"\n", start + _BLOCK) + 1 or len(content)
        yield np.frombuffer(content, np.uint8, count=end - start, offset=start)
        start = end


def _n_marks(lines: NDArray[np.uint8], mark: bytes) -> NDArray[np.uint32]:
    """Return the number of marks of one byte in each of some lines."""
    ends = np.flatnonzero(lines == ord("\n"))
    starts = np.append(0, ends + 1)
    starts = starts[starts < len(lines)]
    is_mark = (lines == ord(mark)).view(np.uint8)
    counts: NDArray[np.uint32] = np.add.reduceat(is_mark, starts, dtype=np.uint32)
    return counts


def _has_plain_fields(text: str, separator: str) -> bool:
    """Return True if every separator in a text ends a field: there are no quotation marks, and the
    separator is not a space.
    """
    return '"' not in text and separator != " "


def _row_widths(text: str, separator: str) -> Iterator[tuple[int, int, int]]:
    """Yield the first line, the last line and the number of fields of each row that is not
    blank.
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


def _has_header(rows: list[list[str]]) -> bool:
    """Return True if the first row holds names, because they differ in kind from the values below
    them.

    If all columns are words, it does unless a name recurs below. If numbers stand above all columns
    of numbers, other columns must hold categories, or the numbers must be 0, 1, ...
    """
    numbers = []
    has_repeated_name = False
    has_categories = False
    for name, *others in zip(*rows, strict=False):
        texts = [word for word in others if word not in MISSING]
        if not name and not texts:
            continue
        n_numbers = sum(map(looks_numeric, texts))
        if 2 * n_numbers > len(texts):
            if name and not looks_numeric(name) and name not in MISSING:
                return True
            numbers.append(name)
        else:
            has_repeated_name |= name in texts
            has_categories |= len(set(texts)) <= len(texts) / 2
    if has_repeated_name or not numbers:
        return not has_repeated_name
    # All columns of numbers begin with a number. Names may be numbers as well, such as positions or
    # wavelengths.
    positions = [str(position) for position in range(len(numbers))]
    return has_categories or numbers == positions

"""Text tables of users: separator, encoding and header are detected unless they are given.

Decimal marks are detected in `decimal_mark`, and their numbers are read in `values`.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elmbench.datasets.table import Table, check_width, few, may_be_codes, target_of
from elmbench.datasets.user_files.field_counts import (
    check_field_counts,
    have_field_count,
    row_widths,
)
from elmbench.datasets.user_files.headers import (
    SHOWN_NAMES,
    column_names,
    complete_header,
    n_title_rows,
    remark_on_header,
    remark_on_titles,
    spare_columns,
)
from elmbench.datasets.user_files.missing_words import MISSING, is_missing_word
from elmbench.datasets.user_files.number_text import may_have_thousands
from elmbench.datasets.user_files.separators import (
    SAMPLE_ROWS,
    SEPARATORS,
    first_rows,
    rows_of_fields,
    separator_of,
)
from elmbench.errors import ElmbenchError
from elmbench.specs.datasets.source_registry import FileOptions

if TYPE_CHECKING:
    import pandas as pd

#: A function from the names of the columns to that of the target.
ChooseTarget = Callable[[list[str]], str]
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
        """The names of the columns that may be a feature or the target.

        Those of row names and the spare ones are left out.
        """
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

    `choose`: takes the names of the columns and returns that of the target. `layout`: the user's
    options, in which "" and None are detected; with `PUBLIC` and `PUBLIC_ROWS`, nothing is.
    `has_plain_numbers`: True if no point separates thousands.

    The target, and the columns that `layout.words` names, keep the spelling of their values. So do
    other columns that are not plain numbers, which `with_numbers` may convert later. `content`: of
    the file at `path`. Raises ElmbenchError if the file is empty, its rows differ in length, or a
    name of a column is repeated.
    """
    decoded, notes = decode(content)
    separator, text = separator_of(_with_line_feeds(decoded), layout.separator)
    _check_not_empty(text, path)
    if separator != "," and not layout.separator:
        notes.append(f"fields are separated by {SEPARATORS[separator]}")
    text, n_above, titles = _without_titles(text, separator, layout)
    is_unchanged = text is decoded and text.isascii() and len(text) == len(content)
    if not is_unchanged:
        content = text.encode()
    head = _read_head(text, content, separator, path, layout, n_above=n_above)
    # The parser reads the bytes: the text of a large file is freed before.
    del decoded, text
    if layout.header is None:
        notes.append(
            remark_on_header(head.candidates, head.has_header, line=n_above + 1)
        )
    if titles:
        notes.append(remark_on_titles(titles))
    target = target_of(head.candidates, choose, path)
    is_public = _is_public(layout)
    words = _columns_of_words(head.names, layout)
    codes = [] if is_public else _columns_of_codes(head)
    objects = [*(words or ()), target, *codes]
    read = partial(_read_columns, content, separator, head.names, head.has_header)
    if is_public and target in head.names:
        # Apart: pandas takes a multiple of the time for wide rows if single columns have a type.
        frame = read()
        frame[target] = read(dtype=object, usecols=[target])[target]
    else:
        frame = read(dtype=dict.fromkeys(objects, object))
    if not is_public and not has_plain_numbers:
        for name, column in _texts_with_thousands(frame, head, read).items():
            frame[name] = column
            words = (*(words or ()), name)
    superfluous = _superfluous_columns(frame, head, notes)
    if superfluous:
        frame = frame.drop(columns=superfluous)
    table = Table.of_frame(frame, target, str(path), words)
    return replace(
        table,
        notes=tuple(notes),
        separator=separator,
        words=frozenset(layout.words),
    )


def _superfluous_columns(frame: Any, head: _Head, notes: list[str]) -> list[str]:
    """Return the names of the columns to leave out, and append notes on them to `notes`.

    They are the column of row names, and the spare ones that have a value in at most half of the
    rows of `frame`. Spare columns without any value are left out without a note. `head`: the
    columns, as the first rows show them.
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
        names = few(nearly_empty, SHOWN_NAMES)
        notes.append(f"nearly empty columns without a name, left out: {names}")
    return superfluous + nearly_empty


def _with_line_feeds(text: str) -> str:
    """Return a text with line feeds in place of all other ends of lines."""
    if "\r" not in text:
        return text
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _without_titles(
    text: str, separator: str, layout: FileOptions
) -> tuple[str, int, list[list[str]]]:
    """Return the lines below a title, the number of the lines above them, and the title's rows.

    The title has one field in each row, as `n_title_rows` says. Without one, all of `text` is
    returned, with 0 and []: also for a public file, and if `layout.header` is False.
    """
    if _is_public(layout) or layout.header is False:
        return text, 0, []
    rows = [[word.strip() for word in row] for row in first_rows(text, separator)]
    n_titles = n_title_rows(rows)
    if not n_titles:
        return text, 0, []
    rows_below = islice(row_widths(text, separator), n_titles, None)
    header_line, _, _ = next(rows_below)
    n_above = header_line - 1
    below = text.split("\n", n_above)[n_above]
    return below, n_above, rows[:n_titles]


def _check_not_empty(text: str, path: Path) -> None:
    """Raise ElmbenchError for an empty text, or one of white space alone."""
    if text and not text.isspace():
        return
    raise ElmbenchError(
        f"{path} is empty",
        expected="rows of data",
        next_step=f"correct or replace {path.name}",
    )


def _is_public(layout: FileOptions) -> bool:
    """Return True for the options of a public file, of which nothing is detected."""
    return layout in (PUBLIC, PUBLIC_ROWS)


def _read_head(
    text: str,
    content: bytes,
    separator: str,
    path: Path,
    layout: FileOptions,
    *,
    n_above: int,
) -> _Head:
    """Return the columns and the first rows of a text table.

    Raises ElmbenchError if rows differ in length. `text`: the table, with line feeds; `content`:
    the same in UTF-8. Of a public file, only the first line is looked at: `rows` holds it if it is
    data, and nothing is spare. `separator`: of the fields. `layout`: the user's options, or those
    of a public file. `n_above`: the number of lines of the file above the text.
    """
    is_public = _is_public(layout)
    sample = list(
        islice(rows_of_fields(text, separator), 1 if is_public else SAMPLE_ROWS)
    )
    check_width(len(sample[0]), path)  # before each of them is examined
    has_row_names = False
    if not is_public and layout.header is not False:
        sample, has_row_names = complete_header(sample)
    names, has_header = column_names(sample, path, layout.header)
    if not have_field_count(content, separator, len(names)):
        check_field_counts(
            text,
            separator,
            path,
            width=len(names),
            is_detected=not layout.separator,
            n_above=n_above,
        )
    header = sample[0] if has_header else []
    rows = sample[1:] if has_header else sample
    spare = [] if is_public else spare_columns(header, names, rows)
    return _Head(
        names=names,
        has_header=has_header,
        has_row_names=has_row_names,
        spare=spare,
        rows=rows,
    )


def _columns_of_words(names: list[str], layout: FileOptions) -> Collection[str] | None:
    """Return the names of the columns in which text that looks like numbers stays text.

    They are all `names` if the decimal mark is a comma, else those that the user names as words.
    None for a public file with decimal points: every text of numbers becomes numbers. `layout`: the
    user's options, or those of a public file.
    """
    if layout.decimal == ",":
        # pandas accepts a point as decimal mark even if the mark is a comma.
        return names
    return None if _is_public(layout) else layout.words


def _columns_of_codes(head: _Head) -> list[str]:
    """Return the names of the columns that may hold codes such as 007, judged by the first rows.

    Columns that have no value there are among them. They must be read as text: pandas would drop
    their leading zeros.
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
    """Return {name: text of the file} of the columns of floats whose points may separate thousands.

    `frame`: the columns as pandas reads them, in which 1.234 is a float. `read`: reads columns
    again with further options of pandas. The decimal mark is detected or checked later, from all
    columns.
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
    """Return a text in UTF-8 as a data frame with the columns `names`.

    `header`: True to skip line 1, which `names` replace. `options`: further ones of
    `pandas.read_csv`, such as `dtype`. `separator`: of the fields.
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


def _columns_of_thousands(
    frame: pd.DataFrame, names: list[str], sample: list[list[str]]
) -> Iterator[str]:
    """Yield the names of the columns of floats whose decimal points may separate thousands.

    All floats must allow it, and the words of the column in the first rows, `sample`. `names`: of
    all columns, in the order of a row. `frame`: the columns as pandas reads them.
    """
    for position, name in enumerate(names):
        # The array: operations on series of pandas would take a millisecond a column.
        values = frame[name].to_numpy()
        if values.dtype != np.float64:
            continue
        # The first values decide in most columns.
        if not (_may_be_thousands(values[:SAMPLE_ROWS]) and _may_be_thousands(values)):
            continue
        words = [row[position] for row in sample]
        pointed = [word for word in words if "." in word]
        if not pointed or may_have_thousands(pointed):
            yield name


def _may_be_thousands(values: NDArray[np.float64]) -> bool:
    """Return True if floats may be such as 1.234, whose point was a separator of thousands.

    Each must be missing, whole, or of an absolute value from 1 to below 1000 with at most three
    decimals.
    """
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
    """Return the text of a file, and a list with a note if it is neither UTF-8 nor UTF-16.

    The list is empty otherwise. Another file is read as Windows-1252. Raises ValueError if it has
    zero bytes, so that it is not text.
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

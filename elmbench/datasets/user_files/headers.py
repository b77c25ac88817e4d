"""The header of a text table: its detection, and the names of columns and of rows."""

from __future__ import annotations

from pathlib import Path

from elmbench.datasets.table import few, unused_name
from elmbench.datasets.user_files.missing_words import MISSING
from elmbench.datasets.user_files.number_signs import sign_and_number
from elmbench.datasets.user_files.number_text import looks_numeric
from elmbench.errors import ElmbenchError

#: Number of fields of the first rows from which the header of wide rows is detected.
_SAMPLE_FIELDS = 100_000
#: A title above fewer columns may be a header.
_TITLE_COLUMNS = 3
#: The most words of a title that a note shows.
_SHOWN_TITLES = 3
#: The most names of columns that a note shows.
SHOWN_NAMES = 5


def complete_header(rows: list[list[str]]) -> tuple[list[list[str]], bool]:
    """Return rows with a header as wide as the rows below, and True if column 1 holds row names.

    R leaves out the name of the column of row names; other programs end all rows but the header
    with a separator. A header of one field too few is completed by "": in front for row names, else
    at the end. Without such a header, `rows` are returned as they are, with False. `rows`: the
    header first.
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
    """Return True if words may name rows: they are distinct, and none is a number with a fraction.

    Each is a whole number or no number at all.
    """
    are_distinct = len(set(words)) == len(words)
    return are_distinct and all(
        word.isdigit() or not looks_numeric(word) for word in words
    )


def _is_title(first: list[str], others: list[list[str]]) -> bool:
    """Return True if `first`, a row of one field less than `others`, is a title above the header.

    `first` is a title if it has one field, or if `others` have a header.
    """
    if len(first) == 1:
        return True
    return len(others) > 1 and _has_header(others)


def n_title_rows(rows: list[list[str]]) -> int:
    """Return the number of rows above the header that are a title: one word in any column, or none.

    0 unless all rows below the title have the same number of fields, two or more, and the first row
    below it is a header: this row has words in at least half of the columns, and one stands above a
    column of numbers. Above two columns, a title is a row of one field: `a;` may be a header.
    `rows`: the fields of the first rows.
    """
    width = max(map(len, rows), default=0)
    n_titles = 0
    for row in rows:
        may_be_title = len(row) == 1 or width >= _TITLE_COLUMNS
        present = [word for word in row if word]
        if not may_be_title or len(present) > 1 or not all(map(_is_word, present)):
            break
        n_titles += 1
    table = rows[n_titles:]
    if not n_titles or any(len(row) != width for row in table):
        return 0
    header, *data = table or [[]]
    n_names = sum(map(_is_word, header))
    is_header = 2 * n_names >= width and _names_numbers(header, data)
    return n_titles if is_header else 0


def remark_on_titles(titles: list[list[str]]) -> str:
    """Return the note that the rows above the header are left out; it shows at most three words.

    `titles`: the fields of each of the rows.
    """
    lines = [word for row in titles for word in row if word]
    return f"left out above the header: {few(lines, _SHOWN_TITLES)}"


def _names_numbers(header: list[str], data: list[list[str]]) -> bool:
    """Return True if a word of `header` stands above a column of numbers in the rows `data`."""
    for name, *values in zip(header, *data, strict=True):
        present = [word for word in values if word not in MISSING]
        if _is_word(name) and present and _are_mostly_numbers(present):
            return True
    return False


def column_names(
    sample: list[list[str]], path: Path, header: bool | None
) -> tuple[list[str], bool]:
    """Return the names of the columns, and True if they are in the first row.

    Otherwise they are x0, x1, ... The names of a header are those of `names_of_header`. `sample`:
    the first rows. `header`: True, False, or None to detect it; raises ElmbenchError if a detected
    header names fewer than half of the columns. `path`: for the error.
    """
    words = [word.strip() for word in sample[0]]
    if header is None:
        n_rows = max(20, _SAMPLE_FIELDS // len(words))
        header = _has_header(sample[:n_rows])
        if header:
            _check_header(words, path)
    if not header:
        return [f"x{position}" for position in range(len(words))], False
    return names_of_header(words), True


def names_of_header(words: list[str]) -> list[str]:
    """Return the names of the columns below a header: its words, and `column N` for an empty one.

    N is counted from 1. `words`: without surrounding spaces. A repeated word stays repeated.
    """
    return [
        name or unused_name(f"column {position}", words)
        for position, name in enumerate(words, start=1)
    ]


def _check_header(words: list[str], path: Path) -> None:
    """Raise ElmbenchError if fewer than half of the columns have a name in a detected header.

    It is then rather a title of a workbook. `words`: the header, "" for a column without a name.
    """
    named = [word for word in words if word]
    if 2 * len(named) >= len(words):
        return
    title = few(named, SHOWN_NAMES)
    raise ElmbenchError(
        f"{path}: line 1 names {len(named)} of {len(words)} columns ({title})",
        expected="a header",
        next_step="remove the lines above the header, or give --header if line 1 is the header",
    )


def remark_on_header(names: list[str], header: bool, line: int = 1) -> str:
    """Return a note on the detected header, and on the option that corrects it.

    `header`: True if `line`, counted from 1, is taken for the header, which holds `names`.
    """
    if header:
        listing = few(names, SHOWN_NAMES)
        correction = "--no-header, or header: false in datasets.yaml, if it is data"
        return f"line {line} is taken for the header ({correction}): {listing}"
    last = len(names) - 1
    correction = "--header, or header: true in datasets.yaml, if it holds names"
    return f"line 1 is taken for data ({correction}): the columns are x0 to x{last}"


def spare_columns(
    header: list[str], names: list[str], rows: list[list[str]]
) -> list[str]:
    """Return the names of the last columns that are nearly empty and have no name in the header.

    Trailing separators and stray cells make such columns. At most half of the values of each column
    are present; without a header (`header` is empty), no value is. The first column is never spare.
    Without rows, nothing is returned. `names`: those given to all columns.
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


def _has_header(rows: list[list[str]]) -> bool:
    """Return True if the first row holds names, because they differ in kind from the values below.

    It does if a word stands above a column of numbers. Otherwise it does not if the first word of a
    column of words recurs below. Otherwise it does if all columns are words, if a column of words
    holds categories, or if the numbers above the columns of numbers are 0, 1, ... A single row
    counts as names. `rows`: lists of the fields of each row, the possible header first.
    """
    numbers = []
    has_repeated_name = False
    has_categories = False
    for name, *others in zip(*rows, strict=False):
        values = [word for word in others if word not in MISSING]
        if not name and not values:
            continue
        if _are_mostly_numbers(values):
            if _is_word(name):
                return True
            numbers.append(name)
            continue
        if name in values:
            has_repeated_name = True
        if len(set(values)) <= len(values) / 2:
            has_categories = True
    if has_repeated_name:
        return False
    if not numbers:
        return True
    # All columns of numbers begin with a number. Names may be numbers as well, such as positions or
    # wavelengths.
    positions = [str(position) for position in range(len(numbers))]
    return has_categories or numbers == positions


def _are_mostly_numbers(words: list[str]) -> bool:
    """Return True if more than half of some words are numbers, such as 5 or $5; False for no
    words.
    """
    n_numbers = sum(map(_is_quantity, words))
    return 2 * n_numbers > len(words)


def _is_word(text: str) -> bool:
    """Return True for a text that is neither empty, nor a number, nor a mark of a missing value."""
    return bool(text) and text not in MISSING and not _is_quantity(text)


def _is_quantity(word: str) -> bool:
    """Return True for a number in any notation, perhaps with a currency or percent sign."""
    return looks_numeric(word) or sign_and_number(word) is not None

"""A user's file as a table, and its columns that are not features as they are: the order, groups and dates."""

from collections.abc import Collection
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.datasets.dates import Dates, features_of, read_dates, span
from elmbench.datasets.numbers import with_numbers
from elmbench.datasets.readers import COMPRESSIONS, FORMATS, compression_of, read_table
from elmbench.datasets.sources.file import FileSource
from elmbench.datasets.table import Table, label_words
from elmbench.datasets.text import Layout
from elmbench.errors import ElmbenchError, closest

#: Names of a target column that is not given; the last column if there is none of these.
TARGETS = ("target", "class", "label", "y")
_OTHER_ENDINGS = {"tsv": "csv", "txt": "csv", "libsvm": "svm", "svmlight": "svm", "pq": "parquet"}
#: Largest unpacked size of a file: so many bytes, and so many times its own.
MOST_AT_LEAST, MOST_TIMES = 100_000_000, 500


def read_user_file(source: FileSource, *words: str | None) -> Table:
    """Return the rows of a user's file; `words` are further columns whose values keep their spelling.

    Raises
    ------
    ElmbenchError
        If the file is not there, cannot be read, or lacks a column that is named.
    """
    path = Path(source.path)
    if not path.is_file():
        problem = f"{path} is {'not a regular file' if path.exists() else 'not there'}"
        raise ElmbenchError(problem, expected="a file of rows", next_step="check the path")
    layout = Layout(source.separator, source.decimal, source.header, {*source.words, *filter(None, words)})
    most = MOST_AT_LEAST + MOST_TIMES * path.stat().st_size
    choose = partial(_target, source, path)
    table = read_table(path, choose, form=_form_of(path), layout=layout, sparse=True, most=most)
    dropped = [_position(table, name) for name in source.drop]
    table = table.columns(np.array([position not in dropped for position in range(len(table.names))]))
    for name in set(source.words) - {table.target_name}:
        _position(table, name)
    table = with_numbers(table, source.decimal, layout.words)
    known = np.array([value is not None and value == value for value in table.target])
    if not source.drop_missing_target or known.all():
        return table
    return table.rows(known).remarked(f"{int((~known).sum())} of {len(known)} rows have no target and are left out")


def _form_of(path: Path) -> str:
    """Return the format of a file by the end of its name."""
    form = path.name.removesuffix(compression_of(path)).rsplit(".", 1)[-1].lower()
    form = _OTHER_ENDINGS.get(form, form)
    if form not in (*FORMATS, "xlsx"):
        endings = ", ".join(f".{form}" for form in (*FORMATS, "xlsx", *_OTHER_ENDINGS))
        expected = f"a name that ends in {endings}, perhaps followed by {', '.join(filter(None, COMPRESSIONS))}"
        raise ElmbenchError(f"{path}: unknown kind of file", expected=expected, next_step="convert it, such as to CSV")
    return form


def _target(source: FileSource, path: Path, names: list[str]) -> str:
    if isinstance(source.target, int):
        return names[source.target]
    if not source.target:
        return next((name for name in TARGETS if name in names), names[-1])
    if source.target not in names:
        raise _no_column(path, source.target, names)
    return source.target


def _no_column(path: Path | str, name: str, names: list[str]) -> ElmbenchError:
    """Return the error for a column that a file does not have."""
    guess = closest(name, names)
    hint = f" (did you mean {guess!r}?)" if guess else ""
    shown = ", ".join(names[:12]) + (f", ... ({len(names)} columns)" if len(names) > 12 else "")
    return ElmbenchError(
        f"{path} has no column {name!r}{hint}",
        expected=f"one of {shown}",
        next_step="name a column of the file (--sep, --header and --no-header change how columns are read)",
    )


def _position(table: Table, name: str) -> int:
    if name not in table.names:
        raise _no_column(table.origin, name, list(table.names))
    return table.names.index(name)


def take_column(table: Table, name: str) -> tuple[Table, NDArray[Any]]:
    """Return a table without one of its columns, and that column: numbers, or words."""
    position = _position(table, name)
    return table.columns(np.arange(len(table.names)) != position), table.column(position)


def sorted_by(table: Table, name: str, day_first: bool | None = None) -> tuple[Table, str]:
    """Sort the rows by a column of numbers or dates; return them without that column, and its first and last value.

    Raises
    ------
    ElmbenchError
        If values are missing, are neither numbers nor dates, or are dates that could be read in two ways.
    """
    table, values = take_column(table, name)
    if any(value is None or value != value for value in values):
        problem = f"{table.origin}: the column {name!r}, which the rows are sorted by, has missing values"
        raise ElmbenchError(problem, expected="a value in every row", next_step="complete or remove these rows")
    if values.dtype == object:
        values = _dates_of(table, name, values, day_first)
        ends = span(values)
    else:
        ends = f"{values.min():.12g} to {values.max():.12g}"
    return table.taken(np.argsort(values, kind="stable")), ends


def _dates_of(table: Table, name: str, words: NDArray[np.object_], day_first: bool | None) -> Dates:
    dates = read_dates(words, day_first, name)
    if dates is not None:
        return dates
    odd = next((word for word in words if read_dates([word], True) is None), words[0])
    raise ElmbenchError(
        f"{table.origin}: the column {name!r}, which the rows are sorted by, holds {odd!r}",
        expected="numbers, or dates in one format",
        next_step="write its values as YYYY-MM-DD, or as numbers that rise with time",
    )


def with_date_features(table: Table, names: Collection[str], day_first: bool | None = None) -> Table:
    """Return a table with columns of numbers, such as `day.month`, in place of columns of dates."""
    for name in names:
        table, words = take_column(table, name)
        dates = read_dates(words, day_first, name)
        if dates is None:
            problem = f"{table.origin}: the column {name!r} holds {next(filter(None, words), None)!r}"
            raise ElmbenchError(problem, expected="dates in one format", next_step="correct the file")
        features = features_of(dates)
        X = np.column_stack([table.X, *features.values()])
        table = replace(table, X=X, names=(*table.names, *(f"{name}.{part}" for part in features)))
    return table


def group_numbers(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return a number for each row, the same for rows of equal values."""
    words = np.array([str(word) for word in label_words(values)])
    return np.unique(words, return_inverse=True)[1].astype(np.int64)


def with_numbered_categories(table: Table) -> Table:
    """Return a table whose nominal columns hold the number of each category, NaN where it is missing."""
    if not table.nominal:
        return table
    X = np.array(table.X)
    for position, words in table.nominal.items():
        numbers = {word: float(i) for i, word in enumerate(sorted({word for word in words if word is not None}))}
        X[:, position] = [np.nan if word is None else numbers[word] for word in words]
    return replace(table, X=X)

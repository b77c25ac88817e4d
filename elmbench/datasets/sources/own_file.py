"""Read a file of a user's own, and take the columns out of it that are not features."""

from collections.abc import Collection
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.datasets.dates import Dates, features_of, read_dates, span
from elmbench.datasets.delimited import read_delimited, read_workbook
from elmbench.datasets.numbers import with_numbers
from elmbench.datasets.readers import Reader, compression_of, read_arff, read_parquet, read_table
from elmbench.datasets.sources.folder import COMPRESSIONS, FORMATS
from elmbench.datasets.table import Table, label_words
from elmbench.errors import ElmbenchError, closest
from elmbench.specs.datasets.sources import FileSource

#: Names of a target column that is not given; the last column if there is none of these.
TARGETS = ("target", "class", "label", "y")
#: Formats with a target, but without names of columns.
UNNAMED = ("svm", "npz")

_OTHER_ENDINGS = {"tsv": "csv", "txt": "csv", "libsvm": "svm", "svmlight": "svm", "pq": "parquet"}

#: Largest unpacked size of a file: so many bytes, and so many times its own. A file that exceeds it is a zip bomb.
MOST_AT_LEAST, MOST_TIMES = 100_000_000, 500


def form_of(path: Path) -> str:
    """Return the format of a file by the end of its name.

    Raises
    ------
    ElmbenchError
        If the format is unknown.
    """
    form = path.name.removesuffix(compression_of(path)).rsplit(".", 1)[-1].lower()
    form = _OTHER_ENDINGS.get(form, form)
    if form not in (*FORMATS, "xlsx"):
        endings = ", ".join(f".{form}" for form in (*FORMATS, "xlsx", *_OTHER_ENDINGS))
        expected = f"a name that ends in {endings}"
        expected += f", perhaps followed by {', '.join(filter(None, COMPRESSIONS))}"
        raise ElmbenchError(f"{path}: unknown kind of file", expected=expected, next_step="convert it, such as to CSV")
    return form


def read_own(source: FileSource, *words: str | None) -> Table:
    """Return the rows of a file; `words` are further columns whose values keep their spelling.

    Raises
    ------
    ElmbenchError
        If it is not there, cannot be read, or lacks a column that is named.
    """
    path = Path(source.path)
    if not path.is_file():
        found = f"{path} is {'not a regular file' if path.exists() else 'not there'}"
        raise ElmbenchError(found, expected="a file of rows", next_step="check the path")
    form = form_of(path)
    most = MOST_AT_LEAST + MOST_TIMES * path.stat().st_size
    as_words = {*source.words, *filter(None, words)}
    readers: dict[str, Reader] = {
        "csv": partial(read_delimited, source=source, words=as_words),
        "xlsx": partial(read_workbook, source=source, words=as_words),
        "arff": partial(read_arff, words=as_words),
        "parquet": partial(read_parquet, words=as_words),
    }
    choose = partial(_target, source, path)
    table = read_table(path, choose, sparse=form in UNNAMED, most=most, form=form, readers=readers)
    dropped = [_place(table, name) for name in source.drop]
    table = table.columns(np.array([place not in dropped for place in range(len(table.names))]))
    for name in set(source.words) - {table.target_name}:
        _place(table, name)
    table = with_numbers(table, source.decimal, as_words)
    return _without_missing_targets(table) if source.drop_missing_target else table


def _target(source: FileSource, path: Path, names: list[str]) -> str:
    if isinstance(source.target, int):
        return names[source.target]
    if not source.target:
        return next((name for name in TARGETS if name in names), names[-1])
    if source.target not in names:
        raise no_column(path, source.target, names)
    return source.target


def _without_missing_targets(table: Table) -> Table:
    known = np.array([value is not None and value == value for value in table.target])
    if known.all():
        return table
    return table.rows(known).remarked(f"{int((~known).sum())} of {len(known)} rows have no target and are left out")


def no_column(path: Path | str, name: str, names: list[str]) -> ElmbenchError:
    """Return the error for a column that a file does not have."""
    guess = closest(name, names)
    hint = f" (did you mean {guess!r}?)" if guess else ""
    shown = ", ".join(names[:12]) + (f", ... ({len(names)} columns)" if len(names) > 12 else "")
    return ElmbenchError(
        f"{path} has no column {name!r}{hint}",
        expected=f"one of {shown}",
        next_step="name a column of the file (--sep, --header and --no-header change how columns are read)",
    )


def _place(table: Table, name: str) -> int:
    if name not in table.names:
        raise no_column(table.origin, name, list(table.names))
    return table.names.index(name)


def take_column(table: Table, name: str) -> tuple[Table, NDArray[Any]]:
    """Return a table without one of its columns, and that column: numbers, or words."""
    place = _place(table, name)
    values = table.nominal[place] if place in table.nominal else np.asarray(table.X[:, place])
    return table.columns(np.arange(len(table.names)) != place), values


def sorted_by(table: Table, name: str, day_first: bool | None = None) -> tuple[Table, str]:
    """Sort the rows by a column of numbers or dates; return them without that column, and its first and last value.

    Raises
    ------
    ElmbenchError
        If values are missing, are neither numbers nor dates, or are dates that could be read in two ways.
    """
    table, values = take_column(table, name)
    if any(value is None or value != value for value in values):
        found = f"{table.origin}: the column {name!r}, which the rows are sorted by, has missing values"
        raise ElmbenchError(found, expected="a value in every row", next_step="complete or remove these rows")
    if values.dtype == object:
        values = _dates_of(table, name, values, day_first)
        ends = span(values)
    else:
        ends = f"{values.min():.12g} to {values.max():.12g}"
    order = np.argsort(values, kind="stable")
    nominal = {place: words[order] for place, words in table.nominal.items()}
    return replace(table, X=table.X[order], target=table.target[order], nominal=nominal), ends


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
            found = f"{table.origin}: the column {name!r} holds {next(filter(None, words), None)!r}"
            raise ElmbenchError(found, expected="dates in one format", next_step="correct the file")
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
    for place, words in table.nominal.items():
        numbers = {word: float(i) for i, word in enumerate(sorted({word for word in words if word is not None}))}
        X[:, place] = [np.nan if word is None else numbers[word] for word in words]
    return replace(table, X=X)

"""Columns of a user's table that are not features as they are: the order, groups, dates and categories."""

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.datasets.dates import Dates, features_of, read_dates, span
from elmbench.datasets.table import Table, label_words
from elmbench.errors import ElmbenchError, closest


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


def column_position(table: Table, name: str) -> int:
    """Return the position of a column; an error if the table does not have it."""
    if name not in table.names:
        raise no_column(table.origin, name, list(table.names))
    return table.names.index(name)


def take_column(table: Table, name: str) -> tuple[Table, NDArray[Any]]:
    """Return a table without one of its columns, and that column: numbers, or words."""
    position = column_position(table, name)
    values = table.nominal[position] if position in table.nominal else np.asarray(table.X[:, position])
    return table.columns(np.arange(len(table.names)) != position), values


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
    nominal = {position: words[order] for position, words in table.nominal.items()}
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
    for position, words in table.nominal.items():
        numbers = {word: float(i) for i, word in enumerate(sorted({word for word in words if word is not None}))}
        X[:, position] = [np.nan if word is None else numbers[word] for word in words]
    return replace(table, X=X)

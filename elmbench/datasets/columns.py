"""Turn columns as a file holds them into a table: numbers into one matrix, words kept by their column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from elmbench.datasets.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


def columns_of(columns: Iterable[Any]) -> list[NDArray[Any]]:
    """Return Arrow columns as arrays: float64 (NaN where null), or objects of str (None where null)."""
    import pyarrow as pa

    arrays: list[NDArray[Any]] = []
    for column in columns:
        kind = column.type
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind):
            arrays.append(column.cast(pa.float64()).to_numpy().astype(np.float64, copy=False))
        else:
            arrays.append(np.array(column.cast(pa.string()).to_pylist(), dtype=object))
    return arrays


def to_table(names: list[str], columns: list[NDArray[Any]], target: int, origin: str) -> Table:
    """Build the table of some columns, one of which is the target.

    Parameters
    ----------
    names : list of str
        Names of all columns.
    columns : list of ndarray of shape (n,)
        float64, or objects; words that are all numbers (such as ' 5') become numbers.
    target : int
        Position of the target.
    origin : str
        What the columns were read from.
    """
    features = [place for place in range(len(names)) if place != target]
    X = np.full((len(columns[target]), len(features)), np.nan)
    nominal: dict[int, NDArray[np.object_]] = {}
    for place, position in enumerate(features):
        values = columns[position]
        if values.dtype == object:
            numbers = _as_numbers(values)
            if numbers is None:
                nominal[place] = np.array(
                    [None if value is None else str(value).strip() for value in values], dtype=object
                )
                continue
            values = numbers
        X[:, place] = values
    return Table(X, tuple(names[position] for position in features), columns[target], origin, nominal)


def _as_numbers(words: NDArray[np.object_]) -> NDArray[np.float64] | None:
    try:
        return np.array([np.nan if word is None else float(word) for word in words], dtype=np.float64)
    except (TypeError, ValueError):
        return None

"""Turn columns as a file holds them into a table: numbers into one matrix, words kept by their column."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from elmbench.datasets.table import Table

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

_MISSING = ["?", "", "NaN", "nan", "NA"]
_QUOTED = re.compile(rb'"[^"]*"')


def csv_columns(content: bytes, n_columns: int, *, header: bool, text: tuple[int, ...] = ()) -> list[NDArray[Any]]:
    """Return the columns of a CSV text (see `columns_of`).

    Parameters
    ----------
    content : bytes
        UTF-8. A missing value is an empty field, `?`, `NA`, `NaN` or `nan`.
    n_columns : int
        Number of fields that every line must have.
    header : bool
        Whether the first line holds the names of the columns.
    text : tuple of int
        Positions of columns that are kept as they are spelled, even if every field is a number.

    Raises
    ------
    ValueError
        If a line has another number of fields, or the text is not UTF-8.
    """
    import pandas as pd

    # pandas fills up short lines without a word, so the fields are counted here.
    for number, line in enumerate(io.BytesIO(content), start=1):
        n_fields = _QUOTED.sub(b"", line).count(b",") + 1
        if n_fields != n_columns and line.strip():
            raise ValueError(f"expected {n_columns} fields, found {n_fields} in line {number}")
    # Not by Arrow's reader or Arrow's strings: threads of that reader outlive the interpreter, and abort its exit.
    with pd.option_context("mode.string_storage", "python"):
        frame = pd.read_csv(
            io.BytesIO(content),
            header=0 if header else None,
            names=list(range(n_columns)),
            index_col=False,
            dtype=dict.fromkeys(text, object),
            na_values=_MISSING,
            keep_default_na=False,
            engine="c",
            low_memory=False,
        )
        return columns_of(frame)


def columns_of(frame: pd.DataFrame) -> list[NDArray[Any]]:
    """Return the columns of a data frame as arrays: float64 (NaN where missing), or str (None where missing)."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    arrays: list[NDArray[Any]] = []
    for _, column in frame.items():
        if is_numeric_dtype(column) and not is_bool_dtype(column):
            arrays.append(np.asarray(column, dtype=np.float64))
        else:
            missing = column.isna()
            words = [None if gone else _word(value) for value, gone in zip(column, missing, strict=True)]
            arrays.append(np.array(words, dtype=object))
    return arrays


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool | np.bool_) else str(value)


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

"""Rows as read: features, a raw target, and the official training and test parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elmbench.errors import ElmbenchError

if TYPE_CHECKING:
    import pandas as pd

Matrix = Any  # ndarray or CSR matrix, float64
#: A parser takes seconds for this many columns, and minutes for ten times as many.
_MOST_COLUMNS = 100_000
#: A number as plain text. Python's float also accepts 1_1, and the digits of every script.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
#: A whole number in its usual spelling. 01, 1e2 and 1.50 remain words, because numbers would lose their spelling.
_WHOLE = re.compile(r"\+?(-?(?:0|[1-9]\d*))(?:\.0)?", re.ASCII)


@dataclass(frozen=True)
class Table:
    """Rows before their preparation.

    Parameters
    ----------
    X : ndarray of shape (n, d) or CSR matrix of shape (n, d)
        The features; NaN for a missing value, and in all rows of a nominal column.
    target : ndarray of shape (n,)
        Raw target: numbers, or an object array of str; None if missing.
    origin : str
        The file or source of the rows.
    nominal : dict of int to ndarray of shape (n,)
        The words of every nominal column, by its position; None for a missing word.
    n_train : int, optional
        The first `n_train` rows are the official training part and the others the test part.
    two_classes : bool
        True if the labels only separate the positive class from the rest, although the public file has more classes.
    notes : tuple of str
        Remarks for the user of the rows.
    target_name : str
        Name of the target column, if the file has names.
    separator : str
        Separator of the fields, if the file is text.
    positions : ndarray of shape (n,) or None
        The number of each row in its file, from 0; None if they are all there, in their order.
    """

    X: Matrix
    names: tuple[str, ...]
    target: NDArray[Any]
    origin: str
    nominal: dict[int, NDArray[np.object_]] = field(default_factory=dict)
    n_train: int | None = None
    two_classes: bool = False
    notes: tuple[str, ...] = ()
    target_name: str = ""
    separator: str = ""
    positions: NDArray[np.intp] | None = None

    @classmethod
    def of_numbers(cls, X: Matrix, target: NDArray[Any], origin: str) -> Table:
        """Return the table of features without names, which become x0, x1, ..."""
        return cls(X, tuple(f"x{index}" for index in range(X.shape[1])), target, origin)

    @classmethod
    def of_columns(
        cls, names: list[str], columns: list[NDArray[Any]], target: int, origin: str, words: Collection[str] = ()
    ) -> Table:
        """Return the table of the columns of a file: arrays of shape (n,) of numbers or objects, the target among them.

        Columns of number text become numbers, except those that `words` names.
        """
        features = [position for position in range(len(names)) if position != target]
        X = np.full((len(columns[target]), len(features)), np.nan)
        nominal: dict[int, NDArray[np.object_]] = {}
        for index, position in enumerate(features):
            values = columns[position]
            as_words = names[position] in words
            numbers = None if as_words else to_numbers(values) if values.dtype == object else values
            if numbers is None:
                text = [None if value is None or value != value else str(value).strip() for value in values]
                nominal[index] = np.array(text, dtype=object)
            else:
                X[:, index] = numbers
        feature_names = tuple(names[position] for position in features)
        return cls(X, feature_names, columns[target], origin, nominal, target_name=names[target])

    def remarked(self, *notes: str) -> Table:
        """Return the same table with further notes."""
        return replace(self, notes=(*self.notes, *notes))

    def column(self, position: int) -> NDArray[Any]:
        """Return a feature of dense rows: words, or numbers."""
        return self.nominal[position] if position in self.nominal else np.asarray(self.X[:, position])

    def missing(self) -> NDArray[np.bool_]:
        """Return True for each missing value of dense rows, an array of shape (n, d)."""
        missing: NDArray[np.bool_] = np.isnan(self.X)
        for position, words in self.nominal.items():
            missing[:, position] = [word is None for word in words]
        return missing

    def rows(self, keep: NDArray[np.bool_]) -> Table:
        """Return the table of the rows where `keep` is true."""
        n_train = None if self.n_train is None else int(keep[: self.n_train].sum())
        return replace(self.taken(np.flatnonzero(keep)), n_train=n_train)

    def taken(self, rows: NDArray[np.intp]) -> Table:
        """Return the table of some rows, in their order."""
        return replace(
            self,
            X=self.X[rows],
            target=self.target[rows],
            nominal={position: words[rows] for position, words in self.nominal.items()},
            positions=rows if self.positions is None else self.positions[rows],
        )

    def columns(self, keep: NDArray[Any]) -> Table:
        """Return the table of the columns where `keep` is true, or of these positions, in their order."""
        positions = np.arange(len(self.names))[keep]
        where = {int(position): index for index, position in enumerate(positions)}
        return replace(
            self,
            X=self.X[:, positions],
            names=tuple(self.names[position] for position in positions),
            nominal={where[position]: words for position, words in self.nominal.items() if position in where},
        )


def columns_of(frame: pd.DataFrame) -> list[NDArray[Any]]:
    """Return the columns of a data frame: integers, floats, or objects that are str, None if missing."""
    from pandas.api.types import is_bool_dtype, is_integer_dtype, is_numeric_dtype

    arrays: list[NDArray[Any]] = []
    for _, column in frame.items():
        if is_integer_dtype(column):
            arrays.append(np.asarray(column))
        elif is_numeric_dtype(column) and not is_bool_dtype(column):
            arrays.append(np.asarray(column, dtype=np.float64))
        else:
            missing = column.isna()
            words = [None if gone else _word(value) for value, gone in zip(column, missing, strict=True)]
            arrays.append(np.array(words, dtype=object))
    return arrays


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool | np.bool_) else str(value)


def target_position(names: list[str], choose: Callable[[list[str]], str], path: Path) -> int:
    """Return the position of the target; raise ElmbenchError for a repeated name or too many columns."""
    if len(names) > _MOST_COLUMNS:
        problem, expected = f"{path} has {len(names):,} columns", f"at most {_MOST_COLUMNS:,} columns"
        raise ElmbenchError(problem, expected=expected, next_step="save wider data as LIBSVM text (.svm)")
    positions: dict[str, int] = {}
    for position, name in enumerate(names):
        if name in positions:
            problem = f"{path}: the column {name!r} appears twice (columns {positions[name] + 1} and {position + 1})"
            next_step = f"rename or remove one of the two in {path.name}"
            raise ElmbenchError(problem, expected="column names that differ", next_step=next_step)
        positions[name] = position
    return positions[choose(names)]


def is_number(text: str) -> bool:
    """Return True if text is a plain number, apart from surrounding spaces."""
    return _NUMBER.fullmatch(text.strip()) is not None


def to_numbers(values: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return a column as floats, NaN for missing values; return None if it holds anything but numbers."""
    if values.dtype != object:
        return values.astype(np.float64) if values.dtype.kind in "biuf" else to_numbers(values.astype(object))
    known = {value for value in values if value is not None and value == value}
    if not all(is_number(str(value)) for value in known):
        return None
    return np.array([float(value) if value in known else np.nan for value in values])


def label_words(target: NDArray[Any]) -> NDArray[np.object_]:
    """Return labels as words, with one spelling of whole numbers: +1, 1.0 and 1 are all '1', but 01 is not.

    None and NaN become None.
    """
    words = np.empty(len(target), dtype=object)
    unique, inverse = np.unique(target.astype(str) if target.dtype == object else target, return_inverse=True)
    spelled = np.array([label_word(value) for value in unique], dtype=object)
    words[:] = spelled[inverse]
    words[[value is None or value != value for value in target]] = None  # NaN is not equal to itself
    return words


def label_word(value: Any) -> str:
    """Return the canonical spelling of a label."""
    word = str(value).strip()
    whole = _WHOLE.fullmatch(word)
    return str(int(whole[1])) if whole else word

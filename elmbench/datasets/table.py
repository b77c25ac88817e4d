"""Rows as they were read: features, a raw target, and which rows are the official training and test part."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrix = Any  # ndarray or CSR matrix, float64
#: What the name of a column takes at least: sparse rows may say that they have more columns than memory has room for.
BYTES_OF_A_NAME = 32


def check_size(n_bytes: int, most: int | None) -> None:
    """Refuse what takes more than the `most` bytes that the data set can have.

    Raises
    ------
    ValueError
        If it does.
    """
    if most is not None and n_bytes > most:
        raise ValueError(f"it holds more than the {most / 1e6:.1f} MB that the data set can have")


@dataclass(frozen=True)
class Table:
    """Rows before their preparation.

    Parameters
    ----------
    X : ndarray of shape (n, d) or CSR matrix of shape (n, d)
        The features; NaN where a value is missing, and all along a nominal column.
    target : ndarray of shape (n,)
        Raw target: float64, or an object array of str; None where it is missing.
    origin : str
        What the rows were read from.
    nominal : dict of int to ndarray of shape (n,)
        The words of every nominal column, by its position; None where one is missing.
    n_train : int, optional
        The first `n_train` rows are the official training part and the others the test part.
    two_classes : bool
        Whether the labels tell only the positive class from the rest, though the public file has more of them.
    notes : tuple of str
        What whoever uses the rows ought to know.
    """

    X: Matrix
    names: tuple[str, ...]
    target: NDArray[Any]
    origin: str
    nominal: dict[int, NDArray[np.object_]] = field(default_factory=dict)
    n_train: int | None = None
    two_classes: bool = False
    notes: tuple[str, ...] = ()

    @classmethod
    def of_numbers(cls, X: Matrix, target: NDArray[Any], origin: str) -> Table:
        """Return the table of features that have no names and no words: they are called x0, x1, ..."""
        return cls(X, tuple(f"x{place}" for place in range(X.shape[1])), target, origin)

    @classmethod
    def of_columns(cls, names: list[str], columns: list[NDArray[Any]], target: int, origin: str) -> Table:
        """Return the table of columns as a file holds them.

        They are arrays of shape (n,) of float64 or objects, the target among them; words that are all numbers (such as
        ' 5') become numbers.
        """
        features = [place for place in range(len(names)) if place != target]
        X = np.full((len(columns[target]), len(features)), np.nan)
        nominal: dict[int, NDArray[np.object_]] = {}
        for place, position in enumerate(features):
            values: Any = columns[position]
            try:
                if values.dtype == object:
                    values = [np.nan if value is None else float(value) for value in values]
                X[:, place] = values
            except (TypeError, ValueError):
                words = [None if value is None else str(value).strip() for value in columns[position]]
                nominal[place] = np.array(words, dtype=object)
        return cls(X, tuple(names[position] for position in features), columns[target], origin, nominal)

    def rows(self, keep: NDArray[np.bool_]) -> Table:
        """Return the table of the rows where `keep` is true."""
        return replace(
            self,
            X=self.X[keep],
            target=self.target[keep],
            nominal={position: words[keep] for position, words in self.nominal.items()},
            n_train=None if self.n_train is None else int(keep[: self.n_train].sum()),
        )

    def columns(self, keep: NDArray[np.bool_]) -> Table:
        """Return the table of the columns where `keep` is true."""
        kept = np.flatnonzero(keep)
        where = {int(position): place for place, position in enumerate(kept)}
        return replace(
            self,
            X=self.X[:, kept],
            names=tuple(self.names[position] for position in kept),
            nominal={where[position]: words for position, words in self.nominal.items() if position in where},
        )


def label_words(target: NDArray[Any]) -> NDArray[np.object_]:
    """Return labels as words in which numbers have one spelling: +1, 1.0 and 01 are all '1'.

    None and NaN become None.
    """
    words = np.empty(len(target), dtype=object)
    unique, inverse = np.unique(target.astype(str) if target.dtype == object else target, return_inverse=True)
    spelled = np.array([label_word(value) for value in unique], dtype=object)
    words[:] = spelled[inverse]
    words[[value is None or value != value for value in target]] = None  # NaN is not equal to itself
    return words


def label_word(value: Any) -> str:
    """Return the one spelling of a label."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not np.isfinite(number):
        return str(value).strip()
    return str(int(number)) if number.is_integer() else repr(number)

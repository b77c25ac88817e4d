"""Data of the benchmark: what scikit-learn brings along and what elmbench generates."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.model_selection import KFold, StratifiedKFold

from elmbench import load_dataset
from elmbench.protocol.scaling import scale_columns
from elmbench.specs.protocol import Scale

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """Rows, three folds of them, and a score.

    Inputs X are in [0, 1]; y holds labels -1/+1 or real targets; folds are pairs of row numbers, to train and to test
    on. The metric is named as elmbench's searches know it; `labels` is None for regression.
    """

    X: Array
    y: NDArray[Any]
    folds: list[tuple[NDArray[np.intp], NDArray[np.intp]]]
    metric: str
    labels: list[int] | None


def wdbc() -> Problem:
    """Return the 569 rows of WDBC."""
    data = load_dataset("wdbc")
    return _classes(data.X, data.y)


def digits(rows: int = 900) -> Problem:
    """Return the first rows of scikit-learn's digits: 64 pixels, even against odd."""
    X, number = load_digits(return_X_y=True)
    return _classes(X[:rows], np.where(number[:rows] % 2 == 0, 1, -1))


def _classes(X: Array, y: NDArray[Any]) -> Problem:
    X = scale_columns(X, slice(None), Scale())
    return Problem(X, y, list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y)), "mcc", [-1, 1])


def mackey_glass(rows: int) -> Problem:
    """Return a random choice of so many of the 20,000 rows of the Mackey-Glass series, 7 inputs each."""
    X, y = series(rows)
    return Problem(X, y, list(KFold(3, shuffle=True, random_state=0).split(X)), "nrmse", None)


def series(rows: int) -> tuple[Array, Array]:
    """Return inputs and targets of the Mackey-Glass series, so many rows at random."""
    data = load_dataset("mackey-glass")
    keep = np.random.default_rng(0).permutation(len(data.y))[:rows]
    return scale_columns(data.X, slice(None), Scale())[keep], np.asarray(data.y, dtype=np.float64)[keep]

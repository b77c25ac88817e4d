"""Small problems of every kind that the model tests draw from."""

import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy.linalg import lstsq

FACTORS = st.integers(-8, 13).map(lambda e: 2.0**e)
"""The range in which the papers search C and gamma."""

SHAPES = st.tuples(st.integers(1, 40), st.integers(1, 8), st.integers(0, 2**31 - 1))
"""Rows, columns and a seed."""


def rows(n: int, d: int, seed: int, awkward: bool = False) -> np.ndarray:
    """Return random rows in [0, 1]; awkward ones have repeated rows and a constant column."""
    X = np.random.RandomState(seed).rand(n, d)
    if awkward:
        X[n // 2 :] = X[: n - n // 2]
        X[:, 0] = 0.25
    return X


def targets(X: np.ndarray, seed: int, kind: str) -> np.ndarray:
    """Return labels or values that hang on `X`: kind is "binary", "multi", "one", "regression" or
    "two-targets".
    """
    random = np.random.RandomState(seed + 1)
    values = np.sin(3 * X.sum(axis=1)) + 0.3 * random.randn(len(X))
    if kind == "binary":
        return np.where(values > np.median(values), 1, -1)
    if kind == "multi":
        return np.array(["a", "b", "c", "d"])[
            np.clip(np.floor(2 * values + 2), 0, 3).astype(int)
        ]
    if kind == "one":
        return np.full(len(X), 3)
    if kind == "two-targets":
        return np.column_stack([values, values**2])
    return values


def problem(
    n: int, d: int, seed: int, kind: str, awkward: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Return random rows and targets of a kind."""
    X = rows(n, d, seed, awkward)
    return X, targets(X, seed, kind)


def sparse_rows(X: np.ndarray, seed: int) -> np.ndarray:
    """Return rows with half of the entries, and all of one row, zero."""
    X = np.where(np.random.RandomState(seed).rand(*X.shape) < 0.5, 0.0, X)
    X[0] = 0.0
    return X


def is_classification(kind: str) -> bool:
    return kind in ("binary", "multi", "one")


def coded(y: np.ndarray, kind: str) -> np.ndarray:
    """Return targets in columns as the papers code them."""
    if not is_classification(kind):
        return y.reshape(len(y), -1)
    classes = np.unique(y)
    if len(classes) <= 2:
        return np.where(y == classes[-1], 1.0, -1.0)[:, None]
    return np.where(y[:, None] == classes, 1.0, -1.0)


def dense_output_weights(H: np.ndarray, T: np.ndarray, C: float) -> np.ndarray:
    """Minimise ||H beta - T||^2 + ||beta||^2 / C as one tall least-squares problem, without
    squaring H.
    """
    tall = np.vstack([H, np.eye(H.shape[1]) / np.sqrt(C)])
    return lstsq(tall, np.vstack([T, np.zeros((H.shape[1], T.shape[1]))]))[0]


def class_of(name: str, kind: str) -> Any:
    """Return the estimator class of a family name for a kind of targets."""
    import elmbench.models

    return getattr(
        elmbench.models,
        name + ("Classifier" if is_classification(kind) else "Regressor"),
    )


def counting(
    path: Iterable[Any], solvers: Counter[str]
) -> Iterator[tuple[int, int, np.ndarray]]:
    """Yield candidate, fold and outputs of what a path yields, and add up its solvers."""
    for evaluated in path:
        solvers.update(evaluated.solvers)
        yield evaluated.candidate, evaluated.fold, evaluated.outputs


def real_outputs(model: Any, X: np.ndarray) -> np.ndarray:
    """Return what a model computes before labels are made of it."""
    return (
        model.decision_function(X)
        if hasattr(model, "decision_function")
        else model.predict(X)
    )


def peak_of(task: Callable[[], Any]) -> int:
    """Return the most memory that is held at a time, what is returned included."""
    tracemalloc.start()
    task()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak

"""Problems for the online models, of every shape that has its own ways of going wrong."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

KINDS = (
    "plain",
    "duplicates",
    "constant column",
    "wide",
    "single row",
    "one label",
    "clustered",
    "far apart",
)


@dataclass(frozen=True)
class Problem:
    """Rows, targets, and the parameters to learn them with."""

    X: np.ndarray
    T: np.ndarray
    gamma: float
    C: float


def make(kind, n, d, outputs, gamma, C, seed):
    rng = np.random.default_rng(seed)
    if kind == "single row":
        n = 1
    if kind == "wide":
        d = 3 * n
    X = rng.random((n, d))
    if kind == "duplicates":
        X = X[rng.integers(0, max(1, n // 4), n)]
    elif kind == "constant column":
        X[:, 0] = 0.5
    elif kind == "clustered":
        X = 0.5 + 0.05 * (X - 0.5)
    elif kind == "far apart":
        X *= 50.0
    T = np.sin(3.0 * X[:, :1]) + 0.3 * rng.standard_normal((n, outputs))
    if kind == "one label":
        T[:] = 1.0
    return Problem(X, T, gamma, C)


def problems(largest=40):
    """Return a strategy for problems of at most `largest` rows."""
    return st.builds(
        make,
        kind=st.sampled_from(KINDS),
        n=st.integers(2, largest),
        d=st.integers(1, 5),
        outputs=st.integers(1, 3),
        gamma=st.sampled_from([0.01, 0.3, 3.0, 30.0]),
        C=st.sampled_from([0.01, 1.0, 100.0, 2.0**13]),
        seed=st.integers(0, 2**32 - 1),
    )


def pieces(data, n, most):
    """Yield slices that cut `n` rows into pieces of random lengths, drawn from hypothesis's
    `data`.
    """
    start = 0
    while start < n:
        stop = start + data.draw(st.integers(1, most))
        yield slice(start, stop)
        start = stop

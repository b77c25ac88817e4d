"""Learnt kernel weights against a bound on their time, and against Algorithm 1 as it is printed."""

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from benchmarks.measure import Seconds, in_turn, timed
from benchmarks.problems import Array
from benchmarks.row import Result, Row, measured
from elmbench.models import MKELMClassifier

BOUND = 60.0
"""Seconds that the weights of 20 kernels on 2,000 rows may take to settle, on two cores."""
FEW = 5
"""Iterations of the printed algorithm that are measured; all take the same."""

KERNELS: list[tuple[str, dict[str, Any]]] = [
    *(("rbf", {"gamma": 2.0**e}) for e in range(-13, 4)),
    *(("polynomial", {"gamma": 0.03125, "degree": degree}) for degree in (1, 2, 3)),
]


def rows_of_classes(n: int) -> tuple[Array, NDArray[Any]]:
    """Return n standardised rows of 30 features, and their three classes."""
    X, y = make_classification(n, 30, n_informative=10, n_classes=3, random_state=0)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def as_printed(X: Array, y: NDArray[Any], C: float, iterations: int) -> Array:
    """Return the objective at the start and after each iteration of Algorithm 1, by matrices that are kept whole."""
    of = {"rbf": rbf_kernel, "polynomial": polynomial_kernel}
    K = np.array([of[name](X, **params) for name, params in KERNELS])
    T = (y[:, np.newaxis] == np.unique(y)).astype(float)
    weights, objective = np.full(len(K), 1.0 / len(K)), []
    for _ in range(iterations + 1):
        alpha = np.linalg.solve(np.tensordot(weights, K, 1) + np.eye(len(X)) / C, T)
        objective.append(float(np.vdot(T, alpha)) / 2)
        norms = weights * np.sqrt([np.vdot(alpha, matrix @ alpha) for matrix in K])
        weights = norms / norms.sum()
    return np.array(objective)


def _bounded(trial: bool) -> Iterator[Result]:
    n, C = (200 if trial else 2000), 16.0
    X, y = rows_of_classes(n)
    for how, q, radius in (("sparse", 1.0, False), ("l_2", 2.0, False), ("radius", 1.0, True)):
        model = MKELMClassifier(C=C, kernels=KERNELS, q=q, radius=radius)
        spent, _ = timed(partial(model.fit, X, y))
        yield Result(
            name=f"MK-ELM, {how}, {len(KERNELS)} kernels, {n:,} rows",
            against=f"a bound of {BOUND:g} s",
            ratios=[BOUND / spent.cpu],
            ours=spent,
            theirs=Seconds(BOUND, BOUND),
            target=1.0,
            note=f"settled after {model.n_iter_} iterations",
        )


def _printed(trial: bool) -> Iterator[Result]:
    n, C = (200 if trial else 2000), 16.0
    X, y = rows_of_classes(n)
    # What each iteration takes is compared, the first kernel matrices included.
    model = MKELMClassifier(C=C, kernels=KERNELS, max_iter=FEW, tol=np.finfo(float).tiny)
    found = in_turn(lambda: _quiet(model, X, y), lambda: as_printed(X, y, C, FEW))
    apart = float(np.abs(found.our_result / found.their_result - 1).max())
    yield measured(
        found,
        name=f"MK-ELM, sparse, {len(KERNELS)} kernels, {n:,} rows, {FEW} iterations",
        against="Algorithm 1 with whole kernel matrices",
        difference=apart,
    )


def _quiet(model: MKELMClassifier, X: Array, y: NDArray[Any]) -> Array:
    """Return the objective's path of a fit that is meant to stop before the weights settle."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        objective: Array = model.fit(X, y).objective_
    return objective


ROWS = [Row("mk-elm", _bounded), Row("mk-elm-printed", _printed)]

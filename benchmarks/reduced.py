"""RKELM: its search, its fit against the machine's arithmetic, and what it is worth beside scikit-learn's models."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC
from sklearn.utils import check_random_state

from benchmarks.fits import matrix_product
from benchmarks.measure import in_turn
from benchmarks.problems import Array, Problem
from benchmarks.row import Result, Row, measured
from benchmarks.searches import compare
from benchmarks.sides import Candidates, grid_search, search_of
from elmbench import load_dataset
from elmbench.datasets.generators import waveform
from elmbench.errors import DataUnavailableError
from elmbench.models import RKELMClassifier
from elmbench.protocol.scaling import scale_columns
from elmbench.specs.protocol import Scale

SIZES = [50, 100, 200, 400, 800, 1200]
RIDGES: dict[str, list[Any]] = {"n_landmarks": SIZES, "C": [2.0**e for e in range(-5, 31)]}
"""Six numbers of centres, and the 36 ridges of the RKELM paper."""

# What scikit-learn's default search finds for waveforms scaled to [-1, 1], about.
GAMMA, C, CENTRES = 0.1, 1.0, 400
ROWS_FITTED, ROWS_TESTED = 8000, 4000


class KernelAtCentres(TransformerMixin, BaseEstimator):
    """The kernel between a row and random training rows as a step of a pipeline, with the centres of RKELM."""

    def __init__(self, n_landmarks: int = 100, gamma: float = 1.0, random_state: int = 0) -> None:
        self.n_landmarks = n_landmarks
        self.gamma = gamma
        self.random_state = random_state

    def fit(self, X: Array, y: Any = None) -> "KernelAtCentres":
        """Draw the centres."""
        order = check_random_state(self.random_state).permutation(len(X))
        self.centres_ = X[order[: self.n_landmarks]]
        return self

    def transform(self, X: Array) -> Array:
        """Return the values of the kernel."""
        values: Array = rbf_kernel(X, self.centres_, gamma=self.gamma)
        return values


def centres_pipeline(problem: Problem, candidates: Candidates) -> Array:
    """GridSearchCV over a pipeline of kernel values at random rows and Ridge, which is RKELM."""
    pipeline = make_pipeline(KernelAtCentres(gamma=0.5), RidgeClassifier(fit_intercept=False, solver="cholesky"))
    parameters = [
        {"kernelatcentres__n_landmarks": c["n_landmarks"], "ridgeclassifier__alpha": 1.0 / c["C"]} for c in candidates
    ]
    return grid_search(pipeline, problem, parameters, cut=False)


def satimage(rows: int) -> Problem:
    """Return random rows of Satimage, scaled to [-1, 1]."""
    data = load_dataset("satimage", os.environ.get("ELMBENCH_DATA_DIR"))
    keep = np.random.default_rng(0).permutation(len(data.y))[:rows]
    X = scale_columns(data.X, slice(None), Scale(range=(-1.0, 1.0)))[keep]
    y = np.asarray(data.y)[keep]
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    return Problem(X, y, folds, "accuracy", list(range(6)))


def _search(trial: bool) -> Iterator[Result]:
    name = "RKELM, Satimage, 4,435 rows, 6 L x 36 ridges x 3 folds"
    against = "GridSearchCV(Pipeline(kernel at the same centres, Ridge))"
    try:
        problem = satimage(300 if trial else 4435)
    except DataUnavailableError as error:
        yield Result(name, against, skipped=f"{error.found}")
        return
    sizes = {**RIDGES, "n_landmarks": SIZES[:3]} if trial else RIDGES
    found = compare(problem, sizes, search_of("rk-elm", gamma=0.5, random_state=0), centres_pipeline)
    yield found.result(name=name, against=against, target=30.0)


def waveforms(rows: int) -> tuple[Array, NDArray[np.int64]]:
    """Return generated waveforms of three classes, scaled to [-1, 1]."""
    X, y = waveform("benchmark", 0, None, rows=rows)
    return scale_columns(X, slice(None), Scale(range=(-1.0, 1.0))), y


def _fit(trial: bool) -> Iterator[Result]:
    """Kernel values, 2 n L d operations; K'K, n L^2; its Cholesky factor, L^3 / 3; the test rows, 2 m L (d + k)."""
    n, m, size = (800, 400, 500) if trial else (ROWS_FITTED, ROWS_TESTED, 2000)
    X, y = waveforms(n + m)
    d, k, L = X.shape[1], 3, CENTRES
    operations = 2 * n * L * d + n * L**2 + L**3 / 3 + 2 * m * L * (d + k)
    product = matrix_product(size)
    product()

    def work() -> float:
        return float(np.mean(_rkelm().fit(X[:n], y[:n]).predict(X[n:]) != y[n:]))

    work()
    found = in_turn(work, product, scale=operations / (2 * size**3))
    rate = 2e-9 * size**3 / min(seconds.cpu for seconds in found.theirs)
    yield measured(
        found,
        name=f"RKELM fit and prediction, {n:,} rows, {m:,} test rows, L = {L}",
        against="its operations, exp left aside, at the rate of dgemm",
        note=f"dgemm of {size} rows: {rate:.1f} Gflop/s; error on the test rows {found.our_result:.4f}",
    )


def _rkelm() -> RKELMClassifier:
    return RKELMClassifier(n_landmarks=CENTRES, C=C, gamma=GAMMA, random_state=0)


def _beside(trial: bool) -> Iterator[Result]:
    n, m = (800, 400) if trial else (ROWS_FITTED, ROWS_TESTED)
    X, y = waveforms(n + m)
    signs = np.where(y[:n, np.newaxis] == np.arange(3), 1.0, -1.0)

    def classifier(model: Callable[[], Any]) -> Callable[[], float]:
        return lambda: float(np.mean(model().fit(X[:n], y[:n]).predict(X[n:]) != y[n:]))

    def kernel_ridge() -> float:
        outputs = KernelRidge(alpha=1 / C, kernel="rbf", gamma=GAMMA).fit(X[:n], signs).predict(X[n:])
        return float(np.mean(np.argmax(outputs, axis=1) != y[n:]))

    def nystroem() -> Any:
        features = Nystroem(gamma=GAMMA, n_components=CENTRES, random_state=0)
        return make_pipeline(features, RidgeClassifier(alpha=1 / C))

    others = {
        "Nystroem + RidgeClassifier": classifier(nystroem),
        "KernelRidge": kernel_ridge,
        "SVC": classifier(lambda: SVC(C=C, gamma=GAMMA)),
        "LinearSVC": classifier(lambda: LinearSVC(C=C)),
    }
    for name, theirs in others.items():
        theirs()
        found = in_turn(classifier(_rkelm), theirs)
        yield measured(
            found,
            name=f"RKELM, {n:,} waveforms, L = {CENTRES}, fit and {m:,} predictions",
            against=f"scikit-learn's {name}",
            note=f"error on the test rows {found.our_result:.4f} against {found.their_result:.4f}",
        )


ROWS = [Row("rk-elm-satimage", _search), Row("rk-elm-fit", _fit), Row("rk-elm-beside", _beside)]

"""Problems of the benchmark, and the sides that search the same candidates by the same score on
them.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import load_digits
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.utils import check_random_state

from benchmarks.measure import Array
from elmbench import load_dataset
from elmbench.evaluation.predictions import metric_value
from elmbench.evaluation.preprocessing import prepared_inputs
from elmbench.metrics import less_is_better
from elmbench.registry import find_model
from elmbench.specs.scaling import Scale
from elmbench.tasks.scoring import GridProblem, grid_scores

Candidates = list[dict[str, Any]]


@dataclass(frozen=True)
class Problem:
    """Rows in [0, 1], labels -1/+1 or real targets, three folds of row numbers, and a metric of
    elmbench's searches.

    `labels` is None for regression.
    """

    X: Array
    y: NDArray[Any]
    folds: list[tuple[NDArray[np.intp], NDArray[np.intp]]]
    metric: str
    labels: list[int] | None


#: Returns scores of shape (n_candidates, n_folds); larger is better.
Side = Callable[[Problem, Candidates], Array]


def wdbc() -> Problem:
    """Return the 569 rows of WDBC."""
    data = load_dataset("wdbc")
    return classes(prepared_inputs(data.X, slice(None), Scale()), data.y)


def digits(rows: int) -> Problem:
    """Return the first rows of scikit-learn's digits: 64 pixels, even against odd."""
    X, number = load_digits(return_X_y=True)
    return classes(
        prepared_inputs(X[:rows], slice(None), Scale()),
        np.where(number[:rows] % 2 == 0, 1, -1),
    )


def satimage(rows: int) -> Problem:
    """Return random rows of Satimage, scaled to [-1, 1]."""
    data = load_dataset("satimage", os.environ.get("ELMBENCH_DATA_DIR"))
    numbers = np.random.default_rng(0).permutation(len(data.y))[:rows]
    X = prepared_inputs(data.X, slice(None), Scale(range=(-1.0, 1.0)))[numbers]
    return classes(X, np.asarray(data.y)[numbers], "accuracy", tuple(range(6)))


def classes(
    X: Array, y: NDArray[Any], metric: str = "mcc", labels: tuple[int, ...] = (-1, 1)
) -> Problem:
    """Return a problem of classification."""
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    return Problem(X, y, folds, metric, list(labels))


def mackey_glass(rows: int) -> Problem:
    """Return random rows of the Mackey-Glass series."""
    X, y = series(rows)
    return Problem(
        X, y, list(KFold(3, shuffle=True, random_state=0).split(X)), "nrmse", None
    )


def series(rows: int) -> tuple[Array, Array]:
    """Return 7 inputs and the target of random rows among the 20,000 of the Mackey-Glass series."""
    data = load_dataset("mackey-glass")
    numbers = np.random.default_rng(0).permutation(len(data.y))[:rows]
    return prepared_inputs(data.X, slice(None), Scale())[numbers], np.asarray(
        data.y, dtype=np.float64
    )[numbers]


def search_of(model: str, *, paths: bool = True, **fixed: Any) -> Side:
    """Return the search of elmbench for a model of the registry; every candidate is fitted without
    `paths`.
    """

    def side(problem: Problem, candidates: Candidates) -> Array:
        factory = find_model(model).factory(
            "regression" if problem.labels is None else "classification"
        )
        grid = GridProblem(
            factory=factory,
            X=problem.X,
            y=problem.y,
            folds=problem.folds,
            candidates=candidates,
            fixed=fixed,
            labels=problem.labels,
            paths=paths,
        )
        return grid_scores([grid], problem.metric)[0]

    return side


def grid_search(estimator: Any, problem: Problem, parameters: Candidates) -> Array:
    """Return the scores of scikit-learn's own search; the labels -1/+1 are the signs of real
    predictions.
    """

    def scorer(fitted: Any, X: Array, y: NDArray[Any]) -> float:
        predicted = fitted.predict(X)
        if problem.labels == [-1, 1]:
            predicted = np.where(predicted > 0, 1, -1)
        value = metric_value(problem.metric, y, predicted, problem.labels)
        return -value if less_is_better(problem.metric) else value

    return split_scores(GridSearchCV, estimator, problem, parameters, scorer)


def split_scores(
    search: type[GridSearchCV],
    estimator: Any,
    problem: Problem,
    parameters: Candidates,
    scoring: Any,
) -> Array:
    """Return the scores of a class of searches, of shape (n_candidates, n_folds)."""
    # Grids of one candidate each keep the order of the candidates.
    grids = [
        {name: [value] for name, value in candidate.items()} for candidate in parameters
    ]
    fitted = search(
        estimator,
        grids,
        scoring=scoring,
        cv=problem.folds,
        refit=False,
        error_score="raise",
    )
    fitted.fit(problem.X, problem.y)
    return np.column_stack(
        [fitted.cv_results_[f"split{j}_test_score"] for j in range(len(problem.folds))]
    )


def kernel_ridge(problem: Problem, candidates: Candidates) -> Array:
    """Search KernelRidge, which is the kernel ELM with alpha = 1/C, by GridSearchCV."""
    parameters = [{"gamma": c["gamma"], "alpha": 1.0 / c["C"]} for c in candidates]
    return grid_search(KernelRidge(kernel="rbf"), problem, parameters)


class KernelAtCentres(TransformerMixin, BaseEstimator):
    """The kernel between a row and random training rows as a step of a pipeline, with the centres
    of RKELM.
    """

    def __init__(self, n_landmarks: int = 100) -> None:
        self.n_landmarks = n_landmarks

    def fit(self, X: Array, y: Any = None) -> "KernelAtCentres":
        """Draw the centres."""
        self.centres_ = X[check_random_state(0).permutation(len(X))[: self.n_landmarks]]
        return self

    def transform(self, X: Array) -> Any:
        """Return the values of the kernel."""
        return rbf_kernel(X, self.centres_, gamma=0.5)


def centres_pipeline(problem: Problem, candidates: Candidates) -> Array:
    """Search a pipeline of kernel values at random rows and Ridge, which is RKELM, by
    GridSearchCV.
    """
    pipeline = make_pipeline(
        KernelAtCentres(), RidgeClassifier(fit_intercept=False, solver="cholesky")
    )
    parameters = [
        {
            "kernelatcentres__n_landmarks": c["n_landmarks"],
            "ridgeclassifier__alpha": 1.0 / c["C"],
        }
        for c in candidates
    ]
    return grid_search(pipeline, problem, parameters)

"""The sides that evaluate the same candidates on the same folds by the same score.

Each is a function from a problem and candidates to scores of shape (n_candidates, n_folds), larger being better.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state

from benchmarks.problems import Array, Problem
from elmbench.metrics import find_metric
from elmbench.numerics.nodes.hidden_layer import draw_hidden_nodes
from elmbench.protocol.predictions import FoldScores
from elmbench.registry import find_model
from elmbench.work.scoring import GridProblem

Candidates = list[dict[str, Any]]
Side = Callable[[Problem, Candidates], Array]


def search_of(model: str, *, paths: bool = True, **fixed: Any) -> Side:
    """Return the search of elmbench for one of its models, by its name in the registry.

    Without `paths` every candidate is fitted by itself: clone and fit. `fixed` are parameters that are not searched.
    """

    def side(problem: Problem, candidates: Candidates) -> Array:
        factory = find_model(model).factory("regression" if problem.labels is None else "classification")
        rows = problem.X, problem.y, problem.folds
        return GridProblem(factory, *rows, candidates, fixed, problem.labels, paths).scores(problem.metric)[0]

    return side


def grid_search(estimator: Any, problem: Problem, parameters: list[dict[str, Any]], *, cut: bool) -> Array:
    """Return the scores of scikit-learn's own search; with `cut`, labels are the signs of real predictions."""

    def scorer(fitted: Any, X: Array, y: NDArray[Any]) -> float:
        predicted = fitted.predict(X)
        if cut and problem.labels is not None:
            predicted = np.where(predicted > 0, 1, -1)
        return _score(problem, y, predicted)

    # A grid of one candidate each keeps the order of the candidates.
    grids = [{name: [value] for name, value in candidate.items()} for candidate in parameters]
    search = GridSearchCV(estimator, grids, scoring=scorer, cv=problem.folds, refit=False, error_score="raise")
    search.fit(problem.X, problem.y)
    return np.column_stack([search.cv_results_[f"split{j}_test_score"] for j in range(len(problem.folds))])


def _score(problem: Problem, y: NDArray[Any], predicted: NDArray[Any]) -> float:
    fold = FoldScores(find_metric(problem.metric), y, problem.labels, 1)
    fold.add(0, predicted)
    fold.finish()
    return float(fold.scores[0])


def kernel_ridge(problem: Problem, candidates: Candidates) -> Array:
    """GridSearchCV over KernelRidge, which is the kernel ELM: alpha = 1/C."""
    parameters = [{"gamma": c["gamma"], "alpha": 1.0 / c["C"]} for c in candidates]
    return grid_search(KernelRidge(kernel="rbf"), problem, parameters, cut=True)


class HiddenNodes(TransformerMixin, BaseEstimator):
    """The hidden layer of an ELM as a step of a pipeline, with the nodes that elmbench draws for the same seed."""

    def __init__(self, n_hidden: int = 100, random_state: int = 0) -> None:
        self.n_hidden = n_hidden
        self.random_state = random_state

    def fit(self, X: Array, y: Any = None) -> "HiddenNodes":
        """Draw the nodes."""
        random_state = check_random_state(self.random_state)
        self.weights_, self.biases_ = draw_hidden_nodes(self.n_hidden, X.shape[1], random_state)
        return self

    def transform(self, X: Array) -> Array:
        """Return the outputs of the nodes."""
        hidden: Array = expit(X @ self.weights_.T + self.biases_)
        return hidden


def ridge_pipeline(problem: Problem, candidates: Candidates) -> Array:
    """GridSearchCV over a pipeline of random features and Ridge, which is the ELM."""
    pipeline = Pipeline([("nodes", HiddenNodes()), ("ridge", Ridge(fit_intercept=False, solver="cholesky"))])
    parameters = [{"nodes__n_hidden": c["n_hidden"], "ridge__alpha": 1.0 / c["C"]} for c in candidates]
    return grid_search(pipeline, problem, parameters, cut=True)


def bordered_solves(problem: Problem, candidates: Candidates) -> Array:
    """The LS-SVM by hand: the kernels once a gamma and fold, then `numpy.linalg.solve` of the bordered system."""
    scores = np.empty((len(candidates), len(problem.folds)))
    for j, (train, test) in enumerate(problem.folds):
        X, y, n = problem.X[train], problem.y[train], len(train)
        for gamma in dict.fromkeys(c["gamma"] for c in candidates):
            system = np.ones((n + 1, n + 1))
            system[0, 0] = 0.0
            system[1:, 1:] = rbf_kernel(X, gamma=gamma)
            across = rbf_kernel(problem.X[test], X, gamma=gamma)
            for i, candidate in enumerate(candidates):
                if candidate["gamma"] == gamma:
                    regularised = system.copy()
                    np.einsum("ii->i", regularised)[1:] += 1.0 / candidate["C"]
                    solution = np.linalg.solve(regularised, np.concatenate([[0.0], y]))
                    predicted = np.where(across @ solution[1:] + solution[0] > 0, 1, -1)
                    scores[i, j] = _score(problem, problem.y[test], predicted)
    return scores

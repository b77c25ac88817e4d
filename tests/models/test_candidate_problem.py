"""Candidates that are fitted one by one hold no training rows while they predict."""

import weakref

import numpy as np
from sklearn.base import BaseEstimator

from elmbench.models.base.paths import CandidateGrid
from elmbench.models.candidate_problem import CandidateProblem

X = np.arange(12.0).reshape(6, 2)
Y = np.arange(6.0)
FOLDS = [(np.arange(4), np.arange(4, 6))]


class Forgetful(BaseEstimator):
    """A model whose predictions say whether somebody holds the rows of its fit."""

    def fit(self, X, y):
        self.rows = weakref.ref(X)
        self.targets = weakref.ref(y)
        return self

    def predict(self, X):
        is_held = self.rows() is not None or self.targets() is not None
        return np.full(len(X), is_held)


def test_a_problem_releases_the_training_rows_before_the_prediction():
    problem = CandidateProblem(Forgetful, X, Y, FOLDS, candidates=[{}], fixed={})
    (evaluated,) = problem.evaluate_by_fits()
    assert not evaluated.outputs.any()


def test_the_fit_of_a_path_releases_the_training_rows_before_the_prediction():
    grid = CandidateGrid(X, Y, FOLDS, [Forgetful()])
    assert not grid.fitted_outputs(candidate=0, fold=0).any()
    assert grid.solvers == {"fit": 1}

"""Probabilities of classifiers that have none: those of scikit-learn's calibration, with unchanged
predictions.
"""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_classification
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

from elmbench.models.base.probabilities import WithProbabilities

TWO = make_classification(150, 6, random_state=0)
THREE = load_iris(return_X_y=True)


class Threshold(ClassifierMixin, BaseEstimator):
    """A classifier with labels alone."""

    def fit(self, X: Any, y: Any) -> "Threshold":
        self.classes_ = np.unique(y)
        self.cuts_ = np.quantile(
            X[:, 2], np.arange(1, len(self.classes_)) / len(self.classes_)
        )
        return self

    def predict(self, X: Any) -> Any:
        return self.classes_[np.searchsorted(self.cuts_, X[:, 2])]


@pytest.mark.parametrize("data", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("model", [RidgeClassifier(), LinearSVC(random_state=0)])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_probabilities_are_those_of_scikit_learn(
    data: Any, model: Any, weighted: bool
) -> None:
    X, y = data
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y)) if weighted else None
    folds = list(StratifiedKFold(3, shuffle=True, random_state=1).split(X, y))
    ours = WithProbabilities(model).fit(X, y, sample_weight=weights, folds=folds)
    theirs = CalibratedClassifierCV(model, cv=folds, ensemble=False).fit(X, y, weights)
    np.testing.assert_allclose(
        ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6
    )
    np.testing.assert_array_equal(ours.predict(X), model.fit(X, y, weights).predict(X))
    np.testing.assert_array_equal(ours.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("data", [TWO, THREE], ids=["two", "three"])
def test_a_model_of_labels_alone_has_the_shares_of_its_labels(data: Any) -> None:
    X, y = data
    words = np.array(["a", "b", "c"])[y]
    model = WithProbabilities(Threshold()).fit(X, words)
    assert not hasattr(model, "decision_function")
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    for label in model.classes_:
        rows = model.predict(X) == label
        assert len(np.unique(shares[rows].round(9), axis=0)) == 1
        position = [*model.classes_].index(label)
        assert abs(shares[rows][0, position] - np.mean(words[rows] == label)) < 0.12


def test_folds_without_a_class_are_left_out() -> None:
    X, y = THREE
    lacks_a_class = (np.flatnonzero(y < 2), np.flatnonzero(y == 2))
    folds = list(StratifiedKFold(3).split(X, y))
    expected = (
        WithProbabilities(RidgeClassifier()).fit(X, y, folds=folds).predict_proba(X)
    )
    some = WithProbabilities(RidgeClassifier()).fit(X, y, folds=[lacks_a_class, *folds])
    np.testing.assert_array_equal(some.predict_proba(X), expected)
    none = WithProbabilities(RidgeClassifier()).fit(X, y, folds=[lacks_a_class])
    assert none.predict_proba(X).shape == (150, 3)


def test_sparse_rows_have_the_same_probabilities() -> None:
    X, y = TWO
    dense, sparse = (
        WithProbabilities(LinearSVC(random_state=0)).fit(rows, y)
        for rows in (X, sp.csr_matrix(X))
    )
    np.testing.assert_allclose(
        dense.predict_proba(X), sparse.predict_proba(sp.csr_matrix(X)), atol=1e-3
    )

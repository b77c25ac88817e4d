"""Probabilities for classifiers that have none, by Platt's sigmoid on inner folds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.metaestimators import available_if

from elmbench.models.base.sklearn_private import new_sigmoid
from elmbench.models.candidate_problem import fit_model

Array = NDArray[np.float64]

#: The folds by default.
_FOLDS = 3


class WithProbabilities(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier with calibrated probabilities; it predicts the labels of the classifier alone.

    Clones of the classifier are fitted to the training part of each fold. Sigmoids turn their
    decision values for the test parts, or their predictions if they have no decision values, into
    probabilities, as scikit-learn's ``CalibratedClassifierCV(estimator, ensemble=False)`` does.
    The likeliest label need not be the predicted one.

    Parameters
    ----------
    estimator : classifier

    Attributes
    ----------
    estimator_ : classifier
        The classifier, fitted to all rows.
    sigmoids_ : list
        Platt's sigmoid of each class or, for two classes, of the second one.
    classes_ : ndarray
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: NDArray[Any] | None = None,
        folds: Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]] | None = None,
    ) -> Self:
        """Fit the classifier to all rows, and the sigmoids to the test parts of the folds.

        `folds`: the training and test rows of each fold; by default, three stratified ones.
        """
        y = np.asarray(y)
        self.estimator_ = fit_model(clone(self.estimator), X, y, sample_weight)
        self.classes_ = np.unique(y)
        if hasattr(self.estimator_, "n_features_in_"):
            self.n_features_in_ = self.estimator_.n_features_in_
        if folds is None:
            folds = list(StratifiedKFold(_FOLDS, shuffle=True, random_state=0).split(X, y))
        parts = list(self._parts(X, y, sample_weight, folds))
        scores = np.concatenate([self._scores(model, _rows(X, test)) for model, test in parts])
        rows = np.concatenate([test for _, test in parts])
        weights = None if sample_weight is None else np.asarray(sample_weight)[rows]
        self.sigmoids_ = fitted_sigmoids(scores, np.searchsorted(self.classes_, y[rows]), weights)
        return self

    def predict(self, X: Any) -> Any:
        """Return the labels that the classifier predicts."""
        return self.estimator_.predict(X)

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class, of shape (n, k)."""
        return sigmoid_probabilities(self.sigmoids_, self._scores(self.estimator_, X))

    @available_if(lambda self: hasattr(self.estimator, "decision_function"))
    def decision_function(self, X: Any) -> Any:
        """Return the decision values of the classifier."""
        return self.estimator_.decision_function(X)

    def _parts(
        self, X: Any, y: NDArray[Any], weights: Any, folds: Iterable[tuple[Any, Any]]
    ) -> Iterator[tuple[Any, Any]]:
        """Yield a fitted classifier and the test rows of each fold; all rows and the final
        classifier if no training part has all classes.
        """
        n_parts = 0
        for train, test in folds:
            if len(np.unique(y[train])) < len(self.classes_):
                continue
            n_parts += 1
            part_weights = None if weights is None else np.asarray(weights)[train]
            yield fit_model(clone(self.estimator), _rows(X, train), y[train], part_weights), test
        if n_parts == 0:
            yield self.estimator_, np.arange(len(y))

    def _scores(self, model: Any, X: Any) -> Array:
        """Return finite decision values, of shape (n,) for two classes, else (n, k)."""
        if hasattr(model, "decision_function"):
            return np.nan_to_num(np.asarray(model.decision_function(X), dtype=np.float64))
        is_predicted = np.asarray(model.predict(X))[:, None] == self.classes_
        scores = np.where(is_predicted, 1.0, -1.0)
        return scores[:, 1] if len(self.classes_) == 2 else scores


def _rows(X: Any, rows: NDArray[np.intp]) -> Any:
    """Return some rows of an array, a sparse matrix or a data frame."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def fitted_sigmoids(scores: Array, true: NDArray[Any], weights: Array | None = None) -> list[Any]:
    """Return Platt's sigmoids, fitted to rows that were not learnt: one for two classes; for more,
    one for each class against the rest.

    `scores` (ndarray of shape (n,) or (n, k)): finite decision values: for the second of two
    classes, or for each class. `true`, `weights` (ndarray of shape (n,)): class numbers and weights
    of the rows.
    """
    columns = enumerate(np.atleast_2d(scores.T), start=1 if scores.ndim == 1 else 0)
    return [new_sigmoid().fit(column, true == number, weights) for number, column in columns]


def sigmoid_probabilities(sigmoids: Sequence[Any], scores: Array) -> Array:
    """Return the probability of each class, of shape (n, k), from decision values; the sigmoids of
    more than two classes are divided by their sum.
    """
    pairs = zip(sigmoids, np.atleast_2d(scores.T), strict=True)
    shares = np.column_stack([sigmoid.predict(column) for sigmoid, column in pairs])
    if scores.ndim == 1:
        return np.hstack([1 - shares, shares])
    total = shares.sum(axis=1, keepdims=True)
    uniform = np.full(shares.shape, 1 / len(sigmoids))
    return np.asarray(np.divide(shares, total, out=uniform, where=total > 0))

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

        A sigmoid learns decision values of clones of the classifier, which are fitted to the
        training parts. `sample_weight`: of the rows, (n,); None if all are 1. A ValueError is
        raised if the classifier takes none. `folds`: pairs of the numbers of training and of test
        rows, one for each fold; by default, three stratified and shuffled ones. Folds whose
        training part lacks a class are left out; if all do, the sigmoids learn the decision values
        of the final classifier for all rows.
        """
        y = np.asarray(y)
        unfitted = clone(self.estimator)
        self.estimator_ = fit_model(unfitted, X, y, sample_weight)
        self.classes_ = np.unique(y)
        if hasattr(self.estimator_, "n_features_in_"):
            self.n_features_in_ = self.estimator_.n_features_in_
        if folds is None:
            splitter = StratifiedKFold(_FOLDS, shuffle=True, random_state=0)
            folds = list(splitter.split(X, y))
        self._fit_sigmoids(X, y, sample_weight, folds)
        return self

    def _fit_sigmoids(
        self, X: Any, y: NDArray[Any], weights: Any, folds: Iterable[tuple[Any, Any]]
    ) -> None:
        """Set `sigmoids_`, fitted to decision values of classifiers for rows that these did not
        learn.

        `weights`: of the rows, or None. `folds`: pairs of the numbers of training and of test rows.
        Folds whose training part lacks a class are left out. If all do, the values are those of the
        final classifier for the rows it has learnt.
        """
        all_rows = []
        all_scores = []
        for model, test in self._fitted_parts(X, y, weights, folds):
            scores = self._scores(model, _select_rows(X, test))
            all_rows.append(test)
            all_scores.append(scores)
        rows = np.concatenate(all_rows)
        codes = np.searchsorted(self.classes_, y[rows])
        if weights is not None:
            weights = np.asarray(weights)[rows]
        scores = np.concatenate(all_scores)
        self.sigmoids_ = fitted_sigmoids(scores, codes, weights)

    def predict(self, X: Any) -> Any:
        """Return the labels that the classifier predicts; a label may not be the likeliest one."""
        return self.estimator_.predict(X)

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class, of shape (n, k), in the order of `classes_`."""
        return sigmoid_probabilities(self.sigmoids_, self._scores(self.estimator_, X))

    @available_if(lambda self: hasattr(self.estimator, "decision_function"))
    def decision_function(self, X: Any) -> Any:
        """Return the decision values of the classifier, in its own shape, without a sigmoid."""
        return self.estimator_.decision_function(X)

    def _fitted_parts(
        self, X: Any, y: NDArray[Any], weights: Any, folds: Iterable[tuple[Any, Any]]
    ) -> Iterator[tuple[Any, Any]]:
        """Yield, for each fold, a classifier that is fitted to its training part, and the numbers
        of its test rows.

        `weights`: of the rows, or None. `folds`: pairs of the numbers of training and of test rows.
        Folds whose training part lacks a class are left out. If all do, yield the final classifier
        and all rows.
        """
        n_parts = 0
        for train, test in folds:
            if len(np.unique(y[train])) < len(self.classes_):
                continue
            n_parts += 1
            part_weights = None if weights is None else np.asarray(weights)[train]
            yield (
                fit_model(
                    clone(self.estimator),
                    _select_rows(X, train),
                    y[train],
                    part_weights,
                ),
                test,
            )
        if n_parts == 0:
            yield self.estimator_, np.arange(len(y))

    def _scores(self, model: Any, X: Any) -> Array:
        """Return finite decision values of a fitted model, of shape (n,) for two classes, else (n,
        k).

        NaN becomes 0, an infinity the largest number of its sign. A model without decision values
        has 1 for the predicted class and -1 for the others; for two classes, 1 stands for the
        second.
        """
        if hasattr(model, "decision_function"):
            decisions = model.decision_function(X)
            values = np.asarray(decisions, dtype=np.float64)
            return np.nan_to_num(values)
        # A model without decision values: 1 for the predicted class, -1 for the others.
        labels = np.asarray(model.predict(X))
        is_predicted = labels[:, None] == self.classes_
        scores = np.where(is_predicted, 1.0, -1.0)
        has_two_classes = len(self.classes_) == 2
        return scores[:, 1] if has_two_classes else scores


def _select_rows(X: Any, rows: NDArray[np.intp]) -> Any:
    """Return the rows with some numbers of an array, a sparse matrix or a data frame."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def fitted_sigmoids(
    scores: Array, true: NDArray[Any], weights: Array | None = None
) -> list[Any]:
    """Return Platt's sigmoids, fitted to decision values: a list of one for two classes; for more,
    of one for each class against the rest.

    `scores` (ndarray of shape (n,) or (n, k)): finite decision values, of rows that the classifier
    has not learnt: for the second of two classes, or for each class. `true` (ndarray of shape
    (n,)): class numbers from 0. `weights` (ndarray of shape (n,)): of the rows; None if all are 1.
    """
    columns = enumerate(np.atleast_2d(scores.T), start=1 if scores.ndim == 1 else 0)
    return [
        new_sigmoid().fit(column, true == number, weights) for number, column in columns
    ]


def sigmoid_probabilities(sigmoids: Sequence[Any], scores: Array) -> Array:
    """Return the probability of each class, of shape (n, k), from decision values.

    `sigmoids`: from `fitted_sigmoids`: one for two classes, else k. `scores`: of shape (n,) for the
    second of two classes, else (n, k). The values of several sigmoids are divided by their sum;
    equal probabilities replace a sum of zero.
    """
    columns = np.atleast_2d(scores.T)
    by_sigmoid = []
    for sigmoid, column in zip(sigmoids, columns, strict=True):
        probabilities = sigmoid.predict(column)
        by_sigmoid.append(probabilities)
    shares = np.column_stack(by_sigmoid)
    if scores.ndim == 1:
        return np.hstack([1 - shares, shares])
    total = shares.sum(axis=1, keepdims=True)
    # Shares that are all zero become equal ones.
    uniform = np.full(shares.shape, 1 / len(sigmoids))
    is_positive = total > 0
    result = np.divide(shares, total, out=uniform, where=is_positive)
    return np.asarray(result)

"""Calibration in an evaluation: probabilities of classifiers that have only decision values.

Platt's sigmoids are fitted to decision values for rows that the model did not learn: the test rows
of inner folds. A search calibrates each candidate in this way, and a fit the chosen one; both then
predict the likeliest label, as ``CalibratedClassifierCV(model, ensemble=False)`` does. The sigmoids
themselves are in `elmbench.models.base.probabilities`, beside the estimator of saved models that
keeps the labels of its classifier.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.evaluation.predictions import class_outputs
from elmbench.numerics.arrays import Array


@dataclass(frozen=True, kw_only=True)
class HeldOutDecisions:
    """The decision values of a classifier for the test rows of a fold.

    Attributes
    ----------
    values : ndarray of shape (n,) or (n, k)
        For the second of two classes, or for each class.
    classes : ndarray of shape (n,)
        The number of the class of each row.
    weights : ndarray of shape (n,)
    """

    values: Array
    classes: NDArray[Any]
    weights: Array


def sigmoids_of_folds(
    folds: Sequence[HeldOutDecisions],
) -> Callable[[Array], Array] | None:
    """Return a function from decision values to probabilities of shape (n, k).

    The function takes decision values as those of `folds`: of shape (n,) for two classes, else (n,
    k). It is fitted to the test rows of all `folds`, with their weights. The result is None if one
    of their decision values is not finite.
    """
    values = np.concatenate([fold.values for fold in folds])
    is_finite = np.isfinite(values)
    if not is_finite.all():
        return None
    classes = np.concatenate([fold.classes for fold in folds])
    weights = np.concatenate([fold.weights for fold in folds])
    return sigmoids(values, classes, weights)


def sigmoids(
    scores: Array, true: NDArray[Any], weights: Array | None = None
) -> Callable[[Array], Array]:
    """Return a function from decision values to probabilities, fitted to rows that were not learnt.

    It takes decision values of shape (n,) or (n, k), and returns probabilities of shape (n, k). It
    is Platt's sigmoid, as in scikit-learn's ``CalibratedClassifierCV(model, ensemble=False)``: one
    for two classes; for more, one for each class against the rest, divided by their sum (equal
    probabilities if that is 0).

    `scores` (ndarray of shape (n,) or (n, k)): finite decision values: for the second of two
    classes, or for each class. `true`, `weights` (ndarray of shape (n,)): class numbers from 0 and
    weights of the rows; without `weights`, all are 1.
    """
    from elmbench.models.base.probabilities import (
        fitted_sigmoids,
        sigmoid_probabilities,
    )

    return partial(sigmoid_probabilities, fitted_sigmoids(scores, true, weights))


@dataclass(frozen=True)
class CalibratedClassifier:
    """A fitted classifier with probabilities from its decision values.

    It predicts the likeliest label.
    """

    model: Any
    probabilities: Callable[[Array], Array]
    labels: list[int]

    def decision_function(self, X: Any) -> Array:
        """Return the decision values of the model, of shape (n,) for two classes, else (n, k).

        The model must have them.
        """
        outputs = class_outputs(self.model, "decision_function", X, self.labels)
        assert outputs is not None
        return outputs

    def predict_proba(self, X: Any) -> Array:
        """Return calibrated probabilities, of shape (n, k)."""
        return self.probabilities(self.decision_function(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likeliest label of each row."""
        return np.asarray(self.labels)[self.predict_proba(X).argmax(axis=1)]

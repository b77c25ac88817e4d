"""Probabilities of classes from decision values, by Platt's sigmoid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.calibration import _SigmoidCalibration

from elmbench.numerics.arrays import Array
from elmbench.protocol.predictions import class_outputs


def sigmoids(scores: Array, true: NDArray[Any], weights: Array | None = None) -> Callable[[Array], Array]:
    """Fit Platt's sigmoid to decision values for rows that the model has not learnt.

    For decision values on inner folds, it is that of scikit-learn's ``CalibratedClassifierCV(model, ensemble=False)``:
    one sigmoid for two classes; for more, one for each class against the rest, divided by their sum.

    `scores` (ndarray of shape (n,) or (n, k)): finite decision values: for the second of two classes, or for each
    class. `true` (ndarray of shape (n,)): class numbers. `weights` (ndarray of shape (n,) or None): of the rows. The
    result: takes decision values and returns probabilities of shape (n, k).
    """
    two = scores.ndim == 1
    fitted = [
        _SigmoidCalibration().fit(column, true == number, weights)
        for number, column in enumerate(_columns(scores), start=1 if two else 0)
    ]

    def probabilities(values: Array) -> Array:
        shares = np.column_stack([one.predict(column) for one, column in zip(fitted, _columns(values), strict=True)])
        if two:
            return np.hstack([1 - shares, shares])
        total = shares.sum(axis=1, keepdims=True)
        return np.divide(shares, total, out=np.full(shares.shape, 1 / len(fitted)), where=total > 0)

    return probabilities


@dataclass(frozen=True)
class Calibrated:
    """A fitted classifier with probabilities from its decision values; it predicts the likeliest label."""

    model: Any
    probabilities: Callable[[Array], Array]
    labels: list[int]

    def decision_function(self, X: Any) -> Array:
        """Return the decision values of the model, see `class_outputs`."""
        outputs = class_outputs(self.model, "decision_function", X, self.labels)
        assert outputs is not None
        return outputs

    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of all labels, of shape (n, k)."""
        return self.probabilities(self.decision_function(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of the largest probability."""
        return np.asarray(self.labels)[self.predict_proba(X).argmax(axis=1)]


def _columns(values: Array) -> Array:
    return values.reshape(len(values), -1).T

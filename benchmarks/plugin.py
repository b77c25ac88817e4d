"""A plug-in with two models that take next to no time, or a known time, to measure the overhead of the suite."""

import time
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

PAUSE = 0.04
"""Seconds of a fit of the slow model."""


class Sign(ClassifierMixin, BaseEstimator):
    """A classifier by the sign of the first column, centred."""

    n_units_ = 1

    def fit(self, X: Any, y: Any) -> Self:
        """Learn nothing."""
        return self

    def predict(self, X: Any) -> Any:
        """Return the signs."""
        return np.where(X[:, 0] > 0.4, 1, -1)


class SlowSign(Sign):
    """The same classifier with a pause."""

    def fit(self, X: Any, y: Any) -> Self:
        """Wait."""
        time.sleep(PAUSE)
        return self


MODELS = {"sign": Sign, "slow-sign": SlowSign}

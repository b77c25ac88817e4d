"""A model that does next to nothing for some hundredths of a second, for the row that kills what it runs in."""

import time
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

#: Seconds of a fit.
PAUSE = 0.04


class SlowSign(ClassifierMixin, BaseEstimator):
    """Predicts by its first column."""

    n_units_ = 1

    def fit(self, X: Any, y: Any) -> Self:
        """Wait."""
        time.sleep(PAUSE)
        return self

    def predict(self, X: Any) -> Any:
        """Return the sign of the first column, from its middle."""
        return np.where(X[:, 0] > 0.4, 1, -1)


MODELS = {"slow-sign": SlowSign}

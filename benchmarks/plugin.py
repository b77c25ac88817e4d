"""A plug-in with a model that takes next to no time, to measure the overhead of the suite."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class Sign(ClassifierMixin, BaseEstimator):
    """A classifier by the sign of the first column, centred."""

    n_units_ = 1

    def fit(self, X: Any, y: Any) -> Self:
        """Learn nothing."""
        return self

    def predict(self, X: Any) -> Any:
        """Return the signs."""
        return np.where(X[:, 0] > 0.4, 1, -1)


MODELS = {"sign": Sign}

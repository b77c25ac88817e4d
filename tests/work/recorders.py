"""Models that remember what they were given."""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from elmbench.models.protocols import Evaluated


class Recorder(ClassifierMixin, BaseEstimator):
    """Predicts the first label and remembers what it was given."""

    seen: ClassVar[list[dict[str, Any]]] = []

    def __init__(self, C: float = 1.0, gamma: float = 1.0, random_state: int | None = None) -> None:
        self.C = C
        self.gamma = gamma
        self.random_state = random_state

    def fit(self, X: np.ndarray, y: np.ndarray) -> Recorder:
        self.seen.append({"X": X.copy(), "y": y.copy(), **self.get_params()})
        self.first_ = np.min(y)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.full(len(X), self.first_)


class WithPath(Recorder):
    """A model whose path is told from its fits."""

    @classmethod
    def evaluate_grid(
        cls, X: np.ndarray, y: np.ndarray, folds: list[Any], candidates: list[dict[str, Any]], **fixed: Any
    ) -> Any:
        cls.seen.append({"path": True, "fixed": fixed})
        # In an order of its own.
        for (j, (_, test)), (i, candidate) in itertools.product(
            enumerate(folds), reversed(list(enumerate(candidates)))
        ):
            yield Evaluated(i, j, np.where(X[test, 0] > candidate["C"], 1, -1))

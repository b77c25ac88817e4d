"""What the support vector machines that are learnt by stochastic gradient descent share."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from elmbench.models.base.family import FamilyClassifier
from elmbench.numerics.arrays import Array
from elmbench.numerics.centres import Rows
from elmbench.numerics.online.budget_loop import Numbers

BLOCK_BYTES = 8 * 2**20
"""Size of the block of rows that is handed to the loop at a time, in bytes (one row is the least)."""


class StochasticClassifier(FamilyClassifier):
    """Passes over the rows in orders that are drawn, and lambda = 1/(n C).

    A concrete model has the parameters `C`, `n_epochs`, `shuffle` and `random_state`, and in ``_new_state(n_features,
    n_outputs)`` makes what learns blocks of rows by ``extend(X, labels, ridge)`` and counts them in ``step``.
    """

    _accept_sparse: ClassVar[str] = "csr"
    _state: Any

    C: float
    n_epochs: int
    shuffle: bool
    random_state: int | np.random.RandomState | None

    def _fit(self, X: Rows, T: Array) -> None:
        random_state = check_random_state(self.random_state)
        self._start(X.shape[1], T.shape[1])
        self._n_rows = X.shape[0]
        labels = class_numbers(T)
        for epoch in range(self.n_epochs):
            order = random_state.permutation(X.shape[0]) if self.shuffle else np.arange(X.shape[0])
            self._pass(X, labels, order, epoch)

    def _start(self, n_features: int, n_outputs: int) -> None:
        self._state = self._new_state(n_features, n_outputs)
        self._n_rows = 0

    def _update(self, X: Rows, T: Array) -> None:
        self._n_rows += X.shape[0]
        self._pass(X, class_numbers(T), np.arange(X.shape[0]), 0)

    def _pass(self, X: Rows, labels: Numbers, order: Numbers, epoch: int) -> None:
        for rows in row_blocks(X, order):
            self._state.extend(X[rows], labels[rows], self._ridge)

    @property
    def _ridge(self) -> float:
        return 1.0 / (self._n_rows * float(self.C))

    @property
    def n_steps_(self) -> int:
        """The number of rows looked at so far, each as often as it was."""
        check_is_fitted(self, "classes_")
        return int(self._state.step)


def class_numbers(T: Array) -> Numbers:
    """Return the numbers of the classes of targets -1/+1: 0 and 1 for a single column."""
    return (T[:, 0] > 0).astype(np.int64) if T.shape[1] == 1 else np.argmax(T, axis=1)


def row_blocks(X: Rows, order: Numbers) -> Iterator[Numbers]:
    """Cut the rows, in an order, into blocks of which none takes more than `BLOCK_BYTES` in the loop."""
    # In the loop an entry takes a value and the number of its feature.
    step = max(1, BLOCK_BYTES // (16 * X.shape[1]))
    if sp.issparse(X):
        step = max(1, BLOCK_BYTES * X.shape[0] // (16 * max(X.nnz, X.shape[0])))
    for start in range(0, len(order), step):
        yield order[start : start + step]

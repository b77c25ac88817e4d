"""Kernel recursive least squares with any kernel, from a kernel matrix that is computed piece by piece."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from elmbench.numerics.arrays import EPS, Array
from elmbench.numerics.online.states import INDEFINITE, DependencyState, InverseState
from elmbench.numerics.pairwise import Kernel
from elmbench.numerics.rows import Rows

PIECE = 256  # rows that are learnt at a time, or as many as the dictionary has


class MatrixState:
    """A state whose rows are numbers of rows of a kernel matrix.

    It wraps a new `InverseState` or `DependencyState` for rows of one feature. `rows` are those in the dictionary, or
    their numbers if the kernel is precomputed.
    """

    def __init__(self, state: Any, kernel: Kernel) -> None:
        self._state: InverseState | DependencyState = state
        self._kernel = kernel
        self.rows: Any = None

    def extend(self, X: Rows, T: Array) -> None:
        """Learn rows X, of shape (n, n_features), and T, of shape (n, n_outputs), in their order.

        A ValueError is raised for a second call with a precomputed kernel, and for an indefinite kernel.
        """
        if self._kernel.precomputed:
            if self.rows is not None:
                raise ValueError(
                    "X: expected all rows in one call, as kernel is 'precomputed' and holds no values between the rows "
                    "of several calls, got further rows instead"
                )
            rows = self._kernel.chosen(X)
            self._learn(rows, self._kernel.matrix(X), T)
        else:
            position = 0
            while position < len(T):
                piece = slice(position, position + max(PIECE, self.size))
                self._learn_piece(X[piece], T[piece])
                position = piece.stop
        if not self._kernel.definite:
            self._state.solution()  # which raises where there is none

    def _learn_piece(self, X: Rows, T: Array) -> None:
        if self.rows is None:
            self._learn(X, self._kernel.matrix(X), T)
            return
        m, n = self.size, len(T)
        sparse = sp.issparse(self.rows)
        X = sp.csr_matrix(X) if sparse else X.toarray() if sp.issparse(X) else X
        gram = np.empty((m + n, m + n))
        gram[:m, :m] = self._state.gram
        gram[m:, m:] = self._kernel.matrix(X)
        gram[m:, :m] = self._kernel.matrix(X, self.rows)
        gram[:m, m:] = gram[m:, :m].T
        self._learn(sp.vstack([self.rows, X], format="csr") if sparse else np.vstack([self.rows, X]), gram, T)

    def _learn(self, rows: Any, gram: Array, T: Array) -> None:
        """Learn the rows after the dictionary; `gram` is the kernel matrix of both."""
        # No entry of a positive semi-definite matrix exceeds the largest one on the diagonal.
        if not self._kernel.definite and np.abs(gram).max() > (1 + EPS**0.5) * gram.diagonal().max():
            raise ValueError(INDEFINITE)
        first = rows.shape[0] - len(T)
        self._state.gram = gram
        self._state.extend(np.arange(first, rows.shape[0], dtype=np.float64)[:, np.newaxis], T)
        numbers = self._state.dictionary[0, : self.size]
        chosen = numbers.astype(np.intp)
        self.rows, self._state.gram = rows[chosen], gram[np.ix_(chosen, chosen)]
        numbers[:] = np.arange(self.size)

    @property
    def size(self) -> int:
        """The number of rows in the dictionary."""
        return self._state.size

    @property
    def ridge(self) -> float:
        """The ridge of the kernel matrix."""
        return self._state.ridge

    def pairwise(self) -> Array:
        """Return the kernel matrix of the dictionary."""
        return self._state.gram

    def solution(self) -> Array:
        """Return the weights, of shape (size, n_outputs)."""
        return self._state.solution()

    def inverse_matrix(self) -> Array:
        """Return the inverse of the (regularised) kernel matrix of the dictionary."""
        return self._state.inverse_matrix()

    def equals_untrained(self, other: Any) -> bool:
        """Return True if `other`, a new state with the same kernel, would learn the same."""
        return self._state.equals_untrained(other._state)

"""One space for the systems (K + r I) z = b of all ridges r, widened by residuals as they are or preconditioned."""

from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dposv

from elmbench.numerics.arrays import EPS, Array

STOP = 1e-11
"""Norm of a residual over that of the right-hand side at which a system counts as solved, whatever its condition."""

_FIRST = 32
"""Columns that there is room for at first."""


class SharedSpace:
    """Orthonormal columns W, and K W, from which the system of every ridge is solved.

    Of a ridge r the solution is W y with (W'K W + r I) y = W'b: the best one of the space, in the norm of K + r I. A
    space that is widened by residuals alone is Krylov's, which serves all ridges as Lanczos' method does. As K W is
    kept, a residual needs no further product, and whatever else the space is widened by, however inexact, cannot harm:
    solutions stay the best ones, and their residuals are known.

    `product` writes K v over its second argument, for a symmetric positive semi-definite K of as many rows as b has.
    `norm` is about the norm of K, or less.

    References
    ----------
    Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., SIAM 2003, 5.2, 6.4 and 9.4.
    """

    def __init__(self, product: Callable[[Array, Array], None], b: Array, norm: float) -> None:
        self._product = product
        self._norm = norm
        self._b = b
        self._size = float(np.linalg.norm(b))
        self._W, self._KW = (np.empty((len(b), min(len(b), _FIRST)), order="F") for _ in range(2))
        self._H = np.empty((0, 0))
        self._g = np.empty(0)
        self.steps = 0

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._b)

    def widen(self, v: Array) -> bool:
        """Add the direction of v; False where that is in the space already, within round-off, or not finite."""
        m = self.steps
        size = length = float(np.linalg.norm(v))
        if m == len(v) or not (0 < size < np.inf):
            return False
        W, w = self._W[:, :m], v
        while True:
            before = length
            w = w - W @ (W.T @ w)
            length = float(np.linalg.norm(w))
            if length <= 10 * EPS * size:
                return False
            if length > 0.7 * before:
                break
        if m == self._W.shape[1]:
            self._W, self._KW = (self._longer(A) for A in (self._W, self._KW))
        column, image = self._W[:, m], self._KW[:, m]
        np.divide(w, length, out=column)
        self._product(column, image)
        self.steps += 1
        H = np.empty((m + 1, m + 1), order="F")
        H[:m, :m] = self._H
        H[m] = H[:, m] = self._W[:, : m + 1].T @ image
        self._H, self._g = H, np.append(self._g, column @ self._b)
        return bool(np.isfinite(H[m, m]))

    def _longer(self, A: Array) -> Array:
        longer = np.empty((len(A), min(len(A), 2 * A.shape[1])), order="F")
        longer[:, : self.steps] = A[:, : self.steps]
        return longer

    def _weights(self, ridge: float) -> Array:
        """Return y; NaN where round-off prevents it."""
        if self.steps == 0:
            return np.zeros(0)
        A = self._H.copy(order="F")
        np.einsum("ii->i", A)[:] += ridge
        _, y, info = dposv(A, self._g, lower=1, overwrite_a=1)
        return y if info == 0 else np.full(self.steps, np.nan)

    def left(self, ridge: float) -> tuple[Array, float]:
        """Return the residual of a ridge, and its norm over what counts as solved: at most 1 where it is.

        What round-off may leave in the outputs of a factorisation counts as solved too: the machine precision times the
        condition.
        """
        y = self._weights(ridge)
        e = self._b - self._KW[:, : self.steps] @ y
        e -= self._W[:, : self.steps] @ (ridge * y)
        allowed = max(STOP, EPS * self._norm / ridge) * self._size
        norm = float(np.linalg.norm(e))
        return e, norm / allowed if allowed > 0 else norm

    def solutions(self, ridges: Array) -> Array:
        """Return the solutions of all ridges, of shape (n, len(ridges))."""
        weights = np.array([self._weights(float(ridge)) for ridge in ridges])
        found: Array = self._W[:, : self.steps] @ weights.T
        return found

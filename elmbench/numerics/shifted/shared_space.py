"""One space for the systems (K + r I) z = b of all ridges r, widened by residuals as they are or preconditioned."""

import copy
import math
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
        room = self._W.shape[1]
        self._H, self._g = np.empty((room, room), order="F"), np.empty(room)
        self.steps = 0

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._b)

    def copy(self) -> "SharedSpace":
        """Return a space of the same directions, which is widened by itself."""
        other = copy.copy(self)
        other._W, other._KW = self._W.copy(order="F"), self._KW.copy(order="F")
        other._H, other._g = self._H.copy(order="F"), self._g.copy()
        return other

    def widen(self, v: Array) -> bool:
        """Add the direction of v; False where that is in the space already, within round-off, or not finite."""
        m = self.steps
        size = length = _length(v)
        if m == len(v) or not (0 < size < np.inf):
            return False
        W, w = self._W[:, :m], v
        while True:
            before = length
            w = w - W @ (W.T @ w)
            length = _length(w)
            if length <= 10 * EPS * size:
                return False
            if length > 0.7 * before:
                break
        if m == self._W.shape[1]:
            self._make_room()
        column, image = self._W[:, m], self._KW[:, m]
        np.divide(w, length, out=column)
        self._product(column, image)
        self.steps += 1
        # Only the upper triangle is read.
        self._H[: m + 1, m] = found = self._W[:, : m + 1].T @ image
        self._g[m] = column @ self._b
        return math.isfinite(found[m])

    def _make_room(self) -> None:
        m, n = self.steps, len(self._b)
        room = min(n, 2 * m)
        before = self._W, self._KW, self._H, self._g
        self._W, self._KW = np.empty((n, room), order="F"), np.empty((n, room), order="F")
        self._H, self._g = np.empty((room, room), order="F"), np.empty(room)
        self._W[:, :m], self._KW[:, :m], self._H[:m, :m], self._g[:m] = before

    def _weights(self, ridge: float) -> Array:
        """Return y; NaN where round-off prevents it."""
        m = self.steps
        if m == 0:
            return np.zeros(0)
        A = self._H[:m, :m].copy(order="F")
        A.ravel("K")[:: m + 1] += ridge
        _, y, info = dposv(A, self._g[:m], overwrite_a=1)
        return y if info == 0 else np.full(m, np.nan)

    def left(self, ridge: float) -> tuple[Array, float]:
        """Return the residual of a ridge, and its norm over what counts as solved: at most 1 where it is.

        What round-off may leave in the outputs of a factorisation counts as solved too: the machine precision times the
        condition.
        """
        e = self._residuals(np.array([ridge]))[:, 0]
        return e, self._over_solved(_length(e), ridge)

    def unsolved(self, ridges: Array) -> list[float]:
        """Return those ridges whose systems are not solved, in their order."""
        lengths = np.linalg.norm(self._residuals(ridges), axis=0).tolist()
        pairs = zip(ridges.tolist(), lengths, strict=True)
        return [ridge for ridge, length in pairs if not self._over_solved(length, ridge) <= 1]

    def _residuals(self, ridges: Array) -> Array:
        """Return the residuals of some ridges, of shape (n, p)."""
        Y = np.column_stack([self._weights(ridge) for ridge in ridges.tolist()])
        E = self._b[:, np.newaxis] - self._KW[:, : self.steps] @ Y
        E -= self._W[:, : self.steps] @ (ridges * Y)
        return E

    def _over_solved(self, length: float, ridge: float) -> float:
        """Return the norm of a residual over what counts as solved."""
        allowed = max(STOP, EPS * self._norm / ridge) * self._size
        return length / allowed if allowed > 0 else length

    def solutions(self, ridges: Array) -> Array:
        """Return the solutions of all ridges, of shape (n, len(ridges))."""
        weights = np.array([self._weights(float(ridge)) for ridge in ridges])
        found: Array = self._W[:, : self.steps] @ weights.T
        return found


def _length(v: Array) -> float:
    """Return the norm of a vector; numpy's own takes several times as long where there are few rows."""
    return math.sqrt(v @ v)

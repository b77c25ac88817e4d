"""A space for the systems (K + r I) z = b of all ridges r, which preconditioned residuals widen."""

import math
from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dposv

from elmbench.numerics.arrays import EPS, Array
from elmbench.numerics.krylov import KrylovSpace, allowed_residuals, length_of


class SharedSpace:
    """Orthonormal columns W, and K W, which solve the system of every ridge; the first are those of a Krylov space.

    The solution for a ridge r is W y with (W'K W + r I) y = W'b: the best one of the space, in the norm of K + r I.
    With K W, a residual needs no further product with K. An inexact preconditioner does no harm, because solutions stay
    the best ones, with known residuals. (Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., SIAM 2003, 5.2.)

    `most` is the largest number of columns to be added.
    """

    def __init__(self, start: KrylovSpace, max_steps: int) -> None:
        self._product, self._b, self._norm = start.product, start.b, start.norm
        m, n = start.steps, len(start.b)
        columns = min(n, m + max_steps)
        self._W, self._KW = np.empty((n, columns), order="F"), np.empty((n, columns), order="F")
        self._H, self._g = np.empty((columns, columns), order="F"), np.empty(columns)
        self._W[:, :m], self._KW[:, :m], self._H[:m, :m] = start.with_images()
        self._g[:m] = self._W[:, :m].T @ start.b
        self.steps = m

    def solve(self, ridges: Array, inverse: Callable[[Array], Array]) -> list[float]:
        """Widen the space by residuals until the systems of all ridges are solved, or it has all its columns.

        The result is the norm of the residual for each ridge, infinite if the system is not solved.

        `inverse` is an approximate inverse of K + s I for one ridge s: times it, the condition of K + r I is about
        r / s or s / r.
        """
        lengths = []
        for ridge, allowed in zip(ridges, allowed_residuals(ridges, self._norm) * length_of(self._b), strict=True):
            while not (length := length_of(residual := self._residual(ridge))) <= allowed:
                if not self.widen(inverse(residual)):
                    length = math.inf  # only round-off remains outside of the space
                    break
            lengths.append(length)
        return lengths

    def widen(self, v: Array) -> bool:
        """Add the direction of v; return False if it is in the space within round-off, not finite, or one too many."""
        m = self.steps
        size = length = length_of(v)
        if m == self._W.shape[1] or not 0 < size < np.inf:
            return False
        W, w, previous = self._W[:, :m], v, np.inf
        while length <= 0.7 * previous:  # orthogonalise until nothing more cancels
            previous = length
            w = w - W @ (W.T @ w)
            length = length_of(w)
            if length <= 10 * EPS * size:
                return False
        column, image = self._W[:, m], self._KW[:, m]
        np.divide(w, length, out=column)
        self._product(column, image)
        self.steps += 1
        # Only the upper triangle is read.
        self._H[: m + 1, m] = self._W[:, : m + 1].T @ image
        self._g[m] = column @ self._b
        return True

    def _weights(self, ridge: float) -> Array:
        """Return y, or NaN if round-off makes the system indefinite."""
        m = self.steps
        if m == 0:
            return np.zeros(0)
        A = self._H[:m, :m].copy(order="F")
        A.ravel("K")[:: m + 1] += ridge
        _, y, info = dposv(A, self._g[:m], overwrite_a=1)
        return y if info == 0 else np.full(m, np.nan)

    def _residual(self, ridge: float) -> Array:
        y = self._weights(ridge)
        return self._b - self._KW[:, : self.steps] @ y - self._W[:, : self.steps] @ (ridge * y)

    def solutions(self, ridges: Array) -> Array:
        """Return the solutions for some ridges, of shape (n, len(ridges))."""
        return (np.array([self._weights(ridge) for ridge in ridges.tolist()]) @ self._W[:, : self.steps].T).T

"""A space for the systems (K + r I) z = b of all ridges r, which preconditioned residuals widen."""

import math
from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dposv

from elmbench.numerics.arrays import EPS, Array
from elmbench.numerics.krylov import KrylovSpace, allowed_residuals, length_of


class SharedSpace:
    """A Krylov space with columns W, and further orthonormal columns U, for the system of every ridge.

    The solution for a ridge r is the best one of the space, in the norm of K + r I. As K W = W T + beta w e', with e
    the last unit vector, W' K U = beta e c' with c = U'w. So with the images G = K U - beta (W e) c', which are
    orthogonal to W, the weights y of U solve (U'G + r I - t c c') y = s c, and the residual is (s + t c'y) w - (G + r
    U) y, where s and t come from T, see `_reduce`: neither needs W. An inexact preconditioner does no harm, because
    solutions stay the best ones, with known residuals. (Saad, Iterative Methods for Sparse Linear Systems, 2nd ed.,
    SIAM 2003, 5.2.)

    `max_steps` is the largest number of columns to be added.
    """

    def __init__(self, start: KrylovSpace, max_steps: int) -> None:
        self._start, self._first = start, start.steps
        n, m = len(start.b), start.steps
        columns = max(0, min(n - m, max_steps))
        self._basis, self._images = np.empty((n, m + columns), order="F"), np.empty((n, columns), order="F")
        self._basis[:, :m] = start.basis
        self._gram, self._shares = np.empty((columns, columns), order="F"), np.empty(columns)  # U'G and c
        self._added = 0

    def solve(self, ridges: Array, inverse: Callable[[Array], Array]) -> list[float]:
        """Widen the space by residuals until the systems of all ridges are solved, or it has all its columns.

        The result is the norm of the residual for each ridge, infinite if the system is not solved.

        `inverse` is an approximate inverse of K + s I for one ridge s: times it, the condition of K + r I is about
        r / s or s / r.
        """
        lengths = []
        start = self._start
        for ridge, allowed in zip(ridges, allowed_residuals(ridges, start.norm) * length_of(start.b), strict=True):
            rest, loss = self._reduce(ridge)
            while not (length := length_of(residual := self._residual(ridge, rest, loss))) <= allowed:
                if not self.widen(inverse(residual)):
                    length = math.inf  # only round-off remains outside of the space
                    break
            lengths.append(length)
        return lengths

    def widen(self, v: Array) -> bool:
        """Add the direction of v; return False if it is in the space within round-off, not finite, or one too many."""
        k, m = self._added, self._first + self._added
        size = length = length_of(v)
        if k == self._images.shape[1] or not 0 < size < np.inf:
            return False
        basis, w, previous = self._basis[:, :m], v, np.inf
        while length <= 0.7 * previous:  # orthogonalise until nothing more cancels
            previous = length
            w = w - basis @ (basis.T @ w)
            length = length_of(w)
            if length <= 10 * EPS * size:
                return False
        column, image = self._basis[:, m], self._images[:, k]
        np.divide(w, length, out=column)
        self._start.product(column, image)
        self._shares[k] = column @ self._start.next_column
        image -= self._start.last_length * self._shares[k] * self._start.last_column
        self._added += 1
        # Only the upper triangle is read.
        self._gram[: k + 1, k] = self._basis[:, self._first : m + 1].T @ image
        return True

    def _weights(self, ridge: float, rest: float, loss: float) -> Array:
        """Return y, or NaN if round-off makes the system indefinite."""
        k = self._added
        if k == 0:
            return np.zeros(0)
        shares = self._shares[:k]
        A = self._gram[:k, :k].copy(order="F")
        A -= np.outer(loss * shares, shares)
        A.ravel("K")[:: k + 1] += ridge
        _, y, info = dposv(A, rest * shares, overwrite_a=1)
        return y if info == 0 else np.full(k, np.nan)

    def _residual(self, ridge: float, rest: float, loss: float) -> Array:
        y, k = self._weights(ridge, rest, loss), self._added
        residual = self._images[:, :k] @ y
        residual += self._basis[:, self._first : self._first + k] @ (ridge * y)
        np.subtract((rest + loss * (self._shares[:k] @ y)) * self._start.next_column, residual, out=residual)
        return residual

    def _reduce(self, ridge: float) -> tuple[float, float]:
        """Return s and t: -beta e'(T + r I)^-1 |b| e_1 and beta^2 e'(T + r I)^-1 e, or |b| and 0 without W."""
        start, beta = self._start, self._start.last_length
        if self._first == 0:
            return length_of(start.b), 0.0
        from_first, from_last = start.weights(np.array([ridge]))[0, :, -1].tolist()
        return -beta * from_first, beta * beta * from_last

    def solutions(self, ridges: Array) -> Array:
        """Return the solutions for some ridges, of shape (n, len(ridges))."""
        m, k = self._first, self._added
        weights = np.empty((len(ridges), m + k))
        for row, ridge, (first, last) in zip(weights, ridges.tolist(), self._start.weights(ridges), strict=True):
            row[m:] = y = self._weights(ridge, *self._reduce(ridge))
            row[:m] = first - self._start.last_length * (self._shares[:k] @ y) * last
        return (weights @ self._basis[:, : m + k].T).T  # as in `FoldView.product`

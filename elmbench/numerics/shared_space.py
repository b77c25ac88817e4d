"""A space for the systems (K + r I) z = b of all ridges r, which their residuals widen."""

import math
from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dposv

from elmbench.numerics.arrays import EPS, Array

STOP = 1e-11
"""Norm of a residual over that of the right-hand side at which a system counts as solved, for any condition."""

_FIRST = 32  # number of columns that are allocated first
LOOK = 16  # steps between two estimates of the remaining steps


class SharedSpace:
    """Orthonormal columns W, and K W, which solve the system of every ridge.

    The solution for a ridge r is W y with (W'K W + r I) y = W'b: the best one of the space, in the norm of K + r I.
    With K W, a residual needs no further product with K. An inexact preconditioner does no harm, because solutions stay
    the best ones, with known residuals. Without one, this is a Krylov space. (Saad, Iterative Methods for Sparse Linear
    Systems, 2nd ed., SIAM 2003, 5.2 and 6.4.)

    `product` writes K v to its second argument, for a symmetric positive semi-definite K with as many rows as b.
    `norm` is a lower estimate of the norm of K.
    """

    def __init__(self, product: Callable[[Array, Array], None], b: Array, norm: float) -> None:
        self._product, self._b, self._norm = product, b, norm
        self._size = _length(b)
        self.steps = 0
        self._W = self._KW = np.empty((len(b), 0))
        self._H, self._g = np.empty((0, 0)), np.empty(0)
        self._reserve(min(len(b), _FIRST))

    def solve(
        self, ridges: Array, pays: Callable[[int, float], bool], inverse: Callable[[Array], Array] | None = None
    ) -> bool:
        """Widen the space by residuals until the systems of all ridges are solved; return False if it gives up.

        The smallest ridge, which takes most steps, comes first. Every few steps, `pays` decides whether to continue,
        from the number of steps so far and an estimated total. `inverse` is an approximate inverse of K + s I for one
        ridge s: times it, the condition of K + r I is about r / s or s / r.
        """
        first = ridges[:1].tolist()
        return all(self._widen_for(ridge, pays, inverse) for ridge in first) and all(
            self._widen_for(ridge, pays, inverse) for ridge in self.unsolved(ridges)
        )

    def _widen_for(
        self, ridge: float, pays: Callable[[int, float], bool], inverse: Callable[[Array], Array] | None
    ) -> bool:
        logs: list[float] = []
        while True:
            residual = self._residuals(np.array([ridge]))[:, 0]
            relative = self._over_allowed(_length(residual), ridge)
            if relative <= 1:
                return True
            if not math.isfinite(relative):
                return False
            logs.append(math.log(relative))
            if len(logs) % LOOK == 0 and not pays(self.steps, self.steps + steps_left(logs)):
                return False
            if not self.widen(residual if inverse is None else inverse(residual)):
                return True  # only round-off remains outside of the space

    def widen(self, v: Array) -> bool:
        """Add the direction of v; return False if it is in the space within round-off, or not finite."""
        m = self.steps
        size = length = _length(v)
        if m == len(v) or not 0 < size < np.inf:
            return False
        W, w, before = self._W[:, :m], v, np.inf
        while length <= 0.7 * before:  # orthogonalise until nothing more cancels
            before = length
            w = w - W @ (W.T @ w)
            length = _length(w)
            if length <= 10 * EPS * size:
                return False
        if m == self._W.shape[1]:
            self._reserve(min(len(v), 2 * m))
        column, image = self._W[:, m], self._KW[:, m]
        np.divide(w, length, out=column)
        self._product(column, image)
        self.steps += 1
        # Only the upper triangle is read.
        self._H[: m + 1, m] = projected = self._W[:, : m + 1].T @ image
        self._g[m] = column @ self._b
        return math.isfinite(projected[m])

    def _reserve(self, columns: int) -> None:
        m, n = self.steps, len(self._b)
        before = self._W, self._KW, self._H, self._g
        self._W, self._KW = np.empty((n, columns), order="F"), np.empty((n, columns), order="F")
        self._H, self._g = np.empty((columns, columns), order="F"), np.empty(columns)
        self._W[:, :m], self._KW[:, :m], self._H[:m, :m], self._g[:m] = before

    def _weights(self, ridge: float) -> Array:
        """Return y, or NaN if round-off makes the system indefinite."""
        m = self.steps
        if m == 0:
            return np.zeros(0)
        A = self._H[:m, :m].copy(order="F")
        A.ravel("K")[:: m + 1] += ridge
        _, y, info = dposv(A, self._g[:m], overwrite_a=1)
        return y if info == 0 else np.full(m, np.nan)

    def _residuals(self, ridges: Array) -> Array:
        """Return the residuals of some ridges, of shape (n, p)."""
        Y = np.array([self._weights(ridge) for ridge in ridges.tolist()]).reshape(len(ridges), self.steps).T
        E = self._b[:, np.newaxis] - self._KW[:, : self.steps] @ Y
        E -= self._W[:, : self.steps] @ (ridges * Y)
        return E

    def solutions(self, ridges: Array) -> Array:
        """Return the solutions for all ridges, of shape (n, len(ridges))."""
        return self._W[:, : self.steps] @ np.array([self._weights(float(ridge)) for ridge in ridges]).T

    def unsolved(self, ridges: Array) -> list[float]:
        """Return the ridges whose systems are not solved, in their order."""
        lengths = np.linalg.norm(self._residuals(ridges), axis=0)
        pairs = zip(ridges.tolist(), lengths.tolist(), strict=True)
        return [ridge for ridge, length in pairs if not self._over_allowed(length, ridge) <= 1]

    def _over_allowed(self, length: float, ridge: float) -> float:
        """Return the norm of a residual over the allowed one: `STOP`, or the machine precision times the condition."""
        allowed = max(STOP, EPS * self._norm / ridge) * self._size
        return length / allowed if allowed > 0 else length


def steps_left(logs: list[float]) -> float:
    """Return the number of steps until the last of a falling, mostly concave sequence reaches zero.

    It is extrapolated by the parabola through the last value and those a quarter and half of the sequence earlier,
    because residuals in a Krylov space fall ever faster.
    """
    last = len(logs) - 1
    quarter = max(1, last // 4)
    near = (logs[last - quarter] - logs[last]) / quarter
    far = (logs[last - 2 * quarter] - logs[last - quarter]) / quarter
    gain = max(0.0, (near - far) / quarter)
    speed = near + gain * quarter / 2
    if gain == 0:
        return logs[last] / speed if speed > 0 else math.inf
    # logs[last] = speed t + gain t^2 / 2
    return (-speed + math.sqrt(speed * speed + 2 * gain * logs[last])) / gain


def _length(v: Array) -> float:
    """Return the norm of a vector; numpy's own function takes several times as long for few rows."""
    return math.sqrt(v @ v)

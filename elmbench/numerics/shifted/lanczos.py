"""Lanczos' method for one right-hand side and every ridge: the spaces that it builds do not depend on the ridge."""

import math
from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dptsv

from elmbench.numerics.arrays import EPS, Array

_LOOK = 16
"""Steps between two looks at how many more there will be."""


class Lanczos:
    """V' A V = T with orthonormal V, whose first column is along b, and T tridiagonal.

    (A + r I)^-1 b is near V (T + r I)^-1 V' b for every ridge r, the nearer the larger r is. V is kept orthogonal by
    Gram-Schmidt against all its columns in every step, so it never has to be restarted.

    `product` writes A v over its second argument, for a symmetric positive semi-definite A of as many rows as b has.
    The steps, as many as V has columns, end where the norm of the residual of `ridge`, the smallest one, is at most
    `tolerance`, as then are those of the other ridges; `converged` says so, by a recurrence that round-off does not
    enter. They also end where `affordable`, asked from time to time with the steps already made and how many there will
    be in all, says no.

    References
    ----------
    Golub, Van Loan, Matrix Computations, 4th ed., 10.1 and 11.3; Frommer, Maass, Fast CG-based methods for
    Tikhonov-Phillips regularization, SIAM J. Sci. Comput. 20(5), 1999, for all ridges at once.
    """

    def __init__(
        self,
        product: Callable[[Array, Array], None],
        b: Array,
        ridge: float,
        tolerance: float,
        affordable: Callable[[int, float], bool],
    ) -> None:
        self._n = len(b)
        self._norm = float(np.linalg.norm(b))
        self._diagonal: list[float] = []
        self._below: list[float] = []
        self.steps = 0
        self.converged = self._norm <= tolerance
        if self.converged:
            return
        n = len(b)
        self._V = np.empty((n, min(n, 2 * _LOOK)), order="F")
        v = self._V[:, 0]
        np.divide(b, self._norm, out=v)
        w = np.empty(n)
        pivot, below = math.inf, 0.0
        # The residual of the ridge after m steps is |b| times the product of below_i / pivot_i, i = 1, ..., m.
        logs = [math.log(self._norm / tolerance)]
        while True:
            product(v, w)
            # First what Lanczos' recurrence takes off, then what round-off has left of all columns.
            slope = float(v @ w)
            if not math.isfinite(slope):
                return
            w -= slope * v
            if self.steps > 0:
                w -= below * self._V[:, self.steps - 1]
            basis = self._V[:, : self.steps + 1]
            again = basis.T @ w
            w -= basis @ again
            self._diagonal.append(slope + float(again[-1]))
            self.steps += 1
            pivot = self._diagonal[-1] + ridge - below * (below / pivot)
            below = math.sqrt(float(w @ w))
            if not (pivot > 0 and math.isfinite(below)):
                return
            logs.append(logs[-1] + math.log(max(below, 1e-300) / pivot))
            # Of what is left only round-off is not in the span of V.
            exhausted = below <= 10 * EPS * max(self._diagonal) or self.steps == n
            if logs[-1] <= 0 or exhausted:
                self.converged = True
                return
            if self.steps % _LOOK == 0 and not affordable(self.steps, self.steps + steps_left(logs)):
                return
            self._below.append(below)
            if self.steps == self._V.shape[1]:
                longer = np.empty((n, min(n, 2 * self.steps)), order="F")
                longer[:, : self.steps] = self._V
                self._V = longer
            v = self._V[:, self.steps]
            np.divide(w, below, out=v)

    def solve(self, ridges: Array) -> Array:
        """Return (A + r I)^-1 b for the ridges r, of shape (n, len(ridges)); NaN where round-off prevents it."""
        m = self.steps
        if m == 0:
            return np.zeros((self._n, len(ridges)))
        projected = np.zeros((m, len(ridges)), order="F")
        projected[0] = self._norm
        diagonal, below = np.array(self._diagonal), np.array(self._below[: m - 1] or [0.0])
        for i, ridge in enumerate(ridges):
            *_, projected[:, i], info = dptsv(diagonal + ridge, below, projected[:, i])
            if info > 0:
                projected[:, i] = np.nan
        return self._V[:, :m] @ projected


def steps_left(logs: list[float]) -> float:
    """Return how many steps it takes until the last of a falling, mostly concave sequence reaches zero.

    By the parabola through the last value and those of a quarter and half of the sequence before: the residuals of
    Lanczos' method fall ever faster.
    """
    last = len(logs) - 1
    quarter = max(1, last // 4)
    near = (logs[last - quarter] - logs[last]) / quarter
    far = (logs[last - 2 * quarter] - logs[last - quarter]) / quarter
    speed, gain = near, max(0.0, (near - far) / quarter)
    speed += gain * quarter / 2
    if gain == 0:
        return logs[last] / speed if speed > 0 else math.inf
    # logs[last] = speed t + gain t^2 / 2
    return (-speed + math.sqrt(speed * speed + 2 * gain * logs[last])) / gain

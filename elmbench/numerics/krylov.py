"""The Krylov space of a matrix and a vector, which solves the systems (K + r I) z = b of all ridges r at once."""

import math
from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dptsv

from elmbench.numerics.arrays import EPS, Array

STOP, LOOSEST = 1e-11, 1e-6
"""Norms of a residual over that of the right-hand side at which a system counts as solved, for any condition, and that
no solution exceeds: a ridge within round-off of K would allow more than the right-hand side."""

LOOK = 16  # steps between two estimates of the remaining steps
_FIRST = 32  # number of columns that are allocated first


def allowed_residuals(ridges: Array, norm: float) -> Array:
    """Return the norms, over that of b, of residuals of solved systems.

    They are `STOP`, or the machine precision times the condition; `norm` is a lower estimate of the norm of K.
    """
    return np.clip(EPS * norm / ridges, STOP, LOOSEST)


class KrylovSpace:
    """Orthonormal columns W and a tridiagonal matrix T with K W = W T + beta w e', as Lanczos' recurrence yields them.

    The solution for a ridge r is W y with (T + r I) y = |b| e_1, and the norm of its residual is beta times the last
    entry of y: one product with K a step serves all ridges. Every new column is orthogonalised against all others.
    (Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., SIAM 2003, 6.6 and 6.7.)

    `product` writes K v to its second argument, for a symmetric positive semi-definite K with as many rows as b.
    `ridges` ascend. `norm` is a lower estimate of the norm of K.

    Attributes
    ----------
    steps : int
        Columns of W.
    allowed, lengths : ndarrays of shape (n_ridges,)
        Allowed norms of the residuals, and the norms over these; NaN if round-off makes the system indefinite.
    logs : list of float
        Logarithm of the largest length after each step, 0 once all systems are solved.
    """

    def __init__(self, product: Callable[[Array, Array], None], b: Array, ridges: Array, norm: float) -> None:
        self.product, self.b, self.norm, self._ridges = product, b, norm, ridges
        self._size = length_of(b)
        self.allowed = allowed_residuals(ridges, norm) * (self._size or 1.0)
        self._W = np.empty((len(b), min(len(b), _FIRST) + 1), order="F")
        np.divide(b, self._size or 1.0, out=self._W[:, 0])
        self._image = np.empty(len(b))
        self._alphas: list[float] = []
        self._betas: list[float] = []
        self.logs: list[float] = []
        self.steps = 0
        self.lengths = self._size / self.allowed
        # Of the elimination of (T + r I) y = |b| e_1, for each ridge: the last pivot, and the last entry of y, without
        # its sign, over the allowed residual.
        self._pivots, self._last = np.full(len(ridges), np.inf), self._size / self.allowed

    def solve(self, pays: Callable[["KrylovSpace"], bool], first: int = 0) -> bool:
        """Take steps until the systems of all ridges, or of those from a number on, are solved; False if it gives up.

        Every few steps, `pays` decides whether to continue.
        """
        while not (longest := float(self.lengths[first:].max(initial=0.0))) <= 1:
            looks = self.steps > 0 and self.steps % LOOK == 0
            if not math.isfinite(longest) or (looks and not pays(self)):
                return False
            self._step()
        return True

    def _step(self) -> None:
        m = self.steps
        if m + 1 == self._W.shape[1]:
            narrow = self._W
            self._W = np.empty((len(narrow), min(len(narrow), 2 * m) + 1), order="F")
            self._W[:, : m + 1] = narrow
        W, v, w = self._W[:, : m + 1], self._W[:, m], self._image
        self.product(v, w)
        alpha, size = float(v @ w), length_of(w)
        beta = self._betas[-1] if m else 0.0
        w -= alpha * v
        if m:
            w -= beta * self._W[:, m - 1]
        length, previous = length_of(w), math.inf
        while 10 * EPS * size < length <= 0.7 * previous:  # orthogonalise until nothing more cancels
            previous = length
            w -= W @ (W.T @ w)
            length = length_of(w)
        if length <= 10 * EPS * size or m + 1 == len(w):
            length = 0.0  # only round-off remains outside of the space
        np.divide(w, length or 1.0, out=self._W[:, m + 1])
        self._alphas.append(alpha)
        self._betas.append(length)
        self.steps += 1
        np.divide(-beta * beta, self._pivots, out=self._pivots)
        self._pivots += self._ridges
        self._pivots += alpha
        if self._pivots[0] <= 0:  # that of the smallest ridge is the smallest one
            self._pivots[self._pivots <= 0] = np.nan
        self._last *= beta if m else 1.0
        self._last /= self._pivots
        self.lengths = length * self._last
        self.logs.append(math.log(max(1.0, float(self.lengths.max(initial=0.0)))))

    @property
    def basis(self) -> Array:
        """W, of shape (n, steps)."""
        return self._W[:, : self.steps]

    @property
    def last_column(self) -> Array:
        """The last column of W."""
        return self._W[:, max(0, self.steps - 1)]

    @property
    def next_column(self) -> Array:
        """w, the direction of the residuals of all systems."""
        return self._W[:, self.steps]

    @property
    def last_length(self) -> float:
        """beta; 0 without a step."""
        return self._betas[-1] if self._betas else 0.0

    def weights(self, ridges: Array) -> Array:
        """Return (T + r I)^-1 |b| e_1 and (T + r I)^-1 e_m for some ridges, of shape (len(ridges), 2, m).

        They are NaN if round-off makes the system indefinite.
        """
        m = self.steps
        weights = np.empty((len(ridges), 2, m))
        if m == 0:
            return weights
        alphas, targets = np.array(self._alphas), np.zeros((m, 2), order="F")
        betas = np.array(self._betas[: max(1, m - 1)])  # LAPACK's wrapper wants one even for a single row
        targets[0, 0], targets[-1, 1] = self._size, 1.0
        for i, ridge in enumerate(ridges):
            *_, Y, info = dptsv(alphas + ridge, betas, targets)
            weights[i] = Y.T if info == 0 else np.nan
        return weights

    def solutions(self, ridges: Array) -> Array:
        """Return the solutions for some ridges, of shape (n, len(ridges))."""
        return (self.weights(ridges)[:, 0] @ self.basis.T).T  # as in `FoldView.product`


def steps_left(logs: list[float]) -> float:
    """Return the number of steps until a falling sequence reaches zero on the line through its last half."""
    last = len(logs) - 1
    half = max(1, last // 2)
    fall = logs[last - half] - logs[last]
    return logs[last] * half / fall if fall > 0 else math.inf


def length_of(v: Array) -> float:
    """Return the norm of a vector; numpy's own function takes several times as long for few rows."""
    return math.sqrt(v @ v)

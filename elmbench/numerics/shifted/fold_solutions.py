"""Ridge systems (K + r I) Z = B of one fold, for all ridges r."""

import math
from collections import Counter
from collections.abc import Callable

import numpy as np

from elmbench.numerics.arrays import Array
from elmbench.numerics.shifted.band_reduction import REDUCE_FROM, BandReduction
from elmbench.numerics.shifted.fold_views import FoldView
from elmbench.numerics.shifted.shared_space import SharedSpace
from elmbench.numerics.shifted.single_precision import SingleFactor

INVERSE_FROM = 1200
"""Number of training rows, per column of B, from which a preconditioner in single precision takes the least time."""

MOST_STEPS = 256
"""Number of Krylov steps on many rows, over all columns of B, that takes as long as the other methods."""

_CHECK_EVERY = 16
"""Krylov steps between two forecasts of the number of steps that remain."""

_MOST_INVERSE_STEPS = 300
"""Preconditioned steps for one ridge after which a Cholesky factor would have taken less time."""

_WIDEST = 2.0**9
"""Largest ratio of a ridge to the smallest one for which a shared preconditioner helps."""


def fold_solutions(
    K: Array, part: FoldView, B: Array, ridges: Array, workspace: Array, solvers: Counter[str]
) -> Array | None:
    """Return the solutions of (K + r I) Z = B for all ridges, with K between the training rows of a fold.

    A Krylov space, shared by all ridges, is tried first. If its residuals fall too slowly, the sizes alone choose the
    method: residuals multiplied by the inverse of K + s I, with one ridge s, factored in single precision; an
    orthogonal reduction; or None, which leaves a Cholesky factor for each ridge to the caller.

    Parameters
    ----------
    K : ndarray of shape (m, m)
        Symmetric, positive semi-definite and in Fortran order; `part` is a fold of its rows.
    part : FoldView
        With n training rows.
    B, ridges : ndarray of shape (n, k), (p,)
        In the order of `part.rows`; the ridges are positive.
    workspace : ndarray of at least n * n doubles
        It is overwritten.
    solvers : Counter of str
        Counts "krylov", "inverse" or "reduction" once for each ridge, and "krylov given up" once.

    Returns
    -------
    ndarray of shape (n, p * k) or None
        The k columns of the first ridge, then those of the second, ...; NaN if a system is not positive definite
        within round-off. The error is not bounded here: see `residuals`.
    """
    n, k = B.shape
    ascending = np.sort(ridges)
    limit = _step_limit(n, k)
    solutions = _in_spaces(K, part, B, ridges, lambda space: _by_residuals(space, ascending, limit))
    if solutions is not None:
        solvers["krylov"] += len(ridges)
        return solutions
    solvers["krylov given up"] += 1
    if len(ridges) > 1 and n >= INVERSE_FROM * k:
        inverse = _SingleInverse(K, part, workspace)
        solvers["inverse"] += len(ridges)
        return _in_spaces(K, part, B, ridges, lambda space: _by_inverse(space, ascending, inverse))
    if len(ridges) < REDUCE_FROM:
        return None
    square = workspace[: n * n].reshape((n, n), order="F")
    part.copy(K, square)
    solvers["reduction"] += len(ridges)
    return BandReduction(square).solve(ridges, B)


def _step_limit(n: int, columns: int) -> int:
    """Return the number of Krylov steps for each column that takes as long as the other methods."""
    return min(n // 6, MOST_STEPS) // columns


def _in_spaces(
    K: Array, part: FoldView, B: Array, ridges: Array, widened: Callable[[SharedSpace], bool]
) -> Array | None:
    """Return the solutions in one space for each column of B, or None if `widened` gives up on a column."""
    n, k = B.shape
    product, sums = part.within(K), np.empty(n)
    product(np.ones(n), sums)
    solutions = np.empty((n, len(ridges) * k), order="F")
    for column in range(k):
        space = SharedSpace(product, B[:, column], float(sums.mean()))
        if not widened(space):
            return None
        solutions[:, column::k] = space.solutions(ridges)
    return solutions


class _SingleInverse:
    """The inverse of K + s I in single precision, with K between the training rows of a fold."""

    def __init__(self, K: Array, part: FoldView, workspace: Array) -> None:
        self._K, self._part, self._workspace = K, part, workspace
        self._factor: SingleFactor | None = None

    def factor(self, ridge: float) -> None:
        """Factor K + s I for this ridge s in the first call; later calls keep the factor."""
        if self._factor is None:
            n = len(self._part.rows)
            square = self._workspace.view(np.float32)[: n * n].reshape((n, n), order="F")
            self._factor = SingleFactor(square, lambda out: self._part.copy(self._K, out), ridge)

    def __call__(self, v: Array) -> Array:
        assert self._factor is not None
        return self._factor.solve(v[:, np.newaxis])[:, 0]


def _widen(
    space: SharedSpace,
    ridge: float,
    goes_on: Callable[[list[float]], bool] = lambda logs: True,
    direction: Callable[[Array], Array] = lambda residual: residual,
) -> bool:
    """Widen the space by directions made of the residuals of a ridge; return True if its system is solved.

    Before each step, `goes_on` gets the logarithms of all residual norms, which are 0 for a solved system.
    """
    logs: list[float] = []
    while True:
        residual, excess = space.left(ridge)
        if excess <= 1:
            return True
        logs.append(math.log(excess))
        if not (math.isfinite(excess) and goes_on(logs)):
            return False
        if not space.widen(direction(residual)):  # the rest of the residual is round-off
            return True


def _by_residuals(space: SharedSpace, ridges: Array, limit: int) -> bool:
    """Widen the space by residuals until all ridges, which ascend, are solved.

    The smallest ridge takes most of the steps. Return False if more than `limit` steps are still to be expected, unless
    hardly any was made.
    """

    def goes_on(logs: list[float]) -> bool:
        return len(logs) % _CHECK_EVERY > 0 or steps_left(logs) < limit or space.steps < limit / 10

    if limit == 0 or not _widen(space, float(ridges[0]), goes_on):
        return False
    return all(_widen(space, ridge, goes_on) for ridge in space.unsolved(ridges))


def _by_inverse(space: SharedSpace, ridges: Array, inverse: _SingleInverse) -> bool:
    """Widen the space by preconditioned residuals until all ridges, which ascend, are solved; return True.

    Multiplied by the inverse of K + s I, K + r I has a condition of about r / s or s / r. The largest ridges, which are
    far from the others, are well-conditioned without it. A ridge that does not converge ends the loop.
    """
    near = ridges[ridges <= _WIDEST * ridges[0]]
    for ridge in ridges[len(near) :]:
        _widen(space, float(ridge))
    unsolved = space.unsolved(near)
    if unsolved:
        inverse.factor(math.sqrt(unsolved[0] * unsolved[-1]))
    for ridge in unsolved:
        if not _widen(space, ridge, lambda logs: len(logs) <= _MOST_INVERSE_STEPS, inverse):
            break
    return True


def steps_left(logs: list[float]) -> float:
    """Return how many steps it takes until the last of a falling, mostly concave sequence reaches zero.

    By the parabola through the last value and those of a quarter and half of the sequence before: residuals in
    Krylov's space fall ever faster.
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


def residuals(KZ: Array, Z: Array, B: Array, ridges: Array) -> Array:
    """Return the norms of B - (K + r I) Z, over those of B, for every ridge r: an array of shape (p, k).

    Z are solutions as `fold_solutions` returns them, KZ the product of K with them, both of shape (n, p * k), and B, of
    shape (n, k), the right-hand sides. A norm is infinite where a solution is not finite, and 0 where a column of B is
    zero and its solution too.
    """
    k, p = B.shape[1], len(ridges)
    left = np.multiply(Z.T, np.repeat(ridges, k)[:, np.newaxis], order="C")
    left += KZ.T
    left.reshape(p, k, -1)[:] -= B.T
    norms = np.sqrt(np.einsum("ij,ij->i", left, left)).reshape(p, k)
    size = np.linalg.norm(B, axis=0)
    relative = norms / np.where(size > 0, size, 1.0)
    return np.where(np.isfinite(relative), relative, np.inf)

"""All ridges r of (K + r I) Z = B on the training rows of a fold, by the cheapest of several ways; residuals."""

import math
from collections import Counter
from collections.abc import Callable
from functools import partial

import numpy as np

from elmbench.numerics.arrays import Array
from elmbench.numerics.shifted.band_reduction import BandReduction
from elmbench.numerics.shifted.fold_views import FoldView
from elmbench.numerics.shifted.prices import (
    factor_seconds,
    inverse_seconds,
    krylov_seconds,
    preconditioned_seconds,
    reduction_seconds,
)
from elmbench.numerics.shifted.shared_space import STOP, SharedSpace
from elmbench.numerics.shifted.single_precision import SingleFactor

_LOOK = 16
"""Steps between two looks at how many more there will be."""

_WIDEST = 2.0**9
"""How many times the smallest ridge others may be, to be solved with the help of one inverse for all."""


def fold_solutions(
    K: Array, part: FoldView, B: Array, ridges: Array, room: Array, solvers: Counter[str]
) -> Array | None:
    """Return the solutions of (K + r I) Z = B for all ridges, K between the training rows of a fold.

    First in Krylov's space, a column of B after the other, as long as the residual of the smallest ridge falls fast
    enough. Else the cheapest of three: to widen the space by residuals to which the inverse of K + s I, of one ridge s
    in the middle of those not yet solved and factored in single precision, is applied; an orthogonal reduction; a
    factor for each ridge, which is left to others. What a step and the other ways cost is a function of the sizes
    alone, never of a clock, so that a search takes the same way whatever else the machine does.

    Parameters
    ----------
    K : ndarray of shape (m, m)
        Symmetric, positive semi-definite, in Fortran order, of all rows that `part` is a fold of.
    part : FoldView
        With n training rows.
    B, ridges : ndarray of shape (n, k), (p,)
        In the order of `part.rows`; the ridges are positive.
    room : ndarray of at least n * n doubles
        Is overwritten.
    solvers : Counter of str
        Counts the way, once a ridge: "krylov", "inverse" or "reduction"; "krylov given up" once.

    Returns
    -------
    ndarray of shape (n, p * k) or None
        The k columns of the first ridge, then those of the second, ...; NaN where a system is not positive definite
        within round-off, or not solved in the time of a factorisation. None where factoring each system is cheaper.
        Nothing here bounds the error: see `residuals`.
    """
    n, k = B.shape
    p = len(ridges)
    ways = {
        "inverse": inverse_seconds(n) + k * preconditioned_seconds(n, _inverse_steps(ridges)),
        "reduction": reduction_seconds(n, p, k),
        "cholesky": p * factor_seconds(n, k),
    }
    way = min(ways, key=lambda name: ways[name])
    product, inverse, ascending = part.within(K), _Inverse(K, part, room), np.sort(ridges)
    solutions = np.empty((n, p * k), order="F")
    sums = np.empty(n)
    product(np.ones(n), sums)
    spent, krylov = 0.0, True
    for column in range(k):
        space = SharedSpace(product, B[:, column], float(sums.mean()))
        if krylov:
            goes_on = partial(_affordable, n, k - column, spent, ways[way])
            krylov = _by_residuals(space, ascending, goes_on)
            spent += krylov_seconds(n, space.steps)
            if not krylov:
                solvers["krylov given up"] += 1
        if not krylov:
            if way != "inverse":
                break
            _by_inverse(space, ascending, inverse, ways["cholesky"] / k)
        solutions[:, column::k] = space.solutions(ridges)
    else:
        solvers["krylov" if krylov else "inverse"] += p
        return solutions
    if way == "cholesky":
        return None
    square = room[: n * n].reshape((n, n), order="F")
    part.copy(K, square)
    solvers["reduction"] += p
    return BandReduction(square).solve(ridges, B)


class _Inverse:
    """The inverse of K + s I in single precision, K between the training rows of a fold, of a ridge s yet to come."""

    def __init__(self, K: Array, part: FoldView, room: Array) -> None:
        self._K, self._part, self._room = K, part, room
        self._factor: SingleFactor | None = None
        self.ridge = math.nan

    def factor(self, ridge: float) -> None:
        """Factor K + s I for this ridge s, unless some other was factored before."""
        if self._factor is None:
            n = len(self._part.rows)
            room = self._room.view(np.float32)[: n * n].reshape((n, n), order="F")
            self._factor = SingleFactor(room, lambda out: self._part.copy(self._K, out), ridge)
            self.ridge = ridge

    def __call__(self, v: Array) -> Array:
        assert self._factor is not None
        return self._factor.solve(v[:, np.newaxis])[:, 0]


def _to_the_end(steps: int, total: float) -> bool:
    return True


def _by_residuals(space: SharedSpace, ridges: Array, goes_on: Callable[[int, float], bool] = _to_the_end) -> bool:
    """Widen the space by residuals until all ridges, which ascend, are solved; return whether they are.

    The first takes most of the steps. From time to time `goes_on` is asked with the steps already made and how many
    there will be in all.
    """
    if not goes_on(0, 1):
        return False
    for ridge in ridges:
        logs: list[float] = []
        while True:
            e, left = space.left(float(ridge))
            if left <= 1:
                break
            if not math.isfinite(left):
                return False
            logs.append(math.log(left))
            steps = space.steps
            if steps % _LOOK == 0 and len(logs) > 2 and not goes_on(steps, steps + steps_left(logs)):
                return False
            if not space.widen(e):  # of what is left only round-off is not in the space
                break
    return True


def _by_inverse(space: SharedSpace, ridges: Array, inverse: _Inverse, seconds: float) -> None:
    """Widen the space by preconditioned residuals until all ridges, which ascend, are solved.

    Times the inverse of K + s I, the condition of K + r I is about r / s or s / r. The largest ridges, which are far
    from the others, are well-conditioned without. It ends after so many seconds on a desk machine in any case.
    """
    n = len(space)
    near, far = ridges[ridges <= _WIDEST * ridges[0]], ridges[ridges > _WIDEST * ridges[0]]
    _by_residuals(space, far)
    unsolved = [float(ridge) for ridge in near if not space.left(float(ridge))[1] <= 1]
    if not unsolved:
        return
    inverse.factor(math.sqrt(unsolved[0] * unsolved[-1]))
    start = space.steps
    for ridge in unsolved:
        while True:
            e, left = space.left(ridge)
            if left <= 1:
                break
            if preconditioned_seconds(n, space.steps - start) > seconds:
                return
            if not (math.isfinite(left) and space.widen(inverse(e))):
                break


def _inverse_steps(ridges: Array) -> float:
    """Return about how many steps `_by_inverse` takes, by the bound for conjugate gradients."""
    widest = min(float(ridges.max() / ridges.min()), _WIDEST)
    return 3 + 0.5 * widest**0.25 * math.log(2 / STOP)


def _affordable(n: int, columns: int, spent: float, otherwise: float, steps: int, total: float) -> bool:
    """Return whether to go on after some of so many steps, given what the rest of this column and those after it take.

    What has been spent is lost either way, and the first few steps say little: a tenth of the other way is ventured.
    """
    so_far = krylov_seconds(n, steps)
    needed = columns * krylov_seconds(n, total) - so_far
    return needed < otherwise or spent + so_far < 0.1 * otherwise


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

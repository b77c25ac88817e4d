"""All ridges r of (K + r I) Z = B on the training rows of a fold, by the cheapest of several ways; residuals."""

import math
from collections import Counter
from collections.abc import Callable
from functools import cache

import numpy as np

from elmbench.numerics.arrays import Array
from elmbench.numerics.shifted.band_reduction import BandReduction
from elmbench.numerics.shifted.fold_views import FoldView
from elmbench.numerics.shifted.low_rank import RANK, LowRankInverse
from elmbench.numerics.shifted.prices import (
    factor_seconds,
    inverse_seconds,
    krylov_seconds,
    low_rank_seconds,
    preconditioned_seconds,
    reduction_seconds,
)
from elmbench.numerics.shifted.shared_space import STOP, SharedSpace
from elmbench.numerics.shifted.single_precision import SingleFactor

_LOOK = 16
"""Steps between two looks at how many more there will be."""

_TRIAL = 8
"""Steps with an inverse of low rank that tell how many more there will be."""

_WIDEST = 2.0**9
"""How many times the smallest ridge others may be, to be solved with the help of one inverse for all."""

_GROWTH = 0.25
"""Power of the ratio of two ridges by which the smaller one takes more steps with an inverse of low rank."""

_FEW = 4
"""Steps that say nothing yet about how many there will be."""

_Stage = tuple[str, Callable[[SharedSpace], SharedSpace | None]]
"""The name of a way, and what returns the space, or a wider one, where all ridges are solved, and None where not."""


def fold_solutions(
    K: Array, part: FoldView, B: Array, ridges: Array, room: Array, solvers: Counter[str]
) -> Array | None:
    """Return the solutions of (K + r I) Z = B for all ridges, K between the training rows of a fold.

    One space for all ridges, a column of B after the other, is widened by the residuals of the smallest ridge as long
    as these fall fast enough. Then by residuals times an inverse of low rank, where a trial of that promises to end in
    time. Else the cheapest of three: residuals times the inverse of K + s I, of one ridge s in the middle of those not
    yet solved and factored in single precision; an orthogonal reduction; a factor for each ridge, which is left to
    others. What a step and the other ways cost is a function of the sizes alone, never of a clock, so that a search
    takes the same way whatever else the machine does.

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
        Counts the way, once a ridge: "krylov", "low rank", "inverse" or "reduction"; each that was "given up" once.

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
    cheapest = min(ways, key=lambda name: ways[name])
    stages = _stages(K, part, ridges, ways[cheapest] / k, k)
    if cheapest == "inverse":
        inverse = _SingleInverse(K, part, room)
        stages.append(("inverse", lambda space: _by_inverse(space, np.sort(ridges), inverse, ways["cholesky"] / k)))
    product, sums = part.within(K), np.empty(n)
    product(np.ones(n), sums)
    solutions = np.empty((n, p * k), order="F")
    for column in range(k):
        space = SharedSpace(product, B[:, column], float(sums.mean()))
        solved = None
        while stages and (solved := stages[0][1](space)) is None:
            solvers[f"{stages.pop(0)[0]} given up"] += 1
        if solved is None:
            break
        solutions[:, column::k] = solved.solutions(ridges)
    else:
        solvers[stages[0][0]] += p
        return solutions
    if cheapest == "cholesky":
        return None
    square = room[: n * n].reshape((n, n), order="F")
    part.copy(K, square)
    solvers["reduction"] += p
    return BandReduction(square).solve(ridges, B)


def _stages(K: Array, part: FoldView, ridges: Array, otherwise: float, columns: int) -> list[_Stage]:
    """Return the ways that are tried first.

    `otherwise` is what a column takes in the cheapest of the other ways.
    """
    n, ascending = len(part.rows), np.sort(ridges)
    krylov: _Stage = ("krylov", lambda space: _by_residuals(space, ascending, otherwise))
    # Of few rows, a square of this rank is little smaller than that of all.
    if n < 2 * RANK or low_rank_seconds(n, RANK, _TRIAL) > otherwise:
        return [krylov]
    price = low_rank_seconds(n, RANK, columns * (_TRIAL + 4 * len(ridges))) / columns
    low_rank = cache(lambda: LowRankInverse(K, part))
    return [
        ("krylov", lambda space: _by_residuals(space, ascending, min(otherwise, price))),
        ("low rank", lambda space: _by_low_rank(space, ascending, low_rank(), otherwise)),
        krylov,
    ]


class _SingleInverse:
    """The inverse of K + s I in single precision, K between the training rows of a fold, of a ridge s yet to come."""

    def __init__(self, K: Array, part: FoldView, room: Array) -> None:
        self._K, self._part, self._room = K, part, room
        self._factor: SingleFactor | None = None

    def factor(self, ridge: float) -> None:
        """Factor K + s I for this ridge s, unless some other was factored before."""
        if self._factor is None:
            n = len(self._part.rows)
            room = self._room.view(np.float32)[: n * n].reshape((n, n), order="F")
            self._factor = SingleFactor(room, lambda out: self._part.copy(self._K, out), ridge)

    def __call__(self, v: Array) -> Array:
        assert self._factor is not None
        return self._factor.solve(v[:, np.newaxis])[:, 0]


def _to_the_end(logs: list[float]) -> bool:
    return True


def _as_it_is(residual: Array) -> Array:
    return residual


def _widen(
    space: SharedSpace,
    ridge: float,
    goes_on: Callable[[list[float]], bool] = _to_the_end,
    direction: Callable[[Array], Array] = _as_it_is,
) -> list[float]:
    """Widen the space by a direction made of the residual of a ridge until that is solved.

    Returned are the logarithms of all residuals, which are 0 where it is solved, if it is not, else none. Before each
    step `goes_on` is asked with those so far.
    """
    logs: list[float] = []
    while True:
        e, left = space.left(ridge)
        if left <= 1:
            return []
        logs.append(math.log(left))
        if not (math.isfinite(left) and goes_on(logs)):
            return logs
        if not space.widen(direction(e)):  # of what is left only round-off is not in the space
            return []


def _by_residuals(space: SharedSpace, ridges: Array, otherwise: float) -> SharedSpace | None:
    """Widen the space by residuals until all ridges, which ascend, are solved; return it where they are.

    The first takes most of the steps. From time to time it is asked whether the other way, of so many seconds, is
    cheaper.
    """
    n = len(space)

    def goes_on(logs: list[float]) -> bool:
        steps = space.steps
        return len(logs) % _LOOK > 0 or _affordable(n, otherwise, steps, steps + steps_left(logs))

    if not _affordable(n, otherwise, 0, 1) or _widen(space, float(ridges[0]), goes_on):
        return None
    return None if any(_widen(space, ridge, goes_on) for ridge in space.unsolved(ridges)) else space


def _by_low_rank(space: SharedSpace, ridges: Array, inverse: LowRankInverse, seconds: float) -> SharedSpace | None:
    """Return the space, widened by residuals times an inverse of low rank, where all ridges, which ascend, are solved.

    A few steps for the smallest ridge tell whether it is done within so many seconds on a desk machine. Larger ones are
    solved in fewer steps, and help it if they come first. Where it is not done the space stays Krylov's, in which
    other ways go on.
    """
    space = space.copy()
    n, start = len(space), space.steps

    def in_time(ridge: float, steps: float) -> bool:
        """Tell whether those that are not larger than a ridge which takes so many steps are solved in time."""
        further = float(((ridge / ridges[ridges <= ridge]) ** _GROWTH).sum()) * steps
        return low_rank_seconds(n, RANK, space.steps - start + further) <= seconds

    def goes_on(logs: list[float]) -> bool:
        return len(logs) <= _FEW or in_time(inverse.ridge, len(logs))

    smallest = float(ridges[0])
    inverse.factor(smallest)
    logs = _widen(space, smallest, lambda logs: len(logs) <= _TRIAL, inverse)
    if logs:
        gain = logs[0] - logs[-1]
        if not (gain > 0 and in_time(smallest, logs[-1] * _TRIAL / gain)):
            return None
    for ridge in ridges[::-1]:
        inverse.factor(float(ridge))
        if _widen(space, float(ridge), goes_on, inverse):
            return None
    return space


def _by_inverse(space: SharedSpace, ridges: Array, inverse: _SingleInverse, seconds: float) -> SharedSpace:
    """Widen the space by preconditioned residuals until all ridges, which ascend, are solved; return it.

    Times the inverse of K + s I, the condition of K + r I is about r / s or s / r. The largest ridges, which are far
    from the others, are well-conditioned without. It ends after so many seconds on a desk machine in any case.
    """
    n = len(space)
    near, far = ridges[ridges <= _WIDEST * ridges[0]], ridges[ridges > _WIDEST * ridges[0]]
    for ridge in far:
        _widen(space, float(ridge))
    unsolved = space.unsolved(near)
    if unsolved:
        inverse.factor(math.sqrt(unsolved[0] * unsolved[-1]))
    start = space.steps

    def goes_on(logs: list[float]) -> bool:
        return preconditioned_seconds(n, space.steps - start) <= seconds

    any(_widen(space, ridge, goes_on, inverse) for ridge in unsolved)
    return space


def _inverse_steps(ridges: Array) -> float:
    """Return about how many steps `_by_inverse` takes, by the bound for conjugate gradients."""
    near = ridges[ridges <= _WIDEST * ridges.min()]
    widest = float(near.max() / near.min())
    # Single precision turns the residuals of different ridges apart from each other.
    return 3 + 0.5 * widest**0.25 * math.log(2 / STOP) + 5 * (len(near) - 1)


def _affordable(n: int, otherwise: float, steps: int, total: float) -> bool:
    """Return whether to go on after some of so many steps, given what the other way takes.

    What has been spent is lost either way, and the first few steps say little: a tenth of the other way is ventured.
    """
    so_far = krylov_seconds(n, steps)
    return krylov_seconds(n, total) - so_far < otherwise or so_far < 0.1 * otherwise


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

"""Solutions of (K + r I) Z = B for all ridges r on the training rows of a fold, and their residuals."""

import math
from collections import Counter
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.linalg.lapack import dposv

from elmbench.numerics.arrays import Array
from elmbench.numerics.shifted.band_reduction import BandReduction
from elmbench.numerics.shifted.costs import factor_seconds, inverse_seconds, krylov_seconds, reduction_seconds
from elmbench.numerics.shifted.fold_views import FoldView
from elmbench.numerics.shifted.shared_space import LOOK, SharedSpace
from elmbench.numerics.shifted.single_precision import SingleFactor

_WIDEST = 2.0**9
"""Ratio to the smallest ridge up to which one inverse helps to solve a system; larger ridges are well-conditioned."""

_MOST = 100
"""The most steps with the inverse for each ridge."""


def fold_solutions(K: Array, part: FoldView, B: Array, ridges: Array, room: Array, solvers: Counter[str]) -> Array:
    """Return the solutions of (K + r I) Z = B for all ridges, K between the training rows of a fold.

    A Krylov space for each column of B serves all ridges, unless its steps cost more than the cheapest of three other
    methods: residuals times the inverse of K + s I for one ridge s, factored in single precision; an orthogonal
    reduction; one factor for each ridge. The costs are functions of the sizes alone.

    `K`, of shape (m, m): symmetric, positive semi-definite, in Fortran order, of all rows. `part`: a fold with n
    training rows. `B`, `ridges` (ndarray of shape (n, k), (p,)): in the order of `part.rows`; the ridges are positive.
    `room`: overwritten. `solvers`: counts the method of each ridge, "krylov", "inverse", "reduction" or "cholesky", and
    "krylov given up" once. The result (ndarray of shape (n, p * k)): the k columns of the first ridge, then those of
    the second, ...; NaN if a system is not positive definite within round-off, or not solved. The error is not bounded;
    see `residuals`.
    """
    n, k = B.shape
    p = len(ridges)
    ascending = np.sort(ridges)
    near = ascending <= _WIDEST * ascending[0]
    seconds = {
        "inverse": k * inverse_seconds(n, int(near.sum())),
        "reduction": reduction_seconds(n, p, k),
        "cholesky": p * factor_seconds(n, k),
    }
    method = min(seconds, key=lambda name: seconds[name])

    def krylov_pays(steps: int, total: float) -> bool:
        return krylov_seconds(n, total) - krylov_seconds(n, steps) < seconds[method] / k

    by_krylov = krylov_pays(0, LOOK)
    inverse = None
    product, sums = part.within(K), np.empty(n)
    product(np.ones(n), sums)
    solutions = np.empty((n, p * k), order="F")
    for column in range(k):
        space = SharedSpace(product, B[:, column], float(sums.mean()))
        if by_krylov and not space.solve(ascending, krylov_pays):
            by_krylov = False
            solvers["krylov given up"] += 1
        if not by_krylov:
            if method != "inverse":
                break
            space.solve(ascending[~near], lambda steps, total: True)
            unsolved = np.array(space.unsolved(ascending[near]))
            if len(unsolved):
                inverse = inverse or _single_inverse(K, part, math.sqrt(unsolved[0] * unsolved[-1]), room)
                last = space.steps + _MOST * len(unsolved)
                space.solve(unsolved, partial(_before, last), inverse)
        solutions[:, column::k] = space.solutions(ridges)
    else:
        solvers["krylov" if by_krylov else "inverse"] += p
        return solutions
    solvers[method] += p
    square = room[: n * n].reshape((n, n), order="F")
    part.copy(K, square)
    if method == "reduction":
        return BandReduction(square).solve(ridges, B)
    for i, ridge in enumerate(ridges):
        if i:
            part.copy(K, square)
        square.ravel("K")[:: n + 1] += ridge
        _, Z, info = dposv(square, B, lower=1, overwrite_a=1)
        solutions[:, i * k : (i + 1) * k] = Z if info == 0 else np.nan
    return solutions


def _before(last: int, steps: int, total: float) -> bool:
    return steps < last


def _single_inverse(K: Array, part: FoldView, ridge: float, room: Array) -> Callable[[Array], Array]:
    """Return the product with the inverse of K + ridge I, in single precision."""
    n = len(part.rows)
    square = room.view(np.float32)[: n * n].reshape((n, n), order="F")
    return SingleFactor(square, lambda out: part.copy(K, out), ridge).solve


def residuals(KZ: Array, Z: Array, B: Array, ridges: Array) -> Array:
    """Return the norms of B - (K + r I) Z, over those of B, for every ridge r: an array of shape (p, k).

    Z holds solutions in the form of `fold_solutions`, KZ the product of K with them, both of shape (n, p * k); B, of
    shape (n, k), the right-hand sides. A norm is infinite if a solution is not finite, and 0 if a column of B is zero
    and its solution too.
    """
    k, p = B.shape[1], len(ridges)
    left = np.multiply(Z.T, np.repeat(ridges, k)[:, np.newaxis], order="C")
    left += KZ.T
    left.reshape(p, k, -1)[:] -= B.T
    norms = np.sqrt(np.einsum("ij,ij->i", left, left)).reshape(p, k)
    size = np.linalg.norm(B, axis=0)
    relative = norms / np.where(size > 0, size, 1.0)
    return np.where(np.isfinite(relative), relative, np.inf)

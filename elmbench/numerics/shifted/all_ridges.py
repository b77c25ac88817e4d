"""Systems (K + r I) Z = B for many ridges r at the price of one or two factorisations, and what their residuals say."""

from collections import Counter
from functools import partial

import numpy as np

from elmbench.numerics.arrays import Array
from elmbench.numerics.lapack import symmetric_product
from elmbench.numerics.shifted.band_reduction import BLOCKED_FROM, BandReduction
from elmbench.numerics.shifted.lanczos import Lanczos

RESIDUAL = 1e-9
"""Largest norm of a residual, over that of the right-hand side, at which a solution counts as that of a factorisation.

K (K + r I)^-1 has norm below 1: this bounds the root mean square of what the outputs for the rows of K are off, over
that of the targets. A factorisation's own residual is of the size that round-off leaves here."""

_STOP = 2e-11
"""The same at which Lanczos' method stops, by its recurrence."""


def solve_shifted(
    K: Array, B: Array, ridges: Array, work: Array, solvers: Counter[str], *, try_lanczos: bool = True
) -> Array | None:
    """Return the solutions of (K + r I) Z = B for all ridges, by the cheaper of two ways.

    By Lanczos' method, a column of B after the other, as long as the residual of the smallest ridge falls fast enough;
    else by an orthogonal reduction, which takes as long as four factorisations for whatever K. What a step, a reduction
    and a factorisation cost is a function of the sizes alone, never of a clock, so that a search takes the same way
    whatever else the machine does. Nothing here bounds the error: see `residuals`.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Symmetric, positive semi-definite: columns of doubles, or the view of them in a larger matrix.
    B, ridges : ndarray of shape (n, k), (p,)
        The ridges are positive.
    work : ndarray of shape (n, n)
        In Fortran order; may be K itself where that may be overwritten.
    solvers : Counter of str
        Counts the way, once a ridge: "lanczos" or "reduction"; "lanczos given up" once.
    try_lanczos : bool, default=True
        False where it is known to converge slowly.

    Returns
    -------
    ndarray of shape (n, p * k) or None
        The k columns of the first ridge, then those of the second, ...; NaN where a system is not positive definite
        within round-off. None where factoring each system is cheaper, or no harder.
    """
    n, k = B.shape
    p = len(ridges)
    reduction, factors = reduction_seconds(n, p, k), p * factor_seconds(n, k)
    solutions = _by_lanczos(K, B, ridges, min(reduction, factors), solvers) if try_lanczos else None
    if solutions is not None:
        solvers["lanczos"] += p
        return solutions
    if factors <= reduction:
        return None
    if work is not K:
        np.copyto(work, K)
    solvers["reduction"] += p
    return BandReduction(work).solve(ridges, B)


def _by_lanczos(K: Array, B: Array, ridges: Array, otherwise: float, solvers: Counter[str]) -> Array | None:
    """Return the solutions, or None as soon as `otherwise`, the price of another way in seconds, looks lower."""
    n, k = B.shape
    product = symmetric_product(K)
    solutions = np.empty((n, len(ridges) * k), order="F")
    spent = 0.0
    for column in range(k):
        goes_on = partial(affordable, n, k - column, spent, otherwise)
        if not goes_on(0, 1):
            return None
        b = B[:, column]
        space = Lanczos(product, b, float(ridges.min()), _STOP * float(np.linalg.norm(b)), goes_on)
        spent += lanczos_seconds(n, space.steps)
        if not space.converged:
            solvers["lanczos given up"] += 1
            return None
        solutions[:, column::k] = space.solve(ridges)
    return solutions


def affordable(n: int, columns: int, spent: float, otherwise: float, steps: int, total: float) -> bool:
    """Return whether to go on after some of so many steps, given what the rest of this column and those after it take.

    What has been spent is lost either way, and the first few steps say little: a tenth of the other way is ventured.
    """
    so_far = lanczos_seconds(n, steps)
    needed = columns * lanczos_seconds(n, total) - so_far
    return needed < otherwise or spent + so_far < 0.1 * otherwise


def residuals(KZ: Array, Z: Array, B: Array, ridges: Array) -> Array:
    """Return the norms of B - (K + r I) Z, over those of B, for every ridge r: an array of shape (p, k).

    Z are solutions as `solve_shifted` returns them, KZ the product of K with them, both of shape (n, p * k), and B, of
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


# Rates of one core of a machine of 2024. Only their ratios matter, and these only to what a search takes.
_STREAM, _CACHED, _CACHE = 27e9, 75e9, 24e6  # bytes a second from memory, from the caches; bytes of these
_LEVEL_3, _LEVEL_2 = 48e9, 30e9  # operations a second of a blocked reduction, of dsytrd
_CHOLESKY, _SINGLE = 55e9, 95e9  # of factors in double and in single precision
_CALL = 4e-6  # seconds


def lanczos_seconds(n: int, steps: float) -> float:
    """Return what so many steps take on n rows, in seconds on a desk machine."""
    half, basis = 4.0 * n * n, 8.0 * n * steps
    rate = _CACHED if half + basis < _CACHE else _STREAM
    return steps * (5 * _CALL + (half + basis) / rate)


def reduction_seconds(n: int, ridges: int, columns: int) -> float:
    """Return what a reduction of n rows takes, with the solutions of so many ridges and columns."""
    rate = _LEVEL_2 if n < BLOCKED_FROM else _LEVEL_3
    return 4 / 3 * n**3 / rate + ridges * (2 * _CALL + columns * 8 * n * n / _LEVEL_3) + 10 * _CALL


def factor_seconds(n: int, columns: int) -> float:
    """Return what setting up and factoring one kernel system of n rows takes, with the solutions of so many columns."""
    return n**3 / 3 / _CHOLESKY + n * n * (40 / _STREAM + columns * 8 / _LEVEL_3) + 60 * _CALL


def inverse_seconds(n: int) -> float:
    """Return what copying and factoring a matrix of n rows in single precision takes."""
    return n**3 / 3 / _SINGLE + 20 * n * n / _STREAM + 20 * _CALL


def krylov_seconds(n: int, steps: float) -> float:
    """Return what so many steps in a `SharedSpace` of n rows take: each passes seven times over all directions."""
    half, basis = 4.0 * n * n, 28.0 * n * steps
    return steps * (12 * _CALL + (half + basis) / (_CACHED if half + basis < _CACHE else _STREAM))


def preconditioned_seconds(n: int, steps: float) -> float:
    """Return what so many steps take on n rows where a factor in single precision is applied in each."""
    return krylov_seconds(n, steps) + steps * (4.0 * n * n / _STREAM + 10 * _CALL)

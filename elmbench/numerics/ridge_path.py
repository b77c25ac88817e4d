"""Ridge systems with one matrix and many ridges."""

from collections import Counter
from functools import cache

import numpy as np
from scipy.linalg import eigh

from elmbench.numerics.arrays import EPS, Array
from elmbench.numerics.band_reduction import BLOCKED_FROM, BandReduction
from elmbench.numerics.solve import RidgeSystem

WITHIN_ROUND_OFF = 16
"""Up to how many units of round-off of the matrix, in its 1-norm, a ridge is left to a factorisation of its own."""

# Seconds are functions of the sizes alone, never of a clock, so a search uses the same methods on every machine. Rates
# are those of one core of a machine of 2024; only their ratios matter.
STREAM, LEVEL_3, CALL = 27e9, 48e9, 4e-6  # bytes a second from memory; operations a second; seconds of a call
_LEVEL_2, _CHOLESKY = 30e9, 55e9  # operations a second of dsytrd and of factors


def reduction_seconds(n: int, ridges: int, columns: int) -> float:
    """Return the time of one reduction of n rows with the solutions of all ridges and columns."""
    rate = _LEVEL_2 if n < BLOCKED_FROM else LEVEL_3
    return 4 / 3 * n**3 / rate + ridges * (2 * CALL + columns * 8 * n * n / LEVEL_3) + 10 * CALL


def factor_seconds(n: int, columns: int) -> float:
    """Return the time of one kernel system of n rows: set up, factored and solved for all columns."""
    return n**3 / 3 / _CHOLESKY + n * n * (40 / STREAM + columns * 8 / LEVEL_3) + 60 * CALL


def ridge_solutions(
    A: Array, B: Array, ridges: Array, solvers: Counter[str], definite: bool = True, overwrite: bool = False
) -> Array:
    """Return the solutions of (A + r I) Z = B for all ridges r, each of them `RidgeSystem`'s within round-off.

    Ridges that are large compared with the round-off of A share one orthogonal reduction if there are enough of them;
    its backward error is that of a factorisation. The others have separate factorisations; if one breaks down, one set
    of eigenvectors serves all.

    A, of shape (n, n), is symmetric and positive semi-definite, in Fortran order or a view of such a matrix; if it is
    not `definite`, each ridge has its own factorisation. With `overwrite`, A is reduced in place. The p ridges are
    positive. `solvers` counts the method of each ridge: "reduction", "cholesky" or "eigenvalues". B is of shape (n, k),
    the result of shape (n, p * k), the k columns of the first ridge first.
    """
    n, k = B.shape
    solutions = np.empty((n, len(ridges) * k), order="F")
    shared = ridges > WITHIN_ROUND_OFF * EPS * np.abs(A).sum(axis=0).max()
    count = int(shared.sum())
    if definite and count * factor_seconds(n, k) > reduction_seconds(n, count, k):
        solvers["reduction"] += count
        reduced = A if overwrite and shared.all() else np.array(A, order="F")
        solutions[:, np.repeat(shared, k)] = BandReduction(reduced).solve(ridges[shared], B)
    else:
        shared[:] = False

    @cache
    def spectrum() -> tuple[Array, Array]:
        values, vectors = eigh(A, check_finite=False)
        return values, vectors

    for i in np.flatnonzero(~shared):
        system = RidgeSystem(np.array(A, order="F"), float(ridges[i]), spectrum, definite)
        solvers["cholesky" if system.by_cholesky else "eigenvalues"] += 1
        solutions[:, i * k : (i + 1) * k] = system.solve(B)
    return solutions

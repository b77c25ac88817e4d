"""Ridge systems with one matrix and many ridges."""

from collections import Counter
from functools import cache

import numpy as np
from scipy.linalg import eigh

from elmbench.numerics.arrays import EPS, Array
from elmbench.numerics.shifted.band_reduction import BandReduction
from elmbench.numerics.shifted.costs import factor_seconds, reduction_seconds
from elmbench.numerics.solve import RidgeSystem

WITHIN_ROUND_OFF = 16
"""Up to how many units of round-off of the matrix, in its 1-norm, a ridge is left to a factorisation of its own."""


def ridge_solutions(A: Array, B: Array, ridges: Array, solvers: Counter[str], definite: bool = True) -> Array:
    """Return the solutions of (A + r I) Z = B for all ridges r, each of them `RidgeSystem`'s within round-off.

    Ridges that are large compared with the round-off of A share one orthogonal reduction if there are enough of them;
    its backward error is that of a factorisation. The others have separate factorisations; if one breaks down, one set
    of eigenvectors serves all.

    A, of shape (n, n), is symmetric and positive semi-definite, in Fortran order or a view of such a matrix; if it is
    not `definite`, each ridge has its own factorisation. B is of shape (n, k), and the p ridges are positive. `solvers`
    counts the method of each ridge: "reduction", "cholesky" or "eigenvalues". The result is of shape (n, p * k), the k
    columns of the first ridge first.
    """
    n, k = B.shape
    solutions = np.empty((n, len(ridges) * k), order="F")
    shared = ridges > WITHIN_ROUND_OFF * EPS * np.abs(A).sum(axis=0).max()
    count = int(shared.sum())
    if definite and count * factor_seconds(n, k) > reduction_seconds(n, count, k):
        solvers["reduction"] += count
        solutions[:, np.repeat(shared, k)] = BandReduction(np.array(A, order="F")).solve(ridges[shared], B)
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

"""Least squares on kernels of centres: normal equations summed over blocks of rows, solved for all ridges at once."""

from collections import Counter
from collections.abc import Sequence
from functools import cache

import numpy as np
from scipy.linalg import eigh

from elmbench.numerics.arrays import EPS, Array
from elmbench.numerics.centres import CentreKernel, Rows
from elmbench.numerics.lapack import call
from elmbench.numerics.shifted.all_ridges import solve_shifted
from elmbench.numerics.solve import RidgeSystem, mirror

WITHIN_ROUND_OFF = 16
"""Up to how many units of round-off of K'K, in its 1-norm, a ridge is left to a factorisation of its own."""


def normal_equations(
    kernel: CentreKernel, gammas: Sequence[float | Array], X: Rows, T: Array
) -> list[tuple[Array, Array]]:
    """Return K'K and K'T for each of some values of `gamma`, by one pass over the rows.

    No more of K is held than two blocks of rows, see `elmbench.numerics.centres.BLOCK_BYTES`, and a third where there
    are several `gammas`. As the centres of fewer are the first ones of more, the leading blocks of K'K and rows of K'T
    are those of the first centres alone.

    Parameters
    ----------
    kernel : CentreKernel
        With L centres; its `gamma` is not used.
    gammas : sequence of float or ndarray of shape (L,)
    X : ndarray or CSR matrix of shape (n, d)
    T : ndarray of shape (n, k)

    Returns
    -------
    list of (K'K, K'T)
        Of shapes (L, L), symmetric and in Fortran order, and (L, k).
    """
    L, k = len(kernel), T.shape[1]
    sums = [(np.zeros((L, L), order="F"), np.zeros((L, k))) for _ in gammas]
    for rows, i, values in kernel.blocks_of_each(X, gammas):
        gram, moments = sums[i]
        call("dsyrk", "L", "N", L, len(values), 1.0, values.T, L, 1.0, gram, L)
        moments += values.T @ T[rows]
    for gram, _ in sums:
        mirror(gram)
    return sums


def ridge_solutions(gram: Array, moments: Array, ridges: Array, solvers: Counter[str]) -> Array:
    """Return the solutions of (K'K + r I) beta = K'T for all ridges r, each of them `RidgeSystem`'s within round-off.

    Ridges that are large against the round-off of K'K share one orthogonal reduction, see `solve_shifted`, of an error
    like that of a factorisation: some units of round-off of K'K over the ridge, relative to the targets, in the outputs
    for the rows of K. The others are factored one by one; where that breaks down, one set of eigenvectors serves all.

    Parameters
    ----------
    gram, moments : ndarray of shape (L, L), (L, k)
        K'K, columns of doubles or the view of them in a larger matrix, and K'T; left as they are.
    ridges : ndarray of shape (p,)
        Positive.
    solvers : Counter of str
        Counts the way, once a ridge: "reduction", "cholesky" or "eigenvalues".

    Returns
    -------
    ndarray of shape (L, p * k)
        The k columns of the first ridge, then those of the second, ...
    """
    L, k = moments.shape
    solutions = np.empty((L, len(ridges) * k), order="F")
    shared = ridges > WITHIN_ROUND_OFF * EPS * np.abs(gram).sum(axis=0).max()
    if shared.any():
        found = solve_shifted(gram, moments, ridges[shared], np.empty((L, L), order="F"), solvers, try_lanczos=False)
        if found is None:
            shared[:] = False
        else:
            solutions[:, np.repeat(shared, k)] = found

    @cache
    def spectrum() -> tuple[Array, Array]:
        values, vectors = eigh(gram, check_finite=False)
        return values, vectors

    for i in np.flatnonzero(~shared):
        system = RidgeSystem(np.array(gram, order="F"), float(ridges[i]), spectrum)
        solvers["cholesky" if system.by_cholesky else "eigenvalues"] += 1
        solutions[:, i * k : (i + 1) * k] = system.solve(moments)
    return solutions

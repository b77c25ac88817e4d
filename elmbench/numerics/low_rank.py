"""Kernels as products of few columns: the Gaussian one of many rows, and features from values at landmark rows."""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dpstrf, dtrtri

from elmbench.numerics.arrays import EPS, Array
from elmbench.numerics.kernels import kernel_matrix
from elmbench.numerics.lapack import cholesky_condition

ALLOWED = 32
"""Allowed trace of the remainder, in units of round-off of a lower bound of the kernel's norm.

The norm of the remainder is about an eighth of its trace, as large as the backward error of a Cholesky factorisation.
"""

_BLOCK = 64  # columns that are added at once

FLOOR = 1e-12
"""Smaller eigenvalues of a kernel matrix, over its largest diagonal entry, count as so much under the inverse root."""

_SMALLEST = 0.1  # least pivot of a block, relative to its first one: smaller ones would cost digits


def kernel_factor(X: Array, gamma: float, max_rank: int) -> Array | None:
    """Return L with L L' = exp(-gamma d^2) between the rows of `X` within round-off; None if it has too many columns.

    It is a Cholesky factor with pivots, computed a block of columns at a time, which only needs the pivots' columns of
    the kernel. The logarithm of the remaining trace usually falls ever more slowly with the number of columns. So the
    attempt ends when it is above the line to the allowed trace at `max_rank` columns. (Harbrecht, Peters, Schneider,
    On the low-rank approximation by the pivoted Cholesky decomposition, Applied Numerical Mathematics 62(4), 2012.)
    """
    n = len(X)
    L = np.empty((n, max_rank), order="F")
    diagonal, sums, rank = np.ones(n), np.zeros(max_rank), 0
    while True:
        trace = float(diagonal.sum())
        allowed = ALLOWED * EPS * max(1.0, float(sums @ sums) / n)
        if trace <= allowed:
            return L[:, :rank]
        if rank == max_rank or math.log(n / trace) < rank / max_rank * math.log(n / allowed):
            return None
        pivots, C, K = _next_pivots(X, gamma, L[:, :rank], diagonal, min(_BLOCK, max_rank - rank))
        K -= L[:, :rank] @ L[pivots, :rank].T
        columns = slice(rank, rank + len(pivots))
        L[:, columns] = dtrsm(1.0, C, K, side=1, lower=1, trans_a=1)
        diagonal -= np.einsum("ij,ij->i", L[:, columns], L[:, columns])
        diagonal[pivots] = 0.0
        np.maximum(diagonal, 0.0, out=diagonal)
        sums[columns] = L[:, columns].sum(axis=0)
        rank += len(pivots)


def _next_pivots(X: Array, gamma: float, L: Array, diagonal: Array, size: int) -> tuple[NDArray[np.intp], Array, Array]:
    """Return at most `size` rows with the largest residual diagonal, the factor of their residual, and their kernel."""
    count = min(2 * size, len(X))
    rows = np.argpartition(diagonal, -count)[-count:]
    K = kernel_matrix(X[rows], X, gamma=gamma).T
    C, order, rank, _ = dpstrf(K[rows] - L[rows] @ L[rows].T, lower=1, tol=_SMALLEST * diagonal.max())
    pivots = order[: min(rank, size)] - 1
    return rows[pivots], C[: len(pivots), : len(pivots)], K[:, pivots]


def landmark_map(K: Array) -> Array:
    """Return the map M, (h, r), of features k(x)'M for the kernel matrix K of landmarks and the kernel k(x) with a row.

    They are K^(-1/2) k(x) up to a rotation, which changes neither projections nor covariance estimates that shrink
    towards a multiple of the identity. K is overwritten. It is factored by Cholesky with pivots, to its numerical rank
    r, which is 0 if its diagonal is not positive. Its eigenvalues are those of a matrix of the size of the rank; they
    are only computed if one of them may be less than `FLOOR` of the largest entry of the diagonal. (Czarnecki and
    Tabor, section 3 and Algorithm 2.)
    """
    largest = float(K.diagonal().max())
    if not largest > 0:
        return np.zeros((len(K), 0))
    tolerance, floor = len(K) * EPS * largest, FLOOR * largest
    factor, pivots, rank, _ = dpstrf(np.asfortranarray(K), tol=tolerance, lower=1, overwrite_a=1)
    factor = np.tril(factor[:, :rank])
    leading = np.asfortranarray(factor[:rank])
    inverse, _ = dtrtri(leading, lower=1)
    result = np.zeros((len(K), rank), order="F")
    result[pivots[:rank] - 1] = inverse.T
    # The eigenvalues of K are those of L'L for its factor L, which are at least those of L1'L1 for the leading rows L1
    # of L, and these at least the reciprocal of the 1-norm of (L1 L1')^-1, which is estimated here.
    if not 1.0 / cholesky_condition(leading, 1.0) > 10 * floor:
        values, vectors = eigh(factor.T @ factor, check_finite=False)
        result = result @ (vectors * np.sqrt(np.clip(values, 0.0, floor) / floor))
    return result

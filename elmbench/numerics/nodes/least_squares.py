"""Least squares in the leading columns of one matrix, for many numbers of columns."""

from collections.abc import Iterator

import numpy as np
from scipy.linalg.lapack import dgeqrf, dormqr, dtrcon, dtrtrs

from elmbench.numerics.arrays import Array


def leading_solutions(H: Array, T: Array, sizes: list[int], cutoff: float) -> Iterator[tuple[int, Array, float]]:
    """Yield the least-squares solution of least norm, the pseudo-inverse times `T`, for each number of leading columns.

    Up to as many columns as rows, one QR decomposition serves all: the pseudo-inverse of l columns is that of the
    leading triangle of R, times the leading rows of Q'T. For more columns than rows, the transposed matrix is
    decomposed for each number. The triangle is solved by substitution, unless its condition shows that a singular value
    is below the cutoff.

    H and T are of shape (n, w) and (n, k); H is overwritten if it is in Fortran order. `sizes` ascend. Singular values
    up to `cutoff` times the largest one count as zero. Yields size, solution, of shape (size, k), and the condition of
    the inverted matrix, infinite if there is none.
    """
    tall = [size for size in sizes if size <= len(H)]
    for size in sizes:
        if size > len(H):
            yield size, *_wide_solution(H[:, :size], T, cutoff)  # before any column is overwritten
    if tall:
        reflectors, tau = _qr(H[:, : tall[-1]], overwrite=True)
        rotated, _, _ = dormqr("L", "T", reflectors, tau, T, lwork=_workspace(T.shape[1]))
        for size in tall:
            yield size, *_pseudo_solve(np.triu(reflectors[:size, :size]), rotated[:size], cutoff)


def _wide_solution(H: Array, T: Array, cutoff: float) -> tuple[Array, float]:
    """Solve H Z = T with more columns than rows: H' = QR, Z = Q R'^+ T."""
    n = len(H)
    reflectors, tau = _qr(H.T)
    rotated = np.zeros((H.shape[1], T.shape[1]), order="F")
    rotated[:n], condition = _pseudo_solve(np.triu(reflectors[:n]), T, cutoff, transposed=True)
    solution, _, _ = dormqr("L", "N", reflectors, tau, rotated, lwork=_workspace(T.shape[1]))
    return solution, condition


def _pseudo_solve(R: Array, B: Array, cutoff: float, *, transposed: bool = False) -> tuple[Array, float]:
    """Return the pseudo-inverse of R, or of R', times B, and the condition of the inverted matrix."""
    reciprocal, _ = dtrcon(R)
    # The condition in the 2-norm is at most the number of columns times that in the 1-norm.
    if reciprocal > len(R) * cutoff:
        solution, _ = dtrtrs(R, B, trans=int(transposed))
        return solution, 1.0 / reciprocal
    U, values, V = np.linalg.svd(R.T if transposed else R)
    rank = int((values > cutoff * values[0]).sum())
    if rank == 0:
        return np.zeros_like(B), np.inf
    solution = V[:rank].T @ ((U[:, :rank].T @ B) / values[:rank, np.newaxis])
    return solution, float(values[0] / values[rank - 1])


def _qr(A: Array, *, overwrite: bool = False) -> tuple[Array, Array]:
    """Return the reflectors of A = QR, below R, and their factors."""
    reflectors, tau, _, _ = dgeqrf(A, lwork=_workspace(A.shape[1]), overwrite_a=overwrite)
    return reflectors, tau


def _workspace(columns: int) -> int:
    """Return the workspace of LAPACK for blocks of 64 reflectors, the largest that it uses."""
    return 64 * (columns + 65)

"""Least squares in the leading columns of one matrix, for many numbers of columns."""

from collections.abc import Iterator

import numpy as np
from scipy.linalg.lapack import dgeqrf, dormqr, dtrcon, dtrtrs

from elmbench.numerics.arrays import Array
from elmbench.numerics.nodes.hidden_layer import TILE


def leading_solutions(H: Array, T: Array, sizes: list[int], cutoff: float) -> Iterator[tuple[int, Array, float]]:
    """Yield the least-squares solution of least norm, the pseudo-inverse times `T`, for each number of leading columns.

    Up to as many columns as rows, all come from one QR decomposition, made panel by panel: the pseudo-inverse of l
    columns is that of the leading triangle of R, times the leading rows of Q'T. More columns than rows are decomposed
    transposed, each number of them for itself. Where its condition says that no singular value of the triangle falls
    below the cutoff, it is solved by substitution, else by its singular values. A solution is the same to the last bit
    whatever other sizes are asked for with it.

    Parameters
    ----------
    H, T : ndarray of shape (n, w), (n, k)
        H is in Fortran order, with columns of zeros up to whole tiles, as hidden layers are returned. Overwritten.
    sizes : list of int
        Ascending numbers of columns.
    cutoff : float
        Singular values up to so many times the largest one count as zero.

    Yields
    ------
    size, solution, condition
        The solution is of shape (size, k). The condition is that of what was inverted: as LAPACK's trcon estimates it,
        or the largest singular value over the smallest one that was kept; infinite if none was.
    """
    tall = [size for size in sizes if size <= len(H)]
    for size in sizes:
        if size > len(H):
            yield size, *_wide_solution(H[:, :size], T, cutoff)  # before any column is overwritten
    if tall:
        decomposition = _PanelQR(H, T)
        for size in tall:
            yield size, *_solved(*decomposition.triangle(size), cutoff)


def _wide_solution(H: Array, T: Array, cutoff: float) -> tuple[Array, float]:
    """Solve H Z = T with more columns than rows: H' = QR, Z = Q R'^+ T."""
    n = len(H)
    reflectors, tau, _, _ = dgeqrf(H.T)
    rotated = np.zeros((H.shape[1], T.shape[1]), order="F")
    rotated[:n], condition = _solved(np.triu(reflectors[:n]), T, cutoff, transposed=True)
    solution, _, _ = dormqr("L", "N", reflectors, tau, rotated, lwork=_workspace(T.shape[1]))
    return solution, condition


def _solved(R: Array, B: Array, cutoff: float, *, transposed: bool = False) -> tuple[Array, float]:
    """Return the pseudo-inverse of R, or of R', times B, and the condition of what was inverted."""
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


class _PanelQR:
    """The decomposition of columns that are taken in one panel after another, each in the same shape at any width."""

    def __init__(self, H: Array, T: Array) -> None:
        self._H = H
        self._R = np.zeros((H.shape[1], H.shape[1]), order="F")
        self._targets = np.array(T, order="F")
        self._scales: list[Array] = []

    def triangle(self, size: int) -> tuple[Array, Array]:
        """Return the leading triangle of R and rows of Q'T; sizes must ascend."""
        while (len(self._scales) + 1) * TILE <= size:
            start = len(self._scales) * TILE
            panel, tau = self._decomposed(start, TILE)
            self._scales.append(tau)
            self._H[start:, start : start + TILE] = panel
            self._targets[start:] = _rotated(panel, tau, self._targets[start:])
        targets = self._targets
        start = len(self._scales) * TILE
        if start < size:
            panel, tau = self._decomposed(start, size - start)
            targets = np.vstack([targets[:start], _rotated(panel, tau, targets[start:])])
        return self._R[:size, :size].copy(order="F"), targets[:size]

    def _decomposed(self, start: int, width: int) -> tuple[Array, Array]:
        """Return the reflectors of the next panel, of which so many columns count, and put its part of R in place."""
        panel = np.array(self._H[:, start : start + TILE], order="F")
        panel[:, width:] = 0.0
        for i, tau in enumerate(self._scales):
            top = i * TILE
            panel[top:] = _rotated(self._H[top:, top : top + TILE], tau, panel[top:])
        reflectors, tau, _, _ = dgeqrf(panel[start:])
        panel[start:] = np.triu(reflectors)
        rows = min(start + TILE, len(panel))
        self._R[:rows, start : start + TILE] = panel[:rows]
        return reflectors, tau


def _rotated(reflectors: Array, tau: Array, A: Array) -> Array:
    """Return Q'A for the reflectors of a panel."""
    product, _, _ = dormqr("L", "T", reflectors[:, : len(tau)], tau, A, lwork=_workspace(A.shape[1]))
    return product


def _workspace(columns: int) -> int:
    """Return the workspace of dormqr for blocks of 64 reflectors, which is the most that LAPACK takes."""
    return 64 * (columns + 65)

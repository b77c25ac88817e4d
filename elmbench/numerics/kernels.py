"""Squared distances and kernel matrices, in row blocks that need no temporary of the size of the
result.
"""

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dpstrf
from sklearn.utils import gen_batches
from sklearn.utils.extmath import row_norms

from elmbench.numerics.arrays import EPS, Array, Rows
from elmbench.numerics.solve import mirror

# most times in a row that a Gaussian kernel is squared instead of computed, see `kernel_ladder`
SQUARINGS = 3
# most rows whose distances are kept, to compute further kernels from them: 32 MB
DISTANCES_UP_TO = 2048
_ZERO_BELOW = -746.0  # exponents whose exponential is zero in double precision
# Size of the temporaries of this module, in bytes (one row is the least).
BLOCK_BYTES = 8 * 2**20


def row_blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Return the slices that cut `n_rows` rows into blocks of about `BLOCK_BYTES`.

    `n_columns`: the number of floats in a row.
    """
    return gen_batches(n_rows, max(1, BLOCK_BYTES // (8 * max(1, n_columns))))


def squared_norms(X: Rows) -> Array:
    """Return the squared norms of rows, dense or CSR, of shape (n,).

    Duplicate entries of a CSR matrix are added up first.
    """
    if sp.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return np.asarray(row_norms(X, squared=True))


def inner_products(X: Rows, centres: Rows) -> Array:
    """Return the inner products of the rows of `X` and of `centres`, dense of shape (n, L).

    Either may be sparse, and is then not made dense.
    """
    if sp.issparse(X):
        if sp.issparse(centres):
            # The product is sparse.
            products = X @ centres.T
            return np.asarray(products.toarray(order="C"))
        transposed = np.ascontiguousarray(centres.T)
        return np.asarray(X @ transposed)
    if sp.issparse(centres):
        by_centre = centres @ X.T
        return np.ascontiguousarray(by_centre.T)
    return np.ascontiguousarray(X @ centres.T)


def sparse_distances(X: Rows, centres: Rows) -> Array:
    """Return the squared distances between rows of which some are sparse, none negative.

    The result is dense, of shape (n, L) for n rows of `X` and L `centres`. Rows are not centred,
    which would make them dense, so a common offset costs digits.
    """
    # |x|^2 + |c|^2 - 2 x.c, with the products written over by the distances.
    norms = squared_norms(X)
    centre_norms = squared_norms(centres)
    distances = inner_products(X, centres)
    distances *= -2.0
    distances += norms[:, np.newaxis]
    distances += centre_norms
    # Round-off may make a zero negative.
    return np.maximum(distances, 0.0, out=distances)


def rbf_from_distances(
    distances: Array, gamma: float | Array, out: Array | None = None
) -> Array:
    """Return exp(-gamma d^2), entry by entry, for squared distances of any shape.

    The result is written to `out`, by default over the distances. `gamma` may be an array that
    broadcasts to the distances, such as one number for each column.
    """
    target = distances if out is None else out
    exponents = np.multiply(distances, -gamma, out=target)
    smallest = exponents.min(initial=0.0)
    if not smallest < _ZERO_BELOW:
        return np.exp(exponents, out=exponents)
    # exp takes five times as long for a zero as for other results.
    is_zero = exponents < _ZERO_BELOW
    np.exp(exponents, out=exponents, where=~is_zero)
    np.copyto(exponents, 0.0, where=is_zero)
    return exponents


def squared_distances(
    X: Array, Y: Array | None = None, *, out: Array | None = None
) -> Array:
    """Return the squared Euclidean distances between the rows of `X` and `Y`, none negative.

    They are of shape (n, m). The mean of `Y` is subtracted from both, so that a common offset of
    the data costs no digits: the error is of the order of the machine precision times the largest
    centred norm. Without `Y`, which then is `X` itself, the result is exactly symmetric, with a
    zero diagonal. It is written to `out`, in C or Fortran order, if given.
    """
    return _transform_distances(X, Y, out, lambda block: block)


def kernel_matrix(
    X: Array, Y: Array | None = None, *, gamma: float, out: Array | None = None
) -> Array:
    """Return the Gaussian kernel exp(-gamma d^2) between the n rows of `X` and the m rows of `Y`.

    Without `Y`, which then is `X` itself, it is exactly symmetric, with ones on the diagonal. The
    result, of shape (n, m), is written to `out`, in C or Fortran order, if given; no other array of
    its size is allocated.
    """
    return _transform_distances(
        X, Y, out, lambda block: rbf_from_distances(block, gamma)
    )


def kernel_ladder(X: Array, gammas: list[float]) -> Iterator[tuple[float, Array]]:
    """Yield each of the positive `gammas`, once and ascending, with the Gaussian kernel matrix of
    the rows of `X`.

    The kernel of twice a gamma is its square, entry by entry: a tenth of the work. Squaring doubles
    the relative error of an entry, so after `SQUARINGS` times in a row, with an error below 2e-15,
    the kernel is recomputed. The matrix, in Fortran order and exactly symmetric, is overwritten by
    the next one and must not be changed.
    """
    n = len(X)
    matrix = np.empty((n, n), order="F")
    ascending = sorted(set(gammas))
    holds_distances = n <= DISTANCES_UP_TO and len(ascending) > 1 + SQUARINGS
    distances = None
    if holds_distances:
        distances = squared_distances(X, out=np.empty_like(matrix))
    last = 0.0
    squarings = 0
    for gamma in ascending:
        times = 0
        if last > 0:
            times = round(math.log2(gamma) - math.log2(last))
        is_near = 0 < times <= SQUARINGS - squarings
        if is_near and gamma == 2.0**times * last:
            _square(matrix, times)
            squarings += times
        else:
            if distances is None:
                kernel_matrix(X, gamma=gamma, out=matrix)
            else:
                rbf_from_distances(distances, gamma, out=matrix)
            squarings = 0
        last = gamma
        yield gamma, matrix


def _square(matrix: Array, times: int) -> None:
    """Square the entries of a square matrix `times` times, in place and in blocks."""
    n = len(matrix)
    for columns in row_blocks(n, n):
        block = matrix[:, columns]
        for _ in range(times):
            np.multiply(block, block, out=block)


def _transform_distances(
    X: Array, Y: Array | None, out: Array | None, transform: Callable[[Array], Array]
) -> Array:
    """Return transformed squared distances between the n rows of `X` and the m rows of `Y`.

    `transform`: replaces a block of squared distances by its values, in place. The result, of shape
    (n, m), is written to `out`, if given. Without `Y`, which then is `X` itself, each pair is
    computed once, and the result is exactly symmetric.
    """
    is_symmetric = Y is None
    Y = X if Y is None else Y
    n = len(X)
    m = len(Y)
    out = np.empty((n, m)) if out is None else out
    centre = Y.mean(axis=0)
    centred = Y - centre
    norms = squared_norms(centred)
    for rows in row_blocks(n, m):
        part = centred[rows] if is_symmetric else X[rows] - centre
        stop = rows.stop if is_symmetric else m
        # |x|^2 + |y|^2 - 2 x.y.
        part_norms = squared_norms(part)
        block = (-2.0 * part) @ centred[:stop].T
        block += part_norms[:, np.newaxis]
        block += norms[:stop]
        np.maximum(block, 0.0, out=block)
        if is_symmetric:
            square = block[:, rows.start :]
            np.fill_diagonal(square, 0.0)
            # The product of a block with itself need not be symmetric to the last bit.
            mirror(square)
            transform(block)
            beside = block[:, : rows.start]
            out[: rows.start, rows] = beside.T
        else:
            transform(block)
        out[rows, :stop] = block
    return out


ALLOWED = 32
"""Allowed trace of the remainder, in units of round-off of a lower bound of the kernel's norm.

The norm of the remainder is about an eighth of its trace, as large as the backward error of a
Cholesky factorisation.
"""

_BLOCK = 64  # columns that are added at once
_SMALLEST = 0.1  # least pivot of a block, relative to its first one: smaller ones would cost digits


def kernel_factor(X: Array, gamma: float, max_rank: int) -> Array | None:
    """Return L with L L' = exp(-gamma d^2) between the rows of `X` within round-off.

    L is of shape (n, rank). The result is None if it has, or will probably have, more than
    `max_rank` columns.

    It is a Cholesky factor with pivots, computed a block of columns at a time, which only needs the
    pivots' columns of the kernel. The logarithm of the remaining trace usually falls ever more
    slowly with the number of columns. So the attempt ends when it is above the line to the allowed
    trace at `max_rank` columns. (Harbrecht, Peters, Schneider, On the low-rank approximation by the
    pivoted Cholesky decomposition, Applied Numerical Mathematics 62(4), 2012.)
    """
    n = len(X)
    L = np.empty((n, max_rank), order="F")
    diagonal = np.ones(n)  # of the remainder K - L L'
    sums = np.zeros(max_rank)
    rank = 0
    while True:
        # 1'L L'1 / n is a lower bound of the norm of K.
        trace = float(diagonal.sum())
        norm = float(sums @ sums) / n
        allowed = ALLOWED * EPS * max(1.0, norm)
        if trace <= allowed:
            return L[:, :rank]
        if rank == max_rank:
            return None
        fall = math.log(n / trace)
        least_fall = rank / max_rank * math.log(n / allowed)
        if fall < least_fall:
            return None
        # The columns of the next pivots.
        size = min(_BLOCK, max_rank - rank)
        known = L[:, :rank]
        chosen = _next_pivots(X, gamma, known, diagonal, size)
        pivots = chosen.rows
        residual = chosen.kernel
        residual -= known @ L[pivots, :rank].T
        stop = rank + len(pivots)
        columns = L[:, rank:stop]
        columns[:] = dtrsm(1.0, chosen.factor, residual, side=1, lower=1, trans_a=1)
        # The remainder without them.
        diagonal -= np.einsum("ij,ij->i", columns, columns)
        diagonal[pivots] = 0.0
        np.maximum(diagonal, 0.0, out=diagonal)
        sums[rank:stop] = columns.sum(axis=0)
        rank = stop


class _Pivots(NamedTuple):
    """The rows whose columns of the kernel come next in the factor L.

    Attributes
    ----------
    rows : ndarray of shape (k,)
        Their numbers.
    factor : ndarray of shape (k, k)
        The Cholesky factor of their part of the residual K - L L'.
    kernel : ndarray of shape (n, k)
        Their columns of the kernel.
    """

    rows: NDArray[np.intp]
    factor: Array
    kernel: Array


def _next_pivots(
    X: Array, gamma: float, L: Array, diagonal: Array, size: int
) -> _Pivots:
    """Choose at most `size` rows with the largest diagonal of the residual K - L L'.

    `L`: the columns of the factor so far, of shape (n, rank). `diagonal`: of the residual, of shape
    (n,). The pivoted Cholesky factor of twice as many rows orders them. Fewer are chosen if the
    further pivots are below a tenth of the largest one.
    """
    n_candidates = min(2 * size, len(X))
    ascending = np.argpartition(diagonal, -n_candidates)
    candidates = ascending[-n_candidates:]
    kernel = kernel_matrix(X[candidates], X, gamma=gamma).T
    # K - L L' between the candidates.
    known = L[candidates] @ L[candidates].T
    residual = kernel[candidates] - known
    smallest = _SMALLEST * diagonal.max()
    factor, order, rank, _ = dpstrf(residual, lower=1, tol=smallest)
    # The leading ones of them, which LAPACK counts from 1.
    n_pivots = min(rank, size)
    pivots = order[:n_pivots] - 1
    leading = factor[:n_pivots, :n_pivots]
    return _Pivots(
        rows=candidates[pivots],
        factor=leading,
        kernel=kernel[:, pivots],
    )

"""Kernels between rows, dense or sparse, and a few centres, a block of rows at a time."""

from collections.abc import Iterator, Sequence

import numpy as np
import scipy.sparse as sp
from sklearn.utils import gen_batches

from elmbench.numerics.arrays import Array, Rows
from elmbench.numerics.lapack import add_gram
from elmbench.numerics.pairwise import GEOMETRIES, Kernel
from elmbench.numerics.rows import scaled_rows
from elmbench.numerics.solve import mirror

BLOCK_BYTES = 16 * 2**20
"""Size of a block of kernel values, in bytes (one row is the least); two are held while one follows the other."""

DENSE_CENTRES_BYTES = 2**28  # largest dense copy of sparse centres
DENSE_SHARE = 0.02  # share of entries from which products with a dense copy are faster


def kernel_blocks(
    kernel: Kernel, X: Rows, centres: Rows, gammas: Sequence[float | Array]
) -> Iterator[tuple[slice, int, Array]]:
    """Yield the kernel between rows and centres for each `gamma`: a slice of rows, the number of the gamma, the values.

    Values are new arrays, of shape (length of the slice, L). Distances or products are computed once for all `gammas`,
    which may be arrays of shape (L,) for a kernel of `OF_DISTANCES`. Centres of a precomputed kernel are numbers.
    """
    kernels = [kernel.with_gamma(gamma) for gamma in gammas]
    geometry_of = GEOMETRIES.get(kernel.geometry)
    fast_centres = _fast_centres(X, centres) if geometry_of else centres
    for rows in centre_blocks(X, centres.shape[0]):
        if geometry_of is None:
            yield from ((rows, i, each.matrix(X[rows], centres)) for i, each in enumerate(kernels))
            continue
        geometry = geometry_of(X[rows], fast_centres)
        yield from ((rows, i, each.evaluate(geometry.copy())) for i, each in enumerate(kernels[:-1]))
        yield rows, len(kernels) - 1, kernels[-1].evaluate(geometry)


def kernel_product(kernel: Kernel, X: Rows, centres: Rows, Z: Array) -> Array:
    """Return the kernel between rows and centres times `Z`, of shape (L, k): an array of shape (n, k)."""
    product = np.empty((X.shape[0], Z.shape[1]))
    for rows, _, values in kernel_blocks(kernel, X, centres, [kernel.gamma]):
        product[rows] = values @ Z
    return product


def normal_equations(
    kernel: Kernel,
    X: Rows,
    centres: Rows,
    gammas: Sequence[float | Array],
    T: Array,
    scale: Array | None = None,
) -> list[tuple[Array, Array]]:
    """Return K'K, in Fortran order, and K'T for each of some values of `gamma`, from one pass over the rows.

    Memory holds two blocks of rows of K, or three with several `gammas`. The leading blocks of K'K and rows of K'T are
    those of the first centres alone. `scale` multiplies the rows of K and T: the square roots of their weights.
    """
    L, k = centres.shape[0], T.shape[1]
    sums = [(np.zeros((L, L), order="F"), np.zeros((L, k))) for _ in gammas]
    T = scaled_rows(T, scale)
    for rows, i, values in kernel_blocks(kernel, X, centres, gammas):
        gram, moments = sums[i]
        if scale is not None:
            values *= scale[rows, np.newaxis]
        add_gram(gram, values)
        moments += values.T @ T[rows]
    for gram, _ in sums:
        mirror(gram)
    return sums


def centre_blocks(X: Rows, n_centres: int) -> Iterator[slice]:
    """Return the slices that cut the rows of `X` into blocks of about `BLOCK_BYTES`, and their values too."""
    n_rows, width = X.shape
    if sp.issparse(X):
        width = 3 * X.nnz // (2 * max(1, n_rows))  # an entry has an index too
    return gen_batches(n_rows, max(1, BLOCK_BYTES // (8 * max(1, n_centres, width))))


def _fast_centres(X: Rows, centres: Rows) -> Rows:
    """Return centres in a form with fast products with many rows: for sparse rows, Fortran order.

    Sparse centres are made dense if at least `DENSE_SHARE` of their entries are not zero.
    """
    if not sp.issparse(X):
        return centres
    if not sp.issparse(centres):
        return np.asfortranarray(centres)
    n_entries = centres.shape[0] * centres.shape[1]
    is_dense = centres.nnz >= DENSE_SHARE * n_entries and 8 * n_entries <= DENSE_CENTRES_BYTES
    return centres.toarray(order="F") if is_dense else centres

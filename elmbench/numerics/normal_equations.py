"""Least squares on kernels of centres: normal equations summed over blocks of rows."""

from collections.abc import Sequence

import numpy as np

from elmbench.numerics.arrays import Array
from elmbench.numerics.centres import CentreKernel
from elmbench.numerics.lapack import add_gram
from elmbench.numerics.rows import Rows, scaled_rows
from elmbench.numerics.solve import mirror


def normal_equations(
    kernel: CentreKernel, gammas: Sequence[float | Array], X: Rows, T: Array, scale: Array | None = None
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
    scale : ndarray of shape (n,), optional
        What the rows of K and of T are multiplied by: the square roots of their weights.

    Returns
    -------
    list of (K'K, K'T)
        Of shapes (L, L), symmetric and in Fortran order, and (L, k).
    """
    L, k = len(kernel), T.shape[1]
    sums = [(np.zeros((L, L), order="F"), np.zeros((L, k))) for _ in gammas]
    T = scaled_rows(T, scale)
    for rows, i, values in kernel.blocks_of_each(X, gammas):
        gram, moments = sums[i]
        if scale is not None:
            values *= scale[rows, np.newaxis]
        add_gram(gram, values)
        moments += values.T @ T[rows]
    for gram, _ in sums:
        mirror(gram)
    return sums

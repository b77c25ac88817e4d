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
    """Return K'K and K'T for each of some values of `gamma`, from one pass over the rows.

    Memory holds two blocks of rows of K, or three with several `gammas`. The leading blocks of K'K and rows of K'T are
    those of the first centres alone.

    `kernel` has L centres; each gamma is a number or an array of shape (L,). X is of shape (n, d), dense or CSR, T of
    shape (n, k). `scale`, of shape (n,), multiplies the rows of K and T: the square roots of their weights. K'K is
    symmetric and in Fortran order.
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

"""Parts of several loops, and arrays in the form of the loops."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, DTypeLike, NDArray

from elmbench.numerics.arrays import Array, Rows

Numbers = NDArray[np.int64]

#: Status of a loop that has learnt all rows.
DONE = 0

#: Status of a loop whose arrays are too small for the next row.
GROW = 1

#: Status of a loop that found too much round-off.
DRIFT = 2


class SparseRows(NamedTuple):
    """Rows in CSR form: the arrays of scipy's `csr_matrix`, without duplicate features and with
    64-bit indices.
    """

    indptr: Numbers
    indices: Numbers
    data: Array


class SparseRow(NamedTuple):
    """The features of a row that are not zero.

    Attributes
    ----------
    features : ndarray of shape (n_nonzero,)
        Their numbers.
    values : ndarray of shape (n_nonzero,)
    """

    features: Numbers
    values: Array


def row_of(t: int, rows: SparseRows) -> SparseRow:
    """Return the features of row `t` that are stored, and their values, as views of the arrays."""
    start = rows.indptr[t]
    stop = rows.indptr[t + 1]
    return SparseRow(rows.indices[start:stop], rows.data[start:stop])


def loop_array(array: ArrayLike, dtype: DTypeLike | None = np.float64) -> np.ndarray:
    """Return the array in C order and writable, as the loops are compiled for.

    It is copied only if needed: an array of a model that was loaded with a memory map is read-only.
    `dtype`: None for that of the array.
    """
    return np.require(array, dtype, ["C", "W"])


def sparse_rows(X: Rows) -> SparseRows:
    """Return rows, dense or CSR, as writable CSR arrays with 64-bit indices.

    Entries are sorted and duplicates added up, also in the arrays of a CSR matrix `X` itself.
    """
    rows = sp.csr_matrix(X)
    rows.sum_duplicates()
    return SparseRows(
        indptr=loop_array(rows.indptr, np.int64),
        indices=loop_array(rows.indices, np.int64),
        data=loop_array(rows.data),
    )


def enlarge(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return a larger array that begins with the values of `array` and is zero elsewhere."""
    larger = np.zeros(shape, array.dtype)
    larger[tuple(slice(n) for n in array.shape)] = array
    return larger


def inner(a: Array, b: Array, m: int) -> float:
    """Return the inner product of the first `m` entries of two vectors."""
    total = 0.0
    for s in range(m):
        total += a[s] * b[s]
    return total


def solve_lower(factor: Array, m: int, w: Array) -> None:
    """Replace the first `m` entries of w by the solution of L x = w for a lower triangular L.

    `factor`: L + L' with its diagonal once, so that this and `solve_upper` run along rows.
    """
    for j in range(0, m - 1, 2):
        k = j + 1
        row = factor[j]
        following = factor[k]
        # The next two entries of the solution.
        beside = row[k]
        w_0 = w[j] / row[j]
        remainder = w[k] - beside * w_0
        w_1 = remainder / following[k]
        w[j] = w_0
        w[k] = w_1
        # Their share of the later equations.
        start = k + 1
        # Slices, because numba vectorises loops from 0.
        below = row[start:m]
        next_below = following[start:m]
        rest = w[start:m]
        for s in range(len(rest)):
            remainder = rest[s] - below[s] * w_0
            rest[s] = remainder - next_below[s] * w_1
    if m % 2 == 1:
        last = m - 1
        w[last] /= factor[last, last]


def solve_upper(factor: Array, m: int, a: Array) -> None:
    """Replace the first `m` entries of a by the solution of L' x = a for a lower triangular L.

    `factor`: L + L' with its diagonal once, as for `solve_lower`.
    """
    for j in range(m - 1, 0, -2):
        k = j - 1
        row = factor[j]
        above = factor[k]
        # The next two entries of the solution.
        beside = row[k]
        a_0 = a[j] / row[j]
        remainder = a[k] - beside * a_0
        a_1 = remainder / above[k]
        a[j] = a_0
        a[k] = a_1
        # Their share of the other equations.
        for s in range(k):
            remainder = a[s] - row[s] * a_0
            a[s] = remainder - above[s] * a_1
    if m % 2 == 1:
        a[0] /= factor[0, 0]

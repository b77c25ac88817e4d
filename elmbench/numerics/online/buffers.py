"""Rows in the form of the compiled loops, and arrays that grow."""

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, DTypeLike

from elmbench.numerics.centres import Rows
from elmbench.numerics.online.budget_loop import SparseRows


def loop_array(array: ArrayLike, dtype: DTypeLike = np.float64) -> np.ndarray:
    """Return the array in the form that the loops are compiled for, C-ordered and writable, copied only if needed."""
    return np.require(array, dtype, ["C", "W"])


def sparse_rows(X: Rows) -> SparseRows:
    """Return rows, dense or CSR, in the form of the loops."""
    rows = sp.csr_matrix(X)
    rows.sum_duplicates()
    return SparseRows(loop_array(rows.indptr, np.int64), loop_array(rows.indices, np.int64), loop_array(rows.data))


def enlarged(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return an array of a larger shape that begins with the values of `array` and is zero elsewhere."""
    larger = np.zeros(shape, array.dtype)
    larger[tuple(slice(n) for n in array.shape)] = array
    return larger

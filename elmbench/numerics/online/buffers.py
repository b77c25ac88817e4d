"""Rows in the form that the compiled loops take, and arrays that grow."""

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, DTypeLike

from elmbench.numerics.centres import Rows
from elmbench.numerics.online.budget_loop import SparseRows


def loop_array(array: ArrayLike, dtype: DTypeLike = np.float64) -> np.ndarray:
    """Return the array as the loops were compiled for it: C-ordered and writable, a copy only if needed."""
    return np.require(array, dtype, ["C", "W"])


def sparse_rows(X: Rows) -> SparseRows:
    """Return rows, dense or CSR, in the form that the loops take."""
    rows = sp.csr_matrix(X)
    rows.sum_duplicates()
    return SparseRows(loop_array(rows.indptr, np.int64), loop_array(rows.indices, np.int64), loop_array(rows.data))


def enlarged(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return an array of a larger shape with the values of `array` in its first places, else zeros."""
    larger = np.zeros(shape, array.dtype)
    larger[tuple(slice(n) for n in array.shape)] = array
    return larger

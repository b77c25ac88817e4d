"""What the states of stochastic gradient descent share: rows as their loops take them, arrays that grow."""

import numpy as np
import scipy.sparse as sp

from elmbench.numerics.arrays import Array
from elmbench.numerics.centres import Rows
from elmbench.numerics.online.budget_loop import Numbers


def csr_parts(X: Rows) -> tuple[Numbers, Numbers, Array]:
    """Return `indptr`, `indices` and `data` of rows, dense or CSR, in which no feature of a row stands twice."""
    rows = sp.csr_matrix(X)
    rows.sum_duplicates()
    data = np.require(rows.data, np.float64, ["C", "W"])
    return rows.indptr.astype(np.int64), rows.indices.astype(np.int64), data


def enlarged(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return an array of a larger shape with the values of `array` in its first places, else zeros."""
    larger = np.zeros(shape, array.dtype)
    larger[tuple(slice(n) for n in array.shape)] = array
    return larger

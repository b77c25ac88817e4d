"""The Gaussian kernel matrix as LIBSVM sees it, so that a machine trained on the matrix is the one trained on the rows.

LIBSVM keeps its kernel values in single precision. Values from other arithmetic, a few units of double precision away,
round to the same, but for the one in some ten million that lies next to the middle between two single numbers.
"""

import math

import numpy as np
from scipy.linalg.blas import ddot

from elmbench.numerics.arrays import EPS, Array
from elmbench.numerics.kernels import rbf_from_distances, row_blocks


def libsvm_kernel(X: Array, distances: Array, gamma: float, out: Array) -> Array:
    """Return the kernel of all pairs of rows, which in single precision is what LIBSVM computes from the rows.

    Where the two could round differently by the bounds of their errors, the value is computed as LIBSVM (Chang and Lin,
    ACM TIST 2(3), 2011) does: exp(-gamma (x.x + y.y - 2 x.y)), with the same dot products of BLAS. X, of shape (n, d),
    is in C order; `distances` are those that `squared_distances` returns for it. `out`, of shape (n, n), is written and
    returned: exactly symmetric, with ones on the diagonal.
    """
    np.copyto(out, distances)
    rbf_from_distances(out, gamma)
    squares = np.array([ddot(row, row) for row in X])
    # Of either way, a sum of d products has an error of d/2 eps times the squares, and there are three of them; of exp
    # and of what it is given, a few eps.
    error = gamma * 8 * (X.shape[1] + 2) * EPS * float(squares.max()) + 8 * EPS
    for rows in row_blocks(len(X), len(X)):
        block = out[rows]
        unclear = (block * (1 - error)).astype(np.float32) != (block * (1 + error)).astype(np.float32)
        for i, j in zip(*np.nonzero(unclear), strict=True):
            i += rows.start
            if i < j:
                exact = math.exp(-gamma * (squares[i] + squares[j] - 2 * ddot(X[i], X[j])))
                out[i, j] = out[j, i] = exact
    return out

"""The singular value decomposition of all rows at once."""

import numpy as np
from scipy.linalg.lapack import dgeqrf

from elmbench.numerics.arrays import Array
from elmbench.numerics.projection.spectrum import fix_signs


def singular_directions(centred: Array) -> tuple[Array, Array]:
    """Return the singular values, of shape (min(n, d),), and the directions, as rows, of a matrix of shape (n, d).

    The largest value comes first; the signs of the directions are fixed. No array is larger than the matrix: for more
    rows than columns, the triangular factor of its QR decomposition is decomposed, which has the same values and
    directions.
    """
    n, d = centred.shape
    if n > d:
        centred = np.triu(dgeqrf(centred)[0][:d])
    _, values, directions = np.linalg.svd(centred, full_matrices=False)
    directions *= fix_signs(directions)[:, np.newaxis]
    return values, directions

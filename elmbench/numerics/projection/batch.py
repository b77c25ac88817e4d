"""The singular value decomposition of all rows at once."""

import numpy as np
from scipy.linalg.lapack import dgeqrf

from elmbench.numerics.arrays import Array
from elmbench.numerics.projection.spectrum import fix_signs


def singular_directions(centred: Array) -> tuple[Array, Array]:
    """Return the singular values, of shape (min(n, d),), and the directions, one a row, of rows of shape (n, d).

    The largest value comes first; the signs of the directions are fixed. Nothing larger than the rows is made,
    whichever of n and d is the larger one: of more rows than columns the triangular factor of their QR decomposition is
    decomposed, which has the same values and directions.
    """
    n, d = centred.shape
    if n > d:
        centred = np.triu(dgeqrf(centred)[0][:d])
    _, values, directions = np.linalg.svd(centred, full_matrices=False)
    directions *= fix_signs(directions)[:, np.newaxis]
    return values, directions

"""Kernel systems factored in single precision, in half the memory and time."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import strsv
from scipy.linalg.lapack import spotrf

from elmbench.numerics.arrays import Array

_EPS = float(np.finfo(np.float32).eps)


class SingleFactor:
    """The Cholesky factor of K + ridge I in single precision, in the memory of `room`, of shape (n, n).

    `fill` writes K over `room`, which is in Fortran order. If the matrix is not positive definite in that precision, n
    times the machine precision is added to its diagonal, and ten times more until it is: the factor is only a
    preconditioner.
    """

    def __init__(self, room: NDArray[np.float32], fill: Callable[[Any], object], ridge: float) -> None:
        added, jitter, info = ridge, len(room) * _EPS, 1
        while info:
            fill(room)
            diagonal = np.einsum("ii->i", room)
            diagonal[:] = diagonal.astype(np.float64) + added
            self._factor, info = spotrf(room, lower=1, clean=0, overwrite_a=1)
            added, jitter = ridge + jitter, 10 * jitter

    def solve(self, b: Array) -> Array:
        """Return the solution for a vector, to single precision."""
        scale = math.sqrt(b @ b) or 1.0
        # Two triangular solves with a vector run at the bandwidth of memory, unlike LAPACK's blocked solver.
        below = strsv(self._factor, (b / scale).astype(np.float32), lower=1)
        return np.asarray(strsv(self._factor, below, lower=1, trans=1), dtype=np.float64) * scale

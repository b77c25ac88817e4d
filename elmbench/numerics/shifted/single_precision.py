"""Kernel systems factored in single precision, in half the memory, and solved to double precision by refinement."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import strsv
from scipy.linalg.lapack import slange, spotrf, spotrs

from elmbench.numerics.arrays import Array
from elmbench.numerics.lapack import cholesky_condition
from elmbench.numerics.pairwise import Kernel
from elmbench.numerics.rows import Rows, scaled_rows

Single = NDArray[np.float32]

_EPS = float(np.finfo(np.float32).eps)

ERROR = 1e-11
"""Norm of a residual over that of the right-hand side at which the refinement stops."""

MAX_STEPS = 50
"""Steps of the refinement after which it stops in any case."""


class SingleFactor:
    """The Cholesky factor of K + ridge I in single precision, in the memory of `room`, of shape (n, n).

    `fill` writes K over `room`, which is in Fortran order. Where the matrix is not positive
    definite in that precision, n times the machine precision is added to its diagonal, and ten times more until it is:
    the factor is only what conjugate gradients start from. `condition` is its estimated condition in the 1-norm.
    """

    def __init__(self, room: Single, fill: Callable[[Any], object], ridge: float) -> None:
        added, jitter = ridge, len(room) * _EPS
        while True:
            fill(room)
            diagonal = np.einsum("ii->i", room)
            diagonal[:] = diagonal.astype(np.float64) + added
            self._norm = float(slange("1", room))
            factor, info = spotrf(room, lower=1, clean=0, overwrite_a=1)
            if info == 0:
                break
            added, jitter = ridge + jitter, 10 * jitter
        self._factor: Single = factor

    @property
    def condition(self) -> float:
        """The condition number, as `cholesky_condition` has it."""
        return cholesky_condition(self._factor, self._norm)

    def solve(self, B: Array) -> Array:
        """Return the solution for B of shape (n, k), to single precision."""
        scale = np.linalg.norm(B, axis=0)
        scale[scale == 0] = 1.0
        solution = np.asfortranarray(B / scale, dtype=np.float32)
        if B.shape[1] == 1:  # at the pace of memory, which LAPACK's blocks are not
            below = strsv(self._factor, solution[:, 0], lower=1)
            solution = strsv(self._factor, below, lower=1, trans=1)[:, np.newaxis]
        else:
            solution, _ = spotrs(self._factor, solution, lower=1)
        return np.asarray(solution, dtype=np.float64) * scale


def solve_kernel_in_single(
    X: Rows, T: Array, *, kernel: Kernel, ridge: float, scale: Array | None = None
) -> tuple[Array, float, float]:
    """Solve (K + ridge I) Z = T with a factor in single precision, for X of shape (n, d) and T of shape (n, k).

    That factor is the preconditioner of conjugate gradients in double precision (Golub, Van Loan, Matrix Computations,
    4th ed., 11.5), whose products with K compute its entries anew, a block of rows at a time. Returned are Z, the error
    and the condition of the factor. The error is the norm of T - (K + ridge I) Z, computed in double precision, over
    that of T, the largest of all columns: it bounds the root mean square of what the outputs for the rows of X are off,
    over that of the targets. With a `scale` S of the rows, S K S takes the place of K.
    """
    rows = kernel.chosen(X)
    n = len(T)
    # Entries are computed in double precision, block by block, and rounded once.
    room: Any = np.empty((n, n), dtype=np.float32, order="F")

    def fill(out: Any) -> None:
        kernel.matrix(X, out=out)
        if scale is not None:
            out *= scale[:, np.newaxis].astype(np.float32)
            out *= scale.astype(np.float32)

    factor = SingleFactor(room, fill, ridge)
    size = np.linalg.norm(T, axis=0)
    size[size == 0] = 1.0

    def product(V: Array) -> Array:
        return ridge * V + scaled_rows(kernel.product(X, rows, scaled_rows(V, scale)), scale)

    Z = factor.solve(T)
    left = T - product(Z)
    P, slope = np.zeros_like(T), np.ones(T.shape[1])
    steps = 0
    while np.any(np.linalg.norm(left, axis=0) > ERROR * size) and steps < MAX_STEPS:
        refined = factor.solve(left)
        before, slope = slope, np.einsum("ij,ij->j", left, refined)
        P = refined + P * (slope / np.where(before > 0, before, 1.0) if steps else 0.0)
        AP = product(P)
        curvature = np.einsum("ij,ij->j", P, AP)
        step = np.divide(slope, curvature, out=np.zeros_like(slope), where=curvature > 0)
        Z += P * step
        left -= AP * step
        steps += 1
    if steps:
        left = T - product(Z)
    return Z, float((np.linalg.norm(left, axis=0) / size).max()), factor.condition

"""One Cholesky factor that holds those of all leading blocks, to the last bit what each has by itself."""

import numpy as np

from elmbench.numerics.arrays import EPS, Array
from elmbench.numerics.lapack import call, leading_dimension
from elmbench.numerics.nodes.hidden_layer import TILE
from elmbench.numerics.solve import RidgeSystem, mirror


def factor_block(start: int) -> int:
    """Return by how many rows a factor of H'H is extended that already has `start`, see `gram_of_nodes`.

    It comes to 128, 384, 512, 768, 1024, ... rows. The more at once the faster, but what a small network is filled up
    with has to be factored too.
    """
    return 2 * TILE if start in (0, 6 * TILE) else 4 * TILE


def factor_width(n_nodes: int) -> int:
    """Return `n_nodes` rounded up to whole blocks of a factor."""
    width = 0
    while width < n_nodes:
        width += factor_block(width)
    return width


class LeadingCholesky:
    """The factor of A + ridge I, made one block of rows after the other in the lower triangle of A, and solutions.

    A block of rows rests on those before it only, and all its products have the same shape whatever comes after: so the
    factor of a leading block, and the forward substitution with it, are the same to the last bit in a matrix of any
    size. A, of a width that `factor_width` returns, is symmetric, positive semi-definite and in Fortran order; its
    lower triangle is overwritten. The ridge is positive, and B, of shape (w, k), holds right-hand sides. `sound` counts
    the rows of the largest leading block whose factor is there, as far as it has been grown.
    """

    def __init__(self, A: Array, ridge: float, B: Array) -> None:
        self._A = A
        self._stride = leading_dimension(A)
        self._ridge = ridge
        self._B = B
        self._forward = np.array(B, order="F")
        self._diagonal = A.diagonal().copy()
        self._done = self.sound = 0
        np.einsum("ii->i", A)[:] += ridge

    def grow(self, size: int) -> bool:
        """Extend the factor to a leading block; return whether that block is positive definite within round-off.

        As for `RidgeSystem`, its smallest squared pivot has to exceed n times the machine precision times its largest
        diagonal entry.
        """
        while self._done < size and self.sound == self._done:
            self._block_of_rows(self._done)
        if self.sound < size:
            return False
        pivots = self._A.diagonal()[:size]
        return bool(pivots.min() ** 2 > size * EPS * (self._diagonal[:size].max() + self._ridge))

    def _block_of_rows(self, start: int) -> None:
        A, stride, rows = self._A, self._stride, factor_block(start)
        row, square = A[start:], A[start:, start:]
        forward = self._forward[start:]
        k, length = self._forward.shape[1], len(self._forward)
        if start > 0:
            call("dtrsm", "R", "L", "T", "N", rows, start, 1.0, A, stride, row, stride)
            call("dsyrk", "L", "N", rows, start, -1.0, row, stride, 1.0, square, stride)
            call("dgemm", "N", "N", rows, k, start, -1.0, row, stride, self._forward, length, 1.0, forward, length)
        info = call("dpotrf", "L", rows, square, stride)
        self._done = start + rows
        self.sound = self._done if info == 0 else start + info - 1
        call("dtrsm", "L", "L", "N", "N", min(rows, self.sound - start), k, 1.0, square, stride, forward, length)

    def solution(self, size: int) -> Array:
        """Return the solution of a leading system whose factor is there, of shape (size, k)."""
        Z = np.array(self._forward[:size], order="F")
        for column in range(Z.shape[1]):
            call("dtrsv", "L", "T", "N", size, self._A, self._stride, Z[:, column], 1)
        return Z

    def condition(self, size: int, norm: float) -> float:
        """Return the condition of a leading system, of 1-norm `norm`, in that norm, as LAPACK's pocon estimates it."""
        reciprocal, work = np.empty(1), np.empty(3 * size)
        whole = np.empty(size, dtype=np.int32)
        call("dpocon", "L", size, self._A, self._stride, norm, reciprocal, work, whole)
        return 1.0 / float(reciprocal[0]) if reciprocal[0] > 0 else float(np.inf)

    def system(self, size: int) -> tuple[RidgeSystem, Array]:
        """Return a leading system in memory of its own, and its right-hand sides, for where the factor is of no use."""
        block = np.array(self._A[:size, :size].T, order="F")
        mirror(block)
        np.einsum("ii->i", block)[:] = self._diagonal[:size]
        return RidgeSystem(block, self._ridge), self._B[:size]


def leading_norm(A: Array, size: int, ridge: float) -> float:
    """Return the 1-norm of a leading block of A, symmetric and of positive diagonal, with the ridge added."""
    blocks = (A[:size, start : min(start + TILE, size)] for start in range(0, size, TILE))
    return ridge + max(float(np.abs(block).sum(axis=0).max()) for block in blocks)

"""Lower triangles of many kernel matrices in blocks of rows, kept or recomputed for every pass."""

from collections.abc import Iterator

import numpy as np

from elmbench.numerics.arrays import Array, Indices
from elmbench.numerics.multiple.base_kernels import BaseKernels
from elmbench.numerics.solve import mirror

BLOCK_BYTES = 16 * 2**20
"""Size of a block of rows of all kernels, in bytes (one row is the least)."""

HELD_BYTES = 2**30
"""Lower triangles up to this size in bytes are kept; larger ones are computed in every pass."""


def triangle_bytes(n_kernels: int, n_rows: int) -> int:
    """Return the bytes of the lower triangles of many kernel matrices, without the steps of their blocks."""
    return 4 * n_kernels * n_rows * (n_rows + 1)


class KernelBlocks:
    """Sums and quadratic forms of kernel matrices, from one half of each."""

    def __init__(self, kernels: BaseKernels) -> None:
        self._kernels = kernels
        self.shape = kernels.shape
        m, n = self.shape
        every = np.arange(m)
        held = triangle_bytes(m, n) <= HELD_BYTES
        self._cached = [kernels.pairwise(rows, every) for rows in self._cuts()] if held else []

    def weighted_sum(self, weights: Array, out: Array) -> Array:
        """Write sum_p weights[p] K_p to `out`, of shape (n, n) in C order, exactly symmetric, and return it."""
        used = np.flatnonzero(weights)
        if len(used) == 0:
            out.fill(0.0)
        for rows, which, values in self._blocks(used):
            block = weights[which] @ values.reshape(len(which), -1)
            out[rows, : rows.stop] = block.reshape(-1, rows.stop)
        mirror(out)
        return out

    def forms(self, A: Array, which: Indices) -> Array:
        """Return tr(A' K_p A) for the kernels numbered in `which`, and zero for others; A is of shape (n, k)."""
        forms = np.zeros(self.shape[0])
        for rows, present, values in self._blocks(which):
            products = A[rows] @ A[: rows.stop].T
            products[:, : rows.start] *= 2.0  # for the half that is not there
            forms[present] += values.reshape(len(present), -1) @ products.ravel()
        return forms

    def _blocks(self, which: Indices) -> Iterator[tuple[slice, Indices, Array]]:
        """Yield rows, numbers of kernels, which include the requested ones, and values up to the last of the rows.

        Values are of shape (number of kernels, length of rows, rows.stop).
        """
        every = np.arange(self.shape[0])
        for i, rows in enumerate(self._cuts()):
            if len(which) == 0:
                return
            if self._cached:
                yield rows, every, self._cached[i]
            else:
                yield rows, which, self._kernels.pairwise(rows, which)

    def _cuts(self) -> Iterator[slice]:
        m, n = self.shape
        step = max(1, BLOCK_BYTES // (8 * m * n))
        for start in range(0, n, step):
            yield slice(start, min(start + step, n))

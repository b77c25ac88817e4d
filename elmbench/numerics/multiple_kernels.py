"""Lists of base kernels between the same rows, computed or given as matrices, in blocks of their lower triangles."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.utils import gen_batches

from elmbench.numerics.arrays import Array, Indices
from elmbench.numerics.pairwise import DEFINITE, GEOMETRIES, Kernel
from elmbench.numerics.solve import mirror

BLOCK_BYTES = 16 * 2**20  # size of a block of rows of all kernels, in bytes (one row is the least)
HELD_BYTES = 2**30  # lower triangles up to this size in bytes are kept; larger ones are computed in every pass

KERNELS = (*DEFINITE, "polynomial")
"""Positive semi-definite kernels by name."""


@dataclass(frozen=True)
class BaseKernel(Kernel):
    """One kernel of a list, with a name of `KERNELS`, on all columns or those from `columns[0]` up to `columns[1]`."""

    columns: tuple[int, int] | None = None


class ComputedKernels:
    """Kernels of rows `X`, of shape (n, d); those of one geometry on the same columns share its computation."""

    def __init__(self, X: Array, kernels: Sequence[BaseKernel]) -> None:
        self._X, self._kernels = X, kernels
        self.shape = len(kernels), len(X)

    def pairwise(self, rows: slice, numbers: Indices) -> Array:
        """Return values between the training rows `rows` and the rows up to the last of them.

        `numbers` are those of the kernels; the result is of shape (len(numbers), length of rows, rows.stop).
        """
        return self._values(self._X[rows], self._X[: rows.stop], numbers, rows.start)

    def cross(self, X: Array, numbers: Indices) -> Array:
        """Return values between the rows of `X` and the training rows, of shape (len(numbers), len(X), n)."""
        return self._values(X, self._X, numbers, None)

    def _values(self, X: Array, Y: Array, numbers: Indices, start: int | None) -> Array:
        """Return the values; if `start` is given, the rows of `Y` from there on are those of `X`."""
        values = np.empty((len(numbers), len(X), len(Y)))
        groups: dict[tuple[str, tuple[int, int] | None], list[int]] = {}
        for position, p in enumerate(numbers):
            kernel = self._kernels[p]
            groups.setdefault((kernel.geometry, kernel.columns), []).append(position)
        for (name, columns), positions in groups.items():
            selection = slice(None) if columns is None else slice(*columns)
            geometry = GEOMETRIES[name](X[:, selection], Y[:, selection])
            if start is not None and name.endswith("distance"):
                np.fill_diagonal(geometry[:, start:], 0.0)  # round-off, which a large gamma would show
            for position in positions:
                np.copyto(values[position], geometry)
                self._kernels[numbers[position]].evaluate(values[position])
        return values


class GivenKernels:
    """Kernels that are given as matrices side by side, of shape (n, m * n)."""

    def __init__(self, matrices: Array) -> None:
        self._matrices = matrices
        self.shape = matrices.shape[1] // len(matrices), len(matrices)

    def pairwise(self, rows: slice, numbers: Indices) -> Array:
        """Return values between the training rows `rows` and the rows up to the last of them."""
        return self.cross(self._matrices[rows], numbers)[:, :, : rows.stop]

    def cross(self, X: Array, numbers: Indices) -> Array:
        """Return values between rows, given as `X` of shape (len(X), m * n), and the training rows."""
        m, n = self.shape
        return X.reshape(len(X), m, n).transpose(1, 0, 2)[numbers]


BaseKernels = ComputedKernels | GivenKernels


def triangle_bytes(n_kernels: int, n_rows: int) -> int:
    """Return the bytes of the lower triangles of many kernel matrices, without the steps of their blocks."""
    return 4 * n_kernels * n_rows * (n_rows + 1)


class KernelBlocks:
    """Sums and quadratic forms of kernel matrices, from one half of each."""

    def __init__(self, kernels: BaseKernels) -> None:
        self._kernels = kernels
        self.shape = kernels.shape
        is_small = triangle_bytes(*self.shape) <= HELD_BYTES
        self._cached = [kernels.pairwise(rows, np.arange(self.shape[0])) for rows in self._cuts()] if is_small else []

    def weighted_sum(self, weights: Array, out: Array) -> Array:
        """Write sum_p weights[p] K_p to `out`, of shape (n, n) in C order, exactly symmetric, and return it."""
        indices = np.flatnonzero(weights)
        if len(indices) == 0:
            out.fill(0.0)
        for rows, numbers, values in self._blocks(indices):
            block = weights[numbers] @ values.reshape(len(numbers), -1)
            out[rows, : rows.stop] = block.reshape(-1, rows.stop)
        mirror(out)
        return out

    def forms(self, A: Array, numbers: Indices) -> Array:
        """Return tr(A' K_p A) for the kernels numbered in `numbers`, and zero for others; A is of shape (n, k)."""
        forms = np.zeros(self.shape[0])
        for rows, present, values in self._blocks(numbers):
            products = A[rows] @ A[: rows.stop].T
            products[:, : rows.start] *= 2.0  # for the half that is not there
            forms[present] += values.reshape(len(present), -1) @ products.ravel()
        return forms

    def _blocks(self, numbers: Indices) -> Iterator[tuple[slice, Indices, Array]]:
        """Yield rows, numbers of kernels, which include the requested ones, and values up to the last of the rows.

        Values are of shape (number of kernels, length of rows, rows.stop).
        """
        for i, rows in enumerate(self._cuts() if len(numbers) else ()):
            if self._cached:
                yield rows, np.arange(self.shape[0]), self._cached[i]
            else:
                yield rows, numbers, self._kernels.pairwise(rows, numbers)

    def _cuts(self) -> Iterator[slice]:
        m, n = self.shape
        return gen_batches(n, max(1, BLOCK_BYTES // (8 * m * n)))

"""Lists of base kernels between the same rows, computed or given as matrices, in blocks of their lower triangles."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.metrics.pairwise import additive_chi2_kernel, cosine_similarity, manhattan_distances
from sklearn.utils import gen_batches

from elmbench.numerics.arrays import Array, Indices
from elmbench.numerics.centres import OF_DISTANCES, CentreKernel
from elmbench.numerics.kernels import rbf_from_distances, squared_distances
from elmbench.numerics.rows import inner_products
from elmbench.numerics.solve import mirror

BLOCK_BYTES = 16 * 2**20  # size of a block of rows of all kernels, in bytes (one row is the least)
HELD_BYTES = 2**30  # lower triangles up to this size in bytes are kept; larger ones are computed in every pass


GEOMETRIES: dict[str, Callable[[Array, Array], Array]] = {
    "squared distance": squared_distances,
    "distance": manhattan_distances,
    "chi2 distance": lambda X, Y: -additive_chi2_kernel(X, Y),
    "product": inner_products,
    "cosine": cosine_similarity,
}
"""Arguments of the kernels by name: functions that return an array of shape (n, l) for n rows and l others."""

_OF_PRODUCTS = ("product", "cosine")  # geometries that are not zero between a row and itself

KERNELS: dict[str, tuple[str, tuple[str, ...]]] = {
    **dict.fromkeys(OF_DISTANCES, ("squared distance", ("gamma",))),
    "laplacian": ("distance", ("gamma",)),
    "chi2": ("chi2 distance", ("gamma",)),
    "polynomial": ("product", ("gamma", "degree", "coef0")),
    "linear": ("product", ()),
    "cosine": ("cosine", ()),
}
"""Positive semi-definite kernels by name: the geometry of each, and its parameters."""


@dataclass(frozen=True)
class BaseKernel:
    """One kernel of a list, with a name of `KERNELS`, on a range of columns or on all.

    "rbf", "inverse-multiquadric", "rational-quadratic" and "polynomial" are those of
    `elmbench.numerics.centres.CentreKernel`; "laplacian", "chi2", "linear" and "cosine" are those of
    `sklearn.metrics.pairwise`. `gamma` multiplies the distance or the product; `degree` and `coef0`, at least 0, are
    those of "polynomial".
    """

    name: str = "rbf"
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 1.0
    columns: tuple[int, int] | None = None

    def evaluate(self, geometry: Array) -> None:
        """Replace values of the kernel's geometry by values of the kernel, in place."""
        if self.name in ("laplacian", "chi2"):
            rbf_from_distances(geometry, self.gamma)
        elif self.name not in ("linear", "cosine"):
            CentreKernel(np.empty((0, 0)), self.name, self.gamma, self.degree, self.coef0).evaluate(geometry)


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
            groups.setdefault((KERNELS[kernel.name][0], kernel.columns), []).append(position)
        for (name, columns), positions in groups.items():
            selection = slice(None) if columns is None else slice(*columns)
            geometry = GEOMETRIES[name](X[:, selection], Y[:, selection])
            if start is not None and name not in _OF_PRODUCTS:
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

"""Kernels between rows, dense or sparse, and a few centres, a block of rows at a time."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from sklearn.utils import gen_batches

from elmbench.numerics.arrays import Array, Rows
from elmbench.numerics.kernels import rbf_from_distances, squared_distances
from elmbench.numerics.lapack import add_gram
from elmbench.numerics.pairwise import Kernel
from elmbench.numerics.rows import inner_products, scaled_rows, sparse_distances
from elmbench.numerics.solve import mirror

BLOCK_BYTES = 16 * 2**20
"""Size of a block of kernel values, in bytes (one row is the least); two are held while one follows the other."""

DENSE_CENTRES_BYTES = 2**28  # largest dense copy of sparse centres
DENSE_SHARE = 0.02  # share of entries from which products with a dense copy are faster


def _inverse_multiquadric(distances: Array, gamma: float | Array) -> Array:
    distances = _rational_quadratic(distances, gamma)
    return np.sqrt(distances, out=distances)


def _rational_quadratic(distances: Array, gamma: float | Array) -> Array:
    distances *= gamma
    distances += 1.0
    return np.reciprocal(distances, out=distances)


OF_DISTANCES: dict[str, Callable[[Array, float | Array], Array]] = {
    "rbf": rbf_from_distances,
    "inverse-multiquadric": _inverse_multiquadric,
    "rational-quadratic": _rational_quadratic,
}
"""Kernels of the squared distance, by name: each overwrites an array of them with its values."""

OF_PRODUCTS = ("polynomial", "sigmoid")  # kernels of the inner product, by name

KERNELS = (*OF_DISTANCES, *OF_PRODUCTS)


@dataclass(frozen=True)
class CentreKernel:
    """The kernel functions k(x, c_1), ..., k(x, c_L) of some centres, dense or CSR of shape (L, d).

    With d^2 = ||x - c||^2: "rbf" is exp(-gamma d^2), "inverse-multiquadric" 1 / sqrt(1 + gamma d^2),
    "rational-quadratic" 1 - d^2 / (d^2 + 1/gamma), "polynomial" (gamma x.c + coef0)^degree and "sigmoid" tanh(gamma x.c
    + coef0). `gamma` is a number or an array of shape (L,). Any other kernel is `general`, with this `gamma`; for a
    precomputed one, the centres are numbers of training rows.
    """

    centres: Rows
    kernel: str = "rbf"
    gamma: float | Array = 1.0
    degree: int = 3
    coef0: float = 1.0
    general: Kernel | None = None

    def __len__(self) -> int:
        return int(self.centres.shape[0])

    def with_gamma(self, gamma: float | Array) -> "CentreKernel":
        """Return the same centres with another `gamma`."""
        return replace(self, gamma=gamma)

    def geometry(self, X: Rows) -> Array:
        """Return the squared distances or inner products in the kernel's formula, of shape (n, L)."""
        if self.kernel in OF_PRODUCTS:
            return inner_products(X, self.centres)
        if sp.issparse(X) or sp.issparse(self.centres):
            return sparse_distances(X, self.centres)
        return squared_distances(X, self.centres)

    def evaluate(self, geometry: Array) -> Array:
        """Replace the result of `geometry` by values of the kernel, in place, and return it."""
        if self.kernel in OF_DISTANCES:
            return OF_DISTANCES[self.kernel](geometry, self.gamma)
        geometry *= self.gamma
        geometry += self.coef0
        if self.kernel == "sigmoid":
            return np.tanh(geometry, out=geometry)
        factor = geometry.copy()  # products: a tenth of the time of a power
        for _ in range(self.degree - 1):
            geometry *= factor
        return geometry

    def values(self, X: Rows) -> Array:
        """Return the values of the kernel for the rows of `X`, of shape (n, L)."""
        if self.general is not None:
            return self.general.with_gamma(self.gamma).matrix(X, self.centres)
        return self.evaluate(self.geometry(X))

    def blocks(self, X: Rows) -> Iterator[tuple[slice, Array]]:
        """Yield the values for all rows of `X`, a block of rows at a time, each with the slice of its rows."""
        for rows, _, values in self.blocks_of_each(X, [self.gamma]):
            yield rows, values

    def blocks_of_each(self, X: Rows, gammas: Sequence[float | Array]) -> Iterator[tuple[slice, int, Array]]:
        """Yield the values for each `gamma`, a block of rows at a time: rows, the number of the gamma, a new array.

        The distances or products of a block serve all `gammas`.
        """
        kernels = [self.with_gamma(gamma) for gamma in gammas]
        ready = replace(self, centres=_fast_centres(X, self.centres))
        for rows in centre_blocks(X, len(self)):
            if self.general is not None:
                yield from ((rows, i, kernel.values(X[rows])) for i, kernel in enumerate(kernels))
                continue
            geometry = ready.geometry(X[rows])
            yield from ((rows, i, kernel.evaluate(geometry.copy())) for i, kernel in enumerate(kernels[:-1]))
            yield rows, len(kernels) - 1, kernels[-1].evaluate(geometry)

    def product(self, X: Rows, Z: Array) -> Array:
        """Return the product of the values for the rows of `X` with `Z`, of shape (L, k): an array of shape (n, k)."""
        product = np.empty((X.shape[0], Z.shape[1]))
        for rows, values in self.blocks(X):
            product[rows] = values @ Z
        return product


def normal_equations(
    kernel: CentreKernel, gammas: Sequence[float | Array], X: Rows, T: Array, scale: Array | None = None
) -> list[tuple[Array, Array]]:
    """Return K'K, in Fortran order, and K'T for each of some values of `gamma`, from one pass over the rows.

    Memory holds two blocks of rows of K, or three with several `gammas`. The leading blocks of K'K and rows of K'T are
    those of the first centres alone. `scale` multiplies the rows of K and T: the square roots of their weights.
    """
    L, k = len(kernel), T.shape[1]
    sums = [(np.zeros((L, L), order="F"), np.zeros((L, k))) for _ in gammas]
    T = scaled_rows(T, scale)
    for rows, i, values in kernel.blocks_of_each(X, gammas):
        gram, moments = sums[i]
        if scale is not None:
            values *= scale[rows, np.newaxis]
        add_gram(gram, values)
        moments += values.T @ T[rows]
    for gram, _ in sums:
        mirror(gram)
    return sums


def centre_blocks(X: Rows, n_centres: int) -> Iterator[slice]:
    """Return the slices that cut the rows of `X` into blocks of about `BLOCK_BYTES`, and their values too."""
    n_rows, width = X.shape
    if sp.issparse(X):
        width = 3 * X.nnz // (2 * max(1, n_rows))  # an entry has an index too
    return gen_batches(n_rows, max(1, BLOCK_BYTES // (8 * max(1, n_centres, width))))


def _fast_centres(X: Rows, centres: Rows) -> Rows:
    """Return centres in a form with fast products with many rows: for sparse rows, Fortran order.

    Sparse centres are made dense if at least `DENSE_SHARE` of their entries are not zero.
    """
    if not sp.issparse(X):
        return centres
    if not sp.issparse(centres):
        return np.asfortranarray(centres)
    n_entries = centres.shape[0] * centres.shape[1]
    is_dense = centres.nnz >= DENSE_SHARE * n_entries and 8 * n_entries <= DENSE_CENTRES_BYTES
    return centres.toarray(order="F") if is_dense else centres

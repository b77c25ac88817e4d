"""Kernels between rows: functions of their distance or product, other functions of two rows, or
precomputed values.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.metrics.pairwise import (
    KERNEL_PARAMS,
    additive_chi2_kernel,
    cosine_similarity,
    manhattan_distances,
    pairwise_kernels,
)
from sklearn.utils import gen_batches

from elmbench.numerics.arrays import Array, Indices, Rows
from elmbench.numerics.kernels import (
    inner_products,
    kernel_matrix,
    rbf_from_distances,
    row_blocks,
    sparse_distances,
    squared_distances,
)
from elmbench.numerics.solve import mirror

PRECOMPUTED = "precomputed"


def with_short_indices(X: Rows) -> Rows:
    """Return sparse rows with indices of 32 bits, as compiled functions of scikit-learn need.

    Dense rows, and sparse rows that are too large for such indices, are returned as they are.
    """
    if not sp.issparse(X):
        return X
    are_short = X.indices.dtype == X.indptr.dtype == np.int32
    if are_short:
        return X
    largest = max(X.nnz, *X.shape)
    limit = np.iinfo(np.int32).max
    if largest > limit:
        return X
    indices = X.indices.astype(np.int32)
    indptr = X.indptr.astype(np.int32)
    arrays = (X.data, indices, indptr)
    sparse_format = type(X)
    return sparse_format(arrays, shape=X.shape)


def manhattan(X: Rows, Y: Rows) -> Array:
    """Return the sums of absolute differences between rows, dense of shape (n, m)."""
    return np.asarray(manhattan_distances(with_short_indices(X), with_short_indices(Y)))


GEOMETRIES: dict[str, Callable[[Rows, Rows], Array]] = {
    "squared distance": lambda X, Y: (
        sparse_distances(X, Y)
        if sp.issparse(X) or sp.issparse(Y)
        else squared_distances(X, Y)
    ),
    "distance": manhattan,
    "chi2 distance": lambda X, Y: -additive_chi2_kernel(X, Y),
    "product": inner_products,
    "cosine": cosine_similarity,
}
"""Arguments of kernels by name: functions that return a new array of shape (n, m) for n rows and m
others.
"""

OF_DISTANCES = ("rbf", "inverse-multiquadric", "rational-quadratic")
"""Kernels of the squared Euclidean distance."""

_GEOMETRY_OF = {
    **dict.fromkeys(OF_DISTANCES, "squared distance"),
    "laplacian": "distance",
    "chi2": "chi2 distance",
    **dict.fromkeys(("linear", "poly", "polynomial", "sigmoid"), "product"),
    "cosine": "cosine",
}
_PARAMS = KERNEL_PARAMS | dict.fromkeys(OF_DISTANCES, frozenset({"gamma"}))

NAMES = (*sorted(_PARAMS), PRECOMPUTED)
"""Kernels by name: those of `Kernel`, and values that are given as such."""

OF_DENSE_ROWS = ("additive_chi2", "chi2", PRECOMPUTED)
"""Kernels by name that take no sparse rows."""

DEFINITE = ("chi2", "cosine", "laplacian", "linear", *OF_DISTANCES)
"""Kernels whose matrices have no negative eigenvalue for any parameters."""


def is_covariance_function(kernel: Any) -> bool:
    """Return True for a kernel of `sklearn.gaussian_process.kernels`."""
    if isinstance(kernel, str):
        return False
    from sklearn.gaussian_process import kernels  # loads what few need

    return isinstance(kernel, kernels.Kernel)


def takes_sparse_rows(kernel: str | Callable[..., Any]) -> bool:
    """Return True if a kernel takes CSR matrices.

    `kernel`: a name in `NAMES`, a function of two rows, or a kernel of
    `sklearn.gaussian_process.kernels`.
    """
    if isinstance(kernel, str):
        return kernel not in OF_DENSE_ROWS
    return not is_covariance_function(kernel)


@dataclass(frozen=True)
class Kernel:
    """A kernel with its parameters.

    `name` is one of `NAMES`, a function of two rows that returns a number, with named arguments
    `params`, or a kernel of `sklearn.gaussian_process.kernels`. With d^2 = ||x - y||^2,
    "inverse-multiquadric" is 1 / sqrt(1 + gamma d^2) and "rational-quadratic" 1 / (1 + gamma d^2);
    the others, `gamma`, `degree` and `coef0` are those of
    `sklearn.metrics.pairwise.pairwise_kernels`. With "precomputed", a row holds its kernel with
    every training row, and training rows (Y below, or the dictionary of a model) are numbers.
    """

    name: str | Callable[..., Any] = "rbf"
    gamma: float = 1.0
    degree: float = 3
    coef0: float = 1.0
    params: Mapping[str, Any] | None = None

    def with_gamma(self, gamma: Any) -> "Kernel":
        """Return the same kernel with another `gamma`."""
        return replace(self, gamma=gamma)

    @property
    def is_precomputed(self) -> bool:
        """True if rows hold values of the kernel."""
        return isinstance(self.name, str) and self.name == PRECOMPUTED

    @property
    def named_params(self) -> dict[str, float]:
        """{parameter: value} of those that a named kernel depends on; empty for a function."""
        names = _PARAMS.get(self.name, ()) if isinstance(self.name, str) else ()
        return {name: getattr(self, name) for name in sorted(names)}

    @property
    def key(self) -> Hashable:
        """A key that is equal for kernels with the same values.

        A function counts by its identity, and by that of its arguments `params`.
        """
        if isinstance(self.name, str):
            return self.name, *self.named_params.items()
        return id(self.name), id(self.params)

    @property
    def is_definite(self) -> bool:
        """True if every matrix of this kernel is known to be positive semi-definite."""
        if not isinstance(self.name, str):
            return is_covariance_function(self.name)
        whole = self.coef0 >= 0 and float(self.degree).is_integer()
        return self.name in DEFINITE or (self.name in ("poly", "polynomial") and whole)

    @property
    def geometry(self) -> str:
        """The name in `GEOMETRIES` of the distance or product that the kernel is a function of.

        It is empty for other kernels.
        """
        return _GEOMETRY_OF.get(self.name, "") if isinstance(self.name, str) else ""

    def evaluate(self, geometry: Array) -> Array:
        """Replace distances or products of rows by values of the kernel, in place, and return them.

        `geometry`: the values that the property `geometry` names, such as squared distances for
        "rbf", of any shape; the result is the same array. Only kernels with such a geometry can be
        evaluated; precomputed values stay as they are. The degree must be positive. Raises
        ValueError if a power is infinite or NaN.
        """
        if self.name in ("rbf", "laplacian", "chi2"):
            return rbf_from_distances(geometry, self.gamma)
        if self.name in ("linear", "cosine", PRECOMPUTED):
            return geometry
        geometry *= self.gamma
        if self.name in OF_DISTANCES:
            geometry += 1.0
            np.reciprocal(geometry, out=geometry)
            if self.name == "inverse-multiquadric":
                np.sqrt(geometry, out=geometry)
            return geometry
        geometry += self.coef0
        if self.name == "sigmoid":
            return np.tanh(geometry, out=geometry)
        with np.errstate(invalid="ignore", over="ignore"):
            if not float(self.degree).is_integer():
                return self._check_finite(np.power(geometry, self.degree, out=geometry))
            factor = geometry.copy()  # products: a tenth of the time of a power
            for _ in range(int(self.degree) - 1):
                geometry *= factor
        return self._check_finite(geometry)

    def _check_finite(self, values: Array) -> Array:
        """Return values of the kernel as they are; raise ValueError if one is infinite or NaN.

        A fractional power of a negative number is NaN.
        """
        if not np.isfinite(values).all():
            settings = repr(self.name)
            if isinstance(self.name, str):
                settings += f" with {self.named_params}"
            raise ValueError(
                "kernel: expected finite values between all rows, got infinite ones or NaN from "
                f"{settings}"
            )
        return values

    def is_plain(self, X: Rows) -> bool:
        """Return True for the Gaussian kernel of dense rows, which has faster methods."""
        return self.name == "rbf" and not sp.issparse(X)

    def select_rows(self, X: Rows, numbers: Indices | None = None) -> Any:
        """Return training rows in the form in which models store them.

        That is the rows themselves, or their numbers for a precomputed kernel. `numbers`: those of
        the selected rows; None for all. Raises ValueError if `X`, which must hold all training
        rows, is not a square matrix for a precomputed kernel.
        """
        if not self.is_precomputed:
            return X if numbers is None else X[numbers]
        n_rows, n_columns = X.shape
        if n_rows != n_columns:
            raise ValueError(
                "X: expected the square matrix of the kernel between the training rows, as kernel "
                f"is 'precomputed', got shape {X.shape} instead"
            )
        return np.arange(n_rows) if numbers is None else np.asarray(numbers)

    def matrix(self, X: Rows, Y: Any = None, out: NDArray[Any] | None = None) -> Array:
        """Return the kernel between the n rows of `X` and the m rows of `Y`, of shape (n, m).

        Without `Y`, which then is `X` itself, it is exactly symmetric. For a precomputed kernel,
        `X` holds the values with all training rows, and `Y` the numbers of some of them; without
        `Y`, `X` is square, and its lower triangle is copied onto the upper one. The result is
        written to `out`, of the same shape, if given. Except for functions, this takes little more
        memory than the result. Raises ValueError if a power or the result of a function is infinite
        or NaN.
        """
        if self.is_plain(X) and not sp.issparse(Y):
            return kernel_matrix(X, Y, gamma=self.gamma, out=out)
        is_symmetric = Y is None
        n = X.shape[0]
        m = n if is_symmetric else Y.shape[0]
        out = np.empty((n, m)) if out is None else out
        if callable(self.name):
            out[:] = self._block_values(X, Y)
        elif m > 0:
            # Without `Y`, precomputed rows hold their values.
            needs_centres = is_symmetric and not self.is_precomputed
            centres = X if needs_centres else Y
            for rows in row_blocks(n, m):
                out[rows] = self._block_values(X[rows], centres)
        if is_symmetric:
            mirror(out)
            is_of_distance = self.geometry.endswith("distance")
            if is_of_distance:
                np.fill_diagonal(out, 1.0)
        return out

    def product(self, X: Rows, Y: Any, Z: Array) -> Array:
        """Return the kernel between the n rows of `X` and the m rows of `Y` times `Z`.

        `Z` is of shape (m, k), the result of shape (n, k). Only a block of rows of the kernel is
        held at a time. For a precomputed kernel, `Y` holds the numbers of training rows.
        """
        n = X.shape[0]
        n_columns = Z.shape[1]
        product = np.zeros((n, n_columns))
        if Y.shape[0] > 0:
            blocks = kernel_blocks(self, X, Y, [self.gamma])
            for rows, _, values in blocks:
                product[rows] = values @ Z
        return product

    def _block_values(self, X: Rows, Y: Any) -> Array:
        """Return the kernel between the rows of `X` and those of `Y`, of shape (n, m), at once.

        For a precomputed kernel, `Y` holds the columns of `X` to return; None for all. Otherwise
        `Y` may be None, for `X` itself, only if the kernel is a function. Raises ValueError if a
        power or the result of a function is infinite or NaN.
        """
        if self.is_precomputed:
            return X if Y is None else X[:, Y]
        if self.geometry:
            geometry_of = GEOMETRIES[self.geometry]
            geometry = geometry_of(X, Y)
            return self.evaluate(geometry)
        params = self.params or {}
        if isinstance(self.name, str):
            params = self.named_params
        values = pairwise_kernels(X, Y, metric=self.name, **params)
        return self._check_finite(values)


BLOCK_BYTES = 16 * 2**20
"""Size of a block of kernel values, in bytes (one row is the least); two are held while one follows
the other.
"""


def kernel_blocks(
    kernel: Kernel, X: Rows, centres: Rows, gammas: Sequence[float | Array]
) -> Iterator[tuple[slice, int, Array]]:
    """Yield the kernel between rows and L centres for each `gamma`, in blocks of rows.

    Yields a slice of rows, the position of the gamma in `gammas`, and the values: a new array of
    shape (length of the slice, L). All gammas follow for one block before the next block. Distances
    or products are computed once for all `gammas`, which may be arrays of shape (L,) for a kernel
    of `OF_DISTANCES`. For a precomputed kernel, `centres` holds numbers of training rows, the
    columns of `X`.
    """
    kernels = [kernel.with_gamma(gamma) for gamma in gammas]
    last = len(kernels) - 1
    geometry_of = GEOMETRIES.get(kernel.geometry)
    n_centres = centres.shape[0]
    for rows in kernel_row_blocks(X, n_centres):
        part = X[rows]
        if geometry_of is None:
            for number, each in enumerate(kernels):
                values = each.matrix(part, centres)
                yield rows, number, values
            continue
        geometry = geometry_of(part, centres)
        for number, each in enumerate(kernels):
            # The last kernel may overwrite the geometry.
            is_last = number == last
            values = geometry if is_last else geometry.copy()
            yield rows, number, each.evaluate(values)


def kernel_row_blocks(X: Rows, n_centres: int) -> Iterator[slice]:
    """Return the slices that cut the rows of `X` into blocks.

    Neither the rows of a block nor their values at `n_centres` centres take more than about
    `BLOCK_BYTES`.
    """
    n_rows, width = X.shape
    if sp.issparse(X):
        width = 3 * X.nnz // (2 * max(1, n_rows))  # an entry has an index too
    return gen_batches(n_rows, max(1, BLOCK_BYTES // (8 * max(1, n_centres, width))))

"""Kernels between rows: the Gaussian one, others of scikit-learn, a function, or precomputed values."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.metrics.pairwise import KERNEL_PARAMS, pairwise_kernels

from elmbench.numerics.arrays import Array, Indices, Rows
from elmbench.numerics.kernels import kernel_matrix, rbf_from_distances, row_blocks
from elmbench.numerics.rows import sparse_distances
from elmbench.numerics.solve import mirror

PRECOMPUTED = "precomputed"

NAMES = (*sorted(KERNEL_PARAMS), PRECOMPUTED)
"""Kernels by name: those of `sklearn.metrics.pairwise.pairwise_kernels`, and values that are given as such."""

_DEFINITE = ("chi2", "cosine", "laplacian", "linear", "rbf")
"""Kernels whose matrices have no negative eigenvalue for any parameters."""


@dataclass(frozen=True)
class Kernel:
    """A kernel with its parameters.

    `name` is one of `NAMES`, a function of two rows that returns a number, with named arguments `params`, or a kernel
    of `sklearn.gaussian_process.kernels`. `gamma`, `degree` and `coef0` are as in
    `sklearn.metrics.pairwise.pairwise_kernels`. With "precomputed", a row holds its kernel with every training row, and
    training rows (Y below, or the dictionary of a model) are numbers.
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
        """The parameters that a named kernel depends on."""
        names = KERNEL_PARAMS.get(self.name, ()) if isinstance(self.name, str) else ()
        return {name: getattr(self, name) for name in sorted(names)}

    @property
    def key(self) -> Hashable:
        """A key of the kernel and its parameters."""
        if isinstance(self.name, str):
            return self.name, *self.named_params.items()
        return id(self.name), id(self.params)

    @property
    def is_definite(self) -> bool:
        """True if every matrix of this kernel is known to be positive semi-definite."""
        if not isinstance(self.name, str):
            from sklearn.gaussian_process.kernels import Kernel as CovarianceFunction  # loads what few need

            return isinstance(self.name, CovarianceFunction)
        whole = self.coef0 >= 0 and float(self.degree).is_integer()
        return self.name in _DEFINITE or (self.name in ("poly", "polynomial") and whole)

    def is_plain(self, X: Rows) -> bool:
        """Return True for the Gaussian kernel of dense rows, which has faster methods."""
        return self.name == "rbf" and not sp.issparse(X)

    def select_rows(self, X: Rows, numbers: Indices | None = None) -> Any:
        """Return the stored form of some training rows, by default of all: the rows, or their numbers.

        A ValueError is raised if `X` should be the square matrix of all training rows, but is not.
        """
        if not self.is_precomputed:
            return X if numbers is None else X[numbers]
        n_rows, n_columns = X.shape
        if n_rows != n_columns:
            raise ValueError(
                f"X: expected the square matrix of the kernel between the training rows, as kernel is 'precomputed', "
                f"got shape {X.shape} instead"
            )
        return np.arange(n_rows) if numbers is None else np.asarray(numbers)

    def part(self, X: Rows, rows: Indices, training: Indices) -> Rows:
        """Return some rows of `X`; for a precomputed kernel, only their values with some training rows."""
        return X[np.ix_(rows, training)] if self.is_precomputed else X[rows]

    def matrix(self, X: Rows, Y: Any = None, out: NDArray[Any] | None = None) -> Array:
        """Return the kernel between the rows of `X` and those of `Y`, of shape (n, m).

        Without `Y`, which then is `X` itself, it is exactly symmetric. The result is written to `out`, of the same
        shape, if given. Except for functions, this takes little more memory than the result.
        """
        if self.is_plain(X) and not sp.issparse(Y):
            return kernel_matrix(X, Y, gamma=self.gamma, out=out)
        n, m = X.shape[0], X.shape[0] if Y is None else Y.shape[0]
        out = np.empty((n, m)) if out is None else out
        if callable(self.name):
            out[:] = self._values(X, Y)
        elif m > 0:
            for rows in row_blocks(n, m):
                out[rows] = self._values(X[rows], X if Y is None and not self.is_precomputed else Y)
        if Y is None:
            mirror(out)
            if self.name == "rbf":
                np.einsum("ii->i", out)[:] = 1.0
        return out

    def product(self, X: Rows, Y: Any, Z: Array) -> Array:
        """Return the kernel between the rows of `X` and those of `Y` times `Z`, a block of rows at a time."""
        product = np.zeros((X.shape[0], Z.shape[1]))
        if Y.shape[0] > 0:
            for rows in row_blocks(X.shape[0], Y.shape[0]):
                product[rows] = self.matrix(X[rows], Y) @ Z
        return product

    def _values(self, X: Rows, Y: Any) -> Array:
        if self.is_precomputed:
            return X if Y is None else X[:, Y]
        if self.name == "rbf":
            return rbf_from_distances(sparse_distances(X, Y), self.gamma)
        params = self.named_params if isinstance(self.name, str) else dict(self.params or {})
        values: Array = pairwise_kernels(X, Y, metric=self.name, **params)
        return values

"""Models with a kernel: their parameters, and the fit of one ridge system for all rows."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from elmbench.models.base.family import check_condition, estimator, numeric_gamma
from elmbench.models.base.kernel_paths import kernel_path
from elmbench.models.base.paths import CandidateGrid, PathMixin
from elmbench.numerics.arrays import Array, Rows
from elmbench.numerics.feature_system import (
    FeatureSystem,
    needs_features_only,
    solves_in_features,
)
from elmbench.numerics.kernel_system import KernelSystem
from elmbench.numerics.kernels import BLOCK_BYTES
from elmbench.numerics.pairwise import PRECOMPUTED, Kernel, takes_sparse_rows
from elmbench.numerics.solve import RidgeSystem


@estimator
class KernelMixin(BaseEstimator):
    """The parameters of a kernel, and their tags for scikit-learn.

    With ``kernel="precomputed"``, a row holds its kernel with every training row. `fit` takes a
    square matrix and reads its lower triangle; scikit-learn's splitters cut both axes.
    """

    gamma: float | str = "scale"
    kernel: Any = "rbf"
    degree: float = 3
    coef0: float = 1.0
    kernel_params: Mapping[str, Any] | None = None

    @property
    def _accept_sparse(self) -> bool:
        return takes_sparse_rows(self.kernel)

    def _has_kernel(self, *names: str) -> bool:
        """Return True if the kernel is one of these names."""
        return isinstance(self.kernel, str) and self.kernel in names

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._has_kernel(PRECOMPUTED)
        tags.input_tags.positive_only = self._has_kernel("additive_chi2", "chi2")
        return tags

    def _make_kernel(self) -> Kernel:
        return Kernel(
            name=self.kernel,
            gamma=numeric_gamma(self),
            degree=self.degree,
            coef0=self.coef0,
            params=self.kernel_params,
        )


@estimator
class KernelSystemMixin(KernelMixin, PathMixin):
    """A model that solves the `KernelSystem` of all training rows with the ridge 1/C, or its
    `FeatureSystem` if the kernel is linear and features are fewer than rows.
    """

    #: Columns of n numbers that a fit holds for each output.
    _columns: ClassVar[int] = 3

    #: True if the model has intercepts.
    _centred: ClassVar[bool] = False

    C: float = 1.0

    def _fit(self, X: Rows, T: Array, scale: Array | None) -> None:
        kernel = self._make_kernel()
        self._kernel = kernel
        self.n_units_ = X.shape[0]
        self.dictionary_ = kernel.select_rows(X).copy()  # the caller may change X
        # Weights of the features, of shape (n_features, n_outputs), if these solve the system.
        self._weights: Array | None = None
        if solves_in_features(kernel, X):
            self._solve_in_features(X, T, scale)
        else:
            factored = self._solve_kernel_system(X, T, scale)
            self.condition_ = check_condition(self, factored)

    def _solve_in_features(self, X: Rows, T: Array, scale: Array | None) -> None:
        """Solve the system of a linear kernel without its matrix."""
        system = FeatureSystem(X, T, scale, centred=self._centred)
        ridge = 1.0 / self.C
        ridges = np.array([ridge])
        weights, intercept = system.weights(ridges)
        self._weights = weights
        self._intercept = intercept
        self.beta_ = system.row_coefficients(ridge)
        self.condition_ = system.condition(ridge)

    def _solve_kernel_system(
        self, X: Rows, T: Array, scale: Array | None
    ) -> RidgeSystem:
        """Solve the system in the memory of one kernel matrix, and return its factor."""
        kernel = self._kernel
        n = X.shape[0]
        memory = np.empty((n, n), order="F")
        K = kernel.matrix(X, out=memory)
        system = KernelSystem(K, T, scale, centred=self._centred)
        ridge = 1.0 / self.C
        factored = RidgeSystem(K, ridge, definite=kernel.is_definite)
        Z = factored.solve(system.right_hand_sides)
        intercept, beta = system.coefficients(Z)
        self._intercept = intercept
        self.beta_ = beta
        return factored

    def _outputs(self, X: Rows) -> Array:
        if self._weights is not None:
            return np.asarray(X @ self._weights) + self._intercept
        return self._kernel.product(X, self.dictionary_, self.beta_) + self._intercept

    @classmethod
    def memory_estimate(
        cls, n_samples: int, n_features: int, n_outputs: int = 1, **params: Any
    ) -> int:
        """Return the bytes of a fit: one kernel matrix, two copies of the rows and the targets; or
        the singular value decomposition of the rows, if the features solve the system.
        """
        n_targets = n_samples * n_outputs
        if needs_features_only(params.get("kernel"), (n_samples, n_features)):
            n_values = (
                5 * n_features * (n_samples + n_features)
                + (cls._columns + 2) * n_targets
            )
        else:
            n_values = (
                n_samples * (n_samples + 2 * n_features) + cls._columns * n_targets
            )
        return 8 * n_values + 5 * BLOCK_BYTES

    @classmethod
    def _path(cls, grid: CandidateGrid) -> Iterator[tuple[int, int, NDArray[Any]]]:
        return kernel_path(grid, centred=cls._centred)

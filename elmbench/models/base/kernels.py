"""Models with a kernel: its parameters."""

from collections.abc import Mapping
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from elmbench.models.base.family import estimator, numeric_gamma
from elmbench.numerics.pairwise import PRECOMPUTED, Kernel, takes_sparse_rows


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
        """True if rows may be a CSR matrix with this kernel; some kernels need dense rows."""
        return takes_sparse_rows(self.kernel)

    def _has_kernel(self, *names: str) -> bool:
        """Return True if the kernel is given by one of these names; False if it is a callable."""
        return isinstance(self.kernel, str) and self.kernel in names

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._has_kernel(PRECOMPUTED)
        tags.input_tags.positive_only = self._has_kernel("additive_chi2", "chi2")
        return tags

    def _make_kernel(self) -> Kernel:
        """Return the kernel with its parameters.

        A `gamma` of "scale" or "auto" must have its number `_gamma`, which `fit` sets first.
        """
        return Kernel(
            name=self.kernel,
            gamma=numeric_gamma(self),
            degree=self.degree,
            coef0=self.coef0,
            params=self.kernel_params,
        )

"""Parameters of a kernel."""

from collections.abc import Mapping
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from elmbench.models.base.family import width
from elmbench.models.base.parameters import estimator
from elmbench.numerics.pairwise import PRECOMPUTED, Kernel

_NOT_NEGATIVE = ("additive_chi2", "chi2")
"""Kernels of rows without negative entries."""


@estimator
class KernelMixin(BaseEstimator):
    """The parameters of a kernel, and their tags for scikit-learn.

    With ``kernel="precomputed"`` rows hold their kernel with every training row: `fit` takes a square matrix, of which
    the lower triangle counts, and scikit-learn's splitters cut its columns as they do its rows.
    """

    gamma: float | str = "scale"
    kernel: Any = "rbf"
    degree: float = 3
    coef0: float = 1.0
    kernel_params: Mapping[str, Any] | None = None

    @property
    def _accept_sparse(self) -> str | bool:
        return not self._is(PRECOMPUTED) and "csr"

    def _is(self, *names: str) -> bool:
        return isinstance(self.kernel, str) and self.kernel in names

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is(PRECOMPUTED)
        tags.input_tags.positive_only = self._is(*_NOT_NEGATIVE)
        return tags

    def _make_kernel(self) -> Kernel:
        return Kernel(self.kernel, width(self), self.degree, self.coef0, self.kernel_params)

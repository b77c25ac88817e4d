"""The kernel of a model, by name, as a function or as values that are given, checked when the model is fitted."""

from collections.abc import Mapping
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from elmbench.models.base.parameters import check_choice, check_finite, check_real
from elmbench.numerics.pairwise import NAMES, PRECOMPUTED, Kernel

_NOT_NEGATIVE = ("additive_chi2", "chi2")
"""Kernels of rows without negative entries."""


class KernelMixin(BaseEstimator):
    """The parameters `C`, `gamma`, `kernel`, `degree`, `coef0`, `kernel_params`, and what scikit-learn is told of them.

    With ``kernel="precomputed"`` rows hold their kernel with every training row: `fit` takes a square matrix, of which
    the lower triangle counts, and scikit-learn's splitters cut its columns as they do its rows.
    """

    def __init__(
        self,
        C: float = 1.0,
        gamma: float = 1.0,
        kernel: Any = "rbf",
        degree: float = 3,
        coef0: float = 1.0,
        kernel_params: Mapping[str, Any] | None = None,
    ) -> None:
        self.C = C
        self.gamma = gamma
        self.kernel = kernel
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params

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

    def _checked_kernel(self) -> Kernel:
        """Return the kernel: a ValueError or a TypeError if a parameter is out of range."""
        gamma = check_real("gamma", self.gamma)
        if self.kernel_params is not None and not isinstance(self.kernel_params, Mapping):
            raise TypeError(f"kernel_params: expected a dict, got {self.kernel_params!r} instead")
        degree, coef0 = check_real("degree", self.degree), check_finite("coef0", self.coef0)
        kernel = self.kernel if callable(self.kernel) else check_choice("kernel", self.kernel, NAMES)
        return Kernel(kernel, gamma, degree, coef0, self.kernel_params)

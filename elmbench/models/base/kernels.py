"""Parameters of a kernel, and the kernels of each fold for the paths of models."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from elmbench.models.base.family import width
from elmbench.models.base.parameters import estimator
from elmbench.models.base.paths import Grid
from elmbench.numerics.arrays import Array
from elmbench.numerics.kernels import rbf_from_distances, row_blocks, squared_distances
from elmbench.numerics.pairwise import PRECOMPUTED, Kernel
from elmbench.numerics.ridge_path import ridge_solutions
from elmbench.numerics.rows import Rows
from elmbench.numerics.solve import RidgeSystem

_NOT_NEGATIVE = ("additive_chi2", "chi2")
"""Kernels of rows without negative entries."""


@estimator
class KernelMixin(BaseEstimator):
    """The parameters of a kernel, and their tags for scikit-learn.

    With ``kernel="precomputed"``, a row holds its kernel with every training row. `fit` takes a square matrix and reads
    its lower triangle; scikit-learn's splitters cut both axes.
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


class _FoldKernels:
    """The kernel matrices of a fold; the distances for the Gaussian kernel are computed once for every `gamma`."""

    def __init__(self, grid: Grid, fold: int) -> None:
        self._X, (self._train, self._test) = grid.X, grid.folds[fold]
        n = len(self._train)
        self._room = np.empty((n, n), order="F")
        self._pairwise: Array | None = None
        self._probes: list[Array] = []

    def pairwise(self, kernel: Kernel) -> Array:
        """Return the kernel matrix of the training rows, which the next call overwrites."""
        if not kernel.is_plain(self._X):
            kernel.chosen(self._X)
            return kernel.matrix(self._rows(kernel, self._train), out=self._room)
        if self._pairwise is None:
            X, train, test = self._X, self._train, self._test
            self._pairwise = squared_distances(X[train], out=np.empty_like(self._room))
            self._probes = [squared_distances(X[test[rows]], X[train]) for rows in row_blocks(len(test), len(train))]
        np.copyto(self._room, self._pairwise)
        return rbf_from_distances(self._room, kernel.gamma)

    def product(self, kernel: Kernel, beta: Array) -> Array:
        """Return the product of the kernel between test and training rows with `beta`; after `pairwise`."""
        if kernel.is_plain(self._X):
            return np.concatenate([rbf_from_distances(probe.copy(), kernel.gamma) @ beta for probe in self._probes])
        rows = np.arange(len(self._train)) if kernel.precomputed else self._X[self._train]
        return kernel.product(self._rows(kernel, self._test), rows, beta)

    def _rows(self, kernel: Kernel, numbers: Any) -> Rows:
        return kernel.part(self._X, numbers, self._train)


class Member(NamedTuple):
    """A candidate: its number, its kernel, its ridge and the scale of the training rows."""

    position: int
    kernel: Kernel
    ridge: float
    scale: Array | None


class Solved(NamedTuple):
    """Candidates with the same matrix: their members, solutions, and the product with the test rows."""

    members: list[Member]
    solutions: list[Array]
    product: Callable[[Array], Array]


def solved_together(
    grid: Grid, fold: int, members: list[Member], right: Callable[[Array | None], Array]
) -> Iterator[Solved]:
    """Solve (S K S + r I) Z = B for all candidates on a fold, those with the same kernel and scale together.

    `right` returns B for a scale. This takes three matrices of 8 m^2 bytes for m training rows, two with a kernel that
    is not `Kernel.is_plain`.
    """
    kernels = _FoldKernels(grid, fold)
    for group in by_matrix(members):
        _, kernel, _, scale = group[0]
        K = kernels.pairwise(kernel)
        weigh(K, scale)
        ridges = np.array([member.ridge for member in group])
        Z = ridge_solutions(K, right(scale), ridges, grid.solvers, kernel.definite)
        yield Solved(group, np.hsplit(Z, len(group)), partial(kernels.product, kernel))


def by_matrix(members: Iterable[Member]) -> list[list[Member]]:
    """Return candidates in groups with the same kernel and the same scale."""
    groups: dict[Any, list[Member]] = {}
    for member in members:
        scale = b"" if member.scale is None else member.scale.tobytes()
        groups.setdefault((member.kernel.key, scale), []).append(member)
    return list(groups.values())


def weigh(K: Array, scale: Array | None) -> None:
    """Multiply a kernel matrix by the scale of its rows and of its columns, in place."""
    if scale is not None and (scale != 1.0).any():
        K *= scale[:, np.newaxis]
        K *= scale


def kernel_system(model: Any, X: Rows, scale: Array | None) -> RidgeSystem:
    """Factor S K S + I/C on the training rows of a model with a kernel, in the memory of one kernel matrix."""
    kernel, n = model._make_kernel(), X.shape[0]
    model._kernel, model.dictionary_, model.n_units_ = kernel, kernel.chosen(X), n
    K = kernel.matrix(X, out=np.empty((n, n), order="F"))
    weigh(K, scale)
    return RidgeSystem(K, 1.0 / model.C, definite=kernel.definite)

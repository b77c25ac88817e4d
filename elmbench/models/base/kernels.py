"""Models with a kernel: their parameters, one ridge system for all rows, and the paths over their grids."""

from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from elmbench.models.base.family import check_condition, estimator, numeric_gamma
from elmbench.models.base.paths import Grid, PathMixin
from elmbench.numerics.arrays import EPS, Array, Indices
from elmbench.numerics.kernels import BLOCK_BYTES, rbf_from_distances, squared_distances
from elmbench.numerics.low_rank import kernel_factor
from elmbench.numerics.pairwise import PRECOMPUTED, Kernel
from elmbench.numerics.ridge_path import WITHIN_ROUND_OFF, ridge_solutions
from elmbench.numerics.rows import Rows, scaled_rows
from elmbench.numerics.solve import RidgeSystem


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
    def _accept_sparse(self) -> bool:
        return not self._has_kernel(PRECOMPUTED)

    def _has_kernel(self, *names: str) -> bool:
        """Return True if the kernel is one of these names."""
        return isinstance(self.kernel, str) and self.kernel in names

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._has_kernel(PRECOMPUTED)
        tags.input_tags.positive_only = self._has_kernel("additive_chi2", "chi2")
        return tags

    def _make_kernel(self) -> Kernel:
        return Kernel(self.kernel, numeric_gamma(self), self.degree, self.coef0, self.kernel_params)


class Member(NamedTuple):
    """A candidate: its number, its kernel, its ridge and the scale of the training rows."""

    position: int
    kernel: Kernel
    ridge: float
    scale: Array | None


@estimator
class KernelSystemMixin(KernelMixin, PathMixin):
    """A model that solves (S K S + I/C) Z = B for the kernel K of all training rows, and the scale S of these.

    `_right_hand_sides` returns B, and `_coefficients` intercepts and `beta_` from Z.
    """

    _columns: ClassVar[int] = 3  # of n numbers, that a fit takes for each output
    _centred: ClassVar[bool] = False  # True if the model has an intercept

    C: float = 1.0

    @staticmethod
    def _right_hand_sides(T: Array, scale: Array | None) -> Array:
        """Return S T."""
        return scaled_rows(T, scale)

    @staticmethod
    def _coefficients(solution: Array, scale: Array | None) -> tuple[Any, Array]:
        """Return the intercepts, if any, and the coefficients S Z."""
        return 0.0, scaled_rows(solution, scale)

    def _fit(self, X: Rows, T: Array, scale: Array | None) -> None:
        """Solve the system in the memory of one kernel matrix."""
        kernel, n = self._make_kernel(), X.shape[0]
        self._kernel, self.dictionary_, self.n_units_ = kernel, kernel.select_rows(X), n
        K = kernel.matrix(X, out=np.empty((n, n), order="F"))
        _weigh(K, scale)
        system = RidgeSystem(K, 1.0 / self.C, definite=kernel.is_definite)
        self._intercept, self.beta_ = self._coefficients(system.solve(self._right_hand_sides(T, scale)), scale)
        self.condition_ = check_condition(self, system)

    def _outputs(self, X: Rows) -> Array:
        return self._kernel.product(X, self.dictionary_, self.beta_) + self._intercept

    @classmethod
    def memory_estimate(cls, n_samples: int, n_features: int, n_outputs: int = 1, **params: Any) -> int:
        """Count one kernel matrix."""
        return 8 * n_samples * (n_samples + 2 * n_features + cls._columns * n_outputs) + 5 * BLOCK_BYTES

    @classmethod
    def _by_factor(
        cls, grid: Grid, kernels: Mapping[int, Kernel], max_share: float, checks_labels: bool = False
    ) -> Generator[tuple[int, int, NDArray[Any]], None, dict[int, Kernel]]:
        """Yield the outputs of the candidates whose Gaussian kernel has a factor of few columns; return the others.

        Candidates are given by their numbers and kernels. `max_share` limits the columns, as a share of the rows. A
        candidate is fitted if its ridge is within round-off or, with `checks_labels`, if an error of ten times
        condition times machine precision would change a label.
        """
        others = dict(kernels)
        for gamma in sorted({kernel.gamma for kernel in kernels.values() if kernel.is_plain(grid.X)}):
            L = kernel_factor(grid.X, gamma, int(max_share * grid.X.shape[0]))
            if L is None:  # a larger gamma takes more columns
                break
            low_rank = {i: k for i, k in kernels.items() if k.is_plain(grid.X) and k.gamma == gamma}
            others = {i: kernel for i, kernel in others.items() if i not in low_rank}
            for j, (train, test) in enumerate(grid.folds):
                T, decode = grid.encode(train)
                for group in _group_candidates(grid, train, low_rank):
                    outputs, row_sums = _factor_outputs(L[train], L[test], T, group, cls._centred, grid.solvers)
                    ridges = np.array([member.ridge for member in group])
                    accepted = ridges > WITHIN_ROUND_OFF * EPS * row_sums.max()
                    if checks_labels:
                        errors = 10 * EPS * (1 + row_sums.mean() / ridges) * np.abs(T).max()
                        accepted &= cls._each_holds(outputs, np.tile(errors, (len(test), 1)))
                    parts = np.hsplit(outputs, len(group))
                    for (i, kernel, *_), part, holds in zip(group, parts, accepted, strict=True):
                        yield i, j, decode(part) if holds else grid.fitted_outputs(i, j, kernel)
        return others

    @classmethod
    def _by_matrix(cls, grid: Grid, kernels: Mapping[int, Kernel]) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Yield the outputs of candidates with any kernels and weights; those with the same matrix are solved together.

        Candidates are given by their numbers and kernels. They take three matrices of 8 m^2 bytes for m training rows,
        two with a kernel that is not `Kernel.is_plain`: distances serve every `gamma`.
        """
        for j, (train, _) in enumerate(grid.folds if kernels else ()):
            T, decode = grid.encode(train)
            room = np.empty((len(train), len(train)), order="F")
            distances: Array | None = None
            for group in _group_candidates(grid, train, kernels):
                _, kernel, _, scale = group[0]
                X, probes = grid.rows(j, kernel)
                dictionary = kernel.select_rows(X)
                if kernel.is_plain(X):
                    distances = squared_distances(X, out=np.empty_like(room)) if distances is None else distances
                    K = rbf_from_distances(distances, kernel.gamma, out=room)
                else:
                    K = kernel.matrix(X, out=room)
                _weigh(K, scale)
                ridges = np.array([member.ridge for member in group])
                Z = ridge_solutions(K, cls._right_hand_sides(T, scale), ridges, grid.solvers, kernel.is_definite)
                solutions = [cls._coefficients(part, scale) for part in np.hsplit(Z, len(group))]
                products = kernel.product(probes, dictionary, np.hstack([beta for _, beta in solutions]))
                for member, (intercept, _), part in zip(group, solutions, np.hsplit(products, len(group)), strict=True):
                    yield member.position, j, decode(part + intercept)


def _group_candidates(grid: Grid, train: Indices, kernels: Mapping[int, Kernel]) -> Iterator[list[Member]]:
    """Yield candidates, given by their numbers and kernels, in groups with the same kernel and the same scale."""
    groups: dict[Any, list[Member]] = {}
    for i, kernel in kernels.items():
        scale = grid.models[i]._scale(grid.y[train])
        key = kernel.key, b"" if scale is None else scale.tobytes()
        groups.setdefault(key, []).append(Member(i, kernel, 1.0 / grid.models[i].C, scale))
    yield from groups.values()


def _weigh(K: Array, scale: Array | None) -> None:
    """Multiply a kernel matrix by the scale of its rows and of its columns, in place."""
    if scale is not None and (scale != 1.0).any():
        K *= scale[:, np.newaxis]
        K *= scale


def _factor_outputs(
    M: Array, M_test: Array, T: Array, group: list[Member], centred: bool, solvers: Counter[str]
) -> tuple[Array, Array]:
    """Return the outputs of ridge regression on the columns of a factor, and the row sums of S K S.

    M_test (M'S^2 M + r I)^-1 M'S^2 T is K_test S (S K S + r I)^-1 S T. With an intercept, the weighted means are
    subtracted from M and T.
    """
    ridges, scale = np.array([member.ridge for member in group]), group[0].scale
    weighted = scaled_rows(M, scale)
    row_sums = weighted @ weighted.sum(axis=0)
    means = np.zeros(T.shape[1])
    if centred:
        weights = np.ones(len(M)) if scale is None else scale**2
        means, origin = weights @ T / weights.sum(), weights @ M / weights.sum()
        M_test, T, weighted = M_test - origin, T - means, scaled_rows(M - origin, scale)
    W = ridge_solutions(weighted.T @ weighted, weighted.T @ scaled_rows(T, scale), ridges, solvers)
    return M_test @ W + np.tile(means, len(ridges)), row_sums

"""Models with a kernel: their parameters, one ridge system for all rows, and the paths over their
grids.
"""

from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from elmbench.models.base.family import check_condition, estimator, numeric_gamma
from elmbench.models.base.paths import CandidateGrid, PathMixin
from elmbench.models.base.weights import weight_key
from elmbench.numerics.arrays import EPS, Array, Indices, Rows
from elmbench.numerics.fold_solutions import FoldView, fold_solutions, fold_views
from elmbench.numerics.kernel_system import KernelSystem
from elmbench.numerics.kernels import (
    BLOCK_BYTES,
    kernel_factor,
    kernel_ladder,
    kernel_round_off,
    rbf_from_distances,
    squared_distances,
)
from elmbench.numerics.pairwise import PRECOMPUTED, Kernel, takes_sparse_rows
from elmbench.numerics.ridge_path import WITHIN_ROUND_OFF, reduced_solutions, ridge_solutions
from elmbench.numerics.solve import RidgeSystem, scaled_rows

MAX_SHARE = 1 / 6
"""Columns of a factor of the kernel over its rows up to which it is faster than solvers for the
whole kernel.
"""


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
        return Kernel(self.kernel, numeric_gamma(self), self.degree, self.coef0, self.kernel_params)


@estimator
class KernelSystemMixin(KernelMixin, PathMixin):
    """A model that solves the `KernelSystem` of all training rows with the ridge 1/C."""

    _columns: ClassVar[int] = 3  # of n numbers, that a fit takes for each output
    _centred: ClassVar[bool] = False  # True if the model has intercepts

    C: float = 1.0

    def _fit(self, X: Rows, T: Array, scale: Array | None) -> None:
        """Solve the system in the memory of one kernel matrix."""
        kernel = self._make_kernel()
        n = X.shape[0]
        self._kernel = kernel
        self.n_units_ = n
        self.dictionary_ = kernel.select_rows(X).copy()  # the caller may change X
        K = kernel.matrix(X, out=np.empty((n, n), order="F"))
        system = KernelSystem(K, T, scale, centred=self._centred)
        factored = RidgeSystem(K, 1.0 / self.C, definite=kernel.is_definite)
        Z = factored.solve(system.right_hand_sides)
        self._intercept, self.beta_ = system.coefficients(Z)
        self.condition_ = check_condition(self, factored)

    def _outputs(self, X: Rows) -> Array:
        return self._kernel.product(X, self.dictionary_, self.beta_) + self._intercept

    @classmethod
    def memory_estimate(
        cls, n_samples: int, n_features: int, n_outputs: int = 1, **params: Any
    ) -> int:
        """Count one kernel matrix."""
        return (
            8 * n_samples * (n_samples + 2 * n_features + cls._columns * n_outputs)
            + 5 * BLOCK_BYTES
        )

    @classmethod
    def _path(cls, grid: CandidateGrid) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Compute the kernel of the training rows of all folds once for each `gamma`, see
        `fold_views`.

        This holds for the Gaussian kernel of dense rows without weights; see `_by_matrix` for
        others. All `C` of a fold are solved at once, see `fold_solutions`. Values are accepted if
        their system is solved, and labels if the errors of the outputs do not change them, see
        `_FoldProblem`. Shared work takes 8 n^2 bytes for n training rows and at most 12 m^2 more
        for the m rows of the largest fold; the distances of few rows are kept as well, see
        `kernel_ladder`.
        """
        kernels = yield from cls._by_factor(
            grid, {i: model._make_kernel() for i, model in enumerate(grid.models)}
        )
        plain = {
            i: k
            for i, k in kernels.items()
            if k.is_plain(grid.X) and weight_key(grid.models[i]) is None
        }
        yield from cls._by_matrix(
            grid, {i: kernel for i, kernel in kernels.items() if i not in plain}
        )
        if not plain:
            return
        gammas = {
            kernel.gamma: by_ridge
            for kernel, _, by_ridge in _group_candidates(grid, grid.folds[0][0], plain)
        }
        order, parts = fold_views(grid.folds)
        targets = [grid.encode(part.rows) for part in parts]
        room = np.empty(max(len(part.rows) for part in parts) ** 2)
        for gamma, omega in kernel_ladder(grid.X[order], list(gammas)):
            by_ridge = dict(sorted(gammas[gamma].items()))
            ridges = np.array([*by_ridge])
            for j, (part, (T, decode)) in enumerate(zip(parts, targets, strict=True)):
                n = len(part.rows)
                problem = _FoldProblem(
                    grid=grid,
                    fold=j,
                    view=part,
                    gamma=gamma,
                    shared=omega,
                    K=room[: n * n].reshape((n, n), order="F"),
                    T=T,
                    centred=cls._centred,
                )
                outputs, accurate = problem.solve(ridges)
                yield from grid.results(by_ridge.values(), j, outputs, decode, accurate)

    @classmethod
    def _by_factor(
        cls, grid: CandidateGrid, kernels: Mapping[int, Kernel]
    ) -> Generator[tuple[int, int, NDArray[Any]], None, dict[int, Kernel]]:
        """Yield the outputs of the candidates whose Gaussian kernel has a factor of few columns;
        return the others.
        """
        others = dict(kernels)
        for gamma in sorted(
            {kernel.gamma for kernel in kernels.values() if kernel.is_plain(grid.X)}
        ):
            L = kernel_factor(grid.X, gamma, int(MAX_SHARE * grid.X.shape[0]))
            if L is None:  # a larger gamma takes more columns
                break
            low_rank = {i: k for i, k in kernels.items() if k.is_plain(grid.X) and k.gamma == gamma}
            others = {i: kernel for i, kernel in others.items() if i not in low_rank}
            for j, (train, test) in enumerate(grid.folds):
                T, decode = grid.encode(train)
                for _, scale, by_ridge in _group_candidates(grid, train, low_rank):
                    weighted = scaled_rows(L[train], scale)
                    # No eigenvalue of S K S is larger than its largest row sum.
                    least = WITHIN_ROUND_OFF * EPS * (weighted @ weighted.sum(axis=0)).max()
                    ridges = np.array([*by_ridge])
                    solved = ridges > least
                    outputs = np.full((len(test), len(ridges) * T.shape[1]), np.nan)
                    if solved.any():
                        columns = np.repeat(solved, T.shape[1])
                        outputs[:, columns] = _factor_outputs(
                            L[train], L[test], T, ridges[solved], scale, cls._centred
                        )
                        grid.solvers["reduction"] += int(solved.sum())
                    accepted = solved & grid.holds(outputs, len(ridges))
                    yield from grid.results(by_ridge.values(), j, outputs, decode, accepted)
        return others

    @classmethod
    def _by_matrix(
        cls, grid: CandidateGrid, kernels: Mapping[int, Kernel]
    ) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Yield the outputs of candidates with any kernels and weights; those with the same matrix
        are solved together.

        Candidates are given by their numbers and kernels. They take three matrices of 8 m^2 bytes
        for m training rows, two with a kernel that is not `Kernel.is_plain`: distances serve every
        `gamma`.
        """
        for j, (train, test) in enumerate(grid.folds if kernels else ()):
            X = grid.X[train]
            probes = grid.X[test]
            (T, decode) = grid.encode(train)
            room = np.empty((len(train), len(train)), order="F")
            distances: Array | None = None
            for kernel, scale, by_ridge in _group_candidates(grid, train, kernels):
                if kernel.is_plain(X):
                    distances = (
                        squared_distances(X, out=np.empty_like(room))
                        if distances is None
                        else distances
                    )
                    K = rbf_from_distances(distances, kernel.gamma, out=room)
                else:
                    K = kernel.matrix(X, out=room)
                system = KernelSystem(K, T, scale, centred=cls._centred)
                ridges = np.array([*by_ridge])
                norm = float(np.linalg.norm(K))
                Z = ridge_solutions(
                    K, system.right_hand_sides, ridges, grid.solvers, kernel.is_definite
                )
                intercepts, beta = system.coefficients(Z)
                outputs = kernel.product(probes, X, beta) + intercepts
                # Residuals are within the round-off of the terms that they add up to. They change
                # the outputs for training rows, and so for similar ones, by at most as much.
                sizes = np.abs(Z).reshape(len(Z), len(ridges), -1)
                residuals = 10 * EPS * (norm + ridges) * np.linalg.norm(sizes, axis=0).max(axis=1)
                accepted = grid.holds(outputs, len(ridges), least=residuals)
                yield from grid.results(by_ridge.values(), j, outputs, decode, accepted)


@dataclass(frozen=True)
class _FoldProblem:
    """The systems of all ridges on one fold, whose kernel is part of a shared matrix.

    Attributes
    ----------
    grid : CandidateGrid
    fold : int
        Number of the fold.
    view : FoldView
        The rows of the fold in the shared matrix.
    gamma : float
    shared : ndarray
        The kernel matrix of the training rows of all folds.
    K : ndarray of shape (n_train, n_train)
        Memory for the kernel matrix of the fold, which the solvers overwrite.
    T : ndarray of shape (n_train, k)
        Targets.
    centred : bool
        True if the model has intercepts.
    """

    grid: CandidateGrid
    fold: int
    view: FoldView
    gamma: float
    shared: Array
    K: Array
    T: Array
    centred: bool

    def solve(self, ridges: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Return the outputs for the test rows, (n_test, p * k), and for each ridge False if a fit
        is needed.

        Systems are factored if the errors of an iteration are too large. Fits decide ties.
        """
        n, k = self.T.shape
        solvers = self.grid.solvers
        system = self._make_system()
        norm = n * system.centre_products.max() if self.centred else None
        Z, errors = fold_solutions(self.K, system.right_hand_sides, ridges, solvers, norm=norm)
        outputs, accurate = self._outputs(system, Z, errors, ridges)
        again = np.flatnonzero(~accurate & (errors > 0))
        if len(again):
            solvers["bound failed"] += len(again)
            system = self._make_system()
            Z = ridge_solutions(
                self.K, system.right_hand_sides, ridges[again], solvers, overwrite=True
            )
            columns = (again[:, np.newaxis] * k + np.arange(k)).ravel()
            no_errors = np.zeros(len(again))
            outputs[:, columns], accurate[again] = self._outputs(
                system, Z, no_errors, ridges[again]
            )
        return outputs, accurate

    def _make_system(self) -> KernelSystem:
        self.view.copy(self.shared, self.K)
        return KernelSystem(self.K, self.T, None, centred=self.centred)

    def _outputs(
        self, system: KernelSystem, Z: Array, errors: Array, ridges: Array
    ) -> tuple[Array, NDArray[np.bool_]]:
        """Return the outputs, (n_test, p * k), and for each ridge, True if they are accurate
        enough.
        """
        intercepts, beta = system.coefficients(Z)
        ones = np.ones((len(Z), 1), order="F")
        product = self._test_product(np.hstack([beta, ones]))
        outputs = product[:, :-1] + intercepts
        accurate = np.isfinite(errors)
        if self.grid.decides_labels:
            mass = product[:, -1:]
            bounds = self._solution_bounds(system, mass, errors, ridges)
            bounds += self._round_off_bounds(system, mass, Z, errors)
            # The intercept, the mean of targets -1/+1, has round-off too.
            bounds += len(Z) * EPS if self.centred else 0.0
            accurate &= self.grid.models[0]._each_holds(outputs, bounds)
        return outputs, accurate

    def _test_product(self, weights: Array) -> Array:
        """Return the product of the kernel between test and training rows with some weights."""
        if self.view.test is not None:
            return self.view.product(self.shared, weights)
        test = self.grid.folds[self.fold][1]
        kernel = Kernel(gamma=self.gamma)
        return kernel.product(self.grid.X[test], self.grid.X[self.view.rows], weights)

    def _solution_bounds(
        self, system: KernelSystem, mass: Array, errors: Array, ridges: Array
    ) -> Array:
        """Return 4 |e| min(sqrt(k(x, x) / r), |k(x)| / r), of shape (n_test, p): bounds of |k(x)'
        (K + r I)^-1 e| for residuals e.

        The Gaussian k(x, x) is 1. With an intercept, outputs are t + (k(x) - m)'beta: the squared
        distance of x from the centre, at most 2, replaces k(x, x), and k(x) - m replaces k(x). The
        factor 4 is for the round-off of the fit, which also decides ties.
        """
        n = len(self.T)
        centred_mass = mass + system.centre_products.sum()
        largest_square = 2.0 if self.centred else 1.0
        sizes = np.maximum(errors, 4 * EPS * np.sqrt(n))
        factors = np.minimum((largest_square / ridges) ** 0.5, centred_mass / ridges)
        return np.asarray(4 * sizes * factors)

    def _round_off_bounds(
        self, system: KernelSystem, mass: Array, Z: Array, errors: Array
    ) -> Array:
        """Return bounds of the round-off of the products k(x)'Z, of shape (n_test, p).

        Entries of k(x) and sums of n terms have errors relative to |k(x)|'|Z|, which dominate if
        coefficients cancel. Those of a fit are as large, so it is asked only if independent errors
        would change a label.
        """
        n = len(Z)
        centred_mass = mass + system.centre_products.sum()
        round_off = kernel_round_off(self.grid.X, self.gamma)
        worst = (round_off + n * EPS) * centred_mass
        likely = round_off * np.minimum(centred_mass, np.sqrt(centred_mass))
        largest = np.abs(Z).reshape(n, len(errors), -1).max(axis=(0, 2))
        return np.where(errors > 0, worst * largest, likely * largest)


def _group_candidates(
    grid: CandidateGrid, train: Indices, kernels: Mapping[int, Kernel]
) -> Iterable[tuple[Kernel, Array | None, dict[float, list[int]]]]:
    """Return each kernel and scale of training rows, with the candidates that have them: their
    numbers by ridge.

    `kernels` are the kernels of the candidates by their numbers.
    """
    groups: dict[Any, tuple[Kernel, Array | None, dict[float, list[int]]]] = {}
    for i, kernel in kernels.items():
        scale = grid.models[i]._scale(grid.y[train])
        key = kernel.key, b"" if scale is None else scale.tobytes()
        *_, by_ridge = groups.setdefault(key, (kernel, scale, {}))
        by_ridge.setdefault(1.0 / grid.models[i].C, []).append(i)
    return groups.values()


def _factor_outputs(
    M: Array, M_test: Array, T: Array, ridges: Array, scale: Array | None, centred: bool
) -> Array:
    """Return the outputs of ridge regression on the columns of a factor.

    M_test (M'S^2 M + r I)^-1 M'S^2 T is K_test S (S K S + r I)^-1 S T. With an intercept, the
    weighted means are subtracted from M and T. One reduction serves all ridges, which are larger
    than round-off: the entries of M'S^2 M are graded, so `RidgeSystem` would drop directions that a
    fit, which factors S K S, does not.
    """
    means = np.zeros(T.shape[1])
    if centred:
        weights = np.ones(len(M)) if scale is None else scale**2
        means = weights @ T / weights.sum()
        origin = weights @ M / weights.sum()
        M = M - origin
        M_test = M_test - origin
        T = T - means
    M = scaled_rows(M, scale)
    W = reduced_solutions(np.asfortranarray(M.T @ M), M.T @ scaled_rows(T, scale), ridges)
    return M_test @ W + np.tile(means, len(ridges))

"""Paths over the grids of models that solve a kernel system, such as K-ELM."""

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.models.base.paths import CandidateGrid
from elmbench.models.base.weights import weight_key
from elmbench.numerics.arrays import EPS, Array, Indices, Rows
from elmbench.numerics.error_bounds import (
    direct_residuals,
    kernel_round_off,
    least_reducible_ridge,
    product_round_off,
    solution_bounds,
)
from elmbench.numerics.feature_system import FeatureSystem, solves_in_features
from elmbench.numerics.fold_solutions import FoldView, fold_solutions, fold_views
from elmbench.numerics.kernel_system import KernelSystem
from elmbench.numerics.kernels import (
    kernel_factor,
    kernel_ladder,
    rbf_from_distances,
    squared_distances,
)
from elmbench.numerics.pairwise import Kernel
from elmbench.numerics.ridge_path import reduced_solutions, ridge_solutions
from elmbench.numerics.solve import scaled_rows

#: Columns of a factor of the kernel, over its rows, up to which it is faster than a solver for the
#: whole kernel.
MAX_SHARE = 1 / 6

Outputs = Iterator[tuple[int, int, NDArray[Any]]]
"""Candidate, fold and outputs for the test rows, see `PathMixin._path`."""


def kernel_path(grid: CandidateGrid, *, centred: bool) -> Outputs:
    """Choose a method for each candidate, and yield its outputs on every fold.

    A Gaussian kernel of dense rows with a factor of few columns is solved by that factor. Other
    Gaussian kernels of dense rows share a kernel matrix of all folds, unless the rows have weights.
    The remaining candidates have a kernel matrix for each fold. So candidates come in another order
    than in the grid.

    Parameters
    ----------
    grid : CandidateGrid
        Its models solve a kernel system. Its `solvers` count their uses.
    centred : bool
        True if the models have intercepts.

    Yields
    ------
    candidate, fold : int
        Their numbers in the grid.
    outputs : ndarray
        What the method `grid.output` of the fitted model returns for the test rows.
    """
    kernels = {i: model._make_kernel() for i, model in enumerate(grid.models)}
    plain = {i: kernel for i, kernel in kernels.items() if kernel.is_plain(grid.X)}
    with_factor = yield from _low_rank_path(grid, plain, centred)
    shared = {}
    separate = {}
    for i, kernel in kernels.items():
        if i in with_factor:
            continue
        has_weights = weight_key(grid.models[i]) is not None
        if i in plain and not has_weights:
            shared[i] = kernel
        else:
            separate[i] = kernel
    yield from _matrix_path(grid, separate, centred)
    yield from _shared_path(grid, shared, centred)


# --- Groups of candidates


@dataclass(frozen=True)
class _KernelGroup:
    """Candidates with the same kernel matrix.

    Attributes
    ----------
    kernel : Kernel
    scale : ndarray of shape (n_train,) or None
        Square roots of the weights of the training rows.
    by_ridge : dict of float to list of int
        Numbers of the candidates for each ridge.
    """

    kernel: Kernel
    scale: Array | None
    by_ridge: dict[float, list[int]] = field(default_factory=dict)

    @property
    def ridges(self) -> Array:
        """The ridges, of shape (p,)."""
        return np.array([*self.by_ridge])

    @property
    def members(self) -> list[list[int]]:
        """The numbers of the candidates, a list for each ridge, in the order of `ridges`."""
        return list(self.by_ridge.values())


def _group_candidates(
    grid: CandidateGrid, train: Indices, kernels: Mapping[int, Kernel]
) -> list[_KernelGroup]:
    """Return candidates in groups with the same kernel and the same weights of the training rows.

    The numbers of the candidates of a group are in lists for each ridge. `train`: the numbers of
    these rows. `kernels`: {number of a candidate: its kernel}; other candidates of the grid are
    left out.
    """
    labels = grid.y[train]
    groups: dict[Any, _KernelGroup] = {}
    for i, kernel in kernels.items():
        # The same matrix has the same kernel and the same weights of rows.
        model = grid.models[i]
        scale = model._scale(labels)
        scale_key = b"" if scale is None else scale.tobytes()
        key = (kernel.key, scale_key)
        if key not in groups:
            groups[key] = _KernelGroup(kernel=kernel, scale=scale)
        group = groups[key]
        candidates = group.by_ridge.setdefault(model._ridge, [])
        candidates.append(i)
    return list(groups.values())


# --- One factor for all folds


def _low_rank_path(
    grid: CandidateGrid, kernels: Mapping[int, Kernel], centred: bool
) -> Generator[tuple[int, int, NDArray[Any]], None, set[int]]:
    """Yield (candidate, fold, outputs) for the candidates whose kernel has a factor of few columns.

    They come in ascending order of gamma, and the generator returns the set of their numbers. The
    factor may have up to `MAX_SHARE` times as many columns as the grid has rows. `kernels`: {number
    of a candidate: its Gaussian kernel} of those that are tried. `centred`: True if the models have
    intercepts. `outputs`: the values of the method `grid.output` for the test rows.
    """
    n_rows = grid.X.shape[0]
    max_rank = int(MAX_SHARE * n_rows)
    with_factor: set[int] = set()
    gammas = {kernel.gamma for kernel in kernels.values()}
    for gamma in sorted(gammas):
        L = kernel_factor(grid.X, gamma, max_rank)
        if L is None:  # a larger gamma takes more columns
            break
        same_matrix = {
            i: kernel for i, kernel in kernels.items() if kernel.gamma == gamma
        }
        yield from _factor_path(grid, L, same_matrix, centred)
        with_factor.update(same_matrix)
    return with_factor


def _factor_path(
    grid: CandidateGrid, L: Array, kernels: Mapping[int, Kernel], centred: bool
) -> Outputs:
    """Yield (candidate, fold, outputs) for candidates that all have the kernel matrix L L'.

    `L`: of shape (n_rows, rank), with a row for each row of the grid. `kernels`: {number of a
    candidate: its kernel}. `centred`: True if the models have intercepts. Candidates with a ridge
    within round-off, or with a label that round-off may change, are fitted one by one. `outputs`:
    the values of the method `grid.output` for the test rows.
    """
    for fold, (train, test) in enumerate(grid.folds):
        T, decode = grid.encode(train)
        k = T.shape[1]
        for group in _group_candidates(grid, train, kernels):
            ridges = group.ridges
            n_ridges = len(ridges)
            is_solved = ridges > least_reducible_ridge(
                scaled_rows(L[train], group.scale)
            )
            outputs = np.full((len(test), n_ridges * k), np.nan)
            if is_solved.any():
                columns = np.repeat(is_solved, k)
                outputs[:, columns] = _factor_outputs(
                    L[train],
                    L[test],
                    T,
                    ridges[is_solved],
                    scale=group.scale,
                    centred=centred,
                )
                grid.solvers["reduction"] += int(is_solved.sum())
            accepted = is_solved & grid.holds(outputs, n_ridges)
            yield from grid.results(group.members, fold, outputs, decode, accepted)


def _factor_outputs(
    M: Array,
    M_test: Array,
    T: Array,
    ridges: Array,
    *,
    scale: Array | None,
    centred: bool,
) -> Array:
    """Return M_test (M'S^2 M + r I)^-1 M'S^2 T for all ridges r and the scale S of the rows.

    `M`: rows of the factor for the training rows, (n_train, rank). `M_test`: for the test rows,
    (n_test, rank). `T`: targets, (n_train, k). `ridges`: larger than round-off, (p,). `scale`: the
    diagonal of S, the roots of the rows' weights; None if all are 1. `centred`: True for an
    intercept: the weighted mean of the rows of M is subtracted from M and M_test, that of T is
    subtracted from T and added to the result. The arguments stay unchanged.

    The result is of shape (n_test, p * k), the k columns of the first ridge first. It is K_test S
    (S K S + r I)^-1 S T for the kernel matrices K = M M' and K_test = M_test M'.
    """
    # The entries of M'S^2 M are graded, so `RidgeSystem` would drop directions that a fit, which
    # factors S K S, does not.
    means = np.zeros(T.shape[1])
    if centred:
        # The weighted means of the rows.
        weights = np.ones(len(M)) if scale is None else scale**2
        total = weights.sum()
        means = weights @ T / total
        origin = weights @ M / total
        M = M - origin
        M_test = M_test - origin
        T = T - means
    # (M'S^2 M + r I)^-1 M'S^2 T.
    M = scaled_rows(M, scale)
    T = scaled_rows(T, scale)
    gram = np.asfortranarray(M.T @ M)
    moments = M.T @ T
    # One reduction serves all ridges.
    weights_of_columns = reduced_solutions(gram, moments, ridges)
    all_means = np.tile(means, len(ridges))
    return M_test @ weights_of_columns + all_means


# --- A kernel matrix for each fold


def _matrix_path(
    grid: CandidateGrid, kernels: Mapping[int, Kernel], centred: bool
) -> Outputs:
    """Yield (candidate, fold, outputs) for candidates with any kernels and weights.

    `kernels`: {number of a candidate: its kernel}; other candidates are left out. `centred`: True
    if the models have intercepts. Candidates with the same matrix are solved together. Those with a
    label that round-off may change are fitted one by one. `outputs`: the values of the method
    `grid.output` for the test rows.
    """
    if not kernels:
        return
    for number, (train, test) in enumerate(grid.folds):
        T, decode = grid.encode(train)
        fold = _SeparateFold(
            X=grid.X[train],
            X_test=grid.X[test],
            T=T,
            centred=centred,
            solvers=grid.solvers,
        )
        for group in _group_candidates(grid, train, kernels):
            outputs, residuals = fold.solve(group)
            members = group.members
            accepted = grid.holds(outputs, len(members), least=residuals)
            yield from grid.results(members, number, outputs, decode, accepted)


@dataclass(frozen=True)
class _SeparateFold:
    """A fold whose kernel matrices serve no other fold.

    They take three matrices of 8 m^2 bytes for m training rows, two with a kernel that is not
    `Kernel.is_plain`: distances serve every `gamma`.

    Attributes
    ----------
    X, X_test : ndarray or CSR matrix
        The training rows and the test rows.
    T : ndarray of shape (m, k)
        Targets.
    centred : bool
        True if the models have intercepts.
    solvers : Counter
        The uses of each solver.
    """

    X: Rows
    X_test: Rows
    T: Array
    centred: bool
    solvers: Counter[str]

    def solve(self, group: _KernelGroup) -> tuple[Array, Array]:
        """Return the outputs for the test rows, of shape (n_test, p * k), and bounds of the
        residuals, (p,), for the p ridges of a group.

        The k columns of the first ridge come first. A linear kernel is solved in the features if
        there are few of them, as in a fit; its bounds are zero.
        """
        if solves_in_features(group.kernel, self.X):
            return self._solve_in_features(group)
        return self._solve_matrix(group)

    def _solve_in_features(self, group: _KernelGroup) -> tuple[Array, Array]:
        """Return X_test w + b for the weights w of the features, and zeros for the bounds of the
        residuals.

        The outputs are of shape (n_test, p * k) for the p ridges of the group, the k columns of the
        first ridge first; the bounds are of shape (p,).
        """
        ridges = group.ridges
        n_ridges = len(ridges)
        system = FeatureSystem(
            X=self.X,
            T=self.T,
            scale=group.scale,
            centred=self.centred,
        )
        weights, intercepts = system.weights(ridges)
        products = np.asarray(self.X_test @ weights)
        self.solvers["features"] += n_ridges
        no_residuals = np.zeros(n_ridges)
        return products + intercepts, no_residuals

    def _solve_matrix(self, group: _KernelGroup) -> tuple[Array, Array]:
        """Return K_test beta + b for the coefficients beta of the training rows, and bounds of the
        residuals.

        K_test is the kernel between test and training rows, and b are the intercepts. The outputs
        are of shape (n_test, p * k) for the p ridges of the group, the k columns of the first ridge
        first; the bounds are of shape (p,). The kernel matrix of an earlier group is overwritten.
        """
        kernel = group.kernel
        ridges = group.ridges
        K = self._kernel_matrix(kernel)
        system = KernelSystem(
            K=K,
            T=self.T,
            scale=group.scale,
            centred=self.centred,
        )
        norm = float(np.linalg.norm(K))
        Z = ridge_solutions(
            A=K,
            B=system.right_hand_sides,
            ridges=ridges,
            solvers=self.solvers,
            definite=kernel.is_definite,
        )
        intercepts, beta = system.coefficients(Z)
        products = kernel.product(self.X_test, self.X, beta)
        return products + intercepts, direct_residuals(Z, ridges, norm)

    def _kernel_matrix(self, kernel: Kernel) -> Array:
        """Return the kernel matrix of the training rows, (n_train, n_train), in memory that the
        next one overwrites.
        """
        if kernel.is_plain(self.X):
            return rbf_from_distances(self._distances, kernel.gamma, out=self._memory)
        return kernel.matrix(self.X, out=self._memory)

    @cached_property
    def _memory(self) -> Array:
        """Memory for a kernel matrix of the training rows, in Fortran order, with any content."""
        n = len(self.T)
        return np.empty((n, n), order="F")

    @cached_property
    def _distances(self) -> Array:
        """The squared distances between the training rows, (n_train, n_train), for all `gamma`."""
        return squared_distances(self.X, out=np.empty_like(self._memory))


# --- A kernel matrix for all folds


def _shared_path(
    grid: CandidateGrid, kernels: Mapping[int, Kernel], centred: bool
) -> Outputs:
    """Yield (candidate, fold, outputs) for candidates with Gaussian kernels of dense rows without
    weights.

    `kernels`: {number of a candidate: its kernel}; other candidates are left out. `centred`: True
    if the models have intercepts. `outputs`: the values of the method `grid.output` for the test
    rows. The kernel of the training rows of all folds is computed once for each `gamma`, see
    `fold_views`. All `C` of a fold are solved at once, see `fold_solutions`. Values are accepted if
    their system is solved, and labels if the errors of the outputs do not change them, see
    `elmbench.numerics.error_bounds`. Shared work takes 8 n^2 bytes for n training rows and at most
    12 m^2 more for the m rows of the largest fold; the distances of few rows are kept as well, see
    `kernel_ladder`.
    """
    if not kernels:
        return
    first_train, _ = grid.folds[0]
    groups = {
        group.kernel.gamma: group
        for group in _group_candidates(grid, first_train, kernels)
    }
    order, views = fold_views(grid.folds)
    folds = []
    for number, view in enumerate(views):
        T, decode = grid.encode(view.rows)
        folds.append(
            _SharedFold(grid=grid, number=number, view=view, T=T, decode=decode)
        )
    most_rows = max(len(view.rows) for view in views)
    room = np.empty(most_rows**2)
    for gamma, shared in kernel_ladder(grid.X[order], list(groups)):
        by_ridge = dict(sorted(groups[gamma].by_ridge.items()))
        ridges = np.array([*by_ridge])
        members = list(by_ridge.values())
        for fold in folds:
            n = len(fold.view.rows)
            problem = _FoldProblem(
                fold=fold,
                gamma=gamma,
                shared=shared,
                K=room[: n * n].reshape((n, n), order="F"),
                centred=centred,
            )
            outputs, is_accurate = problem.solve(ridges)
            yield from grid.results(
                members, fold.number, outputs, fold.decode, is_accurate
            )


@dataclass(frozen=True)
class _SharedFold:
    """A fold whose training rows are part of a shared matrix.

    Attributes
    ----------
    grid : CandidateGrid
    number : int
    view : FoldView
        The rows of the fold in the shared matrix.
    T : ndarray of shape (n_train, k)
        Targets.
    decode : callable
        As in `CandidateGrid.encode`.
    """

    grid: CandidateGrid
    number: int
    view: FoldView
    T: Array
    decode: Callable[[Array], NDArray[Any]]


@dataclass(frozen=True)
class _FoldProblem:
    """The systems of all ridges on one fold, for one kernel.

    Attributes
    ----------
    fold : _SharedFold
    gamma : float
    shared : ndarray
        The kernel matrix of the training rows of all folds.
    K : ndarray of shape (n_train, n_train)
        Memory for the kernel matrix of the fold, which the solvers overwrite.
    centred : bool
        True if the model has intercepts.
    """

    fold: _SharedFold
    gamma: float
    shared: Array
    K: Array
    centred: bool

    def solve(self, ridges: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Return the outputs for the test rows, of shape (n_test, p * k), and a mask of the p
        ridges: False if a fit is needed.

        A fit is needed if a system is not solved, or if the errors of its outputs may change a
        label. `ridges`: positive, ascending, of shape (p,). The k columns of the first one come
        first. Systems are factored if the errors of an iteration are too large.
        """
        n, k = self.fold.T.shape
        solvers = self.fold.grid.solvers
        system = self._make_system()
        B = system.right_hand_sides
        norm = None
        if self.centred:
            norm = n * system.centre_products.max()
        Z, errors = fold_solutions(self.K, B, ridges, solvers, norm=norm)
        outputs, is_accurate = self._outputs(system, Z, errors, ridges)
        # A directly solved system, with an error of 0, is not solved again.
        is_iterated = errors > 0
        again = ~is_accurate & is_iterated
        if again.any():
            solvers["bound failed"] += int(again.sum())
            columns = np.repeat(again, k)
            exact_outputs, now_accurate = self._solve_directly(ridges[again])
            outputs[:, columns] = exact_outputs
            is_accurate[again] = now_accurate
        return outputs, is_accurate

    def _solve_directly(self, ridges: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Factor the systems of `ridges`, (p,), and return their outputs for the test rows, of
        shape (n_test, p * k), and a mask, (p,): False if round-off may change a label.
        """
        grid = self.fold.grid
        system = self._make_system()
        B = system.right_hand_sides
        Z = ridge_solutions(self.K, B, ridges, grid.solvers, overwrite=True)
        no_errors = np.zeros(len(ridges))
        return self._outputs(system, Z, no_errors, ridges)

    def _make_system(self) -> KernelSystem:
        """Copy the kernel matrix of the fold to `K`, and return its system.

        Systems overwrite `K` when they are solved, so each solution needs a new copy.
        """
        self.fold.view.copy(self.shared, self.K)
        return KernelSystem(self.K, self.fold.T, None, centred=self.centred)

    def _outputs(
        self, system: KernelSystem, Z: Array, errors: Array, ridges: Array
    ) -> tuple[Array, NDArray[np.bool_]]:
        """Return the outputs, of shape (n_test, p * k), and a mask of the p ridges: True if their
        outputs are accurate enough.

        `Z`: solutions of the system for the ridges, of shape (n_train, columns), those of the first
        ridge first. `errors`: bounds of the norms of their residuals, (p,): 0 if factored, infinite
        if not solved. `ridges`: (p,). Accurate means solved and, if the outputs decide labels, that
        no label may change.
        """
        grid = self.fold.grid
        intercepts, beta = system.coefficients(Z)
        # The last column of the product is the sums of the kernel.
        n = len(Z)
        ones = np.ones((n, 1), order="F")
        weights = np.hstack([beta, ones])
        product = self._test_product(weights)
        outputs = product[:, :-1] + intercepts
        kernel_sums = product[:, -1:]
        is_accurate = np.isfinite(errors)
        if grid.decides_labels:
            model = grid.models[0]
            mass = kernel_sums + system.centre_products.sum()
            bounds = self._output_bounds(mass, Z, errors, ridges)
            is_accurate &= model._each_holds(outputs, bounds)
        return outputs, is_accurate

    def _output_bounds(
        self, mass: Array, Z: Array, errors: Array, ridges: Array
    ) -> Array:
        """Return bounds of the errors of the outputs, of shape (n_test, p).

        `mass`: for each test row, the sum of its kernel values with the training rows, plus the sum
        of those of the centre if there is an intercept, (n_test, 1). `Z`: solutions for the p
        ridges side by side, with a row for each training row. `errors`: bounds of the norms of
        their residuals, (p,), 0 if factored. `ridges`: (p,).
        """
        n = len(Z)
        round_off = kernel_round_off(self.fold.grid.X, self.gamma)
        largest_square = 2.0 if self.centred else 1.0
        bounds = solution_bounds(
            mass, errors, ridges, n=n, largest_square=largest_square
        )
        bounds += product_round_off(mass, Z, errors, round_off)
        if self.centred:
            bounds += n * EPS  # the round-off of the intercept, a mean of targets -1/+1
        return bounds

    def _test_product(self, weights: Array) -> Array:
        """Return the kernel between test and training rows times `weights`.

        `weights`: of shape (n_train, any number of columns). The result is of shape (n_test, as
        many columns).
        """
        view = self.fold.view
        if view.test is not None:
            return view.product(self.shared, weights)
        grid = self.fold.grid
        _, test = grid.folds[self.fold.number]
        # The shared matrix lacks the kernel with some test rows.
        test_rows = grid.X[test]
        train_rows = grid.X[view.rows]
        kernel = Kernel(gamma=self.gamma)
        return kernel.product(test_rows, train_rows, weights)

"""The kernel extreme learning machine."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from elmbench.models.base.family import FamilyClassifier, FamilyRegressor
from elmbench.models.base.parameters import check_choice, check_real
from elmbench.models.base.paths import Grid, GridPathMixin
from elmbench.numerics.arrays import EPS, Array
from elmbench.numerics.kernels import (
    BLOCK_BYTES,
    KERNELS,
    kernel_ladder,
    kernel_matrix,
    kernel_product,
    kernel_round_off,
)
from elmbench.numerics.shifted.fold_solutions import fold_solutions, residuals
from elmbench.numerics.shifted.fold_views import FoldView, FoldViews
from elmbench.numerics.shifted.single_precision import solve_kernel_in_single
from elmbench.numerics.solve import RidgeSystem

DTYPES = ("float64", "float32")

RESIDUAL = 2e-11
"""Norm of a residual, over that of the targets, up to which solutions count whatever the condition.

K (K + r I)^-1 has norm below 1: this bounds the root mean square of what the outputs for the training rows are off."""


class _KELM(GridPathMixin, BaseEstimator):
    """What the classifier and the regressor share."""

    model_version: int = 1

    def __init__(self, C: float = 1.0, gamma: float = 1.0, kernel: str = "rbf", dtype: str = "float64") -> None:
        self.C = C
        self.gamma = gamma
        self.kernel = kernel
        self.dtype = dtype

    def _checked(self) -> tuple[str, float, float]:
        gamma = check_real("gamma", self.gamma)
        check_choice("dtype", self.dtype, DTYPES)
        return check_choice("kernel", self.kernel, KERNELS), gamma, 1.0 / check_real("C", self.C)

    def _fit(self, X: Array, T: Array) -> None:
        """Eq. (4): beta = (I/C + Omega)^-1 Y, in the memory of one kernel matrix."""
        kernel, gamma, ridge = self._checked()
        self.dictionary_ = X
        self.n_units_ = len(X)
        if self.dtype == "float32":
            solved = solve_kernel_in_single(X, T, gamma=gamma, kernel=kernel, ridge=ridge)
            self.beta_, self.error_, self.condition_ = solved
            return
        self.__dict__.pop("error_", None)
        omega = np.empty((len(X), len(X)), order="F")
        system = RidgeSystem(kernel_matrix(X, gamma=gamma, kernel=kernel, out=omega), ridge)
        self.beta_ = system.solve(T)
        self.condition_ = system.condition

    def _outputs(self, X: Array) -> Array:
        return kernel_product(X, self.dictionary_, self.beta_, gamma=float(self.gamma), kernel=self.kernel)

    @classmethod
    def memory_estimate(cls, n_samples: int, n_features: int, n_outputs: int = 1, **params: Any) -> int:
        """Count one kernel matrix, of half the size where `dtype` is single, and little more."""
        if params.get("dtype") == "float32":
            return 4 * n_samples**2 + 8 * n_samples * (2 * n_features + 12 * n_outputs) + 5 * BLOCK_BYTES
        return 8 * n_samples * (n_samples + 2 * n_features + 3 * n_outputs) + 5 * BLOCK_BYTES

    @classmethod
    def _path(cls, grid: Grid) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Make the kernel of all rows that are trained on once a `gamma`, of which folds are views where possible.

        All `C` of a fold are solved at once, see `fold_solutions`. Values are taken where their residual is no larger
        than `RESIDUAL`, or than the round-off that a fit has too; labels where none hangs on what outputs may be off;
        elsewhere, and where there are too few `C` to share anything, the model is fitted. So are all candidates in
        single precision, the point of which is the memory that shared work would need: 8 n^2 bytes and at most 8 m^2
        more, for n rows that any fold trains on and m of them in the largest training part, 4 m^2 where m is large; of
        few rows the distances are kept too, see `kernel_ladder`.
        """
        groups: dict[str, dict[float, list[tuple[int, float]]]] = {}
        single = []
        for i, model in enumerate(grid.models):
            kernel, gamma, ridge = model._checked()
            if model.dtype == "float32":
                single.append(i)
            else:
                groups.setdefault(kernel, {}).setdefault(gamma, []).append((i, ridge))
        for i in single:
            for j in range(len(grid.folds)):
                grid.solvers["single precision"] += 1
                yield i, j, _fitted_outputs(grid, i, j)
        if not groups:
            return
        trained = np.unique(np.concatenate([train for train, _ in grid.folds]))
        within = [bool(np.isin(test, trained).all()) for _, test in grid.folds]
        parts = FoldViews(
            [(train, test if inside else test[:0]) for (train, test), inside in zip(grid.folds, within, strict=True)]
        )
        coded = [cls._coded(grid.y[part.rows]) for part in parts.folds]
        room = np.empty(max(len(part.rows) for part in parts.folds) ** 2)
        for kernel, gammas in groups.items():
            for gamma, omega in kernel_ladder(grid.X[parts.order], list(gammas), kernel):
                members = [i for i, _ in gammas[gamma]]
                ridges = np.array([ridge for _, ridge in gammas[gamma]])
                shared = _SharedKernel(omega, kernel_round_off(grid.X, gamma), room, grid.solvers)
                for j, part in enumerate(parts.folds):
                    T, decoded = coded[j]
                    probes = None if within[j] else grid.X[grid.folds[j][1]]
                    across = None if probes is None else _Across(probes, grid.X[part.rows], gamma, kernel)
                    found = _fold_outputs(cls, shared, part, T, ridges, across)
                    for i, outputs in zip(members, found, strict=True):
                        if outputs is None:
                            grid.solvers["cholesky"] += 1
                            yield i, j, _fitted_outputs(grid, i, j)
                        else:
                            yield i, j, decoded(outputs)


def _fitted_outputs(grid: Grid, candidate: int, fold: int) -> NDArray[Any]:
    train, test = grid.folds[fold]
    predicted: NDArray[Any] = clone(grid.models[candidate]).fit(grid.X[train], grid.y[train]).predict(grid.X[test])
    return predicted


@dataclass(frozen=True)
class _Across:
    """The kernel between test rows that no fold trains on and the training rows of a fold."""

    X: Array
    rows: Array
    gamma: float
    kernel: str

    def product(self, Z: Array) -> Array:
        return kernel_product(self.X, self.rows, Z, gamma=self.gamma, kernel=self.kernel)


@dataclass(frozen=True)
class _SharedKernel:
    """The kernel of all rows that are trained on, the relative error of its entries, and what folds share.

    Each fold overwrites `room`, which holds as many entries as the largest kernel among training rows, and adds to
    `solvers`.
    """

    omega: Array
    round_off: float
    room: Array
    solvers: Counter[str]


def _fold_outputs(
    cls: type[_KELM], shared: _SharedKernel, part: FoldView, T: Array, ridges: Array, across: _Across | None
) -> list[Array | None]:
    """Return the outputs for the test rows of a fold, an array of shape (n_test, k) a ridge, or None for "fit it".

    T, of shape (n_train, k), holds the targets of the fold. Classifiers predict labels, regressors the outputs. Test
    rows that are not in the shared kernel are reached by `across`.
    """
    omega, solvers = shared.omega, shared.solvers
    n, k = T.shape
    Z = fold_solutions(omega, part, T, ridges, shared.room, solvers)
    if Z is None:
        return [None] * len(ridges)
    weights = np.hstack([Z, np.ones((n, 1), order="F")])
    product = part.product(omega, weights)
    reached = product[part.test] if across is None else across.product(weights)
    test, mass = reached[:, :-1], reached[:, -1]
    mass_within = product[part.training, -1]
    off = residuals(product[part.training, :-1], Z, T, ridges)
    lengths = np.maximum(off, 4 * EPS) * np.linalg.norm(T, axis=0)
    if issubclass(cls, FamilyClassifier):
        # |k(x)' (K + r I)^-1 e| is at most |e| / sqrt(r) where k(x, x) = 1, and |k(x)| |e| / r. Four times that, as the
        # fit has round-off of its own; a tie is left to it. Entries of k(x) and sums of n terms differ relative to
        # |k(x)|' |Z|, all that counts where coefficients cancel.
        reach = np.minimum(ridges**-0.5, mass[:, np.newaxis] / ridges)
        errors = 4 * lengths.max(axis=1) * reach
        errors += (shared.round_off + n * EPS) * mass[:, np.newaxis] * np.abs(Z).reshape(n, -1, k).max(axis=(0, 2))
        accepted = cls._each_holds(test, errors)
    else:
        # The condition of the system is at least as large.
        condition = 1 + mass_within.mean() / ridges
        accepted = off.max(axis=1) <= np.maximum(RESIDUAL, 2 * EPS * condition)
    if not accepted.all():
        solvers["bound failed"] += int((~accepted).sum())
    return [test[:, i * k : (i + 1) * k] if accepted[i] else None for i in range(len(ridges))]


class KELMClassifier(FamilyClassifier, _KELM):
    """Kernel extreme learning machine for classification.

    f(x) = [k(x, x_1), ..., k(x, x_n)] (Omega + I/C)^-1 T with the kernel matrix Omega of the training rows: kernel
    ridge regression on targets -1/+1, for more than two classes one against the rest.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the errors; 1/C is the ridge.
    gamma : float, default=1.0
        Inverse squared width of the kernel, exp(-gamma d^2).
    kernel : {"rbf"}, default="rbf"
    dtype : {"float64", "float32"}, default="float64"
        Precision in which the kernel matrix is held and factored. In single precision it takes half the memory, and
        the solution is refined to double precision by products with a kernel that is computed anew for each.

    Attributes
    ----------
    beta_ : ndarray of shape (n_samples, n_outputs)
        Coefficients of the rows of the dictionary.
    dictionary_ : ndarray of shape (n_samples, n_features)
        All training rows.
    classes_ : ndarray of shape (n_classes,)
    n_units_ : int
        Number of rows in the dictionary.
    condition_ : float
        Estimated condition number of Omega + I/C.
    error_ : float
        With ``dtype="float32"`` only: norm of T - (Omega + I/C) beta, in double precision, over that of T. The
        refinement stops at 1e-11, or after 50 products. It bounds the root mean square of what the outputs for the
        training rows are off, over that of the targets.
    n_features_in_ : int

    Notes
    -----
    `fit` needs 8 n^2 bytes, in single precision 4 n^2, and little more: the kernel matrix is factored where it stands.

    References
    ----------
    Huang, Zhou, Ding, Zhang, Extreme learning machine for regression and multiclass classification, IEEE Trans. SMC B
    42(2), 2012; Scardapane et al., Online Sequential Extreme Learning Machine With Kernels, IEEE TNNLS 26(9), 2015,
    eqs. (4) and (12).
    """


class KELMRegressor(FamilyRegressor, _KELM):
    """Kernel ELM for regression: `KELMClassifier` with `y`, one column or several, as targets.

    The same as scikit-learn's ``KernelRidge(alpha=1/C, kernel="rbf", gamma=gamma)``.
    """

"""The least-squares support vector machine."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import unique_labels

from elmbench.models.base.family import FamilyClassifier, FamilyRegressor
from elmbench.models.base.parameters import check_choice, check_real
from elmbench.models.base.paths import Grid, GridPathMixin, ProjectionPathMixin
from elmbench.numerics.arrays import Array
from elmbench.numerics.kernels import BLOCK_BYTES, KERNELS, kernel_matrix, kernel_product, row_blocks, squared_distances
from elmbench.numerics.ridge_path import ridge_solutions
from elmbench.numerics.solve import RidgeSystem

WEIGHTINGS = ("corrected", "as-printed")


class _LSSVM(GridPathMixin, BaseEstimator):
    """What the classifier and the regressor share."""

    model_version: int = 1

    def __init__(self, C: float = 1.0, gamma: float = 1.0, kernel: str = "rbf") -> None:
        self.C = C
        self.gamma = gamma
        self.kernel = kernel

    def _checked(self) -> tuple[str, float, float]:
        gamma = check_real("gamma", self.gamma)
        return check_choice("kernel", self.kernel, KERNELS), gamma, 1.0 / check_real("C", self.C)

    @classmethod
    def _scales(cls, models: list[Any], T: Array, y: NDArray[Any]) -> list[Array]:
        """Return Q^(-1/2) of the rows of targets T, of labels or values y, for every unfitted model."""
        return [np.ones(len(T))] * len(models)

    def _fit(self, X: Array, T: Array) -> None:
        self._learn(X, T, np.ones(len(T)))

    def _learn(self, X: Array, T: Array, scale: Array) -> None:
        """Solve the system with Q^(-1/2) = `scale`."""
        kernel, gamma, ridge = self._checked()
        K = kernel_matrix(X, gamma=gamma, kernel=kernel, out=np.empty((len(X), len(X)), order="F"))
        _weigh(K, scale)
        system = RidgeSystem(K, ridge)
        self.intercept_, self.beta_ = _bordered(scale, system.solve(_right_hand_sides(T, scale)))
        self.condition_ = system.condition
        self.dictionary_ = X
        self.n_units_ = len(X)

    def _outputs(self, X: Array) -> Array:
        outputs = kernel_product(X, self.dictionary_, self.beta_, gamma=float(self.gamma), kernel=self.kernel)
        return outputs + self.intercept_

    @classmethod
    def memory_estimate(cls, n_samples: int, n_features: int, n_outputs: int = 1, **params: Any) -> int:
        return 8 * n_samples * (n_samples + 2 * n_features + 6 * n_outputs) + 5 * BLOCK_BYTES

    @classmethod
    def _path(cls, grid: Grid) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Make the distances of a fold once for all `gamma`, and solve all `C` of a `gamma` together.

        See `ridge_solutions`. Needs three matrices of 8 m^2 bytes for m rows in a training part.
        """
        X, y, models = grid.X, grid.y, grid.models
        checked = [model._checked() for model in models]
        for j, (train, test) in enumerate(grid.folds):
            T, decoded = cls._coded(y[train])
            scales = cls._scales(models, T, y[train])
            groups: dict[tuple[str, float, bytes], list[int]] = {}
            for i, (kernel, gamma, _) in enumerate(checked):
                groups.setdefault((kernel, gamma, scales[i].tobytes()), []).append(i)
            among = squared_distances(X[train], out=np.empty((len(train), len(train)), order="F"))
            probes = [squared_distances(X[test[rows]], X[train]) for rows in row_blocks(len(test), len(train))]
            K = np.empty_like(among)
            for (kernel, gamma, _), members in groups.items():
                scale, ridges = scales[members[0]], np.array([checked[i][2] for i in members])
                np.copyto(K, among)
                _weigh(KERNELS[kernel](K, gamma), scale)
                Z = ridge_solutions(K, _right_hand_sides(T, scale), ridges, grid.solvers)
                solved = [_bordered(scale, part) for part in np.hsplit(Z, len(members))]
                beta = np.hstack([beta for _, beta in solved])
                products = np.concatenate([KERNELS[kernel](probe.copy(), gamma) @ beta for probe in probes])
                for i, product, (intercepts, _) in zip(members, np.hsplit(products, len(members)), solved, strict=True):
                    values = product + intercepts
                    yield i, j, grid.asked(decoded(values), values)


class LSSVMClassifier(FamilyClassifier, ProjectionPathMixin, _LSSVM):
    """Least-squares support vector machine, weighted by class or not.

    f(x) = sum_i beta_i k(x_i, x) + b, where [0 1'; 1 K + Q/C] [b; beta] = [0; T] with targets -1/+1 and a diagonal Q:
    1 for every row where classes are not weighted. More than two classes are learnt one against the rest, with the
    weights of the rows' own classes.

    Parameters
    ----------
    C, gamma, kernel
        As in `KELMClassifier`.
    class_weight : "balanced", dict or None, default=None
        Weight w of the errors on each class: "balanced" is the size of the largest class over that of the row's own;
        a dictionary gives numbers by label, 1 where it has none.
    weighting : {"corrected", "as-printed"}, default="corrected"
        How the weights enter: Q = 1/w, so that errors on a heavy class cost more, or Q = w as the paper prints it, with
        which the smaller class is lost.

    Attributes
    ----------
    beta_ : ndarray of shape (n_samples, n_outputs)
        Coefficients of the rows of the dictionary, which add up to zero.
    intercept_ : ndarray of shape (n_outputs,)
        b.
    condition_ : float
        Estimated condition number of Q^(-1/2) K Q^(-1/2) + I/C.
    dictionary_, classes_, n_units_, n_features_in_
        As in `KELMClassifier`.

    Notes
    -----
    `fit` needs 8 n^2 bytes and little more: the kernel matrix is factored where it stands.

    References
    ----------
    Suykens and Vandewalle, Least squares support vector machine classifiers, Neural Processing Letters 9, 1999; Suykens
    et al., Weighted least squares support vector machines, Neurocomputing 48, 2002; Czarnecki and Tabor, Extreme
    Entropy Machines, sections 2.2 and 7.
    """

    def __init__(
        self,
        C: float = 1.0,
        gamma: float = 1.0,
        kernel: str = "rbf",
        class_weight: str | Mapping[Any, float] | None = None,
        weighting: str = "corrected",
    ) -> None:
        super().__init__(C, gamma, kernel)
        self.class_weight = class_weight
        self.weighting = weighting

    def _scale(self, T: Array, classes: NDArray[Any]) -> Array:
        """Return Q^(-1/2) of the rows whose targets are given."""
        weighting = check_choice("weighting", self.weighting, WEIGHTINGS)
        rows = (T[:, 0] > 0) * (len(classes) - 1) if T.shape[1] == 1 else np.argmax(T, axis=1)
        if self.class_weight is None:
            weights = np.ones(len(classes))
        elif isinstance(self.class_weight, Mapping):
            given = self.class_weight
            weights = np.array([check_real("class_weight", given.get(label, 1.0)) for label in classes.tolist()])
        else:
            check_choice("class_weight", self.class_weight, ["balanced"])
            sizes = np.bincount(rows)
            weights = sizes.max() / sizes
        scales: Array = np.sqrt(weights if weighting == "corrected" else 1.0 / weights)
        return scales[rows]

    @classmethod
    def _scales(cls, models: list[Any], T: Array, y: NDArray[Any]) -> list[Array]:
        classes = unique_labels(y)
        return [model._scale(T, classes) for model in models]

    def _fit(self, X: Array, T: Array) -> None:
        self._learn(X, T, self._scale(T, self.classes_))


class LSSVMRegressor(FamilyRegressor, _LSSVM):
    """Least-squares support vector machine for regression: kernel ridge regression with an intercept.

    f(x) = sum_i beta_i k(x_i, x) + b, where [0 1'; 1 K + I/C] [b; beta] = [0; y], with `y` one column or several.

    Parameters
    ----------
    C, gamma, kernel
        As in `KELMClassifier`.

    Attributes
    ----------
    beta_, intercept_, condition_, dictionary_, n_units_, n_features_in_
        As in `LSSVMClassifier`, whose Q is I here.

    Notes
    -----
    `fit` needs 8 n^2 bytes and little more: the kernel matrix is factored where it stands.

    References
    ----------
    Saunders, Gammerman, Vovk, Ridge regression learning algorithm in dual variables, ICML 1998; Suykens et al., Least
    Squares Support Vector Machines, World Scientific, 2002, section 3.4; Deng, Ong, Zheng, A fast reduced kernel
    extreme learning machine, Neural Networks 76, 2016, Tables 2 and 3.
    """


def _weigh(K: Array, scale: Array) -> None:
    """Multiply a kernel matrix by the scale of its rows and of its columns, in place."""
    if (scale != 1.0).any():
        K *= scale[:, np.newaxis]
        K *= scale


def _bordered(scale: Array, solutions: Array) -> tuple[Array, Array]:
    """Return the solution b, of shape (k,), and beta, of shape (n, k), of [0 1'; 1 A] [b; beta] = [0; T].

    The matrix is A = K + r S^-2 with a diagonal S of `scale`, so A^-1 = S (S K S + r I)^-1 S; `solutions`, of shape (n,
    1 + k), are (S K S + r I)^-1 S [1 T]. Then b = 1' A^-1 T / 1' A^-1 1 and beta = A^-1 T - b A^-1 1 (Suykens and
    Vandewalle, 1999).
    """
    ones, targets = solutions[:, 0], solutions[:, 1:]
    intercepts = (scale @ targets) / (scale @ ones)
    return intercepts, scale[:, np.newaxis] * (targets - np.outer(ones, intercepts))


def _right_hand_sides(T: Array, scale: Array) -> Array:
    """Return S [1 T], for the diagonal S of scales."""
    return scale[:, np.newaxis] * np.column_stack([np.ones(len(T)), T])

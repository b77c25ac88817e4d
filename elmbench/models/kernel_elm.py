"""The kernel extreme learning machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from elmbench.models._base import Array, FamilyClassifier, FamilyRegressor
from elmbench.models._parameters import check_choice, check_real
from elmbench.numerics.kernels import BLOCK_BYTES, KERNELS, kernel_matrix, row_blocks, squared_distances
from elmbench.numerics.solve import RidgeSystem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


class _KELM(BaseEstimator):
    """What the classifier and the regressor share."""

    model_version: int = 1

    def __init__(self, C: float = 1.0, gamma: float = 1.0, kernel: str = "rbf") -> None:
        self.C = C
        self.gamma = gamma
        self.kernel = kernel

    def _checked(self) -> tuple[str, float, float]:
        """Return the kernel, gamma and the ridge."""
        gamma = check_real("gamma", self.gamma)
        return check_choice("kernel", self.kernel, KERNELS), gamma, 1.0 / check_real("C", self.C)

    def _fit(self, X: Array, T: Array) -> None:
        """Eq. (4): beta = (I/C + Omega)^-1 Y, in the memory of one kernel matrix."""
        kernel, gamma, ridge = self._checked()
        omega = np.empty((len(X), len(X)), order="F")
        system = RidgeSystem(kernel_matrix(X, gamma=gamma, kernel=kernel, out=omega), ridge)
        self.beta_ = system.solve(T)
        self.condition_ = system.condition
        self.dictionary_ = X
        self.n_units_ = len(X)

    def _outputs(self, X: Array) -> Array:
        outputs = np.empty((len(X), self.beta_.shape[1]))
        for rows in row_blocks(len(X), self.n_units_):
            outputs[rows] = (
                kernel_matrix(X[rows], self.dictionary_, gamma=float(self.gamma), kernel=self.kernel) @ self.beta_
            )
        return outputs

    @classmethod
    def memory_estimate(cls, n_samples: int, n_features: int, n_outputs: int = 1, **params: Any) -> int:
        """Return the peak memory of `fit` in bytes, the rows it is given left aside.

        Parameters
        ----------
        n_samples, n_features, n_outputs : int
            The shape of the problem.
        **params
            The parameters of the constructor, which make no difference.

        Returns
        -------
        int
            One kernel matrix and little more.
        """
        return 8 * n_samples * (n_samples + 2 * n_features + 3 * n_outputs) + 5 * BLOCK_BYTES

    @classmethod
    def evaluate_grid(
        cls,
        X: Array,
        y: NDArray[Any],
        folds: list[tuple[NDArray[np.intp], NDArray[np.intp]]],
        candidates: list[dict[str, Any]],
        **fixed: Any,
    ) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Evaluate a grid of parameters on folds from one matrix of distances.

        The kernel of a fold is made once a `gamma` and factored once a `C`. One eigendecomposition for all `C` would
        take some 30 times the time of a factorisation, so it would pay beyond 30 values only, and would not give the
        predictions of `fit` where the system is ill-conditioned.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
        folds : list of (train, test)
            Row numbers.
        candidates : list of dict
            Parameters of the constructor, any of them.
        **fixed
            The others.

        Yields
        ------
        candidate, fold : int
        predictions : ndarray
            What ``cls(**fixed, **candidates[candidate])``, fitted to the training rows, predicts for the test rows.

        Notes
        -----
        Needs 8 (n^2 + 2 m^2) bytes for n rows, m of them in a training part.
        """
        groups: dict[tuple[str, float], list[tuple[int, float]]] = {}
        for i, candidate in enumerate(candidates):
            kernel, gamma, ridge = cls(**fixed, **candidate)._checked()
            groups.setdefault((kernel, gamma), []).append((i, ridge))
        distances = squared_distances(X)
        for j, (train, test) in enumerate(folds):
            T, decoded = cls._coded(y[train])
            system = np.empty((len(train), len(train)), order="F")
            for (kernel, gamma), members in groups.items():
                omega = KERNELS[kernel](distances[np.ix_(train, train)], gamma)
                across = KERNELS[kernel](distances[np.ix_(test, train)], gamma)
                for i, ridge in members:
                    np.copyto(system.T, omega)
                    yield i, j, decoded(across @ RidgeSystem(system, ridge).solve(T))
                del omega, across  # before the next ones are allocated


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
    n_features_in_ : int

    Notes
    -----
    `fit` needs 8 n^2 bytes and little more: the kernel matrix is factored where it stands.

    References
    ----------
    Huang, Zhou, Ding, Zhang, Extreme learning machine for regression and multiclass classification, IEEE Trans. SMC B
    42(2), 2012; Scardapane et al., Online Sequential Extreme Learning Machine With Kernels, IEEE TNNLS 26(9), 2015,
    eqs. (4) and (12).
    """


class KELMRegressor(FamilyRegressor, _KELM):
    """Kernel extreme learning machine for regression, with one target or several.

    As `KELMClassifier`, with the values of `y` as targets: the same as scikit-learn's ``KernelRidge(alpha=1/C,
    kernel="rbf", gamma=gamma)``.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the errors; 1/C is the ridge.
    gamma : float, default=1.0
        Inverse squared width of the kernel, exp(-gamma d^2).
    kernel : {"rbf"}, default="rbf"

    Attributes
    ----------
    beta_ : ndarray of shape (n_samples, n_outputs)
        Coefficients of the rows of the dictionary.
    dictionary_ : ndarray of shape (n_samples, n_features)
        All training rows.
    n_units_ : int
        Number of rows in the dictionary.
    condition_ : float
        Estimated condition number of Omega + I/C.
    n_features_in_ : int

    References
    ----------
    Those of `KELMClassifier`.
    """

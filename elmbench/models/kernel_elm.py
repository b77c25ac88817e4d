"""The kernel extreme learning machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from elmbench.models._base import Array, FamilyClassifier, FamilyRegressor
from elmbench.models._parameters import check_choice, check_real
from elmbench.numerics.kernels import BLOCK_BYTES, KERNELS, kernel_matrix, row_blocks
from elmbench.numerics.solve import RidgeSystem


class _KELM(BaseEstimator):
    """What the classifier and the regressor share."""

    model_version: int = 1

    def __init__(self, C: float = 1.0, gamma: float = 1.0, kernel: str = "rbf") -> None:
        self.C = C
        self.gamma = gamma
        self.kernel = kernel

    def _fit(self, X: Array, T: Array) -> None:
        """Eq. (4): beta = (I/C + Omega)^-1 Y, in the memory of one kernel matrix."""
        C = check_real("C", self.C)
        gamma = check_real("gamma", self.gamma)
        check_choice("kernel", self.kernel, KERNELS)
        omega = np.empty((len(X), len(X)), order="F")
        system = RidgeSystem(kernel_matrix(X, gamma=gamma, kernel=self.kernel, out=omega), 1.0 / C)
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
        return 8 * n_samples * (n_samples + 2 * n_features + 3 * n_outputs) + 3 * BLOCK_BYTES


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

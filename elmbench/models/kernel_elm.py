"""The kernel extreme learning machine: its parameters, its fit and its path over a grid.

The system that `fit` solves is `elmbench.numerics.kernel_system.KernelSystem`.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from elmbench.models.base.family import check_condition, estimator
from elmbench.models.base.kernel_paths import kernel_path
from elmbench.models.base.kernels import KernelMixin
from elmbench.models.base.paths import CandidateGrid, PathMixin
from elmbench.models.base.weights import WeightedClassifier, WeightedRegressor
from elmbench.numerics.arrays import Array, Rows
from elmbench.numerics.feature_system import (
    FeatureSystem,
    needs_features_only,
    solves_in_features,
)
from elmbench.numerics.kernel_system import KernelSystem
from elmbench.numerics.kernels import BLOCK_BYTES
from elmbench.numerics.solve import RidgeSystem


@estimator
class KernelSystemMixin(KernelMixin, PathMixin):
    """A model that solves the `KernelSystem` of all training rows with the ridge 1/C, or its
    `FeatureSystem` if the kernel is linear and features are fewer than rows.
    """

    #: Columns of n numbers that a fit holds for each output.
    _columns: ClassVar[int] = 3

    #: True if the model has intercepts.
    _centred: ClassVar[bool] = False

    C: float = 1.0

    @property
    def _ridge(self) -> float:
        """The ridge 1/C, which is added to the diagonal of the kernel matrix."""
        return 1.0 / self.C

    def _fit(self, X: Rows, T: Array, scale: Array | None) -> None:
        """Solve the system of the training rows, and set `beta_`, `dictionary_`, the intercept and
        the condition; warn if a kernel system is singular within round-off.

        `T`: targets, (n, n_outputs), -1/+1 for classes, not scaled. `scale`: the square roots of
        the weights of rows, (n,), which may be 0 for a precomputed kernel; None if all are 1.
        """
        kernel = self._make_kernel()
        self._kernel = kernel
        self.n_units_ = X.shape[0]
        self.dictionary_ = kernel.select_rows(X).copy()  # the caller may change X
        # Weights of the features, of shape (n_features, n_outputs), if these solve the system.
        self._weights: Array | None = None
        if solves_in_features(kernel, X):
            self._solve_in_features(X, T, scale)
        else:
            ridge_system = self._solve_kernel_system(X, T, scale)
            self.condition_ = check_condition(self, ridge_system)

    def _solve_in_features(self, X: Rows, T: Array, scale: Array | None) -> None:
        """Set the weights of the features, the coefficients of the rows, the intercept and the
        condition for a linear kernel, without its matrix.

        `T`: targets, (n, n_outputs), not scaled. `scale`: the roots of the weights of rows, (n,);
        None if all are 1.
        """
        system = FeatureSystem(X, T, scale, centred=self._centred)
        ridge = self._ridge
        ridges = np.array([ridge])
        weights, intercept = system.weights(ridges)
        self._weights = weights
        self._intercept = intercept
        self.beta_ = system.row_coefficients(ridge)
        self.condition_ = system.condition(ridge)

    def _solve_kernel_system(
        self, X: Rows, T: Array, scale: Array | None
    ) -> RidgeSystem:
        """Set the intercept and the coefficients of the rows; return the system that was solved.

        It is factored in the memory of one kernel matrix. `T`: targets, (n, n_outputs), not scaled.
        `scale`: the roots of the weights of rows, (n,); None if all are 1.
        """
        kernel = self._kernel
        n = X.shape[0]
        memory = np.empty((n, n), order="F")
        K = kernel.matrix(X, out=memory)
        system = KernelSystem(K, T, scale, centred=self._centred)
        ridge_system = RidgeSystem(K, self._ridge, definite=kernel.is_definite)
        Z = ridge_system.solve(system.right_hand_sides)
        intercept, beta = system.coefficients(Z)
        self._intercept = intercept
        self.beta_ = beta
        return ridge_system

    def _outputs(self, X: Rows) -> Array:
        """Return the outputs for the rows of `X`, of shape (n, n_outputs): the sums of beta_i k(x,
        x_i), and the intercepts.
        """
        if self._weights is not None:
            return np.asarray(X @ self._weights) + self._intercept
        return self._kernel.product(X, self.dictionary_, self.beta_) + self._intercept

    @classmethod
    def memory_estimate(
        cls, n_samples: int, n_features: int, n_outputs: int = 1, **params: Any
    ) -> int:
        """Return the bytes of a fit to `n_samples` rows of `n_features` columns: one kernel matrix,
        two copies of the rows and the targets; or the singular value decomposition of the rows, if
        the kernel is linear and features are fewer than rows.

        `n_outputs`: 1 for two classes, else the number of classes or targets. `params`: parameters
        of the model, of which only `kernel` counts; without it, the kernel is not linear.
        """
        n_targets = n_samples * n_outputs
        if needs_features_only(params.get("kernel"), (n_samples, n_features)):
            n_values = (
                5 * n_features * (n_samples + n_features)
                + (cls._columns + 2) * n_targets
            )
        else:
            n_values = (
                n_samples * (n_samples + 2 * n_features) + cls._columns * n_targets
            )
        return 8 * n_values + 5 * BLOCK_BYTES

    @classmethod
    def _path(cls, grid: CandidateGrid) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Yield (candidate, fold, outputs), in any order, from kernel matrices and factors that
        candidates share; see `kernel_path`.

        `outputs`: the values of the method `grid.output` for the test rows.
        """
        return kernel_path(grid, centred=cls._centred)


@estimator
class KELMClassifier(WeightedClassifier, KernelSystemMixin):
    """Kernel extreme learning machine for classification.

    f(x) = [k(x, x_1), ..., k(x, x_n)] (Omega + I/C)^-1 T with the kernel matrix Omega of the
    training rows: kernel ridge regression on targets -1/+1, for more than two classes one against
    the rest.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the errors; 1/C is the ridge.
    gamma : float, "scale" or "auto", default="scale"
        Inverse squared width of the kernel, exp(-gamma d^2); "scale" is 1 / (n_features * X.var()),
        "auto" 1 / n_features, as in scikit-learn.
    kernel : str or callable, default="rbf"
        A name of `sklearn.metrics.pairwise.pairwise_kernels`, such as "linear", "laplacian" or
        "polynomial"; "inverse-multiquadric" or "rational-quadratic"; a function of two rows that
        returns a number; a kernel of `sklearn.gaussian_process.kernels`; or "precomputed". Then `X`
        is the kernel matrix: between all training rows in `fit`, between rows and training rows in
        `predict`.
    degree : float, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1.0
        Constant term of the polynomial and the sigmoid kernel.
    kernel_params : dict, default=None
        Keyword arguments of a kernel that is a function.
    class_weight : "balanced", dict or None, default=None
        Weight of the squared errors on each class: "balanced" is n_samples / (n_classes times the
        size of the class); a dictionary has weights by label, 1 by default. A label that no row has
        is an error, unless all others have a weight. The `sample_weight` of `fit` multiplies these.

    Attributes
    ----------
    beta_ : ndarray of shape (n_samples, n_outputs)
        Coefficients of the rows of the dictionary.
    dictionary_ : ndarray or CSR matrix of shape (n_samples, n_features), or ndarray of shape
    (n_samples,)
        The training rows with a positive weight; for a precomputed kernel, the numbers of all rows.
    classes_ : ndarray of shape (n_classes,)
    n_units_ : int
        Number of rows in the dictionary.
    condition_ : float
        Estimated condition number of Omega + I/C.
    n_features_in_ : int

    See Also
    --------
    LSSVMClassifier : The same with an intercept.
    RKELMClassifier : Some of the rows as centres.
    KOSELMClassifier : The same model, learnt row by row.
    CalibratedClassifierCV : Of scikit-learn; ``CalibratedClassifierCV(model, ensemble=False)`` has
    `predict_proba`.

    Notes
    -----
    `fit` needs little more than 8 n^2 bytes: the kernel matrix is factored in place. With the
    linear kernel and fewer features than rows there is no kernel matrix: the system is solved for
    the weights of the features.

    With weights w_i, the model minimises ||f||^2 / C + sum_i w_i (f(x_i) - t_i)^2, so a weight of 2
    repeats the row. Its solution S (I/C + S Omega S)^-1 S T, with s_i^2 = w_i, does not divide by
    weights.

    For a kernel that is not positive semi-definite there is no minimum, but the system is solved
    all the same, as in scikit-learn's ``KernelRidge``.

    If the ridge 1/C is below the round-off of the kernel matrix, its largest eigenvalue times the
    machine precision, and the matrix does not have full rank to working precision, a
    `scipy.linalg.LinAlgWarning` names the condition and the parameters. The solution is then that
    of least norm.

    References
    ----------
    Huang, Zhou, Ding, Zhang, Extreme learning machine for regression and multiclass classification,
    IEEE Trans. SMC B 42(2), 2012; Scardapane et al., Online Sequential Extreme Learning Machine
    With Kernels, IEEE TNNLS 26(9), 2015, eqs. (4) and (12); for weights Zong, Huang, Chen, Weighted
    extreme learning machine for imbalance learning, Neurocomputing 101, 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from elmbench.models import KELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(KELMClassifier(C=10).fit(X, y).score(X, y), 2)
    0.99
    """

    _local = True


class KELMRegressor(WeightedRegressor, KernelSystemMixin):
    """Kernel ELM for regression: `KELMClassifier` with `y`, one column or several, as targets.

    The same as scikit-learn's ``KernelRidge(alpha=1/C, kernel=kernel, gamma=gamma, degree=degree,
    coef0=coef0)``.

    See Also
    --------
    KELMClassifier : For classification.
    LSSVMRegressor : The same with an intercept.
    RKELMRegressor : Some of the rows as centres.
    KOSELMRegressor : The same model, learnt row by row.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from elmbench.models import KELMRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> round(KELMRegressor(C=10).fit(20 * X, y / 100).score(20 * X, y / 100), 2)
    0.8
    """

"""The least-squares support vector machine."""

from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import StrOptions

from elmbench.models.base import paths
from elmbench.models.base.factors import by_factor
from elmbench.models.base.kernels import KernelMixin, Member, kernel_system, solved_together
from elmbench.models.base.parameters import estimator
from elmbench.models.base.paths import Grid
from elmbench.models.base.singular import warn_of_singular
from elmbench.models.base.weights import WeightedClassifier, WeightedRegressor
from elmbench.numerics.arrays import EPS, Array
from elmbench.numerics.kernels import BLOCK_BYTES
from elmbench.numerics.rows import Rows, scaled_rows


@estimator
class _LSSVM(KernelMixin, BaseEstimator):
    """The LS-SVM, for targets in columns."""

    model_version = 1

    evaluate_grid = classmethod(paths.evaluate_grid)
    decision_grid = classmethod(paths.decision_grid)

    C: float = 1.0

    def _fit(self, X: Rows, T: Array, scale: Array | None) -> None:
        """Solve the system with Q^(-1/2) = `scale`."""
        system = kernel_system(self, X, scale)
        self.intercept_, self.beta_ = _solve_bordered(scale, system.solve(_right_hand_sides(T, scale)))
        self.condition_ = system.condition
        if system.is_lost(EPS):
            warn_of_singular(self, self.condition_)

    def _outputs(self, X: Rows) -> Array:
        return self._kernel.product(X, self.dictionary_, self.beta_) + self.intercept_

    @classmethod
    def memory_estimate(cls, n_samples: int, n_features: int, n_outputs: int = 1, **params: Any) -> int:
        return 8 * n_samples * (n_samples + 2 * n_features + 6 * n_outputs) + 5 * BLOCK_BYTES

    @classmethod
    def _path(cls, grid: Grid) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Compute the distances of a fold once for all `gamma`, and solve all `C` of a `gamma` together."""
        done = yield from by_factor(cls, grid, most=1 / 3, centred=True, checks_labels=False)
        models = [(i, model) for i, model in enumerate(grid.models) if i not in done]
        if not models:
            return
        kernels = {i: model._make_kernel() for i, model in models}
        for j, (train, _) in enumerate(grid.folds):
            T, decoded = grid.coded(cls, train)
            members = [Member(i, kernels[i], 1.0 / model.C, model._scale(grid.y[train])) for i, model in models]
            for group, solutions, product in solved_together(grid, j, members, partial(_right_hand_sides, T)):
                solved = [_solve_bordered(group[0].scale, part) for part in solutions]
                products = np.hsplit(product(np.hstack([beta for _, beta in solved])), len(group))
                for member, result, (intercepts, _) in zip(group, products, solved, strict=True):
                    values = result + intercepts
                    yield member.position, j, decoded(values)


@estimator
class LSSVMClassifier(WeightedClassifier, _LSSVM):
    """Least-squares support vector machine, weighted by class or not.

    f(x) = sum_i beta_i k(x_i, x) + b, where [0 1'; 1 K + Q/C] [b; beta] = [0; T] with targets -1/+1 and a diagonal Q,
    which is the identity if classes are not weighted. More than two classes are learnt one against the rest, with the
    weights of the rows' classes.

    Parameters
    ----------
    C, gamma, kernel, degree, coef0, kernel_params
        As in `KELMClassifier`.
    class_weight : "balanced", dict or None, default=None
        Weight w of the errors on each class: "balanced" is the size of the largest class over that of the row's class;
        a dictionary has weights by label, 1 by default.
    weighting : {"corrected", "as-printed"}, default="corrected"
        "corrected" is Q = 1/w, so that errors on a class of large weight cost more; "as-printed" is the paper's Q = w,
        which ignores the smaller class. The `sample_weight` of `fit` always enters as in the first.

    Attributes
    ----------
    beta_ : ndarray of shape (n_samples, n_outputs)
        Coefficients of the rows of the dictionary, which add up to zero.
    intercept_ : ndarray of shape (n_outputs,)
        b.
    condition_ : float
        Estimated condition number of Q^(-1/2) K Q^(-1/2) + I/C. `fit` warns like that of `KELMClassifier`.
    dictionary_, classes_, n_units_, n_features_in_
        As in `KELMClassifier`.

    See Also
    --------
    KELMClassifier : The same without an intercept.
    SVMClassifier : The hinge loss.
    CalibratedClassifierCV : Of scikit-learn; ``CalibratedClassifierCV(model, ensemble=False)`` has `predict_proba`.

    Notes
    -----
    `fit` needs 8 n^2 bytes and little more: the kernel matrix is factored where it stands.

    References
    ----------
    Suykens and Vandewalle, Least squares support vector machine classifiers, Neural Processing Letters 9, 1999; Suykens
    et al., Weighted least squares support vector machines, Neurocomputing 48, 2002; Czarnecki and Tabor, Extreme
    Entropy Machines, sections 2.2 and 7.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from elmbench.models import LSSVMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(LSSVMClassifier(C=10).fit(X, y).score(X, y), 2)
    0.99
    """

    weighting: str = "corrected"

    _parameter_constraints: ClassVar[dict[str, Any]] = {"weighting": [StrOptions({"corrected", "as-printed"})]}

    def _class_weights(self, labels: NDArray[Any], weights: Array | None) -> Array:
        by_class = super()._class_weights(labels, weights)
        if self.weighting == "as-printed":
            np.divide(1.0, by_class, out=by_class, where=by_class > 0)
        return by_class

    @staticmethod
    def _balanced_weights(sizes: Array) -> Array:
        balanced: Array = sizes.max() / sizes
        return balanced


class LSSVMRegressor(WeightedRegressor, _LSSVM):
    """Least-squares support vector machine for regression: kernel ridge regression with an intercept.

    f(x) = sum_i beta_i k(x_i, x) + b, where [0 1'; 1 K + I/C] [b; beta] = [0; y], with `y` one column or several.

    Parameters
    ----------
    C, gamma, kernel, degree, coef0, kernel_params
        As in `KELMClassifier`.

    Attributes
    ----------
    beta_, intercept_, condition_, dictionary_, n_units_, n_features_in_
        As in `LSSVMClassifier`, whose Q is I here.

    See Also
    --------
    LSSVMClassifier : For classification.
    KELMRegressor : The same without an intercept.

    Notes
    -----
    `fit` needs 8 n^2 bytes and little more: the kernel matrix is factored where it stands.

    References
    ----------
    Saunders, Gammerman, Vovk, Ridge regression learning algorithm in dual variables, ICML 1998; Suykens et al., Least
    Squares Support Vector Machines, World Scientific, 2002, section 3.4; Deng, Ong, Zheng, A fast reduced kernel
    extreme learning machine, Neural Networks 76, 2016, Tables 2 and 3.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from elmbench.models import LSSVMRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> round(LSSVMRegressor(C=10).fit(20 * X, y / 100).score(20 * X, y / 100), 2)
    0.8
    """


def _solve_bordered(scale: Array | None, solutions: Array) -> tuple[Array, Array]:
    """Return the solution b, of shape (k,), and beta, of shape (n, k), of [0 1'; 1 A] [b; beta] = [0; T].

    The matrix is A = K + r S^-2 with a diagonal S of `scale`, so A^-1 = S (S K S + r I)^-1 S; `solutions`, of shape (n,
    1 + k), are (S K S + r I)^-1 S [1 T]. Then b = 1' A^-1 T / 1' A^-1 1 and beta = A^-1 T - b A^-1 1 (Suykens and
    Vandewalle, 1999).
    """
    ones, targets = solutions[:, 0], solutions[:, 1:]
    scale = np.ones(len(ones)) if scale is None else scale
    intercepts = (scale @ targets) / (scale @ ones)
    return intercepts, scale[:, np.newaxis] * (targets - np.outer(ones, intercepts))


def _right_hand_sides(T: Array, scale: Array | None) -> Array:
    """Return S [1 T], for the diagonal S of scales."""
    return scaled_rows(np.column_stack([np.ones(len(T)), T]), scale)

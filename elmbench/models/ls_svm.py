"""The least-squares support vector machine."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from elmbench.models.base.family import estimator
from elmbench.models.base.sklearn_private import StrOptions
from elmbench.models.base.weights import WeightedClassifier, WeightedRegressor
from elmbench.models.kernel_elm import KernelSystemMixin
from elmbench.numerics.arrays import Array


class _LSSVM(KernelSystemMixin):
    """Base class of `LSSVMClassifier` and `LSSVMRegressor`: the `KernelSystem` with intercepts.

    The scale of the rows is Q^(-1/2).
    """

    _columns = 5
    _centred = True

    @property
    def intercept_(self) -> Array:
        """The intercepts b of the outputs, of shape (n_outputs,)."""
        return np.asarray(self._intercept)


@estimator
class LSSVMClassifier(WeightedClassifier, _LSSVM):
    """Least-squares support vector machine, weighted by class or not.

    f(x) = sum_i beta_i k(x_i, x) + b, where [0 1'; 1 K + Q/C] [b; beta] = [0; T] with targets -1/+1
    and a diagonal Q, which is the identity if classes are not weighted. More than two classes are
    learnt one against the rest, with the weights of the rows' classes.

    Parameters
    ----------
    C, gamma, kernel, degree, coef0, kernel_params
        As in `KELMClassifier`.
    class_weight : "balanced", dict or None, default=None
        Weight w of the errors on each class: "balanced" is the size of the largest class over that
        of the row's class; a dictionary has weights by label, 1 by default.
    weighting : {"corrected", "as-printed"}, default="corrected"
        "corrected" is Q = 1/w, so that errors on a class of large weight cost more; "as-printed" is
        the paper's Q = w, which ignores the smaller class. The `sample_weight` of `fit` always
        enters as in the first.

    Attributes
    ----------
    beta_ : ndarray of shape (n_samples, n_outputs)
        Coefficients of the rows of the dictionary, which add up to zero.
    intercept_ : ndarray of shape (n_outputs,)
        b.
    condition_ : float
        Estimated condition number of the solved matrix, Q^(-1/2) K Q^(-1/2) + I/C without the
        products of K between the weighted mean of the rows and their deviations from it. `fit`
        warns like that of `KELMClassifier`, and never if a linear kernel is solved in the features.
    dictionary_, classes_, n_units_, n_features_in_
        As in `KELMClassifier`.

    See Also
    --------
    KELMClassifier : The same without an intercept.
    SVMClassifier : The hinge loss.
    CalibratedClassifierCV : Of scikit-learn; ``CalibratedClassifierCV(model, ensemble=False)`` has
    `predict_proba`.

    Notes
    -----
    `fit` needs 8 n^2 bytes and little more: the kernel matrix is factored where it stands.

    The system is solved for the deviations from the weighted mean of the rows, so that the
    intercept is that of ridge regression also for a kernel without constants, such as "cosine", and
    for any C. A ridge within the round-off of the kernel gives the coefficients of least norm.

    With the linear kernel and fewer features than rows, the function is linear, and its weights are
    solved by a singular value decomposition of the centred rows: in n d^2 operations, and exact to
    round-off for any C and any size of the features.

    References
    ----------
    Suykens and Vandewalle, Least squares support vector machine classifiers, Neural Processing
    Letters 9, 1999; Suykens et al., Weighted least squares support vector machines, Neurocomputing
    48, 2002; Czarnecki and Tabor, Extreme Entropy Machines, sections 2.2 and 7.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from elmbench.models import LSSVMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(LSSVMClassifier(C=10).fit(X, y).score(X, y), 2)
    0.99
    """

    model_version = 3

    weighting: str = "corrected"

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "weighting": [StrOptions({"corrected", "as-printed"})]
    }

    def _class_weights(self, labels: NDArray[Any], weights: Array | None) -> Array:
        """Return the weight of the squared errors of each row by its class, of shape (n,).

        The class weight w is the number of a dictionary, 1 for a missing class; for "balanced", it
        is the size of the largest class over that of the row's class. The result is w with
        `weighting="corrected"`, and 1/w with "as-printed" (0 stays 0). `class_weight` must not be
        None. `labels`: of the rows, (n,). `weights`: of the rows in the sizes of classes for
        "balanced", not their roots; None if all are 1.
        """
        by_class = super()._class_weights(labels, weights)
        if self.weighting == "as-printed":
            np.divide(1.0, by_class, out=by_class, where=by_class > 0)
        return by_class

    @staticmethod
    def _balanced_weights(sizes: Array) -> Array:
        """Return the "balanced" weights of classes: the size of the largest class over that of
        each.

        `sizes`: the rows of each class, or the sums of their weights, (n_classes,).
        """
        return np.asarray(sizes.max() / sizes)


class LSSVMRegressor(WeightedRegressor, _LSSVM):
    """Least-squares support vector machine for regression: kernel ridge regression with an
    intercept.

    f(x) = sum_i beta_i k(x_i, x) + b, where [0 1'; 1 K + I/C] [b; beta] = [0; y], with `y` one
    column or several.

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
    Saunders, Gammerman, Vovk, Ridge regression learning algorithm in dual variables, ICML 1998;
    Suykens et al., Least Squares Support Vector Machines, World Scientific, 2002, section 3.4;
    Deng, Ong, Zheng, A fast reduced kernel extreme learning machine, Neural Networks 76, 2016,
    Tables 2 and 3.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from elmbench.models import LSSVMRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> round(LSSVMRegressor(C=10).fit(20 * X, y / 100).score(20 * X, y / 100), 2)
    0.8
    """

    model_version = 3

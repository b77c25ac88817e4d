"""The kernel extreme learning machine."""

from elmbench.models.base.family import estimator
from elmbench.models.base.kernels import KernelSystemMixin
from elmbench.models.base.weights import WeightedClassifier, WeightedRegressor


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

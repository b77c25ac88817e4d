"""The kernel extreme learning machine."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.models.base.family import FamilyClassifier, estimator
from elmbench.models.base.kernels import KernelSystemMixin
from elmbench.models.base.paths import Grid
from elmbench.models.base.weights import WeightedClassifier, WeightedRegressor, weight_key
from elmbench.numerics.arrays import EPS, Array
from elmbench.numerics.fold_solutions import FoldView, fold_groups, fold_solutions
from elmbench.numerics.kernels import kernel_ladder, kernel_round_off
from elmbench.numerics.pairwise import Kernel
from elmbench.numerics.rows import Rows


class _KELM(KernelSystemMixin):
    """The kernel ELM, for targets in columns.

    Eq. (4): beta = (I/C + Omega)^-1 Y. With weights s_i^2: beta = S (I/C + S Omega S)^-1 S Y, which also holds if some
    are 0.
    """

    @classmethod
    def _path(cls, grid: Grid) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Compute the kernel of the training rows of several folds once for each `gamma`, see `fold_groups`.

        This holds for the Gaussian kernel of dense rows without weights; see `_by_matrix` for others, and `_by_factor`
        for kernels of low rank. All `C` of a fold are solved at once, see `fold_solutions`. Values are accepted if
        their system is solved, and labels if the errors of the outputs do not change them. Otherwise the model is
        fitted. Shared work takes 8 n^2 bytes for n training rows and at most 8 m^2 more for the m rows of the largest
        fold; the distances of few rows are kept as well, see `kernel_ladder`.
        """
        kernels = {i: model._make_kernel() for i, model in enumerate(grid.models)}
        kernels = yield from cls._by_factor(grid, kernels, 1 / 6, grid.decides_labels)
        gammas: dict[float, list[int]] = {}
        others = {}
        for i, kernel in kernels.items():
            if kernel.is_plain(grid.X) and weight_key(grid.models[i]) is None:
                gammas.setdefault(kernel.gamma, []).append(i)
            else:
                others[i] = kernel
        yield from cls._by_matrix(grid, others)
        if not gammas:
            return
        for first, order, parts in fold_groups(grid.folds):
            targets = [grid.encode(part.rows) for part in parts]
            room = np.empty(max(len(part.rows) for part in parts) ** 2)
            for gamma, omega in kernel_ladder(grid.X[order], list(gammas)):
                members = sorted(gammas[gamma], key=lambda i: -grid.models[i].C)
                ridges = np.array([1.0 / grid.models[i].C for i in members])
                for j, (part, (T, decode)) in enumerate(zip(parts, targets, strict=True), first):
                    probes = grid.X[grid.folds[j][1]]
                    result = _fold_outputs(grid, gamma, omega, room, part, T, ridges, probes)
                    for i, outputs in zip(members, result, strict=True):
                        if outputs is None:
                            grid.solvers["cholesky"] += 1
                            yield i, j, grid.fitted_outputs(i, j, Kernel(gamma=gamma))
                        else:
                            yield i, j, decode(outputs)


def _fold_outputs(
    grid: Grid, gamma: float, omega: Array, room: Array, part: FoldView, T: Array, ridges: Array, probes: Rows
) -> list[Array | None]:
    """Return the outputs for the test rows of a fold, of shape (n_test, k), for each ridge; None if a fit is needed.

    `omega` is the shared kernel, for this `gamma`, and T, of shape (n_train, k), holds the targets of the fold;
    `probes` are its test rows. Outputs that become labels are accurate enough if their errors
    change none.
    """
    n, k = T.shape
    Z, lengths = fold_solutions(omega, part, T, ridges, room, grid.solvers)
    weights = np.hstack([Z, np.ones((n, 1), order="F")])
    if part.test is not None:
        product = part.product(omega, weights)
    else:
        product = Kernel(gamma=gamma).product(probes, grid.X[part.rows], weights)
    outputs, mass = product[:, :-1], product[:, -1:]
    accepted = np.isfinite(lengths)
    if grid.decides_labels:
        # |k(x)' (K + r I)^-1 e| is at most |e| / sqrt(r) where k(x, x) = 1, and |k(x)| |e| / r. Four times that,
        # because the fit has its own round-off; it also decides ties. Entries of k(x) and sums of n terms have errors
        # relative to |k(x)|' |Z|, which dominate if coefficients cancel.
        errors = 4 * np.maximum(lengths, 4 * EPS * np.sqrt(n)) * np.minimum(ridges**-0.5, mass / ridges)
        round_off = kernel_round_off(grid.X, gamma) + n * EPS
        errors += round_off * mass * np.abs(Z).reshape(n, -1, k).max(axis=(0, 2))
        accepted &= FamilyClassifier._each_holds(outputs, errors)
    if not accepted.all():
        grid.solvers["bound failed"] += int((~accepted).sum())
    return [outputs[:, i * k : (i + 1) * k] if accepted[i] else None for i in range(len(ridges))]


@estimator
class KELMClassifier(WeightedClassifier, _KELM):
    """Kernel extreme learning machine for classification.

    f(x) = [k(x, x_1), ..., k(x, x_n)] (Omega + I/C)^-1 T with the kernel matrix Omega of the training rows: kernel
    ridge regression on targets -1/+1, for more than two classes one against the rest.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the errors; 1/C is the ridge.
    gamma : float, "scale" or "auto", default="scale"
        Inverse squared width of the kernel, exp(-gamma d^2); "scale" is 1 / (n_features * X.var()),
        "auto" 1 / n_features, as in scikit-learn.
    kernel : str or callable, default="rbf"
        A name of `sklearn.metrics.pairwise.pairwise_kernels`, such as "linear", "laplacian" or "polynomial";
        "inverse-multiquadric" or "rational-quadratic"; a function of two rows that returns a number; a kernel of
        `sklearn.gaussian_process.kernels`; or "precomputed". Then `X` is the kernel matrix: between all training rows
        in `fit`, between rows and training rows in `predict`.
    degree : float, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1.0
        Constant term of the polynomial and the sigmoid kernel.
    kernel_params : dict, default=None
        Keyword arguments of a kernel that is a function.
    class_weight : "balanced", dict or None, default=None
        Weight of the squared errors on each class: "balanced" is n_samples / (n_classes times the size of the class); a
        dictionary has weights by label, 1 by default. A label that no row has is an error, unless all others have a
        weight. The `sample_weight` of `fit` multiplies these.

    Attributes
    ----------
    beta_ : ndarray of shape (n_samples, n_outputs)
        Coefficients of the rows of the dictionary.
    dictionary_ : ndarray or CSR matrix of shape (n_samples, n_features), or ndarray of shape (n_samples,)
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
    CalibratedClassifierCV : Of scikit-learn; ``CalibratedClassifierCV(model, ensemble=False)`` has `predict_proba`.

    Notes
    -----
    `fit` needs little more than 8 n^2 bytes: the kernel matrix is factored in place.

    With weights w_i, the model minimises ||f||^2 / C + sum_i w_i (f(x_i) - t_i)^2, so a weight of 2 repeats the row.
    Its solution S (I/C + S Omega S)^-1 S T, with s_i^2 = w_i, does not divide by weights.

    For a kernel that is not positive semi-definite there is no minimum, but the system is solved all the same, as in
    scikit-learn's ``KernelRidge``.

    If the ridge 1/C is below the round-off of the kernel matrix, its largest eigenvalue times the machine precision,
    and the matrix does not have full rank to working precision, a `scipy.linalg.LinAlgWarning` names the condition and
    the parameters. The solution is then that of least norm.

    References
    ----------
    Huang, Zhou, Ding, Zhang, Extreme learning machine for regression and multiclass classification, IEEE Trans. SMC B
    42(2), 2012; Scardapane et al., Online Sequential Extreme Learning Machine With Kernels, IEEE TNNLS 26(9), 2015,
    eqs. (4) and (12); for weights Zong, Huang, Chen, Weighted extreme learning machine for imbalance learning,
    Neurocomputing 101, 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from elmbench.models import KELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(KELMClassifier(C=10).fit(X, y).score(X, y), 2)
    0.99
    """

    _local = True


class KELMRegressor(WeightedRegressor, _KELM):
    """Kernel ELM for regression: `KELMClassifier` with `y`, one column or several, as targets.

    The same as scikit-learn's ``KernelRidge(alpha=1/C, kernel=kernel, gamma=gamma, degree=degree, coef0=coef0)``.

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

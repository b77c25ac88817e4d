"""The multiple kernel extreme learning machine of Liu et al."""

import warnings
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from elmbench.models.base.family import (
    COUNT,
    NOT_NEGATIVE,
    POSITIVE,
    FamilyClassifier,
    FamilyRegressor,
    NumberInterval,
    estimator,
)
from elmbench.models.base.sklearn_private import (
    StrOptions,
    validate_parameter_constraints,
)
from elmbench.numerics.arrays import EPS, Array
from elmbench.numerics.kernels import row_blocks
from elmbench.numerics.multiple_kernels import (
    KERNELS,
    BaseKernel,
    KernelBlocks,
    WeightSurface,
    kernel_values,
    learn_weights,
    squared_radii,
)
from elmbench.numerics.pairwise import PRECOMPUTED
from elmbench.numerics.threads import threads_for


def gaussian_ladder(n_features: int) -> list[tuple[str, dict[str, float]]]:
    """Return Gaussian kernels with gamma = 2^e / n_features for e = -4, ..., 5, as ten pairs
    ("rbf", {"gamma": gamma}).

    They suit features on [0, 1], where d^2 is about a sixth of n_features, and standardised ones,
    where it is about twice n_features.
    """
    return [("rbf", {"gamma": 2.0**e / n_features}) for e in range(-4, 6)]


#: Constraints of the name and the parameters of a kernel in a list.
_CONSTRAINTS: dict[str, list[Any]] = {
    "name": [StrOptions(set(KERNELS))],
    "gamma": [POSITIVE],
    "degree": [COUNT],
    "coef0": [NOT_NEGATIVE],
    "columns": [Sequence],
}


def _parse_kernel(name: str, spec: Any, n_features: int) -> BaseKernel:
    """Return the kernel of an entry of the list `kernels`.

    `spec`: the entry, (name of a kernel, {parameter: value}). `name`: of the entry in messages,
    such as "kernels[0]". A TypeError or a ValueError is raised if it is not a kernel on rows of
    `n_features` columns.
    """
    is_pair = isinstance(spec, Sequence) and len(spec) == 2
    if not is_pair or not isinstance(spec[1], Mapping):
        raise TypeError(
            f"{name}: expected a name and a mapping of parameters, got {spec!r} instead"
        )
    kernel = spec[0]
    params = dict(spec[1])
    validate_parameter_constraints(
        _CONSTRAINTS, {"name": kernel, **params}, caller_name=name
    )
    options = {*BaseKernel(kernel).named_params, "columns"}
    unknown = sorted(set(params) - options)
    if unknown:
        raise ValueError(
            f"{name}: expected parameters of {kernel!r} among {sorted(options)}, got {unknown} "
            "instead"
        )
    if "columns" in params:
        columns = tuple(params["columns"])
        _check_columns(name, columns, n_features)
        params["columns"] = columns
    return BaseKernel(kernel, **params)


def _check_columns(name: str, columns: tuple[Any, ...], n_features: int) -> None:
    """Raise ValueError unless `columns` are (start, stop) of a slice of the `n_features` features.

    The slice must not be empty. `name`: of the kernel in the message, such as "kernels[0]".
    """
    are_integers = all(isinstance(column, Integral) for column in columns)
    if len(columns) == 2 and are_integers:
        start, stop = columns
        if 0 <= start < stop <= n_features:
            return
    expected = f"integers (start, stop) with 0 <= start < stop <= {n_features}"
    raise ValueError(f"{name}, columns: expected {expected}, got {columns} instead")


@estimator
class _MKELM:
    """Base class of `MKELMClassifier` and `MKELMRegressor`: fit and outputs, for targets of shape
    (n, n_outputs).
    """

    _accept_sparse = False

    C: float = 1.0
    kernels: str | Sequence[Any] | None = None
    q: float = 1.0
    radius: bool = False
    tol: float = 1e-4
    objective_tol: float | None = None
    max_iter: int = 1000

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "kernels": [StrOptions({"precomputed"}), "array-like", None],
        "q": [NumberInterval(Real, 1, None, closed="left")],
        "objective_tol": [POSITIVE, None],
        "max_iter": [NumberInterval(Integral, 0, None, closed="left")],
    }

    def _fit(self, X: Array, T: Array) -> None:
        """Learn the weights of the kernels and the output weights; warn if the former have not
        converged, unless `max_iter` is 0.

        `X`: dense rows, or square kernel matrices side by side, (n, m * n), if `kernels` is
        "precomputed". `T`: targets, (n, n_outputs), -1/+1 for classes. Rows have no weights. A
        ValueError or a TypeError is raised for invalid kernels, or matrices that are not square and
        symmetric.
        """
        n = X.shape[0]
        if isinstance(self.kernels, str):
            _check_matrices(X)
            self._kernels = _precomputed_kernels(X)
            self._rows = np.empty((n, 0))
        else:
            self._kernels = self._base_kernels(X.shape[1])
            self._rows = X.copy()  # the caller may change X
        blocks = KernelBlocks(X, self._kernels)
        self.squared_radii_ = (
            squared_radii(blocks) if self.radius else np.ones(blocks.shape[0])
        )
        with threads_for(X):
            result = learn_weights(
                blocks,
                self._targets(T),
                ridge=1.0 / self.C,
                surface=WeightSurface(q=self.q, radii=self.squared_radii_),
                max_iter=self.max_iter,
                tol=self.tol,
                objective_tol=self.objective_tol or 0.0,
            )
        if self.max_iter and not result.converged:
            warnings.warn(
                f"the kernel weights still change by more than {self.tol:g} after {self.max_iter} "
                "iterations: expected a larger max_iter or tol",
                ConvergenceWarning,
                stacklevel=4,
            )
        self.beta_ = result.coefficients
        self.weights_ = result.weights[-1]
        self.weights_path_ = result.weights
        self.objective_ = result.objective
        self.n_iter_ = len(result.objective) - 1
        self.n_units_ = n
        self.condition_ = result.condition

    def _base_kernels(self, n_features: int) -> list[BaseKernel]:
        """Return the kernels of the list `kernels`, or the ten Gaussian ones if it is None.

        A TypeError or a ValueError is raised for an empty list or an invalid entry. `n_features`:
        columns of the rows.
        """
        specs = gaussian_ladder(n_features) if self.kernels is None else self.kernels
        if not isinstance(specs, Sequence) or len(specs) == 0:
            raise TypeError(
                f"kernels: expected a list of one kernel or more, got {specs!r} instead"
            )
        return [
            _parse_kernel(f"kernels[{p}]", spec, n_features)
            for p, spec in enumerate(specs)
        ]

    def _targets(self, T: Array) -> Array:
        """Return the targets that the weights are learnt for: here, `T` itself, (n, n_outputs)."""
        return T

    def _outputs(self, X: Array) -> Array:
        """Return the outputs for the rows of `X`, of shape (n_rows, n_outputs), by the weighted sum
        of the kernels with the training rows.

        `X`: dense rows or, if `kernels` is "precomputed", their m kernels with the n training rows
        side by side, (n_rows, m * n).
        """
        # Kernels of weight zero are not computed.
        numbers = np.flatnonzero(self.weights_)
        kernels = [self._kernels[p] for p in numbers]
        weights = self.weights_[numbers]
        n_rows = len(X)
        n_outputs = self.beta_.shape[1]
        outputs = np.empty((n_rows, n_outputs))
        n_kernels = len(numbers)
        n_values = self.n_units_ * n_kernels
        for rows in row_blocks(n_rows, n_values):
            values = kernel_values(kernels, X[rows], self._rows)
            # The weighted sum of the kernels.
            K = np.tensordot(weights, values, 1)
            outputs[rows] = K @ self.beta_
        return outputs


def _precomputed_kernels(X: Array) -> list[BaseKernel]:
    """Return m kernels, one for each of the square matrices side by side in X, of shape (n, m * n).

    A kernel takes the n columns of its matrix as its values.
    """
    n, width = X.shape
    return [
        BaseKernel(PRECOMPUTED, columns=(start, start + n))
        for start in range(0, width, n)
    ]


def _check_matrices(X: Array) -> None:
    """Raise a ValueError unless the kernel matrices side by side in X are square and symmetric.

    X is of shape (n, m * n). Differences within round-off are allowed.
    """
    n, width = X.shape
    if width % n:
        raise ValueError(
            f"expected square kernel matrices side by side, so a multiple of {n} columns, got "
            f"{width}"
        )
    for start in range(0, width, n):
        K = X[:, start : start + n]
        if np.abs(K - K.T).max() > n * EPS * np.abs(K).max():
            raise ValueError(
                "expected symmetric kernel matrices, got one that is not in the columns from "
                f"{start} on"
            )


class MKELMClassifier(FamilyClassifier, _MKELM):
    """Multiple kernel extreme learning machine for classification.

    A kernel ELM with the kernel K = sum_p gamma_p K_p, whose weights gamma_p are learnt as well. It
    minimises sum_p ||beta_p||^2 / gamma_p / 2 + C/2 ||errors||^2, in turn over the output weights
    beta_p in each kernel and over the kernel weights on the surface sum_p gamma_p^q = 1. Targets
    are 1 in the column of a row's class, 0 elsewhere.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the errors; 1/C is the ridge.
    kernels : list of (name, parameters), "precomputed" or None, default=None
        The base kernels, such as ``[("rbf", {"gamma": 0.5}), ("polynomial", {"degree": 2,
        "columns": [0, 10]})]``. Names are those of `elmbench.numerics.multiple_kernels.KERNELS`;
        parameters are ``gamma`` (1 if not given), ``degree`` (3) and ``coef0`` (1) if the kernel
        has them, and ``columns``, the start and the stop of its columns. None stands for ten
        Gaussian kernels, see `gaussian_ladder`. With "precomputed", `X` holds the m kernel matrices
        side by side, ``np.hstack([K_1, ..., K_m])``: of shape (n_samples, m * n_samples) in `fit`.
        In `predict`, each row holds the kernels between a row and the training rows, in the same
        order.
    q : float, default=1.0
        Norm of the weights, at least 1. Weights are sparse with 1, and become more equal with
        larger values.
    radius : bool, default=False
        Use the surface sum_p R_p gamma_p^q = 1 instead, with R_p the squared radius of the smallest
        ball around the training rows in kernel p, so that the scale of a kernel does not matter. A
        kernel in which all rows coincide then has the weight zero.
    tol : float, default=1e-4
        Stop if no kernel weight changes by more.
    objective_tol : float or None, default=None
        Stop as well if the relative change of the objective is smaller; the authors' code uses
        1e-4. None considers the weights alone, as Algorithm 1 does.
    max_iter : int, default=1000
        Largest number of iterations. A ConvergenceWarning is issued if it is reached. With 0, the
        kernel weights stay equal.

    Attributes
    ----------
    weights_ : ndarray of shape (n_kernels,)
        Kernel weights.
    weights_path_ : ndarray of shape (n_iter_ + 1, n_kernels)
        Kernel weights at the start, where they are equal, and after every iteration.
    objective_ : ndarray of shape (n_iter_ + 1,)
        The objective for these weights and the best output weights, which never rises.
    squared_radii_ : ndarray of shape (n_kernels,)
        R_p; ones if `radius` is False.
    beta_ : ndarray of shape (n_samples, n_classes)
        Coefficients of the training rows, alpha in the paper.
    classes_ : ndarray of shape (n_classes,)
    n_iter_ : int
        Number of times that the kernel weights were updated.
    n_units_ : int
        Number of training rows.
    condition_ : float
        Estimated condition number of K + I/C.
    n_features_in_ : int

    See Also
    --------
    KELMClassifier : A single kernel.
    CalibratedClassifierCV : Of scikit-learn; ``CalibratedClassifierCV(model, ensemble=False)`` has
    `predict_proba`.

    Notes
    -----
    For two classes, `decision_function` returns the output of the second minus that of the first,
    as `KELMClassifier` does for the same kernel. For more classes, its columns f are the outputs
    for targets 0 and 1; those for targets -1 and 1 are 2 f minus the sum of all f.

    `fit` keeps one half of each kernel matrix if all of them take at most 1 GiB. Otherwise, it
    recomputes them twice an iteration, a block of rows at a time. In addition, it takes 8 n^2
    bytes.

    References
    ----------
    Liu, Wang, Huang, Zhang, Yin, Multiple kernel extreme learning machine, Neurocomputing 149,
    2015, eqs. (6)-(17) and Algorithm 1; sections 3.2 and 3.3.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from elmbench.models import MKELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(MKELMClassifier(C=10).fit(X, y).score(X, y), 2)
    1.0
    """

    def _targets(self, T: Array) -> Array:
        """Return targets 0 and 1 in a column for each class, (n, n_classes), also for two classes.

        `T`: targets -1/+1, in one column for two classes.
        """
        positive = (T + 1.0) / 2.0
        return (
            np.hstack([1.0 - positive, positive])
            if len(self.classes_) == 2
            else positive
        )

    def _outputs(self, X: Array) -> Array:
        """Return the outputs for the rows of `X`, a column for each class, (n_rows, n_classes); for
        two classes, (n_rows, 1), the output of the second less that of the first.
        """
        outputs = super()._outputs(X)
        return outputs[:, 1:] - outputs[:, :1] if len(self.classes_) == 2 else outputs


class MKELMRegressor(FamilyRegressor, _MKELM):
    """Multiple kernel ELM for regression: `MKELMClassifier` with `y`, one column or several, as
    targets.

    See Also
    --------
    MKELMClassifier : For classification.
    KELMRegressor : A single kernel.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from elmbench.models import MKELMRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = MKELMRegressor(C=10, max_iter=5, tol=0.5)
    >>> round(model.fit(20 * X, y / 100).score(20 * X, y / 100), 2)
    0.99
    """

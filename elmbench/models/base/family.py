"""Constructors, constraints, targets and public methods of all models of the ELM family.

A concrete estimator combines one of the classifiers or regressors below with ``_fit(X, T)``
(``_fit(X, T, scale)`` if rows may have weights), which learns from rows and targets, of shape
(n_samples, n_outputs), and forgets anything learnt before; with ``_outputs(X)``, which returns the
real outputs; and, if it is sequential, with ``_update(X, T)``, which learns further rows in their
order, and ``_start(X, T)``, which forgets and prepares for such rows.
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from numbers import Integral, Real
from typing import Any, Self, TypeVar, dataclass_transform

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgWarning
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    MultiOutputMixin,
    RegressorMixin,
)
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from elmbench.models.base.sklearn_private import Interval, StrOptions, fit_context
from elmbench.numerics.arrays import EPS, LARGEST, Array, Rows
from elmbench.numerics.nodes.hidden_layer import ACTIVATIONS
from elmbench.numerics.pairwise import NAMES
from elmbench.numerics.solve import RidgeSystem


class NumberInterval(Interval):
    """An interval of scikit-learn's constraints without True and False, which Python counts as 1
    and 0.
    """

    def is_satisfied_by(self, val: Any) -> bool:
        """Return True if `val` is a number in the interval, and neither True nor False."""
        return not isinstance(val, bool) and bool(super().is_satisfied_by(val))

    @classmethod
    def replace_intervals(
        cls, constraints: Mapping[str, list[Any]]
    ) -> dict[str, list[Any]]:
        """Return a copy of constraints in which intervals of this class replace scikit-learn's.

        `constraints`: {name of a parameter: list of its allowed types, intervals and options}, as
        `_parameter_constraints` of an estimator.
        """
        return {
            name: [
                cls(item.type, item.left, item.right, closed=item.closed)
                if isinstance(item, Interval)
                else item
                for item in items
            ]
            for name, items in constraints.items()
        }


POSITIVE = NumberInterval(Real, 0, None, closed="neither")
NOT_NEGATIVE = NumberInterval(Real, 0, None, closed="left")
COUNT = NumberInterval(Integral, 1, None, closed="left")

_Class = TypeVar("_Class")

#: Constraints of scikit-learn's `_parameter_constraints`, by the name of a parameter, the same in
#: all models.
_CONSTRAINTS: dict[str, list[Any]] = {
    **{
        name: [POSITIVE]
        for name in ("C", "degree", "slope", "smoothing", "tol", "pruning")
    },
    **{name: [NOT_NEGATIVE] for name in ("delta", "epsilon")},
    **{
        name: [COUNT]
        for name in (
            "n_hidden",
            "n_landmarks",
            "budget",
            "n_weights",
            "n_epochs",
            "max_iter",
        )
    },
    **{
        name: [COUNT]
        for name in ("initial_batch", "batch_size", "prune_every", "n_components")
    },
    **{
        name: ["boolean"]
        for name in ("shuffle", "fit_intercept", "update_mean", "radius")
    },
    **{name: ["array-like", Mapping, None] for name in ("priors", "costs")},
    "activation": [StrOptions(set(ACTIVATIONS))],
    "class_weight": [Mapping, StrOptions({"balanced"}), None],
    "coef0": [NumberInterval(Real, None, None, closed="neither")],
    "gamma": [POSITIVE, StrOptions({"scale", "auto"})],
    "kernel": [StrOptions(set(NAMES)), callable],
    "kernel_params": [Mapping, None],
    "random_state": [
        NumberInterval(Integral, 0, 2**32 - 1, closed="both"),
        np.random.RandomState,
        None,
    ],
}


@dataclass_transform(kw_only_default=True, field_specifiers=(field,))
def estimator(cls: type[_Class]) -> type[_Class]:
    """Decorate a class with a keyword-only constructor whose parameters are its annotated
    attributes.

    Those of decorated bases are parameters, too; attributes annotated as `ClassVar` are not. The
    class also gets the constraints of these parameters, as `_parameter_constraints`: those of
    `_CONSTRAINTS`, of its bases and its own; later ones replace earlier ones. The decorator changes
    the class and returns it.
    """
    cls = dataclass(kw_only=True, eq=False, repr=False)(cls)
    names = [parameter.name for parameter in fields(cls)]  # type: ignore[arg-type]
    constraints = {name: _CONSTRAINTS[name] for name in names if name in _CONSTRAINTS}
    for base in reversed(cls.__mro__):
        constraints |= vars(base).get("_parameter_constraints", {})
    cls._parameter_constraints = constraints  # type: ignore[attr-defined]
    return cls


def check_real(name: str, value: Any) -> float:
    """Return `value`, a positive finite number, as a float.

    A TypeError is raised for anything but a number, also for True and False; a ValueError for zero,
    a negative number, an infinity or NaN. `name`: of the parameter, for the message.
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(
            f"{name}: expected a number greater than 0, got {value!r} instead"
        )
    number = float(value)
    if not (np.isfinite(number) and number > 0):
        raise ValueError(
            f"{name}: expected a finite number greater than 0, got {value!r} instead"
        )
    return number


def check_magnitudes(name: str, values: Rows) -> None:
    """Raise a ValueError if the magnitude of an entry, of a dense or CSR array, is larger than
    `LARGEST` (1e150), so that squares might overflow; NaN raises none.

    `name`: that of the array in the message.
    """
    entries = values.data if sp.issparse(values) else values
    highest = entries.max(initial=0.0)
    lowest = entries.min(initial=0.0)
    largest = max(highest, -lowest)
    if largest > LARGEST:
        raise ValueError(
            f"{name}: expected magnitudes up to {LARGEST:g}, got {largest:.1e} instead"
        )


def encode_classes(y: NDArray[Any], classes: NDArray[Any]) -> Array:
    """Return the targets of labels: -1/+1 in one column, (n, 1), for two classes; else a column for
    each class against the rest, (n, n_classes).

    `y`: labels, of shape (n,). `classes`: the sorted labels, of shape (n_classes,); +1 stands for
    the second of two, or for the class of the column. A single class has one column of +1. A label
    that is not in `classes` is -1 in all columns.
    """
    if len(classes) <= 2:
        return np.where(y == classes[-1], 1.0, -1.0)[:, np.newaxis]
    return np.where(y[:, np.newaxis] == classes[np.newaxis, :], 1.0, -1.0)


def decode_classes(outputs: Array, classes: NDArray[Any]) -> NDArray[Any]:
    """Return the labels of real outputs, of shape (n_rows,).

    `outputs`: of shape (n_rows, 1) for two classes, above zero for the second one, else of shape
    (n_rows, n_classes): the class of the largest one, the first of equal ones. NaN counts as zero
    or less for two classes, as the largest one for more. `classes`: the labels in the order of the
    columns. A single class is the label of all rows.
    """
    n_rows = len(outputs)
    n_classes = len(classes)
    if n_classes == 1:
        return np.repeat(classes, n_rows)
    if n_classes == 2:
        is_positive = outputs[:, 0] > 0
        return classes[is_positive.astype(np.intp)]
    codes = np.argmax(outputs, axis=1)
    return classes[codes]


def named_gamma(gamma: str, X: Rows, weights: Array | None = None) -> float:
    """Return the number that "scale" or "auto" stands for: 1 / (n_features * variance of all
    entries) or 1 / n_features, as in scikit-learn.

    `gamma`: one of these two words. `X`: the training rows, dense or CSR. `weights`: of the rows in
    the variance, of shape (n,), not their roots; None if all are 1. "scale" is 1 if all entries are
    equal.
    """
    n_features = X.shape[1]
    if gamma == "auto":
        return 1.0 / n_features
    if sp.issparse(X):
        # The mean of the squares less the square of the mean.
        row_means = np.asarray(X.mean(axis=1)).ravel()
        squares = X.multiply(X)
        row_squares = np.asarray(squares.mean(axis=1)).ravel()
        mean = np.average(row_means, weights=weights)
        mean_square = np.average(row_squares, weights=weights)
        variance = mean_square - mean**2
    else:
        row_means = X.mean(axis=1)
        mean = np.average(row_means, weights=weights)
        row_variances = ((X - mean) ** 2).mean(axis=1)
        variance = np.average(row_variances, weights=weights)
    if variance > np.finfo(float).tiny:
        return float(1.0 / (n_features * variance))
    return 1.0


def numeric_gamma(model: Any) -> float:
    """Return `gamma` of a model as a number.

    For "scale" or "auto", it is the attribute `_gamma`, which `fit` sets from its rows before.
    """
    return float(model._gamma if isinstance(model.gamma, str) else model.gamma)


class FamilyModel(BaseEstimator):
    """Base class of all estimators: validation of rows, dense or, unless `_accept_sparse` is False,
    CSR.
    """

    model_version = 1
    gamma: Any

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.sparse = bool(getattr(self, "_accept_sparse", True))
        return tags

    def _validate_rows(
        self, *data: ArrayLike, reset: bool = True, **options: Any
    ) -> Any:
        """Return `X` in double precision, or `X` and `y` if both are given, from scikit-learn's
        `validate_data`.

        `data`: `X`, or `X` and `y`. `options`: further ones of `validate_data`. With `reset`,
        `n_features_in_` and the number of a named `gamma` (`_gamma`) are set; without it, `X` must
        have as many features as in `fit`. A ValueError is raised for NaN, infinities and magnitudes
        above `LARGEST` in `X`.
        """
        formats = getattr(self, "_accept_sparse", True) and "csr"
        result = validate_data(
            self, *data, reset=reset, accept_sparse=formats, dtype=np.float64, **options
        )
        X = result if len(data) == 1 else result[0]
        check_magnitudes("X", X)
        if reset and isinstance(getattr(self, "gamma", None), str):
            self._gamma = named_gamma(self.gamma, X)
        return result


_REPORTED = ("C", "gamma", "kernel", "n_hidden", "n_landmarks", "budget")


def check_condition(model: Any, system: RidgeSystem, tolerance: float = EPS) -> float:
    """Return the condition number of a system that `_fit` of a model has solved; warn
    (`LinAlgWarning`) if it is singular.

    `model`: the estimator, whose parameters the warning names. `tolerance`: the share of the
    largest eigenvalue up to which a ridge is lost in round-off, so that the system is singular.
    """
    if not system.is_lost(tolerance):
        return system.condition
    params = model.get_params(deep=False)
    settings = ", ".join(
        f"{name}={params[name]!r}" for name in _REPORTED if name in params
    )
    warnings.warn(
        "the system to be solved is singular to working precision, condition "
        f"{system.condition:.1e}, with {settings}: the ridge 1/C is below the round-off of a "
        "matrix without full rank, so that directions are left out; expected a smaller C, or a "
        "kernel or nodes that tell the rows apart",
        LinAlgWarning,
        stacklevel=5,
    )
    return system.condition


class FamilyClassifier(ClassifierMixin, FamilyModel):
    """Base class of the classifiers, which predict by real outputs for encoded targets."""

    classes_: NDArray[Any]

    @staticmethod
    def _code_targets(y: NDArray[Any]) -> tuple[Array, Callable[[Array], NDArray[Any]]]:
        """Return the targets of labels, and the function that decodes outputs to labels.

        `y`: labels, of shape (n,); their distinct values are the classes. The targets are -1/+1, of
        shape (n, 1) for two classes, else (n, n_classes). The function takes outputs of the same
        columns for any rows.
        """
        classes = np.unique(y)
        return encode_classes(y, classes), lambda outputs: decode_classes(
            outputs, classes
        )

    @staticmethod
    def _each_holds(outputs: Array, errors: Array) -> NDArray[np.bool_]:
        """Return, for each of p models, True if errors of its outputs change no label of any row.

        `outputs`: of shape (n, p * k), the k columns of a model side by side. `errors`: the largest
        error in the outputs of a row by a model, of shape (n, p); 0 if they are exact, which also
        accepts ties.
        """
        n, p = errors.shape
        n_columns = outputs.shape[1]
        if n_columns == p:
            # The sign decides.
            margins = np.abs(outputs)
        else:
            # Half of the lead of the largest output over the second one.
            by_model = outputs.reshape(n, p, -1)
            n_outputs = by_model.shape[2]
            ordered = np.partition(by_model, n_outputs - 2, axis=2)
            largest = ordered[:, :, -1]
            second = ordered[:, :, -2]
            margins = (largest - second) / 2
        is_exact = errors == 0
        keeps_label = (margins > errors) | is_exact
        return np.asarray(keeps_label.all(axis=0))

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the model to inputs `X`, of shape (n_samples, n_features), and labels `y`, of shape
        (n_samples,), forgetting any earlier fit.
        """
        rows, labels = self._validate_rows(X, y)
        check_classification_targets(labels)
        self.classes_ = np.unique(labels)
        targets = encode_classes(labels, self.classes_)
        self._fit(rows, targets)
        return self

    @available_if(lambda model: hasattr(model, "_update"))
    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None
    ) -> Self:
        """Learn from further rows `X`, of shape (n_samples, n_features), and labels `y`, in their
        order.

        `classes` are all labels that may occur; by default, the first call takes the labels of its
        `y` for all of them. Later calls may repeat all of them. An earlier `fit` counts as the
        first call. Different `classes` in a later call, or labels that are not among them, raise a
        ValueError.
        """
        first = not hasattr(self, "classes_")
        rows, labels = self._validate_rows(X, y, reset=first)
        check_classification_targets(labels)
        named_classes = np.unique(labels if classes is None else np.asarray(classes))
        all_classes = named_classes if first else self.classes_
        if classes is not None and not np.array_equal(named_classes, all_classes):
            expected = f"expected {all_classes.tolist()}, as in the first call"
            raise ValueError(
                f"classes: {expected}, got {named_classes.tolist()} instead"
            )
        unseen = np.setdiff1d(labels, all_classes)
        if len(unseen):
            raise ValueError(
                f"expected labels among {all_classes.tolist()}, got {unseen.tolist()} instead: "
                "name every class in the first call of partial_fit"
            )
        targets = encode_classes(labels, all_classes)
        if first:
            self._start(rows, targets)
            self.classes_ = all_classes
        self._update(rows, targets)
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """Return the real outputs of the network for the rows of `X`, of shape (n_samples,) for two
        classes or one, else (n_samples, n_classes).

        They are positive for the second of two classes; for more classes, there is a column for
        each.
        """
        check_is_fitted(self)
        outputs = self._outputs(self._validate_rows(X, reset=False))
        return outputs[:, 0] if len(self.classes_) <= 2 else outputs

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the predicted class labels, of shape (n_samples,): that of the largest output, the
        first of equal ones; for two classes, the second if the output is positive, else the first.
        """
        outputs = self.decision_function(X)
        return decode_classes(outputs.reshape(len(outputs), -1), self.classes_)


class FamilyRegressor(MultiOutputMixin, RegressorMixin, FamilyModel):
    """Base class of the regressors, with one target or several."""

    @staticmethod
    def _code_targets(y: NDArray[Any]) -> tuple[Array, Callable[[Array], NDArray[Any]]]:
        """Return training values in columns, (n, k), and the function that turns outputs into
        predictions.

        `y`: of shape (n,) or (n, k). The function drops the single column of outputs, (n, 1), if
        `y` has one dimension, and returns them unchanged otherwise.
        """
        targets = np.asarray(y, dtype=np.float64)
        if targets.ndim == 1:
            return targets[:, np.newaxis], lambda outputs: outputs[:, 0]
        return targets, lambda outputs: outputs

    def _rows_and_columns(
        self, X: ArrayLike, y: ArrayLike, reset: bool = True
    ) -> tuple[Rows, Array]:
        """Return validated rows, and target values in columns, of shape (n, n_targets).

        With `reset`, the form of the targets is stored for `predict` and later calls:
        `_flat_target`, True if `y` has one dimension, and `_n_targets`.
        """
        rows, values = self._validate_rows(
            X, y, reset=reset, multi_output=True, y_numeric=True
        )
        targets = np.asarray(values, dtype=np.float64).reshape(len(values), -1)
        check_magnitudes("y", targets)
        if reset:
            self._flat_target = values.ndim == 1
            self._n_targets = targets.shape[1]
        return rows, targets

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the model to inputs `X`, of shape (n_samples, n_features), and target values `y`, of
        shape (n_samples,) or (n_samples, n_targets), forgetting any earlier fit.
        """
        self._fit(*self._rows_and_columns(X, y))
        return self

    @available_if(lambda model: hasattr(model, "_update"))
    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from further rows `X`, (n_samples, n_features), in their order, with target values
        `y`, (n_samples,) or (n_samples, n_targets).

        What earlier calls and `fit` have learnt is kept. Predictions keep the form of `y` in the
        first call or in `fit`, and a ValueError is raised for another number of targets.
        """
        first = not hasattr(self, "_n_targets")
        rows, targets = self._rows_and_columns(X, y, reset=first)
        if first:
            self._start(rows, targets)
        elif targets.shape[1] != self._n_targets:
            raise ValueError(
                f"y: expected {self._n_targets} targets, as in the first call, got "
                f"{targets.shape[1]} instead"
            )
        self._update(rows, targets)
        return self

    def predict(self, X: ArrayLike) -> Array:
        """Return the predicted values, of shape (n_samples,), or (n_samples, n_targets) if the
        targets of `fit` had two dimensions.
        """
        check_is_fitted(self)
        outputs = self._outputs(self._validate_rows(X, reset=False))
        return outputs[:, 0] if self._flat_target else outputs

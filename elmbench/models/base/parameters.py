"""Constructors of the estimators, and the constraints of their parameters, which `fit` checks."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from numbers import Integral, Real
from typing import Any, TypeVar, dataclass_transform

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from elmbench.numerics.nodes.hidden_layer import ACTIVATIONS
from elmbench.numerics.pairwise import NAMES

POSITIVE = Interval(Real, 0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
COUNT = Interval(Integral, 1, None, closed="left")

_Class = TypeVar("_Class")

#: Constraints of scikit-learn's `_parameter_constraints`, by the name of a parameter, the same in all models.
_CONSTRAINTS: dict[str, list[Any]] = {
    **{name: [POSITIVE] for name in ("C", "degree", "slope", "smoothing", "tol", "pruning")},
    **{name: [NOT_NEGATIVE] for name in ("delta", "epsilon")},
    **{name: [COUNT] for name in ("n_hidden", "n_landmarks", "budget", "n_weights", "n_epochs", "max_iter")},
    **{name: [COUNT] for name in ("initial_batch", "batch_size", "prune_every", "n_components")},
    **{name: ["boolean"] for name in ("shuffle", "fit_intercept", "update_mean", "radius")},
    **{name: ["array-like", Mapping, None] for name in ("priors", "costs")},
    "activation": [StrOptions(set(ACTIVATIONS))],
    "class_weight": [Mapping, StrOptions({"balanced"}), None],
    "coef0": [Interval(Real, None, None, closed="neither")],
    "gamma": [POSITIVE, StrOptions({"scale", "auto"})],
    "kernel": [StrOptions(set(NAMES)), callable],
    "kernel_params": [Mapping, None],
    "random_state": ["random_state"],
}


@dataclass_transform(kw_only_default=True, field_specifiers=(field,))
def estimator(cls: type[_Class]) -> type[_Class]:
    """Give a class a constructor with its annotated attributes as keyword-only parameters, and their constraints."""
    cls = dataclass(kw_only=True, eq=False, repr=False)(cls)
    names = [parameter.name for parameter in fields(cls)]  # type: ignore[arg-type]
    constraints = {name: _CONSTRAINTS[name] for name in names if name in _CONSTRAINTS}
    for base in reversed(cls.__mro__):
        constraints |= vars(base).get("_parameter_constraints", {})
    cls._parameter_constraints = constraints  # type: ignore[attr-defined]
    return cls


def check_real(name: str, value: Any) -> float:
    """Return `value` as a float: a TypeError if it is not a number, a ValueError if it is not positive and finite."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{name}: expected a number greater than 0, got {value!r} instead")
    number = float(value)
    if not (np.isfinite(number) and number > 0):
        raise ValueError(f"{name}: expected a finite number greater than 0, got {value!r} instead")
    return number

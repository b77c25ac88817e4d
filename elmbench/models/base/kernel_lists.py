"""Lists of base kernels as parameters of a model, checked when it is fitted."""

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

from elmbench.models.base.parameters import check_choice, check_count, check_real
from elmbench.numerics.multiple.base_kernels import KERNELS, BaseKernel

KernelSpec = Sequence[Any]
"""A name and the parameters by theirs, as a pair: what a YAML or JSON file holds."""


def gaussian_ladder(n_features: int) -> list[tuple[str, dict[str, float]]]:
    """Return Gaussian kernels with gamma = 2^e / n_features for e = -4, ..., 5.

    They suit features on [0, 1] and standardised ones: d^2 is about a sixth of n_features, or two times as large.
    """
    return [("rbf", {"gamma": 2.0**e / n_features}) for e in range(-4, 6)]


def check_kernels(name: str, specs: Any, n_features: int) -> list[BaseKernel]:
    """Return the kernels of a list: a TypeError or a ValueError if one is not a kernel on `n_features` columns."""
    if isinstance(specs, str) or not isinstance(specs, Sequence):
        raise TypeError(f"{name}: expected a list of kernels, got {specs!r} instead")
    if len(specs) == 0:
        raise ValueError(f"{name}: expected one kernel or more, got none")
    return [_kernel(f"{name}[{p}]", spec, n_features) for p, spec in enumerate(specs)]


def _kernel(place: str, spec: Any, n_features: int) -> BaseKernel:
    if isinstance(spec, str) or not isinstance(spec, Sequence) or len(spec) != 2 or not isinstance(spec[1], Mapping):
        raise TypeError(f"{place}: expected a name and a mapping of parameters, got {spec!r} instead")
    kernel, given = check_choice(place, spec[0], KERNELS), dict(spec[1])
    known = (*KERNELS[kernel][1], "columns")
    for key in given:
        check_choice(f"parameter of {place}, {kernel}", key, known)
    checks = {"gamma": check_real, "degree": check_count, "coef0": _not_negative}
    found: dict[str, Any] = {key: checks[key](f"{place}, {key}", given[key]) for key in given if key in checks}
    if given.get("columns") is not None:
        found["columns"] = _columns(f"{place}, columns", given["columns"], n_features)
    return BaseKernel(kernel, **found)


def _not_negative(name: str, value: Any) -> float:
    return 0.0 if isinstance(value, Real) and value == 0 else check_real(name, value)


def _columns(name: str, value: Any, n_features: int) -> tuple[int, int]:
    if not (isinstance(value, Sequence) and len(value) == 2 and all(isinstance(v, Integral) for v in value)):
        raise TypeError(
            f"{name}: expected the numbers of the first column and of the one after the last, got {value!r}"
        )
    start, stop = map(int, value)
    if not 0 <= start < stop <= n_features:
        raise ValueError(f"{name}: expected 0 <= start < stop <= {n_features}, got {value!r} instead")
    return start, stop

"""Checks of constructor parameters, made when a model is fitted."""

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np


def check_real(name: str, value: Any) -> float:
    """Return `value` as a float: a TypeError if it is not a number, a ValueError if it is not positive and finite."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{name}: expected a number greater than 0, got {value!r} instead")
    number = float(value)
    if not (np.isfinite(number) and number > 0):
        raise ValueError(f"{name}: expected a finite number greater than 0, got {value!r} instead")
    return number


def check_count(name: str, value: Any, least: int = 1) -> int:
    """Return `value` as an int: a TypeError if it is not an integer, a ValueError if it is less than `least`."""
    expected = "a positive integer" if least == 1 else f"an integer of at least {least}"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        raise TypeError(f"{name}: expected {expected}, got {value!r} instead")
    if value < least:
        raise ValueError(f"{name}: expected {expected}, got {value!r} instead")
    return int(value)


def check_choice(name: str, value: Any, choices: Iterable[str]) -> str:
    """Return `value`: a ValueError if it is not one of `choices`."""
    choices = sorted(choices)
    if value not in choices:
        raise ValueError(f"{name}: expected one of {', '.join(map(repr, choices))}, got {value!r} instead")
    return str(value)


def check_finite(name: str, value: Any) -> float:
    """Return `value` as a float: a TypeError if it is not a number, a ValueError if it is not finite."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{name}: expected a number, got {value!r} instead")
    if not np.isfinite(float(value)):
        raise ValueError(f"{name}: expected a finite number, got {value!r} instead")
    return float(value)

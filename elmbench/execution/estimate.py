"""What a run will cost, roughly: for `--dry-run`, and for the time left while it runs."""

from __future__ import annotations

import math

from elmbench.execution.units import Unit
from elmbench.specs.datasets import load_dataset_specs
from elmbench.specs.registry import find_model

#: Floating-point operations a second that the dense part of these models reaches on one core of a desk machine.
_RATE = 3e10
#: Seconds that a fit takes however small it is.
_OVERHEAD = 5e-4
#: What a search over a grid saves by sharing work between candidates.
_SHARING = 0.3


def estimated_seconds(unit: Unit) -> float:
    """Return what a unit takes on one core of a desk machine, within a factor of a few.

    Parameters
    ----------
    unit : dict
        As a plan has it.
    """
    if unit["kind"] in ("choice", "description"):
        return 0.0
    shape = load_dataset_specs().find(unit["dataset"]["name"]).shape
    rows = min(shape.instances, unit["dataset"]["rows"] or shape.instances)
    if unit["kind"] == "correlation":
        return _correlation_seconds(unit, rows, shape.features)
    folds = unit["protocol"]["outer"]["folds"]
    n = rows * (folds - 1) // folds
    entry = find_model(unit["model"])
    if unit["kind"] == "cell":
        return 1.2 * _fit_seconds(entry.cost, n, shape.features, dict(unit["params"]))
    if unit["kind"] == "search":
        repeats = unit["inner"]["folds"]
        n = min(n, unit["tune_rows"] or n) * (repeats - 1) // repeats
    elif unit["kind"] == "divergence":
        n = min(n, unit["tune_rows"] or n)
    grid = unit["grid"]
    middle = {name: values[len(values) // 2] for name, values in grid.items()}
    shared = _SHARING if unit.get("paths", True) else 1.0
    return shared * number_of_fits(unit) * _fit_seconds(entry.cost, n, shape.features, {**unit["params"], **middle})


def number_of_fits(unit: Unit) -> int:
    """Return how many models a unit stands for."""
    if unit["kind"] not in ("search", "grid", "divergence", "curve"):
        return int(unit["kind"] == "cell")
    repeats = unit["inner"]["folds"] if unit["kind"] == "search" else 1
    return int(repeats * math.prod(len(values) for values in unit["grid"].values()))


def _correlation_seconds(unit: Unit, n: int, d: int) -> float:
    """Return what the layers and the operators of a rank correlation take: products with the rows."""
    sizes, draws = unit["grid"]["n_hidden"], unit["draws"]
    operations = n * (max(sizes) * (2 * d + 50) + 4 * sum(sizes) * draws["operators"])
    return float(draws["projections"] * (_OVERHEAD + operations / _RATE))


def _fit_seconds(cost: object, n: int, d: int, params: dict[str, object]) -> float:
    operations = cost(n, d, params) if callable(cost) else 1e3 * n * d
    return _OVERHEAD + operations / _RATE

"""Two units run as one: a search on inner folds and the evaluation of the same grid on the outer fold.

The plan has both, each with a key of its own, so that either is known from before whatever was asked for then. Where
both are still to be run, one call of the model's path over the inner folds and the outer one does both.
"""

from __future__ import annotations

from typing import Any

from elmbench.execution.units import Unit, key_of
from elmbench.specs.limits import Limits


def partners(units: dict[str, Unit], todo: list[str]) -> dict[str, str]:
    """Return for each search that is to be run the evaluation on the outer fold that it can share its work with.

    Parameters
    ----------
    units : dict of str to dict
    todo : list of str
        Keys of those that are to be run.

    Returns
    -------
    dict of str to str
        Keys of searches to keys of evaluations, and the other way round. A model that takes hyperparameters over from
        another has none: what it takes over is another choice in the one and in the other.
    """
    waiting = set(todo)
    found: dict[str, str] = {}
    for key in todo:
        unit = units[key]
        if unit["kind"] == "search" and unit["given"] is None:
            shared = {name: value for name, value in unit.items() if name not in ("inner", "tune_rows")}
            grid = key_of(shared | {"kind": "grid"})
            if grid in waiting:
                found |= {key: grid, grid: key}
    return found


def as_pass(units: dict[str, Unit], key: str, other: str) -> tuple[Unit, tuple[str, str]]:
    """Return the unit that does both, and the keys of the search and of the evaluation."""
    search, grid = (key, other) if units[key]["kind"] == "search" else (other, key)
    return units[search] | {"kind": "pass"}, (search, grid)


def limits_of_pass(limits: dict[str, Limits], keys: tuple[str, str]) -> Limits:
    """Return what the two may take together: what each may take alone."""
    return limits[keys[0]].narrower(limits[keys[1]])


def parts_of(keys: tuple[str, ...], result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the results of single units by key.

    A pass that ended other than ok has none: its units are to be run alone, so that each ends as it would have without
    the other.

    Parameters
    ----------
    keys : tuple of str
        One key, or those of a pass as `as_pass` returns them.
    result : dict
        What was run for them yielded.
    """
    if len(keys) == 1:
        return {keys[0]: result}
    if result["status"] != "ok":
        return {}
    common = {name: result[name] for name in ("status", "reason", "warnings")}
    return {key: common | result[part] for key, part in zip(keys, ("search", "grid"), strict=True)}

"""The searches of whole tables, with the paths over grids and with `--no-paths`."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks.measure import Measurement, Seconds, rounds_for, timed
from benchmarks.row import Result, Row, measured
from elmbench.evaluation.folds import fold_data
from elmbench.evaluation.unit import preload, run_unit
from elmbench.execution.plan import make_plan
from elmbench.execution.units import Request, Unit, needs
from elmbench.models.protocols import GridPath
from elmbench.specs.catalogue import find_experiment
from elmbench.specs.grids import candidates
from elmbench.specs.profiles import resolve
from elmbench.specs.registry import find_model

TABLES = ("table4", "table6")
KEPT = 2
"""Values of C that a long grid over two hyperparameters is measured on without paths."""

NOTHING = Seconds(0.0, 0.0)
Outcome = dict[str, Any]


def first_fold(table: str, rows: int, data_dir: str | None) -> dict[str, Unit]:
    """Return the units of a table's first run and first outer fold, as printed, with at most so many rows a data set.

    Data sets that are not here have none.
    """
    resolved = resolve(find_experiment(table), "paper")
    resolved = replace(resolved, settings=resolved.settings.model_copy(update={"rows": rows}))
    units = make_plan(resolved, Request(runs=1, data_dir=data_dir)).units
    return {key: unit for key, unit in units.items() if unit.get("fold") == 0}


def thinned(unit: Unit) -> tuple[Unit, float]:
    """Return the search without paths, on a part of its candidates where there are many, and the share of them.

    Of a grid over two hyperparameters all values of the first, which what a fit takes depends on, are kept with
    `KEPT` random values of the other one, C.
    """
    unit = unit | {"paths": False}
    if len(unit["grid"]) < 2:
        return unit, 1.0
    last = unit["grid_order"][-1]
    values = unit["grid"][last]
    kept = sorted(random.Random(0).sample(range(len(values)), min(KEPT, len(values))))
    grid = {name: unit["grid"][name] if name != last else [values[i] for i in kept] for name in unit["grid_order"]}
    return unit | {"grid": grid}, len(kept) / len(values)


@dataclass
class Sides:
    """What the units of one data set took, with paths and without."""

    ours: Seconds = NOTHING
    theirs: Seconds = NOTHING
    difference: float = 0.0
    same_choice: bool = True
    parts: list[str] = field(default_factory=list)


def measure(units: dict[str, Unit], data_dir: str | None) -> dict[str, Sides]:
    """Run every unit with paths and, in turn, without; return both sides by data set.

    What the searches without paths take is scaled by the share of the candidates that they had. The last fits, with the
    hyperparameters found, belong to both sides and are the same, so they are run once.
    """
    results: dict[str, Outcome] = {}
    sides: dict[str, Sides] = {}
    for key, unit in units.items():
        preload(unit, data_dir)
        fold_data(unit, data_dir)
        inputs = {name: results[name] for name in needs(unit)}
        side = sides.setdefault(unit["dataset"]["name"], Sides())
        ours, found = timed(partial(_ran, unit, inputs, data_dir))
        results[key] = found
        side.ours += ours
        if unit["kind"] == "cell" or not isinstance(find_model(unit["model"]).factory(unit["task"]), GridPath):
            side.theirs += ours
            continue
        single, share = thinned(unit)
        theirs, expected = timed(partial(_ran, single, inputs, data_dir))
        side.theirs += theirs * (1 / share)
        side.parts.append(f"{unit['model']} {theirs.cpu / share / ours.cpu:.1f}")
        places = [candidates(unit["grid"]).index(candidate) for candidate in candidates(single["grid"])]
        own = np.array(found["scores"])[places]
        side.difference = max(side.difference, float(np.max(np.abs(own - np.array(expected["scores"])))))
        side.same_choice &= int(np.argmax(own)) == int(np.argmax(expected["scores"]))
    return sides


def _ran(unit: Unit, inputs: dict[str, Outcome], data_dir: str | None) -> Outcome:
    result = run_unit(unit, inputs, data_dir)
    if result["status"] not in ("ok", "diverged"):
        raise RuntimeError(f"{unit['model']} on {unit['dataset']['name']}: {result['reason']}")
    return result


def _tables(trial: bool) -> Iterator[Result]:
    data_dir = os.environ.get("ELMBENCH_DATA_DIR")
    rows = 400 if trial else 2000
    units: dict[str, Unit] = {}
    missing: list[str] = []
    for table in TABLES:
        own = first_fold(table, rows, data_dir)
        units |= own
        here = {unit["dataset"]["name"] for unit in own.values()}
        missing += sorted(set(find_experiment(table).spec.datasets) - here)
    # Loads and compiles what the models need.
    measure({key: _small(unit) for key, unit in units.items()}, data_dir)
    spent, first = timed(lambda: measure(units, data_dir))
    rounds = [first, *(measure(units, data_dir) for _ in range(rounds_for(spent.wall) - 1))]
    subset = f"{KEPT} random values of C of 8, with all of gamma or L; all budgets and thresholds"
    against = "the same with `--no-paths`"
    lacking = f"without {' and '.join(missing)}, whose files ELMBENCH_DATA_DIR does not name" if missing else ""
    every = list(rounds[0])
    for names in (every, *([name] for name in every)):
        found = Measurement(
            ours=[_sum([side[name].ours for name in names]) for side in rounds],
            theirs=[_sum([side[name].theirs for name in names]) for side in rounds],
        )
        whole = names is every
        yield measured(
            found,
            name=f"KOS-ELM Tables IV + VI, first outer fold, at most {rows:,} rows"
            + ("" if whole else f": {names[0]}"),
            against=against,
            target=10.0 if whole else None,
            subset=subset,
            same_choice=all(side[name].same_choice for side in rounds for name in names),
            difference=max(side[name].difference for side in rounds for name in names),
            note=lacking if whole else "by model: " + ", ".join(rounds[0][names[0]].parts),
        )


def _small(unit: Unit) -> Unit:
    """Return a unit on few rows and with two values a hyperparameter."""
    unit = unit | {"dataset": unit["dataset"] | {"rows": 300}, "tune_rows": None}
    if "grid" in unit:
        unit = unit | {"grid": {name: values[:2] for name, values in unit["grid"].items()}}
    return unit


def _sum(parts: list[Seconds]) -> Seconds:
    return sum(parts, start=NOTHING)


ROWS = [Row("tables", _tables)]

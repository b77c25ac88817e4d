"""The searches of whole tables, with the paths over grids and with `--no-paths`."""

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks.measure import Measurement, Seconds, rounds_for, timed
from benchmarks.row import Result, Row, measured
from elmbench.models.protocols import GridPath
from elmbench.protocol.folds import fold_data
from elmbench.registry import find_model
from elmbench.running.attempt import attempt, preload
from elmbench.running.planning import make_plan
from elmbench.specs.catalogue import find_experiment
from elmbench.specs.profiles import resolve
from elmbench.work.base import Context, Grid, GridWork, Work
from elmbench.work.fit import Fit
from elmbench.work.plan import Request
from elmbench.work.search import Search

TABLES = ("table4", "table6")
KEPT = 2
"""Values of C that a long grid over two hyperparameters is measured on without paths."""

MANY = 5000
"""Training rows from which a fold is measured as a whole."""

NOTHING = Seconds(0.0, 0.0)
Outcome = dict[str, Any]
Planned = dict[str, Fit | GridWork]


def first_fold(table: str, rows: int | None, data_dir: str | None) -> Planned:
    """Return the work of a table's first run and outer fold, with at most so many rows a data set that is here."""
    resolved = resolve(find_experiment(table), "paper")
    resolved = replace(resolved, settings=resolved.settings.model_copy(update={"rows": rows}))
    works = make_plan(resolved, Request(runs=1, data_dir=data_dir)).works
    return {key: work for key, work in works.items() if isinstance(work, Fit | GridWork) and work.place.fold == 0}


def thinned(work: GridWork) -> tuple[GridWork, float]:
    """Return the search without paths, on a part of its candidates where there are many, and the share of them.

    Of a grid over two hyperparameters all values of the first, which what a fit takes depends on, are kept with
    `KEPT` random values of the other one, C.
    """
    grid = work.grid.values
    if len(grid) < 2:
        return replace(work, paths=False), 1.0
    last = list(grid)[-1]
    values = grid[last]
    kept = sorted(random.Random(0).sample(range(len(values)), min(KEPT, len(values))))
    thin = grid | {last: [values[i] for i in kept]}
    return replace(work, paths=False, grid=Grid(thin)), len(kept) / len(values)


@dataclass
class Sides:
    """What the units of one data set took, with paths and without."""

    ours: Seconds = NOTHING
    theirs: Seconds = NOTHING
    difference: float = 0.0
    same_choice: bool = True
    parts: list[str] = field(default_factory=list)


def measure(works: Planned, data_dir: str | None) -> dict[str, Sides]:
    """Do all work with paths and, in turn, without; return both sides by data set.

    What the searches without paths take is scaled by the share of the candidates that they had. The last fits, with the
    hyperparameters found, belong to both sides and are the same, so they are done once.
    """
    results: dict[str, Outcome] = {}
    sides: dict[str, Sides] = {}
    for key, work in works.items():
        preload(work, Context(data_dir))
        fold_data(work.place, data_dir)
        inputs = {name: results[name] for name in work.needs}
        side = sides.setdefault(work.place.dataset.name, Sides())
        ours, found = timed(partial(_done, work, inputs, data_dir))
        results[key] = found
        side.ours += ours
        factory = find_model(work.model.name).factory(work.place.task)
        if isinstance(work, Fit) or not isinstance(factory, GridPath):
            side.theirs += ours
            continue
        single, share = thinned(work)
        theirs, expected = timed(partial(_done, single, inputs, data_dir))
        side.theirs += theirs * (1 / share)
        side.parts.append(f"{work.model.name} {theirs.cpu / share / ours.cpu:.1f}")
        candidates = work.grid.candidates()
        own = np.array(found["scores"])[[candidates.index(candidate) for candidate in single.grid.candidates()]]
        side.difference = max(side.difference, float(np.max(np.abs(own - np.array(expected["scores"])))))
        side.same_choice &= int(np.argmax(own)) == int(np.argmax(expected["scores"]))
    return sides


def _done(work: Work, inputs: dict[str, Outcome], data_dir: str | None) -> Outcome:
    result = attempt(work, inputs, Context(data_dir))
    if result["status"] not in ("ok", "diverged"):
        raise RuntimeError(f"{work.label}: {result['reason']}")
    return result


def _tables(trial: bool) -> Iterator[Result]:
    data_dir = os.environ.get("ELMBENCH_DATA_DIR")
    rows = 400 if trial else 2000
    works: Planned = {}
    missing: list[str] = []
    for table in TABLES:
        own = first_fold(table, rows, data_dir)
        works |= own
        here = {work.place.dataset.name for work in own.values()}
        missing += sorted(set(find_experiment(table).spec.datasets) - here)
    # Loads and compiles what the models need.
    measure({key: _small(work) for key, work in works.items()}, data_dir)
    spent, first = timed(lambda: measure(works, data_dir))
    rounds = [first, *(measure(works, data_dir) for _ in range(rounds_for(spent.wall) - 1))]
    subset = f"{KEPT} random values of C of 8, with all of gamma or L; all budgets and thresholds"
    against = "the same with `--no-paths`"
    lacking = f"without {' and '.join(missing)}, whose files ELMBENCH_DATA_DIR does not name" if missing else ""
    every = list(rounds[0])
    for names in (every, *([name] for name in every)):
        found = Measurement(
            ours=[sum((side[name].ours for name in names), NOTHING) for side in rounds],
            theirs=[sum((side[name].theirs for name in names), NOTHING) for side in rounds],
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


def _outer_folds(trial: bool) -> Iterator[Result]:
    """Measure K-ELM's search and last fit on a whole outer fold of each large data set, against their price."""
    data_dir = os.environ.get("ELMBENCH_DATA_DIR")
    for table in TABLES:
        works = first_fold(table, 400 if trial else None, data_dir)
        large = {work.place.dataset.name for work in works.values() if trial or work.place.n_train > MANY}
        for name in sorted(large):
            own = {
                key: work
                for key, work in works.items()
                if work.place.dataset.name == name and work.model.name == "k-elm"
            }
            yield _whole_fold(f"K-ELM, {name}, one outer fold of Table {table[5:]}, search and fit", own, data_dir)


def _whole_fold(name: str, works: Planned, data_dir: str | None) -> Result:
    results: dict[str, Outcome] = {}
    price, spent, notes = 0.0, NOTHING, []
    for key, work in works.items():
        _done(_small(work), {name: results[name] for name in work.needs}, data_dir)
        fold_data(work.place, data_dir)
        seconds, found = timed(partial(_done, work, {name: results[name] for name in work.needs}, data_dir))
        results[key] = found
        price, spent = price + work.seconds(), spent + seconds
        said = {name: found[name] for name in ("params", "solvers") if found.get(name)}
        notes.append(f"{work.kind} {seconds.cpu:.0f} s: {said}")
    ratio = price / spent.cpu
    return Result(
        name=name, against="what the dry run says", ratios=[ratio], ours=spent, theirs=Seconds(price, price),
        note="; ".join(notes),
    )  # fmt: skip


def _small(work: Fit | GridWork) -> Fit | GridWork:
    """Return the work on few rows and with two values a hyperparameter."""
    small = replace(work, place=replace(work.place, dataset=replace(work.place.dataset, rows=300)))
    if isinstance(small, Search):
        small = replace(small, tune_rows=None)
    if isinstance(small, GridWork):
        small = replace(small, grid=Grid({name: values[:2] for name, values in small.grid.values.items()}))
    return small


ROWS = [Row("tables", _tables), Row("outer-folds", _outer_folds)]

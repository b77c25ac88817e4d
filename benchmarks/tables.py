"""The searches of whole tables, with the paths over grids and with one fit for each candidate."""

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks.measure import Measurement, Result, Row, Seconds, measured, rounds_for, timed
from elmbench.models.protocols import GridPath
from elmbench.protocol.folds import fold_data
from elmbench.registry import find_model
from elmbench.running.attempt import attempt, preload
from elmbench.running.planning import make_plan
from elmbench.specs.catalogue import find_experiment
from elmbench.specs.profiles import resolve
from elmbench.work.base import Context, Grid, GridWork
from elmbench.work.fit import Fit
from elmbench.work.plan import Request
from elmbench.work.search import Search

TABLES = ("table4", "table6")
SUBSET = 2
"""Values of C that a grid over two hyperparameters is measured on without paths."""

NOTHING = Seconds(0.0, 0.0)
Outcome = dict[str, Any]
Planned = dict[str, Fit | GridWork]


def first_fold(table: str, rows: int | None, data_dir: str | None) -> Planned:
    """Return the work of a table's first run and outer fold, with a limit of rows, on the data sets at hand."""
    resolved = resolve(find_experiment(table), "paper")
    resolved = replace(resolved, settings=resolved.settings.model_copy(update={"rows": rows}))
    works = make_plan(resolved, Request(runs=1, data_dir=data_dir)).works
    return {key: work for key, work in works.items() if isinstance(work, Fit | GridWork) and work.outer_fold.fold == 0}


def thinned(work: GridWork) -> tuple[GridWork, float]:
    """Return the search without paths on a part of its candidates, and the share of them.

    A grid over two hyperparameters is cut to `SUBSET` random values of the second one, C; the time of a fit depends on
    the first one.
    """
    grid = work.grid.values
    if len(grid) < 2:
        return replace(work, paths=False), 1.0
    last = list(grid)[-1]
    values = grid[last]
    chosen = sorted(random.Random(0).sample(range(len(values)), min(SUBSET, len(values))))
    thin = grid | {last: [values[i] for i in chosen]}
    return replace(work, paths=False, grid=Grid(thin)), len(chosen) / len(values)


@dataclass
class Sides:
    """The times of one data set with paths and without."""

    ours: Seconds = NOTHING
    theirs: Seconds = NOTHING
    difference: float = 0.0
    same_choice: bool = True
    parts: list[str] = field(default_factory=list)


def measure(works: Planned, data_dir: str | None) -> dict[str, Sides]:
    """Do all work with paths and, in turn, without; return both sides by data set.

    Times without paths are scaled by the share of the candidates. The last fits are the same for both sides, so they
    are done once.
    """
    results: dict[str, Outcome] = {}
    sides: dict[str, Sides] = {}
    for key, work in works.items():
        preload(work, Context(data_dir))
        fold_data(work.outer_fold, data_dir)
        side = sides.setdefault(work.outer_fold.dataset.name, Sides())
        ours, results[key] = timed(partial(_done, work, results, data_dir))
        side.ours += ours
        factory = find_model(work.model.name).factory(work.outer_fold.task)
        if isinstance(work, Fit) or not isinstance(factory, GridPath):
            side.theirs += ours
            continue
        single, share = thinned(work)
        theirs, expected = timed(partial(_done, single, results, data_dir))
        side.theirs += theirs * (1 / share)
        side.parts.append(f"{work.model.name} {theirs.cpu / share / ours.cpu:.1f}")
        candidates = work.grid.candidates()
        few = [candidates.index(candidate) for candidate in single.grid.candidates()]
        scores, single_scores = np.array(results[key]["scores"])[few], np.array(expected["scores"])
        side.difference = max(side.difference, float(np.max(np.abs(scores - single_scores))))
        side.same_choice &= int(np.argmax(scores)) == int(np.argmax(single_scores))
    return sides


def _done(work: Fit | GridWork, results: dict[str, Outcome], data_dir: str | None) -> Outcome:
    outcome = attempt(work, {name: results[name] for name in work.needs}, Context(data_dir))
    if outcome["status"] not in ("ok", "diverged"):
        raise RuntimeError(f"{work.label}: {outcome['reason']}")
    return outcome


def _tables(trial: bool) -> Iterator[Result]:
    data_dir = os.environ.get("ELMBENCH_DATA_DIR")
    rows = 400 if trial else 2000
    works: Planned = {}
    missing: list[str] = []
    for table in TABLES:
        planned = first_fold(table, rows, data_dir)
        works |= planned
        missing += sorted(
            set(find_experiment(table).spec.datasets) - {w.outer_fold.dataset.name for w in planned.values()}
        )
    measure({key: _small(work) for key, work in works.items()}, data_dir)  # loads and compiles
    spent, first = timed(lambda: measure(works, data_dir))
    rounds = [first, *(measure(works, data_dir) for _ in range(rounds_for(spent.wall) - 1))]
    lacking = f"without {' and '.join(missing)}, whose files ELMBENCH_DATA_DIR does not name" if missing else ""
    every = list(first)
    for names in (every, *([name] for name in every)):
        both = Measurement(
            ours=[sum((sides[name].ours for name in names), NOTHING) for sides in rounds],
            theirs=[sum((sides[name].theirs for name in names), NOTHING) for sides in rounds],
        )
        whole = names is every
        title = f"KOS-ELM Tables IV + VI, first outer fold, at most {rows:,} rows"
        yield measured(
            both,
            name=title if whole else f"{title}: {names[0]}",
            against="the same, one fit a candidate",
            target=10.0 if whole else None,
            subset=f"{SUBSET} random values of C of 8, with all of gamma or L; all budgets and thresholds",
            same_choice=all(sides[name].same_choice for sides in rounds for name in names),
            difference=max(sides[name].difference for sides in rounds for name in names),
            note=lacking if whole else "by model: " + ", ".join(first[names[0]].parts),
        )


def _small(work: Fit | GridWork) -> Fit | GridWork:
    """Return the work on few rows and with two values a hyperparameter."""
    small = replace(work, outer_fold=replace(work.outer_fold, dataset=replace(work.outer_fold.dataset, rows=300)))
    if isinstance(small, Search):
        small = replace(small, tune_rows=None)
    if isinstance(small, GridWork):
        small = replace(small, grid=Grid({name: values[:2] for name, values in small.grid.values.items()}))
    return small


ROWS = [Row("tables", _tables)]

"""The suite: searches of whole tables by paths and by single fits, the overhead of a cell, and
stored cells.
"""

import os
import random
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.measure import Record, Rounds, Run, make_record, rounds_for, time_call
from elmbench.datasets.load import Identities
from elmbench.evaluation.folds import fold_data
from elmbench.execution.attempt import attempt, preload
from elmbench.models.protocols import GridPath
from elmbench.registry import find_model
from elmbench.runs.execute import execute
from elmbench.runs.prepare import RunOptions, prepare_run
from elmbench.specs.catalogue import find_experiment
from elmbench.specs.grids import SearchGrid
from elmbench.specs.profiles import resolve
from elmbench.tables.planning import make_plan
from elmbench.tasks.base import Context
from elmbench.tasks.fit import Fit
from elmbench.tasks.grid_task import GridTask
from elmbench.tasks.plan import RunRequest

TABLES = ("table4", "table6")
#: Rows of a data set in the searches that come first, to load and compile.
WARM_UP = 150
#: Values of C that a grid over two hyperparameters is measured on without paths.
SUBSET = 2

Outcome = dict[str, Any]
Works = dict[str, Fit | GridTask]


def first_fold(table: str, rows: int | None, data_dir: str | None) -> Works:
    """Return the work of a table's first run and outer fold, with a limit of rows, on the data sets
    at hand.
    """
    resolved = resolve(find_experiment(table), "paper")
    resolved = replace(
        resolved, settings=resolved.settings.model_copy(update={"rows": rows})
    )
    tasks = make_plan(resolved, RunRequest(runs=1), Identities(data_dir)).tasks
    return {
        key: task
        for key, task in tasks.items()
        if isinstance(task, Fit | GridTask) and task.outer_fold.fold == 0
    }


def thin_grid(task: GridTask) -> tuple[GridTask, float]:
    """Return the search without paths on a part of its candidates, and their share.

    A grid over two hyperparameters is cut to `SUBSET` random values of the second one, C; the time
    of a fit depends on the first one.
    """
    grid = task.grid.values
    if len(grid) < 2:
        return replace(task, paths=False), 1.0
    last = list(grid)[-1]
    values = grid[last]
    numbers = sorted(
        random.Random(0).sample(range(len(values)), min(SUBSET, len(values)))
    )
    thin = grid | {last: [values[i] for i in numbers]}
    return replace(task, paths=False, grid=SearchGrid(thin)), len(numbers) / len(values)


def measure(tasks: Works, data_dir: str | None) -> pd.DataFrame:
    """Do all work with paths and, in turn, without; return a line for each work.

    Times without paths are scaled by the share of the candidates. Fits, and searches of models
    without a path, are the same for both sides, so they are done once, and their `ratio` is None.
    """
    results: dict[str, Outcome] = {}
    lines = []
    for key, task in tasks.items():
        preload(task, Context(data_dir))
        fold_data(task.outer_fold, data_dir)
        ours, results[key] = time_call(partial(_do_work, task, results, data_dir))
        line: dict[str, Any] = {
            "dataset": task.outer_fold.dataset.name,
            "model": task.model.name,
            "ours": ours,
        }
        line |= {"theirs": ours, "ratio": None, "difference": 0.0, "same_choice": True}
        factory = find_model(task.model.name).factory(task.outer_fold.task)
        if isinstance(task, GridTask) and isinstance(factory, GridPath):
            single, share = thin_grid(task)
            theirs, expected = time_call(partial(_do_work, single, results, data_dir))
            candidates = task.grid.candidates()
            positions = [
                candidates.index(candidate) for candidate in single.grid.candidates()
            ]
            scores, single_scores = (
                np.array(results[key]["scores"])[positions],
                np.array(expected["scores"]),
            )
            line["difference"] = float(np.max(np.abs(scores - single_scores)))
            line["same_choice"] = int(np.argmax(scores)) == int(
                np.argmax(single_scores)
            )
            line["theirs"], line["ratio"] = theirs / share, theirs / share / ours
        lines.append(line)
    return pd.DataFrame(lines)


def _do_work(
    task: Fit | GridTask, results: dict[str, Outcome], data_dir: str | None
) -> Outcome:
    outcome = attempt(
        task, {name: results[name] for name in task.needs}, Context(data_dir)
    )
    if outcome["status"] not in ("ok", "diverged"):
        raise RuntimeError(f"{task.label}: {outcome['reason']}")
    return outcome


def _tables(trial: bool) -> Iterator[Record]:
    data_dir = os.environ.get("ELMBENCH_DATA_DIR")
    rows = 400 if trial else 2000
    tasks, small = (
        {
            key: task
            for table in TABLES
            for key, task in first_fold(table, limit, data_dir).items()
        }
        for limit in (rows, WARM_UP)
    )
    names = {name for table in TABLES for name in find_experiment(table).spec.datasets}
    missing = sorted(names - {task.outer_fold.dataset.name for task in tasks.values()})
    measure(small, data_dir)  # loads and compiles
    seconds, first = time_call(lambda: measure(tasks, data_dir))
    rounds = [
        first,
        *(measure(tasks, data_dir) for _ in range(rounds_for(seconds) - 1)),
    ]
    lines = pd.concat(rounds, keys=range(len(rounds)), names=["round"])
    title = f"KOS-ELM Tables IV + VI, first outer fold, at most {rows:,} rows"
    note = (
        f"without {' and '.join(missing)}, whose files ELMBENCH_DATA_DIR does not name"
        if missing
        else ""
    )
    yield _summarise(title, lines, target=10.0, note=note)
    for name, part in lines.groupby("dataset", sort=False):
        models = part.loc[0].dropna(subset="ratio")
        note = ", ".join(f"{row.model} {row.ratio:.1f}" for row in models.itertuples())
        yield _summarise(f"{title}: {name}", part, note=f"by model: {note}")


def _summarise(name: str, lines: pd.DataFrame, **facts: Any) -> Record:
    """Return the record of some lines of `measure`, of all rounds."""
    seconds = lines.groupby("round")[["ours", "theirs"]].sum()
    rounds = Rounds(seconds["ours"].tolist(), seconds["theirs"].tolist())
    facts |= {
        "same_choice": bool(lines["same_choice"].all()),
        "largest_difference": float(lines["difference"].max()),
    }
    facts["subset"] = (
        f"{SUBSET} random values of C of 8, with all of gamma or L; all budgets and thresholds"
    )
    return make_record(name, "the same, one fit a candidate", rounds, **facts)


#: Milliseconds beyond its fit that a cell may take, and seconds that 2,000 stored cells may.
A_CELL, STORED = 5.0, 2.0


def _prepare(folder: Path, runs: int) -> Any:
    """Return a run of Table IV with three cells of WDBC a run, of a model that learns the larger
    class.
    """
    request = RunRequest(datasets=("wdbc",), models=("dummy",), runs=runs)
    return prepare_run(RunOptions(experiments=("table4",), request=request), folder)


def _cells(runs: int) -> pd.DataFrame:
    """Run three cells a run in an empty folder; return the cells."""
    with tempfile.TemporaryDirectory() as name:
        (results,) = execute(_prepare(Path(name), runs))
    assert set(results.cells["status"]) == {"ok"}
    return results.cells


def _overhead(trial: bool) -> Iterator[Record]:
    """Measure all runs but the first, which has the start of the worker and the writing of the
    table.
    """
    _cells(1)
    seconds = []
    for _ in range(1 if trial else 5):
        start, few = time_call(lambda: _cells(1))
        whole, many = time_call(lambda: _cells(3 if trial else 201))
        fits = [
            float(cells[["fit_seconds", "predict_seconds"]].to_numpy().sum())
            for cells in (few, many)
        ]
        in_fits, cells = fits[1] - fits[0], len(many) - len(few)
        seconds.append((whole - start - in_fits) / cells)
    against = f"{A_CELL:g} ms a cell beyond its fit and prediction"
    rounds = Rounds(seconds, [A_CELL / 1e3] * len(seconds))
    yield make_record(
        f"{cells} cells of next to no work, one worker", against, rounds, target=1.0
    )


def _read_stored(trial: bool) -> Iterator[Record]:
    runs = 3 if trial else 667
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first = _prepare(folder, 1)
        execute(first)
        ((_, plan),) = first.tables
        result = first.store.result(plan.cells[0].key)
        assert result is not None
        run = _prepare(folder, runs)
        for key in run.todo:
            run.store.put(run.tasks[key], result, "")
        run.store.close()
        seconds = []
        for _ in range(1 if trial else 5):
            taken, (results,) = time_call(lambda: execute(_prepare(folder, runs)))
            seconds.append(taken)
    title = f"{len(results.cells):,} stored cells, planned again and written as a table"
    yield make_record(
        title, f"{STORED:g} s", Rounds(seconds, [STORED] * len(seconds)), target=1.0
    )


ROWS: dict[str, Run] = {
    "tables": _tables,
    "overhead": _overhead,
    "stored-cells": _read_stored,
}

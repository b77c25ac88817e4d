"""The overhead of the suite: of a cell, and of stored cells."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.measure import Record, Rounds, Run, make_record, time_call
from elmbench.work.plan import Request
from elmbench.workflow.execute import execute
from elmbench.workflow.prepare import RunOptions, prepare

#: Milliseconds beyond its fit that a cell may take, and seconds that 2,000 stored cells may.
A_CELL, STORED = 5.0, 2.0


def _prepare(folder: Path, runs: int) -> Any:
    """Return a run of Table IV with three cells of WDBC a run, of a model that learns the larger class."""
    request = Request(datasets=("wdbc",), models=("dummy",), runs=runs)
    return prepare(RunOptions(experiments=("table4",), request=request), folder)


def _cells(runs: int) -> pd.DataFrame:
    """Run three cells a run in an empty folder; return the cells."""
    with tempfile.TemporaryDirectory() as name:
        (results,) = execute(_prepare(Path(name), runs))
    assert set(results.cells["status"]) == {"ok"}
    return results.cells


def _overhead(trial: bool) -> Iterator[Record]:
    """Measure all runs but the first, which has the start of the worker and the writing of the table."""
    _cells(1)
    seconds = []
    for _ in range(1 if trial else 5):
        start, few = time_call(lambda: _cells(1))
        whole, many = time_call(lambda: _cells(3 if trial else 201))
        fits = [float(cells[["fit_seconds", "predict_seconds"]].to_numpy().sum()) for cells in (few, many)]
        in_fits, cells = fits[1] - fits[0], len(many) - len(few)
        seconds.append((whole - start - in_fits) / cells)
    against = f"{A_CELL:g} ms a cell beyond its fit and prediction"
    rounds = Rounds(seconds, [A_CELL / 1e3] * len(seconds))
    yield make_record(f"{cells} cells of next to no work, one worker", against, rounds, target=1.0)


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
            run.store.put(run.works[key], result, "")
        run.store.close()
        seconds = []
        for _ in range(1 if trial else 5):
            taken, (results,) = time_call(lambda: execute(_prepare(folder, runs)))
            seconds.append(taken)
    title = f"{len(results.cells):,} stored cells, planned again and written as a table"
    yield make_record(title, f"{STORED:g} s", Rounds(seconds, [STORED] * len(seconds)), target=1.0)


ROWS: dict[str, Run] = {"overhead": _overhead, "stored-cells": _read_stored}

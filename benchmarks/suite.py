"""The overhead of the suite: a cell, the start of the command line, and stored cells."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.measure import CPU, WALL, Array, Record, Run, in_turn, make_record, record, time_call
from elmbench.registry.plugins import load_plugin
from elmbench.running.executors import Settings
from elmbench.work.plan import Request
from elmbench.workflow.execute import execute
from elmbench.workflow.prepare import RunOptions, prepare

#: Milliseconds beyond its fit that a cell may take, and seconds that 2,000 stored cells may.
A_CELL, STORED = 5.0, 2.0
PLUGIN = Path(__file__).with_name("plugin.py")


def _prepare(folder: Path, runs: int) -> Any:
    """Return a run of Table IV with three cells of WDBC a run."""
    load_plugin(PLUGIN)
    request = Request(datasets=("wdbc",), models=("sign",), runs=runs)
    settings = Settings(plugins=(str(PLUGIN),))
    return prepare(RunOptions(experiments=("table4",), request=request, settings=settings), folder)


def _cells(runs: int) -> pd.DataFrame:
    """Run three cells a run in an empty folder; return the cells."""
    with tempfile.TemporaryDirectory() as name:
        (results,) = execute(_prepare(Path(name), runs))
    assert set(results.cells["status"]) == {"ok"}
    return results.cells


def _import(trial: bool) -> Iterator[Record]:
    def start_python(code: str) -> None:
        subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)

    python = min(time_call(lambda: start_python("pass"))[0][WALL] for _ in range(5))
    rounds = in_turn(
        lambda: start_python("from elmbench.cli import main; main(['--help'])"),
        lambda: start_python("import sklearn.kernel_ridge"),
    )
    note = f"the start of Python, {python:.2g} s, is in both"
    yield make_record(rounds, "elmbench --help", "the import of scikit-learn's KernelRidge", note=note)


def _compare_to_bound(name: str, against: str, bound: float, rounds: list[Array], note: str = "") -> Record:
    """Return the record of processor times against a bound in seconds."""
    middle = sorted(rounds, key=lambda seconds: seconds[CPU])[len(rounds) // 2]
    ratios = [bound / max(seconds[CPU], 1e-6) for seconds in rounds]
    return record(name, against, ratios, middle, target=1.0, note=note.format(1e3 * middle[CPU]))


def _overhead(trial: bool) -> Iterator[Record]:
    """Measure all runs but the first, which has the start of the worker and the writing of the table."""
    _cells(1)
    rounds = []
    for _ in range(1 if trial else 5):
        start, few = time_call(lambda: _cells(1))
        whole, many = time_call(lambda: _cells(3 if trial else 201))
        fits = [float(cells[["fit_seconds", "predict_seconds"]].to_numpy().sum()) for cells in (few, many)]
        in_fits, cells = fits[1] - fits[0], len(many) - len(few)
        rounds.append((whole - start - in_fits) / cells)
    yield _compare_to_bound(
        f"{cells} cells of next to no work, one worker", f"{A_CELL:g} ms a cell beyond its fit and prediction",
        A_CELL / 1e3, rounds, "a cell takes {:.1f} ms of processor time beyond its fit and prediction",
    )  # fmt: skip


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
        rounds = []
        for _ in range(1 if trial else 5):
            seconds, (results,) = time_call(lambda: execute(_prepare(folder, runs)))
            rounds.append(seconds)
    title = f"{len(results.cells):,} stored cells, planned again and written as a table"
    yield _compare_to_bound(title, f"{STORED:g} s", STORED, rounds)


ROWS: dict[str, Run] = {"import": _import, "overhead": _overhead, "stored-cells": _read_stored}

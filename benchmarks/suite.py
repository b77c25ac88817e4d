"""The overhead of the suite: a cell, the start of the command line, stored cells, and runs on a cluster."""

import contextlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.measure import Measurement, Result, Row, Seconds, in_turn, measured, timed
from benchmarks.plugin import PAUSE
from benchmarks.problems import wdbc
from elmbench.models import KELMClassifier
from elmbench.registry.plugins import load_plugin
from elmbench.running.executors.sandbox import Settings
from elmbench.running.store import Store
from elmbench.work.plan import Request
from elmbench.workflow.execute import execute
from elmbench.workflow.prepare import RunOptions, prepare

#: Milliseconds beyond its fit that a cell may take here and on a cluster, and seconds that 2,000 stored cells may.
A_CELL, A_CLUSTER_CELL, STORED = 5.0, 10.0, 2.0
PLUGIN = Path(__file__).with_name("plugin.py")


def _prepared(folder: Path, runs: int, model: str = "sign") -> Any:
    """Return a run of Table IV with three cells of WDBC a run."""
    load_plugin(PLUGIN)
    request = Request(datasets=("wdbc",), models=(model,), runs=runs)
    settings = Settings(plugins=(str(PLUGIN),))
    return prepare(RunOptions(experiments=("table4",), request=request, settings=settings), folder)


def _cells(runs: int, model: str) -> pd.DataFrame:
    """Run three cells a run in an empty folder; return the cells."""
    with tempfile.TemporaryDirectory() as name:
        (results,) = execute(_prepared(Path(name), runs, model))
    assert set(results.cells["status"]) == {"ok"}
    return results.cells


def _beyond_first(runs: int, model: str) -> tuple[Seconds, Seconds, int]:
    """Return the time of all runs but the first, the fits and predictions in it, and the number of their cells.

    The start of the worker and the writing of the table are in the first run, too.
    """
    start, few = timed(lambda: _cells(1, model))
    whole, many = timed(lambda: _cells(runs, model))
    fits = [float(cells[["fit_seconds", "predict_seconds"]].to_numpy().sum()) for cells in (few, many)]
    return whole - start, Seconds(fits[1] - fits[0], fits[1] - fits[0]), len(many) - len(few)


def _cell(trial: bool) -> Iterator[Result]:
    runs = 3 if trial else 21
    problem = wdbc()

    def bare() -> None:
        for _ in range(runs - 1):
            for train, test in problem.folds:
                model = KELMClassifier(C=98.0, gamma=0.3).fit(problem.X[train], problem.y[train])
                model.predict(problem.X[test])

    bare()
    _cells(1, "K-ELM")
    rounds = Measurement()
    for _ in range(5):
        seconds, _, cells = _beyond_first(runs, "K-ELM")
        rounds.ours.append(seconds)
        rounds.theirs.append(timed(bare)[0])
    extra = statistics.median((a.wall - b.wall) / cells for a, b in zip(rounds.ours, rounds.theirs, strict=True))
    yield measured(
        rounds,
        name=f"{cells} cells, K-ELM on WDBC",
        against="the same fits and predictions in a loop",
        note=f"a cell costs {1e3 * extra:.1f} ms more than its fit and prediction: a process of its own, metrics, "
        "and a result that is on the disk",
    )


def _import(trial: bool) -> Iterator[Result]:
    def started(code: str) -> None:
        subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)

    python = min(timed(lambda: started("pass"))[0].wall for _ in range(5))
    rounds = in_turn(
        lambda: started("from elmbench.cli import main; main(['--help'])"),
        lambda: started("import sklearn.kernel_ridge"),
    )
    against = "the import of scikit-learn's KernelRidge"
    yield measured(
        rounds, name="elmbench --help", against=against, note=f"the start of Python, {python:.2g} s, is in both"
    )


def _bounded(name: str, against: str, bound: float, rounds: list[Seconds], note: str = "") -> Result:
    """Return the result of wall times against a bound in seconds."""
    middle = sorted(rounds, key=lambda seconds: seconds.wall)[len(rounds) // 2]
    ratios = [bound / max(seconds.wall, 1e-6) for seconds in rounds]
    return Result(name, against, ratios, middle, target=1.0, note=note.format(1e3 * middle.wall))


def _overhead(trial: bool) -> Iterator[Result]:
    _cells(1, "sign")
    rounds = []
    for _ in range(1 if trial else 5):
        seconds, fits, cells = _beyond_first(3 if trial else 201, "sign")
        rounds.append((seconds - fits) * (1 / cells))
    yield _bounded(
        f"{cells} cells of next to no work, one worker", f"{A_CELL:g} ms a cell beyond its fit and prediction",
        A_CELL / 1e3, rounds, "a cell takes {:.1f} ms (wall) beyond its fit and prediction, on the disk included",
    )  # fmt: skip


def _stored(trial: bool) -> Iterator[Result]:
    runs = 3 if trial else 667
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first = _prepared(folder, 1)
        execute(first)
        ((_, plan),) = first.tables
        record = first.store.result(plan.cells[0].key)
        assert record is not None
        run = _prepared(folder, runs)
        for key in run.todo:
            run.store.put(run.works[key], record, "")
        run.store.close()
        rounds = []
        for _ in range(1 if trial else 5):
            seconds, (results,) = timed(lambda: execute(_prepared(folder, runs)))
            rounds.append(seconds)
    title = f"{len(results.cells):,} stored cells, planned again and written as a table"
    yield _bounded(title, f"{STORED:g} s", STORED, rounds)


def _command(results: Path, runs: int, *more: str) -> list[str]:
    """Return the command that runs three slow cells a run."""
    main = [sys.executable, "-c", "from elmbench.cli import main; main()"]
    return [*main, "--results-dir", str(results), "--plugin", str(PLUGIN), "-q", "run", "table4", "-d", "wdbc",
            "-m", "slow-sign", "--runs", str(runs), *more]  # fmt: skip


def _cluster(n_workers: int) -> Any:
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=n_workers, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0",
        silence_logs="CRITICAL",
    )  # fmt: skip


def _worker(scheduler: str) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", "distributed.cli.dask_worker", scheduler, "--no-nanny", "--nthreads", "1"]
    return subprocess.Popen([*words, "--host", "127.0.0.1", "--no-dashboard"], stderr=subprocess.DEVNULL)


def _kill(*processes: subprocess.Popen[bytes]) -> None:
    for process in processes:
        process.kill()
        process.wait()


def _killed(folder: Path, runs: int, scheduler: str, seconds: float) -> tuple[int, int]:
    """Run while workers and the main process are killed; return the numbers of kills of both."""
    command = _command(folder, runs, "--engine", "dask", "--scheduler", scheduler)
    killed, mains = 0, 0
    workers = [_worker(scheduler) for _ in range(2)]
    with contextlib.ExitStack() as stack:
        stack.callback(lambda: _kill(*workers))
        main = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        started = time.monotonic()
        while main.poll() is None and time.monotonic() - started < seconds:
            time.sleep(min(5.0, seconds / 4))
            _kill(workers.pop(0))
            killed += 1
            workers.append(_worker(scheduler))
            if mains < 2 and time.monotonic() - started > (mains + 1) * seconds / 3 and main.poll() is None:
                _kill(main)
                mains += 1
                main = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        if main.wait():
            raise RuntimeError(f"the run ended with {main.returncode}")
    return killed, mains


def _table(results: Path) -> pd.DataFrame:
    cells = pd.read_csv(results / "fast" / "kos-elm" / "table4" / "cells.csv")
    return cells.drop(columns=["fit_seconds", "search_seconds", "predict_seconds"])


def _resilience(trial: bool) -> Iterator[Result]:
    """Kill a worker every five seconds for a minute, and the main process twice."""
    runs, seconds = (10, 4.0) if trial else (667, 60.0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        started = time.perf_counter()
        with _cluster(0) as cluster:
            workers, mains = _killed(folder / "killed", runs, cluster.scheduler_address, seconds)
        wall = time.perf_counter() - started
        subprocess.run(_command(folder / "alone", runs, "--jobs", "2"), check=True, stdout=subprocess.DEVNULL)
        cells = _table(folder / "killed")
        pd.testing.assert_frame_equal(cells, _table(folder / "alone"))
        records = Store(folder / "killed").records
        names = records.names("unit:")
        twice = sum(len(records.all(unit)) > 1 for unit in names)
        if len(names) != 3 * runs or twice:
            raise RuntimeError(f"{len(names)} of {3 * runs} cells are stored, {twice} of them twice")
    yield Result(
        f"{len(cells):,} cells while {workers} workers and {mains} main processes were killed",
        "an undisturbed run: every cell once, and equal", [len(cells) / (3 * runs)], Seconds(0.0, wall), target=1.0,
        note=f"{len(cells):,} cells stored once each, equal but for their times",
    )  # fmt: skip


def _dask_overhead(trial: bool) -> Iterator[Result]:
    few, many = (1, 4) if trial else (1, 201)
    cells = 3 * (many - few)
    rounds = []
    with _cluster(2) as cluster:
        words = ["--engine", "dask", "--scheduler", cluster.scheduler_address]
        for _ in range(1 if trial else 3):
            with tempfile.TemporaryDirectory() as name:
                walls = []
                for runs in (few, many):
                    started = time.perf_counter()
                    command = _command(Path(name) / f"{runs}", runs, *words)
                    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
                    walls.append(time.perf_counter() - started)
            # Each of two workers does half of the cells.
            rounds.append(Seconds(0.0, (walls[1] - walls[0]) / cells - PAUSE / 2))
    yield _bounded(
        f"{cells} cells of {1e3 * PAUSE:.0f} ms on two workers of dask",
        f"{A_CLUSTER_CELL:g} ms a cell beyond a bare loop", A_CLUSTER_CELL / 1e3, rounds,
        "a cell takes {:.1f} ms (wall) beyond its fit",
    )  # fmt: skip


ROWS = [
    Row("cell", _cell),
    Row("import", _import),
    Row("overhead", _overhead),
    Row("stored-cells", _stored),
    Row("cluster-kills", _resilience),
    Row("cluster-overhead", _dask_overhead),
]

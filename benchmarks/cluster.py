"""A run whose workers and main process are killed again and again, and what dask adds to a cell.

Two thousand short cells on two workers of dask: one worker is killed every five seconds for a minute, the main process
twice. In the end each cell is there once and equals that of an undisturbed run.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pandas as pd

from benchmarks.measure import Seconds
from benchmarks.row import Result, Row
from benchmarks.slow_sign import PAUSE
from elmbench.running.store import Store

#: Milliseconds beyond its own work that a cell may take.
A_CELL = 10.0
_TIMES = ["fit_seconds", "search_seconds", "predict_seconds"]
_PLUGIN = Path(__file__).with_name("slow_sign.py")


def _words(results: Path, runs: int, *more: str) -> list[str]:
    """Return the command that runs three cells a run."""
    main = [sys.executable, "-c", "from elmbench.cli import main; main()"]
    return [*main, "--results-dir", str(results), "--plugin", str(_PLUGIN), "-q", "run", "table4", "-d", "wdbc",
            "-m", "slow-sign", "--runs", str(runs), *more]  # fmt: skip


def _cells(results: Path) -> pd.DataFrame:
    return pd.read_csv(results / "fast" / "kos-elm" / "table4" / "cells.csv").drop(columns=_TIMES)


class _Workers:
    """Two workers of dask, each a process; one that is killed is followed by another at once; a context manager."""

    def __init__(self, scheduler: str) -> None:
        self._scheduler = scheduler
        self._alive = [self._start() for _ in range(2)]
        self.killed = 0

    def _start(self) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-m", "distributed.cli.dask_worker", self._scheduler, "--no-nanny", "--nthreads", "1"]
        return subprocess.Popen([*words, "--host", "127.0.0.1", "--no-dashboard"], stderr=subprocess.DEVNULL)

    def kill_one(self) -> None:
        """Kill the one that has lived longer."""
        oldest = self._alive.pop(0)
        oldest.kill()
        oldest.wait()
        self.killed += 1
        self._alive.append(self._start())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._alive:
            worker.kill()
            worker.wait()


def _killed(folder: Path, runs: int, scheduler: str, seconds: float) -> tuple[int, int]:
    """Run while workers and the main process are killed; return how often either was."""
    words = _words(folder, runs, "--engine", "dask", "--scheduler", scheduler)
    mains = 0
    with _Workers(scheduler) as workers:
        main = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        started = time.monotonic()
        kill_main = [seconds / 3, 2 * seconds / 3]
        while main.poll() is None and time.monotonic() - started < seconds:
            time.sleep(min(5.0, seconds / 4))
            workers.kill_one()
            if kill_main and time.monotonic() - started > kill_main[0] and main.poll() is None:
                kill_main.pop(0)
                main.kill()
                main.wait()
                mains += 1
                main = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        if main.wait():
            raise RuntimeError(f"the run ended with {main.returncode}")
        return workers.killed, mains


def _resilience(trial: bool) -> Iterator[Result]:
    from distributed import LocalCluster

    runs, seconds = (10, 4.0) if trial else (667, 60.0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        started = time.perf_counter()
        with LocalCluster(
            n_workers=0, host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs="CRITICAL"
        ) as cluster:
            workers, mains = _killed(folder / "killed", runs, cluster.scheduler_address, seconds)
        wall = time.perf_counter() - started
        subprocess.run(_words(folder / "alone", runs, "--jobs", "2"), check=True, stdout=subprocess.DEVNULL)
        found, expected = _cells(folder / "killed"), _cells(folder / "alone")
        pd.testing.assert_frame_equal(found, expected)
        store = Store(folder / "killed")
        names = store.records.names("unit:")
        twice = sum(len(store.records.all(unit)) > 1 for unit in names)
        if len(names) != 3 * runs or twice:
            raise RuntimeError(f"{len(names)} of {3 * runs} cells are stored, {twice} of them twice")
    yield Result(
        name=f"{len(found):,} cells while {workers} workers and {mains} main processes were killed",
        against="an undisturbed run: every cell once, and equal",
        ratios=[len(found) / (3 * runs)],
        ours=Seconds(0.0, wall),
        target=1.0,
        note=f"{len(found):,} cells stored once each, equal but for their times",
    )


def _dask_overhead(trial: bool) -> Iterator[Result]:
    from distributed import LocalCluster

    few, many = (1, 4) if trial else (1, 201)
    rounds = []
    with LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs="CRITICAL"
    ) as cluster:
        words = ["--engine", "dask", "--scheduler", cluster.scheduler_address]
        for _ in range(1 if trial else 3):
            with tempfile.TemporaryDirectory() as name:
                # What it takes to start and to write the table is in both, and so in neither.
                took = [_wall(_words(Path(name) / f"{runs}", runs, *words)) for runs in (few, many)]
            cells = 3 * (many - few)
            # Two workers: a bare loop of either would do half of them.
            rounds.append((took[1] - took[0]) / cells - PAUSE / 2)
    middle = sorted(rounds)[len(rounds) // 2]
    yield Result(
        name=f"{cells} cells of {1e3 * PAUSE:.0f} ms on two workers of dask",
        against=f"{A_CELL:g} ms a cell beyond a bare loop",
        ratios=[A_CELL / max(1e3 * seconds, 1e-3) for seconds in rounds],
        ours=Seconds(0.0, middle),
        target=1.0,
        note=f"a cell takes {1e3 * middle:.1f} ms (wall) beyond its fit",
    )


def _wall(words: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


ROWS = [Row("cluster-kills", _resilience), Row("cluster-overhead", _dask_overhead)]

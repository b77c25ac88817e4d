"""A real `elmbench run`: Ctrl-C, kill, kill -9, and another run that ends it; nothing lost, nothing
run twice.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from made_store import lines_of
from made_work import metrics_of
from platforms import UNIX_PROCESSES

from elmbench.execution.attempt import attempt
from elmbench.execution.store import Store
from elmbench.files import write_atomically
from elmbench.registry.plugins import load_plugin
from elmbench.tasks.base import Context
from elmbench.tasks.plan import Plan

pytestmark = UNIX_PROCESSES
RUNS, CELLS = 4, 12
MODEL = """
import hashlib, os, time
import numpy as np
from pathlib import Path
from sklearn.base import BaseEstimator, ClassifierMixin

class Counted(ClassifierMixin, BaseEstimator):
    "Logs every fit by a number of its training part, which its result has too; waits while its number is on hold."
    def fit(self, X, y):
        if len(X) > 50:
            self.n_units_ = int.from_bytes(hashlib.sha256(X.tobytes() + y.tobytes()).digest()[:5], "big")
            path = Path(os.environ["TEST_LOG"])
            with open(path, "a") as log:
                log.write(f"{self.n_units_} {os.getpid()}\\n")
                log.flush()
                number = path.read_bytes()[:log.tell()].count(b"\\n")
            hold = path.with_name("hold")
            while hold.exists() and eval(hold.read_text(), {"number": number, "log": path, "time": time}):
                time.sleep(0.02)
        return self
    def predict(self, X):
        return np.where(X[:, 0] > 0.4, 1, -1)

MODELS = {"counted": Counted}
"""


class Runner:
    """Starts `elmbench run` on twelve cells of the model above and watches what comes of it."""

    def __init__(self, folder: Path, log: Path | None = None) -> None:
        self.results = folder / "results"
        self.log = log or folder / "log"
        self.log.write_text("")
        self.plugin = folder / "counted.py"
        self.plugin.write_text(MODEL)
        self.hold("False")

    def hold(self, condition: str) -> None:
        """Have fits wait as long as this is true, an expression of the fit's `number` in the
        `log`.
        """
        write_atomically(self.log.with_name("hold"), condition)

    def start(self, jobs: int, *more: str) -> subprocess.Popen[str]:
        words = [
            "--results-dir", str(self.results), "--plugin", str(self.plugin), "run", "table4", "-d",
            "wdbc",
            "-m", "counted", "--runs", str(RUNS), "--jobs", str(jobs), *more,
        ]  # fmt: skip
        return subprocess.Popen(
            [sys.executable, "-c", "from elmbench.cli import main; main()", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"TEST_LOG": str(self.log)},
        )

    def fits(self) -> list[tuple[int, int]]:
        """The fits so far: their numbers, and the processes that they ran in."""
        return [
            (int(n), int(p))
            for n, p in (line.split() for line in self.log.read_text().splitlines())
        ]

    def stored(self) -> set[int]:
        """The numbers of the fits whose results are in the store."""
        result = set()
        for line in lines_of(Store(self.results)):
            if line.endswith(b"\n"):
                result.add(json.loads(line.split(b" ", 2)[2])["result"]["n_units"])
        return result

    def wait_for(
        self, stored: int, process: subprocess.Popen[str], before: int = 0
    ) -> None:
        """Wait until so many results are stored and a fit after those `before` is under way."""
        while (
            len(self.stored()) < stored
            or not {n for n, _ in self.fits()[before:]} - self.stored()
        ):
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)


def cells(results: Path) -> pd.DataFrame:
    return pd.read_csv(results / "fast" / "kos-elm" / "table4" / "cells.csv")


def wait_for_end(process: int) -> None:
    """Wait until a process has ended, or is a zombie that nobody has waited for."""
    with contextlib.suppress(FileNotFoundError):
        while (
            Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
            != "Z"
        ):
            time.sleep(0.02)


@pytest.fixture
def assert_complete(
    tmp_path: Path, plan_table: Callable[..., Plan], monkeypatch: pytest.MonkeyPatch
) -> Callable[[Runner], None]:
    """Hold that a run has every cell, with the results of the same cells when they are computed
    here in turn.
    """

    def check(runner: Runner) -> None:
        fits = Counter(n for n, _ in runner.fits())
        assert set(fits) == runner.stored()
        assert len(fits) == CELLS
        load_plugin(runner.plugin)
        plan = plan_table(
            "table4", profile="fast", datasets=("wdbc",), models=("counted",), runs=RUNS
        )
        monkeypatch.setenv("TEST_LOG", str(tmp_path / "other-log"))
        lines = cells(runner.results).set_index(["run", "fold"]).to_dict("index")
        assert len(lines) == len(plan.cells) == CELLS
        for cell in plan.cells:
            result = attempt(plan.tasks[cell.key], {}, Context())
            expected = {**metrics_of(result), "n_units": result["n_units"]}
            line = lines[cell.run, cell.fold]
            assert {name: line[name] for name in expected} == pytest.approx(
                expected, rel=1e-12
            )

    return check


def test_nothing_is_lost_and_nothing_run_twice(
    tmp_path: Path, assert_complete: Callable[[Runner], None]
) -> None:
    runner = Runner(tmp_path)
    under_way = 0
    for signal_, more, jobs in (
        (signal.SIGINT, 3, 2),
        (signal.SIGTERM, 0, 1),
        (signal.SIGKILL, 3, 2),
    ):
        before, done = len(runner.fits()), runner.stored()
        runner.hold(f"number > {before + more}")
        process = runner.start(jobs)
        runner.wait_for(len(done) + more, process, before)
        process.send_signal(signal_)
        _, errors = process.communicate()
        under_way += jobs
        workers = {worker for _, worker in runner.fits()[before:]}
        for worker in workers:
            wait_for_end(worker)
        assert 1 <= len(workers) <= jobs
        assert runner.stored() >= done
        assert not {n for n, _ in runner.fits()[before:]} & done, (
            "what was stored has been run again"
        )
        if signal_ != signal.SIGKILL:
            assert process.returncode == 130
            assert "interrupted: finished work is stored" in errors
            assert "Traceback" not in errors
            # The tables are written with what there is.
            shown = cells(runner.results)
            assert set(shown["n_units"]) == runner.stored()
            assert len(shown) == 3
        else:
            assert process.returncode == -signal.SIGKILL
    assert len(runner.stored()) == 6

    runner.hold("False")
    before, done = len(runner.fits()), runner.stored()
    process = runner.start(1)
    output, errors = process.communicate()
    assert process.returncode == 0, errors
    assert (
        f"{CELLS - len(done)} cells to run on 1 worker; {len(done)} are stored"
        in output
    )
    assert not {n for n, _ in runner.fits()[before:]} & done
    # Only what was under way at an interruption was begun again.
    assert len(runner.fits()) - CELLS <= under_way
    assert_complete(runner)


@pytest.mark.exhaustive
def test_a_run_on_a_cluster_is_killed_and_taken_up_beside_living_workers(
    tmp_path: Path, cluster: Any, log: Path, assert_complete: Callable[[Runner], None]
) -> None:
    runner = Runner(tmp_path, log)
    # Short fits would come in batches, which arrive whole.
    runner.hold("time.sleep(0.3) or number > 3")
    words = ("--engine", "dask", "--scheduler", cluster.scheduler_address)
    process = runner.start(2, *words)
    runner.wait_for(3, process)
    process.kill()
    process.communicate()
    done = runner.stored()
    assert len(done) == 3
    runner.hold("time.sleep(0.3)")
    process = runner.start(2, *words)
    output, errors = process.communicate()
    assert process.returncode == 0, errors
    assert (
        f"{CELLS - len(done)} cells to run on 2 workers; {len(done)} are stored"
        in output
    )
    fits = Counter(n for n, _ in runner.fits())
    assert all(fits[n] == 1 for n in done)
    assert len(lines_of(Store(runner.results))) == CELLS
    assert_complete(runner)

"""The start of a worker process, in any folder."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from elmbench.running.executors import sandbox
from elmbench.running.executors.base import Settings
from elmbench.running.executors.local import LocalExecutor
from elmbench.running.executors.sandbox import Sandbox, _Worker
from elmbench.specs.limits import Limits
from elmbench.work.fit import Fit
from elmbench.work.plan import Plan


@pytest.fixture
def work(plan_table: Callable[..., Plan]) -> Fit:
    plan = plan_table("table4", datasets=("wdbc",), models=("K-ELM",), select=("published",))
    return next(work for work in plan.works.values() if isinstance(work, Fit))


def test_files_of_the_folder_are_not_taken_for_modules(
    work: Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "signal.py").write_text("raise RuntimeError('not the real one')")
    monkeypatch.chdir(tmp_path)
    box = Sandbox(Settings())
    try:
        assert box.run(work, {})["status"] == "ok"
    finally:
        box.stop()


def test_a_worker_that_was_started_ahead_is_the_one_that_works(work: Fit) -> None:
    with LocalExecutor(Settings()) as executor:
        executor.warm()
        (box,) = executor._sandboxes
        worker = box._worker
        assert worker is not None
        assert executor.submit(work, {}, Limits()).result().result["status"] == "ok"
        assert executor._sandboxes == [box]
        assert box._worker is worker
    # It ends with the executor, used or not.
    with LocalExecutor(Settings()) as unused:
        unused.warm()
        number = unused._sandboxes[0]._worker._number.result(60)
    assert not worker.lives()
    assert not psutil.pid_exists(number)


def test_a_worker_that_cannot_start(work: Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.exit('nothing works here')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    box = Sandbox(Settings())
    result = box.run(work, {})
    box.stop()
    assert (result["status"], result["reason"]) == ("failed", "the worker process ended before it could begin")


def test_a_stop_while_the_worker_starts_ends_it(work: Fit, monkeypatch: pytest.MonkeyPatch) -> None:
    starting, may_go_on = threading.Event(), threading.Event()
    workers = []

    def start_slowly(threads: int) -> _Worker:
        starting.set()
        may_go_on.wait()
        workers.append(_Worker(threads))
        return workers[0]

    monkeypatch.setattr(sandbox, "_Worker", start_slowly)
    box = Sandbox(Settings())
    with ThreadPoolExecutor(2) as pool:
        result = pool.submit(box.run, work, {})
        starting.wait()
        stopped = pool.submit(box.stop)
        wait([stopped], timeout=1)
        may_go_on.set()
        stopped.result()
        assert result.result() == {"status": "failed", "reason": "the run was stopped"}
    assert workers[0]._killed


def test_data_that_changed_since_the_plan_fail_the_cell(work: Fit) -> None:
    outer_fold = replace(work.outer_fold, dataset=replace(work.outer_fold.dataset, checksum="0" * 64))
    other = replace(work, outer_fold=outer_fold)
    box = Sandbox(Settings())
    try:
        result = box.run(other, {})
        assert result["status"] == "failed"
        assert "wdbc has changed since the run was planned" in result["reason"]
    finally:
        box.stop()

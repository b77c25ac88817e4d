"""A worker process: its start in any folder, and all that it has started."""

import builtins
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from made_runs import run_in
from sentences import sentence

from elmbench.execution import processes
from elmbench.execution.executors import Settings, limited_worker
from elmbench.execution.executors.limited_worker import LimitedWorker, _WorkerProcess
from elmbench.execution.executors.local import LocalExecutor
from elmbench.specs.limits import Limits
from elmbench.tasks.base import ModelRef
from elmbench.tasks.fit import Fit
from elmbench.tasks.plan import Plan

#: A model as a plan names it whose file was edited afterwards.
OTHER_CODE = ModelRef("k-elm", "plug-in 0", "k-elm")


@pytest.fixture
def task(plan_table: Callable[..., Plan]) -> Fit:
    plan = plan_table(
        "table4", datasets=("wdbc",), models=("K-ELM",), select=("published",)
    )
    return next(task for task in plan.tasks.values() if isinstance(task, Fit))


@pytest.fixture
def box() -> Iterator[LimitedWorker]:
    """A limited worker without a process yet."""
    box = LimitedWorker(Settings())
    yield box
    box.stop()


def test_files_of_the_folder_are_not_taken_for_modules(
    box: LimitedWorker, task: Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "signal.py").write_text("raise RuntimeError('not the real one')")
    monkeypatch.chdir(tmp_path)
    assert run_in(box, task)["status"] == "ok"


def test_ctrl_c_does_not_end_a_worker_that_starts(
    box: LimitedWorker, task: Fit
) -> None:
    box.warm()
    for child in psutil.Process().children():
        if os.getpgid(child.pid) == os.getpgrp():  # a terminal interrupts this group
            child.send_signal(signal.SIGINT)
    assert run_in(box, task)["status"] == "ok"


def test_a_worker_started_in_advance_does_the_work(task: Fit) -> None:
    with LocalExecutor(Settings()) as executor:
        executor.warm()
        (box,) = executor._limited_workers
        executor._pool.submit(
            lambda: None
        ).result()  # the thread has started the worker before
        worker = box._worker
        assert worker is not None
        assert executor.submit(task, {}, Limits()).result().result["status"] == "ok"
        assert executor._limited_workers == [box]
        assert box._worker is worker
    # It ends with the executor, used or not.
    with LocalExecutor(Settings()) as unused:
        unused.warm()
        unused._pool.submit(lambda: None).result()
        number = unused._limited_workers[0]._worker._number.result(60)
    assert not worker.lives()
    assert not psutil.pid_exists(number)


def test_a_worker_that_is_killed_while_it_starts_is_replaced(
    box: LimitedWorker, task: Fit
) -> None:
    box.warm()
    for child in psutil.Process().children():
        if child.environ().get(processes.MARK) == box._worker.mark:
            child.kill()
    assert run_in(box, task)["status"] == "ok"


@pytest.mark.parametrize("moment", ["Process", "active_children"])
def test_a_worker_that_is_killed_just_as_it_becomes_ready_is_replaced(
    box: LimitedWorker, task: Fit, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    module = psutil if moment == "Process" else multiprocessing
    real, Process = getattr(module, moment), psutil.Process
    killed: list[int] = []

    def kill_first(*arguments: Any) -> Any:
        if not killed:
            assert box._worker is not None
            killed.append(box._worker.number)
            one = Process(box._worker.number)
            one.kill()
            while processes.lives(one):
                time.sleep(0.01)
        return real(*arguments)

    stand_in = SimpleNamespace(**{name: getattr(module, name) for name in dir(module)})
    setattr(stand_in, moment, kill_first)
    monkeypatch.setattr(limited_worker, module.__name__, stand_in)
    assert run_in(box, task)["status"] == "ok"
    assert box._worker is not None
    assert killed != [box._worker.number]


def test_a_worker_that_cannot_start(
    box: LimitedWorker, task: Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import sys; sys.exit('nothing works here')"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    result = run_in(box, task)
    assert (result["status"], result["reason"]) == (
        "failed",
        sentence("execution.worker.ended-before-it-began"),
    )


def test_a_worker_that_is_ended_before_it_could_begin() -> None:
    started = _WorkerProcess(1)
    started.end()
    with pytest.raises(limited_worker._Ended, match=r"the worker process ended$"):
        started.wait_until_ready()


def test_a_stop_while_the_worker_starts_ends_it(
    task: Fit, monkeypatch: pytest.MonkeyPatch
) -> None:
    starting, may_go_on = threading.Event(), threading.Event()
    workers = []

    def start_slowly(threads: int) -> _WorkerProcess:
        starting.set()
        may_go_on.wait()
        workers.append(_WorkerProcess(threads))
        return workers[0]

    monkeypatch.setattr(limited_worker, "_WorkerProcess", start_slowly)
    box = LimitedWorker(Settings())
    with ThreadPoolExecutor(2) as pool:
        result = pool.submit(run_in, box, task)
        starting.wait()
        stopped = pool.submit(box.stop)
        wait([stopped], timeout=1)
        may_go_on.set()
        stopped.result()
        assert result.result() == {"status": "failed", "reason": "the run was stopped"}
    assert workers[0]._killed


def test_data_or_a_model_that_changed_since_the_plan_fail_the_cell(
    box: LimitedWorker, task: Fit
) -> None:
    outer_fold = replace(
        task.outer_fold, dataset=replace(task.outer_fold.dataset, checksum="0" * 64)
    )
    for planned, name in (
        (replace(task, outer_fold=outer_fold), "wdbc"),
        (replace(task, model=OTHER_CODE), "k-elm"),
    ):
        result = run_in(box, planned)
        assert result["status"] == "failed"
        assert f"{name} has changed since the run was planned" in result["reason"]


#: A process with two children. The first, in a session of its own, has a child that takes 60 MB.
FAMILY = """
import subprocess, sys, time
hold = "held = bytearray(60_000_000); held[::4096] = b'1' * len(held[::4096]); print(flush=True); "
hold += "import time; time.sleep(600)"
child = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {hold!r}]); time.sleep(600)"
subprocess.Popen([sys.executable, "-c", child], start_new_session=True)
subprocess.Popen([sys.executable, "-c", "import time; print(flush=True); time.sleep(600)"])
time.sleep(600)
"""


@pytest.fixture
def family() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", FAMILY], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == process.stdout.readline() == b"\n"
    yield process
    for one in (*psutil.Process(process.pid).children(recursive=True), process):
        one.kill()
    process.wait()


@pytest.mark.parametrize("listed", [True, False])
def test_all_that_a_process_has_started_counts(
    family: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch, listed: bool
) -> None:
    if not listed:
        opened = builtins.open

        def refused(path: Any, *how: Any, **more: Any) -> Any:
            if str(path).endswith("/children"):
                raise FileNotFoundError(path)
            return opened(path, *how, **more)

        monkeypatch.setattr(builtins, "open", refused)
    result = {one.pid for one in psutil.Process(family.pid).children(recursive=True)}
    assert len(result) == 3
    assert set(processes.descendant_ids(family.pid)) == result
    alone = psutil.Process(family.pid).memory_info().rss
    assert processes.held_bytes(family.pid, sys.maxsize) > alone + 60_000_000
    assert processes.held_bytes(os.getpid(), sys.maxsize) > alone + 60_000_000

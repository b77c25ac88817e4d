"""Worker processes: a model that misbehaves ends its own cell, within its limits, and the next one
runs.
"""

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from made_runs import PLUGIN, Fits, run_in
from made_work import untimed
from platforms import UNIX_PROCESSES
from sentences import sentence

from elmbench.execution.executors import Settings, limited_worker
from elmbench.execution.executors.limited_worker import LimitedWorker, pack_task
from elmbench.execution.processes import MARK, end_marked, lives
from elmbench.specs.limits import Limits

pytestmark = UNIX_PROCESSES
TIMED_OUT = {"status": "timeout", "reason": "> 0.5 s", "limit": 0.5}


@pytest.fixture(scope="module")
def shared() -> Iterator[LimitedWorker]:
    """One worker for several tests: each finds it as another has left it."""
    box = LimitedWorker(Settings(plugins=(str(PLUGIN),)))
    yield box
    box.stop()


@pytest.fixture
def fresh(plugin: str) -> Iterator[LimitedWorker]:
    """A limited worker without a process yet."""
    box = LimitedWorker(Settings(plugins=(plugin,)))
    yield box
    box.stop()


def pid(box: LimitedWorker) -> int:
    assert box._worker is not None
    return int(box._worker.number)


def ends(process: int) -> bool:
    """Return True if a process ends (or is a zombie that nobody has waited for) in time; end it in
    any case.
    """
    deadline = time.monotonic() + 600
    with contextlib.suppress(psutil.NoSuchProcess):
        one = psutil.Process(process)
        while lives(one):
            if time.monotonic() > deadline:
                one.kill()
                return False
            time.sleep(0.02)
    return True


def logged(log: Path) -> int:
    """Return the process that a model has named."""
    while not (log.exists() and log.read_text().endswith("\n")):
        time.sleep(0.02)
    (process,) = map(int, log.read_text().split())
    return process


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file where models name the processes that they start."""
    path = tmp_path / "log"
    monkeypatch.setenv("TEST_LOG", str(path))
    return path


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("leaving", "SystemExit: 5"),
        ("unusual", "Unusual: odd"),
        (
            "interrupting",
            sentence("execution.worker.no-answer-after-exception"),
        ),
        ("meddling", "TypeError: 'NoneType' object is not callable"),
        ("unjson", "TypeError: "),
        ("colourful", "RuntimeError: \\x1b[2J red\\r\\x9b1m \\u202eder\tand\nmore"),
        ("exiting", sentence("execution.worker.ended-by-itself", code=7)),
        ("killed", "the worker process died by signal 9 (SIGKILL)"),
        ("killing-group", "the worker process died by signal 15 (SIGTERM)"),
    ],
)
def test_what_a_model_does_ends_its_own_cell(
    shared: LimitedWorker, fits: Fits, model: str, reason: str
) -> None:
    result = run_in(shared, fits(model)[0])
    assert (result["status"], result["reason"][: len(reason)]) == ("failed", reason)
    for good in (fits("healthy")[0], fits("K-ELM", select=("published",))[0]):
        result = run_in(shared, good)
        assert (result["status"], result["reason"]) == ("ok", "")


def test_a_model_does_not_change_another_one_of_its_file(
    fresh: LimitedWorker, fits: Fits
) -> None:
    """A worker that has run code from outside serves one model of it only."""
    healthy = fits("healthy")
    alone = run_in(fresh, healthy[0])
    assert run_in(fresh, fits("poisoning")[0])["status"] == "ok"
    poisoned = pid(fresh)
    assert untimed(run_in(fresh, healthy[0])) == untimed(alone)
    worker = pid(fresh)
    assert worker != poisoned
    assert ends(poisoned)
    assert run_in(fresh, healthy[1])["status"] == "ok"
    assert pid(fresh) == worker


def test_what_a_model_prints_does_not_get_in_the_way(
    shared: LimitedWorker, fits: Fits
) -> None:
    result = run_in(shared, fits("printing")[0])
    assert (result["status"], result["reason"]) == ("ok", "")


@pytest.mark.parametrize("model", ["stuck", "locking"])
def test_a_model_that_hangs(
    fresh: LimitedWorker, log: Path, fits: Fits, model: str
) -> None:
    """In compiled code, without or with the lock of the interpreter."""
    healthy = fits("healthy")[0]
    run_in(fresh, healthy)
    worker = pid(fresh)
    started = time.monotonic()
    result = run_in(fresh, fits(model)[0], Limits(seconds=0.5))
    # And it came back: the model sleeps for an hour.
    assert time.monotonic() - started >= 0.5
    assert result == TIMED_OUT
    assert ends(worker)
    assert run_in(fresh, healthy)["status"] == "ok"


def test_a_worker_that_dies_between_two_cells(
    shared: LimitedWorker, fits: Fits
) -> None:
    healthy = fits("healthy")[0]
    run_in(shared, healthy)
    worker = pid(shared)
    os.kill(worker, signal.SIGKILL)
    assert ends(worker)
    assert run_in(shared, healthy)["status"] == "ok"


# --- Before a fit
# -----------------------------------------------------------------------------


def test_loading_does_not_count(
    fresh: LimitedWorker, fits: Fits, tmp_path: Path
) -> None:
    """Starting, loading plug-ins and reading the data do not count as time of the work."""
    slow = tmp_path / "slow.py"
    slow.write_text(
        "import time\nfrom sklearn.linear_model import Ridge\ntime.sleep(6)\nMODELS = {'slow': "
        "Ridge}\n"
    )
    fresh.settings = Settings(plugins=(*fresh.settings.plugins, str(slow)))
    started = time.monotonic()
    assert run_in(fresh, fits("healthy")[0], Limits(seconds=5))["status"] == "ok"
    assert time.monotonic() - started > 6


@pytest.mark.parametrize("stall", ["import", "init", "params"])
def test_a_plugin_that_stalls_before_its_fit_ends_its_own_cells(
    fresh: LimitedWorker,
    fits: Fits,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    stall: str,
) -> None:
    monkeypatch.setattr(limited_worker, "_LOADING", 0.5)
    monkeypatch.setenv("TEST_STALL", stall)
    if stall == "import":
        path = tmp_path / "endless.py"
        path.write_text("import time\ntime.sleep(3600)")
        fresh.settings = Settings(plugins=(*fresh.settings.plugins, str(path)))
    assert run_in(fresh, fits("slow-to-make")[0], Limits(0.5)) == TIMED_OUT
    # A model of the suite needs no plug-in, so it does not wait for one.
    monkeypatch.setattr(limited_worker, "_LOADING", 60.0)
    suite = fits("K-ELM", select=("published",))
    assert run_in(fresh, suite[0], Limits(seconds=60))["status"] == "ok"


@pytest.mark.parametrize(
    ("plugin_text", "reason"),
    [
        ("raise ValueError('gone wrong since')", "gone wrong since"),
        ("import os\nos._exit(3)", "ended by itself with exit code 3"),
    ],
)
def test_a_plugin_that_the_worker_cannot_load(
    fits: Fits, tmp_path: Path, plugin_text: str, reason: str
) -> None:
    path = tmp_path / "broken.py"
    path.write_text(plugin_text)
    box = LimitedWorker(Settings(plugins=(str(path),)))
    result = run_in(box, fits("healthy")[0])
    box.stop()
    assert result["status"] == "failed"
    assert reason in result["reason"]


# --- Memory
# -----------------------------------------------------------------------------


def test_memory_of_children_counts(fresh: LimitedWorker, fits: Fits) -> None:
    assert (
        run_in(fresh, fits("healthy")[0], Limits(memory=700_000_000))["status"] == "ok"
    )
    result = run_in(fresh, fits("leaking-child")[0], Limits(60, 700_000_000))
    assert (result["status"], result["limit"]) == ("out-of-memory", 700_000_000)


# --- Nothing stays behind
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "seconds", "status"),
    [("forking", 20.0, "failed"), ("parent", 2.0, "timeout")],
)
def test_children_of_a_model(
    fresh: LimitedWorker, fits: Fits, log: Path, model: str, seconds: float, status: str
) -> None:
    """A model may start processes of its own: they neither keep its cell from ending nor outlive
    it.
    """
    run_in(fresh, fits("healthy")[0])  # so that the limit is the fit's alone
    result = run_in(fresh, fits(model)[0], Limits(seconds=seconds))
    assert ends(logged(log))
    assert result["status"] == status


def test_a_pool_of_processes_that_a_library_keeps(
    shared: LimitedWorker, fits: Fits
) -> None:
    """It is there for the next fit, and other models do not see it."""
    for model in ("pooling", "pooling", "healthy", "pooling"):
        result = run_in(shared, fits(model)[0])
        assert (result["status"], result["reason"]) == ("ok", "")


@pytest.mark.parametrize("end", ["another model", "stop", "worker dies", "unmarked"])
def test_a_child_in_a_session_of_its_own(
    fresh: LimitedWorker, fits: Fits, log: Path, end: str
) -> None:
    model, status = (
        ("orphaning", "failed") if end == "worker dies" else ("detaching", "ok")
    )
    model = "unmarked" if end == "unmarked" else model
    assert run_in(fresh, fits(model)[0], Limits(seconds=60))["status"] == status
    if end == "another model":
        run_in(fresh, fits("K-ELM")[0])
    elif end != "worker dies":
        fresh.stop()
    assert ends(logged(log))


def test_a_process_that_replaces_its_program_is_looked_at_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The system shows neither its environment nor its command line meanwhile."""
    environ, cmdline = psutil.Process.environ, psutil.Process.cmdline
    with subprocess.Popen(
        ["sleep", "3600"], env=os.environ | {MARK: "mark-of-a-test"}
    ) as child:
        looks = [{}, [], {}]

        def look(process: psutil.Process, real: Callable[[psutil.Process], Any]) -> Any:
            return looks.pop() if process.pid == child.pid and looks else real(process)

        monkeypatch.setattr(
            psutil.Process, "environ", lambda process: look(process, environ)
        )
        monkeypatch.setattr(
            psutil.Process, "cmdline", lambda process: look(process, cmdline)
        )
        end_marked("mark-of")
        child.terminate()  # which does nothing to a process that was killed
        assert (child.wait(), looks) == (-signal.SIGKILL, [])


OWNER = """
import pickle, sys, time
from elmbench.execution.executors.limited_worker import LimitedWorker
from elmbench.execution.executors import Settings
from elmbench.execution.processes import lives
from elmbench.specs.limits import Limits
LimitedWorker(Settings(plugins=tuple(sys.argv[2:]))).ask(pickle.loads(bytes.fromhex(sys.argv[1])), Limits())
time.sleep(3600)
"""
STALLING = """
import ctypes, os
with open(os.environ["TEST_LOG"], "a") as log:
    log.write(f"{os.getpid()}\\n")
ctypes.PyDLL(None).sleep(3600)
"""


@pytest.mark.parametrize("case", ["hangs", "detaching", "stopped", "stalls at import"])
def test_nothing_outlives_an_owner_that_is_killed(
    fits: Fits, plugin: str, log: Path, tmp_path: Path, case: str
) -> None:
    """Even if a model holds the lock of the interpreter, or if its worker is stopped."""
    plugins = [plugin]
    if case == "stalls at import":
        plugins = [str(tmp_path / "stalling.py")]
        Path(plugins[0]).write_text(STALLING)
    task = fits("detaching" if case == "detaching" else "locking")[0]
    words = [
        sys.executable,
        "-c",
        OWNER,
        pickle.dumps(pack_task(task, {})).hex(),
        *plugins,
    ]
    with subprocess.Popen(words, stderr=subprocess.PIPE) as owner:
        process = logged(log)
        if case == "stopped":
            os.kill(process, signal.SIGSTOP)
        started = psutil.Process(owner.pid).children(recursive=True)
        owner.kill()
        assert owner.communicate()[1] == b""
    assert ends(process)
    assert all(ends(one.pid) for one in started)


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_reach_the_worker_and_stopping_ends_it(
    fresh: LimitedWorker, fits: Fits, threads: int
) -> None:
    fresh.settings = replace(fresh.settings, blas_threads=threads)
    assert run_in(fresh, fits("healthy")[0])["status"] == "ok"
    worker = pid(fresh)
    assert psutil.Process(worker).environ()["OPENBLAS_NUM_THREADS"] == str(threads)
    assert os.environ["OPENBLAS_NUM_THREADS"] == "1"
    fresh.stop()
    assert ends(worker)
    fresh.stop()

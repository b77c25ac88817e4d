"""Worker processes: whatever a model does ends its own cell, within its limit, and the next one runs."""

from __future__ import annotations

import os
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

from elmbench.running.executors import sandbox as sandbox_module
from elmbench.running.executors.sandbox import Sandbox, Settings, check_time
from elmbench.specs.limits import Limits
from elmbench.work.base import Grid
from elmbench.work.grid import GridEvaluation
from elmbench.work.plan import Plan
from elmbench.work.search import Search

PlanModels = Callable[..., Plan]


@pytest.fixture(scope="module")
def shared(plugin_file: Path) -> Iterator[Sandbox]:
    """One sandbox for several tests: each finds it as another has left it."""
    box = Sandbox(Settings(plugins=(str(plugin_file),)))
    yield box
    box.stop()


@pytest.fixture
def sandbox(shared: Sandbox, plugin: str) -> Sandbox:
    """That sandbox, with its plug-in loaded here too."""
    return shared


@pytest.fixture
def fresh(plugin: str) -> Iterator[Sandbox]:
    """A sandbox without a worker yet."""
    box = Sandbox(Settings(plugins=(plugin,)))
    yield box
    box.stop()


def cells(plan: Plan) -> list[Any]:
    return [plan.works[cell.key] for cell in plan.cells]


def pid(box: Sandbox) -> int:
    assert box._keeper is not None
    return box._keeper.process.pid


def gone(process: int) -> bool:
    """Tell whether a process ends (or is a zombie that nobody has waited for), within a minute."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def test_what_a_model_does_ends_its_own_cell(sandbox: Sandbox, plan_models: PlanModels) -> None:
    """One worker after the other: each bad model is followed by a healthy one."""
    expected = [
        ("raising", "failed", "RuntimeError: no luck"),
        ("leaving", "failed", "the worker process ended by itself with exit code 5"),
        ("exiting", "failed", "the worker process ended by itself with exit code 7"),
        ("killed", "failed", "the worker process died by signal 9 (SIGKILL)"),
        ("not-finite", "diverged", "a prediction is not finite"),
    ]
    names = [name for name, _, _ in expected]
    bad = {work.model.name: work for work in cells(plan_models(*names)) if work.place.fold == 0}
    healthy = cells(plan_models("healthy"))[0]
    good = sandbox.run(healthy, {})
    for name, status, reason in expected:
        result = sandbox.run(bad[name], {})
        assert (result["status"], result["reason"]) == (status, reason)
        if name in ("raising", "not-finite"):
            before = pid(sandbox)
            assert sandbox.run(healthy, {})["metrics"] == good["metrics"]
            assert pid(sandbox) == before  # the worker is used again
    assert sandbox.run(healthy, {})["metrics"] == good["metrics"]


def test_what_a_model_prints_does_not_get_in_the_way(sandbox: Sandbox, plan_models: PlanModels) -> None:
    result = sandbox.run(cells(plan_models("printing"))[0], {})
    assert (result["status"], result["reason"]) == ("ok", "")


def test_a_model_that_hangs(sandbox: Sandbox, plan_models: PlanModels) -> None:
    sandbox.run(cells(plan_models("healthy"))[0], {})  # started and warm
    worker = pid(sandbox)
    started = time.monotonic()
    result = sandbox.run(cells(plan_models("stuck"))[0], {}, Limits(seconds=0.5))
    assert time.monotonic() - started >= 0.5  # and it came back: the model sleeps for an hour
    assert (result["status"], result["limit"]) == ("timeout", 0.5)
    assert "0.5 s" in result["reason"]
    # The next model need not wait until all is imported anew.
    assert pid(sandbox) == worker
    assert psutil.Process(worker).children(recursive=True) == []
    assert sandbox.run(cells(plan_models("healthy"))[0], {})["status"] == "ok"


def test_a_keeper_that_hangs(plan_models: PlanModels, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sandbox_module, "_END", 0.2)
    monkeypatch.setattr(sandbox_module, "_START", 0.2)
    path = tmp_path / "endless.py"
    path.write_text("import time\ntime.sleep(3600)")
    box = Sandbox(Settings(plugins=(str(path),)))
    box.warm()
    keeper = pid(box)
    assert box.run(cells(plan_models("healthy"))[0], {}, Limits(seconds=0.5))["status"] == "timeout"
    assert gone(keeper)


def test_a_keeper_that_is_stopped_goes_on(sandbox: Sandbox, plan_models: PlanModels) -> None:
    healthy = cells(plan_models("healthy"))[0]
    sandbox.run(healthy, {})
    keeper = pid(sandbox)
    os.kill(keeper, signal.SIGSTOP)
    assert sandbox.run(healthy, {})["status"] == "ok"
    assert pid(sandbox) == keeper


def test_a_keeper_that_is_stopped_again_and_again(
    sandbox: Sandbox, plan_models: PlanModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by what an earlier model has left behind: the next model has a fresh one."""
    monkeypatch.setattr(sandbox_module, "_STOPS", 2)
    healthy = cells(plan_models("healthy"))[0]
    sandbox.run(healthy, {})
    keeper, lives = pid(sandbox), sandbox_module._Keeper.lives

    def stop_before(self: Any) -> bool:
        if self.process.pid == keeper:
            os.kill(keeper, signal.SIGSTOP)
            os.waitid(os.P_PID, keeper, os.WSTOPPED | os.WNOWAIT)
        return lives(self)

    monkeypatch.setattr(sandbox_module._Keeper, "lives", stop_before)
    os.kill(keeper, signal.SIGSTOP)
    for _ in range(3):
        assert sandbox.run(healthy, {})["status"] == "ok"
    assert pid(sandbox) != keeper


@pytest.mark.parametrize(("kills", "status"), [(1, "ok"), (2, "failed")])
def test_a_keeper_that_dies_before_the_model_is_at_work(
    sandbox: Sandbox, plan_models: PlanModels, monkeypatch: pytest.MonkeyPatch, kills: int, status: str
) -> None:
    """An earlier model may have seen to it, though to that of a fresh keeper it cannot."""
    healthy = cells(plan_models("healthy"))[0]
    sandbox.run(healthy, {})
    send, sent = Sandbox._send, []

    def kill_and_send(self: Sandbox, keeper: Any, line: bytes) -> None:
        sent.append(line)
        if len(sent) <= kills:
            keeper.process.kill()
            os.waitid(os.P_PID, keeper.process.pid, os.WEXITED | os.WNOWAIT)
        send(self, keeper, line)

    monkeypatch.setattr(Sandbox, "_send", kill_and_send)
    assert sandbox.run(healthy, {})["status"] == status
    assert len(sent) == 2


def test_a_keeper_that_is_stopped_when_its_owner_dies() -> None:
    """It has to go on then: only it knows what models have started."""
    owner = """
import os, signal
from elmbench.running.executors.sandbox import Sandbox, Settings
from elmbench.specs.limits import Limits
box = Sandbox(Settings())
failed = {"status": "failed", "reason": ""}
box.ask({"work": {}, "dataset": None, "inputs": {"": failed}}, Limits())  # it is up when it has answered
keeper = box._keeper.process.pid
os.kill(keeper, signal.SIGSTOP)
print(keeper, flush=True)
os._exit(0)
"""
    keeper = int(subprocess.run([sys.executable, "-c", owner], capture_output=True, check=True).stdout)
    ended = gone(keeper)
    if not ended:
        os.kill(keeper, signal.SIGKILL)
    assert ended


def test_what_comes_before_a_unit_does_not_count(
    sandbox: Sandbox, plan_models: PlanModels, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Starting, loading plug-ins and reading the data are no part of a unit's time."""
    healthy = cells(plan_models("healthy"))[0]
    sandbox.run(healthy, {})
    slow = tmp_path / "slow.py"
    slow.write_text("import time\nfrom sklearn.linear_model import Ridge\ntime.sleep(6)\nMODELS = {'slow': Ridge}\n")
    plugins = (*sandbox.settings.plugins, str(slow))
    monkeypatch.setattr(sandbox, "settings", Settings(plugins=plugins))
    started = time.monotonic()
    assert sandbox.run(healthy, {}, Limits(seconds=5))["status"] == "ok"
    assert time.monotonic() - started > 6


def test_a_model_that_leaks(sandbox: Sandbox, plan_models: PlanModels) -> None:
    healthy = cells(plan_models("healthy"))[0]
    limit = 1_000_000_000
    assert sandbox.run(healthy, {}, Limits(memory=limit))["status"] == "ok"
    worker = pid(sandbox)
    result = sandbox.run(cells(plan_models("leaking"))[0], {}, Limits(memory=limit))
    assert (result["status"], result["limit"]) == ("out-of-memory", limit)
    assert "the limit is 1 GB" in result["reason"]
    assert gone(worker)
    assert sandbox.run(healthy, {}, Limits(memory=limit))["status"] == "ok"


@pytest.mark.parametrize(
    ("plugin_text", "reason"),
    [
        ("raise ValueError('gone wrong since')", "gone wrong since"),
        ("import os\nos.write(2, b'\\x1b[2J red')\nos._exit(3)", "ended by itself with exit code 3: ?[2J red"),
    ],
)
def test_a_plugin_that_the_worker_cannot_load(
    plan_models: PlanModels, tmp_path: Path, plugin_text: str, reason: str
) -> None:
    path = tmp_path / "broken.py"
    path.write_text(plugin_text)
    box = Sandbox(Settings(plugins=(str(path),)))
    result = box.run(cells(plan_models("healthy"))[0], {})
    box.stop()
    assert result["status"] == "failed"
    assert reason in result["reason"]


@pytest.mark.parametrize(("model", "seconds", "status"), [("forking", 20.0, "failed"), ("parent", 2.0, "timeout")])
def test_children_of_a_model(
    fresh: Sandbox,
    plan_models: PlanModels,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    seconds: float,
    status: str,
) -> None:
    """A model may start processes of its own: they neither keep its cell from ending nor outlive it."""
    log = tmp_path / "log"
    monkeypatch.setenv("TEST_LOG", str(log))
    fresh.run(cells(plan_models("healthy"))[0], {})  # so that the limit is the fit's alone
    result = fresh.run(cells(plan_models(model))[0], {}, Limits(seconds=seconds))
    (child,) = map(int, log.read_text().split())
    ended = gone(child)
    if not ended:
        os.kill(child, signal.SIGKILL)
    assert result["status"] == status
    assert ended


def test_threads_reach_the_worker_and_stopping_ends_it(fresh: Sandbox, plan_models: PlanModels) -> None:
    fresh.settings = replace(fresh.settings, blas_threads=2)
    assert fresh.run(cells(plan_models("healthy"))[0], {})["status"] == "ok"
    worker = pid(fresh)
    environment = Path(f"/proc/{worker}/environ").read_text().split("\0")
    assert "OPENBLAS_NUM_THREADS=2" in environment
    assert os.environ["OPENBLAS_NUM_THREADS"] == "1"
    fresh.stop()
    assert gone(worker)
    fresh.stop()


GARBLED = "the worker process gave "


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("closing", "the worker process closed its pipe"),
        ("nameless", "the worker process died by signal 40"),
        ("forging", GARBLED + "an answer to another question"),
        ("nesting", GARBLED + "an answer that is no JSON"),
        ("huge", GARBLED + "an integer of 1329 bits for n_units"),
        ("negative", "ValueError: n_units is -1, which is no size"),
        ("half-character", "RuntimeError: half ? of it"),
        ("colourful", "RuntimeError: ?[2J red??1m ?der\tand\nmore"),
        ("talkative", "RuntimeError: " + (500 - len("RuntimeError: ")) * "x"),
        ("no-label", "ValueError: expected predictions among the labels -1, 1, got 7 instead"),
    ],
)
def test_a_hostile_model_fails_alone(sandbox: Sandbox, plan_models: PlanModels, model: str, reason: str) -> None:
    keeper = pid(sandbox) if sandbox._keeper else None
    result = sandbox.run(cells(plan_models(model))[0], {}, Limits(seconds=60))
    assert (result["status"], result["reason"]) == ("failed", reason)
    assert keeper in (None, pid(sandbox))
    assert sandbox.run(cells(plan_models("healthy"))[1], {})["status"] == "ok"


def test_what_a_model_patches_reaches_no_figure(sandbox: Sandbox, plan_models: PlanModels) -> None:
    """Neither its own, which its keeper computes from predictions, nor those of the next model."""
    good = sandbox.run(cells(plan_models("healthy"))[0], {})
    assert 0.2 < good["metrics"]["mcc"] < 1
    own = sandbox.run(cells(plan_models("patching"))[0], {})
    assert (own["status"], own["metrics"]["mcc"]) == ("ok", 0)  # it has all rows predicted alike
    assert own["metrics"].keys() == good["metrics"].keys()
    fit = cells(plan_models("patching"))[0]
    search = Search(fit.place, fit.model, {}, Grid({}), None, metric="mcc")
    for work in (search, GridEvaluation(fit.place, fit.model, {}, Grid({}), None, metric="mcc")):
        assert sandbox.run(work, {})["scores"] == [0]
    assert sandbox.run(cells(plan_models("healthy"))[0], {})["metrics"] == good["metrics"]


def test_answers_to_what_was_not_asked(sandbox: Sandbox, plan_models: PlanModels) -> None:
    """A thread that a model has left behind answers all numbers that may come: no other cell takes that."""
    repeating, healthy = cells(plan_models("repeating")), cells(plan_models("healthy"))
    first = sandbox.run(repeating[0], {})
    assert first["status"] == "ok"
    time.sleep(0.5)
    for work in (repeating[1], healthy[0], healthy[1]):
        assert sandbox.run(work, {})["reason"] != "forged"
        result = sandbox.run(healthy[2], {})
        assert (result["status"], result["reason"]) == ("ok", "")


def children(log: Path) -> int:
    (child,) = map(int, log.read_text().split())
    return child


@pytest.mark.parametrize("end", ["another model", "stop", "owner dies", "keeper dies"])
def test_a_child_in_a_session_of_its_own(
    fresh: Sandbox, plan_models: PlanModels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    log = tmp_path / "log"
    monkeypatch.setenv("TEST_LOG", str(log))
    model, status = ("orphaning", "failed") if end == "keeper dies" else ("detaching", "ok")
    assert fresh.run(cells(plan_models(model))[0], {}, Limits(seconds=60))["status"] == status
    if end == "another model":
        fresh.run(cells(plan_models("healthy"))[0], {})
    elif end == "stop":
        fresh.stop()
    elif end == "owner dies":
        assert fresh._keeper is not None
        assert fresh._keeper.process.stdin is not None
        fresh._keeper.process.stdin.close()  # as the system does with all that a killed process has open
    ended = gone(children(log))
    if not ended:
        os.kill(children(log), signal.SIGKILL)
    assert ended


def test_memory_of_children_counts(fresh: Sandbox, plan_models: PlanModels) -> None:
    assert fresh.run(cells(plan_models("healthy"))[0], {}, Limits(memory=700_000_000))["status"] == "ok"
    result = fresh.run(cells(plan_models("leaking-child"))[0], {}, Limits(60, 700_000_000))
    assert (result["status"], result["limit"]) == ("out-of-memory", 700_000_000)


@pytest.mark.parametrize(("spent", "over"), [(1.99, False), (2.01, True)])
def test_a_limit_of_time_is_what_it_says(spent: float, over: bool) -> None:
    check_time(Limits(None, 1), 1e9)
    if over:
        with pytest.raises(Exception, match="> 2 s"):
            check_time(Limits(2.0), spent)
    else:
        check_time(Limits(2.0), spent)

"""Worker processes: whatever a model does ends its own cell, within its limit, and the next one runs."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from elmbench.execution.sandbox import Sandbox
from elmbench.execution.units import Plan
from elmbench.specs.limits import Limits

PlanModels = Callable[..., Plan]


@pytest.fixture
def sandbox(plugin: str) -> Iterator[Sandbox]:
    box = Sandbox((plugin,))
    yield box
    box.stop()


def cells(plan: Plan) -> list[dict[str, Any]]:
    return [plan.units[row.key] for row in plan.rows]


def pid(box: Sandbox) -> int:
    assert box._process is not None
    return box._process.pid


def gone(process: int, seconds: float = 3.0) -> bool:
    """Tell whether a process ends (or is a zombie that nobody has waited for) within some seconds."""
    deadline = time.monotonic() + seconds
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
    bad = {unit["model"]: unit for unit in cells(plan_models(*names)) if unit["fold"] == 0}
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


@pytest.mark.parametrize("model", ["sleeping", "stuck"])
def test_a_model_that_hangs(sandbox: Sandbox, plan_models: PlanModels, model: str) -> None:
    healthy = cells(plan_models("healthy"))[0]
    sandbox.run(healthy, {})  # started and warm
    worker = pid(sandbox)
    started = time.monotonic()
    result = sandbox.run(cells(plan_models(model))[0], {}, Limits(seconds=0.5))
    assert 0.5 <= time.monotonic() - started < 2.5
    assert (result["status"], result["limit"]) == ("timeout", 0.5)
    assert "0.5 s" in result["reason"]
    assert gone(worker)
    assert sandbox.run(healthy, {}, Limits(seconds=30))["status"] == "ok"


def test_the_start_of_a_worker_does_not_count(
    sandbox: Sandbox, plan_models: PlanModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_SLOW_START", "1.5")
    assert sandbox.run(cells(plan_models("healthy"))[0], {}, Limits(seconds=1.2))["status"] == "ok"


def test_a_model_that_leaks(sandbox: Sandbox, plan_models: PlanModels) -> None:
    healthy = cells(plan_models("healthy"))[0]
    limit = 600_000_000
    assert sandbox.run(healthy, {}, Limits(memory=limit))["status"] == "ok"
    worker = pid(sandbox)
    started = time.monotonic()
    result = sandbox.run(cells(plan_models("leaking"))[0], {}, Limits(memory=limit))
    assert time.monotonic() - started < 20
    assert (result["status"], result["limit"]) == ("out-of-memory", limit)
    assert "the limit is 600 MB" in result["reason"]
    assert gone(worker)
    assert sandbox.run(healthy, {}, Limits(memory=limit))["status"] == "ok"


def test_a_plugin_that_the_worker_cannot_load(plan_models: PlanModels, plugin: str) -> None:
    unit = cells(plan_models("healthy"))[0]
    Path(plugin).write_text("raise ValueError('gone wrong since')")
    box = Sandbox((plugin,))
    try:
        result = box.run(unit, {})
    finally:
        box.stop()
    assert result["status"] == "failed"
    assert "gone wrong since" in result["reason"]


def test_stopping_ends_the_worker_at_once(plugin: str, plan_models: PlanModels) -> None:
    box = Sandbox((plugin,))
    box.run(cells(plan_models("healthy"))[0], {})
    worker = pid(box)
    box.stop()
    assert gone(worker, 0.5)
    box.stop()


@pytest.mark.parametrize(
    ("model", "seconds", "status"),
    [
        pytest.param(
            "forking", 3.0, "failed",
            marks=pytest.mark.xfail(strict=True, reason="a child that holds the worker's pipe hides its death"),
        ),
        pytest.param(
            "parent", 0.5, "timeout",
            marks=pytest.mark.xfail(strict=True, reason="the worker is ended without the processes that it started"),
        ),
    ],
)  # fmt: skip
def test_children_of_a_model(
    sandbox: Sandbox,
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
    result = sandbox.run(cells(plan_models(model))[0], {}, Limits(seconds=seconds))
    (child,) = map(int, log.read_text().split())
    ended = gone(child, 1.0)
    if not ended:
        os.kill(child, signal.SIGKILL)
    assert result["status"] == status
    assert ended


def test_threads_and_plugins_reach_the_worker(sandbox: Sandbox, plan_models: PlanModels) -> None:
    unit = cells(plan_models("healthy"))[0]
    assert sandbox.run(unit, {}, blas_threads=2)["status"] == "ok"
    environment = dict(
        line.split("=", 1) for line in Path(f"/proc/{pid(sandbox)}/environ").read_text().split("\0") if "=" in line
    )
    assert environment["OPENBLAS_NUM_THREADS"] == "2"
    assert os.environ["OPENBLAS_NUM_THREADS"] == "1"

"""Runs of the engine without worker processes: a small plan, and what takes the place of the
workers.
"""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from made_cells import predictions_of_mcc
from made_work import Content

from elmbench.execution.engine import Estimates, Run, find_pending
from elmbench.execution.executors import Answer, Executor, PackedTask, Settings, local
from elmbench.execution.executors.limited_worker import LimitedWorker, pack_task
from elmbench.execution.store import Store
from elmbench.specs.limits import Limits
from elmbench.tasks.base import Result, Task
from elmbench.tasks.plan import Plan

MakePlan = Callable[..., Plan]
Fits = Callable[..., list[Task]]
#: A plug-in file with models that misbehave.
PLUGIN = Path(__file__).with_name("misbehaving.py")
#: Workers of each executor.
WORKERS = 2


def done(executor: Executor, tasks: Iterable[Task]) -> list[Answer]:
    """Do some work that needs no other; return the outcomes."""
    futures = [executor.submit(task, {}, Limits()) for task in tasks]
    return [future.result() for future in futures]


def run_in(box: LimitedWorker, task: Task, limits: Limits | None = None) -> Result:
    """Run a task that needs no other in a worker; return its result."""
    return box.ask(pack_task(task, {}), limits or Limits()).result


class InProcess:
    """A stand-in for the workers: it answers at once and keeps a diary."""

    def __init__(self) -> None:
        self.diary: list[tuple[str, dict[str, Any]]] = []
        self.made = self.stopped = self.at_once = self.most = 0
        self.seconds = 0.0
        self.answer: Callable[[Content], dict[str, Any]] = lambda unit: {
            "status": "ok",
            "reason": "",
            "predictions": predictions_of_mcc(0.5),
        }
        self.lock = threading.Lock()

    def __call__(self, settings: Settings) -> InProcess:
        self.made += 1
        return self

    def start_cost(self, packed: PackedTask) -> int:
        return 0

    def ask(self, packed: PackedTask, limits: Limits) -> Answer:
        with self.lock:
            self.at_once += 1
            self.most = max(self.most, self.at_once)
        try:
            task = pickle.loads(packed.pickled_task)
            self.diary.append((task.key, packed.inputs))
            return Answer(
                {"params": {}, "seconds": 0.0, "scores": [1.0, 0.0]}
                | self.answer(task.content()),
                self.seconds,
            )
        finally:
            with self.lock:
                self.at_once -= 1

    def stop(self) -> None:
        self.stopped += 1


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> InProcess:
    double = InProcess()
    monkeypatch.setattr(local, "LimitedWorker", double)
    return double


@pytest.fixture
def plan(plan_toy: MakePlan, experiment: dict[str, Any]) -> Plan:
    """ELM and OS-ELM by both ways of choosing, one run: 12 cells, 3 searches, 3 grids, 1 choice."""
    experiment["models"] = {
        name: experiment["models"][name] for name in ("ELM", "OS-ELM")
    }
    return plan_toy(experiment, runs=1, select=("nested", "oracle"))


def limits_of(plan: Plan, limits: Limits | None = None) -> dict[str, Limits]:
    return dict.fromkeys(plan.tasks, limits or Limits())


def run_of(
    plan: Plan,
    store: Store,
    settings: Settings,
    limits: Mapping[str, Limits],
    **how: Any,
) -> Run:
    return Run(
        plan.tasks, limits, store, settings, Estimates(plan.tasks, limits), **how
    )


def run(plan: Plan, store: Store, jobs: int = 1, **how: Any) -> list[str]:
    """Run what is pending; return it."""
    on_event = how.pop("on_event", lambda event: None)
    limits = limits_of(plan, how.pop("limits", None))
    todo = how.pop("todo", None) or find_pending(plan.tasks, limits, store, **how)
    run_of(plan, store, Settings(jobs=jobs), limits, on_event=on_event).run(todo)
    return todo

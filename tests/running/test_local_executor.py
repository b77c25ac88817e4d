"""Workers of this machine: how many tasks are handed to them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from made_runs import InProcess

from elmbench.running.executors import local
from elmbench.running.executors.base import Settings
from elmbench.running.executors.local import LocalExecutor
from elmbench.specs.limits import Limits
from elmbench.work.plan import Plan


def test_of_short_work_one_more_waits_for_each_worker(
    workers: InProcess, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = next(work for work in plan.works.values() if not work.needs)
    now = 0.0

    def slow(unit: Any) -> dict[str, Any]:
        nonlocal now
        now += 0.3
        return {"status": "ok", "reason": ""}

    monkeypatch.setattr(local, "time", SimpleNamespace(monotonic=lambda: now))
    with LocalExecutor(Settings(jobs=2)) as executor:
        assert executor.width == executor.workers == 2
        executor.submit(work, {}, Limits()).result()
        assert (executor.width, executor.workers) == (4, 2)
        workers.answer = slow
        executor.submit(work, {}, Limits()).result()
        assert executor.width == executor.workers == 2

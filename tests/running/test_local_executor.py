"""Workers of this machine: how many tasks are handed to them."""

from __future__ import annotations

import time
from typing import Any

from made_runs import InProcess

from elmbench.running.executors.local import LocalExecutor
from elmbench.running.executors.sandbox import Settings
from elmbench.specs.limits import Limits
from elmbench.work.plan import Plan


def test_of_short_work_one_more_waits_for_each_worker(workers: InProcess, plan: Plan) -> None:
    work = next(work for work in plan.works.values() if not work.needs)

    def slow(unit: Any) -> dict[str, Any]:
        time.sleep(0.3)
        return {"status": "ok", "reason": ""}

    with LocalExecutor(Settings(jobs=2)) as executor:
        assert executor.width == executor.workers == 2
        executor.submit(work, {}, Limits(), 1.0).result()
        assert (executor.width, executor.workers) == (4, 2)
        workers.answer = slow
        executor.submit(work, {}, Limits(), 1.0).result()
        assert executor.width == executor.workers == 2

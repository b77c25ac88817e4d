"""Clean times: fits of a parallel run are timed again one by one."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

from made_runs import InProcess, limits_of, run
from made_work import Content

from elmbench.running.engine import Event, Run, pending
from elmbench.running.executors.base import Settings
from elmbench.running.executors.local import LocalExecutor
from elmbench.running.store import Store
from elmbench.work.plan import Plan


def fits_of(plan: Plan) -> list[str]:
    return [key for key, work in plan.works.items() if work.kind == "cell"]


def run_clean(plan: Plan, store: Store, jobs: int) -> list[Event]:
    events: list[Event] = []
    limits = limits_of(plan)
    todo = pending(plan.works, limits, store)
    Run(plan.works, limits, store, Settings(jobs=jobs, environment="e"), events.append).run(todo, fits_of(plan))
    return events


def test_fits_of_a_parallel_run_are_timed_again_one_by_one(workers: InProcess, store: Store, plan: Plan) -> None:
    counts: dict[str, int] = {}
    alone: list[int] = []

    def timed(unit: Content) -> dict[str, Any]:
        key = str(sorted(unit.items(), key=str))
        counts[key] = counts.get(key, 0) + 1
        if counts[key] == 2:
            alone.append(workers.at_once)
        time.sleep(0.005)
        return {"status": "ok", "reason": "", "fit_seconds": float(counts[key])}

    workers.answer = timed
    run_clean(plan, store, jobs=3)
    fits = fits_of(plan)
    assert alone == [1] * len(fits)
    assert {store.result(key)["fit_seconds"] for key in fits} == {2.0}
    assert all(store.result(key)["clean"] for key in fits)
    others = [key for key in plan.works if key not in fits]
    assert not any("clean" in store.result(key) for key in others)
    # Once is enough.
    assert run_clean(plan, store, jobs=3) == []


def test_fits_of_one_worker_are_clean_at_once(workers: InProcess, store: Store, plan: Plan) -> None:
    events = run_clean(plan, store, jobs=1)
    assert len([event for event in events if event.kind == "end"]) == len(plan.works)
    assert all(store.result(key)["clean"] for key in fits_of(plan))


def test_fits_where_another_worker_may_join_are_timed_again(workers: InProcess, store: Store, plan: Plan) -> None:
    class Cluster(LocalExecutor):
        fixed = False

    limits = limits_of(plan)
    settings = Settings(jobs=1, environment="e")
    todo = pending(plan.works, limits, store)
    Run(plan.works, limits, store, settings, lambda event: None, Cluster(settings)).run(todo, fits_of(plan))
    counts = Counter(key for key, _ in workers.diary)
    assert {counts[key] for key in fits_of(plan)} == {2}
    assert all(store.result(key)["clean"] for key in fits_of(plan))


def test_fits_from_before_are_timed_again_unless_they_failed(workers: InProcess, store: Store, plan: Plan) -> None:
    bad, *_ = fits_of(plan)
    workers.answer = lambda unit: {"status": "failed" if plan.works[bad].content() == unit else "ok", "reason": "r"}
    run(plan, store, jobs=2)
    workers.diary.clear()
    run_clean(plan, store, jobs=2)
    assert sorted(key for key, _ in workers.diary) == sorted(key for key in fits_of(plan) if key != bad)

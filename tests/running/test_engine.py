"""The engine: what runs, when, with what, and what is run again."""

from __future__ import annotations

import random
import threading
import time
from typing import Any

import pytest
from made_runs import InProcess, limits_of, run
from made_store import lose
from made_work import Content, needs, units

from elmbench.running.engine import Event, effective_limits, pending
from elmbench.running.executors.base import Settings
from elmbench.running.processes import machine_memory
from elmbench.running.store import Store
from elmbench.specs.limits import Limits
from elmbench.work.plan import Plan

# --- What is run, and when -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_every_unit_runs_once_after_what_it_needs(workers: InProcess, store: Store, plan: Plan, jobs: int) -> None:
    workers.answer = lambda unit: time.sleep(random.random() / 300) or {"status": "ok", "reason": unit["kind"]}
    events: list[Event] = []
    assert run(plan, store, jobs, on_event=events.append) == list(units(plan))
    ran = [key for key, _ in workers.diary]
    assert sorted(ran) == sorted(key for key, unit in units(plan).items() if unit["kind"] != "choice")
    assert workers.most <= jobs
    assert workers.made <= jobs
    assert workers.stopped == workers.made
    for key, inputs in workers.diary:
        assert inputs == {name: store.result(name) for name in needs(units(plan)[key])}
        assert all(result["status"] == "ok" for result in inputs.values())
    assert all(store.get(key)["environment"] == "e" for key in units(plan))
    ended = [event.work.key for event in events if event.kind == "end"]
    started = [event.work.key for event in events if event.kind == "start"]
    assert sorted(ended) == sorted(started) == sorted(units(plan))
    for event in events:
        if event.kind == "start":
            assert set(event.work.needs) <= set(ended[: ended.index(event.work.key)])
            assert event.result is None
        else:
            assert event.result == store.result(event.work.key)


def test_a_choice_is_made_of_what_was_evaluated(workers: InProcess, store: Store, plan: Plan) -> None:
    workers.answer = lambda unit: {"status": "ok", "reason": "", "scores": [0.1, 0.2, 0.9, 0.3]}
    run(plan, store)
    (choice,) = [store.result(key) for key, unit in units(plan).items() if unit["kind"] == "choice"]
    assert choice is not None
    assert choice["params"] == {"n_hidden": 20, "C": 1}
    chosen = [inputs for key, inputs in workers.diary if units(plan)[key].get("chosen") and choice in inputs.values()]
    assert len(chosen) == 6


def test_several_jobs_work_at_once(workers: InProcess, store: Store, plan: Plan) -> None:
    barrier = threading.Barrier(2)
    first = threading.Event()

    def together(unit: Content) -> dict[str, Any]:
        if not first.is_set():
            barrier.wait()
            first.set()
        return {"status": "ok", "reason": ""}

    workers.answer = together
    run(plan, store, jobs=2)
    assert workers.most == 2


# --- What is run again -----------------------------------------------------------------------------------------------


def test_only_what_is_missing_and_what_rests_on_it(workers: InProcess, store: Store, plan: Plan) -> None:
    run(plan, store)
    search = next(key for key, unit in units(plan).items() if unit["kind"] == "search" and unit["fold"] == 1)
    store = lose(store, search)
    expected = [key for key, unit in units(plan).items() if key == search or search in needs(unit)]
    assert len(expected) == 3
    assert pending(plan.works, limits_of(plan), store) == expected
    assert run(plan, store) == expected


def test_retry_runs_what_ended_otherwise(workers: InProcess, store: Store, plan: Plan) -> None:
    def fail_on_the_second_fold(unit: Content) -> dict[str, Any]:
        return {"status": "failed" if unit["fold"] == 1 and unit["model"] == "os-elm" else "ok", "reason": "x"}

    workers.answer = fail_on_the_second_fold
    run(plan, store)
    bad = [key for key, unit in units(plan).items() if unit.get("fold") == 1 and unit.get("model") == "os-elm"]
    assert len(bad) == 2
    assert pending(plan.works, limits_of(plan), store) == []
    assert pending(plan.works, limits_of(plan), store, retry=True) == bad
    workers.answer = lambda unit: {"status": "ok", "reason": ""}
    run(plan, store, retry=True)
    assert pending(plan.works, limits_of(plan), store, retry=True) == []


@pytest.mark.parametrize(
    ("result", "limits", "again"),
    [
        ({"status": "timeout", "limit": 5.0}, Limits(seconds=5), False),
        ({"status": "timeout", "limit": 5.0}, Limits(seconds=3), False),
        ({"status": "timeout", "limit": 5.0}, Limits(seconds=6), True),
        ({"status": "timeout", "limit": 5.0}, Limits(), True),
        ({"status": "timeout", "limit": 5.0}, Limits(seconds=5, memory=10**12), False),
        ({"status": "out-of-memory", "limit": 100}, Limits(memory=100), False),
        ({"status": "out-of-memory", "limit": 100}, Limits(memory=101), True),
        ({"status": "out-of-memory", "limit": None}, Limits(memory=101), False),
        ({"status": "failed"}, Limits(), False),
        ({"status": "diverged"}, Limits(), False),
        ({"status": "ok"}, Limits(seconds=0.001), False),
    ],
)
def test_a_larger_limit_is_another_chance(
    store: Store, plan: Plan, result: dict[str, Any], limits: Limits, again: bool
) -> None:
    for work in plan.works.values():
        store.put(work, {"status": "ok", "reason": ""}, "e")
    cell = plan.cells[0].key
    store.put(plan.works[cell], {"reason": "", **result}, "e")
    assert pending(plan.works, limits_of(plan, limits), store) == ([cell] if again else [])


def test_limits_of_the_run_come_before_those_of_the_experiment(plan: Plan) -> None:
    declared = limits_of(plan, Limits(seconds=10, memory=10**9))
    result = effective_limits(plan.works, declared, Settings(limits=Limits(seconds=60)))
    assert set(result.values()) == {Limits(60, 10**9)}
    nothing = effective_limits(plan.works, {}, Settings())
    assert {limits.seconds for limits in nothing.values()} == {None}
    # Workers share the machine.
    shared = effective_limits(plan.works, {}, Settings(jobs=4))
    assert {4 * (limits.memory or 0) <= machine_memory() for limits in shared.values()} == {True}
    assert {limits.memory for limits in nothing.values()} == {machine_memory()}

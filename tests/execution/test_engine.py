"""The engine: what runs, when and with what, what is run again, and what is stored when it
stops.
"""

import random
import threading
import time
from concurrent.futures import Future, wait
from typing import Any

import pytest
from made_cells import predictions_of_mcc
from made_runs import InProcess, limits_of, run
from made_store import lose
from made_work import Content, needs, units

from elmbench.execution.engine import Event, find_pending
from elmbench.execution.executors import Answer
from elmbench.execution.executors.local import LocalExecutor
from elmbench.execution.store import Store
from elmbench.files import WriteError
from elmbench.specs.limits import Limits
from elmbench.tasks.base import Task
from elmbench.tasks.plan import Plan

OK = {"status": "ok", "reason": "", "predictions": predictions_of_mcc(0.5)}

# --- What is run, and when
# -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_every_unit_runs_once_after_what_it_needs(
    workers: InProcess, store: Store, plan: Plan, jobs: int
) -> None:
    workers.answer = lambda unit: (
        time.sleep(random.random() / 300) or OK | {"reason": unit["kind"]}
    )
    events: list[Event] = []
    assert run(plan, store, jobs, on_event=events.append) == list(units(plan))
    ran = [key for key, _ in workers.diary]
    assert sorted(ran) == sorted(
        key for key, unit in units(plan).items() if unit["kind"] != "choice"
    )
    assert workers.most <= jobs
    assert workers.stopped == workers.made <= jobs
    for key, inputs in workers.diary:
        assert inputs == {name: store.result(name) for name in needs(units(plan)[key])}
        assert all(result["status"] == "ok" for result in inputs.values())
    assert {
        store.environment(store.get(key)["environment"])["blas_threads"]
        for key in units(plan)
    } == {1}
    ended = [event.task.key for event in events if event.kind == "end"]
    started = [event.task.key for event in events if event.kind == "start"]
    assert sorted(ended) == sorted(started) == sorted(units(plan))
    for event in events:
        if event.kind == "start":
            assert set(event.task.needs) <= set(ended[: ended.index(event.task.key)])
            assert event.result is None
        else:
            assert event.result == store.result(event.task.key)


# --- What is run again
# -----------------------------------------------------------------------------------------------


def test_only_what_is_missing_and_what_rests_on_it(
    workers: InProcess, store: Store, plan: Plan
) -> None:
    run(plan, store)
    search = next(
        key
        for key, unit in units(plan).items()
        if unit["kind"] == "search" and unit["fold"] == 1
    )
    store = lose(store, search)
    expected = [
        key
        for key, unit in units(plan).items()
        if key == search or search in needs(unit)
    ]
    assert len(expected) == 3
    assert find_pending(plan.tasks, limits_of(plan), store) == expected
    assert run(plan, store) == expected


def test_retry_repeats_cells_that_did_not_end_ok(
    workers: InProcess, store: Store, plan: Plan
) -> None:
    bad = [
        key
        for key, unit in units(plan).items()
        if unit.get("fold") == 1 and unit.get("model") == "os-elm"
    ]
    assert len(bad) == 2
    workers.answer = lambda unit: (
        OK | ({"status": "failed"} if unit in [units(plan)[key] for key in bad] else {})
    )
    run(plan, store)
    assert find_pending(plan.tasks, limits_of(plan), store) == []
    assert find_pending(plan.tasks, limits_of(plan), store, retry=True) == bad
    workers.answer = lambda unit: OK
    run(plan, store, retry=True)
    assert find_pending(plan.tasks, limits_of(plan), store, retry=True) == []


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
    for task in plan.tasks.values():
        store.put(task, OK, "e")
    cell = plan.cells[0].key
    store.put(plan.tasks[cell], OK | result, "e")
    assert find_pending(plan.tasks, limits_of(plan, limits), store) == (
        [cell] if again else []
    )


# --- What stops a run
# ------------------------------------------------------------------------------------------------


def test_a_failed_search_ends_its_own_cells_only(
    workers: InProcess, store: Store, plan: Plan
) -> None:
    workers.answer = lambda unit: (
        OK
        | (
            {"status": "failed"}
            if unit["kind"] == "search" and unit["fold"] == 0
            else {}
        )
    )
    run(plan, store)
    assert all(store.result(key) for key in units(plan))
    handed_on = {
        key: inputs
        for key, inputs in workers.diary
        if any(r["status"] != "ok" for r in inputs.values())
    }
    assert {units(plan)[key]["fold"] for key in handed_on} == {0}


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_result_that_cannot_be_kept_stops_the_run(
    workers: InProcess,
    store: Store,
    plan: Plan,
    monkeypatch: pytest.MonkeyPatch,
    jobs: int,
) -> None:
    put, stored = store.put, []

    def put_four(task: Task, *rest: Any) -> None:
        if len(stored) == 4:
            raise WriteError("cannot write: No space left on device")
        put(task, *rest)
        stored.append(task.key)

    monkeypatch.setattr(store, "put", put_four)
    with pytest.raises(WriteError):
        run(plan, store, jobs)
    assert workers.stopped == workers.made > 0
    # At most what was running is lost, two pieces of work a worker: the next run does the rest.
    assert len(workers.diary) <= 4 + 2 * jobs < len(plan.tasks)
    monkeypatch.setattr(store, "put", put)
    assert all(store.result(key) for key in stored)
    assert sorted([*stored, *run(plan, store, jobs)]) == sorted(units(plan))


@pytest.mark.parametrize("moment", range(1, 8))
def test_ctrl_c_between_two_units(
    workers: InProcess, store: Store, plan: Plan, moment: int
) -> None:
    """Wherever the interrupt strikes in this thread, what has been kept stays and the workers
    end.
    """
    seen = []

    def interrupt(event: Event) -> None:
        seen.append(event)
        if len(seen) == moment:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(plan, store, on_event=interrupt)
    assert workers.stopped == workers.made
    stored = [key for key in units(plan) if store.result(key)]
    assert len(stored) >= len([event for event in seen if event.kind == "end"])
    assert set(run(plan, store)) == set(units(plan)) - set(stored)


def test_ctrl_c_keeps_every_result_that_has_arrived(
    workers: InProcess, store: Store, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two workers are done; while the first result is being kept, Ctrl-C: the second result is not
    lost.
    """
    both = threading.Barrier(2)
    futures: list[Future[Answer]] = []
    submit = LocalExecutor.submit

    def remember(*arguments: Any) -> Future[Answer]:
        futures.append(submit(*arguments))
        return futures[-1]

    def answer(unit: Content) -> dict[str, Any]:
        if len(workers.diary) <= 2:
            both.wait(60)
        return OK

    def interrupt(event: Event) -> None:
        if event.kind == "end":
            wait(futures)
            raise KeyboardInterrupt

    monkeypatch.setattr(LocalExecutor, "submit", remember)
    workers.answer = answer
    with pytest.raises(KeyboardInterrupt):
        run(plan, store, jobs=2, on_event=interrupt)
    arrived = [key for key, _ in workers.diary]
    # What waited behind the two may have been begun before the interrupt.
    assert len(arrived) >= 2
    assert all(store.result(key) for key in arrived)

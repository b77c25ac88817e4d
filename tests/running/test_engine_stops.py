"""Results that are stored when the engine stops: work that fails, a full disk, Ctrl-C."""

from __future__ import annotations

import threading
from concurrent.futures import Future, wait
from typing import Any

import pytest
from made_runs import InProcess, run
from made_work import Content, units

from elmbench.files import WriteError
from elmbench.running.engine import Event
from elmbench.running.executors.base import Done
from elmbench.running.executors.local import LocalExecutor
from elmbench.running.store import Store
from elmbench.work.base import Work
from elmbench.work.plan import Plan


def test_a_failed_search_ends_its_own_cells_only(workers: InProcess, store: Store, plan: Plan) -> None:
    workers.answer = lambda unit: {
        "status": "failed" if unit["kind"] == "search" and unit["fold"] == 0 else "ok",
        "reason": "r",
    }
    run(plan, store)
    assert all(store.result(key) for key in units(plan))
    handed_on = {key: inputs for key, inputs in workers.diary if any(r["status"] != "ok" for r in inputs.values())}
    assert {units(plan)[key]["fold"] for key in handed_on} == {0}


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_result_that_cannot_be_kept_stops_the_run(
    workers: InProcess, store: Store, plan: Plan, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    put, stored = store.put, []

    def put_four(work: Work, *rest: Any) -> None:
        if len(stored) == 4:
            raise WriteError("cannot write: No space left on device")
        put(work, *rest)
        stored.append(work.key)

    monkeypatch.setattr(store, "put", put_four)
    with pytest.raises(WriteError):
        run(plan, store, jobs)
    assert workers.stopped == workers.made > 0
    # At most what was running is lost, two pieces of work a worker: the next run does the rest.
    assert len(workers.diary) <= 4 + 2 * jobs < len(plan.works)
    monkeypatch.setattr(store, "put", put)
    assert all(store.result(key) for key in stored)
    todo = run(plan, store, jobs)
    assert sorted([*stored, *todo]) == sorted(units(plan))


@pytest.mark.parametrize("moment", range(1, 8))
def test_ctrl_c_between_two_units(workers: InProcess, store: Store, plan: Plan, moment: int) -> None:
    """Wherever the interrupt strikes in this thread, what has been kept stays and the workers end."""
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
    """Two workers are done; while the first result is being kept, Ctrl-C: the second result is not lost."""
    both = threading.Barrier(2)
    futures: list[Future[Done]] = []
    submit = LocalExecutor.submit

    def remember(*arguments: Any) -> Future[Done]:
        futures.append(submit(*arguments))
        return futures[-1]

    monkeypatch.setattr(LocalExecutor, "submit", remember)

    def answer(unit: Content) -> dict[str, Any]:
        if len(workers.diary) <= 2:
            both.wait()
        return {"status": "ok", "reason": ""}

    workers.answer = answer

    def interrupt(event: Event) -> None:
        if event.kind == "end":
            wait(futures)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(plan, store, jobs=2, on_event=interrupt)
    arrived = [key for key, _ in workers.diary]
    # What waited behind the two may have been begun before the interrupt.
    assert len(arrived) >= 2
    assert all(store.result(key) for key in arrived)

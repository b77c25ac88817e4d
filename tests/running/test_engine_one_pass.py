"""Both ways of choosing from one pass: when the engine joins them, and what it does where the pass fails."""

from __future__ import annotations

from typing import Any

import pytest
from made_runs import InProcess, MakePlan, run
from made_work import units

from elmbench.running.engine import Event
from elmbench.running.store import Store
from elmbench.running.tasks import Task, as_tasks
from elmbench.specs.limits import Limits
from elmbench.work.plan import Plan
from elmbench.work.search import Search
from elmbench.work.shared_pass import SharedPass


def test_both_ways_of_choosing_take_one_pass(workers: InProcess, store: Store, plan: Plan) -> None:
    workers.answer = lambda unit: {
        "status": "ok",
        "reason": "",
        "seconds": {"search": 3.0, "grid": 4.0}.get(unit["kind"]),
    }
    run(plan, store)
    assert workers.passes == 3
    for key, unit in units(plan).items():
        if unit["kind"] in ("search", "grid"):
            stored = store.get(key)
            assert stored is not None
            assert stored["unit"] == unit
            assert not {"search", "grid"}.intersection(stored["result"])
            assert stored["result"]["seconds"] == (3.0 if unit["kind"] == "search" else 4.0)


@pytest.mark.parametrize("kind", ["search", "grid"])
def test_what_is_known_of_one_way_is_not_computed_again(
    workers: InProcess, store: Store, plan: Plan, kind: str
) -> None:
    """A run of one selection comes first; the run of both does what is missing and no more."""
    known = [key for key, unit in units(plan).items() if unit["kind"] == kind]
    run(plan, store, todo=known)
    workers.diary.clear()
    run(plan, store)
    assert workers.passes == 0
    assert not {key for key, _ in workers.diary}.intersection(known)
    assert all(store.result(key) for key in units(plan))


def test_forced_again_in_one_pass(workers: InProcess, store: Store, plan: Plan) -> None:
    run(plan, store)
    assert run(plan, store, force=True) == list(units(plan))
    assert workers.passes == 6


@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize("bad", ["search", "grid"])
def test_a_pass_that_fails_is_run_part_by_part(
    workers: InProcess, store: Store, plan: Plan, bad: str, jobs: int
) -> None:
    """What one of the two does ends the other as little as if it had run alone."""
    workers.answer = lambda unit: {"status": "timeout" if unit["kind"] == bad else "ok", "reason": bad}
    events: list[Event] = []
    run(plan, store, jobs, on_event=events.append)
    assert workers.passes == 3
    for key, unit in units(plan).items():
        result = store.result(key)
        assert result is not None
        if unit["kind"] in ("search", "grid"):
            assert result["status"] == ("timeout" if unit["kind"] == bad else "ok")
    ended = [event.work.key for event in events if event.kind == "end"]
    assert sorted(ended) == sorted(units(plan))


def test_a_model_that_takes_over_another_s_hyperparameters_has_no_pass(
    plan_toy: MakePlan, experiment: dict[str, Any]
) -> None:
    plan = plan_toy(experiment, runs=1, select=("oracle", "nested"))
    tasks = as_tasks(plan.works, list(plan.works))
    assert sorted(part.key for task in tasks for part in task.parts) == sorted(plan.works)
    joined = [task for task in tasks if len(task.parts) > 1]
    assert {task.work.search.model.name for task in joined if isinstance(task.work, SharedPass)} == {"elm", "k-elm"}
    assert len(joined) == 2 * 3
    for task in joined:
        search, evaluation = (part.content() for part in task.parts)
        assert (search["kind"], evaluation["kind"]) == ("search", "grid")
        same = ("dataset", "protocol", "run", "fold", "model", "stream", "params", "grid", "grid_order", "metric")
        assert all(search[name] == evaluation[name] for name in same)
    alone = as_tasks(plan.works, [key for key, work in plan.works.items() if work.kind != "grid"])
    assert all(len(task.parts) == 1 for task in alone)


def test_a_pass_may_take_what_either_may(plan: Plan) -> None:
    search = next(work for work in plan.works.values() if isinstance(work, Search))
    evaluation = SharedPass(search).evaluation
    task = Task(SharedPass(search), (search, evaluation))

    def together(one: Limits, other: Limits) -> Limits:
        return task.limits({search.key: one, evaluation.key: other})

    assert together(Limits(600, None), Limits(None, 100)) == Limits(600, 100)
    assert together(Limits(600, 50), Limits(60, 100)) == Limits(60, 50)
    assert together(Limits(), Limits()) == Limits()

"""The engine: what runs, when, with what; what is kept when it stops."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_store import lose
from made_work import Content, needs, units

from elmbench.files import WriteError
from elmbench.running.engine import Event, Run, effective_limits, pending
from elmbench.running.executors import local
from elmbench.running.executors.sandbox import Settings
from elmbench.running.limits import machine_memory
from elmbench.running.store import Store
from elmbench.running.tasks import Task, as_tasks
from elmbench.specs.limits import Limits
from elmbench.work.base import Result, Work
from elmbench.work.plan import Plan
from elmbench.work.search import Search
from elmbench.work.shared_pass import SharedPass

MakePlan = Callable[..., Plan]


class InProcess:
    """Takes the place of the sandboxes: answers at once, and keeps a diary."""

    def __init__(self) -> None:
        self.diary: list[tuple[str, dict[str, Any]]] = []
        self.passes = 0
        self.made = self.stopped = self.at_once = self.most = 0
        self.before = 0.0
        self.answer: Callable[[Content], dict[str, Any]] = lambda unit: {"status": "ok", "reason": ""}
        self.lock = threading.Lock()

    def __call__(self, settings: Settings) -> InProcess:
        self.made += 1
        return self

    def run(self, work: Work, inputs: dict[str, Any], limits: Limits) -> Result:
        with self.lock:
            self.at_once += 1
            self.most = max(self.most, self.at_once)
        try:
            if not isinstance(work, SharedPass):
                return self.one(work, inputs)
            self.passes += 1
            parts = {part.key: self.one(part, inputs) for part in (work.search, work.evaluation)}
            bad = next((part for part in parts.values() if part["status"] != "ok"), None)
            return bad or {"status": "ok", "reason": "", "warnings": [], "parts": parts}
        finally:
            with self.lock:
                self.at_once -= 1

    def one(self, work: Work, inputs: dict[str, Any]) -> Result:
        self.diary.append((work.key, inputs))
        return {"params": {}, "seconds": 0.0, "scores": [1.0, 0.0]} | self.answer(work.content())

    def stop(self) -> None:
        self.stopped += 1


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> InProcess:
    double = InProcess()
    monkeypatch.setattr(local, "Sandbox", double)
    return double


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "results")


@pytest.fixture
def plan(plan_toy: MakePlan, experiment: dict[str, Any]) -> Plan:
    """ELM and OS-ELM by both ways of choosing, one run: 12 cells, 3 searches, 3 grids, 1 choice."""
    experiment["models"] = {name: experiment["models"][name] for name in ("ELM", "OS-ELM")}
    return plan_toy(experiment, runs=1, select=("nested", "oracle"))


def limits_of(plan: Plan, limits: Limits = Limits()) -> dict[str, Limits]:  # noqa: B008 - frozen
    return dict.fromkeys(plan.works, limits)


def run(plan: Plan, store: Store, jobs: int = 1, **how: Any) -> list[str]:
    """Run what is pending; return it."""
    on_event = how.pop("on_event", lambda event: None)
    limits = limits_of(plan, how.pop("limits", Limits()))
    todo = how.pop("todo", None) or pending(plan.works, limits, store, **how)
    Run(plan.works, limits, store, Settings(jobs=jobs, environment="e"), on_event).run(todo)
    return todo


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
    assert all(store.get(key)["environment"] == "e" for key in units(plan))  # type: ignore[index]
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
    barrier = threading.Barrier(2, timeout=20)
    first = threading.Event()

    def together(unit: Content) -> dict[str, Any]:
        if not first.is_set():
            barrier.wait()
            first.set()
        return {"status": "ok", "reason": ""}

    workers.answer = together
    run(plan, store, jobs=2)
    assert workers.most == 2


@pytest.mark.parametrize("seed", range(5))
def test_any_order_of_what_is_to_do(workers: InProcess, store: Store, plan: Plan, seed: int) -> None:
    todo = list(units(plan))
    random.Random(seed).shuffle(todo)
    run(plan, store, jobs=2, todo=todo)
    done: set[str] = set()
    for key, _ in workers.diary:
        waited_for = {n for n in needs(units(plan)[key]) if units(plan)[n]["kind"] != "choice"}
        assert waited_for <= done | {k for k, _ in workers.diary}
        done.add(key)
    assert all(store.result(key) for key in units(plan))


# --- Both ways of choosing from one pass -----------------------------------------------------------------------------


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


# --- What is run again -----------------------------------------------------------------------------------------------


def test_a_second_run_has_nothing_to_do(workers: InProcess, store: Store, plan: Plan) -> None:
    run(plan, store)
    workers.diary.clear()
    assert run(plan, store) == []
    assert workers.diary == []
    assert workers.made == 1


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


def test_force_runs_everything(workers: InProcess, store: Store, plan: Plan) -> None:
    run(plan, store)
    assert pending(plan.works, limits_of(plan), store, force=True) == list(units(plan))


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
    found = effective_limits(plan.works, declared, Settings(limits=Limits(seconds=60)))
    assert set(found.values()) == {Limits(60, 10**9)}
    nothing = effective_limits(plan.works, {}, Settings())
    assert {limits.seconds for limits in nothing.values()} == {None}
    # Workers share the machine.
    shared = effective_limits(plan.works, {}, Settings(jobs=4))
    assert {4 * (limits.memory or 0) <= machine_memory() for limits in shared.values()} == {True}
    assert {limits.memory for limits in nothing.values()} == {machine_memory()}


# --- Clean times -----------------------------------------------------------------------------------------------------


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
    assert {store.result(key)["fit_seconds"] for key in fits} == {2.0}  # type: ignore[index]
    assert all(store.result(key)["clean"] for key in fits)  # type: ignore[index]
    others = [key for key in plan.works if key not in fits]
    assert not any("clean" in store.result(key) for key in others)  # type: ignore[operator]
    # Once is enough.
    assert run_clean(plan, store, jobs=3) == []


def test_fits_of_one_worker_are_clean_at_once(workers: InProcess, store: Store, plan: Plan) -> None:
    events = run_clean(plan, store, jobs=1)
    assert len([event for event in events if event.kind == "end"]) == len(plan.works)
    assert all(store.result(key)["clean"] for key in fits_of(plan))  # type: ignore[index]


def test_fits_from_before_are_timed_again_unless_they_failed(workers: InProcess, store: Store, plan: Plan) -> None:
    bad, *_ = fits_of(plan)
    workers.answer = lambda unit: {"status": "failed" if plan.works[bad].content() == unit else "ok", "reason": "r"}
    run(plan, store, jobs=2)
    workers.diary.clear()
    run_clean(plan, store, jobs=2)
    assert sorted(key for key, _ in workers.diary) == sorted(key for key in fits_of(plan) if key != bad)


# --- What happens when it stops --------------------------------------------------------------------------------------


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
    put, kept = store.put, []

    def put_four(work: Work, *rest: Any) -> None:
        if len(kept) == 4:
            raise WriteError("cannot write: No space left on device")
        put(work, *rest)
        kept.append(work.key)

    monkeypatch.setattr(store, "put", put_four)
    with pytest.raises(WriteError):
        run(plan, store, jobs)
    assert workers.stopped == workers.made > 0
    # At most what was under way is lost: the next run does the rest.
    assert len(workers.diary) <= 4 + jobs + 1
    monkeypatch.setattr(store, "put", put)
    assert all(store.result(key) for key in kept)
    todo = run(plan, store, jobs)
    assert sorted([*kept, *todo]) == sorted(units(plan))


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
    kept = [key for key in units(plan) if store.result(key)]
    assert len(kept) >= len([event for event in seen if event.kind == "end"])
    assert set(run(plan, store)) == set(units(plan)) - set(kept)


def test_ctrl_c_keeps_every_result_that_has_arrived(workers: InProcess, store: Store, plan: Plan) -> None:
    """Two workers are done; while the first result is being kept, Ctrl-C: the second result is not lost."""
    both = threading.Barrier(2, timeout=20)

    def answer(unit: Content) -> dict[str, Any]:
        if len(workers.diary) <= 2:
            both.wait()
        return {"status": "ok", "reason": ""}

    workers.answer = answer

    def interrupt(event: Event) -> None:
        if event.kind == "end":
            deadline = time.monotonic() + 60
            while workers.at_once and time.monotonic() < deadline:
                time.sleep(0.01)
            time.sleep(0.5)  # for what its thread does after that
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(plan, store, jobs=2, on_event=interrupt)
    arrived = [key for key, _ in workers.diary]
    assert workers.passes == 2
    assert len(arrived) == 4
    assert all(store.result(key) for key in arrived)

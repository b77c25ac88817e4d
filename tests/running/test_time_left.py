"""What a run will take: the order of work, its makespan, and the time left, with a clock that is simulated."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from elmbench.running.estimates import Estimates, Like
from elmbench.running.tasks import TaskQueue, as_tasks
from elmbench.running.time_left import BEFORE, START, TimeLeft, makespan
from elmbench.specs.limits import Limits
from elmbench.work.plan import Plan

MODELS, DATASETS, FOLDS = 4, 3, 30


def recorded(seed: int, noise: float = 0.2) -> tuple[dict[str, float], dict[str, Like], dict[str, float]]:
    """What a cost model says of the cells of a table, what they are like, and what they took.

    The cost model is off by a factor of up to twenty for a model, by another of up to two on each of its data sets.
    """
    rng = np.random.default_rng(seed)
    said, likes, took = {}, {}, {}
    for m in range(MODELS):
        of_model = np.exp(rng.uniform(-1, 3))
        for d in range(DATASETS):
            factor, price = of_model * np.exp(rng.uniform(-0.7, 0.7)), np.exp(rng.uniform(-4, 1))
            for fold in range(FOLDS):
                key = f"{m}-{d}-{fold}"
                said[key], likes[key] = price, Like("cell", f"m{m}", f"d{d}")
                took[key] = price * factor * np.exp(noise * rng.standard_normal())
    return said, likes, took


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def played(
    said: dict[str, float], likes: dict[str, Like], took: dict[str, float], workers: int
) -> Iterator[tuple[float, float, float]]:
    """Play a run on so many workers, which take `START` to start; yield the time, what was said to be left, and all."""
    clock, estimates = Clock(), Estimates(said, likes)
    left = TimeLeft(estimates, said, clock)
    waiting, running, moments = list(said), [], []
    free = [START] * workers
    for worker in range(workers):
        key = waiting.pop(0)
        left.start(key)
        heapq.heappush(running, (free[worker] + took[key], worker, key, START))
    moments.append((0.0, left.seconds(workers)))
    while running:
        clock.now, worker, key, before = heapq.heappop(running)
        estimates.note(key, took[key])
        left.end(key, before)
        if waiting:
            following = waiting.pop(0)
            left.start(following)
            heapq.heappush(running, (clock.now + BEFORE + took[following], worker, following, BEFORE))
        moments.append((clock.now, left.seconds(workers)))
    for now, seconds in moments:
        yield now, seconds, clock.now


@pytest.mark.parametrize("workers", [1, 2, 16])
def test_the_time_left_comes_true(seed: int, workers: int) -> None:
    """In any order of the work; the cost model alone is further off."""
    wrong, naive = [], []
    for draw in range(10):
        said, likes, took = recorded(1000 * seed + draw)
        order = np.random.default_rng(draw).permutation(list(said)).tolist()
        said = {key: said[key] for key in order}
        for now, seconds, end in played(said, likes, took, workers):
            if 0.25 * end < now < 0.9 * end:
                wrong.append(abs(np.log(seconds / (end - now))))
        naive.append(abs(np.log(sum(said.values()) / sum(took.values()))))
    assert np.median(wrong) < np.log(1.25)
    assert np.quantile(wrong, 0.95) < np.log(2)
    assert np.median(wrong) < np.median(naive)


def test_it_is_right_at_the_end_and_counts_the_start_of_workers() -> None:
    said, likes, took = recorded(0, noise=0.0)
    moments = list(played(said, likes, took, 2))
    assert moments[-1][1] == 0
    tiny = dict.fromkeys(said, 1e-3)
    (_, seconds, end), *_ = played(tiny, likes, tiny, 2)
    assert START < seconds < 1.5 * end
    assert end > START


def test_what_runs_longer_than_it_should_is_not_about_to_end() -> None:
    clock = Clock()
    left = TimeLeft(Estimates({"a": 4.0}, {"a": Like("cell", "m", "d")}), ["a"], clock)
    left.start("a")
    clock.now = 60.0
    assert left.seconds(1) > 10


def test_one_measurement_says_most_of_like_work_and_something_of_its_model() -> None:
    likes = {"a": Like("cell", "m", "d"), "b": Like("cell", "m", "d"), "c": Like("cell", "m", "e"),
             "z": Like("cell", "n", "d")}  # fmt: skip
    estimates = Estimates(dict.fromkeys(likes, 1.0), likes)
    assert [estimates.seconds(key) for key in likes] == [1.0] * 4
    estimates.note("a", 20.0)
    like, of_model, other = (estimates.seconds(key) for key in "bcz")
    assert 15 < like < 20
    assert 1 < other < of_model < like


# --- Order -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def plan(plan_toy: Callable[..., Plan], experiment: dict[str, Any]) -> Plan:
    return plan_toy(experiment, runs=1, select=("nested",))


def estimates_of(plan: Plan) -> Estimates:
    return Estimates.of(plan.works, dict.fromkeys(plan.works, Limits()))


def test_the_longest_with_what_waits_for_it_comes_first(plan: Plan) -> None:
    estimates = estimates_of(plan)
    for key, work in plan.works.items():
        estimates.said[key] = {"search": 1.0, "cell": 5.0}[work.kind] * (3 if work.model_name == "k-elm" else 1)
    queue = TaskQueue(as_tasks(plan.works, plan.works), estimates)
    # FB-KOS-ELM takes over what K-ELM's searches find: they have the longest chains behind them.
    found = [queue.pop(longest=True) for _ in range(3)]
    assert {(task.work.kind, task.work.model_name) for task in found if task} == {("search", "k-elm")}
    in_order = TaskQueue(as_tasks(plan.works, plan.works), estimates).pop()
    assert in_order is not None
    assert in_order.work is next(iter(plan.works.values()))


def test_what_was_measured_changes_the_order(plan: Plan) -> None:
    estimates = estimates_of(plan)
    estimates.said = dict.fromkeys(plan.works, 1.0)
    queue = TaskQueue(as_tasks(plan.works, plan.works), estimates)
    taken: list[str] = []
    # By what has been measured before the first is asked for, and between two.
    for model in ("elm", "k-elm"):
        searches = [key for key, work in plan.works.items() if work.kind == "search" and work.model_name == model]
        for _ in range(5):
            estimates.note(searches[0], 1e6)
        found = queue.pop(longest=True)
        assert found is not None
        assert found.work.model_name == model
        taken.append(found.work.key)
        for _ in range(20):
            estimates.note(searches[0], 1e-3)
    in_order = queue.pop()
    assert in_order is not None
    assert in_order.work is next(work for work in plan.works.values() if work.key not in taken and not work.needs)


def test_what_did_not_end_ok_says_nothing_of_how_long_work_takes() -> None:
    likes = {"a": Like("cell", "m", "d"), "b": Like("cell", "m", "d")}
    estimates = Estimates(dict.fromkeys(likes, 1.0), likes)
    for record in (None, {"result": {"status": "ok"}}, {"seconds": 50.0, "result": {"status": "timeout"}}):
        estimates.note_stored("a", record)
    assert (estimates.noted, estimates.seconds("b")) == (0, 1.0)
    estimates.note_stored("a", {"seconds": 50.0, "result": {"status": "ok"}})
    assert estimates.noted == 1
    assert estimates.seconds("b") > 20


def test_makespan_between_its_bounds(plan: Plan) -> None:
    estimates, tasks = estimates_of(plan), as_tasks(plan.works, plan.works)
    each = [BEFORE + task.seconds(estimates) for task in tasks]
    found = [makespan(tasks, estimates, workers) - START for workers in (1, 2, 3, 1000)]
    assert found[0] == pytest.approx(sum(each))
    assert found == sorted(found, reverse=True)
    for workers, seconds in zip((1, 2, 3, 1000), found, strict=True):
        assert max(sum(each) / workers, max(each)) <= seconds * (1 + 1e-9)
    assert makespan([], estimates, 4) == 0

"""Estimates of durations: by formula, by ended work, in a run under way; the order of tasks."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from made_runs import MakePlan
from made_work import task_from_spec

from elmbench.execution.engine import Estimates, WorkQueue
from elmbench.specs.limits import Limits
from elmbench.specs.splits import Split
from elmbench.tasks.base import RATE
from elmbench.tasks.fit import Fit


@dataclass
class Named:
    """Work as estimates see it."""

    model_name: str
    dataset: str
    formula: float | None = 1.0
    bytes: int = 0
    kind: str = "cell"

    @property
    def data(self) -> Any:
        return SimpleNamespace(name=self.dataset)

    @property
    def has_formula(self) -> bool:
        return self.formula is not None

    def seconds(self) -> float:
        return self.formula or 1.0

    def exceeds_memory(self, limit: int) -> bool:
        return self.bytes > limit


def estimates_of(tasks: Mapping[str, Any], limits: Limits | None = None) -> Estimates:
    return Estimates(tasks, dict.fromkeys(tasks, limits or Limits()))


def test_ended_work_corrects_the_same_work_and_else_the_same_model() -> None:
    tasks = {
        "a": Named("m", "d"),
        "b": Named("m", "d", 2.0),
        "c": Named("m", "e"),
        "z": Named("n", "d"),
    }
    estimates = estimates_of(tasks)
    assert [estimates.seconds(key) for key in tasks] == [1, 2, 1, 1]
    estimates.note("a", 20.0)
    assert [estimates.seconds(key) for key in tasks] == [20, 40, 20, 1]
    estimates.note("c", 5.0)
    assert [estimates.seconds(key) for key in tasks] == [20, 40, 5, 1]
    refused = Named("m", "d")
    refused.seconds = lambda: 1.0 + "100"
    assert estimates_of({"a": refused}).seconds("a") < 0.01
    # A model without formula is unknown until some of its work has ended.
    estimates = estimates_of(
        {"a": Named("svm", "d", None), "b": Named("svm", "d", None)}
    )
    assert estimates.seconds("a") is None
    assert estimates.remaining("a", {}, 1) == (0, False)
    estimates.note("b", 184.0)
    assert estimates.seconds("a") == 184
    assert estimates.remaining("a", {}, 1) == (184, True)


def test_limits_bound_the_estimates() -> None:
    tasks = {
        "long": Named("m", "d", 1e6),
        "large": Named("n", "d", 1e6, bytes=10),
        "short": Named("o", "d", 2.0),
    }
    estimates = estimates_of(tasks, Limits(600, 5))
    assert (estimates.seconds("long"), estimates.seconds("short")) == (600, 2)
    assert (estimates.seconds("large") or 0) < 0.01


def test_the_time_left_comes_from_ended_work() -> None:
    """The formulas are wrong by a factor of up to twenty for a model; the estimate is not."""
    rng = np.random.default_rng(0)
    factors = dict(zip("abcd", np.exp(rng.uniform(-1, 3, 4)), strict=True))
    tasks = {
        f"{model}{i}": Named(model, "d", float(rng.uniform(1, 5)))
        for i in range(30)
        for model in factors
    }
    seconds = {
        key: task.seconds() * factors[task.model_name] for key, task in tasks.items()
    }
    estimates = estimates_of(tasks)
    # Before any has ended, the formulas are all that there is.
    assert estimates.remaining(tasks, {}, 1) == (
        pytest.approx(sum(task.seconds() for task in tasks.values())),
        True,
    )
    waiting, spent = list(tasks), 0.0
    for number, (key, took) in enumerate(seconds.items(), 1):
        waiting.remove(key)
        spent += took
        estimates.note(key, took)
        remaining, _ = estimates.remaining(waiting, {}, 1)
        if number >= len(factors):
            assert remaining == pytest.approx(sum(seconds.values()) - spent, abs=1e-6)
            assert estimates.remaining(waiting, {}, 4)[0] == pytest.approx(
                remaining / 4
            )


def test_work_under_way_counts_down_and_overdue_work_is_not_about_to_end() -> None:
    estimates = estimates_of({"a": Named("m", "d", 4.0), "b": Named("m", "d", 4.0)})
    estimates.note("a", 40.0)
    assert estimates.remaining((), {"b": 30.0}, 1) == (10, True)
    assert estimates.remaining((), {"b": 100.0}, 1) == (30, True)


def test_fits_are_candidates_times_inner_folds(
    plan_toy: MakePlan, experiment: dict[str, Any]
) -> None:
    plan = plan_toy(experiment, runs=1, select=("nested", "oracle"))
    fits = {
        (task.kind, task.content().get("model")): task.number_of_fits
        for task in plan.tasks.values()
    }
    assert fits == {
        ("search", "elm"): 2 * 2 * 2,
        ("search", "k-elm"): 4 * 2 * 2,
        ("search", "fb-kos-elm"): 3 * 2,
        ("grid", "elm"): 2 * 2,
        ("grid", "k-elm"): 4 * 2,
        ("grid", "fb-kos-elm"): 3,
        ("choice", None): 0,
        **dict.fromkeys(
            (("cell", m) for m in ("elm", "k-elm", "os-elm", "fb-kos-elm")), 1
        ),
    }


@pytest.mark.usefixtures("without_data")
@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("cell", {"dataset": {"rows": 10_000}}),
        ("cell", {"params": {"n_hidden": 5000}}),
        ("search", {"grid": {"n_hidden": [10, 20, 30, 40], "C": [1, 8]}}),
        ("search", {"inner": {"folds": 9}}),
        ("search", {"tune_rows": 5000}),
        ("search", {"paths": False}),
    ],
)
def test_more_work_takes_longer(
    plan_toy: MakePlan, experiment: dict[str, Any], kind: str, change: dict[str, Any]
) -> None:
    experiment["datasets"] = ["sylva"]
    experiment["profiles"]["fast"] = {"rows": 2000, "tune-rows": 500}
    plan = plan_toy(experiment, profile="fast", runs=1)
    model = "k-elm" if "paths" in change else "elm"
    task = next(
        w
        for w in plan.tasks.values()
        if w.kind == kind and w.content()["model"] == model
    )
    more = unit = task.content()
    for key, value in change.items():
        more = more | {
            key: unit[key] | value
            if isinstance(value, dict) and key != "grid"
            else value
        }
    assert task.data is not None
    assert 0 < task.seconds() < task_from_spec(more, task.data.spec).seconds()


@pytest.mark.usefixtures("without_data")
@pytest.mark.parametrize(
    ("outer", "n_fits", "n_train", "n_predicted"),
    [
        (Split("leave-one-out"), 2000, 1999, 2000),
        (Split("bootstrap", 5), 1, 2000, 736),
        (Split("bootstrap-632", 5), 2, 2000, 2736),
    ],
)
def test_each_fit_and_each_predicted_row_counts(
    plan_toy: MakePlan,
    experiment: dict[str, Any],
    outer: Split,
    n_fits: int,
    n_train: int,
    n_predicted: int,
) -> None:
    experiment["datasets"] = ["sylva"]
    experiment["profiles"]["fast"] = {"rows": 2000, "tune-rows": 500}
    plan = plan_toy(experiment, profile="fast", runs=1)
    fits = (task for task in plan.tasks.values() if isinstance(task, Fit))
    fit = next(task for task in fits if task.model.name == "k-elm")
    protocol = replace(fit.outer_fold.protocol, outer=outer)
    fit = replace(fit, outer_fold=replace(fit.outer_fold, protocol=protocol))
    n_operations = n_train * n_predicted * (2 * fit.data.n_features + 20)
    expected = 1.2 * n_fits * fit.fit_seconds(n_train) + n_operations / RATE
    assert fit.number_of_fits == n_fits
    assert fit.seconds() == pytest.approx(expected)


@pytest.mark.usefixtures("without_data")
def test_a_kernel_matrix_above_the_limit_is_known_before_the_fit(
    plan_table: MakePlan,
) -> None:
    request: Any = {"datasets": ("sylva",), "models": ("K-ELM", "ELM"), "runs": 1}
    plan = plan_table("table4", profile="paper", **request)
    above = {
        (task.kind, task.model_name): task.exceeds_memory(2**24)
        for task in plan.tasks.values()
        if task.model_name
    }
    assert above[("cell", "k-elm")]
    assert above[("search", "k-elm")]
    assert not any(task.exceeds_memory(2**40) for task in plan.tasks.values())


def test_the_longest_work_with_its_dependents_comes_first(
    plan_toy: MakePlan, experiment: dict[str, Any]
) -> None:
    plan = plan_toy(experiment, runs=1, select=("nested",))
    seconds = {
        key: {"search": 1.0, "cell": 5.0}[task.kind]
        * (3 if task.model_name == "k-elm" else 1)
        for key, task in plan.tasks.items()
    }
    queue = WorkQueue(plan.tasks, plan.tasks, seconds)
    # FB-KOS-ELM takes over what K-ELM's searches choose: they have the longest chains behind them.
    first = [plan.tasks[queue.pop() or ""] for _ in range(3)]
    assert {(task.kind, task.model_name) for task in first} == {("search", "k-elm")}
    assert WorkQueue(plan.tasks, plan.tasks, None).pop() == next(iter(plan.tasks))


def test_work_for_an_idle_worker_comes_first(plan_models: MakePlan) -> None:
    """A worker that has run a model from outside does no other work."""
    plan = plan_models("healthy", "printing", "K-ELM", select=("published",))
    healthy, printing = "model healthy", "model printing"
    queue = WorkQueue(plan.tasks, plan.tasks, dict.fromkeys(plan.tasks, 1.0))

    def codes(*idle: str) -> list[str]:
        keys = [queue.pop(idle) for _ in range(3)]
        return [plan.tasks[key or ""].outside_code for key in keys]

    assert codes(healthy, printing) == [printing] * 3
    assert codes(healthy, printing) == [healthy] * 3
    assert codes(healthy, printing) == [""] * 3

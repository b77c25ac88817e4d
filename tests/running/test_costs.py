"""What a run will cost: the number of fits, and that more work is said to take longer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from elmbench.running.environment import describe_environment
from elmbench.work import work_from
from elmbench.work.plan import Plan
from elmbench.work.search import Search

MakePlan = Callable[..., Plan]


def test_fits_are_candidates_times_inner_folds(plan_toy: MakePlan, experiment: dict[str, Any]) -> None:
    plan = plan_toy(experiment, runs=1, select=("nested", "oracle"))
    fits = {(work.kind, work.content().get("model")): work.number_of_fits for work in plan.works.values()}
    assert fits == {
        ("search", "elm"): 2 * 2 * 2,
        ("search", "k-elm"): 4 * 2 * 2,
        ("search", "fb-kos-elm"): 3 * 2,
        ("grid", "elm"): 2 * 2,
        ("grid", "k-elm"): 4 * 2,
        ("grid", "fb-kos-elm"): 3,
        ("choice", None): 0,
        **dict.fromkeys((("cell", m) for m in ("elm", "k-elm", "os-elm", "fb-kos-elm")), 1),
    }


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"dataset": {"rows": 10_000}}, "cell"),
        ({"params": {"n_hidden": 5000}}, "cell"),
        ({"grid": {"n_hidden": [10, 20, 30, 40], "C": [1, 8]}}, "search"),
        ({"inner": {"folds": 9}}, "search"),
        ({"tune_rows": 5000}, "search"),
    ],
)
def test_more_work_takes_longer(
    plan_toy: MakePlan, experiment: dict[str, Any], change: dict[str, Any], kind: str
) -> None:
    experiment["datasets"] = ["sylva"]
    experiment["profiles"]["fast"] = {"rows": 2000, "tune-rows": 500}
    plan = plan_toy(experiment, profile="fast", runs=1, without_data=True)
    work = next(w for w in plan.works.values() if w.kind == kind and w.content()["model"] == "elm")
    unit = work.content()
    more = unit | {
        key: unit[key] | value if isinstance(value, dict) and key != "grid" else value for key, value in change.items()
    }
    assert work.data is not None
    assert 0 < work.seconds() < work_from(more, work.data.spec).seconds()


def test_sharing_no_work_takes_longer(plan_toy: MakePlan, experiment: dict[str, Any]) -> None:
    works = plan_toy(experiment, runs=1, models=("K-ELM",)).works.values()
    search = next(work for work in works if isinstance(work, Search))
    assert search.seconds() < replace(search, paths=False).seconds()


def test_every_unit_of_every_table_has_an_estimate(plan_table: MakePlan) -> None:
    for profile in ("fast", "paper"):
        for table in ("table2", "table4", "table6"):
            plan = plan_table(table, profile=profile, runs=1, without_data=True, with_baselines=True)
            assert all(0 <= work.seconds() < 1e6 for work in plan.works.values())


def test_the_environment_says_what_numbers_rest_on() -> None:
    found = describe_environment()
    assert {"numpy", "scipy", "scikit-learn", "numba"} <= set(found["packages"])
    assert found["python"].startswith("3.")
    assert found["blas"]
    assert found["blas"][0]["internal_api"]
    assert found["cores"] >= 1
    assert found["memory_gib"] is None or found["memory_gib"] > 0
    assert describe_environment() == found

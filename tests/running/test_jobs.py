"""The same cells for any number of workers and any order, computed in real worker processes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from made_work import untimed

from elmbench.running.engine import Run
from elmbench.running.executors.base import Settings
from elmbench.running.store import Store
from elmbench.specs.limits import Limits
from elmbench.work.plan import Plan


def computed(plan: Plan, folder: Path, jobs: int, *, backwards: bool = False) -> dict[str, Any]:
    store = Store(folder)
    todo = list(plan.works)[:: -1 if backwards else 1]
    limits = dict.fromkeys(plan.works, Limits())
    Run(plan.works, limits, store, Settings(jobs=jobs, environment="e")).run(todo)
    return {key: untimed(store.result(key)) for key in plan.works}


def test_results_do_not_depend_on_jobs_or_order(plan_toy: Callable[..., Plan], experiment: Any, tmp_path: Path) -> None:
    experiment["grids"] |= {"n_hidden": [10], "gamma": [1]}
    experiment["protocol"]["outer"]["folds"] = 2
    del experiment["models"]["FB-KOS-ELM"]
    plan = plan_toy(experiment, runs=1)
    one = computed(plan, tmp_path / "one", 1)
    two = computed(plan, tmp_path / "two", 2, backwards=True)
    assert one == two
    assert {result["status"] for result in one.values()} == {"ok"}

"""Plans of shipped tables and of tables of the tests' own, and what is in them."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_work import units

from elmbench.specs.catalogue import find_experiment, load_catalogue
from elmbench.specs.profiles import resolve
from elmbench.tables.planning import make_plan
from elmbench.tasks.plan import Plan, RunRequest


@pytest.fixture
def plan_table() -> Callable[..., Plan]:
    """Plan a shipped table: `plan_table("table4", profile="ci", datasets=("wdbc",),
    models=("ELM",))`.
    """

    def plan(
        table: str,
        *,
        profile: str = "ci",
        readings: dict[str, str] | None = None,
        **request: Any,
    ) -> Plan:
        return make_plan(
            resolve(find_experiment(table), profile, readings), RunRequest(**request)
        )

    return plan


@pytest.fixture
def plan_toy(write_tree: Callable[..., Path]) -> Callable[..., Plan]:
    """Plan a table of the tests' own: `plan_toy(content, profile="ci", select=("oracle",))`."""

    def plan(
        content: dict[str, Any],
        *,
        profile: str = "paper",
        readings: dict[str, str] | None = None,
        **request: Any,
    ) -> Plan:
        load_catalogue.cache_clear()
        file = load_catalogue(write_tree(content))[content["id"]]
        return make_plan(resolve(file, profile, readings), RunRequest(**request))

    return plan


def keys(plan: Plan) -> dict[tuple[Any, ...], str]:
    """Return the keys of a plan's cells by column, run, fold and selection."""
    return {(row.model, row.run, row.fold, row.select): row.key for row in plan.cells}


def kinds(plan: Plan) -> Counter[str]:
    """Return how much work of each kind a plan has."""
    return Counter(unit["kind"] for unit in units(plan).values())


def families(plan: Plan) -> dict[str, str]:
    """Return the families of a plan's cells by column."""
    return {row.model: row.family for row in plan.cells}

"""Plans of shipped tables and of tables of the tests' own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from elmbench.layouts.planning import make_plan
from elmbench.specs.catalogue import find_experiment, load_catalogue
from elmbench.specs.profiles import resolve
from elmbench.work.plan import Plan, Request


@pytest.fixture
def plan_table() -> Callable[..., Plan]:
    """Plan a shipped table: `plan_table("table4", profile="ci", datasets=("wdbc",), models=("ELM",))`."""

    def plan(table: str, *, profile: str = "ci", readings: dict[str, str] | None = None, **request: Any) -> Plan:
        return make_plan(resolve(find_experiment(table), profile, readings), Request(**request))

    return plan


@pytest.fixture
def plan_toy(write_tree: Callable[..., Path]) -> Callable[..., Plan]:
    """Plan a table of the tests' own: `plan_toy(content, profile="ci", select=("oracle",))`."""

    def plan(
        content: dict[str, Any], *, profile: str = "paper", readings: dict[str, str] | None = None, **request: Any
    ) -> Plan:
        load_catalogue.cache_clear()
        file = load_catalogue(write_tree(content))[content["id"]]
        return make_plan(resolve(file, profile, readings), Request(**request))

    return plan

"""The tables of the papers as shipped: figures have cells, parameters exist, tables of the same fits share them."""

from __future__ import annotations

from typing import Any

import pytest

from elmbench.layouts import layout_of
from elmbench.registry import find_model, parameter_names
from elmbench.running.planning import make_plan
from elmbench.specs.catalogue import find_experiment, load_catalogue
from elmbench.specs.datasets import load_dataset_specs
from elmbench.specs.profiles import resolve
from elmbench.work.base import Work
from elmbench.work.plan import Request

#: Tables of the same fits.
SHARED = {
    "eem/table5": ["table6"],
    "eem/table7": ["table8"],
    "ospvm/table2": ["table3"],
    "ospvm/table4": ["table5", "table6", "table7"],
    "ospvm/table8": ["table9", "table10", "table11"],
}


def works(table: str) -> dict[tuple[str, str, str], Work]:
    """Return the work of the first run by data set, column and selection."""
    plan = make_plan(resolve(find_experiment(table), "paper"), Request(without_data=True, runs=1))
    return {(cell.dataset, cell.model, cell.select): plan.works[cell.key] for cell in plan.cells}


@pytest.mark.parametrize("table", [name for name in load_catalogue() if name.startswith(("eem/", "ospvm/table"))])
def test_every_figure_has_a_column(table: str) -> None:
    resolved = resolve(find_experiment(table), "paper")
    layout = layout_of(resolved)
    shown = set(layout.models(resolved))
    for dataset, model, _ in resolved.published:
        assert dataset in (*resolved.datasets, "all")
        assert model in shown, model


@pytest.mark.parametrize("table", load_catalogue())
def test_models_have_the_parameters_that_columns_fix_and_search(table: str) -> None:
    for model in find_experiment(table).spec.models.values():
        entry = find_model(model.model)
        known: list[Any] = [
            parameter_names(entry.factory(task))
            for task in ("classification", "regression")
            if getattr(entry, task) is not None
        ]
        assert any(names is None or {*model.search, *model.params} <= set(names) for names in known)


@pytest.mark.parametrize(("first", "others"), SHARED.items())
def test_tables_of_the_same_fits_share_them(first: str, others: list[str]) -> None:
    keys = {cell: work.key for cell, work in works(first).items()}
    for table in others:
        assert {cell: work.key for cell, work in works(f"{first.partition('/')[0]}/{table}").items()} == keys


def test_a_kernel_for_each_group_of_features() -> None:
    kernels: Any = find_experiment("mk-elm/algorithm1").spec.models["sparse"].on("mfeat").params["kernels"]
    columns = [params["columns"] for _, params in kernels]
    assert [start for start, _ in columns] == [0, *(stop for _, stop in columns[:-1])]
    assert columns[-1][1] == load_dataset_specs().find("mfeat").shape.features

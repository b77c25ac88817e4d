"""Printed hyperparameters as parameters of columns: under other names, as inverses, or not at
all.
"""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_work import units

from elmbench.datasets.load import Identities
from elmbench.errors import ElmbenchError
from elmbench.specs.catalogue import find_experiment, load_catalogue
from elmbench.specs.datasets import load_dataset_specs
from elmbench.specs.profiles import resolve
from elmbench.tables.planning import make_plan
from elmbench.tasks.plan import Plan, RunRequest
from elmbench.tasks.planner import DatasetPlanner

FIGURES = """dataset,model,metric,value,std,note
WDBC,K-ELM,C,2^-3,,
WDBC,K-ELM,sigma,2^2,,
WDBC,ELM,L,40,,
WDBC,ELM,lambda,2^-1,,
"""
TABLE: dict[str, Any] = {
    "id": "toy/one",
    "title": "toy",
    "label": "Table 1",
    "datasets": ["wdbc", "waveform-drawn"],
    "protocol": {
        "scale": None,
        "outer": {"kind": "stratified-kfold", "folds": 3, "runs": 1},
        "inner": {"kind": "stratified-kfold", "folds": 3},
        "select": "published",
        "metrics": ["accuracy"],
    },
    "grids": {"C": [1, 2, 4], "gamma": [1, 2]},
    "models": {
        "K-ELM": {
            "model": "k-elm",
            "search": ["C"],
            "printed": {"C": "1/C", "gamma": "1/sigma"},
            "except": {"waveform-drawn": {"params": {"gamma": 3}}},
        }
    },
    "published": {"parameters": "figures.csv"},
}
LS_SVM = {"model": "ls-svm", "like": "K-ELM", "printed": {"C": "C", "gamma": "1/sigma"}}


@pytest.fixture
def plan(write_tree: Callable[..., Path]) -> Callable[..., Plan]:
    def make(
        content: dict[str, Any], dataset: str = "wdbc", select: str = "published"
    ) -> Plan:
        root = write_tree(content)
        (root / "experiments" / "toy" / "figures.csv").write_text(FIGURES)
        load_catalogue.cache_clear()
        file = load_catalogue(root)["toy/one"]
        return make_plan(
            resolve(file, "paper"), RunRequest(datasets=(dataset,), select=(select,))
        )

    return make


def changed(**models: dict[str, Any]) -> dict[str, Any]:
    content = copy.deepcopy(TABLE)
    content["models"] |= {
        column.replace("_", "-"): model for column, model in models.items()
    }
    return content


def params(plan: Plan, kind: str = "cell") -> list[dict[str, Any]]:
    return [unit["params"] for unit in units(plan).values() if unit["kind"] == kind]


def test_printed_values_under_the_names_of_the_model(plan: Callable[..., Plan]) -> None:
    assert params(plan(TABLE)) == [{"C": 8.0, "gamma": 0.25}] * 3


@pytest.mark.parametrize("select", ["oracle", "nested"])
def test_what_is_not_searched_stays_as_printed(
    plan: Callable[..., Plan], select: str
) -> None:
    planned = plan(TABLE, select=select)
    assert params(planned) == [{"gamma": 0.25}] * 3
    searches = [
        unit
        for unit in units(planned).values()
        if "grid" in unit and unit["kind"] in ("search", "grid")
    ]
    assert [unit["params"] for unit in searches] == [{"gamma": 0.25}] * 3
    assert [unit["grid"] for unit in searches] == [{"C": [1, 2, 4]}] * 3


def test_a_data_set_without_printed_values_searches_what_the_column_searches(
    plan: Callable[..., Plan],
) -> None:
    planned = plan(TABLE, "waveform-drawn")
    assert {cell.select for cell in planned.cells} == {"nested"}
    assert params(planned) == [{"gamma": 3}] * 3


def test_what_is_neither_printed_nor_given_is_refused(
    plan: Callable[..., Plan],
) -> None:
    content = changed()
    del content["models"]["K-ELM"]["except"]
    with pytest.raises(
        ElmbenchError, match="prints no gamma of K-ELM for waveform-drawn"
    ) as refused:
        plan(content, "waveform-drawn")
    assert "except: {waveform-drawn: {params: {gamma: ...}}}" in str(
        refused.value.expected
    )


def test_one_data_set_may_differ_in_what_is_printed_and_searched(
    plan: Callable[..., Plan],
) -> None:
    content = changed()
    content["models"]["K-ELM"]["except"]["wdbc"] = {
        "printed": {"C": "C"},
        "search": ["gamma", "C"],
    }
    assert params(plan(content)) == [{"C": 0.125, "gamma": 0.25}] * 3
    grids = [
        unit["grid"]
        for unit in units(plan(content, select="nested")).values()
        if unit["kind"] == "search"
    ]
    assert grids == [{"gamma": [1, 2], "C": [1, 2, 4]}] * 3


def test_a_column_of_which_nothing_is_printed_has_what_it_is_like(
    plan: Callable[..., Plan],
) -> None:
    planned = plan(changed(LS_SVM=LS_SVM))
    assert params(planned)[3:] == [{"C": 0.125, "gamma": 0.25}] * 3


@pytest.mark.parametrize(
    "where", [{"only": ["wdbc"]}, {"not-run": {"waveform-drawn": "it would take days"}}]
)
def test_a_column_may_be_for_some_data_sets(
    plan: Callable[..., Plan], where: dict[str, Any]
) -> None:
    content = changed(LS_SVM=LS_SVM | where)
    assert {cell.model for cell in plan(content).cells} == {"K-ELM", "LS-SVM"}
    assert {cell.model for cell in plan(content, "waveform-drawn").cells} == {"K-ELM"}


def test_what_a_column_takes_over_is_not_fixed_at_its_printed_value(
    plan: Callable[..., Plan],
) -> None:
    planned = plan(changed(LS_SVM=LS_SVM), select="nested")
    assert params(planned)[3:] == [{"gamma": 0.25}] * 3
    assert (
        len(
            {
                unit["chosen"]
                for unit in units(planned).values()
                if unit["kind"] == "cell"
            }
        )
        == 3
    )


def test_a_parameter_that_the_model_lacks(plan: Callable[..., Plan]) -> None:
    content = changed()
    content["models"]["K-ELM"]["params"] = {"gama": 1}
    with pytest.raises(ElmbenchError, match="parameter of the model k-elm: 'gama'"):
        plan(content)


def column_planner(table: str, dataset: str) -> DatasetPlanner:
    resolved = resolve(find_experiment(f"rkelm/{table}"), "paper")
    spec = load_dataset_specs().find(dataset)
    return DatasetPlanner(
        plan=Plan(),
        resolved=resolved,
        request=RunRequest(),
        dataset=spec,
        columns=resolved.spec.models,
        identities=Identities(),
    )


def shipped(table: str, column: str, dataset: str) -> dict[str, Any]:
    """Return the parameters of a column under `published` on a data set of the RKELM paper."""
    task = column_planner(table, dataset)
    return task.printed_params(column) | task.models[column].params


@pytest.mark.usefixtures("without_data")
@pytest.mark.parametrize(
    ("table", "column", "dataset", "expected"),
    [
        (
            "table3",
            "RKELM",
            "auto-mpg",
            {"n_landmarks": 25, "C": 2.0**20, "gamma": 0.25},
        ),
        (
            "table3",
            "ELM",
            "year-prediction-msd",
            {"n_hidden": 30, "slope": 0.05, "C": 2.0**30},
        ),
        ("table3", "KELM", "abalone", {"C": 2.0**10, "gamma": 0.25}),
        ("table3", "LS-SVM", "triazines", {"C": 16.0, "gamma": 2.0**-5}),
        ("table5", "SVM", "shuttle", {"C": 1024.0, "gamma": 8.0}),
        ("table7", "RSVM", "usps", {"n_landmarks": 500, "C": 1024.0, "gamma": 2.0**-8}),
        (
            "table11",
            "RKELM-sigma_i",
            "bank8fm",
            {"n_landmarks": 200, "C": 2.0**20, "gamma": 0.5, "widths": "random"},
        ),
        (
            "table12",
            "ELM-RBF",
            "adult",
            {"n_hidden": 600, "C": 2.0**20, "gamma": 2.0**-8},
        ),
    ],
)
def test_the_rkelm_paper_as_it_is_read(
    table: str, column: str, dataset: str, expected: dict[str, Any]
) -> None:
    assert shipped(table, column, dataset) == expected


@pytest.mark.usefixtures("without_data")
def test_generated_waveforms_are_compared_with_the_published_values_of_the_public_ones() -> (
    None
):
    resolved = resolve(find_experiment("rkelm/table6"), "paper")
    assert shipped("table6", "RKELM", "waveform-drawn") == shipped(
        "table6", "RKELM", "waveform"
    )
    of = {
        name: resolved.published[name, "RKELM", "accuracy"].value
        for name in ("waveform", "waveform-drawn")
    }
    assert of["waveform"] == of["waveform-drawn"]
    assert [resolved.spelling(name) for name in of] == ["Waveform", "waveform-drawn"]


@pytest.mark.usefixtures("without_data")
def test_targets_as_they_are() -> None:
    for name, scaled in {"triazines": False, "wisconsin": True}.items():
        task = column_planner("table3", name)
        task.checksums = ["none"]
        assert (task.outer_fold(0, 0).protocol.targets is not None) is scaled

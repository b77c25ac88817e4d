"""Profiles of a table: their runs, data sets, columns and thinned grids."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from elmbench.specs.catalogue import load_catalogue
from elmbench.specs.experiments import PROFILES, Experiment
from elmbench.specs.profiles import resolve

WriteTree = Callable[..., Path]
Table = Callable[[str], Experiment]


@pytest.fixture
def table(write_tree: WriteTree, experiment: dict[str, Any]) -> Table:
    """Read the experiment as a test changes it, under a profile."""

    def read(profile: str) -> Experiment:
        load_catalogue.cache_clear()
        return resolve(load_catalogue(write_tree(experiment))["toy/one"], profile).spec

    return read


def test_a_profile_changes_runs_folds_selection_data_sets_and_columns(
    table: Table, experiment: dict[str, Any]
) -> None:
    experiment["datasets"] = ["wdbc", "sylva"]
    experiment["protocol"]["outer"]["except"] = {"sylva": {"folds": 10}}
    experiment["profiles"]["fast"] = {
        "runs": 7, "folds": 5, "select": ["oracle", "nested"], "datasets": ["sylva"],
        "models": ["ELM", "OS-ELM"],
    }  # fmt: skip
    spec, printed = table("fast"), table("paper")
    assert (spec.protocol.outer.runs, spec.protocol.outer.folds) == (7, 5)
    assert (
        spec.protocol.outer.overrides["sylva"].runs,
        spec.protocol.outer.overrides["sylva"].folds,
    ) == (7, 5)
    assert spec.protocol.selections == ("oracle", "nested")
    assert spec.datasets == ("sylva",)
    assert list(spec.models) == ["ELM", "OS-ELM"]
    assert printed.protocol.outer.overrides["sylva"].folds == 10
    assert printed.protocol.selections == ("nested",)


def test_other_data_sets_stand_in_under_ci_alone(
    table: Table, experiment: dict[str, Any]
) -> None:
    experiment["datasets"] = ["sylva"]
    experiment["profiles"]["ci"] = {"stand-ins": ["wdbc"]}
    assert [table(profile).datasets for profile in PROFILES] == [
        ("wdbc",),
        ("sylva",),
        ("sylva",),
    ]


def test_a_profile_may_have_exceptions_for_data_sets(
    table: Table, experiment: dict[str, Any]
) -> None:
    experiment["datasets"] = ["wdbc", "sylva", "ionosphere"]
    experiment["protocol"]["outer"]["except"] = {"wdbc": {"folds": 4}}
    experiment["profiles"]["fast"] = {
        "runs": 1,
        "except": {"wdbc": {"runs": 9}, "sylva": {"folds": 2}},
    }
    outer = table("fast").protocol.outer
    assert (outer.runs, outer.folds) == (1, 3)
    assert {name: (one.runs, one.folds) for name, one in outer.overrides.items()} == {
        "wdbc": (9, 4),
        "sylva": (1, 2),
    }


def test_thinning_reaches_both_kinds_of_grid(
    table: Table, experiment: dict[str, Any]
) -> None:
    experiment["grids"]["gamma"] = {"powers-of-2": [0, 4]}
    spec = table("ci")
    assert spec.grids.values["gamma"] == [1.0, 4.0, 16.0]
    assert spec.grids.values["C"] == [1]
    assert spec.models["FB-KOS-ELM"].grid.values["budget"] == [5, 15]
    assert list(spec.models["ELM"].grid.values) == ["n_hidden", "C"]
    assert spec.models["ELM"].grid.values["C"] == [1]


def test_a_column_has_grids_of_its_own_on_one_data_set(
    table: Table, experiment: dict[str, Any]
) -> None:
    grids = {"C": [1, 2, 3, 4], "n_hidden": [7]}
    experiment["models"]["ELM"]["except"] = {"wdbc": {"search": grids}}
    for profile, C in (("paper", [1, 2, 3, 4]), ("ci", [1, 3])):
        spec = table(profile)
        result = spec.models["ELM"].adapt("wdbc").grid
        assert result.values == {"C": C, "n_hidden": [7]}
        elsewhere = spec.models["ELM"].adapt("sylva").grid
        assert elsewhere == spec.grids.select(["n_hidden", "C"])

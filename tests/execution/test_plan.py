"""Plans: the cells that are asked for, and what leads to them."""

import json
from typing import Any

import pytest
from made_runs import MakePlan
from made_work import needs, units
from toy_plans import families, keys, kinds

from elmbench.errors import ElmbenchError
from elmbench.tasks.base import key_of

# --- What is planned
# -------------------------------------------------------------------------------------------------


def test_every_cell_once_and_every_unit_after_what_it_needs(
    plan_toy: MakePlan, experiment: dict[str, Any]
) -> None:
    for select in (("nested",), ("oracle",), ("nested", "oracle")):
        plan = plan_toy(experiment, select=select)
        assert len(plan.cells) == len(keys(plan)) == 4 * 2 * 3 * len(select)
        seen: set[str] = set()
        for key, unit in units(plan).items():
            assert key == key_of(unit)
            assert seen.issuperset(needs(unit))
            seen.add(key)
        assert {row.key for row in plan.cells} <= set(units(plan))
        needed = {name for unit in units(plan).values() for name in needs(unit)}
        assert set(units(plan)) == needed | {row.key for row in plan.cells}
        json.dumps(units(plan))


@pytest.mark.parametrize("runs", [100_000, 10**9, 10**30])
def test_more_cells_than_anybody_waits_for_are_refused_before_they_are_planned(
    plan_toy: MakePlan, experiment: dict[str, Any], runs: int
) -> None:
    with pytest.raises(
        ElmbenchError, match=f"cells or more, with {runs} runs of 3 folds"
    ) as error:
        plan_toy(experiment, runs=runs)
    assert error.value.expected == "at most 100,000 cells"


def test_a_stand_in_is_planned_and_can_be_asked_for(
    plan_toy: MakePlan, experiment: dict[str, Any]
) -> None:
    content = experiment | {
        "datasets": ["sylva"],
        "profiles": {"ci": {"stand-ins": ["wdbc"], "runs": 1}},
    }
    # Without the profile it can be asked for as any other data set for the task of the table.
    for request in (
        {"profile": "ci"},
        {"profile": "ci", "datasets": ("wdbc",)},
        {"datasets": ("wdbc",)},
    ):
        assert {row.dataset for row in plan_toy(content, **request).cells} == {"wdbc"}


def test_nested_searches_each_fold_and_shares_along_chains(
    plan_toy: MakePlan, experiment: dict[str, Any]
) -> None:
    plan = plan_toy(experiment)
    # ELM, K-ELM and FB-KOS-ELM search; OS-ELM takes ELM's.
    assert kinds(plan) == {"cell": 24, "search": 18}
    for row in plan.cells:
        cell = units(plan)[row.key]
        search = units(plan)[cell["chosen"]]
        assert (
            (search["run"], search["fold"])
            == (cell["run"], cell["fold"])
            == (row.run, row.fold)
        )
        assert search["dataset"] == cell["dataset"]
        if row.model == "OS-ELM":
            assert (search["model"], search["stream"], cell["stream"]) == (
                "elm",
                "elm",
                "elm",
            )
            assert search["grid"] == {"n_hidden": [10, 20], "C": [1, 8]}
            assert cell["params"] == {"initial_batch": 50}
        if row.model == "FB-KOS-ELM":
            assert search["grid"] == {"budget": [5, 10, 15]}
            assert units(plan)[search["given"]]["model"] == "k-elm"
            assert units(plan)[search["given"]]["fold"] == row.fold
            assert cell["stream"] == "k-elm"


def test_oracle_evaluates_every_fold_and_chooses_once(
    plan_toy: MakePlan, experiment: dict[str, Any]
) -> None:
    plan = plan_toy(experiment, select=("oracle",))
    assert kinds(plan) == {"cell": 24, "grid": 18, "choice": 3}
    for unit in units(plan).values():
        if unit["kind"] == "choice":
            folds = [
                (units(plan)[key]["run"], units(plan)[key]["fold"])
                for key in unit["evaluated"]
            ]
            assert folds == [(run, fold) for run in range(2) for fold in range(3)]
    choices = {(row.model, units(plan)[row.key]["chosen"]) for row in plan.cells}
    assert len(choices) == 4
    assert len({choice for _, choice in choices}) == 3  # OS-ELM has ELM's


@pytest.mark.usefixtures("without_data")
def test_published_hyperparameters_are_fixed(plan_table: MakePlan) -> None:
    plan = plan_table("table4", profile="fast", datasets=("wdbc",), runs=1)
    assert kinds(plan) == {"cell": 15}
    result = {row.model: units(plan)[row.key]["params"] for row in plan.cells}
    elm, kernel = {"n_hidden": 300, "C": 192.0}, {"gamma": 0.3, "C": 98.0}
    assert result == {
        "ELM": elm,
        "K-ELM": kernel,
        "OS-ELM": elm | {"initial_batch": 250, "batch_size": 200},
        "FB-KOS-ELM": kernel | {"budget": 200},
        "ALD-KOS-ELM": kernel | {"delta": 0.65},
    }
    assert {row.select for row in plan.cells} == {"published"}
    # What a column fixes: F = 800 is the point of that experiment, although Table III prints 400.
    plan = plan_table("text-budget", profile="fast")
    assert {
        units(plan)[row.key]["params"]["budget"]
        for row in plan.cells
        if row.model == "FB-KOS-ELM"
    } == {800}


def test_a_column_without_printed_hyperparameters_is_searched_and_those_beside_it_too(
    plan_table: MakePlan,
) -> None:
    request: dict[str, Any] = {
        "profile": "fast",
        "datasets": ("wdbc",),
        "models": ("K-ELM", "svm"),
        "runs": 1,
    }
    plan = plan_table("table4", **request)
    assert {row.model: row.select for row in plan.cells} == {
        "K-ELM": "nested",
        "svm": "nested",
    }
    assert {
        unit["model"] for unit in units(plan).values() if unit["kind"] == "search"
    } == {
        "k-elm",
        "svm",
    }
    plan = plan_table("table4", **request, select=("published",))
    assert {row.model: row.select for row in plan.cells} == {
        "K-ELM": "published",
        "svm": "nested",
    }
    assert {
        unit["model"] for unit in units(plan).values() if unit["kind"] == "search"
    } == {"svm"}
    # A cell stands once although two selections come to the same.
    plan = plan_table(
        "table4",
        datasets=("wdbc",),
        models=("svm",),
        runs=1,
        select=("published", "nested"),
    )
    assert len(plan.cells) == 3


# --- What is asked for
# -----------------------------------------------------------------------------------------------


def test_columns_by_any_of_their_names_and_baselines_beside_them(
    plan_table: MakePlan,
) -> None:
    for name in ("K-ELM", "k-elm", "K-elm"):
        assert {
            row.model
            for row in plan_table("table4", datasets=("wdbc",), models=(name,)).cells
        } == {"K-ELM"}
    both = plan_table("table4", datasets=("WDBC",), models=("kos-elm", "ELM"))
    assert {row.model for row in both.cells} == {"kos-elm", "ELM"}
    result = {
        row.model
        for row in plan_table("table4", datasets=("wdbc",), with_baselines=True).cells
    }
    assert {
        "ELM",
        "K-ELM",
        "OS-ELM",
        "FB-KOS-ELM",
        "ALD-KOS-ELM",
        "ridge",
        "svm",
        "extra-trees",
    } <= result


def test_data_that_are_not_here(plan_table: MakePlan) -> None:
    plan = plan_table(
        "table4",
        profile="fast",
        datasets=("sylva", "wdbc"),
        models=("K-ELM", "svm"),
        runs=1,
    )
    missing = [row for row in plan.cells if row.dataset == "sylva"]
    assert len(missing) == 20
    assert all(
        "elmbench data fetch sylva" in row.unavailable and not row.key
        for row in missing
    )
    # Under the selections that they would have if the data were here.
    assert {row.model: row.select for row in missing} == {
        "K-ELM": "nested",
        "svm": "nested",
    }
    assert {unit["dataset"]["name"] for unit in units(plan).values()} == {"wdbc"}


def test_runs_are_added_to_but_make_another_choice_of_oracle(
    plan_toy: MakePlan, experiment: dict[str, Any]
) -> None:
    """Cells that were chosen over fewer runs must not stand beside those chosen over more."""
    few, many = plan_toy(experiment, runs=1), plan_toy(experiment, runs=5)
    assert keys(few).items() <= keys(many).items()
    assert families(few) == families(many)
    few, many = (plan_toy(experiment, runs=runs, select=("oracle",)) for runs in (1, 2))
    assert not set(families(few).values()) & set(families(many).values())
    assert not set(keys(few).values()) & set(keys(many).values())
    evaluated = [
        {key for key, unit in units(plan).items() if unit["kind"] == "grid"}
        for plan in (few, many)
    ]
    # What has no chain before it is evaluated once.
    assert len(evaluated[0] & evaluated[1]) == 6


def test_a_data_set_may_be_generated_with_an_option_fixed(
    plan_toy: MakePlan, experiment: dict[str, Any]
) -> None:
    dense, thin = names = [f"sparse-10k[density={density}]" for density in (0.6, 0.01)]
    outer = {
        "kind": "holdout",
        "runs": 2,
        "sizes": {dense: {"train": 500, "test": 100}, thin: {"train": 400}},
    }
    content = experiment | {
        "datasets": names,
        "protocol": experiment["protocol"] | {"outer": outer},
    }
    plan = plan_toy(content)
    assert {cell.dataset for cell in plan.cells} == set(names)
    result = {unit["dataset"]["name"]: unit for unit in units(plan).values()}
    assert result[dense]["protocol"]["outer"] == {
        "kind": "holdout",
        "train": 500,
        "test": 100,
    }
    assert result[thin]["protocol"]["outer"] == {
        "kind": "holdout",
        "train": 400,
        "test": None,
    }
    # Each is redrawn in each run.
    assert len({unit["dataset"]["identity"] for unit in units(plan).values()}) == 4
    assert {
        cell.dataset
        for cell in plan_toy(content, datasets=("sparse-10k[density=.01]",)).cells
    } == {thin}
    with pytest.raises(ElmbenchError, match="sizes says nothing of sparse-10k"):
        plan_toy(content, datasets=("sparse-10k",))
    content["protocol"]["outer"]["sizes"][dense]["rows"] = 1
    with pytest.raises(ElmbenchError, match=r"sizes\.sparse-10k\[density=0\.6\]\.rows"):
        plan_toy(content)

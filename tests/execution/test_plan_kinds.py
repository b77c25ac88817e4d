"""Plans of tables that choose by a divergence, or choose nothing: curves and rank correlations."""

import json
from typing import Any

import pytest
from made_runs import MakePlan
from made_work import needs, seconds_of, task_from_content, units
from sentences import pattern
from toy_plans import kinds

from elmbench.errors import ElmbenchError
from elmbench.tasks.base import key_of
from elmbench.tasks.plan import Plan


@pytest.fixture
def plan_by(plan_toy: MakePlan, experiment: dict[str, Any]) -> MakePlan:
    """Plan one run of the tests' table: `plan_by("dcs-kde", dcs="as-printed", ...)`."""

    def plan(
        criterion: str,
        dcs: str = "corrected",
        settings: dict[str, Any] | None = None,
        **request: Any,
    ) -> Plan:
        experiment["protocol"]["criterion"] = criterion
        experiment["options"] = {} if criterion == "score" else {"dcs": dcs}
        experiment["profiles"]["fast"] = settings or {}
        return plan_toy(experiment, profile="fast", **{"runs": 1} | request)

    return plan


def of_kind(plan: Plan, kind: str) -> set[str]:
    return {key for key, unit in units(plan).items() if unit["kind"] == kind}


def test_a_choice_a_fold_from_one_evaluation(plan_by: MakePlan) -> None:
    plan = plan_by("dcs-gaussians")
    assert kinds(plan) == {"cell": 12, "divergence": 9, "choice": 9}
    for row in plan.cells:
        assert row.select == "nested"
        choice = units(plan)[units(plan)[row.key]["chosen"]]
        (evaluated,) = (units(plan)[key] for key in choice["evaluated"])
        assert (evaluated["fold"], evaluated["grid"]) == (row.fold, choice["grid"])
        assert not {"inner", "metric", "dcs", "criterion"}.intersection(evaluated)
        if row.model == "FB-KOS-ELM":
            # It takes over what K-ELM's projections chose, not how far they were apart.
            assert evaluated["given"] == choice["given"]
            assert units(plan)[choice["given"]]["kind"] == "choice"


def test_both_criteria_and_both_forms_share_the_evaluations(plan_by: MakePlan) -> None:
    gaussians, kde = plan_by("dcs-gaussians"), plan_by("dcs-kde")
    printed, same = (
        plan_by("dcs-gaussians", "as-printed"),
        plan_by("dcs-kde", "as-printed"),
    )
    models = [
        {units(plan)[key]["model"] for key in of_kind(plan, "divergence")}
        for plan in (gaussians, kde)
    ]
    assert models == [{"elm", "k-elm", "fb-kos-elm"}] * 2
    firsts = {
        key
        for key in of_kind(gaussians, "divergence")
        if units(gaussians)[key]["given"] is None
    }
    assert len(firsts) == 6
    for other in (kde, printed):
        assert firsts <= of_kind(other, "divergence")
        assert not of_kind(gaussians, "choice") & of_kind(other, "choice")
        assert not {row.key for row in gaussians.cells} & {
            row.key for row in other.cells
        }
        assert not {row.family for row in gaussians.cells} & {
            row.family for row in other.cells
        }
    # The printed formula is of Gaussians: estimates by kernels have no other form.
    assert units(same) == units(kde)
    assert same.cells == kde.cells


def test_what_is_chosen_by_a_score_is_what_it_was_and_so_is_the_oracle(
    plan_by: MakePlan, plan_toy: MakePlan
) -> None:
    before = plan_by("score")
    after = plan_by("score", "as-printed")
    assert (units(before), before.cells) == (units(after), after.cells)
    assert kinds(before) == {"cell": 12, "search": 9}
    assert units(plan_by("dcs-kde", select=("oracle",))) == units(
        plan_by("score", select=("oracle",))
    )


def test_fewer_rows_to_tune_on_are_another_evaluation(plan_by: MakePlan) -> None:
    few, all_rows = plan_by("dcs-kde", settings={"tune-rows": 100}), plan_by("dcs-kde")
    assert not of_kind(few, "divergence") & of_kind(all_rows, "divergence")
    assert not {row.family for row in few.cells} & {
        row.family for row in all_rows.cells
    }
    for smaller, larger in zip(
        units(few).values(), units(all_rows).values(), strict=True
    ):
        if smaller["kind"] == "divergence" and smaller["model"] == "k-elm":
            assert 0 < seconds_of(smaller) < seconds_of(larger)
            assert (
                task_from_content(smaller).number_of_fits
                == task_from_content(larger).number_of_fits
                == 8
            )


# --- Nothing is chosen
# -----------------------------------------------------------------------------------------------


@pytest.fixture
def curves(experiment: dict[str, Any]) -> dict[str, Any]:
    experiment["layout"] = "curves"
    experiment["protocol"] |= {"select": "published", "metrics": ["gmean"]}
    experiment["models"] = {
        "EEM-RBF": {
            "model": "eem",
            "search": ["n_hidden"],
            "params": {"activation": "rbf"},
        }
    }
    return experiment


@pytest.fixture
def spearman(curves: dict[str, Any]) -> dict[str, Any]:
    curves["layout"] = "rank-correlation"
    curves["models"] = {"random projection": curves["models"]["EEM-RBF"]}
    return curves


def units_of(plan: Plan) -> list[dict[str, Any]]:
    for key, unit in units(plan).items():
        assert key == key_of(unit)
        assert not needs(unit)
    json.dumps(units(plan))
    assert {row.key for row in plan.cells} == set(units(plan))
    assert {row.select for row in plan.cells} == {"published"}
    return list(units(plan).values())


def test_no_selection_that_is_asked_for_matters(
    plan_toy: MakePlan, curves: dict[str, Any]
) -> None:
    """Nothing is chosen: the cells are filed under what the table says."""
    for declared in ("published", "oracle"):
        curves["protocol"]["select"] = declared
        for asked in ((), ("nested",), ("oracle", "nested")):
            plan = plan_toy(curves, select=asked)
            assert len(plan.cells) == 6
            assert {row.select for row in plan.cells} == {declared}


def test_a_curve_a_fold(plan_toy: MakePlan, curves: dict[str, Any]) -> None:
    plan = plan_toy(curves)
    units = units_of(plan)
    places = [(run, fold) for run in range(2) for fold in range(3)]
    assert [(unit["kind"], unit["run"], unit["fold"]) for unit in units] == [
        ("curve", *place) for place in places
    ]
    assert [(row.run, row.fold) for row in plan.cells] == places
    for unit in units:
        assert (unit["grid"], unit["metric"]) == ({"n_hidden": [10, 20]}, "gmean")
        assert unit["params"] == {"activation": "rbf"}
        assert task_from_content(unit).number_of_fits == 2
        assert seconds_of(unit) > 0


def test_a_correlation_a_run(plan_toy: MakePlan, spearman: dict[str, Any]) -> None:
    plan = plan_toy(spearman)
    units = units_of(plan)
    assert [(unit["kind"], unit["run"]) for unit in units] == [
        ("correlation", 0),
        ("correlation", 1),
    ]
    assert [(row.run, row.fold) for row in plan.cells] == [(0, 0), (1, 0)]
    for unit in units:
        assert unit["draws"] == {"projections": 100, "operators": 100}
        assert unit["protocol"] == {"scale": {"range": [0.0, 1.0], "fit-on": "all"}}
        assert "fold" not in unit
        assert task_from_content(unit).number_of_fits == 0
        assert 0 < seconds_of(unit) < 1000


@pytest.mark.parametrize(
    ("layout", "change", "same"),
    [
        # What hyperparameters are chosen by concerns no curve.
        ("curves", {"protocol": {"select": "oracle"}}, True),
        ("curves", {"protocol": {"criterion": "dcs-kde"}}, True),
        (
            "curves",
            {
                "protocol": {
                    "outer": {"kind": "stratified-kfold", "folds": 4, "runs": 2}
                }
            },
            False,
        ),
        ("curves", {"grids": {"n_hidden": [10, 30]}}, False),
        ("curves", {"protocol": {"metrics": ["mcc"]}}, False),
        # A correlation is over all rows, so there are no folds; and no metric of a model.
        (
            "rank-correlation",
            {"protocol": {"outer": {"kind": "kfold", "folds": 9, "runs": 2}}},
            True,
        ),
        ("rank-correlation", {"protocol": {"metrics": ["mcc"]}}, True),
        ("rank-correlation", {"options": {"dcs": "as-printed"}}, False),
        ("rank-correlation", {"options": {"projections": 5}}, False),
        ("rank-correlation", {"protocol": {"scale": None}}, False),
    ],
)
def test_what_a_measurement_depends_on(
    plan_toy: MakePlan,
    curves: dict[str, Any],
    layout: str,
    change: dict[str, Any],
    same: bool,
) -> None:
    curves["layout"] = layout
    before = plan_toy(curves)
    after = plan_toy(
        curves | {name: curves.get(name, {}) | value for name, value in change.items()}
    )
    assert (units(before) == units(after)) is same
    assert bool(set(units(before)) & set(units(after))) is same
    assert (
        {row.family for row in before.cells} == {row.family for row in after.cells}
    ) is same


def test_columns_of_other_models(
    plan_toy: MakePlan, curves: dict[str, Any], spearman: dict[str, Any]
) -> None:
    """A curve needs one hyperparameter, no fewer and no more. A correlation has its own columns
    only.
    """
    for request in ({"with_baselines": True}, {"models": ("eem",)}):
        assert {row.model for row in plan_toy(spearman, **request).cells} == {
            "random projection"
        }
    curves["layout"] = "curves"
    assert {row.model for row in plan_toy(curves, models=("w-elm", "svm")).cells} == {
        "w-elm"
    }
    with pytest.raises(ElmbenchError):
        plan_toy(curves, models=("svm",))
    with pytest.raises(
        ElmbenchError,
        match=pattern("execution.plan.grid-of-a-table-of-curves", model="w-elm"),
    ):
        plan_toy(curves, models=("w-elm",), grids={"w-elm": {"n_hidden": [7]}})


@pytest.mark.parametrize(("layout", "cells"), [("curves", 6), ("rank-correlation", 2)])
def test_data_that_are_not_here(
    plan_toy: MakePlan, curves: dict[str, Any], layout: str, cells: int
) -> None:
    rows = plan_toy(curves | {"layout": layout, "datasets": ["australian"]}).cells
    assert len(rows) == cells
    assert all(row.unavailable and row.select == "published" for row in rows)


@pytest.mark.parametrize(
    ("layout", "model", "message"),
    [
        ("curves", {"search": []}, "searches nothing; expected one hyperparameter"),
        (
            "curves",
            {"like": "first"},
            pattern("execution.plan.like-a-column-that-takes-over", column="first"),
        ),
        ("rank-correlation", {"search": ["C"]}, "searches C; expected n_hidden"),
        ("rank-correlation", {"params": {}}, "lacks activation"),
    ],
)
def test_columns_that_make_no_sense(
    plan_toy: MakePlan,
    curves: dict[str, Any],
    layout: str,
    model: dict[str, Any],
    message: str,
) -> None:
    good = curves["models"]["EEM-RBF"]
    with pytest.raises(ElmbenchError, match=message):
        plan_toy(
            curves
            | {"layout": layout, "models": {"first": good, "second": good | model}}
        )


@pytest.mark.usefixtures("without_data")
def test_a_description_counts_the_parts_where_they_are_printed(
    plan_table: MakePlan,
) -> None:
    def splits(table: str) -> dict[str, Any]:
        plan = plan_table(table, profile="paper")
        return {
            unit["dataset"]["name"]: unit.get("outer") for unit in units(plan).values()
        }

    result = splits("rkelm/table1")
    assert result["satimage"] == {"kind": "holdout", "train": 4435, "test": 2000}
    assert result["usps"] == {"kind": "holdout", "train": None, "test": 2000}
    assert set(splits("eem/table3").values()) == {None}

"""Plans of curves over one hyperparameter and of rank correlations: nothing is chosen."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from made_work import needs, seconds_of, units, work_of

from elmbench.errors import ElmbenchError
from elmbench.work.base import key_of
from elmbench.work.plan import Plan

MakePlan = Callable[..., Plan]


@pytest.fixture
def curves(experiment: dict[str, Any]) -> dict[str, Any]:
    experiment["layout"] = "curves"
    experiment["protocol"] |= {"select": "published", "metrics": ["gmean"]}
    experiment["models"] = {"EEM-RBF": {"model": "eem", "search": ["n_hidden"], "params": {"activation": "rbf"}}}
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


def test_no_selection_that_is_asked_for_matters(plan_toy: MakePlan, curves: dict[str, Any]) -> None:
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
    assert [(unit["kind"], unit["run"], unit["fold"]) for unit in units] == [
        ("curve", run, fold) for run in range(2) for fold in range(3)
    ]
    assert [(row.run, row.fold) for row in plan.cells] == [(unit["run"], unit["fold"]) for unit in units]
    for unit in units:
        assert (unit["grid"], unit["params"], unit["metric"]) == (
            {"n_hidden": [10, 20]},
            {"activation": "rbf"},
            "gmean",
        )
        assert work_of(unit).number_of_fits == 2
        assert seconds_of(unit) > 0


def test_what_a_curve_depends_on(plan_toy: MakePlan, curves: dict[str, Any]) -> None:
    before = plan_toy(curves)
    changes: list[dict[str, Any]] = [
        {"protocol": {"select": "oracle"}},
        {"protocol": {"criterion": "dcs-kde"}},
        {"protocol": {"outer": {"folds": 4}}},
        {"grids": {"n_hidden": [10, 30]}},
        {"protocol": {"metrics": ["mcc"]}},
    ]
    for i, change in enumerate(changes):
        for section, values in change.items():
            curves[section] = curves.get(section, {}) | {
                name: curves[section][name] | value if name == "outer" else value for name, value in values.items()
            }
        after = plan_toy(curves)
        # What hyperparameters are chosen by concerns no curve.
        same = i < 2
        assert ({row.family for row in before.cells} == {row.family for row in after.cells}) is same
        assert bool(set(units(before)) & set(units(after))) is same
        before = after


def test_a_correlation_a_run(plan_toy: MakePlan, spearman: dict[str, Any]) -> None:
    plan = plan_toy(spearman)
    units = units_of(plan)
    assert [(unit["kind"], unit["run"]) for unit in units] == [("correlation", 0), ("correlation", 1)]
    assert [(row.run, row.fold) for row in plan.cells] == [(0, 0), (1, 0)]
    for unit in units:
        assert unit["draws"] == {"projections": 100, "operators": 100}
        assert unit["protocol"] == {"scale": {"range": [0.0, 1.0], "fit-on": "all"}}
        assert "fold" not in unit
        assert work_of(unit).number_of_fits == 0
        assert 0 < seconds_of(unit) < 1000


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"outer": {"kind": "kfold", "folds": 9, "runs": 2}}, True),
        ({"metrics": ["mcc"]}, True),
        ({"options": {"dcs": "as-printed"}}, False),
        ({"options": {"projections": 5}}, False),
        ({"scale": None}, False),
    ],
)
def test_what_a_correlation_depends_on(
    plan_toy: MakePlan, spearman: dict[str, Any], change: dict[str, Any], same: bool
) -> None:
    """All rows are looked at, so no folds; and no metric of a model."""
    before = plan_toy(spearman)
    spearman["options"] = change.pop("options", {})
    spearman["protocol"] |= change
    after = plan_toy(spearman)
    assert (units(before) == units(after)) is same
    assert (before.cells == after.cells) is same


def test_columns_of_other_models(plan_toy: MakePlan, curves: dict[str, Any]) -> None:
    """A curve needs one hyperparameter; what has none or more is not a curve."""
    result = plan_toy(curves, models=("w-elm", "svm"))
    assert {row.model for row in result.cells} == {"w-elm"}
    with pytest.raises(ElmbenchError):
        plan_toy(curves, models=("svm",))


def test_a_correlation_has_its_own_columns_only(plan_toy: MakePlan, spearman: dict[str, Any]) -> None:
    assert {row.model for row in plan_toy(spearman, with_baselines=True).cells} == {"random projection"}
    assert {row.model for row in plan_toy(spearman, models=("eem",)).cells} == {"random projection"}


def test_data_that_are_not_here(plan_toy: MakePlan, curves: dict[str, Any], spearman: dict[str, Any]) -> None:
    for layout, cells in (("curves", 6), ("rank-correlation", 2)):
        spearman |= {"layout": layout, "datasets": ["australian"]}
        rows = plan_toy(spearman).cells
        assert len(rows) == cells
        assert all(row.unavailable and row.select == "published" for row in rows)


@pytest.mark.parametrize(
    ("layout", "model", "message"),
    [
        ("curves", {"search": []}, "searches nothing; expected one hyperparameter"),
        ("curves", {"like": "first"}, "is like 'first'; expected a column that takes over nothing"),
        ("rank-correlation", {"search": ["C"]}, "searches C; expected n_hidden"),
        ("rank-correlation", {"params": {}}, "lacks activation"),
    ],
)
def test_columns_that_make_no_sense(
    plan_toy: MakePlan, spearman: dict[str, Any], layout: str, model: dict[str, Any], message: str
) -> None:
    good = spearman["models"]["random projection"]
    spearman |= {"layout": layout, "models": {"first": good, "second": good | model}}
    with pytest.raises(ElmbenchError, match=message):
        plan_toy(spearman)


def test_a_description_counts_the_parts_where_they_are_printed(plan_table: MakePlan) -> None:
    def splits(table: str) -> dict[str, Any]:
        plan = plan_table(table, profile="paper", without_data=True)
        return {unit["dataset"]["name"]: unit.get("outer") for unit in units(plan).values()}

    result = splits("rkelm/table1")
    assert result["satimage"] == {"kind": "holdout", "train": 4435, "test": 2000}
    assert result["usps"] == {"kind": "holdout", "train": None, "test": 2000}
    assert set(splits("eem/table3").values()) == {None}

"""Plans of tables whose hyperparameters are chosen by a divergence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from made_work import seconds_of, units, work_of
from toy_plans import kinds

from elmbench.work.plan import Plan

MakePlan = Callable[..., Plan]


@pytest.fixture
def plan_by(plan_toy: MakePlan, experiment: dict[str, Any]) -> MakePlan:
    """Plan one run of the tests' table: `plan_by("dcs-kde", dcs="as-printed", ...)`."""

    def plan(criterion: str, dcs: str = "corrected", settings: dict[str, Any] | None = None, **request: Any) -> Plan:
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
    printed, same = plan_by("dcs-gaussians", "as-printed"), plan_by("dcs-kde", "as-printed")
    models = [{units(plan)[key]["model"] for key in of_kind(plan, "divergence")} for plan in (gaussians, kde)]
    assert models == [{"elm", "k-elm", "fb-kos-elm"}] * 2
    firsts = {key for key in of_kind(gaussians, "divergence") if units(gaussians)[key]["given"] is None}
    assert len(firsts) == 6
    for other in (kde, printed):
        assert firsts <= of_kind(other, "divergence")
        assert not of_kind(gaussians, "choice") & of_kind(other, "choice")
        assert not {row.key for row in gaussians.cells} & {row.key for row in other.cells}
        assert not {row.family for row in gaussians.cells} & {row.family for row in other.cells}
    # The printed formula is of Gaussians: estimates by kernels have no other form.
    assert units(same) == units(kde)
    assert same.cells == kde.cells


def test_what_is_chosen_by_a_score_is_what_it_was(plan_by: MakePlan, plan_toy: MakePlan) -> None:
    before = plan_by("score")
    after = plan_by("score", "as-printed")
    assert (units(before), before.cells) == (units(after), after.cells)
    assert kinds(before) == {"cell": 12, "search": 9}


def test_the_oracle_goes_by_the_score_whatever_the_criterion(plan_by: MakePlan) -> None:
    assert units(plan_by("dcs-kde", select=("oracle",))) == units(plan_by("score", select=("oracle",)))


def test_fewer_rows_to_tune_on_are_another_evaluation(plan_by: MakePlan) -> None:
    few, all_rows = plan_by("dcs-kde", settings={"tune-rows": 100}), plan_by("dcs-kde")
    assert not of_kind(few, "divergence") & of_kind(all_rows, "divergence")
    assert not {row.family for row in few.cells} & {row.family for row in all_rows.cells}
    for smaller, larger in zip(units(few).values(), units(all_rows).values(), strict=True):
        if smaller["kind"] == "divergence" and smaller["model"] == "k-elm":
            assert 0 < seconds_of(smaller) < seconds_of(larger)
            assert work_of(smaller).number_of_fits == work_of(larger).number_of_fits == 8

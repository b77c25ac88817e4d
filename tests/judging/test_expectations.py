"""The strict check: verdicts that say no, and expectations that no longer hold."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from made_cells import committed
from pydantic import ValidationError
from sentences import pattern, sentence

from elmbench.judging.expectations import StrictOutcome, check_strictly
from elmbench.judging.judged_paper import JudgedPaper
from elmbench.judging.judged_table import JudgedTable
from elmbench.report.verdict_sentences import state_text
from elmbench.specs.claims import Expectation

FAILING = "fast/eem/table1"
HOLDING = "paper/eem/table4"
WHOLE = {
    "metric": "spearman",
    "verdict": "does not hold",
    "reason": "no reading gives it",
}


def outcome_of(name: str, *expect: dict[str, Any]) -> StrictOutcome:
    """Return the strict outcome of a committed table with these expectations."""
    results = committed(name)
    original = results.resolved.file
    file = replace(original, content=original.content | {"expect": list(expect)})
    table = JudgedTable(file, [results.judged])
    return check_strictly([JudgedPaper(file.paper, [table])])


def test_a_table_that_does_not_hold_is_an_objection() -> None:
    outcome = outcome_of(FAILING)
    assert outcome.objections == (
        sentence(
            "report.expectations.verdict-of-metric",
            table="eem/table1",
            metric="spearman",
        ),
    )
    assert outcome.exit_code == 1


def test_an_expected_verdict_is_no_objection() -> None:
    outcome = outcome_of(FAILING, WHOLE)
    assert (outcome.objections, outcome.exit_code) == ((), 0)


def test_a_table_that_holds_but_for_some_models_is_no_objection() -> None:
    outcome = outcome_of(HOLDING)
    assert (outcome.objections, outcome.exit_code) == ((), 0)


def test_an_expectation_that_a_table_holds_accepts_no_exceptions() -> None:
    verdict = state_text(committed(HOLDING).judged.verdicts[0])
    assert verdict.startswith(sentence("report.papers.exceptions-of-eem-table4"))
    holds = {"metric": "gmean", "verdict": "holds", "reason": "as printed"}
    (objection,) = outcome_of(HOLDING, holds).objections
    assert f"is {verdict}; expected holds" in objection
    assert outcome_of(HOLDING, holds | {"verdict": verdict}).exit_code == 0


def test_an_expectation_that_no_longer_holds_is_an_objection() -> None:
    outcome = outcome_of(HOLDING, WHOLE | {"metric": "gmean"})
    assert outcome.objections == (
        sentence(
            "report.expectations.verdict-without-reading",
            table="eem/table4",
            metric="gmean",
            verdict=state_text(committed(HOLDING).judged.verdicts[0]),
        ),
    )
    assert outcome.exit_code == 1


@pytest.mark.parametrize(
    ("verdict", "code"), [("differs", 0), ("reproduced", 1)], ids=["right", "wrong"]
)
def test_a_value_may_have_an_expected_verdict(verdict: str, code: int) -> None:
    value = {"dataset": "ionosphere", "model": "LS-SVM-RBF", "metric": "gmean"}
    expected = {**value, "verdict": verdict, "reason": "gamma ends at 0.1"}
    assert outcome_of(HOLDING, expected).exit_code == code


@pytest.mark.parametrize(
    ("verdict", "objections"), [("exact", 1), ("differs", 0), ("not comparable", 0)]
)
def test_an_expected_value_in_which_nothing_is_random_needs_one_run(
    verdict: str, objections: int
) -> None:
    value = {"dataset": "wine", "model": "LDA", "metric": "accuracy"}
    lines = pd.DataFrame([value | {"runs": 1, "verdict": verdict}])
    expected = Expectation.model_validate(
        value | {"verdict": "differs", "reason": "one row"}
    )
    file = SimpleNamespace(id="a/table1", spec=SimpleNamespace(expect=(expected,)))
    table = SimpleNamespace(file=file, main_verdict=None, published_values=lines)
    paper: Any = SimpleNamespace(tables=[table], claims=[])
    assert len(check_strictly([paper]).objections) == objections


def test_a_claim_may_have_an_expected_verdict() -> None:
    claim = {"claim": "Results obtained for EEKM", "reason": "tested"}
    assert outcome_of(HOLDING, claim | {"verdict": "holds"}).exit_code == 0
    (objection,) = outcome_of(HOLDING, claim | {"verdict": "does not hold"}).objections
    assert (
        sentence(
            "report.expectations.verdict-of-claim",
            claim="Results obtained for EEKM",
        )
        in objection
    )


def test_what_is_undecided_decides_nothing() -> None:
    outcome = outcome_of("fast/eem/table4")
    assert (outcome.objections, outcome.exit_code) == ((), 3)


@pytest.mark.parametrize(
    "subject",
    [{}, {"dataset": "heart"}, {"claim": "x", "metric": "gmean"}, {"model": "y"}],
)
def test_an_expectation_has_one_subject(subject: dict[str, str]) -> None:
    with pytest.raises(
        ValidationError, match=pattern("report.expectations.unknown-key")
    ):
        Expectation.model_validate({"verdict": "holds", "reason": "r"} | subject)

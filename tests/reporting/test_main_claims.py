"""The main claims of the papers, and the claims of a paper over its tables and profiles."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rich.text import Text

import elmbench
from elmbench.cli.checks import published_text
from elmbench.reporting.claim_outcomes import ClaimOutcome
from elmbench.reporting.comparisons import Finding
from elmbench.reporting.folders import ResultsDirs
from elmbench.reporting.papers import answer_papers, main_claims, result_in_words
from elmbench.reporting.site.gather import gather
from elmbench.specs.catalogue import find_experiment, load_catalogue
from elmbench.specs.experiments import Claim
from elmbench.workflow.checks import check_published

RESULTS = ResultsDirs(Path(elmbench.__file__).parents[1] / "results")
PAPERS = {file.spec.paper: file.paper for file in load_catalogue().values()}


@pytest.mark.parametrize("key", PAPERS)
def test_a_main_claim_names_claims_that_the_tables_declare(key: str) -> None:
    mains = PAPERS[key].main_claims
    # Of one paper there is a page without abstract and conclusion.
    assert 5 <= len(mains) <= 8 or key == "mk-elm"
    for main in mains:
        for table, beginnings in main.tested_by.items():
            declared = [claim.says for claim in find_experiment(table).spec.claims]
            for beginning in beginnings:
                assert any(says.startswith(beginning) for says in declared), (table, beginning)


def test_the_result_of_a_main_claim_counts_its_statements() -> None:
    above = Claim.model_validate(
        {"says": "it is", "dataset": "a", "metric": "mcc", "model": "m", "is": "above", "than": ["n"]}
    )
    fails = ClaimOutcome(above, "does not hold")
    undecided, holds = replace(fails, verdict="undecided"), replace(fails, verdict="holds")
    assert result_in_words([holds]) == "holds"
    assert result_in_words([fails, undecided, holds, fails]) == "1 holds, 2 do not hold, 1 undecided"
    # Far less than a third of the time is not a third, but no slower.
    time = {"metric": "fit_seconds", "is": "between", "between": [0.2, 0.5]}
    third = Claim.model_validate(above.model_dump(by_alias=True) | time)
    result = ClaimOutcome(third, "does not hold", finding=Finding("t", 0.01, 1.0, 0.0, 3, "runs"))
    assert result_in_words([result]) == "ratio smaller than stated"
    assert result_in_words([replace(result, finding=Finding("t", 2.0, 1.0, 0.0, 3, "runs")), holds]) == (
        "1 holds, 1 ratio larger than stated"
    )


def test_check_and_site_test_the_same_claims_of_all_profiles() -> None:
    (paper,) = gather(RESULTS, lambda files: [file for file in files if file.spec.paper == "kos-elm"])
    on_site = [(one.table, one.outcome.record()) for one in paper.claims]
    tables = [table.file.id for table in paper.tables if table.results]
    checks = check_published(tables, None, RESULTS)
    checked = [(check.experiment, claim) for check in checks for claim in check.claims]
    assert [(table, claim | {"profile": ""}) for table, claim in on_site] == [
        (table, claim | {"profile": ""}) for table, claim in checked
    ]
    assert paper.answer is not None
    (answer,) = answer_papers(results for check in checks for results in check.every_profile)
    assert answer.sentences == paper.answer.sentences
    lines = [text.plain for text in published_text(checks).renderables if isinstance(text, Text)]
    assert sum(text.startswith("- claim ") for text in lines) == len(PAPERS["kos-elm"].main_claims)
    # Sylva has results under the profile `fast` only, WDBC under `paper` too.
    profiles = {claim["dataset"]: claim["profile"] for table, claim in checked if table == "kos-elm/table4"}
    assert profiles == {"wdbc": "paper", "sylva": "fast"}
    shown = list(main_claims(paper.claims))
    assert [main for main, _, _ in shown] == list(PAPERS["kos-elm"].main_claims)
    assert all(parts for _, _, parts in shown)

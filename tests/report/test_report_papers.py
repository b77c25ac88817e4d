"""The sentences on a paper and its main claims, against the committed results that they are
about.
"""

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from made_cells import RESULTS, committed
from sentences import sentence

from elmbench.errors import ElmbenchError
from elmbench.judging.claim_outcomes import ClaimOutcome, result_in_words
from elmbench.judging.judged_paper import PublishedOnce, identify_published_value
from elmbench.judging.table_verdicts import MeasureVerdict, judge_table
from elmbench.judging.verdict_words import JUDGED, VERDICTS
from elmbench.numerics.significance import SignificanceResult
from elmbench.report.build_site import gather_papers
from elmbench.report.checks.published_tables import (
    check_published,
    published_json_dicts,
)
from elmbench.report.checks.text_blocks import check_blocks
from elmbench.report.papers import PaperResults, TableResults, papers_of
from elmbench.report.result_blocks import ResultBlocks
from elmbench.report.site.verdict_parts import measure_cells
from elmbench.report.verdict_sentences import (
    MEASURE_LEGEND,
    answer_sentence,
    measure_legend,
    state_text,
    table_sentence,
)
from elmbench.results import group_by
from elmbench.results.folders import ResultsDirs
from elmbench.specs.catalogue import find_experiment, load_catalogue
from elmbench.specs.claims import Claim
from elmbench.specs.profiles import resolve


def papers(*names: str) -> list[PaperResults]:
    """Return the papers of committed tables, the most faithful profile of a table first."""
    tables = group_by(
        map(committed, names), lambda table: table.resolved.file.id
    ).values()
    return papers_of(
        TableResults(group[0].resolved.file, tuple(group)) for group in tables
    )


def answer(*names: str) -> PaperResults:
    (result,) = papers(*names)
    return result


def test_the_sentences_on_a_table() -> None:
    table4 = answer("paper/eem/table4").sentences[1]
    verdict = committed("paper/eem/table4").judged.verdicts[0]
    order = verdict.order
    proposed = verdict.proposed_order
    assert 0 < proposed.n < order.n
    assert table4.startswith(
        sentence(
            "report.papers.sentence-on-eem-table4",
            median=100 * verdict.values.median.estimate,
            within=verdict.values.within,
            same=order.same,
            pairs=order.same + order.opposite,
            unseparated=order.unseparated,
            proposed_same=proposed.same,
            proposed_pairs=proposed.same + proposed.opposite,
            proposed_unseparated=proposed.unseparated,
        )
    )
    assert sentence("report.papers.one-more-rerun") in table4
    assert sentence("report.papers.p-of-one-run-and-of-a-mean", runs=10) in table4
    assert table4.endswith(f"Verdict: {state_text(verdict)}.")
    assert sentence("report.papers.exceptions-of-eem-table4") in table4
    fast = replace(verdict, profiles=("paper", "fast"))
    assert table_sentence("Table 4", fast).startswith(
        "G-means of Table 4 (profiles paper and fast)"
    )


def test_nothing_is_decided_by_one_run_which_has_no_interval() -> None:
    results = committed("paper/eem/table5")
    first_run = results.cells[results.cells["run"] == 0]
    one_run = replace(results, cells=first_run)
    (verdict,) = judge_table(one_run.judged.compared_values, results.resolved)
    text = table_sentence("Table 5", verdict)
    n_pairs = verdict.order.n
    assert n_pairs > 0
    assert sentence("report.papers.no-pair-separated", pairs=n_pairs) in text
    assert text.endswith("Verdict: undecided.")


def test_the_margin_of_a_paper_is_the_one_that_is_printed() -> None:
    verdict = replace(
        committed("paper/eem/table4").judged.verdicts[0],
        order_verdict=MeasureVerdict("holds"),
    )
    assert measure_legend([verdict]) == MEASURE_LEGEND
    changed = replace(verdict, unit=verdict.unit._replace(margin=0.025))
    assert "59 of 72 are within 2.5 points" in table_sentence("Table 4", changed)
    # The verdict names it, so that a wide margin cannot be overlooked.
    assert state_text(verdict) == "holds"
    assert state_text(changed) == "holds (margin 2.5 points, not 1 point)"
    answer = answer_sentence([("Table 4", changed)])
    assert answer.startswith("Table 4 (margin 2.5 points, not 1 point) holds.")
    assert changed.to_json_dict()["margin"] == 0.025
    assert changed.to_json_dict()["standard_margin"] == 0.01
    assert measure_legend([verdict, changed]).endswith(
        "Margins of the paper's file: gmean 2.5 points."
    )


def test_exceptions_and_what_a_verdict_rests_on_are_named() -> None:
    verdict = committed("paper/eem/table4").judged.verdicts[0]
    named = replace(
        verdict, order_verdict=MeasureVerdict("holds", exceptions=("EEM-SIG",))
    )
    text = table_sentence("Table 4", named)
    assert "(order holds but for EEM-SIG)" in text
    assert text.endswith("Verdict: holds but for EEM-SIG.")
    resting = replace(
        verdict, values_verdict=MeasureVerdict("undecided", rests_on="heart")
    )
    assert "(values undecided, as it rests on heart)" in table_sentence(
        "Table 4", resting
    )
    reversed_pair = MeasureVerdict("undecided", ("EEM-SIG and SVM-RBF on heart",))
    text = table_sentence("Table 4", replace(verdict, order_verdict=reversed_pair))
    assert sentence("report.papers.undecided-order") in text
    # Cells of the site have the same words.
    _, cell, _ = measure_cells(replace(verdict, order_verdict=reversed_pair))
    words = cell["state"] + cell["exceptions"]
    assert f"(order {words})" == sentence("report.papers.undecided-order")


def test_the_answer_on_a_paper() -> None:
    verdict = replace(
        committed("paper/eem/table4").judged.verdicts[0],
        order_verdict=MeasureVerdict("holds"),
    )
    fails = MeasureVerdict("does not hold")
    failing = replace(
        verdict, values_verdict=fails, order_verdict=fails, differences_verdict=fails
    )
    excepted = replace(
        verdict, values_verdict=MeasureVerdict("holds", exceptions=("heart",))
    )
    verdicts = (failing, verdict, excepted, failing)
    tables = [(f"Table {number}", one) for number, one in enumerate(verdicts, start=1)]
    values = verdict.values
    order = verdict.order
    assert answer_sentence(tables) == sentence(
        "report.papers.answer-on-four-tables",
        within=4 * values.within,
        values=4 * values.n,
        same=4 * order.same,
        pairs=4 * (order.same + order.opposite),
    )
    alone = answer_sentence(
        [("Table 1", replace(verdict, order=replace(order, pairs=())))]
    )
    assert alone == sentence(
        "report.papers.answer-on-one-table", within=values.within, values=values.n
    )


def test_papers_are_in_the_order_of_their_results() -> None:
    result = papers("paper/rkelm/table12", "paper/eem/table4", "paper/rkelm/table3")
    assert [one.paper.key for one in result] == ["rkelm", "eem"]
    assert answer("fast/kos-elm/figure3").sentences == []


def test_the_answer_without_compared_values_names_the_tables_that_ran() -> None:
    run, unrun = (
        answer("fast/eem/figure3"),
        TableResults(answer("paper/eem/table4").tables[0].file, ()),
    )
    assert (
        PaperResults(run.paper, (*run.tables, unrun)).answer
        == "No value of Fig. 3 is compared."
    )
    assert (
        PaperResults(run.paper, (unrun,)).answer == "No table or figure has been run."
    )


def test_the_counts_are_those_of_the_summary() -> None:
    result = answer("paper/eem/table4")
    summary = pd.read_csv(
        RESULTS / "paper/eem/table4/summary.csv", keep_default_na=False, na_values=[""]
    )
    part = summary[
        summary["reading"].isna()
        & (summary["select"] == "oracle")
        & summary["published"].notna()
    ]
    assert sum(result.judged.counts[0].values()) == len(part) == 81
    assert list(result.judged.values_by_verdict) == [*VERDICTS, "not run"]


def test_a_value_of_several_tables_counts_once() -> None:
    names = ("fast/rkelm/table5", "fast/rkelm/table12")
    entries = [
        (line.dataset, line.model, line.metric, line.published)
        for one in map(committed, names)
        for line in one.judged.published_values[
            one.judged.published_values["verdict"] != ""
        ].itertuples()
        if line.dataset != "waveform-drawn"
    ]
    assert len(set(entries)) == len(entries) - 3
    assert sum(answer(*names).judged.counts[0].values()) == len(set(entries))
    # An equal number under another criterion of the choice is another figure.
    alone = [
        sum(answer(f"paper/eem/table{number}").judged.counts[0].values())
        for number in (9, 10)
    ]
    assert sum(
        answer("paper/eem/table9", "paper/eem/table10").judged.counts[0].values()
    ) == sum(alone)


def test_facts_of_the_data_are_counted_apart() -> None:
    result = answer("fast/eem/table3", "paper/eem/table4")
    figures, facts = result.judged.counts
    assert figures == answer("paper/eem/table4").judged.counts[0]
    assert facts["reproduced"] == 57
    assert result.sentences[-1] == sentence(
        "report.papers.facts-of-data-sets", facts=57, all_facts=57
    )
    alone = answer("fast/eem/table3")
    assert alone.sentences == result.sentences[-1:]


def test_a_value_counts_under_the_profile_with_enough_runs() -> None:
    names = ("paper/rkelm/table3", "fast/rkelm/table3")
    paper, fast = (committed(name).judged.verdicts[0].values.n for name in names)
    # The other data sets are those of profile fast alone.
    text = answer(*names).sentences[1]
    assert text.startswith(sentence("report.papers.median-distance-of-table3"))
    assert f"17 of {fast} are within 3 %" in text
    assert paper < fast
    # Table 4 has one run of the SVM in profile paper and of all models in profile fast.
    counts = answer("paper/eem/table4", "fast/eem/table4").judged.counts[0]
    assert {name: counts[name] for name in JUDGED} == {
        name: answer("paper/eem/table4").judged.counts[0][name] for name in JUDGED
    }


def test_the_words_of_other_verdicts() -> None:
    words = {
        "paper/ospvm/table12": "the print separates no two models.",
        "fast/eem/table4": sentence("report.papers.profile-of-a-table"),
        "paper/ospvm/table2": "of models have the printed order",
    }
    for name, text in words.items():
        assert text in " ".join(answer(name).sentences)


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
                assert any(says.startswith(beginning) for says in declared), (
                    table,
                    beginning,
                )


def test_the_result_of_a_main_claim_counts_its_statements() -> None:
    resolved: Any = None
    above = Claim.model_validate(
        {
            "says": "it is",
            "dataset": "a",
            "metric": "mcc",
            "model": "m",
            "is": "above",
            "than": ["n"],
        }
    )
    fails = ClaimOutcome(above, resolved, "does not hold")
    undecided, holds = (
        replace(fails, verdict="undecided"),
        replace(fails, verdict="holds"),
    )
    assert result_in_words([holds]) == "holds"
    assert (
        result_in_words([fails, undecided, holds, fails])
        == "1 holds, 2 do not hold, 1 undecided"
    )
    # Far less than a third of the time is not a third, but no slower.
    time = {"metric": "fit_seconds", "is": "between", "between": [0.2, 0.5]}
    third = Claim.model_validate(above.model_dump(by_alias=True) | time)
    result = ClaimOutcome(
        third,
        resolved,
        "does not hold",
        finding=SignificanceResult("t", 0.01, 1.0, 0.0, 3, "runs"),
    )
    assert result_in_words([result]) == "ratio smaller than stated"
    assert result_in_words(
        [
            replace(result, finding=SignificanceResult("t", 2.0, 1.0, 0.0, 3, "runs")),
            holds,
        ]
    ) == ("1 holds, 1 ratio larger than stated")


def test_check_and_site_test_the_same_claims_of_all_profiles() -> None:
    (paper,) = gather_papers(
        ResultsDirs(RESULTS),
        lambda files: [file for file in files if file.spec.paper == "kos-elm"],
    )
    on_site = [(one.table, one.to_csv_dict()) for one in paper.judged.claims]
    tables = [table.file.id for table in paper.tables if table.results]
    (checked,) = check_published(tables, None, ResultsDirs(RESULTS))
    assert on_site == [(one.table, one.to_csv_dict()) for one in checked.judged.claims]
    assert checked.sentences == paper.sentences
    counts = [(table.file.id, table.judged.counts) for table in checked.tables]
    assert counts == [(table.file.id, table.judged.counts) for table in paper.tables]
    lines = [block.text for block in check_blocks([checked])]
    assert sum(text.startswith("- claim ") for text in lines) == len(
        PAPERS["kos-elm"].main_claims
    )
    # Sylva has results under the profile `fast` only, WDBC under `paper` too.
    records = {
        record["experiment"]: record for record in published_json_dicts([checked])
    }
    profiles = {
        claim["dataset"]: claim["profile"]
        for claim in records["kos-elm/table4"]["claims"]
    }
    assert profiles == {"wdbc": "paper", "sylva": "fast"}
    assert [main for main, _, _ in paper.judged.main_claims] == list(
        PAPERS["kos-elm"].main_claims
    )
    assert all(parts for _, _, parts in paper.judged.main_claims)


def test_a_claim_counts_under_the_first_profile_that_can_test_it() -> None:
    # Under `paper`, only WDBC has results. Sylva has some under `fast` alone.
    outcomes = answer("paper/kos-elm/table4", "fast/kos-elm/table4").judged.claims
    verdicts = {
        outcome.claim.says: (outcome.resolved.profile, outcome.verdict)
        for outcome in outcomes
    }
    assert verdicts["K-ELM works better than ELM"] == ("paper", "undecided")
    assert verdicts["but lower than K-ELM"] == ("fast", "holds")


def test_every_value_of_a_table_counts_in_one_way_in_all_outputs() -> None:
    (paper,) = check_published(
        ["kos-elm/table4", "rkelm/table3"], None, ResultsDirs(RESULTS)
    )[:1]
    # WDBC counts under the profile `paper`, Sylva under `fast`, which alone has it.
    (record,) = published_json_dicts([paper])
    assert {(one["dataset"], one["profile"]) for one in record["values"]} == {
        ("wdbc", "paper"),
        ("sylva", "fast"),
    }
    (measures,) = record["measures"]
    counts = {
        measures["values"]["n"],
        sum(record["verdicts"].values()),
        paper.judged.counts[0].total(),
    }
    assert counts == {10}
    assert sentence("report.papers.median-distance-of-table-iv") in paper.sentences[1]


def test_a_value_that_a_table_does_not_show_is_not_missing() -> None:
    file = find_experiment("ospvm/text-theta")
    assert (
        TableResults(
            file, (committed("fast/ospvm/text-theta"),)
        ).judged.values_by_verdict["not run"]
        == 0
    )
    # Of Table 2, the data of three data sets have not been run.
    assert (
        TableResults(find_experiment("ospvm/table2"), ()).judged.values_by_verdict[
            "not run"
        ]
        == 84
    )


def test_tables_with_the_same_published_values_share_their_number_of_runs() -> None:
    runs: dict[tuple[str, str], set[int]] = {}
    for file in load_catalogue().values():
        if (published := file.spec.published) and published.values:
            runs.setdefault((file.spec.paper, published.values), set()).add(
                published.mean_of
            )
    assert all(len(numbers) == 1 for numbers in runs.values()), runs


def test_a_value_under_two_names_of_one_model_counts_once() -> None:
    def printed(table: str, model: str) -> PublishedOnce:
        resolved = resolve(find_experiment(table), "paper")
        line = {"dataset": "secom", "model": model, "metric": "accuracy"}
        return identify_published_value(line, resolved)

    one_by_one = printed("ospvm/table2", "OSPVM (40, 1-by-1)")
    assert printed("ospvm/table4", "OSPVM") == one_by_one
    assert printed("ospvm/table8", "OSPVM") == printed(
        "ospvm/table2", "OSPVM (40, 16-by-16)"
    )
    # An equal number of another model.
    assert printed("ospvm/table8", "OSELM").value == one_by_one.value
    assert printed("ospvm/table8", "OSELM") != one_by_one


def test_own_runs_need_a_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elmbench.report.result_blocks.tables_by_paper", dict)
    with pytest.raises(ElmbenchError, match="there are no papers") as raised:
        ResultBlocks(ResultsDirs(RESULTS)).own_runs()
    assert raised.value.next_step == "elmbench new-paper KEY"


def test_the_text_of_a_check_needs_a_table() -> None:
    with pytest.raises(ElmbenchError, match="no table is to be compared") as raised:
        check_blocks([])
    assert raised.value.exit_code == 3

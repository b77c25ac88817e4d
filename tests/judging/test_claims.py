"""Sentences of a paper, tested on the results."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_cells import Toy, cell, folds, frame, notes_of, summarise, table_of
from scipy.stats import t, ttest_ind
from sentences import sentence

from elmbench.judging.claim_outcomes import (
    COLUMNS,
    ClaimOutcome,
    claims_frame,
    correct_by_holm,
)
from elmbench.judging.claims import check_claims, is_true
from elmbench.judging.measured_cells import MeasuredCells
from elmbench.specs.claims import Claim
from elmbench.specs.profiles import Resolved

CLAIM: dict[str, Any] = {
    "says": "it is so",
    "dataset": "wdbc",
    "metric": "mcc",
    "model": "ELM",
    "is": "above",
}
CLAIM |= {"than": ["K-ELM"]}
#: Four folds in two runs, of mean 0 and deviation 1.
SPREAD = np.array([-1.0, 1.0, 1.0, -1.0]) * np.sqrt(3) / 2
DATASETS = [
    "wdbc",
    "sylva",
    "heart",
    "splice",
    "sonar",
    "german",
    "diabetes",
    "ionosphere",
]


def cells_of(model: str, *values: float, **columns: Any) -> list[dict[str, Any]]:
    """Two runs of two folds."""
    four = values * 4 if len(values) == 1 else values
    return [
        *folds(model, *four[:2], run=0, **columns),
        *folds(model, *four[2:], run=1, **columns),
    ]


#: ELM is better than K-ELM.
BETTER = [*cells_of("ELM", 0.8), *cells_of("K-ELM", 0.5)]


def outcomes(resolved: Resolved, lines: list[dict[str, Any]]) -> list[ClaimOutcome]:
    cells = frame(resolved, lines)
    return list(
        check_claims(
            summarise(MeasuredCells(cells, resolved)), MeasuredCells(cells, resolved)
        )
    )


def claimed(
    toy: Toy, lines: list[dict[str, Any]], figures: str = "", **claim: Any
) -> ClaimOutcome:
    """Return the outcome of one claim."""
    changes = claim.pop("changes", {})
    (result,) = outcomes(toy(figures, claims=[CLAIM | claim], **changes), lines)
    return result


@pytest.mark.parametrize(
    ("claim", "apart", "verdict"),
    [
        ({"is": "above"}, 2.0, "holds"),
        ({"is": "above"}, 1.8, "undecided"),
        ({"is": "above"}, -2.0, "does not hold"),
        ({"is": "below"}, -2.0, "holds"),
        ({"is": "below"}, 0.0, "undecided"),
        ({"is": "below"}, 2.0, "does not hold"),
        ({"is": "close", "within": 0.03}, 1.0, "holds"),
        ({"is": "close", "within": 0.03}, -1.0, "holds"),
        ({"is": "close", "within": 0.03}, 1.2, "undecided"),
        ({"is": "close", "within": 0.03}, -5.0, "does not hold"),
        # One side and a margin.
        ({"is": "no-worse", "within": 0.022}, 3.7, "holds"),
        ({"is": "no-worse", "within": 0.022}, -0.2, "holds"),
        ({"is": "no-worse", "within": 0.022}, -0.9, "undecided"),
        ({"is": "no-worse", "within": 0.022}, -5.0, "does not hold"),
        ({"is": "no-better", "within": 0.022}, 0.2, "holds"),
        ({"is": "no-better", "within": 0.022}, 5.0, "does not hold"),
    ],
)
def test_on_one_data_set_the_corrected_interval_decides(
    toy: Any, claim: Any, apart: float, verdict: str
) -> None:
    """Two folds have n_test = n_train, so the half width is t(3) s sqrt(1/4 + 1), here 1.86
    hundredths of mcc.
    """
    differences = 0.01 * (apart + 1.86 / (t.ppf(0.975, 3) * np.sqrt(1.25)) * SPREAD)
    others = np.array([0.5, 0.6, 0.7, 0.8])
    result = claimed(
        toy,
        [*cells_of("K-ELM", *others), *cells_of("ELM", *(others + differences))],
        **claim,
    )
    assert result.verdict == verdict
    assert result.finding is not None
    assert result.finding.low == pytest.approx(0.01 * (apart - 1.86))
    assert result.finding.high == pytest.approx(0.01 * (apart + 1.86))
    assert (result.finding.n, result.finding.unit) == (4, "folds")
    assert "corrected resampled t-test, p = " in result.text
    assert "margin" not in result.text or "than (margin 0.022) K-ELM" in result.text


def test_a_sentence_over_several_columns_is_one_claim(toy: Any) -> None:
    lines = [*BETTER, *cells_of("OS-ELM", 0.7)]
    assert claimed(toy, lines, also=[{"model": "OS-ELM"}]).verdict == "holds"
    result = claimed(toy, lines, also=[{"model": "OS-ELM", "than": ["ELM"]}])
    assert (result.verdict, result.subject) == ("does not hold", "OS-ELM, ELM")
    assert sentence("judging.claims.two-comparisons") in result.text
    assert (result.to_csv_dict()["model"], result.to_csv_dict()["than"]) == (
        "ELM, OS-ELM",
        "K-ELM, ELM",
    )
    # Its parts can contradict it, not confirm it.
    assert claimed(toy, lines, also=[{"model": "FB-KOS-ELM"}]).verdict == "incomplete"


def test_a_claim_is_tested_on_the_published_values_too(toy: Any) -> None:
    assert claimed(toy, BETTER).in_print is None
    printed = "WDBC,ELM,mcc,0.9,,\nWDBC,K-ELM,mcc,{},,\n"
    assert claimed(toy, BETTER, printed.format(0.8)).in_print is True
    result = claimed(toy, BETTER, printed.format(0.95), slip="it prints .95")
    assert (result.verdict, result.in_print) == ("holds", False)
    assert sentence("judging.claims.paper-contradicts-itself") in result.text


def test_a_claim_that_no_outcome_could_decide_is_left_out(toy: Any) -> None:
    six = on_most(toy, [0.6, 0.61, 0.62, 0.63, 0.64, 0.65])
    assert six.finding is not None
    assert six.finding.least_p == 2.0**-6
    by_runs = replace(six.finding, unit="runs")
    single = replace(six, finding=by_runs, p=0.012, verdict="holds")
    # Beside one claim on runs, six data sets can decide: 2 ** -6 <= .025 / 1, and K is 1 or 2.
    assert [one.verdict for one in correct_by_holm([six, single])] == [
        "too few data sets",
        "holds",
    ]
    assert [one.verdict for one in correct_by_holm([six])] == [six.verdict]
    # The claim on data sets does not count: .012 <= .025 / 2, but not <= .025 / 3.
    corrected = correct_by_holm([six, single, single])
    assert [one.verdict for one in corrected] == ["too few data sets", "holds", "holds"]
    assert (
        sentence("judging.claims.too-few-data-sets-to-decide", claims=2)
        in corrected[0].remark
    )


def test_holms_correction_is_over_all_tested_claims(toy: Any) -> None:
    one = on_most(toy, [0.6, 0.61, 0.62, 0.63, 0.64, 0.65])
    assert one.finding is not None
    # Over runs, a p-value may be as small as it likes.
    one = replace(one, finding=replace(one.finding, unit="runs"))
    p = {"a": 0.02, "b": 0.001, "c": 0.4, "d": 0.008}
    verdicts: dict[str, Any] = {
        "a": "holds",
        "b": "does not hold",
        "c": "undecided",
        "d": "holds",
    }
    outcomes = [replace(one, p=p[name], verdict=verdicts[name]) for name in p]
    # .001 <= .025 / 4 and .008 <= .025 / 3, but .02 > .025 / 2.
    corrected = correct_by_holm(outcomes)
    assert [one.verdict for one in corrected] == [
        "undecided",
        "does not hold",
        "undecided",
        "holds",
    ]
    assert (
        sentence("judging.claims.fails-after-correction", claims=4) in corrected[0].text
    )
    assert corrected[1:] == outcomes[1:]
    # Untested and undecidable claims do not count.
    untested = replace(one, p=None, finding=None, verdict="incomplete")
    undecidable = replace(one, p=0.5, verdict="too few data sets")
    assert correct_by_holm([outcomes[0], untested, undecidable])[0].verdict == "holds"


@pytest.mark.parametrize(("mcc", "n_notes"), [(0.8, 1), (0.5, 0)])
def test_a_table_notes_that_its_decided_claims_are_uncorrected(
    toy: Any, mcc: float, n_notes: int
) -> None:
    table = table_of(
        toy(claims=[CLAIM]), [*cells_of("ELM", mcc), *cells_of("K-ELM", 0.5)]
    )
    assert (
        sum("each claim is judged by itself" in text for text in notes_of(table))
        == n_notes
    )


def test_the_weakest_of_several_columns_decides(toy: Any) -> None:
    lines = [*BETTER, *cells_of("OS-ELM", 0.79, 0.81, 0.77, 0.82)]
    result = claimed(toy, lines, than=["K-ELM", "OS-ELM"])
    assert (result.verdict, result.subject) == ("undecided", "OS-ELM")
    lines += cells_of("FB-KOS-ELM", 0.9)
    result = claimed(toy, lines, than="others")
    assert (result.verdict, result.subject) == ("does not hold", "FB-KOS-ELM")
    assert "FB-KOS-ELM: 0.8 against 0.9, difference -0.1" in result.text


LEFT_OUT = "WDBC,OS-ELM,mcc,,,excluded\nWDBC,FB-KOS-ELM,mcc,,,excluded\n"
MISSING = ("incomplete", "cells are missing")
STOPPED = {"status": "timeout", "reason": "> 5 s"}
ZERO = "a value of 0 has no logarithm"


@pytest.mark.parametrize(
    ("lines", "figures", "than", "outcome"),
    [
        (BETTER, "", ["K-ELM"], ("holds", "")),
        (BETTER, "", ["K-ELM", "OS-ELM"], MISSING),
        (BETTER, "", "others", MISSING),
        # A column that the paper leaves out is not waited for.
        (BETTER, LEFT_OUT, "others", ("holds", "")),
        # Some folds of either column were stopped, or have not been run yet.
        (BETTER[1:], "", ["K-ELM"], MISSING),
        (BETTER[:-1], "", ["K-ELM"], MISSING),
        ([BETTER[0] | STOPPED, *BETTER[1:]], "", ["K-ELM"], MISSING),
        ([*BETTER[:-1], BETTER[-1] | STOPPED], "", ["K-ELM"], MISSING),
        (
            BETTER[:2] + BETTER[4:6],
            "",
            ["K-ELM"],
            ("too few runs", "fewer than 3 folds or runs"),
        ),
    ],
)
def test_missing_columns_and_folds_decide_nothing(
    toy: Any,
    lines: list[dict[str, Any]],
    figures: str,
    than: Any,
    outcome: tuple[str, str],
) -> None:
    result = claimed(toy, lines, figures, than=than)
    assert (result.verdict, result.remark) == outcome
    assert (result.p is None) == (outcome[0] != "holds")


@pytest.mark.parametrize(
    ("models", "claim"),
    [
        (["K-ELM"], {}),
        (["ELM"], {}),
        (["ELM", "svm"], {"than": "others"}),
        (["ELM", "K-ELM"], {"dataset": "sylva"}),
    ],
)
def test_a_claim_on_models_or_data_that_were_not_run_is_not_shown(
    toy: Any, models: list[str], claim: dict[str, Any]
) -> None:
    lines = [line for model in models for line in cells_of(model, 0.8)]
    assert not outcomes(toy(datasets=["wdbc", "sylva"], claims=[CLAIM | claim]), lines)


def test_default_readings_and_the_own_selection_decide(toy: Any) -> None:
    contrary = [line | {"mcc": 1 - line["mcc"]} for line in BETTER]
    other_reading = [line | {"reading": "order=stored"} for line in contrary]
    other_selection = [line | {"select": "oracle"} for line in contrary]
    assert claimed(toy, other_reading + other_selection + BETTER).verdict == "holds"


def test_trials_count_what_they_trained_on_and_runs_on_one_fixed_split_are_independent(
    toy: Any,
) -> None:
    """A holdout is corrected by its sizes: 69 of 569 rows are tested."""
    values = np.array([0.81, 0.84, 0.82, 0.85, 0.88])
    lines = [cell("ELM", run=i, mcc=value) for i, value in enumerate(values)]
    lines += [cell("K-ELM", run=i, mcc=0.8) for i in range(5)]
    outer = {"kind": "stratified-holdout", "runs": 5, "sizes": {"wdbc": {"test": 69}}}
    result = claimed(toy, lines, changes={"protocol": {"outer": outer}}).finding
    assert result is not None
    half = t.ppf(0.975, 4) * values.std(ddof=1) * np.sqrt(1 / 5 + 69 / 500)
    assert result.high == pytest.approx(0.04 + half)
    assert (result.n, result.unit) == (5, "runs")
    other = [0.80, 0.83, 0.79, 0.80, 0.81]
    lines[5:] = [cell("K-ELM", run=i, mcc=value) for i, value in enumerate(other)]
    fixed = claimed(
        toy, lines, changes={"protocol": {"outer": outer | {"kind": "in-order"}}}
    )
    assert fixed.finding is not None
    assert fixed.finding.test == "Welch's t-test"
    assert fixed.p == pytest.approx(
        ttest_ind(values, other, equal_var=False, alternative="greater").pvalue
    )


def over(
    values: list[float | None], other: float = 0.5, **columns: Any
) -> list[dict[str, Any]]:
    """Cells of ELM on as many data sets as there are values, whole where there is a value, beside
    K-ELM's.
    """
    lines = []
    for name, value in zip(DATASETS, values, strict=False):
        lines += cells_of("K-ELM", other, dataset=name, **columns)
        lines += (
            folds("ELM", 0.9, dataset=name)
            if value is None
            else cells_of("ELM", value, dataset=name, **columns)
        )
    return lines


def on_most(toy: Any, values: list[float | None], **claim: Any) -> ClaimOutcome:
    return claimed(
        toy,
        over(values),
        dataset="most",
        changes={"datasets": DATASETS[: len(values)]},
        **claim,
    )


@pytest.mark.parametrize(
    ("values", "verdict", "p"),
    [
        ([0.6, 0.61, 0.62, 0.63, 0.64, 0.65], "holds", 1 / 64),
        ([0.4, 0.39, 0.38, 0.37, 0.36, 0.35], "does not hold", 1 / 64),
        # The smallest of the differences is the other way round: two choices of 64 are as extreme.
        ([0.49, 0.61, 0.62, 0.63, 0.64, 0.65], "undecided", 2 / 64),
        # One that is not whole does not count.
        ([0.6, 0.61, 0.62, 0.63, 0.64, 0.65, None], "holds", 1 / 64),
        ([0.6, 0.61, 0.62, 0.63, 0.64], "too few data sets", 1 / 32),
    ],
)
def test_over_data_sets_the_signed_ranks_decide(
    toy: Any, values: list[float | None], verdict: str, p: float
) -> None:
    result = on_most(toy, values)
    assert (result.verdict, result.p) == (verdict, pytest.approx(p))
    assert result.remark == (
        "5 data sets can be compared, 6 are needed" if len(values) == 5 else ""
    )
    assert sentence("judging.claims.on-most-data-sets") in result.text


def test_in_most_cases_and_close_over_data_sets_are_counts(toy: Any) -> None:
    values: list[float | None] = [0.1, 0.51, 0.51, 0.51, 0.51, 0.51, 0.51, 0.51]
    assert on_most(toy, values).verdict == "undecided"
    result = on_most(toy, values, test="sign")
    assert result.p == pytest.approx(9 / 256)  # seven or eight of eight
    assert "on 7 of 8 data sets, share 0.875 [" in result.text
    assert on_most(toy, [0.51] * 8, test="sign").verdict == "holds"
    close = {"is": "close", "within": 0.02}
    result = on_most(toy, [0.515, 0.485, 0.51, 0.5, 0.49, 0.51], **close)
    assert (result.verdict, result.p) == ("holds", pytest.approx(1 / 64))
    assert (
        on_most(toy, [0.53, 0.47, 0.53, 0.53, 0.53, 0.47], **close).verdict
        == "does not hold"
    )


def test_on_all_data_sets_each_must_confirm(toy: Any) -> None:
    changes = {"datasets": DATASETS[:3]}
    result = claimed(toy, over([0.6, 0.61, 0.62]), dataset="all", changes=changes)
    assert result.verdict == "holds"
    result = claimed(toy, over([0.6, 0.4, 0.62]), dataset="all", changes=changes)
    assert (result.verdict, result.subject) == ("does not hold", "sylva")
    # One that is missing leaves it open, unless another contradicts.
    result = claimed(toy, over([0.6, None, 0.62]), dataset="all", changes=changes)
    assert (result.verdict, result.remark) == ("incomplete", "cells are missing")
    assert (
        claimed(toy, over([0.4, None, 0.62]), dataset="all", changes=changes).verdict
        == "does not hold"
    )


def test_times_are_tested_as_ratios_of_one_machine(toy: Any) -> None:
    seconds = {"ELM": [1.0, 2.0, 1.1, 2.2], "K-ELM": [2.0, 4.4, 2.3, 4.1]}
    lines = [
        line | {"fit_seconds": s}
        for name, part in seconds.items()
        for line, s in zip(cells_of(name, 1.0), part, strict=True)
    ]
    logs = np.log(seconds["ELM"]) - np.log(seconds["K-ELM"])
    half = t.ppf(0.975, 3) * logs.std(ddof=1) * np.sqrt(1.25)
    # The interval is .38 to .63; a claim has two ends.
    verdicts = {
        (0.3, 0.7): "holds",
        (0.65, 0.9): "does not hold",
        (0.1, 0.35): "does not hold",
    }
    for between, verdict in (
        verdicts | {(0, 0.7): "holds", (0.5, 0.8): "undecided"}
    ).items():
        result = claimed(
            toy, lines, metric="fit_seconds", between=between, **{"is": "between"}
        )
        assert (result.verdict, result.remark) == (verdict, "times of one machine")
        assert result.finding is not None
        assert result.finding.estimate == pytest.approx(np.exp(logs.mean()))
        assert result.finding.high == pytest.approx(np.exp(logs.mean() + half))
        words = sentence(
            "judging.claims.ratio-of-times", low=between[0], high=between[1]
        )
        assert words in result.text


def of_errors(model: str, *nrmse: float) -> list[dict[str, Any]]:
    """Two runs of two folds of a regression."""
    lines = cells_of(model, 0.0, dataset="calhousing")
    return [line | {"nrmse": one} for line, one in zip(lines, nrmse, strict=True)]


@pytest.mark.parametrize(
    ("errors", "rival_errors", "than", "outcome"),
    [
        ([0.2] * 4, [0.1] * 4, ["K-ELM"], ("holds", "")),
        ([0.2, 0.2, 0.2, 0.0], [0.1] * 4, ["K-ELM"], ("not comparable", ZERO)),
        ([0.2] * 4, [0.1, 0.0, 0.1, 0.1], ["K-ELM"], ("not comparable", ZERO)),
        # A different rival can contradict the claim, not confirm it.
        ([0.2] * 4, [0.0] * 4, ["K-ELM", "OS-ELM"], ("not comparable", ZERO)),
        ([0.9] * 4, [0.0] * 4, ["K-ELM", "OS-ELM"], ("does not hold", ZERO)),
    ],
)
def test_a_ratio_with_an_error_of_zero_confirms_nothing(
    toy: Any,
    errors: list[float],
    rival_errors: list[float],
    than: list[str],
    outcome: tuple[str, str],
) -> None:
    lines = of_errors("ELM", *errors) + of_errors("K-ELM", *rival_errors)
    lines += of_errors("OS-ELM", *[0.1] * 4)
    result = claimed(
        toy,
        lines,
        dataset="calhousing",
        metric="nrmse",
        than=than,
        between=(1.5, 3),
        changes={"datasets": ["calhousing"], "protocol": {"metrics": ["nrmse"]}},
        **{"is": "between"},
    )
    assert (result.verdict, result.remark) == outcome


def cut(count: int, rows: int) -> dict[str, Any]:
    """The changes of a profile that cuts the rows of so many data sets."""
    return {
        "datasets": DATASETS[:count],
        "profile": "ci",
        "profiles": {"ci": {"rows": rows}},
    }


DRAWN = {"datasets": DATASETS[:6], "other-rows": {"sylva": "drawn again"}}
#: The table shows a copy of a data set beside the published values; its rows are not the paper's.
COPY = {"datasets": DATASETS[:3], "published": {"stand-ins": {"heart": "wdbc"}}}


@pytest.mark.parametrize("column", ["ELM", "K-ELM"])
def test_a_claim_about_a_stand_in_is_not_comparable(
    toy: Any, experiment: dict[str, Any], column: str
) -> None:
    models = dict(experiment["models"])
    models[column] = models[column] | {"stands-in-for": {"parameters": "C"}}
    result = claimed(toy, over([0.6], fit_seconds=1.0), changes={"models": models})
    assert result.verdict == "not comparable"
    assert result.remark == sentence("judging.claims.rests-on-stand-in")


@pytest.mark.parametrize(
    ("dataset", "metric", "changes", "verdict", "n"),
    [
        ("wdbc", "mcc", cut(1, 300), "not comparable", None),
        ("wdbc", "fit_seconds", cut(1, 300), "not comparable", None),
        ("wdbc", "mcc", cut(1, 569), "holds", 4),
        # heart has 270 rows: the other two are cut.
        ("all", "mcc", cut(3, 300), "not comparable", None),
        ("most", "mcc", cut(3, 300), "too few data sets", 1),
        ("sylva", "mcc", DRAWN, "not comparable", None),
        ("most", "mcc", DRAWN, "too few data sets", 5),
        ("most", "mcc", COPY, "too few data sets", 2),
        ("all", "mcc", COPY, "holds", 4),
    ],
)
def test_a_claim_is_not_held_against_fewer_or_other_rows(
    toy: Any,
    dataset: str,
    metric: str,
    changes: dict[str, Any],
    verdict: str,
    n: int | None,
) -> None:
    values: list[float | None] = [
        0.6,
        0.6,
        0.4 if changes is COPY else 0.6,
        0.6,
        0.6,
        0.6,
    ]
    lines = over(values[: len(changes["datasets"])], fit_seconds=1.0)
    figures = "WDBC,ELM,mcc,0.9,,\n" if changes is COPY else ""
    result = claimed(
        toy, lines, figures, metric=metric, dataset=dataset, changes=changes
    )
    assert (result.verdict, result.finding and result.finding.n) == (verdict, n)
    assert verdict != "not comparable" or result.remark.startswith(
        "the data lack rows of the paper"
    )


def test_a_stand_in_for_the_papers_data_decides_nothing(toy: Any) -> None:
    profiles = {"ci": {"stand-ins": ["wdbc"]}}
    resolved = toy(
        profile="ci",
        datasets=["heart"],
        profiles=profiles,
        claims=[CLAIM | {"dataset": "most"}],
    )
    assert not outcomes(resolved, BETTER)
    (result,) = outcomes(
        resolved, BETTER + [line | {"dataset": "heart"} for line in BETTER]
    )
    assert result.finding is not None
    assert result.finding.n == 1
    copied = toy("WDBC,ELM,mcc,0.9,,\n", claims=[CLAIM | {"dataset": "heart"}], **COPY)
    assert not outcomes(copied, over([0.6, 0.6, 0.4]))


def test_the_lines_of_claims_csv(toy: Any) -> None:
    resolved = toy(
        claims=[
            CLAIM,
            CLAIM | {"is": "close", "within": 0.5, "than": ["K-ELM", "OS-ELM"]},
        ]
    )
    result = outcomes(resolved, BETTER)
    table = claims_frame(result)
    assert list(table.columns) == COLUMNS
    one, two = table.to_dict("records")
    assert {name: one[name] for name in ("says", "dataset", "metric", "model", "is", "than",
    "verdict", "n", "of")} == {
        "says": "it is so", "dataset": "wdbc", "metric": "mcc", "model": "ELM", "is": "above",
        "than": "K-ELM",
        "verdict": "holds", "n": 4, "of": "folds",
    }  # fmt: skip
    assert one["estimate"] == pytest.approx(0.3)
    assert one["low"] < one["estimate"] < one["high"]
    assert (two["is"], two["than"], two["remark"]) == (
        "within 0.5 of",
        "K-ELM, OS-ELM",
        "cells are missing",
    )
    assert pd.isna(two["p"])


@pytest.mark.parametrize(
    ("values", "inside", "outside"),
    [
        ({"is": "above"}, (0.51,), (0.5, 0.49)),
        ({"is": "below"}, (0.49,), (0.5, 0.51)),
        ({"is": "close", "within": 0.1}, (0.4, 0.6), (0.39, 0.61)),
        ({"is": "no-worse", "within": 0.1}, (0.4, 0.9), (0.39,)),
        ({"is": "no-better", "within": 0.1}, (0.6, 0.1), (0.61,)),
        ({"is": "no-worse", "within": 0.1, "metric": "rmse"}, (0.6, 0.1), (0.61,)),
        ({"is": "no-better", "within": 0.1, "metric": "rmse"}, (0.4, 0.9), (0.39,)),
        (
            {"is": "between", "between": (0.5, 0.8), "metric": "fit_seconds"},
            (0.25, 0.4),
            (0.24, 0.41),
        ),
    ],
)
def test_a_relation_to_a_half(
    values: dict[str, Any], inside: tuple[float, ...], outside: tuple[float, ...]
) -> None:
    claim = Claim.model_validate(CLAIM | values)
    assert all(is_true(claim, one, 0.5) for one in inside)
    assert not any(is_true(claim, one, 0.5) for one in outside)

"""t-tests over data sets, eq. (34) of the OSPVM paper, and of each model of a comparison against
its best one.
"""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_cells import cell, frame, notes_of, rows_of, summarise, table_of
from made_figures import Toy
from scipy.stats import ttest_rel

from elmbench.errors import ElmbenchError
from elmbench.evaluation.score_comparison import MOST_RUNS, needed_runs, p_values
from elmbench.judging.measured_cells import MeasuredCells
from elmbench.tables import kind_of_table
from elmbench.tables.drawing import words_for
from elmbench.tables.paired_tests import paired_t_test

DATA = ["wdbc", "sylva", "satimage"]
T_TEST: dict[str, Any] = {
    "layout": "t-test", "options": {"pairs": {"A vs B": ["ELM", "K-ELM"]}}, "datasets": DATA,
    "claims": [],
}  # fmt: skip
FIGURES = "all,A vs B,t,2.5,,0.05 > p > 0.01\n"


def cells_of(means: dict[str, list[float]], **values: Any) -> list[dict[str, Any]]:
    """Two folds of two runs of each column on each data set, about the mean."""
    return [
        cell(
            column, run, fold, dataset=dataset, mcc=mean + 0.01 * (-1) ** fold, **values
        )
        for column, part in means.items()
        for dataset, mean in zip(DATA, part, strict=True)
        for run in (0, 1)
        for fold in (0, 1)
    ]


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=9))
def test_t_is_that_of_equation_34(pairs: list[tuple[float, float]]) -> None:
    a, b = np.array(pairs).T
    spread = a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b)
    result = paired_t_test(pd.DataFrame({"a": a, "b": b}), "a", "b")
    assert result["data_sets"] == len(a)
    if spread > 1e-12:
        assert result["t"] == pytest.approx(
            (a.mean() - b.mean()) / np.sqrt(spread), rel=1e-6, abs=1e-6
        )
        # As many degrees of freedom as the smaller sample has at least, and as both have at most.
        assert len(a) - 1 <= result["df"] * (1 + 1e-9)
        assert result["df"] <= 2 * (len(a) - 1) * (1 + 1e-9)
        assert paired_t_test(pd.DataFrame({"a": a, "b": b}), "b", "a")[
            "p"
        ] == pytest.approx(result["p"], abs=1e-12)


def test_the_paired_test_is_of_the_differences() -> None:
    # Differences of .1, .2 and .3: their mean is .2, its deviation .1/sqrt(3).
    result = paired_t_test(
        pd.DataFrame({"a": [0.9, 0.6, 0.8], "b": [0.8, 0.4, 0.5]}), "a", "b"
    )
    assert result["paired_t"] == pytest.approx(2 * np.sqrt(3))
    # Of two degrees of freedom, P(|T| > t) = 1 - t / sqrt(2 + t^2).
    assert result["paired_p"] == pytest.approx(1 - 2 * np.sqrt(3) / np.sqrt(14))


def test_what_does_not_vary_has_no_t() -> None:
    result = paired_t_test(pd.DataFrame({"a": [0.5, 0.75], "b": [0.25, 0.5]}), "a", "b")
    assert result["t"] == pytest.approx(np.sqrt(2))
    assert np.isnan([result["paired_t"], result["paired_p"]]).all()
    same = paired_t_test(pd.DataFrame({"a": [0.5, 0.5], "b": [0.5, 0.5]}), "a", "b")
    assert np.isnan([same["t"], same["p"]]).all()
    assert same["data_sets"] == 2


def test_a_comparison_is_over_the_means_of_data_sets(toy: Toy) -> None:
    resolved = toy(FIGURES, **T_TEST)
    means = {"ELM": [0.9, 0.6, 0.8], "K-ELM": [0.8, 0.4, 0.5]}
    table = table_of(resolved, cells_of(means))
    (section,) = table.sections
    result = {line["measure"]: line for line in rows_of(section)}
    expected = paired_t_test(pd.DataFrame(means), "ELM", "K-ELM")
    assert list(result) == [words_for(name) for name in expected]
    assert float(result["t"]["value"]) == pytest.approx(expected["t"], abs=0.006)
    assert (result["t"]["published"], result["t"]["verdict"]) == (
        "2.5",
        "not comparable",
    )
    assert result["data sets"]["value"] == "3"
    assert any("p > 0.01" in note for note in notes_of(table))


def test_data_sets_with_an_unsuccessful_cell_are_left_out(toy: Toy) -> None:
    resolved = toy(FIGURES, **T_TEST)
    lines = cells_of({"ELM": [0.9, 0.6, 0.8], "K-ELM": [0.8, 0.4, 0.5]})

    def summary(*bad: str) -> dict[str, Any]:
        part = [
            {**line, "status": "failed"}
            if line["dataset"] in bad and line["run"]
            else line
            for line in lines
        ]
        result = summarise(MeasuredCells(frame(resolved, part), resolved))
        assert set(result["dataset"]) == {"all"}
        return result.set_index("metric").to_dict("index")

    both = paired_t_test(pd.DataFrame({"a": [0.9, 0.8], "b": [0.8, 0.5]}), "a", "b")
    assert summary("sylva")["t"]["mean"] == pytest.approx(both["t"])
    assert summary("sylva")["data_sets"]["mean"] == 2
    # One with a missing fold is not counted either.
    short = [
        line
        for line in lines
        if (line["dataset"], line["fold"], line["run"]) != ("sylva", 1, 1)
    ]
    partial = summarise(MeasuredCells(frame(resolved, short), resolved)).set_index(
        "metric"
    )
    assert partial.loc["t", "mean"] == pytest.approx(both["t"])
    # One data set has no deviation.
    assert summary("sylva", "wdbc")["t"]["ended"] == "incomplete"


def test_pairs_are_of_columns(toy: Toy) -> None:
    with pytest.raises(
        ElmbenchError, match=r"options\.pairs\.A vs B names 'SVM'; expected two of"
    ):
        kind_of_table(
            toy(**T_TEST | {"options": {"pairs": {"A vs B": ["ELM", "SVM"]}}})
        )


# --- Comparisons of a user's own
# --------------------------------------------------------------------------------------

SCORES = pd.DataFrame(
    np.random.default_rng(0).normal([0.0, 1.0, 0.2], size=(10, 3)), columns=list("abc")
)


def test_without_shared_rows_it_is_the_paired_test_with_holms_correction() -> None:
    result = p_values(SCORES, 0.0)
    single = {name: float(ttest_rel(SCORES["b"], SCORES[name]).pvalue) for name in "ac"}
    small, large = sorted(single, key=lambda name: single[name])
    assert result["b"] == 1
    assert result[small] == pytest.approx(min(1, 2 * single[small]), rel=1e-12)
    assert result[large] == pytest.approx(max(single[large], result[small]), rel=1e-12)


def test_shared_training_rows_make_differences_less_certain() -> None:
    assert (
        p_values(SCORES, 1 / 9)[["a", "c"]] > p_values(SCORES, 0.0)[["a", "c"]]
    ).all()


def test_models_that_never_differ_and_too_few_folds() -> None:
    same = SCORES.assign(a=SCORES["b"], c=SCORES["b"] - 1)
    result = p_values(same, 0.25)
    assert result["a"] == 1
    assert result["c"] < 1e-12
    assert p_values(SCORES[:1], 0.25).empty
    assert p_values(SCORES[[]], 0.25).empty


def test_the_runs_that_would_separate_two_models() -> None:
    rng = np.random.default_rng(0)
    apart = rng.normal(size=5)
    apart = (apart - apart.mean()) / apart.std(ddof=1)
    scores = pd.DataFrame(
        {
            "best": np.zeros(5),
            "near": apart - 0.2,
            "far": apart - 1.3,
            "equal": np.zeros(5),
        }
    )
    needed = needed_runs(scores, 0.25, folds=5, max_runs=MOST_RUNS)
    assert needed["near"] is None
    assert needed["equal"] is None
    assert needed["far"] is not None
    # So many runs with the same mean and deviation, and no fewer.
    for runs, separated in ((needed["far"], True), (needed["far"] - 1, False)):
        assert (p_values(scores, 0.25, 5 * runs)["far"] < 0.05) == separated
    assert needed_runs(scores[["best"]], 0.25, folds=5, max_runs=MOST_RUNS) == {}
    assert needed_runs(scores, 0.25, folds=5, max_runs=1) == dict.fromkeys(needed)


def test_runs_are_needed_against_the_best_mean_even_if_the_folds_cannot_separate_it() -> (
    None
):
    differences = np.array([0.2, -0.2, 0.3, -0.1, 0.1])
    scores = pd.DataFrame({"worse": -differences, "best": np.zeros(5)})
    scores["worst"] = scores["worse"]
    # The corrected p-values of all three are 1.
    assert list(p_values(scores, 0.25)) == [1, 1, 1]
    assert list(needed_runs(scores, 0.25, folds=5, max_runs=2)) == ["worse", "worst"]

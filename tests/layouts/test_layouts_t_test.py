"""t-tests over data sets: eq. (34) of the OSPVM paper, the cells that they are fed from, what cannot be tested."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_cells import cell, frame, notes_of, rows_of, table_of
from made_figures import Toy

from elmbench.errors import ElmbenchError
from elmbench.layouts import layout_of
from elmbench.layouts.t_test import compare
from elmbench.reporting.summary import MeasuredCells, summarise

DATA = ["wdbc", "sylva", "satimage"]
T_TEST: dict[str, Any] = {
    "layout": "t-test", "options": {"pairs": {"A vs B": ["ELM", "K-ELM"]}}, "datasets": DATA, "claims": [],
}  # fmt: skip
FIGURES = "all,A vs B,t,2.5,,0.05 > p > 0.01\n"


def cells_of(means: dict[str, list[float]], **values: Any) -> list[dict[str, Any]]:
    """Two folds of two runs of each column on each data set, about the mean."""
    return [
        cell(column, run, fold, dataset=dataset, mcc=mean + 0.01 * (-1) ** fold, **values)
        for column, part in means.items()
        for dataset, mean in zip(DATA, part, strict=True)
        for run in (0, 1)
        for fold in (0, 1)
    ]


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=9))
def test_t_is_that_of_equation_34(pairs: list[tuple[float, float]]) -> None:
    a, b = np.array(pairs).T
    spread = a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b)
    result = compare(pd.DataFrame({"a": a, "b": b}), "a", "b")
    assert result["data_sets"] == len(a)
    if spread > 1e-12:
        assert result["t"] == pytest.approx((a.mean() - b.mean()) / np.sqrt(spread), rel=1e-6, abs=1e-6)
        # As many degrees of freedom as the smaller sample has at least, and as both have at most.
        assert len(a) - 1 <= result["df"] * (1 + 1e-9)
        assert result["df"] <= 2 * (len(a) - 1) * (1 + 1e-9)
        assert compare(pd.DataFrame({"a": a, "b": b}), "b", "a")["p"] == pytest.approx(result["p"], abs=1e-12)


def test_the_paired_test_is_of_the_differences() -> None:
    # Differences of .1, .2 and .3: their mean is .2, its deviation .1/sqrt(3).
    result = compare(pd.DataFrame({"a": [0.9, 0.6, 0.8], "b": [0.8, 0.4, 0.5]}), "a", "b")
    assert result["paired_t"] == pytest.approx(2 * np.sqrt(3))
    # Of two degrees of freedom, P(|T| > t) = 1 - t / sqrt(2 + t^2).
    assert result["paired_p"] == pytest.approx(1 - 2 * np.sqrt(3) / np.sqrt(14))


def test_what_does_not_vary_has_no_t() -> None:
    result = compare(pd.DataFrame({"a": [0.5, 0.75], "b": [0.25, 0.5]}), "a", "b")
    assert result["t"] == pytest.approx(np.sqrt(2))
    assert np.isnan([result["paired_t"], result["paired_p"]]).all()
    same = compare(pd.DataFrame({"a": [0.5, 0.5], "b": [0.5, 0.5]}), "a", "b")
    assert np.isnan([same["t"], same["p"]]).all()
    assert same["data_sets"] == 2


def test_a_comparison_is_over_the_means_of_data_sets(toy: Toy) -> None:
    resolved = toy(FIGURES, **T_TEST)
    means = {"ELM": [0.9, 0.6, 0.8], "K-ELM": [0.8, 0.4, 0.5]}
    table = table_of(resolved, cells_of(means))
    (section,) = table.sections
    result = {line["measure"]: line for line in rows_of(section)}
    expected = compare(pd.DataFrame(means), "ELM", "K-ELM")
    assert list(result) == list(expected)
    assert float(result["t"]["value"]) == pytest.approx(expected["t"], abs=0.006)
    assert (result["t"]["published"], result["t"]["verdict"]) == ("2.5", "not comparable")
    assert result["data_sets"]["value"] == "3"
    assert any("p > 0.01" in note for note in notes_of(table))


def test_data_sets_of_which_a_cell_is_not_ok_are_left_out(toy: Toy) -> None:
    resolved = toy(FIGURES, **T_TEST)
    lines = cells_of({"ELM": [0.9, 0.6, 0.8], "K-ELM": [0.8, 0.4, 0.5]})

    def summary(*bad: str) -> dict[str, Any]:
        part = [{**line, "status": "failed"} if line["dataset"] in bad and line["run"] else line for line in lines]
        result = summarise(MeasuredCells(frame(resolved, part), resolved))
        assert set(result["dataset"]) == {"all"}
        return result.set_index("metric").to_dict("index")

    both = compare(pd.DataFrame({"a": [0.9, 0.8], "b": [0.8, 0.5]}), "a", "b")
    assert summary("sylva")["t"]["mean"] == pytest.approx(both["t"])
    assert summary("sylva")["data_sets"]["mean"] == 2
    # One with a missing fold is not counted either.
    short = [line for line in lines if (line["dataset"], line["fold"], line["run"]) != ("sylva", 1, 1)]
    partial = summarise(MeasuredCells(frame(resolved, short), resolved)).set_index("metric")
    assert partial.loc["t", "mean"] == pytest.approx(both["t"])
    # One data set has no deviation.
    assert summary("sylva", "wdbc")["t"]["ended"] == "incomplete"


def test_pairs_are_of_columns(toy: Toy) -> None:
    with pytest.raises(ElmbenchError, match=r"options\.pairs\.A vs B names 'SVM'; expected two of"):
        layout_of(toy(**T_TEST | {"options": {"pairs": {"A vs B": ["ELM", "SVM"]}}}))

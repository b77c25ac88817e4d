"""The sentences on a paper, against the committed results that they are about."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

import elmbench
from elmbench.layouts.table import JUDGED, VERDICTS
from elmbench.reporting.papers import PaperAnswer, answer_papers, answer_sentence, table_sentence
from elmbench.reporting.results import Results, read_results
from elmbench.specs.catalogue import find_experiment
from elmbench.specs.profiles import resolve

RESULTS = Path(elmbench.__file__).parents[1] / "results"


@cache
def read(name: str) -> Results:
    profile, id = name.split("/", 1)
    return read_results(resolve(find_experiment(id), profile), RESULTS)


def load(*names: str) -> list[Results]:
    """Results by `profile/paper/table`."""
    return [read(name) for name in names]


def answer(*names: str) -> PaperAnswer:
    (result,) = answer_papers(load(*names))
    return result


def test_the_sentences_on_a_table() -> None:
    result = answer("paper/eem/table4", "paper/eem/table5")
    first = read("paper/eem/table4").verdicts[0]
    assert result.sentences[0] == (
        "The models compare as published in 2 of 2 tables; the values agree in 1 of these, and 1 has too few runs to "
        "tell."
    )
    assert result.sentences[1] == (
        f"Of the 72 G-means of Table 4, {first.inside} are inside the interval ({first.expected} expected), and the "
        "pattern is that of the print (p < .001): reproduced."
    )
    partly = table_sentence("Table 4", replace(first, of=64, inside=58), ["paper"])
    assert partly.startswith("Of the 72 G-means of Table 4, 64 have an interval, and of these 58 are inside")
    assert result.sentences[2] == (
        "Of the 54 G-means of Table 5, none has the 3 runs that an interval needs, but the pattern is that of the "
        "print (p < .001): pattern only."
    )


@pytest.mark.parametrize(
    ("tables", "sentence"),
    [
        (
            {"pattern only": 5, "not reproduced": 1, "too small to judge": 1},
            "The models compare as published in 5 of 6 tables; the values agree in none of these. "
            "1 more table is too small to judge.",
        ),
        ({"not reproduced": 2}, "The models compare as published in none of 2 tables."),
        ({"level only": 2}, "The models compare as published in none of 2 tables; in 2 only the values agree."),
        (
            {"pattern only": 1, "too small to judge": 4},
            "The models compare as published in the only table that can be judged, but the values do not agree. "
            "4 more tables are too small to judge.",
        ),
        (
            {"reproduced": 1},
            "The models compare as published in the only table that can be judged, and the values agree.",
        ),
        (
            {"not reproduced": 1},
            "The models do not compare as published in the only table that can be judged, and the values do not agree.",
        ),
        ({"too small to judge": 2}, "No table has enough figures and runs to be judged."),
    ],
)
def test_the_answer_on_a_paper(tables: dict[str, int], sentence: str) -> None:
    assert answer_sentence(Counter(tables)) == sentence


def test_the_answer_from_single_runs() -> None:
    assert answer_sentence(Counter({"pattern only": 1}), few_runs=1) == (
        "The models compare as published in the only table that can be judged, but it has too few runs to judge the "
        "values."
    )


def test_papers_stand_in_the_order_of_their_results() -> None:
    result = answer_papers(load("paper/rkelm/table12", "paper/eem/table4", "paper/rkelm/table3"))
    assert [one.paper for one in result] == ["rkelm", "eem"]
    assert answer_papers(load("fast/kos-elm/figure3")) == []


def test_the_counts_are_those_of_the_summary() -> None:
    result = answer("paper/eem/table4")
    summary = pd.read_csv(RESULTS / "paper/eem/table4/summary.csv", keep_default_na=False, na_values=[""])
    part = summary[summary["reading"].isna() & (summary["select"] == "oracle") & summary["published"].notna()]
    assert sum(result.figures.values()) == len(part) == 81
    assert list(result.figures) == list(VERDICTS)


def test_a_figure_of_several_tables_counts_once() -> None:
    names = ("fast/rkelm/table5", "fast/rkelm/table12")
    tables = load(*names)
    entries = [
        (line.dataset, line.model, line.metric, line.published)
        for one in tables
        for line in one.figures[one.figures["verdict"] != ""].itertuples()
        if line.dataset != "waveform-drawn"
    ]
    assert len(set(entries)) == len(entries) - 3
    assert sum(answer(*names).figures.values()) == len(set(entries))


def test_an_equal_number_under_another_criterion_is_another_figure() -> None:
    alone = [sum(answer(f"paper/eem/table{number}").figures.values()) for number in (9, 10)]
    assert sum(answer("paper/eem/table9", "paper/eem/table10").figures.values()) == sum(alone)


def test_facts_of_the_data_are_counted_apart() -> None:
    result = answer("fast/eem/table3", "paper/eem/table4")
    assert result.figures == answer("paper/eem/table4").figures
    assert result.facts == {"as_printed": 48, "of": 48}
    assert result.sentences[-1] == "48 of 48 facts of the data sets (rows, columns, classes) are as printed."
    alone = answer("fast/eem/table3")
    assert alone.sentences == result.sentences[-1:]


def test_a_figure_counts_under_the_profile_with_enough_runs() -> None:
    names = ("fast/rkelm/table3", "paper/rkelm/table3")
    fast, paper = (read(name).verdicts[0].figures for name in names)
    # The other data sets are those of profile fast alone.
    assert answer(*names).sentences[1].startswith(f"Of the {fast} RMSEs of Table 3 (profile paper and fast), ")
    assert paper < fast
    # Table 4 has one run of the SVM in profile paper and of all models in profile fast.
    counts = answer("paper/eem/table4", "fast/eem/table4").figures
    assert {name: counts[name] for name in JUDGED} == {
        name: answer("paper/eem/table4").figures[name] for name in JUDGED
    }


def test_the_words_of_other_verdicts() -> None:
    words = {
        "paper/rkelm/table5": "3 are inside the interval (5 expected), and the pattern of the print does not "
        "show (p = .100): too small to judge.",
        "paper/ospvm/table12": "Of the 4 accuracies of Table 12, 2 are inside the interval (4 expected), and there are "
        "too few models to test the pattern: too small to judge.",
        "fast/eem/table4": "Of the 72 G-means of Table 4 (profile fast), none has the 3 runs",
    }
    for name, text in words.items():
        assert text in " ".join(answer(name).sentences)

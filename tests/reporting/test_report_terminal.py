"""A table in the terminal: the shape of the print, the best of each row, signs of verdicts and a line that counts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from made_cells import folds, results_of

from elmbench.layouts.table import SIGNS, VERDICTS
from elmbench.reporting.figures import counts_text as counted
from elmbench.reporting.results import Results
from elmbench.specs.profiles import Resolved

Toy = Callable[..., Resolved]
FIGURES = "WDBC,ELM,mcc,0.9,0.02,\nWDBC,K-ELM,mcc,0.95,0.01,\nSylva,ELM,mcc,0.5,,\nSylva,K-ELM,mcc,0.4,,\n"


@pytest.fixture
def read(toy: Toy, tmp_path: Path) -> Callable[..., Results]:
    """Read the results of a table that has these cells."""

    def results(lines: list[dict[str, Any]], figures: str = FIGURES, **changes: Any) -> Results:
        return results_of(toy(figures, datasets=["wdbc", "sylva"], **changes), lines, tmp_path)

    return results


def runs(model: str, dataset: str, *means: float) -> list[dict[str, Any]]:
    return [line for run, mean in enumerate(means) for line in folds(model, mean, mean, run=run, dataset=dataset)]


def lines_of(results: Results) -> list[str]:
    return [" ".join(line.split()) for line in results.text.splitlines()]


@pytest.fixture
def both(read: Callable[..., Results]) -> Results:
    cells = [
        *runs("ELM", "wdbc", 0.90, 0.901, 0.899),
        *runs("K-ELM", "wdbc", 0.90, 0.91, 0.89),
        *runs("ELM", "sylva", 0.52, 0.52, 0.521),
        *runs("K-ELM", "sylva", 0.4, 0.6, 0.5),
    ]
    return read(cells)


def test_data_sets_are_rows_and_models_columns(both: Results) -> None:
    lines = lines_of(both)
    start = lines.index("data set ELM K-ELM")
    assert lines[start - 1] == "mcc"
    assert [line.split()[0] for line in lines[start + 1 : start + 5 : 2]] == ["WDBC", "Sylva"]
    assert [line.split()[0] for line in lines[start + 2 : start + 6 : 2]] == ["paper", "paper"]


def test_the_best_of_each_row_is_marked_and_every_verdict_has_its_sign(both: Results) -> None:
    wdbc, published, sylva, printed = lines_of(both)[lines_of(both).index("data set ELM K-ELM") + 1 :][:4]
    figures = both.figures
    verdicts = dict(zip(zip(figures["dataset"], figures["model"], strict=True), figures["verdict"], strict=True))
    assert sylva.split()[1].endswith("*")
    assert not sylva.split()[2].endswith("*")
    assert wdbc.startswith("WDBC 0.90±0.00")
    assert printed == f"paper 0.5* {SIGNS[verdicts['sylva', 'ELM']]} 0.4 {SIGNS[verdicts['sylva', 'K-ELM']]}"
    assert published.endswith(f"0.95±0.01* {SIGNS[verdicts['wdbc', 'K-ELM']]}")


def test_the_last_line_counts(both: Results) -> None:
    last = both.text.replace("\n", " ").rpartition("4 published figures: ")[2]
    for verdict, number in both.figures["verdict"].value_counts().items():
        assert f"{number} {SIGNS[str(verdict)]} {verdict}" in last
    assert len({*SIGNS.values()}) == len(VERDICTS)


def test_the_missing_runs_and_the_facts_have_their_own_sentence() -> None:
    def line(verdict: str, metric: str = "mcc") -> dict[str, Any]:
        return {"verdict": verdict, "metric": metric}

    none = pd.DataFrame({"more_runs": [], "minutes": []})
    assert counted([], none) == counted([line("")], none) == "No published figure to judge."
    facts = "1 of 2 facts of the data sets (rows, columns, classes) are as printed."
    both = [line("reproduced", "features"), line("differs", "instances")]
    assert counted(both, none) == facts
    assert counted([line("differs"), line(""), *both], none) == f"1 published figure: 1 ✗ differs. {facts}"
    missing = pd.DataFrame({"more_runs": [1, 2], "minutes": [30.0, 4.4]})
    assert counted([line("too few runs")] * 3, missing) == (
        "3 published figures: 3 ? too few runs. An interval needs 3 runs, 1 to 2 more than there are: about 34 min."
    )
    assert counted([line("too few runs")], missing.assign(minutes=0.1)).endswith(
        "2 more than there are: less than a minute."
    )
    assert counted([line("too few runs")], missing.assign(minutes=180)).endswith("about 6 h.")


def test_a_wide_table_is_cut_between_models_and_loses_its_deviations_first(read: Callable[..., Results]) -> None:
    def make(count: int) -> list[str]:
        names = [f"MODEL-{i}" for i in range(count)]
        models = {name: {"model": "elm", "search": ["C"]} for name in names}
        figures = "".join(f"WDBC,{name},mcc,0.95,0.01,\n" for name in names)
        cells = [line for name in names for line in runs(name, "wdbc", 0.9, 0.91, 0.92)]
        return read(cells, figures, models=models).text.splitlines()

    few, some, many = make(4), make(6), make(12)
    assert all(len(line) <= 80 for lines in (few, some, many) for line in lines)
    assert any("±" in line for line in few)
    heads = [[line for line in lines if line.startswith("data set") and "MODEL" in line] for lines in (few, some, many)]
    assert "mcc (deviations: --format md)" in some
    assert [sum(len(line.split()) - 2 for line in result) // 2 for result in heads] == [4, 6, 12]
    assert len(heads[2]) > 2


def test_a_table_without_printed_figures_has_the_lines_of_its_kind(read: Callable[..., Results]) -> None:
    results = read(folds("ELM", 0.9, 0.8), "")
    assert "model mcc fit s" in lines_of(results)
    assert lines_of(results)[-1] == "ELM 0.850 0.5"

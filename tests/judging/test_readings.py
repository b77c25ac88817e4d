"""Readings: the same cells under each value, and the value that is nearest to the published
number.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from made_cells import Toy, cell, folds, results_of
from sentences import sentence

from elmbench.judging.readings import TableCells, compare_readings, reading_table

Compare = Callable[..., pd.DataFrame]
FIGURES = "WDBC,ELM,mcc,0.9,,\nWDBC,ELM,train_seconds,0.5,,\n"


@pytest.fixture
def compared(toy: Toy, tmp_path: Path) -> Compare:
    """Compare the reading `order` on these cells."""

    def compare(
        lines: list[dict[str, Any]], figures: str = FIGURES, **changes: Any
    ) -> pd.DataFrame:
        resolved = toy(figures, **changes)
        cells = results_of(resolved, lines, tmp_path).cells
        lines = compare_readings(
            resolved.file.paper.readings, [TableCells(cells, resolved)]
        )
        return lines[lines["reading"] == "order"].set_index("value")

    return compare


def stored(*mcc: float, **values: Any) -> list[dict[str, Any]]:
    return folds("ELM", *mcc, reading="order=stored", **values)


#: Five folds.
NEAR, FAR = (0.90, 0.89, 0.90, 0.91, 0.90), (0.70, 0.71, 0.70, 0.69, 0.70)


def runs(values: Iterable[float], reading: str = "") -> list[dict[str, Any]]:
    """Return one cell a run."""
    return [cell(run=i, mcc=value, reading=reading) for i, value in enumerate(values)]


def on_both_sides(shuffled: float) -> list[dict[str, Any]]:
    """Two values that are far apart in every run, so that only their distances from .9 decide."""
    spread = [-0.01, 0.0, 0.01, 0.005, -0.005]
    return runs(shuffled + one for one in spread) + runs(
        (1.0 - one for one in spread), "order=stored"
    )


def of_equal_folds() -> list[dict[str, Any]]:
    """Forty folds that tell the values apart in four runs that do not."""
    means = [(0.80, 0.90), (0.84, 0.82), (0.85, 0.83), (0.80, 0.89)]
    parts = [
        [*folds("ELM", *[one] * 10), *stored(*[other] * 10)] for one, other in means
    ]
    return [line | {"run": run} for run, lines in enumerate(parts) for line in lines]


CONSTANT = [*runs([0.88] * 4), *runs([0.93] * 4, "order=stored")]
DIVERGED = {"status": "diverged", "mcc": None, "reason": "not finite"}
LAST = cell(fold=3, reading="order=stored", **DIVERGED)


@pytest.mark.parametrize(
    ("lines", "printed", "fits"),
    [
        ([*folds("ELM", *NEAR), *stored(*FAR)], "0.9", "shuffled"),
        # Chance, or two draws, decide nothing.
        (
            [*folds("ELM", 0.80, 0.89, 0.80, 0.89), *stored(0.88, 0.82, 0.88, 0.82)],
            "0.9",
            "",
        ),
        ([*folds("ELM", 0.70, 0.71), *stored(0.90, 0.89)], "0.9", ""),
        *(
            (on_both_sides(value), "0.90", fits)
            for value, fits in ((0.802, ""), (0.85, "shuffled"), (0.60, "stored"))
        ),
        (of_equal_folds(), "0.9", ""),
        # A fit holds for every figure that rounds to the print.
        (CONSTANT, "0.900", "shuffled"),
        (CONSTANT, "0.9", ""),
        # Cells that both ended ok decide.
        (
            [*folds("ELM", 0.7, 0.7, 0.7, 0.98), *stored(0.8, 0.8, 0.8), LAST],
            "0.79",
            "stored",
        ),
    ],
)
def test_the_value_that_fits(
    compared: Compare, lines: list[dict[str, Any]], printed: str, fits: str
) -> None:
    result = compared(lines, f"WDBC,ELM,mcc,{printed},,\n")["nearest"]
    assert [*result.index[result]] == [fits] * bool(fits)


@pytest.mark.parametrize(
    "lines",
    [
        [*folds("ELM", 0.8, 0.8), *stored(0.8, 0.8)],  # the reading moves nothing
        folds("ELM", 0.7, 0.7),
        stored(0.7, 0.7),
    ],
)
def test_equal_results_and_a_single_value_of_a_reading_are_not_compared(
    compared: Compare, lines: list[dict[str, Any]]
) -> None:
    assert compared(lines).empty


def test_only_cells_that_both_were_run_on_are_compared(compared: Compare) -> None:
    more = [line | {"run": 1, "mcc": 0.1} for line in folds("ELM", 0.1, 0.1)]
    result = compared([*folds("ELM", 0.70, 0.71), *more, *stored(0.90, 0.89)])
    assert result["text"]["shuffled"] == "0.705"
    assert "2 cells" in result["label"].iloc[0]


def test_unsuccessful_cells_are_named_and_decide_nothing(
    compared: Compare,
) -> None:
    lines = [*folds("ELM", 0.70, 0.71, 0.70), *stored(0.90, 0.89, 0.90)]
    assert compared(lines)["nearest"].to_dict() == {"shuffled": False, "stored": True}
    lines[5] |= DIVERGED
    result = compared(lines)
    assert (result["text"]["stored"], result["nearest"].any()) == (
        "0.895 (1 diverged)",
        False,
    )
    lines[4] |= {**DIVERGED, "status": "timeout"}
    result = compared(lines)
    assert result["text"]["stored"] == "0.900 (1 timeout, 1 diverged)"
    lines[3] |= DIVERGED
    lines[4] |= DIVERGED
    assert compared(lines)["text"]["stored"] == "diverged"


def test_cells_without_the_metric_decide_nothing(compared: Compare) -> None:
    """A metric may be undefined in a run under one value of a reading."""
    lines = [*runs([0.70, 0.71, 0.70]), *runs([0.90, 0.89, 0.90], "order=stored")]
    assert compared(lines)["nearest"].to_dict() == {"shuffled": False, "stored": True}
    lines[5] |= {"mcc": None}
    result = compared(lines)
    assert not result["nearest"].any()
    assert result["text"].to_dict() == {
        "shuffled": "0.703 ± 0.006",
        "stored": "0.895 ± 0.007",
    }
    assert result["low"].isna().all()
    lines[3] |= {"mcc": None}
    lines[4] |= {"mcc": None}
    result = compared(lines)
    assert result["text"]["stored"] == "–"
    assert result["mean"].isna().to_dict() == {"shuffled": False, "stored": True}


def test_correlations_are_compared_and_absent_data_are_not(compared: Compare) -> None:
    nodes = {
        "model": "elm",
        "search": ["n_hidden"],
        "params": {"activation": "sigmoid"},
    }
    changes = {
        "layout": "rank-correlation",
        "grids": {"n_hidden": [1, 10]},
        "models": {"ELM": nodes},
    }
    changes |= {"datasets": ["wdbc", "heart"]}
    lines = [cell(**{"spearman@h=1": 0.5, "spearman@h=10": 0.9})]
    lines += [cell(dataset="heart", status="unavailable", reason="no file")]
    lines += [line | {"reading": "order=stored", "spearman@h=1": 0.6} for line in lines]
    # This profile leaves h = 5 out.
    figures = [("WDBC", 1), ("WDBC", 5), ("WDBC", 10), ("heart", 1)]
    result = compared(
        lines,
        "".join(f"{name},ELM,spearman@h={h},0.9,,\n" for name, h in figures),
        **changes,
    )
    assert result["text"].to_dict() == {"shuffled": "0.500", "stored": "0.600"}
    assert {*result["label"]} == {sentence("judging.readings.label-of-a-correlation")}


def test_the_rows_of_a_reading_and_the_leaking_value(
    compared: Compare, toy: Toy, paper: dict[str, Any]
) -> None:
    paper["readings"]["order"]["values"]["stored"]["leaks"] = True
    lines = compared([*folds("ELM", *FAR), *stored(*NEAR)]).reset_index()
    table = reading_table(toy().file.paper.readings["order"], lines)
    assert [*table] == [
        "published value",
        "published",
        "shuffled",
        "stored (leaking)",
        "nearest",
    ]
    label = sentence("judging.readings.label-of-a-value", cells=5)
    assert table.to_numpy().tolist() == [
        [label, "0.9", "0.700", "0.900", "stored (leaking)"]
    ]

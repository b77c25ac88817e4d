"""Times over an option of the data, and metrics trial by trial: their tables, their curves and their pictures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_cells import cell, frame, headings, notes_of, rows_of, table_of

from elmbench.errors import ElmbenchError
from elmbench.layouts import layout_of
from elmbench.layouts.figures import Figure, line_styles
from elmbench.specs.profiles import Resolved

Toy = Callable[..., Resolved]


def densities(name: str, *values: float) -> list[str]:
    return [f"{name}[density={value:g}]" for value in values]


DENSITIES = [*densities("sparse-10k", 0.1, 0.01), *densities("sparse-100k", 0.1)]
TIMES: dict[str, Any] = {"layout": "option-curves", "datasets": DENSITIES}
STOPPED = {"status": "out-of-memory", "reason": "needs 9 GB", "fit_seconds": None}


def figure_of(resolved: Resolved, lines: list[dict[str, Any]]) -> Figure | None:
    return layout_of(resolved).figure(frame(resolved, lines), (), resolved)


def timed(model: str, *seconds: float | None, dataset: str = DENSITIES[0], **values: Any) -> list[dict[str, Any]]:
    """A cell for each run; one without seconds needed too much memory."""
    entry = {"dataset": dataset, "mcc": 0.5}
    return [
        cell(model, run=run, **entry | ({"fit_seconds": s} if s is not None else STOPPED) | values)
        for run, s in enumerate(seconds)
    ]


@pytest.fixture
def lines() -> list[dict[str, Any]]:
    thin, large = DENSITIES[1:]
    return [
        *timed("ELM", 0.5, 1.5), *timed("K-ELM", 2, 4),
        *timed("ELM", 0.25, 0.25, dataset=thin), *timed("K-ELM", 0.5, None, dataset=thin),
        *timed("ELM", 8, 8, dataset=large), *timed("K-ELM", None, None, dataset=large),
        *timed("ELM", 99, 99, reading="order=stored"), *timed("ELM", 99, 99, select="oracle"),
    ]  # fmt: skip


def test_curves_over_an_option_are_mean_times_of_the_default_readings(toy: Toy, lines: list[dict[str, Any]]) -> None:
    drawn = figure_of(toy(**TIMES), lines)
    assert drawn is not None
    assert drawn.png[:8] == b"\x89PNG\r\n\x1a\n"
    result = drawn.data
    assert result[["dataset", "model", "value", "n", "ending"]].to_numpy().tolist() == [
        ["sparse-10k", "ELM", 0.1, 2, ""],
        ["sparse-10k", "K-ELM", 0.1, 2, ""],
        ["sparse-10k", "ELM", 0.01, 2, ""],
        ["sparse-10k", "K-ELM", 0.01, 1, "out-of-memory"],
        ["sparse-100k", "ELM", 0.1, 2, ""],
        ["sparse-100k", "K-ELM", 0.1, 0, "out-of-memory"],
    ]
    np.testing.assert_allclose(result["mean"], [1, 3, 0.25, 0.5, 8, np.nan])
    np.testing.assert_allclose(result["std"], [0.5**0.5, 2**0.5, 0, np.nan, 0, np.nan])
    assert set(result["option"]) == {"density"}


def test_the_table_has_times_ratios_and_how_cells_ended(toy: Toy, lines: list[dict[str, Any]]) -> None:
    table = table_of(toy(**TIMES), lines)
    section = next(section for section in table.sections if not section.readings)
    assert list(headings(table, section)) == ["dataset", "model", "fit", "ratio"]
    shown = [[r["dataset"], r["model"], r["fit"], r["ratio"]] for r in rows_of(section)]
    assert shown[:2] == [[DENSITIES[0], "ELM", "1", "1"], [DENSITIES[0], "K-ELM", "3", "3"]]
    assert shown[-1] == [DENSITIES[2], "K-ELM", "out of memory", ""]
    assert any("sparse-100k[density=0.1]" in note and "out-of-memory" in note for note in notes_of(table))


def test_what_ended_otherwise_is_marked_at_its_value(toy: Toy) -> None:
    points = [
        ("a", "ELM", 0.1, 2.0, "out-of-memory"), ("a", "ELM", 0.2, np.nan, "timeout"), ("a", "SVM", 0.1, 3.0, ""),
        ("b", "SVM", 0.1, np.nan, "out-of-memory"),
    ]  # fmt: skip
    curves = pd.DataFrame(points, columns=["dataset", "model", "value", "mean", "ending"])
    resolved = toy(**TIMES)
    figure = layout_of(resolved).draw(curves.assign(std=0.5, option="density"), resolved)
    lines = [line for axes in figure.axes for line in axes.lines if len(line.get_xdata())]
    elm, svm = line_styles(["ELM", "SVM"]).values()
    crosses = [i for i, line in enumerate(lines) if line.get_marker() in ("x", "+")]
    assert [(lines[i].get_marker(), list(lines[i].get_xdata()), lines[i].get_color()) for i in crosses] == [
        ("x", [0.1], elm["color"]), ("+", [0.2], elm["color"]), ("x", [0.1], svm["color"]),
    ]  # fmt: skip
    assert all(0.75 < height < 1 for i in crosses for height in lines[i].get_ydata())
    # Around each cross is the marker of its model.
    assert [lines[i - 1].get_marker() for i in crosses] == [elm["marker"], elm["marker"], svm["marker"]]


@pytest.mark.parametrize(
    "names",
    [["wdbc"], [*densities("sparse-10k", 0.1), "sparse-10k"], [*DENSITIES, "mackey-glass[noise_variance=0]"]],
)
def test_data_sets_without_the_option_have_no_curve(toy: Toy, names: list[str]) -> None:
    resolved = toy(**TIMES | {"datasets": names})
    with pytest.raises(ElmbenchError, match="names with one option, the same for all"):
        layout_of(resolved)


def test_no_curve_where_nothing_was_run(toy: Toy) -> None:
    assert figure_of(toy(**TIMES), []) is None
    alone = figure_of(toy(**TIMES), timed("ELM", None))
    assert alone is not None
    assert alone.data["ending"].tolist() == ["out-of-memory"]


# --- Trials ----------------------------------------------------------------------------------------------------------

TRIALS: dict[str, Any] = {"layout": "trials", "datasets": ["wdbc", "calhousing"]}
BOTH = {"protocol": {"metrics": ["mcc", "nrmse"]}}


def test_a_trial_is_the_mean_over_the_folds_of_a_run(toy: Toy) -> None:
    resolved = toy("WDBC,ELM,mcc,0.9,,\n", **TRIALS, **BOTH)
    lines = [cell(run=run, fold=fold, mcc=0.5 + 0.1 * run + 0.2 * fold) for run in (0, 1) for fold in (0, 1)]
    lines += [cell("K-ELM", run=0, mcc=0.9), cell("K-ELM", run=0, fold=1, status="timeout", reason="> 5 s")]
    lines += [cell(dataset="calhousing", run=0, nrmse=0.3)]
    lines += [cell(run=0, reading="order=stored", mcc=0.0), cell(run=0, select="oracle", mcc=0.0)]
    drawn = figure_of(resolved, lines)
    assert drawn is not None
    assert drawn.png[:8] == b"\x89PNG\r\n\x1a\n"
    result = drawn.data
    assert result[["dataset", "model", "metric", "trial"]].to_numpy().tolist() == [
        ["WDBC", "ELM", "mcc", 1], ["WDBC", "ELM", "mcc", 2], ["WDBC", "K-ELM", "mcc", 1],
        ["calhousing", "ELM", "nrmse", 1],
    ]  # fmt: skip
    np.testing.assert_allclose(result["value"], [0.6, 0.7, np.nan, 0.3])
    assert rows_of(table_of(resolved, lines).sections[0])[0]["value"].startswith("0.65")


def test_every_model_has_a_line_in_every_panel(toy: Toy) -> None:
    points = [(d, m, t, 0.1 * t) for d in "abcd" for m in ("ELM", "SVM") for t in (1, 2, 3)]
    trials = pd.DataFrame(points, columns=["dataset", "model", "trial", "value"]).assign(metric="accuracy")
    resolved = toy(**TRIALS)
    every = layout_of(resolved).draw(trials, resolved).axes
    panels = [[line.get_marker() for line in axes.lines if len(line.get_xdata())] for axes in every]
    assert panels == [["o", "s"]] * 4

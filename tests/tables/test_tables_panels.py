"""Figures with a panel for each data set: over sizes, over an option of the data, by trial, along a
stream.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_cells import cell, headings, notes_of, rows_of, table_of
from made_figures import Toy, data_of, draw, figure_of
from sentences import pattern

from elmbench.errors import ElmbenchError
from elmbench.tables import kind_of_table
from elmbench.tables.base import Entry
from elmbench.tables.drawing import line_styles
from elmbench.tables.number_texts import ending_text
from elmbench.tasks.plan import Plan
from elmbench.tasks.stream import Stream

# --- Sizes
# -----------------------------------------------------------------------------

BUDGETS = {
    "layout": "size-curves", "grids": {"C": [1.0], "gamma": [1.0]},
    "models": {
        "K-ELM": {"model": "k-elm", "search": ["C", "gamma"]},
        "F = 5": {"model": "fb-kos-elm", "like": "K-ELM", "params": {"budget": 5}},
        "F = 9": {"model": "fb-kos-elm", "like": "K-ELM", "params": {"budget": 9}},
    },
}  # fmt: skip


def test_columns_of_one_model_are_points_of_one_line_and_what_keeps_every_row_is_level(
    toy: Toy,
) -> None:
    lines = [
        cell("F = 9", mcc=0.8, n_units=7),
        cell("F = 9", fold=1, mcc=0.9, n_units=9),
    ]
    lines += [cell("F = 5", fold=f, mcc=v, n_units=5) for f, v in enumerate((0.5, 0.7))]
    lines += [
        cell("K-ELM", mcc=0.95, n_units=40),
        cell("K-ELM", fold=1, status="failed", reason="no"),
    ]
    # Of other selections and readings, and of models that the table has not, nothing is drawn.
    lines += [
        cell("F = 5", mcc=0.0, select="oracle"),
        cell("F = 5", mcc=0.0, reading="order=stored"),
    ]
    lines += [cell("svm", mcc=0.0)]
    result = data_of(toy(**BUDGETS), lines)
    points = result.set_index("column")
    assert points["model"].to_dict() == {
        "F = 5": "fb-kos-elm",
        "F = 9": "fb-kos-elm",
        "K-ELM": "K-ELM",
    }
    assert points["size"].to_dict() == {"F = 5": 5, "F = 9": 8, "K-ELM": 40}
    assert points["mean"].to_dict() == pytest.approx(
        {"F = 5": 0.6, "F = 9": 0.85, "K-ELM": 0.95}
    )
    assert points["std"]["F = 5"] == pytest.approx(0.02**0.5)
    assert points["n"].to_dict() == {"F = 5": 2, "F = 9": 2, "K-ELM": 1}
    (axes,) = draw(toy(**BUDGETS), result).axes
    drawn = [(list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines]
    assert drawn[:2] == [
        ([5.0, 8.0], pytest.approx([0.6, 0.85])),
        ([0, 1], [0.95, 0.95]),
    ]


# --- Options
# -----------------------------------------------------------------------------


def densities(name: str, *values: float) -> list[str]:
    return [f"{name}[density={value:g}]" for value in values]


DENSITIES = [*densities("sparse-10k", 0.1, 0.01), *densities("sparse-100k", 0.1)]
TIMES: dict[str, Any] = {"layout": "option-curves", "datasets": DENSITIES}
STOPPED = {"status": "out-of-memory", "reason": "needs 9 GB", "fit_seconds": None}


def timed(
    model: str, *seconds: float | None, dataset: str = DENSITIES[0], **values: Any
) -> list[dict[str, Any]]:
    """A cell for each run; one without seconds needed too much memory."""
    entry = {"dataset": dataset, "mcc": 0.5}
    return [
        cell(
            model,
            run=run,
            **entry | ({"fit_seconds": s} if s is not None else STOPPED) | values,
        )
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


def test_curves_over_an_option_are_mean_times_of_the_default_readings(
    toy: Toy, lines: list[dict[str, Any]]
) -> None:
    result = data_of(toy(**TIMES), lines)
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


def test_the_table_has_times_ratios_and_how_cells_ended(
    toy: Toy, lines: list[dict[str, Any]]
) -> None:
    table = table_of(toy(**TIMES), lines)
    section = next(section for section in table.sections if not section.readings)
    assert list(headings(table, section)) == ["dataset", "model", "fit", "ratio"]
    shown = [[r["dataset"], r["model"], r["fit"], r["ratio"]] for r in rows_of(section)]
    assert shown[:2] == [
        [DENSITIES[0], "ELM", "1", "1"],
        [DENSITIES[0], "K-ELM", "3", "3"],
    ]
    assert shown[-1] == [DENSITIES[2], "K-ELM", "out of memory", ""]
    assert any(
        "sparse-100k[density=0.1]" in note and "out-of-memory" in note
        for note in notes_of(table)
    )


def test_unsuccessful_cells_are_marked_at_their_value(toy: Toy) -> None:
    points = [
        ("a", "ELM", 0.1, 2.0, "out-of-memory"), ("a", "ELM", 0.2, np.nan, "timeout"), ("a", "SVM",
        0.1, 3.0, ""),
        ("b", "SVM", 0.1, np.nan, "out-of-memory"),
    ]  # fmt: skip
    curves = pd.DataFrame(
        points, columns=["dataset", "model", "value", "mean", "ending"]
    )
    figure = draw(toy(**TIMES), curves.assign(std=0.5, option="density"))
    lines = [
        line for axes in figure.axes for line in axes.lines if len(line.get_xdata())
    ]
    elm, svm = line_styles(["ELM", "SVM"]).values()
    crosses = [i for i, line in enumerate(lines) if line.get_marker() in ("x", "+")]
    assert [(lines[i].get_marker(), list(lines[i].get_xdata()),
    lines[i].get_color()) for i in crosses] == [
        ("x", [0.1], elm["color"]), ("+", [0.2], elm["color"]), ("x", [0.1], svm["color"]),
    ]  # fmt: skip
    assert all(0.75 < height < 1 for i in crosses for height in lines[i].get_ydata())
    # Around each cross is the marker of its model.
    assert [lines[i - 1].get_marker() for i in crosses] == [
        elm["marker"],
        elm["marker"],
        svm["marker"],
    ]


@pytest.mark.parametrize(
    "names",
    [
        ["wdbc"],
        [*densities("sparse-10k", 0.1), "sparse-10k"],
        [*DENSITIES, "mackey-glass[noise_variance=0]"],
    ],
)
def test_data_sets_without_the_option_have_no_curve(toy: Toy, names: list[str]) -> None:
    resolved = toy(**TIMES | {"datasets": names})
    with pytest.raises(
        ElmbenchError, match=pattern("tables.panels.names-with-one-option")
    ):
        kind_of_table(resolved)


def test_no_curve_where_nothing_was_run(toy: Toy) -> None:
    assert figure_of(toy(**TIMES), []) is None
    assert data_of(toy(**TIMES), timed("ELM", None))["ending"].tolist() == [
        "out-of-memory"
    ]


# --- Trials
# -----------------------------------------------------------------------------

TRIALS: dict[str, Any] = {"layout": "trials", "datasets": ["wdbc", "calhousing"]}
BOTH = {"protocol": {"metrics": ["mcc", "nrmse"]}}


def test_a_trial_is_the_mean_over_the_folds_of_a_run(toy: Toy) -> None:
    resolved = toy("WDBC,ELM,mcc,0.9,,\n", **TRIALS, **BOTH)
    lines = [
        cell(run=run, fold=fold, mcc=0.5 + 0.1 * run + 0.2 * fold)
        for run in (0, 1)
        for fold in (0, 1)
    ]
    lines += [
        cell("K-ELM", run=0, mcc=0.9),
        cell("K-ELM", run=0, fold=1, status="timeout", reason="> 5 s"),
    ]
    lines += [
        cell("K-ELM", run=1, mcc=0.8),
        cell(dataset="calhousing", run=0, nrmse=0.3),
    ]
    lines += [
        cell(run=0, reading="order=stored", mcc=0.0),
        cell(run=0, select="oracle", mcc=0.0),
    ]
    result = data_of(resolved, lines)
    assert result[["dataset", "model", "metric", "trial"]].to_numpy().tolist() == [
        ["WDBC", "ELM", "mcc", 1], ["WDBC", "ELM", "mcc", 2], ["WDBC", "K-ELM", "mcc", 1],
        ["WDBC", "K-ELM", "mcc", 2], ["calhousing", "ELM", "nrmse", 1],
    ]  # fmt: skip
    np.testing.assert_allclose(result["value"], [0.6, 0.7, np.nan, 0.8, 0.3])
    assert rows_of(table_of(resolved, lines).sections[0])[0]["value"].startswith("0.65")


def test_every_model_has_a_line_in_every_panel(toy: Toy) -> None:
    points = [
        (d, m, t, 0.1 * t) for d in "abcd" for m in ("ELM", "SVM") for t in (1, 2, 3)
    ]
    trials = pd.DataFrame(
        points, columns=["dataset", "model", "trial", "value"]
    ).assign(metric="accuracy")
    every = draw(toy(**TRIALS), trials).axes
    panels = [
        [line.get_marker() for line in axes.lines if len(line.get_xdata())]
        for axes in every
    ]
    assert panels == [["o", "s"]] * 4


# --- Streams
# -----------------------------------------------------------------------------

PROTOCOL: dict[str, Any] = {
    "scale": None, "inner": {"kind": "stratified-kfold", "folds": 3}, "select": "nested",
    "outer": {"kind": "stratified-holdout", "runs": 2, "sizes": {"wdbc": {"train": 100,
    "test": 200}}},
    "metrics": ["accuracy", "n_units"],
}  # fmt: skip
STREAM: dict[str, Any] = {
    "layout": "stream-curves", "options": {"chunk": 60}, "protocol": PROTOCOL, "grids": {"C": [1]},
    "published": None,
    "models": {name: {"model": "os-pvm", "params": {"update_mean": name == "on"}} for name in ("on",
    "off")},
    "claims": [], "readings": [],
}  # fmt: skip
POINTS = [
    "accuracy@rows=60",
    "accuracy@rows=100",
    "n_units@rows=60",
    "n_units@rows=100",
]


def test_a_stream_has_a_point_after_each_chunk(toy: Toy) -> None:
    resolved = toy(**STREAM)
    layout = kind_of_table(resolved)
    assert [measure.column for measure in layout.measures("wdbc", "on")] == POINTS
    assert [measure.column for measure in layout.values()] == POINTS
    lines = [
        cell("on", run=run, **dict(zip(POINTS, (0.5 + run, 0.75, 10, 20), strict=True)))
        for run in (0, 1)
    ]
    lines += [cell("off", run=0, **dict(zip(POINTS, (0.25, 0.5, 11, 21), strict=True)))]
    result = data_of(resolved, lines)
    assert result[["model", "metric", "value", "n"]].to_numpy().tolist() == [
        [model, metric, rows, n] for model, n in (("on", 2), ("off", 1)) for metric in ("accuracy",
        "n_units")
        for rows in (60, 100)
    ]  # fmt: skip
    np.testing.assert_allclose(result["mean"], [1, 0.75, 10, 20, 0.25, 0.5, 11, 21])


def test_a_table_has_a_line_for_each_chunk_and_a_column_for_each_measure_of_each_model(
    toy: Toy,
) -> None:
    resolved = toy(**STREAM)
    layout = kind_of_table(resolved)
    entries = [
        Entry("wdbc", model, measure, 0.5, f"{model} {measure.column}")
        for model in ("on", "off")
        for measure in layout.measures("wdbc", model)
    ]
    columns = layout.columns(["wdbc"])
    names = ("on accuracy", "on n_units", "off accuracy", "off n_units")
    assert [column.heading for column in columns] == [
        "data set",
        "rows",
        "on accuracy",
        "on model size",
        "off accuracy",
        "off model size",
    ]
    result = [dict(line) for line in layout.lines(entries)]
    assert result == [
        {"dataset": "wdbc", "rows": rows}
        | {f"value {name}": f"{name}@rows={rows}" for name in names}
        for rows in ("60", "100")
    ]
    missing = [
        replace(entry, mean=None, shown=ending_text("unavailable")) for entry in entries
    ]
    (line,) = layout.lines(missing)
    assert {text for name, text in line.items() if name.startswith("value")} == {"–"}
    assert line["rows"] == ""


def test_the_work_of_a_stream(
    plan_toy: Callable[..., Plan], experiment: dict[str, Any]
) -> None:
    tasks = plan_toy(experiment | STREAM).tasks.values()
    assert len(tasks) == 4  # two runs of each column
    for task in tasks:
        assert isinstance(task, Stream)
        assert (task.chunk, task.number_of_fits) == (60, 1)
    assert {task.params["update_mean"] for task in tasks} == {True, False}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"models": {"on": {"model": "os-pvm", "search": ["C"]}}},
            "models.on searches C; expected fixed parameters",
        ),
        (
            {"protocol": PROTOCOL | {"metrics": ["mcc"]}},
            "protocol.metrics has none of accuracy",
        ),
        (
            {
                "protocol": PROTOCOL
                | {"outer": {"kind": "stratified-kfold", "folds": 2}}
            },
            "protocol.outer.kind is stratified-kfold; expected one of holdout",
        ),
        ({"options": {"chunk": 0}}, "options.chunk"),
    ],
)
def test_what_a_stream_needs(toy: Toy, change: dict[str, Any], message: str) -> None:
    with pytest.raises(ElmbenchError, match=message):
        kind_of_table(toy(**STREAM | change))

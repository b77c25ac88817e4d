"""Streams as tables: their work, their points, their picture, and what they need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from made_cells import cell
from made_figures import Toy, data_of

from elmbench.errors import ElmbenchError
from elmbench.layouts import layout_of
from elmbench.layouts.base import Entry
from elmbench.layouts.table import Ending, Text
from elmbench.work.plan import Plan
from elmbench.work.stream import Stream

PROTOCOL: dict[str, Any] = {
    "scale": None, "inner": {"kind": "stratified-kfold", "folds": 3}, "select": "nested",
    "outer": {"kind": "stratified-holdout", "runs": 2, "sizes": {"wdbc": {"train": 100, "test": 200}}},
    "metrics": ["accuracy", "n_units"],
}  # fmt: skip
STREAM: dict[str, Any] = {
    "layout": "stream-curves", "options": {"chunk": 60}, "protocol": PROTOCOL, "grids": {"C": [1]}, "published": None,
    "models": {name: {"model": "os-pvm", "params": {"update_mean": name == "on"}} for name in ("on", "off")},
    "claims": [], "readings": [],
}  # fmt: skip
POINTS = ["accuracy@rows=60", "accuracy@rows=100", "n_units@rows=60", "n_units@rows=100"]


def test_a_stream_has_a_point_after_each_chunk(toy: Toy) -> None:
    resolved = toy(**STREAM)
    layout = layout_of(resolved)
    assert [measure.column for measure in layout.measures(resolved, "wdbc", "on")] == POINTS
    assert [measure.column for measure in layout.values(resolved)] == POINTS
    lines = [cell("on", run=run, **dict(zip(POINTS, (0.5 + run, 0.75, 10, 20), strict=True))) for run in (0, 1)]
    lines += [cell("off", run=0, **dict(zip(POINTS, (0.25, 0.5, 11, 21), strict=True)))]
    result = data_of(resolved, lines)
    assert result[["model", "metric", "value", "n"]].to_numpy().tolist() == [
        [model, metric, rows, n] for model, n in (("on", 2), ("off", 1)) for metric in ("accuracy", "n_units")
        for rows in (60, 100)
    ]  # fmt: skip
    np.testing.assert_allclose(result["mean"], [1, 0.75, 10, 20, 0.25, 0.5, 11, 21])


def test_a_table_has_a_line_for_each_chunk_and_a_column_for_each_measure_of_each_model(toy: Toy) -> None:
    resolved = toy(**STREAM)
    layout = layout_of(resolved)
    entries = [
        Entry("wdbc", model, measure, 0.5, Text(f"{model} {measure.column}"))
        for model in ("on", "off")
        for measure in layout.measures(resolved, "wdbc", model)
    ]
    columns = layout.columns(resolved, ["wdbc"])
    names = ("on accuracy", "on n_units", "off accuracy", "off n_units")
    assert [column.heading for column in columns] == ["data set", "rows", *names]
    result = [{name: item.text for name, item in line.items()} for line in layout.lines(entries, {}, resolved)]
    assert result == [
        {"dataset": "wdbc", "rows": rows} | {f"value {name}": f"{name}@rows={rows}" for name in names}
        for rows in ("60", "100")
    ]
    missing = [replace(entry, mean=None, shown=Ending("unavailable")) for entry in entries]
    (line,) = layout.lines(missing, {}, resolved)
    assert {item.text for name, item in line.items() if name.startswith("value")} == {"-"}
    assert line["rows"].text == ""


def test_the_work_of_a_stream(plan_toy: Callable[..., Plan], experiment: dict[str, Any]) -> None:
    works = plan_toy(experiment | STREAM).works.values()
    assert len(works) == 4  # two runs of each column
    for work in works:
        assert isinstance(work, Stream)
        assert (work.chunk, work.number_of_fits) == (60, 1)
    assert {work.params["update_mean"] for work in works} == {True, False}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"models": {"on": {"model": "os-pvm", "search": ["C"]}}}, "models.on searches C; expected fixed parameters"),
        ({"protocol": PROTOCOL | {"metrics": ["mcc"]}}, "protocol.metrics has none of accuracy"),
        (
            {"protocol": PROTOCOL | {"outer": {"kind": "stratified-kfold", "folds": 2}}},
            "protocol.outer.kind is stratified-kfold; expected one of holdout",
        ),
        ({"options": {"chunk": 0}}, "options.chunk"),
    ],
)
def test_what_a_stream_needs(toy: Toy, change: dict[str, Any], message: str) -> None:
    with pytest.raises(ElmbenchError, match=message):
        layout_of(toy(**STREAM | change))

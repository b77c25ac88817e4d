"""Sizes of models as a table, and times of predictions where a table names them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from made_cells import cell, headings, rows_of, table_of

from elmbench.layouts import layout_of
from elmbench.specs.measures import Measure
from elmbench.specs.profiles import Resolved

Toy = Callable[..., Resolved]
SIZES: dict[str, Any] = {
    "layout": "model-sizes",
    "models": {
        "SVD+ELM": {"model": "svd+os-elm", "params": {"n_components": 7, "n_hidden": 9}},
        "ELM": {"model": "elm", "params": {"n_hidden": 12}},
    },
    "claims": [],
}
FIGURES = "WDBC,SVD+ELM,target_dimensions,8,,\nWDBC,SVD+ELM,nodes,9,,\nWDBC,ELM,nodes,10,,\n"


def all_cells(model: str, **values: Any) -> list[dict[str, Any]]:
    return [cell(model, run, fold, mcc=0.5, **values) for run in (0, 1) for fold in (0, 1)]


def test_sizes_and_target_dimensions(toy: Toy) -> None:
    resolved = toy(FIGURES, **SIZES)
    lines = all_cells("SVD+ELM", n_units=9, params={"n_components": 7}) + all_cells("ELM", n_units=12)
    (section,) = table_of(resolved, lines).sections
    result = [
        (row["model"], row["measure"], row["value"], row["published"], row["verdict"]) for row in rows_of(section)
    ]
    assert result == [
        ("SVD+ELM", "n_units", "9.0 ± 0.0", "9", ""),
        ("SVD+ELM", "target_dimensions", "7.0 ± 0.0", "8", ""),
        ("ELM", "n_units", "12.0 ± 0.0", "10", ""),
    ]


def test_times_of_predictions_and_accuracies_of_training_rows_are_shown_where_they_are_named(toy: Toy) -> None:
    figures = "WDBC,ELM,test_seconds,0.5,,\nWDBC,ELM,train_accuracy_percent,99.8,,\n"
    part = {"train_accuracy": 0.95, "predict_seconds": 0.25}

    def shown(*metrics: str) -> tuple[Resolved, dict[str, str], dict[str, str]]:
        resolved = toy(figures, protocol={"metrics": ["mcc", *metrics]})
        table = table_of(resolved, all_cells("ELM", **(part if metrics else {"predict_seconds": 0.25})))
        (section,) = table.sections
        return resolved, headings(table, section), rows_of(section)[0]

    resolved, names, line = shown("train_accuracy", "predict_seconds")
    assert names["value2"] == "train_accuracy"
    assert (line["value2"], line["published2"], line["verdict2"]) == ("0.9500 ± 0.0000", "0.998", "too few runs")
    assert (line["predict"], line["published_predict"]) == ("0.25", "0.5")
    assert Measure("train_accuracy") in layout_of(resolved).values(resolved)
    assert not layout_of(resolved).is_judged(Measure("predict_seconds"))
    resolved, names, line = shown()
    assert not {"value2", "predict"} & set(names)
    assert Measure("train_accuracy") not in layout_of(resolved).values(resolved)

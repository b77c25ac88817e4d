"""Metrics over the size of models: means over the folds of each column, joined by their model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from made_cells import cell, frame

from elmbench.layouts import layout_of
from elmbench.specs.profiles import Resolved

BUDGETS = {
    "layout": "size-curves", "grids": {"C": [1.0], "gamma": [1.0]},
    "models": {
        "K-ELM": {"model": "k-elm", "search": ["C", "gamma"]},
        "F = 5": {"model": "fb-kos-elm", "like": "K-ELM", "params": {"budget": 5}},
        "F = 9": {"model": "fb-kos-elm", "like": "K-ELM", "params": {"budget": 9}},
    },
}  # fmt: skip


def drawn(resolved: Resolved, *lines: dict[str, Any]) -> Any:
    return layout_of(resolved).figure(frame(resolved, list(lines)), [], resolved)


def test_columns_of_one_model_are_points_of_one_line(toy: Callable[..., Resolved]) -> None:
    lines = [cell("F = 5", fold=f, mcc=v, n_units=5) for f, v in enumerate((0.5, 0.7))]
    lines += [cell("F = 9", mcc=0.8, n_units=7), cell("F = 9", fold=1, mcc=0.9, n_units=9)]
    lines += [cell("K-ELM", mcc=0.95, n_units=40), cell("K-ELM", fold=1, status="failed", reason="no")]
    # Of other selections and readings, and of models that the table has not, nothing is drawn.
    lines += [cell("F = 5", mcc=0.0, select="oracle"), cell("F = 5", mcc=0.0, reading="order=stored")]
    lines += [cell("svm", mcc=0.0)]
    result = drawn(toy(**BUDGETS), *lines)
    assert result.png[:8] == b"\x89PNG\r\n\x1a\n"
    points = result.data.set_index("column")
    assert points["model"].to_dict() == {"F = 5": "fb-kos-elm", "F = 9": "fb-kos-elm", "K-ELM": "K-ELM"}
    assert points["size"].to_dict() == {"F = 5": 5, "F = 9": 8, "K-ELM": 40}
    assert points["mean"].to_dict() == pytest.approx({"F = 5": 0.6, "F = 9": 0.85, "K-ELM": 0.95})
    assert points["std"]["F = 5"] == pytest.approx(0.02**0.5)
    assert points["n"].to_dict() == {"F = 5": 2, "F = 9": 2, "K-ELM": 1}


def test_each_model_has_its_line_and_what_keeps_every_row_a_level_one(
    toy: Callable[..., Resolved],
) -> None:
    resolved = toy(**BUDGETS)
    points = drawn(
        resolved,
        cell("F = 9", mcc=0.8, n_units=9), cell("F = 5", mcc=0.5, n_units=5), cell("K-ELM", mcc=0.95, n_units=40),
    ).data  # fmt: skip
    (axes,) = layout_of(resolved).draw(points, resolved).axes
    lines = [(list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines]
    assert lines[:2] == [([5.0, 9.0], [0.5, 0.8]), ([0, 1], [0.95, 0.95])]

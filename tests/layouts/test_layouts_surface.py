"""A metric over two hyperparameters: what a table must say for it, its points and its picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_cells import cell, frame

from elmbench.errors import ElmbenchError
from elmbench.layouts import layout_of
from elmbench.layouts.figures import Figure, png
from elmbench.specs.profiles import Resolved
from elmbench.work.plan import Plan

Toy = Callable[..., Resolved]


def columns(*sizes: int) -> dict[str, Any]:
    return {f"L={n}": {"model": "elm", "search": ["C"], "params": {"n_hidden": n}} for n in sizes}


SURFACE: dict[str, Any] = {
    "layout": "surface", "options": {"rows": "n_hidden"}, "grids": {"C": {"powers-of-2": [-10, -8]}},
    "models": columns(200, 50),
}  # fmt: skip
NAMES = ["mcc@C=2^-10", "mcc@C=2^-9", "mcc@C=0.00390625"]


def values(*result: float) -> dict[str, float]:
    return dict(zip(NAMES, result, strict=True))


def figure_of(resolved: Resolved, lines: list[dict[str, Any]]) -> Figure | None:
    return layout_of(resolved).figure(frame(resolved, lines), (), resolved)


def test_points_are_means_over_folds_at_both_hyperparameters(toy: Toy) -> None:
    resolved = toy("WDBC,L=50,mcc,0.9,,\n", **SURFACE)
    lines = [cell("L=200", fold=f, **values(0.5 + f, 0.7, 0.9)) for f in (0, 1)]
    lines += [cell("L=50", fold=0, **values(0.1, 0.2, 0.3)), cell("L=50", fold=1, status="failed", reason="no")]
    lines += [cell("L=50", reading="order=stored", **values(0, 0, 0))]
    drawn = figure_of(resolved, lines)
    assert drawn is not None
    assert drawn.png[:8] == b"\x89PNG\r\n\x1a\n"
    result = drawn.data
    assert result[["dataset", "parameter", "value", "row", "row_value", "n"]].to_numpy().tolist() == [
        ["WDBC", "C", 2.0**e, "h", size, n] for size, n in ((200, 2), (50, 1)) for e in (-10, -9, -8)
    ]
    np.testing.assert_allclose(result["mean"], [1, 0.7, 0.9, 0.1, 0.2, 0.3])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"options": {}}, "the key 'options.rows' is missing"),
        ({"options": {"rows": "gamma"}}, "params.gamma is None; expected a number of its own"),
        (
            {"models": columns(50) | {"again": columns(50)["L=50"]}},
            "params.n_hidden is 50; expected a number of its own",
        ),
        (
            {"models": columns(50) | {"g": {"model": "k-elm", "search": ["gamma"]}}, "grids": {"C": [1], "gamma": [1]}},
            "models search C, gamma; expected the same hyperparameter of each column",
        ),
    ],
)
def test_what_a_surface_needs(toy: Toy, change: dict[str, Any], message: str) -> None:
    with pytest.raises(ElmbenchError, match=message) as error:
        layout_of(toy(**SURFACE | change))
    assert "one.yaml" in error.value.found


def test_other_models_have_no_place_in_it(plan_toy: Callable[..., Plan], experiment: dict[str, Any]) -> None:
    plan = plan_toy(experiment | SURFACE, models=("L=50", "svm"))
    assert {cell.model for cell in plan.cells} == {"L=50"}


@pytest.mark.parametrize(("metric", "point"), [("accuracy", (1.5, 0.5)), ("rmse", (0.5, 1.5))])
def test_the_best_point_has_a_star(toy: Toy, metric: str, point: tuple[float, float]) -> None:
    heights = {(200, 0.25): 0.1, (200, 0.5): 0.5, (200, 1.0): 0.4, (50, 0.25): 0.3, (50, 0.5): 0.9}
    points = pd.DataFrame([(*at, mean) for at, mean in heights.items()], columns=["row_value", "value", "mean"])
    resolved = toy(**SURFACE)
    points = points.assign(dataset="d", metric=metric, parameter="C", row="h")
    axes = layout_of(resolved).draw(points, resolved).axes[0]
    (best,) = axes.lines
    # Rows and columns rise from the left and from below, in any order of the table.
    assert (best.get_xdata()[0], best.get_ydata()[0]) == point
    assert [label.get_text() for label in axes.get_yticklabels()] == ["50", "200"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["$2^{-2}$", "$2^{-1}$", "$2^{0}$"]
    assert [label.get_text() for label in axes.child_axes[0].get_xticklabels()] == ["$2^{2}$", "$2^{1}$", "$2^{0}$"]


def test_a_surface_of_one_point_or_one_height_is_drawn_without_lines(toy: Toy) -> None:
    points = pd.DataFrame({"row_value": [1, 1, 2, 2], "value": [3.0, 5.0] * 2, "mean": 0.5, "dataset": "d"})
    points = points.assign(metric="accuracy", parameter="gamma", row="h")
    resolved = toy(**SURFACE)
    for part in (points, points[:1]):
        assert png(layout_of(resolved).draw(part, resolved))[:4] == b"\x89PNG"

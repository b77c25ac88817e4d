"""Figures: curves of precision as scikit-learn has them, curves over a hyperparameter as means over folds."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_cells import cell, cell_of, frame, predictions
from sklearn.metrics import average_precision_score, precision_recall_curve

from elmbench.layouts import layout_of
from elmbench.layouts.base import Outputs
from elmbench.layouts.figures import Figure, png, title_of
from elmbench.specs.profiles import Resolved

Scores = tuple[np.ndarray, np.ndarray]


def scores(seed: int, n: int = 40) -> Scores:
    generator = np.random.default_rng(seed)
    true = np.where(generator.random(n) < 0.3, 1, -1)
    # Rounded, so that there are ties.
    return true, np.round(true * 0.5 + generator.normal(size=n), 1)


#: A cell of a model and its outputs; None where it did not end ok.
Drawn = tuple[dict[str, Any], Scores | None]


def figure_of(resolved: Resolved, *drawn: Drawn) -> Figure | None:
    """The figure of these cells; the outputs of other readings are never asked for."""
    lines = [line for line, _ in drawn]
    outputs = [
        Outputs(cell_of(line), {"predictions": predictions(result[0] > 0, result[0] > 0, result[1])})
        for line, result in drawn
        if result is not None and not line["reading"]
    ]
    return layout_of(resolved).figure(frame(resolved, lines), outputs, resolved)


@pytest.fixture
def figure(toy: Callable[..., Resolved]) -> Callable[..., pd.DataFrame]:
    def draw(*drawn: Drawn) -> pd.DataFrame:
        result = figure_of(toy(layout="precision-recall"), *drawn)
        assert result is not None
        assert result.png[:8] == b"\x89PNG\r\n\x1a\n"
        return result.data

    return draw


def check(curve: pd.DataFrame, model: str, *parts: Scores) -> None:
    """Hold the curve of a model against scikit-learn's on all these rows together."""
    true, score = (np.concatenate(both) for both in zip(*parts, strict=True))
    part = curve[curve["model"] == model]
    precision, recall, _ = precision_recall_curve(true, score, pos_label=1, drop_intermediate=True)
    np.testing.assert_allclose(part["precision"], precision, rtol=1e-12)
    np.testing.assert_allclose(part["recall"], recall, rtol=1e-12)
    np.testing.assert_allclose(part["average_precision"], average_precision_score(true, score), rtol=1e-12)


def test_the_curve_is_of_the_rows_of_all_folds_together(figure: Callable[..., pd.DataFrame]) -> None:
    a, b, c = scores(0), scores(1), scores(2)
    curve = figure((cell("ELM"), a), (cell("ELM", fold=1), b), (cell("K-ELM"), c))
    assert curve["model"].unique().tolist() == ["ELM", "K-ELM"]
    check(curve, "ELM", a, b)
    check(curve, "K-ELM", c)


def test_other_selections_and_cells_that_failed_are_not_mixed_in(figure: Callable[..., pd.DataFrame]) -> None:
    a, b, other = scores(0), scores(1), scores(2)
    curve = figure(
        (cell("ELM", reading=""), a),
        (cell("ELM", fold=1, status="diverged"), None),
        (cell("ELM", select="oracle"), other),
        # What was selected in one way only is shown of that.
        (cell("svm", select="oracle"), b),
        (cell("svm", reading="order=stored"), other),
    )
    check(curve, "ELM", a)
    check(curve, "svm", b)


def test_every_model_is_drawn_and_the_same_data_give_the_same_picture(toy: Callable[..., Resolved]) -> None:
    resolved = toy(layout="precision-recall")
    layout = layout_of(resolved)
    drawn = figure_of(resolved, *((cell(f"m{i}"), scores(i)) for i in range(6)))
    assert drawn is not None
    (axes,) = layout.draw(drawn.data, resolved).axes
    labels = [line.get_label() for line in axes.lines]
    assert [label.split(" ")[0] for label in labels] == [f"m{i}" for i in range(6)]
    assert labels[0] == f"m0 (average precision {drawn.data['average_precision'].iloc[0]:.3f})"
    again = pd.read_csv(StringIO(drawn.data.to_csv(index=False)))
    assert png(layout.draw(again, resolved)) == drawn.png


CURVES = {
    "layout": "curves", "datasets": ["wdbc", "heart"], "grids": {"n_hidden": [5, 10]},
    "models": {"ELM": {"model": "elm", "search": ["n_hidden"]}},
}  # fmt: skip


def test_curves_over_the_number_of_nodes_are_means_over_folds(toy: Callable[..., Resolved]) -> None:
    resolved = toy("WDBC,ELM,mcc,0.9,,\n", **CURVES)
    lines = [cell(fold=f, **{"mcc@h=5": v, "mcc@h=10": 0.9}) for f, v in enumerate((0.5, 0.7))]
    lines += [cell(fold=0, dataset="heart", **{"mcc@h=5": 0.1, "mcc@h=10": 0.2})]
    lines += [cell(fold=1, dataset="heart", status="failed", reason="no")]
    lines += [cell(fold=0, reading="order=stored", **{"mcc@h=5": 0.0, "mcc@h=10": 0.0})]
    drawn = figure_of(resolved, *((line, None) for line in lines))
    assert drawn is not None
    assert drawn.png[:8] == b"\x89PNG\r\n\x1a\n"
    result = drawn.data
    assert result[["dataset", "value", "n"]].to_numpy().tolist() == [
        ["WDBC", 5, 2], ["WDBC", 10, 2], ["heart", 5, 1], ["heart", 10, 1],
    ]  # fmt: skip
    np.testing.assert_allclose(result["mean"], [0.6, 0.9, 0.1, 0.2])
    np.testing.assert_allclose(result["std"][:2], [0.02**0.5, 0], atol=1e-12)
    assert (set(result["metric"]), set(result["parameter"])) == ({"mcc"}, {"h"})


def test_every_data_set_has_a_line_that_the_legend_names_from_the_top(toy: Callable[..., Resolved]) -> None:
    points = [(f"d{i:02}", h, (i * 7 % 12) / 12) for i in range(12) for h in (5, 10)]
    curves = pd.DataFrame(points, columns=["dataset", "value", "mean"])
    curves = curves.assign(model="EEM-RBF", metric="gmean", parameter="h")
    resolved = toy(**CURVES)
    lines = layout_of(resolved).draw(curves, resolved).axes[0].lines
    ends = curves[curves["value"] == 10].sort_values("mean", ascending=False)
    assert [line.get_label() for line in lines] == ends["dataset"].tolist()
    assert len({(line.get_linestyle(), line.get_marker()) for line in lines}) == 12


def test_curves_over_powers_of_two_stand_at_equal_distances_below_their_ridges(toy: Callable[..., Resolved]) -> None:
    points = [(m, 2.0**e, 0.1 * e * i) for i, m in enumerate(("L = 200", "L = 400")) for e in range(-5, 31)]
    curves = pd.DataFrame(points, columns=["model", "value", "mean"])
    curves = curves.assign(dataset="Satimage", metric="accuracy", parameter="C")
    resolved = toy(**CURVES)
    draw = layout_of(resolved).draw
    figure = draw(curves, resolved)
    (axes, *_), (other, *_) = figure.axes, draw(curves.assign(value=curves["value"] + 1), resolved).axes
    title = f"{title_of(resolved)}: Satimage"
    assert (axes.get_xscale(), axes.get_xlim(), axes.get_title()) == ("log", (2.0**-5, 2.0**30), title)
    assert [line.get_label() for line in axes.lines] == ["L = 400", "L = 200"]
    figure.draw_without_rendering()
    (above,) = axes.child_axes
    named = dict(zip(above.get_xticks(), (label.get_text() for label in above.get_xticklabels()), strict=True))
    assert named[2.0**8] == "$2^{-8}$"
    assert (other.get_xscale(), other.child_axes) == ("linear", [])


ELM = {"model": "elm", "search": ["C"], "params": {"n_hidden": 5}}


@pytest.mark.parametrize(
    "changes",
    [
        *({"layout": name} for name in ("metrics", "precision-recall", "size-curves", "trials", "weight-paths")),
        {"layout": "curves", "models": {"ELM": ELM}},
        {"layout": "surface", "models": {"ELM": ELM}, "options": {"rows": "n_hidden"}},
    ],
)
def test_nothing_is_drawn_where_nothing_has_ended(toy: Callable[..., Resolved], changes: dict[str, Any]) -> None:
    resolved = toy(**changes)
    assert figure_of(resolved, (cell(status="timeout", reason="> 5 s"), None)) is None
    assert figure_of(resolved) is None

"""Curves of precision as scikit-learn has them, curves and surfaces over hyperparameters as means
over folds.
"""

import re
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_cells import RESULTS, cell, cell_of, predictions
from made_figures import Toy, data_of, draw, figure_of
from matplotlib import rc_context
from sentences import pattern
from sklearn.metrics import average_precision_score, precision_recall_curve

from elmbench.errors import ElmbenchError
from elmbench.specs.catalogue import find_experiment
from elmbench.specs.profiles import resolve
from elmbench.tables import kind_of_table
from elmbench.tables.base import Outputs
from elmbench.tables.drawing import (
    PALETTE,
    ProperNames,
    figure_bytes,
    headline,
    line_styles,
    new_figure,
    title_of,
    words_for,
)
from elmbench.tasks.plan import Plan

Scores = tuple[np.ndarray, np.ndarray]
#: A cell of a model and its outputs; None where it did not end ok.
Drawn = tuple[dict[str, Any], Scores | None]


def scores(seed: int, n: int = 40) -> Scores:
    generator = np.random.default_rng(seed)
    true = np.where(generator.random(n) < 0.3, 1, -1)
    # Rounded, so that there are ties.
    return true, np.round(true * 0.5 + generator.normal(size=n), 1)


def curves_of(toy: Toy, *drawn: Drawn) -> pd.DataFrame:
    """The curves of these cells; the outputs of other readings are never asked for."""
    outputs = [
        Outputs(
            cell_of(line),
            {"predictions": predictions(result[0] > 0, result[0] > 0, result[1])},
        )
        for line, result in drawn
        if result is not None and not line["reading"]
    ]
    return data_of(toy(layout="precision-recall"), [line for line, _ in drawn], outputs)


def check(curve: pd.DataFrame, model: str, *parts: Scores) -> None:
    """Hold the curve of a model against scikit-learn's on all these rows together."""
    true, score = (np.concatenate(both) for both in zip(*parts, strict=True))
    part = curve[curve["model"] == model]
    precision, recall, _ = precision_recall_curve(
        true, score, pos_label=1, drop_intermediate=True
    )
    np.testing.assert_allclose(part["precision"], precision, rtol=1e-12)
    np.testing.assert_allclose(part["recall"], recall, rtol=1e-12)
    np.testing.assert_allclose(
        part["average_precision"], average_precision_score(true, score), rtol=1e-12
    )


def test_a_precision_recall_curve_is_of_the_rows_of_all_folds_together(
    toy: Toy,
) -> None:
    a, b, other = scores(0), scores(1), scores(2)
    curve = curves_of(
        toy,
        (cell("ELM"), a),
        (cell("ELM", fold=1), b),
        (cell("K-ELM", fold=1, status="diverged"), None),
        (cell("ELM", select="oracle"), other),
        # What was selected in one way only is shown of that.
        (cell("svm", select="oracle"), b),
        (cell("svm", reading="order=stored"), other),
    )
    assert curve["model"].unique().tolist() == ["ELM", "svm"]
    check(curve, "ELM", a, b)
    check(curve, "svm", b)


def test_every_model_is_drawn_and_the_same_data_give_the_same_picture(toy: Toy) -> None:
    curves = curves_of(toy, *((cell(f"m{i}"), scores(i)) for i in range(6)))
    resolved = toy(layout="precision-recall")
    (axes,) = draw(resolved, curves).axes
    labels = [line.get_label() for line in axes.lines]
    assert [label.split(" ")[0] for label in labels] == [f"m{i}" for i in range(6)]
    assert (
        labels[0] == f"m0 (average precision {curves['average_precision'].iloc[0]:.3f})"
    )
    again = pd.read_csv(StringIO(curves.to_csv(index=False)))
    assert figure_bytes(draw(resolved, again)) == figure_bytes(draw(resolved, curves))


# --- Curves
# -----------------------------------------------------------------------------

CURVES = {
    "layout": "curves", "datasets": ["wdbc", "heart"], "grids": {"n_hidden": [5, 10]},
    "models": {"ELM": {"model": "elm", "search": ["n_hidden"]}},
}  # fmt: skip


def test_curves_over_the_number_of_nodes_are_means_over_folds(toy: Toy) -> None:
    lines = [
        cell(fold=f, **{"mcc@h=5": v, "mcc@h=10": 0.9})
        for f, v in enumerate((0.5, 0.7))
    ]
    lines += [cell(fold=0, dataset="heart", **{"mcc@h=5": 0.1, "mcc@h=10": 0.2})]
    lines += [cell(fold=1, dataset="heart", status="failed", reason="no")]
    lines += [cell(fold=0, reading="order=stored", **{"mcc@h=5": 0.0, "mcc@h=10": 0.0})]
    result = data_of(toy("WDBC,ELM,mcc,0.9,,\n", **CURVES), lines)
    assert result[["dataset", "value", "n"]].to_numpy().tolist() == [
        ["WDBC", 5, 2], ["WDBC", 10, 2], ["heart", 5, 1], ["heart", 10, 1],
    ]  # fmt: skip
    np.testing.assert_allclose(result["mean"], [0.6, 0.9, 0.1, 0.2])
    np.testing.assert_allclose(result["std"][:2], [0.02**0.5, 0], atol=1e-12)
    assert (set(result["metric"]), set(result["parameter"])) == ({"mcc"}, {"h"})


def test_every_data_set_has_a_line_that_the_legend_names_from_the_top(toy: Toy) -> None:
    points = [(f"d{i:02}", h, (i * 7 % 12) / 12) for i in range(12) for h in (5, 10)]
    curves = pd.DataFrame(points, columns=["dataset", "value", "mean"])
    lines = (
        draw(
            toy(**CURVES), curves.assign(model="EEM-RBF", metric="gmean", parameter="h")
        )
        .axes[0]
        .lines
    )
    ends = curves[curves["value"] == 10].sort_values("mean", ascending=False)
    assert [line.get_label() for line in lines] == ends["dataset"].tolist()
    assert len({(line.get_linestyle(), line.get_marker()) for line in lines}) == 12


def test_curves_over_powers_of_two_have_equal_distances_on_the_axis(
    toy: Toy,
) -> None:
    points = [
        (m, 2.0**e, 0.1 * e * i)
        for i, m in enumerate(("L = 200", "L = 400"))
        for e in range(-5, 31)
    ]
    curves = pd.DataFrame(points, columns=["model", "value", "mean"])
    curves = curves.assign(dataset="Satimage", metric="accuracy", parameter="C")
    resolved = toy(**CURVES)
    figure = draw(resolved, curves)
    (axes, *_), (other, *_) = (
        figure.axes,
        draw(resolved, curves.assign(value=curves["value"] + 1)).axes,
    )
    title = headline(resolved, "Satimage")
    assert (axes.get_xscale(), axes.get_xlim(), axes.get_title()) == (
        "log",
        (2.0**-5, 2.0**30),
        title,
    )
    # Models have the order of the table.
    assert [line.get_label() for line in axes.lines] == ["L = 200", "L = 400"]
    figure.draw_without_rendering()
    (above,) = axes.child_axes
    named = dict(
        zip(
            above.get_xticks(),
            (label.get_text() for label in above.get_xticklabels()),
            strict=True,
        )
    )
    assert named[2.0**8] == "$2^{-8}$"
    assert (other.get_xscale(), other.child_axes) == ("linear", [])


# --- Surfaces
# -----------------------------------------------------------------------------


def columns(*sizes: int) -> dict[str, Any]:
    return {
        f"L={n}": {"model": "elm", "search": ["C"], "params": {"n_hidden": n}}
        for n in sizes
    }


SURFACE: dict[str, Any] = {
    "layout": "surface", "options": {"rows": "n_hidden"}, "grids": {"C": {"powers-of-2": [-10,
    -8]}},
    "models": columns(200, 50),
}  # fmt: skip


def values(*result: float) -> dict[str, float]:
    return dict(
        zip(["mcc@C=2^-10", "mcc@C=2^-9", "mcc@C=0.00390625"], result, strict=True)
    )


def test_points_are_means_over_folds_at_both_hyperparameters(toy: Toy) -> None:
    lines = [cell("L=200", fold=f, **values(0.5 + f, 0.7, 0.9)) for f in (0, 1)]
    lines += [
        cell("L=50", fold=0, **values(0.1, 0.2, 0.3)),
        cell("L=50", fold=1, status="failed", reason="no"),
    ]
    lines += [cell("L=50", reading="order=stored", **values(0, 0, 0))]
    result = data_of(toy("WDBC,L=50,mcc,0.9,,\n", **SURFACE), lines)
    assert result[
        ["dataset", "parameter", "value", "row", "row_value", "n"]
    ].to_numpy().tolist() == [
        ["WDBC", "C", 2.0**e, "h", size, n]
        for size, n in ((200, 2), (50, 1))
        for e in (-10, -9, -8)
    ]
    np.testing.assert_allclose(result["mean"], [1, 0.7, 0.9, 0.1, 0.2, 0.3])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"options": {}}, "the key 'options.rows' is missing"),
        (
            {"options": {"rows": "gamma"}},
            pattern("tables.figures.number-missing", parameter="gamma", value="None"),
        ),
        (
            {"models": columns(50) | {"again": columns(50)["L=50"]}},
            "params.n_hidden is 50; expected a number of its own",
        ),
        (
            {
                "models": columns(50) | {"g": {"model": "k-elm", "search": ["gamma"]}},
                "grids": {"C": [1], "gamma": [1]},
            },
            pattern("tables.figures.columns-search-different-parameters"),
        ),
    ],
)
def test_what_a_surface_needs(toy: Toy, change: dict[str, Any], message: str) -> None:
    with pytest.raises(ElmbenchError, match=message) as error:
        kind_of_table(toy(**SURFACE | change))
    assert "one.yaml" in error.value.found


def test_a_surface_has_no_cells_of_added_models(
    plan_toy: Any, experiment: dict[str, Any]
) -> None:
    plan: Plan = plan_toy(experiment | SURFACE, models=("L=50", "svm"))
    assert {cell.model for cell in plan.cells} == {"L=50"}


@pytest.mark.parametrize(
    ("metric", "point"), [("accuracy", (1.5, 0.5)), ("rmse", (0.5, 1.5))]
)
def test_the_best_point_has_a_star(
    toy: Toy, metric: str, point: tuple[float, float]
) -> None:
    heights = {
        (200, 0.25): 0.1,
        (200, 0.5): 0.5,
        (200, 1.0): 0.4,
        (50, 0.25): 0.3,
        (50, 0.5): 0.9,
    }
    points = pd.DataFrame(
        [(*at, mean) for at, mean in heights.items()],
        columns=["row_value", "value", "mean"],
    )
    axes = draw(
        toy(**SURFACE),
        points.assign(dataset="d", metric=metric, parameter="C", row="h"),
    ).axes[0]
    (best,) = axes.lines
    # Rows and columns rise from the left and from below, in any order of the table.
    assert (best.get_xdata()[0], best.get_ydata()[0]) == point
    assert [label.get_text() for label in axes.get_yticklabels()] == ["50", "200"]
    assert [label.get_text() for label in axes.get_xticklabels()] == [
        "$2^{-2}$",
        "$2^{-1}$",
        "$2^{0}$",
    ]
    assert [label.get_text() for label in axes.child_axes[0].get_xticklabels()] == [
        "$2^{2}$",
        "$2^{1}$",
        "$2^{0}$",
    ]


def test_a_surface_of_one_point_or_one_height_is_drawn_without_lines(toy: Toy) -> None:
    points = pd.DataFrame(
        {
            "row_value": [1, 1, 2, 2],
            "value": [3.0, 5.0] * 2,
            "mean": 0.5,
            "dataset": "d",
        }
    )
    points = points.assign(metric="accuracy", parameter="gamma", row="h")
    for part in (points, points[:1]):
        assert figure_bytes(draw(toy(**SURFACE), part))[:4] == b"\x89PNG"


ELM = {"model": "elm", "search": ["C"], "params": {"n_hidden": 5}}


@pytest.mark.parametrize(
    "changes",
    [
        *(
            {"layout": name}
            for name in (
                "metrics",
                "precision-recall",
                "size-curves",
                "trials",
                "weight-paths",
            )
        ),
        {"layout": "curves", "models": {"ELM": ELM}},
        {"layout": "surface", "models": {"ELM": ELM}, "options": {"rows": "n_hidden"}},
    ],
)
def test_nothing_is_drawn_where_nothing_has_ended(
    toy: Toy, changes: dict[str, Any]
) -> None:
    resolved = toy(**changes)
    assert figure_of(resolved, [cell(status="timeout", reason="> 5 s")]) is None
    assert figure_of(resolved, []) is None


@pytest.mark.parametrize("form", ["png", "pdf", "svg"])
def test_a_dollar_sign_in_a_name_is_literal(form: str) -> None:
    name = "cost_$_per_$_sold"
    figure, axes = new_figure(4, 4)
    axes.plot([1, 1000], [1, 2], label=f"{name} line")
    axes.set(
        xlabel=f"{name} x", ylabel=f"{name} y", title=f"{name} title", xscale="log"
    )
    axes.set_yticks([1, 2, 3], [f"{name} tick", "$2^{-3}$", "$$"])
    axes.text(1, 1, f"{name} text")
    axes.legend()
    figure.legend(title=f"{name} legend")
    figure.suptitle(f"{name} top")
    with rc_context({"svg.fonttype": "none"}):
        content = figure_bytes(figure, form)
    if form == "svg":
        text = content.decode()
        kinds = ("line", "x", "y", "title", "tick", "text", "legend", "top")
        assert all(f"{name} {kind}" in text for kind in kinds)
        assert "$$" in text
        texts = re.findall(r"<text[^>]*>(.*?)</text>", text, re.S)
        assert not any("2^" in word or "mathdefault" in word for word in texts)


@pytest.mark.parametrize("form", ["png", "pdf", "svg"])
def test_names_without_glyphs_are_drawn_without_a_warning(
    recwarn: pytest.WarningsRecorder, form: str
) -> None:
    figure, axes = new_figure(2, 2)
    axes.set_title("\x1b[31mred")
    axes.set_xticks([0, 1], labels=["\x9bname", "\u540d"])
    assert figure_bytes(figure, form)
    assert axes.get_title() == r"\x1b[31mred"
    assert [
        str(warning.message) for warning in recwarn if "Glyph" in str(warning.message)
    ] == []


def test_a_headline_has_the_title_of_the_experiment_above_that_of_the_table(
    toy: Toy,
) -> None:
    resolved = toy()
    first, last = headline(resolved, "Satimage").splitlines()
    title = resolved.file.spec.title
    assert first == f"{title[0].upper()}{title[1:]}: Satimage"
    assert last == title_of(resolved)
    # A detail that the title has is not repeated.
    assert headline(resolved, title.upper()) == f"{title[0].upper()}{title[1:]}\n{last}"


def test_labels_of_a_figure_are_the_names_of_the_paper() -> None:
    names = ProperNames(resolve(find_experiment("kos-elm/budgets"), "fast"))
    assert [names.dataset(name) for name in ("wdbc", "sylva")] == ["WDBC", "Sylva"]
    assert [names.model(name) for name in ("fb-kos-elm", "k-elm")] == [
        "FB-KOS-ELM",
        "K-ELM",
    ]
    # No table of this paper has them.
    assert (names.dataset("digits"), names.model("svm")) == ("digits", "svm")
    faces = ProperNames(resolve(find_experiment("ospvm/figure1"), "fast"))
    assert faces.dataset("orl-faces") == "Face"


def test_a_surface_names_its_rows_and_its_only_data_set_once() -> None:
    folder = RESULTS / "fast/rkelm/figure1"
    resolved = resolve(find_experiment("rkelm/figure1"), "fast")
    figure = draw(resolved, pd.read_csv(folder / "figure.csv"))
    axes = figure.axes[0]
    assert (axes.get_ylabel(), axes.get_title()) == ("centres", "")
    assert "Satimage" in figure.get_suptitle()


def test_names_and_colours_come_from_one_table() -> None:
    names = (
        "gmean",
        "fit_seconds",
        "n_units",
        "accuracy",
        "prequential_error@rows=100",
    )
    assert [words_for(name) for name in names] == [
        "G-mean", "training time (s)", "model size", "accuracy", "prequential error at rows=100",
    ]  # fmt: skip
    styles = line_styles([f"m{i}" for i in range(9)])
    assert [style["color"] for style in styles.values()] == [*PALETTE, *PALETTE[:2]]


FIGURES = sorted(path.parent for path in RESULTS.glob("*/*/*/figure.csv"))


@pytest.mark.parametrize(
    "folder", FIGURES, ids=lambda folder: "-".join(folder.parts[-3:])
)
def test_every_committed_figure_draws_in_each_format(folder: Path) -> None:
    profile, paper, table = folder.parts[-3:]
    resolved = resolve(find_experiment(f"{paper}/{table}"), profile)
    figure = kind_of_table(resolved).draw(pd.read_csv(folder / "figure.csv"))
    starts = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    for form, start in starts.items():
        assert figure_bytes(figure, form).startswith(start)

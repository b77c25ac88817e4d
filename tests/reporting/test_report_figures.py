"""Precision-recall curves: pooled over folds, drawn of one selection, as scikit-learn has them."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_cells import cell, frame
from sklearn.metrics import average_precision_score, precision_recall_curve

from elmbench.reporting.figures import draw_curves, draw_precision_recall, precision_recall, write_figures
from elmbench.running.store import Store
from elmbench.specs.profiles import Resolved
from elmbench.work.plan import Cell as Row

Scores = tuple[np.ndarray, np.ndarray]
#: Curves of precision are drawn from what the store keeps.
NO_CELLS = pd.DataFrame()


def scores(seed: int, n: int = 40) -> Scores:
    generator = np.random.default_rng(seed)
    true = np.where(generator.random(n) < 0.3, 1, -1)
    # Rounded, so that there are ties.
    return true, np.round(true * 0.5 + generator.normal(size=n), 1)


def put(store: Store, model: str, fold: int, found: Scores, select: str = "nested", **values: str) -> Row:
    row = Row("wdbc", model, 0, fold, select, values.get("reading", ""), f"{model}{fold}{select}{values}", "f")
    outputs = {"true": found[0].tolist(), "score": found[1].tolist()}
    status = values.get("status", "ok")
    result = {"status": status, "reason": "", "metrics": {}} | ({"outputs": outputs} if status == "ok" else {})
    store.put(row.key, {}, result, "e")
    return row


@pytest.fixture
def figure(toy: Callable[..., Resolved], tmp_path: Path) -> Callable[[list[Row], Store], pd.DataFrame]:
    def draw(rows: list[Row], store: Store) -> pd.DataFrame:
        (png,) = write_figures(toy(layout="precision-recall"), rows, NO_CELLS, store, tmp_path / "f")
        assert png.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
        return pd.read_csv(png.with_suffix(".csv"))

    return draw


def check(curve: pd.DataFrame, model: str, *parts: Scores) -> None:
    """Hold the curve of a model against scikit-learn's on all these rows together."""
    true, score = (np.concatenate(both) for both in zip(*parts, strict=True))
    own = curve[curve["model"] == model]
    precision, recall, _ = precision_recall_curve(true, score, pos_label=1, drop_intermediate=True)
    np.testing.assert_allclose(own["precision"], precision, rtol=1e-12)
    np.testing.assert_allclose(own["recall"], recall, rtol=1e-12)
    np.testing.assert_allclose(own["average_precision"], average_precision_score(true, score), rtol=1e-12)


def test_the_curve_is_of_the_rows_of_all_folds_together(
    figure: Callable[[list[Row], Store], pd.DataFrame], tmp_path: Path
) -> None:
    store = Store(tmp_path)
    a, b, c = scores(0), scores(1), scores(2)
    curve = figure([put(store, "ELM", 0, a), put(store, "ELM", 1, b), put(store, "K-ELM", 0, c)], store)
    assert curve["model"].unique().tolist() == ["ELM", "K-ELM"]
    check(curve, "ELM", a, b)
    check(curve, "K-ELM", c)


def test_other_readings_and_selections_are_not_mixed_in(
    figure: Callable[[list[Row], Store], pd.DataFrame], tmp_path: Path
) -> None:
    store = Store(tmp_path)
    a, b, other = scores(0), scores(1), scores(2)
    rows = [
        put(store, "ELM", 0, other, "oracle"),
        put(store, "ELM", 0, other, reading="order=stored"),
        put(store, "ELM", 0, a),
        put(store, "ELM", 1, other, status="diverged"),
        # What was selected in one way only is shown of that.
        put(store, "svm", 0, b, "oracle"),
    ]
    curve = figure(rows, store)
    check(curve, "ELM", a)
    check(curve, "svm", b)


def test_nothing_is_drawn_where_nothing_has_ended(toy: Callable[..., Resolved], tmp_path: Path) -> None:
    store = Store(tmp_path)
    row = put(store, "ELM", 0, scores(0), status="timeout")
    assert write_figures(toy(layout="precision-recall"), [row], NO_CELLS, store, tmp_path / "f") == []
    assert write_figures(toy(), [put(store, "ELM", 0, scores(0))], NO_CELLS, store, tmp_path / "f") == []
    assert not (tmp_path / "f").exists()


def test_every_model_is_drawn_and_the_picture_is_the_same_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.axes import Axes

    drawn: list[str] = []
    step = Axes.step
    monkeypatch.setattr(Axes, "step", lambda *words, **keys: drawn.append(keys["label"]) or step(*words, **keys))
    pooled = {f"m{i}": dict(zip(("true", "score"), map(list, scores(i)), strict=True)) for i in range(6)}
    curves = precision_recall(pooled)
    picture = draw_precision_recall(curves, "Fig. 3")
    assert [label.split(" ")[0] for label in drawn] == list(pooled)
    area = curves["average_precision"].iloc[0]
    assert drawn[0] == f"m0 (average precision {area:.3f})"
    again = draw_precision_recall(pd.read_csv(StringIO(curves.to_csv(index=False))), "Fig. 3")
    assert picture == again


CURVES = {
    "layout": "curves", "datasets": ["wdbc", "heart"], "grids": {"n_hidden": [5, 10]},
    "models": {"ELM": {"model": "elm", "search": ["n_hidden"]}},
}  # fmt: skip


def test_curves_over_the_number_of_nodes_are_means_over_folds(toy: Callable[..., Resolved], tmp_path: Path) -> None:
    resolved = toy("WDBC,ELM,mcc,0.9,,\n", **CURVES)
    lines = [cell(fold=f, **{"mcc@h=5": v, "mcc@h=10": 0.9}) for f, v in enumerate((0.5, 0.7))]
    lines += [cell(fold=0, dataset="heart", **{"mcc@h=5": 0.1, "mcc@h=10": 0.2})]
    lines += [cell(fold=1, dataset="heart", status="failed", reason="no")]
    lines += [cell(fold=0, reading="order=stored", **{"mcc@h=5": 0.0, "mcc@h=10": 0.0})]
    (png,) = write_figures(resolved, [], frame(resolved, lines), Store(tmp_path), tmp_path / "f")
    assert png.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    found = pd.read_csv(png.with_suffix(".csv"))
    assert found[["dataset", "value", "n"]].to_numpy().tolist() == [
        ["WDBC", 5, 2], ["WDBC", 10, 2], ["heart", 5, 1], ["heart", 10, 1],
    ]  # fmt: skip
    np.testing.assert_allclose(found["mean"], [0.6, 0.9, 0.1, 0.2])
    np.testing.assert_allclose(found["std"][:2], [0.02**0.5, 0], atol=1e-12)
    assert (set(found["metric"]), set(found["parameter"])) == ({"mcc"}, {"h"})


def test_every_data_set_has_a_line_that_the_legend_names_from_the_top(monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.axes import Axes

    drawn: list[tuple[str, tuple[str, str]]] = []
    plot = Axes.plot

    def note(self: Axes, *words: Any, **keys: Any) -> Any:
        drawn.append((keys["label"], (words[2], keys["color"])))
        return plot(self, *words, **keys)

    monkeypatch.setattr(Axes, "plot", note)
    points = [(f"d{i:02}", h, (i * 7 % 12) / 12) for i in range(12) for h in (5, 10)]
    curves = pd.DataFrame(points, columns=["dataset", "value", "mean"])
    curves = curves.assign(model="EEM-RBF", metric="gmean", parameter="h")
    picture = draw_curves(curves, "Fig. 3")
    ends = curves[curves["value"] == 10].sort_values("mean", ascending=False)
    assert [label for label, _ in drawn] == ends["dataset"].tolist()
    assert len({style for _, style in drawn}) == 12
    assert picture == draw_curves(curves, "Fig. 3")


def test_no_curves_where_nothing_has_ended(toy: Callable[..., Resolved], tmp_path: Path) -> None:
    resolved = toy(**CURVES)
    lines = [cell(status="timeout", reason="> 5 s")]
    assert write_figures(resolved, [], frame(resolved, lines), Store(tmp_path), tmp_path / "f") == []
    assert not (tmp_path / "f").exists()

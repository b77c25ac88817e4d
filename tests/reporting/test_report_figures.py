"""Precision-recall curves: pooled over folds, drawn of one selection, as scikit-learn has them."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import average_precision_score, precision_recall_curve

from elmbench.execution.store import Store
from elmbench.execution.units import Row
from elmbench.reporting.figures import draw_precision_recall, precision_recall, write_figures
from elmbench.specs.profiles import Resolved

Scores = tuple[np.ndarray, np.ndarray]


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
        (png,) = write_figures(toy(layout="precision-recall"), rows, store, tmp_path / "f")
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
    assert write_figures(toy(layout="precision-recall"), [row], store, tmp_path / "f") == []
    assert write_figures(toy(), [put(store, "ELM", 0, scores(0))], store, tmp_path / "f") == []
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

"""The results of a comparison in Python: representations, frames, pictures, named columns, progress
and the signature.
"""

import inspect
import re
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sentences import pattern
from sklearn.metrics import accuracy_score

import elmbench
from elmbench.errors import ElmbenchError

pytestmark = pytest.mark.usefixtures("alone")
mpl.use("Agg")
N = 120
GRIDS = {"ridge": {"C": [1.0]}, "knn": {"n_neighbors": [5]}}


def rows() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.standard_normal((N, 3)), columns=[*"abc"])
    frame["value"] = frame["a"] * 3 + rng.standard_normal(N)
    frame["label"] = np.where(frame["value"] > 0, "up", "down")
    frame["who"] = np.arange(N) % 12
    return frame


def compared(target: str = "label", **options: Any) -> Any:
    left_out = {"label": "value", "value": "label"}[target]
    frame = rows().drop(columns=[left_out, "who"])
    return elmbench.compare(
        frame, target, ["ridge", "knn"], grids=GRIDS, folds=3, **options
    )


def test_a_result_is_shown_as_its_table() -> None:
    results = compared()
    assert repr(results).startswith("Comparison: data\n")
    assert repr(results) == results.text.strip("\n")
    assert len(repr(results)) < 3000
    html = results._repr_html_()
    assert "<table" in html
    for word in ("ridge", "knn", "balanced_accuracy", "best: ridge"):
        assert word in html


def test_the_leaderboard_and_the_predictions_agree() -> None:
    results = compared()
    board = results.leaderboard
    assert board.index.tolist()[-1] == "dummy"
    assert board["rank"].tolist()[:2] == [1, 2]
    assert board["accuracy"].is_monotonic_decreasing
    lines = results.predictions
    assert len(lines) == 3 * N
    for model, part in lines.groupby("model"):
        by_fold = [
            accuracy_score(p["true"], p["predicted"]) for _, p in part.groupby("fold")
        ]
        assert board.loc[model, "accuracy"] == pytest.approx(np.mean(by_fold))
    pd.testing.assert_frame_equal(
        pd.read_csv(results.folder / "predictions.csv")[["row", "model", "predicted"]],
        lines[["row", "model", "predicted"]],
        check_dtype=False,
    )


def test_plots_of_a_classification() -> None:
    results = compared()
    axes = results.plot()
    labels = [text.get_text() for text in axes.get_yticklabels()]
    assert labels == [*reversed(results.leaderboard.index)]
    axes = results.plot("confusion", "ridge")
    counts = [int(text.get_text()) for text in axes.texts]
    lines = results.predictions.query("model == 'ridge'")
    assert (
        counts
        == pd.crosstab(lines["true"], lines["predicted"]).to_numpy().ravel().tolist()
    )
    axes = results.plot("calibration", "knn")
    assert axes.get_title() == "knn"
    _, subplot = mpl.pyplot.subplots()
    assert results.plot("scores", ax=subplot) is subplot
    mpl.pyplot.close("all")
    for kind, model, reason in (
        ("residuals", "", "is not a picture of a classification"),
        ("calibration", "ridge", "'ridge' was compared without probabilities"),
        ("confusion", "svm", "'svm' has no predictions"),
    ):
        with pytest.raises(ElmbenchError, match=reason):
            results.plot(kind, model)


def test_plots_of_a_regression() -> None:
    results = compared("value")
    axes = results.plot("residuals")
    points = np.sort(np.asarray(axes.collections[0].get_offsets()), axis=0)
    predictions = results.predictions
    lines = predictions[predictions["model"] == results.leaderboard.index[0]]
    lines = lines.astype({"true": float, "predicted": float})
    expected = np.column_stack([lines["predicted"], lines["true"] - lines["predicted"]])
    np.testing.assert_allclose(points, np.sort(expected, axis=0))
    mpl.pyplot.close("all")
    with pytest.raises(
        ElmbenchError,
        match=pattern("comparison.results.picture-of-other-task", picture="confusion"),
    ):
        results.plot("confusion")


def test_columns_may_be_named() -> None:
    frame = rows().drop(columns="value")
    options: dict[str, Any] = {"grids": {"ridge": {"C": [1.0]}}, "folds": 3}
    named = elmbench.compare(frame, "label", ["ridge"], groups="who", **options)
    X = frame[[*"abc"]]
    given = elmbench.compare(
        X, frame["label"], ["ridge"], groups=frame["who"], **options
    )
    assert named.cells["accuracy"].tolist() == given.cells["accuracy"].tolist()
    with pytest.raises(
        ElmbenchError, match=re.escape("'lable' (did you mean 'label'?)")
    ):
        elmbench.compare(frame, "lable")


def test_held_out_rows_may_be_a_frame_with_the_target() -> None:
    frame = rows().drop(columns=["value", "who"])
    options: dict[str, Any] = {"grids": {"ridge": {"C": [1.0]}}}
    X, y = frame[[*"abc"]], frame["label"]
    named = elmbench.compare(frame[:80], "label", ["ridge"], test=frame[80:], **options)
    given = elmbench.compare(
        X[:80], y[:80], ["ridge"], test=(X[80:], y[80:]), **options
    )
    assert named.cells["accuracy"].tolist() == given.cells["accuracy"].tolist()
    with pytest.raises(ElmbenchError, match="`test` is DataFrame"):
        elmbench.compare(X[:80], y[:80], ["ridge"], test=frame[80:])


def test_progress_is_shown_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    events: list[str] = []
    compared(
        progress=False, name="quiet", on_event=lambda event: events.append(event.kind)
    )
    assert capsys.readouterr().err == ""
    assert {"start", "end"} <= {*events}
    compared(progress=True, name="loud")
    assert "comparing" in capsys.readouterr().err
    compared(name="default")  # not a terminal
    assert capsys.readouterr().err == ""


def test_the_signature_of_compare_has_readable_types() -> None:
    for function in (elmbench.compare, elmbench.run):
        signature = str(inspect.signature(function))
        assert "Annotated" not in signature
        assert "lambda" not in signature
        assert "FieldInfo" not in signature
    assert inspect.signature(elmbench.compare).parameters["runs"].annotation is int

"""The page of a comparison: its file, its pictures, and the permutation importance."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import elmbench
from elmbench.workflow.comparison_page import importance_of, plan_importance, write_page
from elmbench.workflow.execute import compute
from elmbench.workflow.final_model import ComparisonResults

pytestmark = pytest.mark.usefixtures("alone")


def shop() -> pd.DataFrame:
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"noise": random.normal(size=120), "colour": random.choice(["red", "green", "<b>"], 120)})
    frame["age"] = random.normal(40, 10, 120)
    frame.loc[::7, "age"] = np.nan
    return frame


def page_of(results: ComparisonResults) -> tuple[pd.DataFrame, str]:
    importance = plan_importance(results.run, results)
    compute(importance, lambda event: None, None)
    write_page(results.run, importance, results, Path("report.html"))
    assert not plan_importance(results.run, results).todo
    return importance_of(importance), Path("report.html").read_text("utf-8")


def test_a_page_needs_no_other_file_and_shows_the_columns_that_count() -> None:
    frame = shop()
    y = np.where((frame["colour"] == "<b>") | (frame["age"] > 50), "<i>yes", "no")
    results = elmbench.compare(frame, y, ["ridge", "random-forest"], folds=3, impute=True, metric="mcc")
    losses, page = page_of(results)
    assert list(losses["column"])[:2] == ["colour", "age"]
    assert losses["importance"].iloc[0] > 0.3
    assert abs(losses.set_index("column")["importance"]["noise"]) < 0.15
    assert set(losses["metric"]) == {"mcc"}
    pd.testing.assert_frame_equal(pd.read_csv(results.folder / "importance.csv"), losses, check_dtype=False)
    # Scores, reliability, confusion matrix, ROC, precision-recall, importance.
    assert page.count('src="data:image/png;base64,') == 6
    assert not re.findall(r'(?:src|href)="(?!data:)', page)
    assert "http" not in page
    assert "<i>yes" not in page
    for text in (
        "ROC curves for the class &#39;no&#39;",
        "filled in on each training part: age",
        "encoded on each",
        "mcc",
    ):
        assert text in page
    assert "elmbench.compare(X, y" in page


def test_a_calibrated_model_and_a_regression_have_importance_too() -> None:
    frame = shop().drop(columns="age")
    losses, _ = page_of(elmbench.compare(frame, frame["colour"] == "red", ["ridge"], folds=3, metric="log_loss"))
    assert losses["column"].iloc[0] == "colour"
    assert losses["importance"].iloc[0] > 0.3
    y = (frame["colour"] == "red") * 3.0 + 0.1 * frame["noise"]
    losses, page = page_of(elmbench.compare(frame, y, ["ridge"], folds=3))
    assert losses["column"].iloc[0] == "colour"
    assert "true and predicted values of test rows" in page
    assert page.count('src="data:image/png;base64,') == 3

"""Reliability curves of comparisons."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

import elmbench
from elmbench.protocol.folds import fold_data
from elmbench.work.fit import Fit

pytestmark = pytest.mark.usefixtures("alone")


def compared(n_classes: int, *models: str, **options: Any) -> Any:
    X, y = make_classification(300, 6, n_informative=4, flip_y=0.2, n_classes=n_classes, random_state=3)
    words = np.array(["no", "yes", "maybe"])[y]
    return elmbench.compare(pd.DataFrame(X), words, list(models), folds=3, results_dir="results", **options)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_curves_are_of_the_probabilities_for_all_test_rows(n_classes: int) -> None:
    found = compared(n_classes, "logistic-regression", "ridge", grids={"logistic-regression": {"C": [1.0]}})
    points = pd.read_csv(found.folder / "reliability.csv")
    assert list(points) == ["dataset", "model", "predicted", "observed"]
    assert set(points["model"]) == {"logistic-regression"}
    outer_folds = (
        work.outer_fold for work in found.run.works.values() if isinstance(work, Fit) and "logistic" in work.label
    )
    pairs = []
    for outer_fold in outer_folds:
        data = fold_data(outer_fold, None)
        model = LogisticRegression(max_iter=1000).fit(data.X_train, data.y_train)
        shares = model.predict_proba(data.X_test)
        chosen = np.ones(len(shares), int) if n_classes == 2 else shares.argmax(axis=1)
        pairs.append([shares[np.arange(len(shares)), chosen], data.y_test == model.classes_[chosen]])
    predicted, true = np.hstack(pairs)
    assert len(predicted) == 300
    bins = np.array_split(np.argsort(predicted), 10)
    np.testing.assert_allclose(points["predicted"], [predicted[rows].mean() for rows in bins], atol=1e-5)
    np.testing.assert_allclose(points["observed"], [true[rows].mean() for rows in bins], atol=1e-12)
    with Image.open(found.folder / "reliability.png") as picture:
        assert picture.size[0] > 500
    assert "](reliability.png)" in (found.folder / "table.md").read_text("utf-8")


def test_curves_of_an_earlier_comparison_are_removed() -> None:
    before = compared(2, "knn")
    assert (before.folder / "reliability.png").is_file()
    after = compared(2, "ridge")
    assert after.folder == before.folder
    assert not list(Path(after.folder).glob("reliability*"))
    assert "reliability" not in (after.folder / "table.md").read_text("utf-8")

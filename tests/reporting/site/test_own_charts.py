"""Pictures of the page of a comparison."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibrationDisplay

from elmbench.reporting.site.charts import pictures_of


@pytest.mark.parametrize(("classes", "event"), [("ab", "the class 'b'"), ("abc", "the likeliest class")])
def test_reliability_is_of_the_probabilities_for_all_test_rows(
    classes: str, event: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[tuple[Any, Any, Any]] = []
    draw = CalibrationDisplay.from_predictions

    def noted(true: Any, shares: Any, **options: Any) -> Any:
        drawn.append((true.to_numpy(), shares.to_numpy(), options["ax"]))
        return draw(true, shares, **options)

    monkeypatch.setattr(CalibrationDisplay, "from_predictions", noted)
    random = np.random.default_rng(0)
    shares = random.dirichlet(np.ones(len(classes)), 60)
    letters = np.array(list(classes))
    true, predicted = random.permutation(np.resize(letters, 60)), letters[shares.argmax(axis=1)]
    columns = {f"probability_{name}": shares[:, i] for i, name in enumerate(classes)}
    frame = pd.DataFrame({"model": "knn", "true": true, "predicted": predicted} | columns)
    frame = pd.concat([frame, frame.assign(model="ridge", **dict.fromkeys(columns, np.nan))])
    spec: Any = SimpleNamespace(task="classification", shape=SimpleNamespace(classes=dict.fromkeys(classes, 20)))
    labels = [picture.label.split()[0] for picture in pictures_of(frame, ["knn", "ridge"], spec)]
    assert labels == ["Share", "knn:", *(["ROC", "Precision-recall"] if len(classes) == 2 else [])]
    ((events, predicted_shares, axes),) = drawn
    assert event in axes.get_xlabel()
    if len(classes) == 2:
        np.testing.assert_array_equal(events, true == "b")
        np.testing.assert_array_equal(predicted_shares, shares[:, 1])
    else:
        np.testing.assert_array_equal(events, true == predicted)
        np.testing.assert_array_equal(predicted_shares, shares.max(axis=1))

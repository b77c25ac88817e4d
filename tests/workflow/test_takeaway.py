"""A model that is fitted to all rows, saved, and used on new ones."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import elmbench
from elmbench.errors import ElmbenchError
from elmbench.workflow.takeaway import predict_file, save

RANDOM = np.random.default_rng(0)


def shop(rows: int) -> pd.DataFrame:
    frame = pd.DataFrame({"age": RANDOM.normal(40, 10, rows), "colour": RANDOM.choice(["red", "green", "blue"], rows)})
    frame["buys"] = np.where((frame["age"] > 40) ^ (frame["colour"] == "red"), "yes", "no")
    frame["spends"] = frame["age"] * 2 + 30 * (frame["colour"] == "blue") + RANDOM.normal(size=rows)
    frame.loc[::7, "age"] = np.nan
    frame.loc[::11, "colour"] = None
    return frame


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.timeout(300)
def test_the_best_model_is_one_pipeline_for_new_rows() -> None:
    frame, new = shop(150), shop(40)
    X = frame[["age", "colour"]]
    grids = {"SVC": {"C": [0.001, 100.0]}, "ridge": {"C": [1.0]}}
    found = elmbench.compare(X, frame["buys"], [SVC(), "ridge"], grids=grids, folds=3, impute=True)
    best = found.best_estimator()
    assert isinstance(best, Pipeline)
    assert isinstance(best["model"], SVC)
    assert best["model"].C == 100.0
    assert set(best.predict(new[["age", "colour"]])) == {"yes", "no"}
    assert (best.predict(new[["age", "colour"]]) == new["buys"]).mean() > 0.7
    np.testing.assert_array_equal(clone(best).fit(X, frame["buys"]).predict(new), best.predict(new))
    assert found.best_estimator("ridge")["model"].alpha == 1.0
    with pytest.raises(ElmbenchError, match="'svm' is not a model of this comparison"):
        found.best_estimator("svm")
    # A category that is new, and a column of no known value, are no obstacle.
    assert len(best.predict(pd.DataFrame({"age": [np.nan], "colour": ["violet"]}))) == 1

    save(best, Path("best.joblib"))
    new[["colour", "age"]].to_csv("new.csv", index=False)
    assert predict_file(Path("best.joblib"), Path("new.csv")).tolist() == best.predict(new).tolist()
    done = subprocess.run(
        [sys.executable, "-m", "elmbench", "predict", "best.joblib", "new.csv"],
        capture_output=True, text=True, check=True, timeout=200,
    )  # fmt: skip
    assert done.stdout.split() == ["prediction", *best.predict(new)]


@pytest.mark.timeout(300)
def test_a_regression_is_predicted_in_its_own_units() -> None:
    frame, new = shop(150), shop(40)
    X = frame[["age", "colour"]]
    found = elmbench.compare(X, frame["spends"], ["ridge"], grids={"ridge": {"C": [8.0]}}, folds=3, impute=True)
    best = found.best_estimator()
    assert isinstance(best, TransformedTargetRegressor)
    assert isinstance(best.regressor_["model"], Ridge)
    # The same steps by hand.
    numbers = X["age"].fillna(X["age"].median())
    words = X["colour"].fillna(X["colour"].mode()[0])
    inputs = np.column_stack([numbers, *(words == word for word in sorted(set(words)))]).astype(float)
    scaled = StandardScaler().fit_transform(inputs)
    y = frame["spends"].to_numpy()
    by_hand = Ridge(alpha=1 / 8).fit(scaled, (y - y.mean()) / y.std()).predict(scaled) * y.std() + y.mean()
    np.testing.assert_allclose(best.predict(X), by_hand, rtol=1e-9)
    assert np.abs(best.predict(new) - new["spends"]).median() < 5


def test_what_cannot_be_loaded_or_lacks_columns_is_said(tmp_path: Path) -> None:
    for name, content in (("text.joblib", b"hello"), ("other.joblib", None)):
        path = tmp_path / name
        if content is None:
            joblib.dump({"a": 1}, path)
        else:
            path.write_bytes(content)
        with pytest.raises(ElmbenchError, match="is not a model"):
            predict_file(path, tmp_path / "new.csv")

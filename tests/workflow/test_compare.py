"""Models compared from Python: arrays, data frames and estimators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import elmbench
from elmbench.errors import ElmbenchError

pytestmark = pytest.mark.usefixtures("alone")


def test_rows_that_a_program_holds() -> None:
    X, y = load_iris(return_X_y=True)
    results = elmbench.compare(
        sp.csr_matrix(X), y, ["elm"], grids={"elm": {"n_hidden": [20], "C": [8.0]}}, folds=3, runs=2
    )
    assert len(results.cells) == 12
    assert results.cells.groupby("model")["accuracy"].mean()["elm"] > 0.8
    with pytest.raises(ElmbenchError, match="X has 150 rows"):
        elmbench.compare(X, y[:-1])


def test_estimators_beside_names() -> None:
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), SVC())
    models = [SVC(C=2.0), "ridge", pipeline, ("stump", DecisionTreeClassifier(max_depth=1)), SVC(C=0.01)]
    grids = {"standardscaler+svc": {"svc__C": np.array([0.1, 1.0])}, "ridge": {"C": [1.0]}}
    results = elmbench.compare(X, y, models, grids=grids, folds=3)
    assert set(results.cells["status"]) == {"ok"}
    means = results.cells.groupby("model")["accuracy"].mean()
    assert set(means.index) == {"SVC", "ridge", "standardscaler+svc", "stump", "SVC-2", "dummy"}
    assert means["SVC"] > 0.9 > means["stump"]
    chosen = results.cells.loc[results.cells["model"] == "standardscaler+svc", "params"]
    assert all("svc__C" in text for text in chosen)
    # Nothing of it is left for the next call.
    with pytest.raises(ElmbenchError, match="unknown model 'SVC'"):
        elmbench.compare(X, y, ["SVC"])
    with pytest.raises(ElmbenchError, match="no parameter 'gama'"):
        elmbench.compare(X, y, [SVC()], grids={"SVC": {"gama": [1]}})
    for wrong in (SVC, 3, StandardScaler()):
        with pytest.raises(ElmbenchError, match="neither the name of a model nor an estimator"):
            elmbench.compare(X, y, [wrong])


def test_errors_are_in_the_units_of_the_target() -> None:
    X, y = load_diabetes(return_X_y=True)
    results = elmbench.compare(X, y, ["ridge"], metric=["mae", "nrmse"], grids={"ridge": {"C": [1.0]}}, folds=3)
    predictions = pd.read_csv(results.folder / "predictions.csv")
    assert set(predictions["true"]) == set(y)
    off = (predictions["predicted"] - predictions["true"]).abs()
    means = off.groupby([predictions["model"], predictions["fold"]]).mean()
    cells = results.cells.set_index(["model", "fold"])
    np.testing.assert_allclose(cells["mae"].astype(float), means.loc[cells.index], rtol=1e-9)
    # The deviation of the target is 77.
    assert 40 < means["ridge"].mean() < 50
    assert 0.6 < cells.loc["ridge", "nrmse"].astype(float).mean() < 0.8


def test_a_positive_class_is_named() -> None:
    X, y = load_iris(return_X_y=True)
    words = np.where(y == 2, "rare", "usual")
    options: dict[str, Any] = {"metric": ["recall", "average_precision"], "grids": {"ridge": {"C": [1.0]}}, "folds": 3}
    for positive, label in ((None, "usual"), ("rare", "rare")):
        results = elmbench.compare(X, words, ["ridge"], positive=positive, **options)
        assert f"the positive class is {label}" in results.text
        lines = pd.read_csv(results.folder / "predictions.csv").query("model == 'ridge'")
        lines["right"] = lines["predicted"] == label
        recall = results.cells.query("model == 'ridge'").set_index("fold")["recall"].astype(float)
        np.testing.assert_allclose(recall, lines[lines["true"] == label].groupby("fold")["right"].mean())
    assert "the positive class is 0" in elmbench.compare(X, (y == 1) * 1.0, ["dummy"], positive=0.0, folds=3).text
    with pytest.raises(ElmbenchError, match="'frequent' is named as the positive class of 2 classes"):
        elmbench.compare(X, words, ["ridge"], positive="frequent")
    with pytest.raises(ElmbenchError, match="of 3 classes"):
        elmbench.compare(X, y, ["ridge"], positive=1)


def test_no_frame_is_written_over_another() -> None:
    X, y = load_iris(return_X_y=True)
    one = elmbench.compare(X, y, ["dummy"], folds=3)
    other = elmbench.compare(X[:120], y[:120], ["dummy"], folds=3)
    assert one.folder != other.folder
    assert len(pd.read_csv(one.folder / "cells.csv")) == 3
    assert not Path("elmbench-results").exists()
    folders = [elmbench.compare(X[:n], y[:n], ["dummy"], name="iris", results_dir="here").folder for n in (150, 120)]
    assert len(set(folders)) == 2
    assert all(folder.is_relative_to("here") for folder in folders)


def test_held_out_rows_and_a_budget() -> None:
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(150)
    learnt, held_out = order[:100], order[100:]
    test, grids = (X[held_out], y[held_out]), {"ridge": {"C": [1.0]}}
    result = elmbench.compare(X[learnt], y[learnt], ["ridge"], grids=grids, test=test, weights=np.ones(100))
    assert result.cells.set_index("model")["n_test"].to_dict() == {"ridge": 50, "dummy": 50}
    model = make_pipeline(StandardScaler(), RidgeClassifier(alpha=1)).fit(X[learnt], y[learnt])
    assert result.cells.set_index("model")["accuracy"]["ridge"] == model.score(*test)
    nothing = elmbench.compare(X, y, ["ridge"], budget="0s")
    assert not len(nothing.cells)
    assert "ridge not run: the budget of 0s is spent" in " ".join(nothing.text.split())
    whole = elmbench.compare(X, y, ["ridge"], budget="1h", folds=3)
    assert set(whole.cells["model"]) == {"ridge", "dummy"}

"""Leave-one-out as one task for each model, against scikit-learn by hand."""

from pathlib import Path

import numpy as np
import pytest
from own_table import run_own_table
from sklearn.datasets import load_diabetes, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression
from sklearn.metrics import matthews_corrcoef, r2_score, roc_auc_score
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from elmbench.errors import ElmbenchError

PLUGIN = """
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression

MODELS = {"lda": LinearDiscriminantAnalysis, "ols": LinearRegression}
"""
TABLE = """
datasets: [DATA]
protocol:
  scale: {kind: standard, fit-on: train}
  outer: {kind: leave-one-out}
  metrics: METRICS
models:
  mine: COLUMN
published: null
"""
DATA = """
flowers:
  title: Two kinds of flowers
  task: classification
  positive: ["2"]
  shape: {instances: 100, features: 4, classes: {"1": 50, "2": 50}}
  sources: [{kind: file, path: flowers.csv}]
  citation: none
sugar:
  title: Sugar
  task: regression
  shape: {instances: 60, features: 10}
  sources: [{kind: file, path: sugar.csv}]
  citation: none
"""


def run_table(folder: Path, data: str, metrics: str, column: str) -> dict[str, float]:
    """Return the only cell of a table."""
    iris = load_iris(as_frame=True).frame
    iris[iris["target"] > 0].to_csv(folder / "flowers.csv", index=False)
    load_diabetes(as_frame=True).frame[:60].to_csv(folder / "sugar.csv", index=False)
    (folder / "datasets.yaml").write_text(DATA)
    table = (
        TABLE.replace("DATA", data)
        .replace("METRICS", metrics)
        .replace("COLUMN", column)
    )
    results = run_own_table(folder, table, PLUGIN)
    (cell,) = results.cells.to_dict("records")
    assert cell["status"] == "ok", cell["reason"]
    return cell


def test_a_classification_has_the_metrics_of_all_predictions(tmp_path: Path) -> None:
    cell = run_table(tmp_path, "flowers", "[accuracy, mcc, roc_auc]", "{model: lda}")
    assert cell["n_test"] == 100
    data = np.loadtxt(tmp_path / "flowers.csv", delimiter=",", skiprows=1)
    X, y = data[:, :4], data[:, 4]
    pipeline = make_pipeline(StandardScaler(), LinearDiscriminantAnalysis())
    predicted = cross_val_predict(pipeline, X, y, cv=LeaveOneOut())
    scores = cross_val_predict(
        pipeline, X, y, cv=LeaveOneOut(), method="decision_function"
    )
    assert cell["accuracy"] == np.mean(predicted == y)
    assert cell["mcc"] == pytest.approx(matthews_corrcoef(y, predicted), rel=1e-12)
    assert cell["roc_auc"] == pytest.approx(roc_auc_score(y, scores), rel=1e-12)


def test_a_regression_has_errors_over_all_rows(tmp_path: Path) -> None:
    cell = run_table(tmp_path, "sugar", "[rmse, r2]", "{model: ols}")
    data = np.loadtxt(tmp_path / "sugar.csv", delimiter=",", skiprows=1)
    X, y = data[:, :10], data[:, 10]
    predicted = cross_val_predict(LinearRegression(), X, y, cv=LeaveOneOut())
    assert cell["rmse"] == pytest.approx(
        np.sqrt(np.mean((predicted - y) ** 2)), rel=1e-9
    )
    assert cell["r2"] == pytest.approx(r2_score(y, predicted), rel=1e-9)


def test_a_column_that_searches_needs_folds(tmp_path: Path) -> None:
    column = "{model: ridge, search: {C: {values: [1, 10]}}}"
    with pytest.raises(ElmbenchError, match=r"models\.mine searches(?s:.*)kind: kfold"):
        run_table(tmp_path, "flowers", "[accuracy]", column)

"""Estimates that join the predictions of several fits, against scikit-learn by hand: leave-one-out
as one task for each model, and the .632 bootstrap.
"""

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

import elmbench
from elmbench.errors import ElmbenchError
from elmbench.numerics.seeds import integer_seed

PLUGIN = """
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression

MODELS = {"lda": LinearDiscriminantAnalysis, "ols": LinearRegression}
"""
LINES = """
from elmbench.tables.curves import CurvesTable

class Lines(CurvesTable):
    takes_models = False

    def _check_column(self, column, model):
        pass

LAYOUTS = {"lines": Lines}
"""
TABLE = """
datasets: [DATA]
protocol:
  scale: {kind: standard, fit-on: train}
  outer: OUTER
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


def run_table(
    folder: Path, data: str, metrics: str, column: str, outer: str = "leave-one-out"
) -> list[dict[str, float]]:
    """Return the cells of a table."""
    iris = load_iris(as_frame=True).frame
    iris[iris["target"] > 0].to_csv(folder / "flowers.csv", index=False)
    load_diabetes(as_frame=True).frame[:60].to_csv(folder / "sugar.csv", index=False)
    (folder / "datasets.yaml").write_text(DATA)
    table = (
        TABLE.replace("DATA", data)
        .replace("METRICS", metrics)
        .replace("COLUMN", column)
        .replace("OUTER", f"{{kind: {outer}}}")
    )
    cells = run_own_table(folder, table, PLUGIN).cells.to_dict("records")
    for cell in cells:
        assert cell["status"] == "ok", cell["reason"]
    return cells


def read_rows(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the features and targets of a file."""
    data = np.loadtxt(path, delimiter=",", skiprows=1)
    return data[:, :-1], data[:, -1]


def test_a_classification_has_the_metrics_of_all_predictions(tmp_path: Path) -> None:
    (cell,) = run_table(tmp_path, "flowers", "[accuracy, mcc, roc_auc]", "{model: lda}")
    assert cell["n_test"] == 100
    X, y = read_rows(tmp_path / "flowers.csv")
    pipeline = make_pipeline(StandardScaler(), LinearDiscriminantAnalysis())
    predicted = cross_val_predict(pipeline, X, y, cv=LeaveOneOut())
    scores = cross_val_predict(
        pipeline, X, y, cv=LeaveOneOut(), method="decision_function"
    )
    assert cell["accuracy"] == np.mean(predicted == y)
    assert cell["mcc"] == pytest.approx(matthews_corrcoef(y, predicted), rel=1e-12)
    assert cell["roc_auc"] == pytest.approx(roc_auc_score(y, scores), rel=1e-12)


def test_a_regression_has_errors_over_all_rows(tmp_path: Path) -> None:
    (cell,) = run_table(tmp_path, "sugar", "[rmse, r2]", "{model: ols}")
    X, y = read_rows(tmp_path / "sugar.csv")
    predicted = cross_val_predict(LinearRegression(), X, y, cv=LeaveOneOut())
    assert cell["rmse"] == pytest.approx(
        np.sqrt(np.mean((predicted - y) ** 2)), rel=1e-9
    )
    assert cell["r2"] == pytest.approx(r2_score(y, predicted), rel=1e-9)


def test_a_column_that_searches_needs_folds(tmp_path: Path) -> None:
    column = "{model: ridge, search: {C: {values: [1, 10]}}}"
    with pytest.raises(ElmbenchError, match=r"models\.mine searches(?s:.*)kind: kfold"):
        run_table(tmp_path, "flowers", "[accuracy]", column)


def test_a_632_bootstrap_weights_both_parts_of_a_classification(tmp_path: Path) -> None:
    """The resubstitution is of a model of all rows, as in Efron (1983), equation 6.13."""
    metrics = "[accuracy, mcc, roc_auc, error_rate]"
    outer = "bootstrap-632, folds: 3, runs: 2"
    cells = run_table(tmp_path, "flowers", metrics, "{model: lda}", outer)
    X, y = read_rows(tmp_path / "flowers.csv")

    def measured(train: np.ndarray, test: np.ndarray) -> np.ndarray:
        model = make_pipeline(StandardScaler(), LinearDiscriminantAnalysis())
        model.fit(X[train], y[train])
        predicted = model.predict(X[test])
        area = roc_auc_score(y[test], model.decision_function(X[test]))
        accuracy = np.mean(predicted == y[test])
        mcc = matthews_corrcoef(y[test], predicted)
        return np.array([accuracy, mcc, area, 1 - accuracy])

    every = np.arange(100)
    resubstitution = measured(every, every)
    assert len(cells) == 6
    for cell in cells:
        train = drawn_rows("flowers", 100, int(cell["run"]), int(cell["fold"]))
        test = np.setdiff1d(every, train)
        by_hand = 0.632 * measured(train, test) + 0.368 * resubstitution
        ours = [cell[name] for name in ("accuracy", "mcc", "roc_auc", "error_rate")]
        np.testing.assert_allclose(ours, by_hand, rtol=1e-12)
        assert cell["n_test"] == len(test)
        assert cell["tn"] + cell["fp"] + cell["fn"] + cell["tp"] == len(test)


def test_a_632_bootstrap_of_a_regression(tmp_path: Path) -> None:
    outer = "bootstrap-632, folds: 2"
    cells = run_table(tmp_path, "sugar", "[rmse]", "{model: ols}", outer)
    X, y = read_rows(tmp_path / "sugar.csv")
    whole = LinearRegression().fit(X, y)
    resubstitution = np.sqrt(np.mean((whole.predict(X) - y) ** 2))
    for cell in cells:
        train = drawn_rows("sugar", 60, 0, int(cell["fold"]))
        test = np.setdiff1d(np.arange(60), train)
        model = LinearRegression().fit(X[train], y[train])
        out_of_bag = np.sqrt(np.mean((model.predict(X[test]) - y[test]) ** 2))
        by_hand = 0.632 * out_of_bag + 0.368 * resubstitution
        assert cell["rmse"] == pytest.approx(by_hand, rel=1e-9)


def drawn_rows(name: str, n_rows: int, run: int, fold: int) -> np.ndarray:
    """Return the rows that a bootstrap learns."""
    random = np.random.default_rng(integer_seed("split", name, run))
    draws = [random.integers(n_rows, size=n_rows) for _ in range(fold + 1)]
    return draws[fold]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("{model: ridge, search: {C: {values: [1, 10]}}}", "searches hyperparameters"),
        ("{model: ridge, train-rows: 10}", "has train-rows"),
    ],
)
def test_a_632_bootstrap_needs_fits_to_all_rows(
    tmp_path: Path, column: str, message: str
) -> None:
    with pytest.raises(ElmbenchError, match=f"{message}(?s:.*)kind: bootstrap, "):
        run_table(tmp_path, "flowers", "[accuracy]", column, "bootstrap-632, folds: 2")


def test_an_added_model_that_searches_needs_folds(tmp_path: Path) -> None:
    run_table(tmp_path, "flowers", "[accuracy]", "{model: lda}")
    with pytest.raises(ElmbenchError, match="is leave-one-out, but k-elm searches"):
        elmbench.run(
            "own/mine",
            profile="paper",
            models=["k-elm"],
            plugins=[tmp_path / "plug.py"],
            spec_dirs=[tmp_path],
            results_dir=tmp_path / "results",
        )


def test_a_table_of_curves_has_no_joint_estimate(tmp_path: Path) -> None:
    table = TABLE.replace("DATA", "wdbc").replace("METRICS", "[accuracy]")
    table = table.replace("OUTER", "{kind: bootstrap-632}")
    table = "layout: lines" + table.replace("COLUMN", "{model: lda}")
    with pytest.raises(ElmbenchError, match="measures more than predictions"):
        run_own_table(tmp_path, table, PLUGIN + LINES)

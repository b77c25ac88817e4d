"""A table of a user with splits of a file, one inner part and a metric of a plug-in, against
scikit-learn by hand.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from own_table import run_own_table
from sklearn.linear_model import RidgeClassifier
from sklearn.preprocessing import MinMaxScaler

import elmbench

COST = """
from elmbench.metrics import ERROR, Metric

def cost(counts):
    return (counts[..., 0, 1] + 5 * counts[..., 1, 0]) / counts.sum(axis=(-2, -1))

METRICS = {"run-cost": Metric("", "counts", cost, less_is_better=True, unit=ERROR)}
"""
TABLE = """
datasets: [wdbc]
protocol:
  scale: {range: [0, 1]}
  outer: OUTER
  inner: {kind: holdout, test: 0.5}
  select: nested
  metrics: [run-cost, error_rate]
models:
  ridge: {model: ridge, search: {C: {values: [0.01, 1.0]}}}
published: null
"""


def run_table(folder: Path, outer: str) -> pd.DataFrame:
    return run_own_table(folder, TABLE.replace("OUTER", outer), COST).cells


def test_overlapping_given_tests_are_measured_as_by_hand(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    tests = [random.choice(569, 200, replace=False) for _ in range(3)]
    lines = [
        f"{run},0,{' '.join(map(str, rows))},test" for run, rows in enumerate(tests)
    ]
    (tmp_path / "splits.csv").write_text("\n".join(["run,fold,row,part", *lines]))
    cells = run_table(tmp_path, "{kind: given, file: splits.csv, runs: 3}")
    assert cells["status"].tolist() == ["ok"] * 3
    data = elmbench.load_dataset("wdbc")
    X = MinMaxScaler().fit_transform(data.X)
    for rows, cell in zip(tests, cells.to_dict("records"), strict=True):
        train = np.setdiff1d(np.arange(569), rows)
        C = json.loads(cell["params"])["C"]
        predicted = (
            RidgeClassifier(alpha=1 / C).fit(X[train], data.y[train]).predict(X[rows])
        )
        true = data.y[rows]
        wrong = np.sum((true == -1) & (predicted == 1)) + 5 * np.sum(
            (true == 1) & (predicted == -1)
        )
        assert cell["error_rate"] == np.mean(true != predicted)
        assert cell["run-cost"] == wrong / 200


def test_shares_of_rows_are_stored_and_read_again(tmp_path: Path) -> None:
    cells = run_table(tmp_path, "{kind: stratified-holdout, test: 0.3}")
    assert cells["n_test"].tolist() == [171]
    again = run_table(tmp_path, "{kind: stratified-holdout, test: 0.3}")
    assert again["error_rate"].tolist() == cells["error_rate"].tolist()

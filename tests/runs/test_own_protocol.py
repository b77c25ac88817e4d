"""A table of a user with outer and inner splits of a file, one inner part and a metric of a
plug-in, against scikit-learn by hand.
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
  inner: INNER
  select: nested
  metrics: [run-cost, error_rate]
models:
  ridge: {model: ridge, search: {C: {values: CANDIDATES}}}
published: null
"""


CANDIDATES = [0.001, 0.01, 0.1, 1.0, 10.0, 100.0]
#: Training and test rows.
Splits = list[tuple[list[int], list[int]]]


def run_table(
    folder: Path, outer: str, inner: str = "{kind: holdout, test: 0.5}"
) -> pd.DataFrame:
    table = TABLE.replace("OUTER", outer).replace("INNER", inner)
    table = table.replace("CANDIDATES", str(CANDIDATES))
    return run_own_table(folder, table, COST).cells


def cost_of(true: np.ndarray, predicted: np.ndarray) -> float:
    """Return the metric of the plug-in, by its definition."""
    missed = np.sum((true == 1) & (predicted == -1))
    false_alarms = np.sum((true == -1) & (predicted == 1))
    return float(false_alarms + 5 * missed) / len(true)


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
        assert cell["error_rate"] == np.mean(true != predicted)
        assert cell["run-cost"] == cost_of(true, predicted)


def write_nested_splits(folder: Path) -> list[Splits]:
    """Write outer splits.csv of two runs and inner.csv of two inner splits each; return the
    training and test rows of the inner splits of each run.

    The first inner split has no training rows, the second learns one row twice.
    """
    random = np.random.default_rng(2)
    outer = ["run,fold,row,part"]
    inner = ["run,fold,inner,row,part"]
    parts = []
    for run in range(2):
        rows = random.permutation(569).tolist()
        test, first, second, third = (
            rows[:200],
            rows[200:300],
            rows[300:400],
            rows[400:],
        )
        outer.append(f"{run},0,{' '.join(map(str, test))},test")
        inner.append(f"{run},0,0,{' '.join(map(str, first))},test")
        inner.append(f"{run},0,1,{' '.join(map(str, second))},test")
        inner.append(f"{run},0,1,{' '.join(map(str, third))},train")
        inner.append(f"{run},0,1,{third[0]},train")
        parts.append([(second + third, first), ([*third, third[0]], second)])
    (folder / "splits.csv").write_text("\n".join(outer))
    (folder / "inner.csv").write_text("\n".join(inner))
    return parts


def test_given_inner_splits_choose_as_by_hand(tmp_path: Path) -> None:
    parts = write_nested_splits(tmp_path)
    outer = "{kind: given, file: splits.csv, runs: 2}"
    inner = "{kind: given, file: inner.csv, folds: 2}"
    cells = run_table(tmp_path, outer, inner)
    assert cells["status"].tolist() == ["ok"] * 2, cells["reason"].tolist()
    data = elmbench.load_dataset("wdbc")
    X = MinMaxScaler().fit_transform(data.X)

    def mean_cost(C: float, splits: Splits) -> float:
        costs = []
        for train, test in splits:
            model = RidgeClassifier(alpha=1 / C).fit(X[train], data.y[train])
            costs.append(cost_of(data.y[test], model.predict(X[test])))
        return float(np.mean(costs))

    for splits, params in zip(parts, cells["params"], strict=True):
        costs = {C: mean_cost(C, splits) for C in CANDIDATES}
        assert len(set(costs.values())) > 1
        assert costs[json.loads(params)["C"]] == min(costs.values())


def test_shares_of_rows_are_stored_and_read_again(tmp_path: Path) -> None:
    cells = run_table(tmp_path, "{kind: stratified-holdout, test: 0.3}")
    assert cells["n_test"].tolist() == [171]
    again = run_table(tmp_path, "{kind: stratified-holdout, test: 0.3}")
    assert again["error_rate"].tolist() == cells["error_rate"].tolist()

"""A table whose data sets have different metrics."""

from pathlib import Path

import numpy as np
import pytest
from own_table import run_own_table

from elmbench.errors import ElmbenchError
from elmbench.specs.catalogue import read_own_table
from elmbench.specs.profiles import Resolved, resolve
from elmbench.tables import add_metrics, kind_of_table

TABLE = """
datasets: [wdbc, digits, mackey-glass]
protocol:
  scale: null
  outer: {kind: kfold, folds: 2}
  metrics: [accuracy, rmse]
  metrics-except: {wdbc: [f1, mcc]}
models:
  mine: {model: ridge, params: {C: 1.0}}
published: null
"""


def read_table(folder: Path, text: str = TABLE) -> Resolved:
    (folder / "mine.yaml").write_text(text)
    return resolve(read_own_table(folder / "mine.yaml"), "paper")


def test_each_data_set_has_its_metrics(tmp_path: Path) -> None:
    resolved = read_table(tmp_path)
    table = kind_of_table(resolved)
    metrics = {name: resolved.metric_of(name) for name in resolved.spec.datasets}
    assert metrics == {"wdbc": "f1", "digits": "accuracy", "mackey-glass": "rmse"}
    first = [measure.metric for measure in table.measures("wdbc", "mine")[:2]]
    assert first == ["f1", "mcc"]
    assert table.measures("digits", "mine")[0].metric == "accuracy"
    headings = {column.heading for column in table.columns(resolved.spec.datasets)}
    assert {"accuracy / RMSE / F1", "MCC"} <= headings


def test_an_added_metric_is_shown_for_all_data_sets(tmp_path: Path) -> None:
    protocol = add_metrics(read_table(tmp_path), ["recall"]).spec.protocol
    assert protocol.metrics_for("classification", "wdbc") == ["f1", "mcc", "recall"]
    assert protocol.metrics_for("classification", "digits") == ["accuracy", "recall"]


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ("{wine: [f1]}", "protocol.metrics-except names 'wine'"),
        ("{wdbc: []}", "'protocol.metrics-except.wdbc'"),
        ("{wdbc: [rmse]}", "metrics-except.wdbc is rmse, without a classification"),
    ],
)
def test_metrics_that_cannot_be_shown_are_refused(
    tmp_path: Path, metrics: str, message: str
) -> None:
    text = TABLE.replace("{wdbc: [f1, mcc]}", metrics)
    with pytest.raises(ElmbenchError, match=message):
        read_table(tmp_path, text).metric_of("wdbc")


def test_the_search_and_the_table_follow_the_data_set(tmp_path: Path) -> None:
    text = TABLE.replace(", mackey-glass]", "]").replace("[f1, mcc]", "[roc_auc]")
    results = run_own_table(tmp_path, text)
    areas = results.cells.groupby("dataset")["roc_auc"].min()
    assert areas["wdbc"] > 0.98
    summary = results.summary.drop_duplicates("dataset").set_index("dataset")
    assert summary["metric"].to_dict() == {"wdbc": "roc_auc", "digits": "accuracy"}
    assert np.isfinite(summary["mean"]).all()

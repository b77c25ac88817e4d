"""Hyperparameters that are selected once on a part of all rows, against scikit-learn by hand."""

import json
from pathlib import Path

import numpy as np
import pytest
from own_table import run_own_table
from sentences import sentence
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import (
    LeaveOneOut,
    StratifiedShuffleSplit,
    cross_val_predict,
)

import elmbench
from elmbench.numerics.seeds import integer_seed
from elmbench.report.table_results import Results

CANDIDATES = [1e-6, 1e-4, 1e-2, 1.0, 100.0]
TABLE = """
datasets: [wdbc]
protocol:
  scale: null
  order: stored
  outer: OUTER
  inner: {kind: stratified-holdout, test: 0.25}
  select: once
  metrics: [accuracy]
models:
  ridge: {model: ridge, search: {C: {values: CANDIDATES}}}
published: null
"""


def run_table(folder: Path, outer: str) -> Results:
    table = TABLE.replace("OUTER", outer).replace("CANDIDATES", str(CANDIDATES))
    return run_own_table(folder, table)


def accuracies_on_holdout() -> dict[float, float]:
    """Return the accuracy of each candidate on the holdout of all rows."""
    data = elmbench.load_dataset("wdbc")
    seed = integer_seed("inner", "wdbc", 0, 0)
    splitter = StratifiedShuffleSplit(1, test_size=0.25, random_state=seed)
    train, test = next(splitter.split(data.X, data.y))
    scores = {}
    for C in CANDIDATES:
        model = RidgeClassifier(alpha=1 / C).fit(data.X[train], data.y[train])
        scores[C] = model.score(data.X[test], data.y[test])
    return scores


def test_all_folds_and_runs_have_the_choice_of_one_holdout(tmp_path: Path) -> None:
    results = run_table(tmp_path, "{kind: kfold, folds: 2, runs: 2}")
    cells = results.cells
    assert cells["select"].tolist() == ["once"] * 4
    assert cells["search_seconds"].nunique() == 1
    (params,) = set(cells["params"])
    scores = accuracies_on_holdout()
    assert len(set(scores.values())) > 1
    assert scores[json.loads(params)["C"]] == max(scores.values())


def test_the_caption_says_on_how_many_rows(tmp_path: Path) -> None:
    run_table(tmp_path, "{kind: kfold, folds: 2, runs: 2}")
    (table,) = (tmp_path / "results").rglob("table.md")
    text = " ".join(table.read_text().split())
    assert sentence("runs.selected-once.caption", rows=143, folds=2, runs=2) in text


def test_leave_one_out_may_follow_one_selection(tmp_path: Path) -> None:
    (cell,) = run_table(tmp_path, "{kind: leave-one-out}").cells.to_dict("records")
    C = json.loads(cell["params"])["C"]
    scores = accuracies_on_holdout()
    assert scores[C] == max(scores.values())
    data = elmbench.load_dataset("wdbc")
    model = RidgeClassifier(alpha=1 / C)
    predicted = cross_val_predict(model, data.X, data.y, cv=LeaveOneOut())
    assert cell["accuracy"] == pytest.approx(np.mean(predicted == data.y))


def test_leave_one_out_takes_printed_values_of_a_column_with_a_grid(
    tmp_path: Path,
) -> None:
    (tmp_path / "printed.csv").write_text(
        "dataset,model,metric,value\nwdbc,ridge,C,0.5\n"
    )
    table = TABLE.replace("OUTER", "{kind: leave-one-out}")
    table = table.replace("CANDIDATES", str(CANDIDATES))
    table = table.replace("published: null", "published: {parameters: printed.csv}")
    results = run_own_table(tmp_path, table, select=["published"])
    (cell,) = results.cells.to_dict("records")
    assert cell["select"] == "published"
    assert json.loads(cell["params"]) == {"C": 0.5}
    assert cell["search_seconds"] == 0

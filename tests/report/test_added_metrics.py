"""Metrics that are asked for later: one entry of the registry, or a name, and the predictions in a
store.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_cells import Toy, cell, cell_in_store, frame, keep_cells, predictions
from sentences import pattern, sentence
from sklearn import metrics as sk

from elmbench.errors import ElmbenchError
from elmbench.evaluation.stored_predictions import _pack
from elmbench.execution.store import Store
from elmbench.judging.baseline import compare_with_baseline, update_baseline
from elmbench.metrics import REGISTRY, Metric
from elmbench.models import KELMClassifier
from elmbench.report.table_results import results_of_table
from elmbench.results.cells import read_cells, write_frame
from elmbench.runs.write_results import write_results
from elmbench.tasks.scoring import GridProblem, grid_scores

TRUE = [1, 1, 1, 0, 0, 0, 0, 0]
#: What two models predict for the rows of each of four folds, with decision values of the first
#: model alone.
SAID = {"ELM": [1, 1, 0, 0, 0, 0, 0, 1], "K-ELM": [1, 0, 0, 0, 0, 0, 0, 0]}
VALUES = [0.9, 0.8, -0.2, -0.5, -0.4, -0.9, -0.8, 0.7]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store, cells = Store(tmp_path), {}
    for model, said in SAID.items():
        result = {
            "predictions": predictions(TRUE, said, VALUES if model == "ELM" else None),
            "n_test": 8,
            "n_units": 3,
        }
        for run, fold in ((0, 0), (0, 1), (1, 0), (1, 1)):
            cells[cell_in_store(f"{model}{run}{fold}", model, run, fold)] = result
    keep_cells(store, cells)
    return store


@pytest.fixture
def share(monkeypatch: pytest.MonkeyPatch) -> None:
    """A metric as a stranger adds it: the share of negative rows that are predicted as such."""
    entry = Metric(
        "specificity",
        "counts",
        lambda counts: counts[..., 0, 0] / counts[..., 0, :].sum(axis=-1),
    )
    monkeypatch.setitem(REGISTRY, entry.name, entry)


def means(results: Any, metric: str) -> dict[str, float | None]:
    lines = results.summary[results.summary["metric"] == metric]
    return {str(line["model"]): line["mean"] for line in lines.to_dict("records")}


@pytest.mark.usefixtures("share")
def test_one_metric_of_a_plugin_is_in_tables_comparisons_searches_and_the_check(
    toy: Toy, store: Store, tmp_path: Path
) -> None:
    write_results(toy(), store, tmp_path)
    results = results_of_table(toy(), tmp_path, ["specificity"])
    assert means(results, "specificity") == pytest.approx({"ELM": 0.8, "K-ELM": 1.0})
    assert "specificity" in results.text

    # A table that names it has a column of it in cells.csv.
    named = toy(protocol={"metrics": ["mcc", "specificity"]})
    written = write_results(named, store, tmp_path)
    assert (
        read_cells(written.folder / "cells.csv")["specificity"].tolist()
        == [0.8] * 4 + [1.0] * 4
    )

    # A comparison is ranked by it.
    side_by_side = toy(layout="comparison", protocol={"metrics": ["recall"]})
    by_recall = write_results(side_by_side, store, tmp_path)
    assert means(by_recall, "rank") == {"ELM": 1, "K-ELM": 2}
    by_added = results_of_table(side_by_side, tmp_path, ["specificity"])
    assert means(by_added, "rank") == {"ELM": 2, "K-ELM": 1}
    assert "best specificity first, hyperparameters chosen by recall" in by_added.text
    assert [line.split()[:2] for line in by_added.text.splitlines() if "  K-ELM" in line or "  ELM" in line][:2] == [
        ["K-ELM", "1.000"], ["ELM", "0.800"],
    ]  # fmt: skip

    # A search goes by it.
    X, y = np.array([[0.0], [2.0], [1.0], [3.0]]), np.array([-1, 1, -1, 1])
    problem = GridProblem(
        KELMClassifier,
        X,
        y,
        [(np.array([0, 1]), np.arange(4))],
        [{"C": 1.0}],
        {},
        [-1, 1],
    )
    predicted = KELMClassifier(C=1.0).fit(X[:2], y[:2]).predict(X)
    assert grid_scores([problem], "specificity")[0] == [
        [sk.recall_score(y, predicted, pos_label=-1)]
    ]

    # The check compares it where the baseline has it, and takes a baseline without it.
    lines = [
        cell(tn=5, fp=0, fn=1, tp=2, mcc=0.7, specificity=value) for value in (1.0, 0.9)
    ]
    plain = [{name: value for name, value in lines[0].items() if name != "specificity"}]
    baseline = tmp_path / "one.baseline.csv"
    for old, new, differ in (
        (lines[:1], lines[1:], ["specificity"]),
        (plain, lines[1:], []),
    ):
        update_baseline(frame(named, old).dropna(axis=1, how="all"), baseline)
        write_frame(frame(named, new), tmp_path / "cells.csv")
        differences = compare_with_baseline(
            read_cells(tmp_path / "cells.csv"), baseline
        )
        assert [one["column"] for one in differences["differences"]] == differ


def test_metrics_of_yesterday_s_store(toy: Toy, store: Store, tmp_path: Path) -> None:
    """Nothing is computed but the metrics; cells.csv is used if it has the column, without any
    store.
    """
    folder = write_results(toy(), store, tmp_path).folder
    files = {path: path.read_bytes() for path in folder.iterdir()}
    results = results_of_table(
        toy(), tmp_path, ["balanced_accuracy", "roc_auc", "neg_brier_score", "jaccard"]
    )
    assert means(results, "balanced_accuracy") == pytest.approx(
        {model: sk.balanced_accuracy_score(TRUE, said) for model, said in SAID.items()}
    )
    entries = results.table.sections[0].entries
    assert [
        entry.model
        for entry in entries
        if entry.measure.metric == "jaccard" and entry.best
    ] == ["ELM"]
    assert means(results, "jaccard") == pytest.approx(
        {model: sk.jaccard_score(TRUE, said) for model, said in SAID.items()}
    )
    assert means(results, "roc_auc")["ELM"] == pytest.approx(
        sk.roc_auc_score(TRUE, VALUES)
    )
    notes = [note.text for note in results.table.notes if note.kind == "metric"]
    assert notes == [
        sentence(
            "report.added-metrics.needs-decision-values",
            metric="roc_auc",
            models="K-ELM",
        ),
        sentence(
            "report.added-metrics.needs-probabilities",
            metric="neg_brier_score",
            models="ELM, K-ELM",
        ),
    ]
    assert {path: path.read_bytes() for path in folder.iterdir()} == files

    (tmp_path / ".store").rename(tmp_path / "elsewhere")
    accuracy = means(results_of_table(toy(), tmp_path, ["accuracy"]), "accuracy")
    assert accuracy == pytest.approx({"ELM": 0.75, "K-ELM": 0.75})
    with pytest.raises(
        ElmbenchError,
        match=r"has no column roc_auc, and .* lacks the predictions of 8 of 8",
    ) as error:
        results_of_table(toy(), tmp_path, ["roc_auc"])
    assert str(error.value.next_step).startswith("elmbench run toy/one --profile paper")


@pytest.mark.parametrize(
    ("layout", "metric", "message"),
    [
        (
            "metrics",
            "rmse",
            pattern(
                "report.added-metrics.metric-of-other-task",
                metric="rmse",
                table="toy/one",
            ),
        ),
        (
            "metrics",
            "neg_max_error",
            "neg_max_error is not a metric for classification",
        ),
        ("metrics", "tp", "which cannot show tp"),
        (
            "confusion",
            "mcc",
            pattern(
                "report.added-metrics.kind-without-metrics",
                kind="confusion",
                metric="mcc",
            ),
        ),
        ("metrics", "mmc", "unknown metric 'mmc'"),
    ],
)
def test_a_metric_that_a_table_cannot_show(
    toy: Toy, store: Store, tmp_path: Path, layout: str, metric: str, message: str
) -> None:
    write_results(toy(layout=layout), store, tmp_path)
    with pytest.raises(ElmbenchError, match=message):
        results_of_table(toy(layout=layout), tmp_path, [metric])


def test_cells_of_another_task_lack_the_metric(
    toy: Toy, store: Store, tmp_path: Path
) -> None:
    resolved = toy(
        datasets=["wdbc", "calhousing"], protocol={"metrics": ["mcc", "nrmse"]}
    )
    values = _pack(np.array([1.0, 2.0]), "<f8")
    keep_cells(
        store,
        {
            cell_in_store("values", dataset="calhousing"): {
                "predictions": {"true": values, "predicted": values},
                "n_units": 3,
            }
        },
    )
    write_results(resolved, store, tmp_path)
    results = results_of_table(resolved, tmp_path, ["f1_macro"])
    assert means(results, "f1_macro")["ELM"] == pytest.approx(
        sk.f1_score(TRUE, SAID["ELM"], average="macro")
    )
    (line,) = results.cells[results.cells["dataset"] == "calhousing"].to_dict("records")
    assert line["nrmse"] == 0
    assert pd.isna(line["f1_macro"])

"""The page of a comparison of a user's own data: one file that needs no other."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pandas as pd

from elmbench.datasets.load import load
from elmbench.errors import ElmbenchError
from elmbench.layouts.comparison import ranking
from elmbench.protocol.stored import StoredPredictions
from elmbench.reporting.cells import stored_in
from elmbench.reporting.folders import PICTURE
from elmbench.reporting.results import Results, read_environment
from elmbench.reporting.site.charts import Picture, rank_diagram
from elmbench.reporting.site.own_charts import importance_chart, pictures_of
from elmbench.reporting.site.pages import asset, environment
from elmbench.reporting.statistics import compare_models
from elmbench.running.store import Store
from elmbench.specs.datasets import DatasetSpec


def own_page(results: Results, store: Store, importance: pd.DataFrame) -> str:
    """Return the page of a comparison as HTML.

    Parameters
    ----------
    store : Store
        Has the predictions for test rows.
    importance : DataFrame
        A line for each column of each data set, see `elmbench.workflow.own_page.importance_of`.
    """
    resolved, record = results.resolved, read_environment(results.folder)
    scores = results.folder / PICTURE
    try:
        across = compare_models(results.summary, resolved)[0]
    except ElmbenchError:  # one data set, or one model
        across = None
    return (
        environment()
        .get_template("own.html")
        .render(
            style=asset("style.css"),
            script=asset("sort.js"),
            table=results.table,
            scores=Picture("Score of each test part (dot) and the mean of each model (bar)", scores.read_bytes())
            if scores.is_file()
            else None,
            across=across,
            ranks=across and rank_diagram(across, "Comparison"),
            datasets=[
                _dataset(spec, results, store, importance[importance["dataset"] == spec.name])
                | {"remarks": record.get("remarks", {}).get(spec.name, "").split("; ")}
                for spec in resolved.datasets.values()
            ],
            record=record,
        )
    )


def _dataset(spec: DatasetSpec, results: Results, store: Store, importance: pd.DataFrame) -> dict[str, Any]:
    cells = results.cells[(results.cells["dataset"] == spec.name) & (results.cells["status"] == "ok")]
    stored = _stored(spec, ranking(results.summary, spec.name), results, store)
    pictures = list(pictures_of(stored, load(spec).classes)) if stored else []
    return {
        "title": spec.title,
        "task": spec.task,
        "shape": spec.shape,
        "pictures": [*pictures, *([importance_chart(importance)] if len(importance) else [])],
        "params": [
            (model, choices)
            for model, group in cells.groupby("model", sort=False)
            if (choices := _choices(group["params"]))
        ],
    }


def _stored(
    spec: DatasetSpec, models: Sequence[str], results: Results, store: Store
) -> dict[str, list[StoredPredictions]]:
    """Return the stored predictions of all folds of a data set by model."""
    stored: dict[str, list[StoredPredictions]] = {model: [] for model in models}
    for cell in store.cells(results.resolved.profile, results.resolved.file.id):
        result = store.result(cell.key) if cell.key and cell.dataset == spec.name and cell.model in stored else None
        predictions = stored_in(result) if result else None
        if predictions is not None:
            stored[cell.model].append(predictions)
    return {model: folds for model, folds in stored.items() if folds}


def _choices(params: pd.Series[Any]) -> str:
    """Return the hyperparameters of all folds in words, the most frequent value first."""
    counts: dict[str, Counter[str]] = {}
    for text in params:
        for name, value in json.loads(text).items():
            counts.setdefault(name, Counter())[f"{value:.4g}" if isinstance(value, float) else str(value)] += 1
    words = []
    for name, values in counts.items():
        several = [f"{value} ({n} of {values.total()})" for value, n in values.most_common()]
        words.append(f"{name} = {next(iter(values)) if len(values) == 1 else ', '.join(several)}")
    return "; ".join(words)

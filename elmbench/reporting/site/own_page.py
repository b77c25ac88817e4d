"""The page of a comparison of a user's own data: one file that needs no other."""

from __future__ import annotations

from typing import Any

import pandas as pd

from elmbench.errors import ElmbenchError
from elmbench.layouts.comparison import ranking
from elmbench.reporting.provenance import read_environment
from elmbench.reporting.results import Results
from elmbench.reporting.site.charts import rank_diagram
from elmbench.reporting.site.own_charts import importance_chart, pictures_of, scores_chart
from elmbench.reporting.site.pages import asset, environment
from elmbench.reporting.statistics import compare_models
from elmbench.specs.datasets import DatasetSpec


def own_page(results: Results, predictions: pd.DataFrame, importance: pd.DataFrame) -> str:
    """Return the page of a comparison as HTML, from the lines of `predictions.csv` and of `importance.csv`."""
    resolved, record = results.resolved, read_environment(results.folder)
    try:
        across = compare_models(results.summary, resolved)[0]
    except ElmbenchError:  # one data set, or one model
        across = None
    content = {
        "style": asset("style.css"),
        "script": asset("sort.js"),
        "table": results.table,
        "across": across,
        "ranks": across and rank_diagram(across, "Comparison"),
        "datasets": [_dataset(spec, results, predictions, importance, record) for spec in resolved.datasets.values()],
        "record": record,
    }
    return environment().get_template("own.html").render(content)


def _dataset(
    spec: DatasetSpec, results: Results, predictions: pd.DataFrame, importance: pd.DataFrame, record: dict[str, Any]
) -> dict[str, Any]:
    ranked = ranking(results.summary, spec.name)
    rows, losses = (
        lines[lines["dataset"] == spec.name] if len(lines) else lines for lines in (predictions, importance)
    )
    pictures = [scores_chart(results.cells, ranked, spec, results.resolved)] if ranked else []
    if ranked and len(rows):
        pictures += pictures_of(rows, ranked, spec)
    return {
        "title": spec.title,
        "task": spec.task,
        "shape": spec.shape,
        "remarks": record.get("remarks", {}).get(spec.name, "").split("; "),
        "pictures": [*pictures, *([importance_chart(losses)] if len(losses) else [])],
    }

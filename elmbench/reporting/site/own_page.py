"""The page of a comparison of a user's own data: one file that needs no other."""

from __future__ import annotations

from typing import Any

import pandas as pd

from elmbench.errors import ElmbenchError
from elmbench.layouts.comparison import ranking
from elmbench.reporting.folders import PICTURE, RELIABILITY
from elmbench.reporting.provenance import read_environment
from elmbench.reporting.results import Results
from elmbench.reporting.site.charts import Picture, rank_diagram
from elmbench.reporting.site.own_charts import importance_chart, pictures_of
from elmbench.reporting.site.pages import asset, environment
from elmbench.reporting.statistics import compare_models
from elmbench.specs.datasets import DatasetSpec

#: The pictures of all data sets in the folder of the results, and their labels.
_PICTURES = {
    PICTURE: "Score of each test part (dot) and the mean of each model (bar)",
    RELIABILITY: "Share of test rows by predicted probability; on the diagonal, probabilities are right",
}


def own_page(results: Results, predictions: pd.DataFrame, importance: pd.DataFrame) -> str:
    """Return the page of a comparison as HTML, from the lines of `predictions.csv` and of `importance.csv`."""
    resolved, record = results.resolved, read_environment(results.folder)
    try:
        across = compare_models(results.summary, resolved)[0]
    except ElmbenchError:  # one data set, or one model
        across = None
    paths = {results.folder / name: label for name, label in _PICTURES.items()}
    content = {
        "style": asset("style.css"),
        "script": asset("sort.js"),
        "table": results.table,
        "pictures": [Picture(label, path.read_bytes()) for path, label in paths.items() if path.is_file()],
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
    pictures = list(pictures_of(rows, ranked, spec)) if ranked and len(rows) else []
    return {
        "title": spec.title,
        "task": spec.task,
        "shape": spec.shape,
        "remarks": record.get("remarks", {}).get(spec.name, "").split("; "),
        "pictures": [*pictures, *([importance_chart(losses)] if len(losses) else [])],
    }

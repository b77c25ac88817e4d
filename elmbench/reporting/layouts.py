"""What each layout of a table shows of a cell: its metrics, chosen hyperparameters, confusion counts, or data facts."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pandas as pd

from elmbench.protocol.metrics import CLASSIFICATION, REGRESSION, metric_at
from elmbench.specs.datasets import load_dataset_specs
from elmbench.specs.profiles import Resolved
from elmbench.specs.registry import find_model

COUNTS = ("tn", "fp", "fn", "tp")
FACTS = ("features", "instances", "classes", "negatives", "positives")
#: Everything that is measured; what else a table may show are hyperparameters.
MEASURED = frozenset((*CLASSIFICATION, *REGRESSION, *FACTS, "fit_seconds", "n_units", "spearman"))
#: Times and sizes: shown, never judged.
UNJUDGED = ("fit_seconds", "n_units")


#: Layouts that show one thing for each value of a column's one hyperparameter.
SWEEPS = ("rank-correlation", "curves")


def _swept(resolved: Resolved, column: str, task: str) -> list[str]:
    """Return what is measured at each value of a column's hyperparameter, such as `gmean@h=50`."""
    model = resolved.spec.models.get(column)
    if model is None:
        values = {name: list(found) for name, found in find_model(column).grid.items()}
    else:
        search = model.search
        grids = search if isinstance(search, dict) else {name: resolved.spec.grids[name] for name in search}
        values = {name: grid.expand() for name, grid in grids.items()}
    metric = "spearman" if resolved.spec.layout == "rank-correlation" else resolved.spec.protocol.metric_for(task)
    return [metric_at(metric, name, value) for name, found in values.items() for value in found]


def point_of(measure: str) -> tuple[str, str, float]:
    """Return the metric, the hyperparameter as the paper calls it and its value of a measure such as `gmean@h=50`."""
    metric, _, place = measure.partition("@")
    name, _, value = place.partition("=")
    return metric, name, float(value)


def in_table(measure: str, others: list[str]) -> bool:
    """Tell whether a table has a row for a point of a curve: of many, for the first and those at fifths of its length.

    Parameters
    ----------
    measure : str
    others : list of str
        All that are measured, in order.
    """
    if len(others) <= 20:
        return True
    values = [point_of(other)[2] for other in others]
    value = point_of(measure)[2]
    return value == values[0] or 5 * value % values[-1] == 0


def tasks(resolved: Resolved) -> set[str]:
    """Return the tasks of a table's data sets."""
    names = (*resolved.file.spec.datasets, *resolved.settings.stand_ins)
    return {load_dataset_specs().find(name).task for name in names}


def value_columns(resolved: Resolved, extra: Iterable[str] = ()) -> list[str]:
    """Return the columns of `cells.csv` that hold a table's measured values.

    Parameters
    ----------
    resolved : Resolved
    extra : iterable of str
        Models of the registry that stand beside the table's own columns.
    """
    if resolved.spec.layout == "datasets":
        return list(FACTS)
    found = tasks(resolved)
    if resolved.spec.layout in SWEEPS:
        points = [
            p
            for task in sorted(found)
            for column in (*resolved.spec.models, *extra)
            for p in _swept(resolved, column, task)
        ]
        return list(dict.fromkeys(points))
    columns = list(CLASSIFICATION) if "classification" in found else []
    return columns + (list(REGRESSION) if "regression" in found else [])


def measures(resolved: Resolved, dataset: str, column: str) -> list[str]:
    """Return what the summary of an entry has a line for, the table's own metrics first.

    Of hyperparameters these are the ones that the column itself searches, not those that it takes over.
    """
    layout = resolved.spec.layout
    task = load_dataset_specs().find(dataset).task
    if layout == "datasets":
        printed = {figure.metric for figure in resolved.file.figures}
        # Where the paper counts the rows of each class, their sum and the number of classes say nothing more.
        followed = {"instances", "classes"} if {"negatives", "positives"} <= printed else set()
        own = [f for f in FACTS if task == "classification" or f in ("features", "instances")]
        return [f for f in own if f not in followed - printed]
    if layout in SWEEPS:
        return _swept(resolved, column, task)
    if layout == "confusion":
        return list(COUNTS)
    if layout == "parameters":
        model = resolved.file.spec.models.get(column)
        return list(model.search if model else find_model(column).grid)
    available = [m for m in (CLASSIFICATION if task == "classification" else REGRESSION) if m not in COUNTS]
    available += UNJUDGED
    own = [m for m in resolved.spec.protocol.metrics if m in available]
    return own + [m for m in available if m not in own]


def values_of(cells: pd.DataFrame, measure: str, layout: str) -> pd.Series[float]:
    """Return one measured value of each cell, NaN where it has none."""
    if layout == "parameters":
        chosen = [json.loads(text).get(measure) for text in cells["params"]]
        return pd.Series(chosen, index=cells.index, dtype=float)
    return cells[measure].astype(float)


def judged(measure: str, layout: str) -> bool:
    """Tell whether a measured value gets a verdict: hyperparameters are means over runs, times other machines'."""
    return layout != "parameters" and measure not in UNJUDGED

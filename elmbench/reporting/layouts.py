"""What each layout of a table shows of a cell: its metrics, chosen hyperparameters, confusion counts, or data facts."""

from __future__ import annotations

import json

import pandas as pd

from elmbench.evaluation.metrics import CLASSIFICATION, REGRESSION
from elmbench.specs.datasets import load_dataset_specs
from elmbench.specs.profiles import Resolved
from elmbench.specs.registry import find_model

COUNTS = ("tn", "fp", "fn", "tp")
FACTS = ("features", "instances", "classes", "negatives", "positives")
#: Everything that is measured; what else a table may show are hyperparameters.
MEASURED = frozenset((*CLASSIFICATION, *REGRESSION, *FACTS, "fit_seconds", "n_units", "spearman"))
#: Times and sizes: shown, never judged.
UNJUDGED = ("fit_seconds", "n_units")


#: Layouts that show one thing for each number of hidden nodes.
SWEEPS = ("spearman", "curves")


def _by_size(resolved: Resolved) -> list[str]:
    """Return what is measured for each number of hidden nodes, such as `gmean@h=50`."""
    what = "spearman" if resolved.spec.layout == "spearman" else resolved.spec.protocol.metric_for("classification")
    return [f"{what}@h={size}" for size in resolved.spec.grids["n_hidden"].expand()]


def size_of(measure: str) -> int:
    """Return the number of hidden nodes that a measure such as `gmean@h=50` is for."""
    return int(measure.rpartition("=")[2])


def in_table(measure: str, resolved: Resolved) -> bool:
    """Tell whether a table has a row for a measure: of a curve the first point and those at fifths of its length."""
    if resolved.spec.layout != "curves":
        return True
    sizes = [size_of(other) for other in _by_size(resolved)]
    return size_of(measure) == sizes[0] or 5 * size_of(measure) % sizes[-1] == 0


def tasks(resolved: Resolved) -> set[str]:
    """Return the tasks of a table's data sets."""
    names = (*resolved.file.spec.datasets, *resolved.settings.stand_ins)
    return {load_dataset_specs().find(name).task for name in names}


def value_columns(resolved: Resolved) -> list[str]:
    """Return the columns of `cells.csv` that hold a table's measured values."""
    if resolved.spec.layout == "datasets":
        return list(FACTS)
    if resolved.spec.layout in SWEEPS:
        return _by_size(resolved)
    found = tasks(resolved)
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
        return _by_size(resolved)
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

"""`summary.csv`: the mean of each table entry beside the published value, and what follows from the two."""

from __future__ import annotations

from typing import Any

import pandas as pd

from elmbench.reporting.cells import Order, metric_columns
from elmbench.specs.catalogue import Resolved
from elmbench.specs.datasets import load_dataset_specs
from elmbench.specs.published import PublishedValue, read_published

ENTRY = ["dataset", "model", "select", "reading"]
COLUMNS = [
    "dataset",
    "model",
    "metric",
    "select",
    "reading",
    "mean",
    "std",
    "n",
    "published",
    "published_std",
    "verdict",
]
COUNTS = ("tn", "fp", "fn", "tp")


def table_order(resolved: Resolved) -> Order:
    """Return the order in which a table's lines stand."""
    spec = resolved.file.spec
    return Order(list(spec.datasets), list(spec.models), list(resolved.spec.protocol.selections))


def published_values(resolved: Resolved) -> dict[tuple[str, str, str], PublishedValue]:
    """Return the paper's figures of a table by (data set, column, metric), data sets by the suite's names."""
    spec = resolved.file.spec
    if spec.published is None:
        return {}
    values = read_published(resolved.file.path.parent / spec.published.values)
    return {(load_dataset_specs().find(entry.dataset).name, entry.model, entry.metric): entry for entry in values}


def summarise(cells: pd.DataFrame, resolved: Resolved) -> pd.DataFrame:
    """Return one line for each entry and metric.

    Parameters
    ----------
    cells : DataFrame
        As `cells.csv` has them.
    resolved : Resolved
        The experiment under the profile that the cells are of.

    Returns
    -------
    DataFrame
        With the columns of `summary.csv`. `n` is the number of cells that ended ok; only these are averaged.
        An entry of which a cell ended otherwise has the verdict of that ending.
    """
    order = table_order(resolved)
    published = published_values(resolved)
    metrics = [m for m in metric_columns(resolved.spec.task) if m not in COUNTS] + ["fit_seconds", "n_units"]
    own = [m for m in resolved.spec.protocol.metrics if m in metrics]
    metrics = own + [m for m in metrics if m not in own]
    lines = []
    for entry, group in cells.groupby(ENTRY, sort=False):
        place = dict(zip(ENTRY, map(str, entry), strict=True))
        for metric in metrics:
            paper = published.get((place["dataset"], place["model"], metric))
            lines.append(place | _line(group, metric, paper, resolved.spec.protocol.std))
    frame = pd.DataFrame(lines, columns=COLUMNS)
    position = {name: i for i, name in enumerate(metrics)}
    keys = [(*order.key(line), position[line["metric"]]) for line in lines]
    return frame.iloc[sorted(range(len(lines)), key=lambda i: keys[i])].reset_index(drop=True)


def _line(group: pd.DataFrame, metric: str, paper: PublishedValue | None, std: str) -> dict[str, Any]:
    ok = group[group["status"] == "ok"]
    mean = ok[metric].astype(float).mean() if len(ok) else None
    return {
        "metric": metric,
        "mean": mean,
        "std": _deviation(ok, metric, std),
        "n": len(ok),
        "published": float(paper.value) if paper and paper.value is not None else None,
        "published_std": float(paper.std) if paper and paper.std is not None else None,
        "verdict": _verdict(group, mean, metric, paper),
    }


def _deviation(ok: pd.DataFrame, metric: str, kind: str) -> float | None:
    """Return the deviation over run means or over folds; None where there are fewer than two."""
    values = ok[metric].astype(float)
    if kind == "of-run-means":
        values = values.groupby(ok["run"]).mean()
    return float(values.std(ddof=1)) if len(values) > 1 else None


def _verdict(group: pd.DataFrame, mean: float | None, metric: str, paper: PublishedValue | None) -> str:
    """Judge an entry: how it ended if not ok, else where its mean lies from the published one.

    `agrees` within one published deviation (and half of the last printed digit), `near` within two, else `differs`.
    Times are of other machines and sizes are not printed, so neither is judged.
    """
    ended = [status for status in group["status"].unique() if status != "ok"]
    if ended:
        return ended[0] if len(ended) == 1 else "incomplete"
    if paper is None or paper.value is None or metric in ("fit_seconds", "n_units") or mean is None:
        return ""
    distance = abs(mean - float(paper.value))
    deviation = float(paper.std or 0)
    rounding = paper.last_place / 2 * (1 + 1e-9)
    if distance <= deviation + rounding:
        return "agrees"
    return "near" if distance <= 2 * deviation + rounding else "differs"

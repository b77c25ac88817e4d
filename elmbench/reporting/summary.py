"""`summary.csv`: the mean of each table entry beside the published value, and what follows from the two."""

from __future__ import annotations

from typing import Any

import pandas as pd

from elmbench.reporting.cells import Order
from elmbench.reporting.layouts import judged, measures, values_of
from elmbench.specs.datasets import load_dataset_specs
from elmbench.specs.profiles import Resolved
from elmbench.specs.published import PublishedValue

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

#: The paper's figures of a table by (data set, column, metric).
Published = dict[tuple[str, str, str], PublishedValue]

#: Verdicts of an entry of which every cell ended ok; all others say how it ended instead.
COMPLETE = ("", "agrees", "near", "differs")


def table_order(resolved: Resolved) -> Order:
    """Return the order in which a table's lines stand."""
    spec = resolved.file.spec
    return Order(list(spec.datasets), list(spec.models), list(resolved.spec.protocol.selections))


def published_values(resolved: Resolved) -> Published:
    """Return the paper's figures of a table by (data set, column, metric), data sets by the suite's names."""
    values = resolved.file.figures
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
        An entry of which every cell ended in one other way has that as its verdict; one of which some cells did, or
        of which a run lacks folds that have not been run yet, is `incomplete`.
    """
    order = table_order(resolved)
    published = published_values(resolved)
    lines, keys = [], []
    for entry, group in cells.groupby(ENTRY, sort=False):
        place = dict(zip(ENTRY, map(str, entry), strict=True))
        for position, measure in enumerate(measures(resolved, place["dataset"], place["model"])):
            paper = published.get((place["dataset"], place["model"], measure))
            line = _line(group, measure, paper, resolved)
            if position == 0 or line["mean"] is not None or paper is not None or line["verdict"]:
                lines.append(place | line)
                keys.append((*order.key(place), position))
    frame = pd.DataFrame(lines, columns=COLUMNS)
    return frame.iloc[sorted(range(len(lines)), key=lambda i: keys[i])].reset_index(drop=True)


def _line(group: pd.DataFrame, measure: str, paper: PublishedValue | None, resolved: Resolved) -> dict[str, Any]:
    ok = group[group["status"] == "ok"]
    values = values_of(ok, measure, resolved.spec.layout).dropna()
    mean = float(values.mean()) if len(values) else None
    return {
        "metric": measure,
        "mean": mean,
        "std": _deviation(values, ok["run"], resolved.spec.protocol.std),
        "n": len(ok),
        "published": float(paper.value) if paper and paper.value is not None else None,
        "published_std": float(paper.std) if paper and paper.std is not None else None,
        "verdict": _ending(group, resolved)
        or (_verdict(mean, paper, last_place(paper)) if paper and judged(measure, resolved.spec.layout) else ""),
    }


def _deviation(values: pd.Series[float], runs: pd.Series[Any], kind: str) -> float | None:
    """Return the deviation over run means or over folds; None where there are fewer than two."""
    if kind == "of-run-means":
        values = values.groupby(runs).mean()
    return float(values.std(ddof=1)) if len(values) > 1 else None


def _ending(group: pd.DataFrame, resolved: Resolved) -> str:
    """Return why an entry gets no verdict, or nothing where all its cells ended ok."""
    ended = group["status"].unique().tolist()
    if ended != ["ok"]:
        return str(ended[0]) if len(ended) == 1 else "incomplete"
    if resolved.spec.layout in ("datasets", "rank-correlation"):
        # Of all rows at once: there are no folds that may be missing.
        return ""
    outer = resolved.spec.protocol.outer
    override = outer.overrides.get(str(group["dataset"].iloc[0]))
    folds = (override.folds if override else None) or outer.folds
    return "" if (group["run"].value_counts() == folds).all() else "incomplete"


def last_place(paper: PublishedValue) -> float:
    """Return the weight of the last digit of a published figure.

    Correlations are printed to three decimals without trailing zeros: their 1.0 is 1.000.
    """
    return min(paper.last_place, 1e-3) if paper.metric.startswith("spearman") else paper.last_place


def _verdict(mean: float | None, paper: PublishedValue, last_place: float) -> str:
    """Judge an entry by where its mean lies from the published one.

    `agrees` within one published deviation (and half of the last printed digit), `near` within two (or, where none is
    printed, within one more digit), else `differs`.
    """
    if paper.value is None or mean is None:
        return ""
    distance = abs(mean - float(paper.value))
    deviation = float(paper.std or 0)
    rounding = last_place / 2 * (1 + 1e-9)
    if distance <= deviation + rounding:
        return "agrees"
    return "near" if distance <= 2 * (deviation or rounding) + rounding else "differs"

"""`summary.csv`: the mean of each entry, the published value and the verdict; and the optimism of the selection."""

from __future__ import annotations

from typing import Any

import pandas as pd

from elmbench.layouts import layout_of
from elmbench.layouts.base import Layout
from elmbench.layouts.table import NOT_MEASURED
from elmbench.protocol.metrics import LESS_IS_BETTER
from elmbench.reporting.cells import Order
from elmbench.specs.measures import Measure
from elmbench.specs.profiles import Resolved
from elmbench.specs.published import PublishedValue

ENTRY = ["dataset", "model", "select", "reading"]
#: Columns of `summary.csv`.
COLUMNS = ["dataset", "model", "metric", "select", "reading", "mean", "std", "n"]
COLUMNS += ["published", "published_std", "verdict"]
#: Columns of `optimism.csv`.
GAINS = ["dataset", "model", "metric", "reading", "oracle", "nested", "optimism", "std", "n"]


def summarise(cells: pd.DataFrame, resolved: Resolved) -> pd.DataFrame:
    """Return one line for each entry and metric, with the columns of `summary.csv`, from cells as `cells.csv` has them.

    `n` is the number of cells that ended ok; only these are averaged. The verdict of an entry of which every cell
    ended in one other way is that ending. An entry is `incomplete` if some of its cells did not end ok, or if a run
    lacks folds that have not been run yet. A figure that the authors took from another paper is `cited`; one of a
    model that the suite does not run is `not measured`.
    """
    order, layout = Order(resolved), layout_of(resolved)
    lines = []
    cells = layout.entries_of(cells, resolved)
    for entry, group in cells.groupby(ENTRY, sort=False):
        place = dict(zip(ENTRY, map(str, entry), strict=True))
        for position, measure in enumerate(layout.measures(resolved, place["dataset"], place["model"])):
            paper = resolved.published.get((place["dataset"], place["model"], measure.column))
            line = _line(group, measure, paper, layout, resolved)
            if position == 0 or line["mean"] is not None or paper is not None or line["verdict"]:
                lines.append(place | line)
    lines += _only_published(cells, layout, order, resolved)
    return pd.DataFrame(sorted(lines, key=order.key), columns=COLUMNS)


def _only_published(cells: pd.DataFrame, layout: Layout, order: Order, resolved: Resolved) -> list[dict[str, Any]]:
    """Return a line for each figure of a model that is cited or never measured, on the data sets that the table shows.

    The lines belong to the first selection under the default readings.
    """
    default = cells[cells["reading"] == ""]
    if not len(default):
        return []
    shown, models = set(default["dataset"]), {*layout.models(resolved), *default["model"]}
    place = {"select": min(set(default["select"]), key=order.select.index), "reading": ""}
    return [
        {"dataset": dataset, "model": model, **place, "metric": metric, "n": 0, **_printed(figure)}
        | {"verdict": "cited" if figure.cited else NOT_MEASURED}
        for (dataset, model, metric), figure in resolved.published.items()
        if dataset in shown and model not in models and (figure.cited or model not in resolved.file.measured)
    ]


def _printed(paper: PublishedValue | None) -> dict[str, float | None]:
    return {
        "published": float(paper.value) if paper and paper.value is not None else None,
        "published_std": float(paper.std) if paper and paper.std is not None else None,
    }


def _line(
    group: pd.DataFrame, measure: Measure, paper: PublishedValue | None, layout: Layout, resolved: Resolved
) -> dict[str, Any]:
    ok = group[group["status"] == "ok"]
    values = layout.values_of(ok, measure).dropna()
    mean = float(values.mean()) if len(values) else None
    verdict = ""
    if paper is not None and layout.is_judged(measure):
        verdict = "cited" if paper.cited else _verdict(mean, paper, layout.last_place(paper))
    return {
        "metric": measure.column,
        "mean": mean,
        "std": _deviation(values, ok["run"], resolved.spec.protocol.std),
        "n": len(ok),
        **_printed(paper),
        "verdict": _ending(group, layout, resolved) or verdict,
    }


def _deviation(values: pd.Series[float], runs: pd.Series[Any], kind: str) -> float | None:
    """Return the deviation over run means or over folds; None if there are fewer than two."""
    if kind == "of-run-means":
        values = values.groupby(runs).mean()
    return float(values.std(ddof=1)) if len(values) > 1 else None


def _ending(group: pd.DataFrame, layout: Layout, resolved: Resolved) -> str:
    """Return why an entry gets no verdict, or nothing if all its cells are there and ended ok."""
    ended = group["status"].unique().tolist()
    if ended != ["ok"]:
        return str(ended[0]) if len(ended) == 1 else "incomplete"
    return "" if layout.is_complete(group, resolved) else "incomplete"


def _verdict(mean: float | None, paper: PublishedValue, last_place: float) -> str:
    """Return the verdict on a mean, from its distance to the published value.

    `agrees` within one published deviation (and half of the last printed digit), `near` within two (or, if no
    deviation is printed, within one more digit), else `differs`.
    """
    if paper.value is None or mean is None:
        return ""
    distance = abs(mean - float(paper.value))
    deviation = float(paper.std or 0)
    rounding = last_place / 2 * (1 + 1e-9)
    if distance <= deviation + rounding:
        return "agrees"
    return "near" if distance <= 2 * (deviation or rounding) + rounding else "differs"


def optimism(cells: pd.DataFrame, resolved: Resolved) -> pd.DataFrame:
    """Return what a choice on the outer test folds (oracle) gains over a choice on inner folds (nested).

    There is a line for each model on each data set, in the order of the cells. `oracle` and `nested` are means over
    the same folds, `optimism` is the first minus the second (of an error the second minus the first, so that a
    positive value always favours the oracle), `std` its deviation from fold to fold, `n` the number of folds. An entry
    is left out if one of its cells did not end ok or if it was run under one selection only: the folds that are left
    may be the easier ones.
    """
    lines = []
    for (dataset, model, reading), group in cells.groupby(["dataset", "model", "reading"], sort=False):
        both = group[group["select"].isin(["oracle", "nested"])]
        metric = resolved.spec.protocol.metric_for(resolved.dataset(str(dataset)).task)
        if metric not in both or both["select"].nunique() < 2 or (both["status"] != "ok").any():
            continue
        table = both.pivot(index=["run", "fold"], columns="select", values=metric).astype(float)
        gain = table["oracle"] - table["nested"]
        if gain.isna().any():
            continue
        gain = -gain if metric in LESS_IS_BETTER else gain
        means = [float(table[name].mean()) for name in ("oracle", "nested")]
        deviation = float(gain.std(ddof=1)) if len(gain) > 1 else None
        lines.append([dataset, model, metric, reading, *means, float(gain.mean()), deviation, len(gain)])
    return pd.DataFrame(lines, columns=GAINS)

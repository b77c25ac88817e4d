"""Sentences of a paper about a table, checked against the results."""

from collections.abc import Iterator

import pandas as pd

from elmbench.layouts.table import COMPLETE, Note
from elmbench.reporting.cells import TIMES
from elmbench.specs.experiments import MOST, Claim
from elmbench.specs.profiles import Resolved


def check_claims(summary: pd.DataFrame, resolved: Resolved) -> Iterator[Note]:
    """Yield whether each claim on data sets that were run holds, under the default readings and first selection."""
    if not len(summary):
        return
    own = summary[(summary["reading"] == "") & (summary["select"] == summary["select"].iloc[0])]
    # Data that stand in for the paper's decide none of its claims.
    shown = [name for name in dict.fromkeys(own["dataset"]) if name in resolved.file.spec.datasets]
    for claim in resolved.file.spec.claims:
        if claim.dataset == MOST and shown:
            where = f"most data sets; {_compared(claim, resolved)}"
            outcome = _check_most(claim, own, shown, resolved)
        elif claim.dataset in shown:
            where, outcome = claim.dataset, _check_one(claim, own, resolved)
        else:
            continue
        yield Note("claim", f'claim "{claim.says}" ({where}): {outcome}')


def _compared(claim: Claim, resolved: Resolved) -> str:
    how = f"within {claim.within:g} of" if claim.relation == "close" else claim.relation
    times = f"{claim.factor:g} times " if claim.factor != 1 else ""
    others = ", ".join(_than(claim, "", resolved))
    return f"{claim.metric.column} of {claim.model} {how} {times}{_of_other(claim)}{others}"


def _of_other(claim: Claim) -> str:
    return f"{claim.than_metric.column} of " if claim.than_metric else ""


def _has_fewer_rows(claim: Claim, dataset: str, resolved: Resolved) -> bool:
    """Tell whether a claim on times is about a data set that the profile has cut: fewer rows may reverse the order."""
    rows = resolved.settings.rows
    return claim.metric.metric in TIMES and rows is not None and rows < resolved.dataset(dataset).shape.instances


def _check_one(claim: Claim, summary: pd.DataFrame, resolved: Resolved) -> str:
    if _has_fewer_rows(claim, claim.dataset, resolved):
        return f"not decided, {resolved.settings.rows} of its rows were run"
    figures = _figures(claim, claim.dataset, summary, resolved)
    if figures is None:
        return "not decided, cells are missing"
    value, others = figures
    against = ", ".join(f"{_of_other(claim)}{column} {other:.4g}" for column, other in others.items())
    verdict = "holds" if _holds(claim, value, others) else "does not hold"
    return f"{verdict}: {claim.metric.column} {value:.4g} against {against}"


def _check_most(claim: Claim, summary: pd.DataFrame, datasets: list[str], resolved: Resolved) -> str:
    whole = [dataset for dataset in datasets if not _has_fewer_rows(claim, dataset, resolved)]
    if not whole:
        return f"not decided, at most {resolved.settings.rows} rows of each were run"
    found = [_figures(claim, dataset, summary, resolved) for dataset in whole]
    decided = [_holds(claim, *figures) for figures in found if figures is not None]
    if not decided:
        return "not decided, cells are missing"
    verdict = "holds" if 2 * sum(decided) > len(decided) else "does not hold"
    return f"{verdict}: on {sum(decided)} of {len(decided)}"


def _figures(
    claim: Claim, dataset: str, summary: pd.DataFrame, resolved: Resolved
) -> tuple[float, dict[str, float]] | None:
    """Return the figure that a claim is about and those that it is compared with; None unless all are there."""
    # If a limit stopped some cells or they have not run, those that are left may be the easier folds.
    whole = summary[(summary["dataset"] == dataset) & summary["verdict"].isin(COMPLETE)].dropna(subset=["mean"])
    own, other = (
        whole[whole["metric"] == measure.column].set_index("model")["mean"]
        for measure in (claim.metric, claim.than_metric or claim.metric)
    )
    than = _than(claim, dataset, resolved)
    there = [column for column in than if column in other.index]
    if claim.model not in own.index or not there or len(there) < len(than):
        return None
    return float(own[claim.model]), {column: float(other[column]) for column in there}


def _than(claim: Claim, dataset: str, resolved: Resolved) -> list[str]:
    """Return the columns that a claim compares with.

    `others` leaves out a column for which the paper prints no figure: the paper says nothing about it.
    """
    if claim.than != "others":
        return list(claim.than)
    left_out = {
        column
        for (place, column, metric), figure in resolved.published.items()
        if (place, metric) == (dataset, claim.metric.column) and figure.value is None
    }
    return [column for column in resolved.file.spec.models if column != claim.model and column not in left_out]


def _holds(claim: Claim, value: float, others: dict[str, float]) -> bool:
    bounds = [claim.factor * other for other in others.values()]
    if claim.relation == "close":
        return all(abs(value - bound) <= claim.within for bound in bounds)
    return all(value > bound if claim.relation == "above" else value < bound for bound in bounds)

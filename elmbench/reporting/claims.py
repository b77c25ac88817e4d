"""Sentences of a paper about a table, held against the results."""

from __future__ import annotations

import pandas as pd

from elmbench.reporting.cells import TIMES
from elmbench.reporting.summary import COMPLETE, published_values
from elmbench.specs.datasets import load_dataset_specs
from elmbench.specs.experiments import MOST, Claim
from elmbench.specs.profiles import Resolved


def check_claims(summary: pd.DataFrame, resolved: Resolved) -> list[str]:
    """Return a line for each claim: whether the default readings and first selection bear it out, with the figures.

    Parameters
    ----------
    summary : DataFrame
        As `summary.csv` has it.
    resolved : Resolved
    """
    if not len(summary):
        return []
    own = summary[(summary["reading"] == "") & (summary["select"] == summary["select"].iloc[0])]
    # What stands in for the paper's data says nothing of them.
    shown = [name for name in dict.fromkeys(own["dataset"]) if name in resolved.file.spec.datasets]
    lines = []
    for claim in resolved.file.spec.claims:
        if claim.dataset == MOST and shown:
            lines.append(_check_most(claim, own, shown, resolved))
        elif claim.dataset in shown:
            lines.append(_check_one(claim, own, resolved))
    return lines


_UNDECIDED = "not decided, cells are missing"


def _of_other_rows(claim: Claim, dataset: str, resolved: Resolved) -> bool:
    """Tell whether a claim is on times and the profile has cut the data set: fewer rows may turn an order round."""
    rows = resolved.settings.rows
    return claim.metric in TIMES and rows is not None and rows < load_dataset_specs().find(dataset).shape.instances


def _check_one(claim: Claim, summary: pd.DataFrame, resolved: Resolved) -> str:
    start = f'claim "{claim.says}" ({claim.dataset}): '
    if _of_other_rows(claim, claim.dataset, resolved):
        return start + f"not decided, {resolved.settings.rows} of its rows were run"
    figures = _figures(claim, claim.dataset, summary, resolved)
    if figures is None:
        return start + _UNDECIDED
    value, others = figures
    other_metric = f"{claim.than_metric} of " if claim.than_metric else ""
    against = ", ".join(f"{other_metric}{column} {other:.4g}" for column, other in others.items())
    return start + f"{_verdict(_holds(claim, value, others))}: {claim.metric} {value:.4g} against {against}"


def _check_most(claim: Claim, summary: pd.DataFrame, datasets: list[str], resolved: Resolved) -> str:
    whole = [dataset for dataset in datasets if not _of_other_rows(claim, dataset, resolved)]
    found = [_figures(claim, dataset, summary, resolved) for dataset in whole]
    decided = [_holds(claim, *figures) for figures in found if figures is not None]
    how = f"within {claim.within:g} of" if claim.relation == "close" else claim.relation
    times = f"{claim.factor:g} times " if claim.factor != 1 else ""
    times += f"{claim.than_metric} of " if claim.than_metric else ""
    against = f"{claim.metric} of {claim.model} {how} {times}{', '.join(_than(claim, '', resolved))}"
    start = f'claim "{claim.says}" (most data sets; {against}): '
    if not whole:
        return start + f"not decided, at most {resolved.settings.rows} rows of each were run"
    if not decided:
        return start + _UNDECIDED
    return start + f"{_verdict(2 * sum(decided) > len(decided))}: on {sum(decided)} of {len(decided)}"


def _verdict(holds: bool) -> str:
    return "holds" if holds else "does not hold"


def _figures(
    claim: Claim, dataset: str, summary: pd.DataFrame, resolved: Resolved
) -> tuple[float, dict[str, float]] | None:
    """Return the figure that a claim is about and those that it is held against; None unless all are there."""
    # Of cells that a limit stopped or that have not run, what is left may be the easier folds.
    whole = summary[(summary["dataset"] == dataset) & summary["verdict"].isin(COMPLETE)].dropna(subset=["mean"])
    own, other = (
        whole[whole["metric"] == metric].set_index("model")["mean"]
        for metric in (claim.metric, claim.than_metric or claim.metric)
    )
    than = _than(claim, dataset, resolved)
    there = [column for column in than if column in other.index]
    if claim.model not in own.index or not there or len(there) < len(than):
        return None
    return float(own[claim.model]), {column: float(other[column]) for column in there}


def _than(claim: Claim, dataset: str, resolved: Resolved) -> list[str]:
    """Return the columns that a claim compares with.

    Of all others, one that the paper prints no figure for, as it leaves that model out, cannot decide.
    """
    if claim.than != "others":
        return list(claim.than)
    printed = published_values(resolved)
    left_out = {
        column
        for (place, column, metric), entry in printed.items()
        if (place, metric) == (dataset, claim.metric) and entry.value is None
    }
    return [column for column in resolved.file.spec.models if column != claim.model and column not in left_out]


def _holds(claim: Claim, value: float, others: dict[str, float]) -> bool:
    bounds = [claim.factor * other for other in others.values()]
    if claim.relation == "close":
        return all(abs(value - bound) <= claim.within for bound in bounds)
    return all(value > bound if claim.relation == "above" else value < bound for bound in bounds)

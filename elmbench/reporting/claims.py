"""Sentences of a paper about a table, held against the results."""

from __future__ import annotations

import pandas as pd

from elmbench.reporting.summary import COMPLETE, published_values
from elmbench.specs.experiments import Claim
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
    claims = [claim for claim in resolved.file.spec.claims if claim.dataset in set(own["dataset"])]
    return [_check(claim, own, resolved) for claim in claims]


def _check(claim: Claim, summary: pd.DataFrame, resolved: Resolved) -> str:
    lines = summary[(summary["dataset"] == claim.dataset) & (summary["metric"] == claim.metric)]
    # Of cells that a limit stopped or that have not run, what is left may be the easier folds.
    whole = lines[lines["verdict"].isin(COMPLETE)]
    means = whole.dropna(subset=["mean"]).set_index("model")["mean"]
    than = _others(claim, resolved) if claim.than == "others" else list(claim.than)
    there = [column for column in than if column in means.index]
    if claim.model not in means.index or not there or len(there) < len(than):
        return f'claim "{claim.says}" ({claim.dataset}): not decided, cells are missing'
    value = float(means[claim.model])
    others = {column: claim.factor * float(means[column]) for column in there}
    holds = all(_holds(claim, value, other) for other in others.values())
    against = ", ".join(f"{column} {means[column]:.4g}" for column in there)
    verdict = "holds" if holds else "does not hold"
    return f'claim "{claim.says}" ({claim.dataset}): {verdict}: {claim.metric} {value:.4g} against {against}'


def _others(claim: Claim, resolved: Resolved) -> list[str]:
    """Return the other columns; one that the paper prints no figure for, as it leaves that model out, cannot decide."""
    printed = published_values(resolved)
    left_out = {
        column
        for (dataset, column, metric), entry in printed.items()
        if (dataset, metric) == (claim.dataset, claim.metric) and entry.value is None
    }
    return [column for column in resolved.file.spec.models if column != claim.model and column not in left_out]


def _holds(claim: Claim, value: float, other: float) -> bool:
    if claim.relation == "close":
        return abs(value - other) <= claim.within
    return value > other if claim.relation == "above" else value < other

"""Sentences of a paper about a table, held against the results."""

from __future__ import annotations

import pandas as pd

from elmbench.specs.catalogue import Resolved
from elmbench.specs.experiments import Claim


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
    return [_check(claim, own, list(resolved.file.spec.models)) for claim in claims]


def _check(claim: Claim, summary: pd.DataFrame, columns: list[str]) -> str:
    lines = summary[(summary["dataset"] == claim.dataset) & (summary["metric"] == claim.metric)]
    means = lines.dropna(subset=["mean"]).set_index("model")["mean"]
    than = [c for c in columns if c != claim.model] if claim.than == "others" else list(claim.than)
    # A column that has no figure in the paper either, such as a model that it leaves out, cannot decide.
    there = [column for column in than if column in means.index]
    if claim.model not in means.index or not there or (claim.than != "others" and len(there) < len(than)):
        return f'claim "{claim.says}" ({claim.dataset}): not decided, cells are missing'
    value = float(means[claim.model])
    others = {column: claim.factor * float(means[column]) for column in there}
    holds = all(_holds(claim, value, other) for other in others.values())
    against = ", ".join(f"{column} {means[column]:.4g}" for column in there)
    verdict = "holds" if holds else "does not hold"
    return f'claim "{claim.says}" ({claim.dataset}): {verdict}: {claim.metric} {value:.4g} against {against}'


def _holds(claim: Claim, value: float, other: float) -> bool:
    if claim.relation == "close":
        return abs(value - other) <= claim.within
    return value > other if claim.relation == "above" else value < other

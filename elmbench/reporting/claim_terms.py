"""The terms of a claim: its data sets, columns and region, and the test on the paper's own figures."""

from __future__ import annotations

import math
from collections.abc import Mapping

from elmbench.metrics import less_is_better
from elmbench.reporting.comparisons import Region
from elmbench.specs.experiments import ALL_OF_THEM, MOST, Claim
from elmbench.specs.profiles import Resolved

#: The published figures by (data set, column, measure).
Figures = Mapping[tuple[str, str, str], float]


def columns_compared(claim: Claim, dataset: str, resolved: Resolved) -> list[str]:
    """Return the columns that a comparison compares with on a data set.

    `others` leaves out a column for which the paper prints no figure: the paper says nothing about it.
    """
    if claim.than != "others":
        return list(claim.than)
    left_out = {
        column
        for (name, column, metric), figure in resolved.published.items()
        if (name, metric) == (dataset, claim.metric.column) and figure.value is None
    }
    return [column for column in resolved.file.spec.models if column != claim.model and column not in left_out]


def datasets_claimed(claim: Claim, resolved: Resolved) -> list[str]:
    """Return the data sets of the paper that a comparison is about, without those that stand in for another one."""
    names = list(resolved.file.spec.datasets) if claim.dataset in (MOST, ALL_OF_THEM) else [claim.dataset]
    excluded = {*resolved.stand_ins, *(resolved.spec.other_rows if claim.dataset == ALL_OF_THEM else ())}
    return [name for name in names if name not in excluded]


def is_true(claim: Claim, one: float, other: float) -> bool:
    """Return True if a claim is true of two figures, ends included but for `above` and `below`."""
    if claim.between is not None:
        return claim.between[0] * other <= one <= claim.between[1] * other
    region = region_of(claim)
    if claim.relation in ("above", "below"):
        return region.low < one - other < region.high
    # Printed figures at the margin are inside even if their binary approximations are not.
    slack = 1e-9
    return region.low - slack <= one - other <= region.high + slack


def region_of(claim: Claim) -> Region:
    """Return the range of the difference, or of the logarithm of the ratio, if a claim is true."""
    if claim.between is not None:
        low, high = claim.between
        return Region(math.log(low) if low else -math.inf, math.log(high))
    if claim.relation == "close":
        return Region(-claim.within, claim.within)
    is_error = less_is_better(claim.metric.metric)
    is_bounded_below = claim.relation == "above" or claim.relation == ("no-better" if is_error else "no-worse")
    return Region(low=-claim.within) if is_bounded_below else Region(high=claim.within)


def is_borne_out(claim: Claim, resolved: Resolved) -> bool | None:
    """Return True if the paper's own figures bear a claim out; None if it prints them for no data set.

    A claim about most data sets must be true of the printed figures on more than half of those that have all of them.
    """
    figures = {}
    for key, figure in resolved.published.items():
        # The figure of a fit that the authors stopped is a lower bound.
        value = figure.over_seconds if figure.value is None else float(figure.value)
        if value is not None:
            figures[key] = value
    verdicts = [_is_borne_out(one, figures, resolved) for one in claim.comparisons]
    return None if None in verdicts else all(verdicts)


def _is_borne_out(claim: Claim, figures: Figures, resolved: Resolved) -> bool | None:
    measure = (claim.than_metric or claim.metric).column
    outcomes = []
    for dataset in datasets_claimed(claim, resolved):
        one = figures.get((dataset, claim.model, claim.metric.column))
        columns = columns_compared(claim, dataset, resolved)
        others = [figures.get((dataset, column, measure)) for column in columns]
        if claim.than == "others":
            others = [other for other in others if other is not None]
        known = [other for other in others if other is not None]
        if one is not None and known and len(known) == len(others):
            outcomes.append(all(is_true(claim, one, other) for other in known))
    if not outcomes:
        return None
    return 2 * sum(outcomes) > len(outcomes) if claim.dataset == MOST else all(outcomes)

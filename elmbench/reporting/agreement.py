"""The agreement of a table with the print, and the error and power of the verdicts on its figures.

The agreement covers differences, the order of the models on each data set, and ratios of times. The error and power
come from verdicts on figures whose truth is known: our own runs, and figures of another model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
import pandas as pd

from elmbench.metrics import less_is_better
from elmbench.reporting.cells import TIMES
from elmbench.reporting.figures import ComparedFigure
from elmbench.reporting.joint import mean_rank_correlation, rank_correlation
from elmbench.reporting.verdicts import FEWEST_RUNS, judge
from elmbench.specs.profiles import Resolved
from elmbench.specs.protocol import is_quality


@dataclass(frozen=True)
class Agreement:
    """The agreement of one metric of a table with the print, over all its data sets.

    Attributes
    ----------
    metric : str
        The metric, without the value of a hyperparameter that it is measured at.
    figures : int
        The published figures that were compared.
    median_difference : float or None
        The median distance of mean and published figure; None for times.
    median_factor : float or None
        For times, the median factor between the measured and the published ratio over the first model.
    rank_correlation : float or None
        The mean of Spearman's correlation over the rows that have three models or more.
    rows, same_best : int
        The rows (data sets) of two models or more, and the number of them on which the same model is the best.
    pairings, pairings_reproduced, pairings_untold : int
        Comparisons of a published figure with each *other* model of its row: the pairs that the rule decides
        (`reproduced`, `close` or `differs`), the number of `reproduced` ones, and the pairs that it does not decide
        (`consistent` or `too few runs`).
    left_out, left_out_reproduced : int
        Our runs that were compared with the other runs of their entry, and the number of those inside.
    """

    metric: str
    figures: int
    median_difference: float | None = None
    median_factor: float | None = None
    rank_correlation: float | None = None
    rows: int = 0
    same_best: int = 0
    pairings: int = 0
    pairings_reproduced: int = 0
    pairings_untold: int = 0
    left_out: int = 0
    left_out_reproduced: int = 0


def agreements(compared: Sequence[ComparedFigure], figures: pd.DataFrame, resolved: Resolved) -> list[Agreement]:
    """Return the agreement of each metric of a table with the print, in the order of the table.

    `figures`: the lines of `summary.csv` with a published figure.
    """
    metrics = dict.fromkeys(one.measure.metric for one in compared)
    scores = [_agreement(metric, [one for one in compared if one.measure.metric == metric]) for metric in metrics]
    return scores + [times for metric in TIMES if (times := _times(metric, figures, resolved)) is not None]


def error_and_power(agreements: Iterable[Agreement]) -> Counter[str]:
    """Return the sums of own runs and wrong pairs, under the names of the attributes."""
    names = ("pairings", "pairings_reproduced", "pairings_untold", "left_out", "left_out_reproduced")
    total: Counter[str] = Counter()
    for one in agreements:
        total.update({name: getattr(one, name) for name in names})
    return total


def _agreement(metric: str, figures: Sequence[ComparedFigure]) -> Agreement:
    by_row: dict[tuple[str, str], list[ComparedFigure]] = {}
    for one in figures:
        by_row.setdefault((one.dataset, one.measure.column), []).append(one)
    rows = list(by_row.values())
    several = [row for row in rows if len(row) > 1] if is_quality(metric) else []
    wrong = Counter(
        judge(one.draws, replace(other.printed, apart=one.printed.apart)).verdict
        for row in rows
        for one, other in permutations(row, 2)
    )
    left_out = [hit for one in figures if len(one.means) > FEWEST_RUNS for hit in one.left_out.values()]
    undecided = wrong["consistent"] + wrong["too few runs"]
    return Agreement(
        metric,
        len(figures),
        float(np.median([abs(one.draws.mean - one.printed.value) for one in figures])),
        rank_correlation=mean_rank_correlation(rows),
        rows=len(several),
        same_best=sum(_has_same_best(row, less_is_better(metric)) for row in several),
        pairings=wrong.total() - undecided,
        pairings_reproduced=wrong["reproduced"],
        pairings_untold=undecided,
        left_out=len(left_out),
        left_out_reproduced=sum(left_out),
    )


def _has_same_best(row: Sequence[ComparedFigure], less: bool) -> bool:
    """Return True if the best measured model is the best published one, or one of several that are."""
    pick = min if less else max
    best = pick(row, key=lambda one: one.draws.mean)
    return best.printed.value == pick(one.printed.value for one in row)


def _times(metric: str, figures: pd.DataFrame, resolved: Resolved) -> Agreement | None:
    """Return the agreement of times, as ratios over the first model of each data set; None if there are none.

    Times on data sets whose rows the profile cut are left out.
    """
    lines = figures[(figures["metric"] == metric) & (figures["ended"] == "ok")].dropna(subset=["mean"])
    lines = lines[lines["dataset"].map(resolved.compares).astype(bool) & (lines["published"] > 0)]
    factors: list[float] = []
    correlations = []
    for _, row in lines.groupby("dataset", sort=False):
        measured, published = row["mean"].to_numpy(float), row["published"].to_numpy(float)
        correlations.append(rank_correlation(measured.tolist(), published.tolist()))
        ratios = np.log(measured[1:] / measured[0]) - np.log(published[1:] / published[0])
        factors += np.exp(np.abs(ratios)).tolist()
    if not factors:
        return None
    known = [value for value in correlations if value is not None]
    correlation = float(np.mean(known)) if known else None
    return Agreement(metric, len(lines), median_factor=float(np.median(factors)), rank_correlation=correlation)

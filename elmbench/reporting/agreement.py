"""The agreement of a table with the print, and the error and power of the verdicts on figures whose truth is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd

from elmbench.metrics import less_is_better
from elmbench.reporting import grouped
from elmbench.reporting.cells import TIMES
from elmbench.reporting.figures import ComparedFigure
from elmbench.reporting.joint import (
    TABLE_VERDICTS,
    judge_metric,
    mean_rank_correlation,
    rank_correlation,
)
from elmbench.reporting.verdicts import FEWEST_RUNS, Printed, draws_of_means, judge
from elmbench.specs.profiles import Resolved
from elmbench.specs.protocol import is_quality


@dataclass(frozen=True)
class Agreement:
    """The agreement of one metric of a table with the print, over all its data sets.

    `median_difference` is the median distance of mean and published figure; for times, `median_factor` is the median
    factor between the measured and the published ratio over the first model. `rank_correlation` is the mean of
    Spearman's correlation over the rows that have three models or more. `rows` counts the rows (data sets) of two
    models or more, and `same_best` those on which the same model is the best.

    `pairings` are comparisons of a published figure with each *other* model of its row that the rule decides
    (`reproduced`, `close` or `differs`), with the number of `reproduced` ones; those that it does not decide
    (`consistent` or `too few runs`) are `untold`. `left_out` are our runs that were compared with the other runs of
    their entry, with the number of those inside.
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
    """Return the agreement of each metric of a table with the print; `figures` has the lines of `summary.csv`."""
    by_metric = grouped(compared, lambda one: one.measure.metric)
    scores = [_agreement(metric, group) for metric, group in by_metric.items()]
    return scores + [times for metric in TIMES if (times := _times(metric, figures, resolved)) is not None]


def error_and_power(agreements: Iterable[Agreement]) -> Counter[str]:
    """Return the sums of own runs and wrong pairs, under the names of the attributes."""
    names = ("pairings", "pairings_reproduced", "pairings_untold", "left_out", "left_out_reproduced")
    agreements = list(agreements)
    return Counter({name: sum(getattr(one, name) for one in agreements) for name in names})


def _agreement(metric: str, figures: Sequence[ComparedFigure]) -> Agreement:
    rows = list(grouped(figures, lambda one: (one.dataset, one.measure.column)).values())
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
    """Return the agreement of times, as ratios over the first model of each data set; None if there are none."""
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


def self_test(figures: Sequence[ComparedFigure], *key: str) -> dict[str, Any]:
    """Return the verdicts on our own runs and on wrong prints, for the figures of one metric of a table.

    The result has the number of prints of each kind, and of those that are `reproduced`. `own_runs`: means of as many
    of our own runs as a published mean is over (at most half of them), judged by the other runs; about 19 in 20 should
    be reproduced if the models differ by more than they vary. `wrong_models`, `wrong_sets`: the print with the models
    of each data set, or the data sets of each model, rotated; none should be reproduced. `own_verdicts`: the number of
    prints of our own runs with each verdict.
    """

    def verdicts(prints: Iterable[list[ComparedFigure]]) -> list[str]:
        return [judge_metric(one, *key).verdict for one in prints]

    own_runs = verdicts(prints_of_runs(figures))
    models = verdicts(_rotations(figures, lambda one: (one.dataset, one.measure)))
    sets = verdicts(_rotations(figures, lambda one: (one.model, one.measure)))
    return {
        "own_runs": len(own_runs),
        "own_reproduced": own_runs.count("reproduced"),
        "wrong_models": len(models),
        "wrong_reproduced": models.count("reproduced"),
        "wrong_sets": len(sets),
        "wrong_sets_reproduced": sets.count("reproduced"),
        "own_verdicts": {verdict: own_runs.count(verdict) for verdict in TABLE_VERDICTS},
    }


def prints_of_runs(figures: Sequence[ComparedFigure]) -> Iterator[list[ComparedFigure]]:
    """Yield the figures with the mean of some of our runs in place of the print, compared with the other runs."""
    for first in range(max((len(one.runs) for one in figures), default=0)):
        prints = []
        for one in figures:
            total = len(one.runs)
            size = min(one.printed.mean_of, total // 2)
            if first < total and total - size >= FEWEST_RUNS:
                means = np.roll(one.means, -first)
                printed = Printed(float(means[:size].mean()), 0.0, size)
                draws = draws_of_means(means[size:], one.draws.least)
                runs = np.roll(one.runs, -first)[size:]
                prints.append(replace(one, runs=runs, means=means[size:], draws=draws, printed=printed))
        if prints:
            yield prints


def _rotations(
    figures: Sequence[ComparedFigure], group_of: Callable[[ComparedFigure], Hashable]
) -> Iterator[list[ComparedFigure]]:
    """Yield the figures with the printed values rotated within groups, by each possible shift."""
    # A group of one figure has no wrong print.
    wrong = [group for group in grouped(figures, group_of).values() if len(group) > 1]
    for shift in range(1, max(map(len, wrong), default=1)):
        yield [
            replace(one, printed=group[(i + shift) % len(group)].printed)
            for group in wrong
            if shift < len(group)
            for i, one in enumerate(group)
        ]

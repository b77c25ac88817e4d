"""The agreement of a table with the print, and the error and power of the verdicts on its figures.

The agreement is in differences, the order of the models on each data set, and times as ratios. The error and power are
the verdicts on figures of which the truth is known: our own runs, and figures of another model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from elmbench.metrics import less_is_better
from elmbench.reporting.cells import TIMES
from elmbench.reporting.figures import ComparedFigure
from elmbench.reporting.joint import rank_correlation
from elmbench.reporting.verdicts import FEWEST_RUNS, Draws, Printed, draws_of_means, judge
from elmbench.specs.profiles import Resolved
from elmbench.specs.protocol import is_quality


@dataclass(frozen=True)
class Agreement:
    """The agreement of one metric of a table with the print, over all its data sets.

    Attributes
    ----------
    metric : str
        Without the value of a hyperparameter that it is measured at.
    figures : int
        The published figures that were compared.
    median_difference : float or None
        The median distance of mean and published figure; None of times.
    median_factor : float or None
        Of times: by which factor measured and published ratio over the first model differ, the median.
    rank_correlation : float or None
        Spearman's, the mean over the rows that have three models or more.
    rows, same_best : int
        The rows (data sets) of two models or more, and on how many of them the same model is the best.
    pairings, pairings_reproduced, pairings_untold : int
        A published figure compared with each *other* model of its row: the pairs that the rule can tell (`reproduced`,
        `close` or `differs`), the share of `reproduced` among them, and the pairs that it cannot tell (`consistent` or
        `too few runs`).
    left_out, left_out_reproduced : int
        One of our runs compared with the others of its entry: the number of such runs, and of those inside.
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
    """Return how each metric of a table agrees with the print, in the order of the table.

    Parameters
    ----------
    compared : sequence of ComparedFigure
    figures : DataFrame
        Lines of `summary.csv`, one for each published figure.
    """
    metrics = dict.fromkeys(one.measure.metric for one in compared)
    scores = [_agreement(metric, [one for one in compared if one.measure.metric == metric]) for metric in metrics]
    return scores + [times for metric in TIMES if (times := _times(metric, figures, resolved)) is not None]


def _agreement(metric: str, entries: Sequence[ComparedFigure]) -> Agreement:
    rows: dict[tuple[str, str], list[ComparedFigure]] = {}
    for entry in entries:
        rows.setdefault((entry.dataset, entry.measure.column), []).append(entry)
    measured = [[entry.draws.mean for entry in row] for row in rows.values()]
    published = [[entry.printed.value for entry in row] for row in rows.values()]
    pairs = list(zip(measured, published, strict=True))
    several = [pair for pair in pairs if len(pair[0]) > 1] if is_quality(metric) else []
    wrong = Counter(judge(*pairing).verdict for row in rows.values() for pairing in _wrong_pairings(row))
    left_out = [verdict for entry in entries for verdict in _left_out(entry)]
    return Agreement(
        metric,
        len(entries),
        float(np.median([abs(entry.draws.mean - entry.printed.value) for entry in entries])),
        rank_correlation=_mean_rank_correlation(pairs),
        rows=len(several),
        same_best=sum(_same_best(*pair, less=less_is_better(metric)) for pair in several),
        pairings=wrong.total() - (untold := wrong["consistent"] + wrong["too few runs"]),
        pairings_reproduced=wrong["reproduced"],
        pairings_untold=untold,
        left_out=len(left_out),
        left_out_reproduced=sum(left_out),
    )


def _wrong_pairings(row: list[ComparedFigure]) -> Iterator[tuple[Draws, Printed]]:
    """Yield the runs of each model of a row with the published figure of each other one."""
    for i, entry in enumerate(row):
        for j, other in enumerate(row):
            if i != j:
                yield entry.draws, replace(other.printed, apart=entry.printed.apart)


def _left_out(entry: ComparedFigure) -> Iterator[bool]:
    """Yield for each run of an entry whether the others reproduce it; nothing if they are too few."""
    if len(entry.means) <= FEWEST_RUNS:
        return
    for run, mean in enumerate(entry.means):
        others = draws_of_means(np.delete(entry.means, run), entry.draws.least)
        yield judge(others, Printed(float(mean), 0.0)).verdict == "reproduced"


def _mean_rank_correlation(rows: Iterable[tuple[list[float], list[float]]]) -> float | None:
    """Return the mean of Spearman's correlation over the rows that have three values or more and an order."""
    known = [value for row in rows if (value := rank_correlation(*row)) is not None]
    return float(np.mean(known)) if known else None


def _same_best(measured: list[float], published: list[float], *, less: bool) -> bool:
    """Tell whether the best measured model is the best published one, or one of several that are."""
    sign = -1 if less else 1
    best = int(np.argmax(np.multiply(sign, measured)))
    return sign * published[best] == max(sign * value for value in published)


def _times(metric: str, own: pd.DataFrame, resolved: Resolved) -> Agreement | None:
    """Return how times compare, as ratios over the first model of each data set; None if there are none.

    Times on data sets of which the profile left rows out say nothing.
    """
    lines = own[(own["metric"] == metric) & (own["ended"] == "ok")].dropna(subset=["mean"])
    lines = lines[lines["dataset"].map(resolved.compares).astype(bool) & (lines["published"] > 0)]
    factors: list[float] = []
    rows = []
    for _, row in lines.groupby("dataset", sort=False):
        measured, published = row["mean"].to_numpy(float), row["published"].to_numpy(float)
        rows.append((list(measured), list(published)))
        ratios = np.log(measured[1:] / measured[0]) - np.log(published[1:] / published[0])
        factors += np.exp(np.abs(ratios)).tolist()
    if not factors:
        return None
    factor = float(np.median(factors))
    return Agreement(metric, len(lines), median_factor=factor, rank_correlation=_mean_rank_correlation(rows))

"""The rule of the verdicts: a published figure against the prediction interval of our own runs (docs/verdicts.md).

A published mean is an average of M draws of the protocol. A draw is a run: splits, random nodes, order of the rows.
From R runs of ours with mean m and deviation s of the run means, a new average of M draws lies with 95 % probability in

    m +- t(.975, R - 1) s sqrt(1/M + 1/R),

which half of the last printed digit widens on both sides.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from elmbench.protocol.metrics import CLASSIFICATION
from elmbench.specs.measures import COUNTS, FACTS, Measure
from elmbench.specs.protocol import TRAIN_ACCURACY

#: The probability with which a new draw lies in the interval.
LEVEL = 0.95
#: With two runs t is 12.7, and two runs of a metric that counts rows often coincide by chance.
FEWEST_RUNS = 3
#: More runs than these no one makes.
MOST_RUNS = 10_000
#: The least half width of a real number, over its size: round-off of one machine against another's.
ROUND_OFF = 1e-6


@dataclass(frozen=True)
class Draws:
    """What our runs of an entry say of a draw of the protocol.

    Attributes
    ----------
    mean : float
        Of the run means.
    deviation : float
        Of the run means (R - 1); NaN if there is one.
    runs : int
        R.
    least : float
        The least half width: what one test row weighs in a run mean, or round-off.
    """

    mean: float
    deviation: float
    runs: int
    least: float

    def half_width(self, mean_of: int = 1, runs: int | None = None) -> float:
        """Return half the width of the interval for a mean of `mean_of` draws, without the rounding of the print.

        It is what it would be after `runs` runs with the same deviation; NaN after one.
        """
        runs = self.runs if runs is None else runs
        if runs < 2 or math.isnan(self.deviation):
            return math.nan
        quantile = float(stdtrit(runs - 1, (1 + LEVEL) / 2))
        return max(quantile * self.deviation * math.sqrt(1 / mean_of + 1 / runs), self.least)


@dataclass(frozen=True)
class Printed:
    """What a paper prints of an entry.

    Attributes
    ----------
    value : float
    rounding : float
        Half of the last printed digit.
    mean_of : int
        How many draws it is a mean over.
    apart : float or None
        How far the other models of its row lie from it (`typical_distance`); None if there is no other.
    """

    value: float
    rounding: float
    mean_of: int = 1
    apart: float | None = None


@dataclass(frozen=True)
class Judgement:
    """A verdict.

    Attributes
    ----------
    verdict : {"reproduced", "close", "differs", "cannot tell"}
    half_width : float or None
        Half the width of the interval with the rounding; None if there are too few runs.
    runs_to_tell : int or None
        Of `cannot tell`: the fewest runs that would tell; None if no number would.
    """

    verdict: str
    half_width: float | None = None
    runs_to_tell: int | None = None


def judge(draws: Draws, printed: Printed) -> Judgement:
    """Return the verdict on a published figure that our runs can be compared with."""
    if draws.runs < FEWEST_RUNS:
        return Judgement("cannot tell", None, _runs_to_tell(draws, printed))
    # Decimal numbers at an end of the interval lie in it, whatever their binary form.
    half_width = (draws.half_width(printed.mean_of) + printed.rounding) * (1 + 1e-9)
    distance = abs(printed.value - draws.mean)
    if distance > 2 * half_width:
        return Judgement("differs", half_width)
    if printed.apart is not None and 2 * half_width >= printed.apart:
        return Judgement("cannot tell", half_width, _runs_to_tell(draws, printed))
    return Judgement("reproduced" if distance <= half_width else "close", half_width)


def _runs_to_tell(draws: Draws, printed: Printed) -> int | None:
    """Return the fewest runs whose interval is narrower than the models lie apart, if the deviation stays."""
    apart = printed.apart
    if apart is None or math.isnan(draws.deviation):
        return FEWEST_RUNS
    numbers = range(FEWEST_RUNS, MOST_RUNS + 1)

    def tells(runs: int) -> bool:
        return 2 * (draws.half_width(printed.mean_of, runs) + printed.rounding) < apart

    place = bisect_left(numbers, True, key=tells)
    return numbers[place] if place < len(numbers) else None


def judge_fact(found: float, published: float) -> str:
    """Return the verdict on a fact of a data set: it is drawn from nothing, so it is equal or it differs."""
    return "reproduced" if found == published else "differs"


def is_fact(measure: Measure) -> bool:
    """Tell whether a measure is a fact of a data set."""
    return measure.metric in FACTS


def typical_distance(value: float, others: Sequence[float]) -> float | None:
    """Return the median distance of a model's published figure to those of the other models of its row, if any."""
    return float(np.median(np.abs(np.subtract(others, value)))) if len(others) else None


def run_means(values: NDArray[np.float64], runs: NDArray[Any]) -> NDArray[np.float64]:
    """Return the mean of each run, from the values of the cells and the numbers of their runs."""
    # pandas groups as well, but takes half a millisecond a call, and a table makes hundreds.
    by_run: dict[Any, list[float]] = {}
    for run, value in zip(runs.tolist(), values.tolist(), strict=True):
        by_run.setdefault(run, []).append(value)
    return np.array([math.fsum(by_run[run]) / len(by_run[run]) for run in sorted(by_run)], dtype=np.float64)


def measured_runs(values: ArrayLike, cells: pd.DataFrame) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return the values that are there of the cells of an entry, and the numbers of their runs."""
    found: NDArray[np.float64] = np.asarray(values, dtype=np.float64)
    there = ~np.isnan(found)
    return found[there], cells["run"].to_numpy()[there]


def draws_of(values: ArrayLike, cells: pd.DataFrame, measure: Measure) -> Draws:
    """Return what the runs of an entry say of a draw.

    Parameters
    ----------
    values : array-like of float
        Of each cell of the entry, NaN where it has none.
    cells : DataFrame
        The cells, with the columns of `cells.csv`.
    """
    means = run_means(*measured_runs(values, cells))
    return draws_of_means(means, _least(float(means.mean()), cells, measure))


def draws_of_means(means: NDArray[np.float64], least: float) -> Draws:
    """Return what the means of some runs say of a draw."""
    deviation = float(means.std(ddof=1)) if len(means) > 1 else math.nan
    # Means of equal numbers may be apart by round-off.
    if deviation <= 4 * np.finfo(float).eps * np.abs(means).max():
        deviation = 0.0
    return Draws(float(means.mean()), deviation, len(means), least)


def _least(mean: float, cells: pd.DataFrame, measure: Measure) -> float:
    """Return what one test row weighs in a run mean, of metrics that count rows; of real numbers round-off."""
    runs = cells["run"].nunique()
    if measure.metric in COUNTS:
        return runs / len(cells)
    tested = cells["n_test"].sum() / runs if "n_test" in cells else 0
    if measure.metric in (*CLASSIFICATION, TRAIN_ACCURACY) and tested > 0:
        return float(1 / tested)
    return ROUND_OFF * abs(mean)

"""The rule of the verdicts: a published figure against the prediction interval of our own runs (docs/verdicts.md).

A published mean is an average of M draws of the protocol. A draw is a run: splits, random nodes, order of the rows.
From R runs of ours with mean m and deviation s of the run means, a new average of M draws lies with 95 % probability in

    m +- t(.975, R - 1) s sqrt(1/M + 1/R),

which half of the last printed digit widens on both sides. If the first n runs fixed how many more were made (Stein
1945), s is the deviation of these n, and t has n - 1 degrees of freedom. R depends on s alone, so given s the mean m is
still normal with variance sigma^2 / R, and the interval holds its level.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from elmbench.metrics import counts_rows, rates
from elmbench.reporting.cells import FIRST_RUNS
from elmbench.specs.measures import FACTS, Measure
from elmbench.specs.protocol import TRAIN_ACCURACY

#: The probability with which a new draw lies in the interval.
LEVEL = 0.95
#: With two runs, t is 12.7, and two runs of a metric that counts rows often coincide by chance.
FEWEST_RUNS = 3
#: Nobody makes more runs than this.
MOST_RUNS = 10_000
#: The least relative half width of a real number, for round-off between machines.
ROUND_OFF = 1e-6


@cache
def t_quantile(freedom: float, level: float) -> float:
    """Return the quantile of Student's t distribution, cached because a table needs the same one hundreds of times."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, level))


@dataclass(frozen=True)
class Draws:
    """The mean and the deviation of our runs of an entry.

    Attributes
    ----------
    mean : float
        Mean of the run means.
    deviation : float
        Standard deviation of the run means, or of those of the first stage; NaN for a single run.
    runs : int
        R.
    least : float
        The least half width: the weight of one test row in a run mean, or round-off.
    first : int or None
        The number of runs in the first stage; None if R was fixed beforehand.
    """

    mean: float
    deviation: float
    runs: int
    least: float
    first: int | None = None

    def half_width(self, mean_of: int = 1, runs: int | None = None) -> float:
        """Return half the width of the interval for a mean of `mean_of` draws, without the rounding of the print.

        With `runs`, return the half width after that many runs of the same deviation. It is NaN after one run.
        """
        runs = self.runs if runs is None else runs
        if runs < 2 or math.isnan(self.deviation):
            return math.nan
        quantile = t_quantile((self.first or runs) - 1, (1 + LEVEL) / 2)
        return max(quantile * self.deviation * math.sqrt(1 / mean_of + 1 / runs), self.least)


@dataclass(frozen=True)
class Printed:
    """The published figure of an entry.

    Attributes
    ----------
    rounding : float
        Half of the last printed digit.
    mean_of : int
        The number of draws that the figure is a mean over.
    apart : float or None
        The median distance to the figures of other models; None if the paper prints no other.
    """

    value: float
    rounding: float
    mean_of: int = 1
    apart: float | None = None


@dataclass(frozen=True)
class Judgement:
    """The verdict on a published figure.

    Attributes
    ----------
    verdict : {"reproduced", "consistent", "close", "differs", "too few runs"}
    half_width : float or None
        Half the width of the interval with the rounding; None if there are too few runs.
    runs_to_tell : int or None
        The fewest runs that an interval needs (`too few runs`) or that would separate the models (`consistent`); None
        if no number of runs would.
    """

    verdict: str
    half_width: float | None = None
    runs_to_tell: int | None = None


def judge(draws: Draws, printed: Printed) -> Judgement:
    """Return the verdict on a published figure that is comparable with our runs."""
    if draws.runs < FEWEST_RUNS:
        return Judgement("too few runs", None, FEWEST_RUNS)
    # Decimal numbers at an end of the interval are inside even if their binary approximations are not.
    half_width = (draws.half_width(printed.mean_of) + printed.rounding) * (1 + 1e-9)
    distance = abs(printed.value - draws.mean)
    if distance > half_width:
        return Judgement("close" if distance <= 2 * half_width else "differs", half_width)
    if printed.apart is not None and 2 * half_width >= printed.apart:
        return Judgement("consistent", half_width, runs_to_tell(draws, printed, printed.apart))
    return Judgement("reproduced", half_width)


def runs_to_tell(draws: Draws, printed: Printed, apart: float) -> int | None:
    """Return the fewest runs with an interval narrower than `apart` at the same deviation; None if there are none.

    The deviation is that of a first stage, if there is one.
    """
    numbers = range(FEWEST_RUNS, MOST_RUNS + 1)

    def tells(runs: int) -> bool:
        return 2 * (draws.half_width(printed.mean_of, runs) + printed.rounding) < apart

    first = bisect_left(numbers, True, key=tells)
    return numbers[first] if first < len(numbers) else None


def is_fact(metric: str) -> bool:
    """Return True for a fact of a data set, such as its number of rows."""
    return metric in FACTS


def run_means(values: NDArray[np.float64], runs: NDArray[Any]) -> NDArray[np.float64]:
    """Return the mean of each run, from the values of the cells and the numbers of their runs."""
    # pandas groups as well, but takes half a millisecond a call, and a table makes hundreds.
    by_run: dict[Any, list[float]] = {}
    for run, value in zip(runs.tolist(), values.tolist(), strict=True):
        by_run.setdefault(run, []).append(value)
    return np.array([math.fsum(by_run[run]) / len(by_run[run]) for run in sorted(by_run)], dtype=np.float64)


def measured_runs(values: ArrayLike, cells: Mapping[str, Any]) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return the known values of the cells of an entry, and the numbers of their runs."""
    array: NDArray[np.float64] = np.asarray(values, dtype=np.float64)
    known = ~np.isnan(array)
    return array[known], np.asarray(cells["run"])[known]


def draws_of(values: ArrayLike, cells: Mapping[str, Any], measure: Measure) -> Draws:
    """Return the mean and the deviation of the runs of an entry.

    `values`: the value of each cell, NaN if it is missing. `cells`: the columns of `cells.csv`.
    """
    means = run_means(*measured_runs(values, cells))
    return draws_of_means(means, _least(float(means.mean()), cells, measure), _first_runs(cells))


def _first_runs(cells: Mapping[str, Any]) -> int | None:
    """Return the number of runs in the first stage of an entry, None if its number of runs was fixed beforehand."""
    if FIRST_RUNS not in cells:
        return None
    # If other requests had more runs than the two stages, they determined the number.
    last = np.asarray(cells[FIRST_RUNS])[np.argmax(cells["run"])]
    return None if pd.isna(last) else int(last)


def draws_of_means(means: NDArray[np.float64], least: float, first: int | None = None) -> Draws:
    """Return the mean of some run means and the deviation of the first ones, of all by default."""
    stage = means[:first]
    deviation = float(stage.std(ddof=1)) if len(stage) > 1 else math.nan
    # Means of equal numbers may differ by round-off.
    if deviation <= 4 * np.finfo(float).eps * np.abs(means).max():
        deviation = 0.0
    return Draws(float(means.mean()), deviation, len(means), least, first and len(stage))


def _least(mean: float, cells: Mapping[str, Any], measure: Measure) -> float:
    """Return the weight of one test row in a run mean for metrics that count rows, round-off for real numbers."""
    runs = len(np.unique(cells["run"]))
    if counts_rows(measure.metric):
        return runs / len(cells["run"])
    tested = np.sum(cells["n_test"]) / runs if "n_test" in cells else 0
    if measure.metric in (*rates(), TRAIN_ACCURACY) and tested > 0:
        return float(1 / tested)
    return ROUND_OFF * abs(mean)

"""The rule of the verdicts: a published value against the prediction interval of our own runs
(docs/verdicts.md). `cell_verdicts` decides which values it applies to.
"""

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elmbench.metrics import counts_rows, metrics_taking
from elmbench.numerics.significance import t_quantile
from elmbench.results import group_by
from elmbench.specs.measures import TRAIN_ACCURACY, Measure

#: The probability with which a new draw lies in the interval.
LEVEL = 0.95
#: The shares of draws below the ends of the interval.
LOWER_END = (1 - LEVEL) / 2
UPPER_END = (1 + LEVEL) / 2
#: With two runs, t is 12.7, and two runs of a metric that counts rows often coincide by chance.
FEWEST_RUNS = 3
#: Nobody makes more runs than this.
MOST_RUNS = 10_000
#: The least relative half width of a real number, for round-off between machines.
ROUND_OFF = 1e-6
#: The metrics to which each test row of a fold adds the same.
_OF_EQUAL_ROWS = ("accuracy",)


@dataclass(frozen=True)
class Draws:
    """The mean and the deviation of the means of our runs of a group of cells."""

    mean: float
    #: NaN for a single run.
    deviation: float
    #: The number of runs.
    runs: int
    #: The weight of one test row in a run mean, or round-off.
    least_half_width: float
    #: True if nothing is random, so that one run is all that there is.
    is_fixed: bool = False
    #: The weight of each test row in a fixed mean; None if rows differ in weight.
    row_weight: float | None = None

    def half_width(self, mean_of: int = 1, runs: int | None = None) -> float:
        """Return the half width of the interval for a mean of M draws after R runs.

        It is t s sqrt(1/M + 1/R). M is `mean_of`. R is `runs`, by default the number of our runs;
        the deviation s is always that of our runs. The half width is at least `least_half_width`;
        it is NaN if R is 1 or if our runs are a single one.
        """
        runs = self.runs if runs is None else runs
        if runs < 2 or math.isnan(self.deviation):
            return math.nan
        quantile = t_quantile(runs - 1, UPPER_END)
        # The variance of the difference of the two means, as a multiple of that of a run.
        relative_variance = 1 / mean_of + 1 / runs
        factor = math.sqrt(relative_variance)
        half_width = quantile * self.deviation * factor
        return max(half_width, self.least_half_width)


@dataclass(frozen=True)
class Tolerance:
    """The distances between a published value and ours that do not matter."""

    #: Half of the last printed digit.
    rounding: float
    #: The number of draws that the published value is a mean over.
    mean_of: int = 1
    #: The median distance to the published values of other models; None if there are none.
    gap: float | None = None
    #: The largest distance that does not matter.
    margin: float = math.inf
    #: The ends of the metric's range.
    least: float = -math.inf
    greatest: float = math.inf

    @property
    def widest(self) -> float:
        """The greatest width of an interval that tells the published value from others.

        It is the smaller one of the margin and the gap.
        """
        return min(self.margin, math.inf if self.gap is None else self.gap)


class Judgement(NamedTuple):
    """The verdict on a published value, such as `reproduced`, with its evidence."""

    verdict: str
    #: The ends of the interval with the rounding; None if there are too few runs.
    low: float | None = None
    high: float | None = None
    #: The fewest runs that an interval needs (`too few runs`) or that would separate the models
    #: (`consistent`); None if no number of runs would.
    runs_to_tell: int | None = None
    #: The number of our runs behind the verdict.
    runs: int | None = None
    #: The fewest test rows whose change would give the published value; None unless nothing is
    #: random and each row has the same weight.
    rows_off: int | None = None


def judge(draws: Draws, published: float, tolerance: Tolerance) -> Judgement:
    """Return the verdict on a published value that is comparable with our runs, with its evidence.

    It is `exact`, `reproduced`, `consistent`, `close`, `differs` or `too few runs`. `draws`: our
    runs. `published`: the printed number. `tolerance`: its rounding, and the distances that do not
    matter.
    """
    if draws.is_fixed:
        return _judge_fixed(draws, published, tolerance)
    if draws.runs < FEWEST_RUNS:
        return Judgement("too few runs", runs_to_tell=FEWEST_RUNS)
    # Decimal numbers at an end of the interval are inside even if their binary approximations are
    # not.
    half_width = draws.half_width(tolerance.mean_of) + tolerance.rounding
    half_width *= 1 + 1e-9
    distance = abs(published - draws.mean)
    low, high = _possible_ends(draws.mean, half_width, tolerance)
    if distance > half_width:
        return Judgement(_verdict_outside(distance, tolerance), low=low, high=high)
    if high - low <= tolerance.widest * (1 + 1e-8):
        return Judgement("reproduced", low=low, high=high)
    needed_runs = runs_to_tell(draws, tolerance)
    return Judgement("consistent", low=low, high=high, runs_to_tell=needed_runs)


def _possible_ends(
    mean: float, half_width: float, tolerance: Tolerance
) -> tuple[float, float]:
    """Return the ends (low, high) of an interval around a mean, cut to the range of the metric.

    `tolerance`: its `least` and `greatest` are the ends of this range.
    """
    low = max(mean - half_width, tolerance.least)
    high = min(mean + half_width, tolerance.greatest)
    return low, high


def _verdict_outside(distance: float, tolerance: Tolerance) -> str:
    """Return the verdict on a published value outside of our interval: `close` or `differs`.

    It is close if `distance`, from our mean, is at most the margin and half of the last printed
    digit together. `tolerance`: has both.
    """
    is_close = distance <= (tolerance.margin + tolerance.rounding) * (1 + 1e-9)
    return "close" if is_close else "differs"


def _judge_fixed(draws: Draws, published: float, tolerance: Tolerance) -> Judgement:
    """Return the verdict on a published value in which nothing is random.

    It is `exact` within the rounding, else `close` or `differs` with the number of rows off, if
    known. `draws`: of a single run.
    """
    half_width = draws.least_half_width + tolerance.rounding
    half_width *= 1 + 1e-9
    low, high = _possible_ends(draws.mean, half_width, tolerance)
    distance = abs(published - draws.mean)
    if distance <= half_width:
        return Judgement("exact", low=low, high=high)
    return Judgement(
        _verdict_outside(distance, tolerance),
        low=low,
        high=high,
        rows_off=_rows_off(distance - half_width, draws),
    )


def _rows_off(excess: float, draws: Draws) -> int | None:
    """Return the fewest test rows whose change moves a mean by `excess`.

    It is None if the weight of rows in `draws` is not known or differs.
    """
    return None if draws.row_weight is None else math.ceil(excess / draws.row_weight)


def runs_to_tell(draws: Draws, tolerance: Tolerance) -> int | None:
    """Return the fewest runs whose interval tells the published value from others.

    The width is at most `Tolerance.widest` at the same deviation. The number is from `FEWEST_RUNS`
    to `MOST_RUNS`; None if there is none, or if `draws` are of a single run.
    """
    numbers = range(FEWEST_RUNS, MOST_RUNS + 1)

    def tells(runs: int) -> bool:
        """Return True if the interval after so many runs tells the published value from others."""
        half_width = draws.half_width(tolerance.mean_of, runs)
        width = 2 * (half_width + tolerance.rounding)
        return width <= tolerance.widest

    first = bisect_left(numbers, True, key=tells)
    return numbers[first] if first < len(numbers) else None


def run_means(values: ArrayLike, runs: ArrayLike) -> NDArray[np.float64]:
    """Return the mean of each run, an array in the order of the numbers of the runs.

    `values`, `runs`: the value (NaN if missing) and the number of the run of each cell, of equal
    lengths. A run without a value is left out.
    """
    # pandas groups as well, but takes half a millisecond a call, and a table makes hundreds.
    cells = zip(
        np.asarray(runs).tolist(),
        np.asarray(values, dtype=np.float64).tolist(),
        strict=True,
    )
    by_run = group_by(
        (cell for cell in cells if not math.isnan(cell[1])), lambda cell: cell[0]
    )
    return np.array(
        [
            math.fsum(value for _, value in by_run[run]) / len(by_run[run])
            for run in sorted(by_run)
        ]
    )


def draws_of(values: ArrayLike, cells: Mapping[str, Any], measure: Measure) -> Draws:
    """Return the mean and the deviation of the runs of a group of cells.

    `values`: the value of each cell, NaN if it is missing; at least one must be there. `cells`:
    arrays by column, with `run` and perhaps `n_test`.
    """
    means = run_means(values, cells["run"])
    return draws_of_means(means, _least_half_width(means, cells, measure))


def _least_half_width(
    means: NDArray[np.float64], cells: Mapping[str, Any], measure: Measure
) -> float:
    """Return the least half width of an interval: the weight of one test row in a run mean.

    It is 1/folds for a number of rows, and 1/(test rows of a run) for other metrics of confusion
    counts and the training accuracy, if `n_test` is known; otherwise round-off: a tiny share of the
    mean. `means`: those of the runs. `cells`: arrays by column, with `run` and perhaps `n_test`,
    the test rows of each cell.
    """
    metric = measure.metric
    runs = len(np.unique(cells["run"]))
    if counts_rows(metric):
        # A run mean is over folds, each of which counts its own rows.
        return runs / len(cells["run"])
    counts_test_rows = metric in (*metrics_taking("counts"), TRAIN_ACCURACY)
    if counts_test_rows and "n_test" in cells:
        # A run tests its rows once each.
        test_rows = np.sum(cells["n_test"]) / runs
        if test_rows > 0:
            return float(1 / test_rows)
    mean = float(means.mean())
    return ROUND_OFF * abs(mean)


def fixed_draws_of(
    values: ArrayLike, cells: Mapping[str, Any], measure: Measure
) -> Draws:
    """Return the mean of the first run of a group of cells in which nothing is random.

    `values`: that of each cell, NaN if missing; at least one must be there. `cells`: arrays by
    column, with `run` and perhaps `n_test`. The deviation is 0. The result also has the weight of a
    test row in the mean: for a count, one over the number of cells of the run; for the accuracy,
    that by `n_test`, None without it or if rows differ in weight; None for other metrics.
    """
    mean = float(run_means(values, cells["run"])[0])
    is_first = cells["run"] == np.min(cells["run"])
    row_weight = None
    if counts_rows(measure.metric):
        row_weight = 1 / int(np.sum(is_first))
    elif measure.metric in _OF_EQUAL_ROWS and "n_test" in cells:
        row_weight = _weight_of_row(cells["n_test"][is_first])
    return Draws(
        mean=mean,
        deviation=0.0,
        runs=1,
        least_half_width=ROUND_OFF * abs(mean),
        is_fixed=True,
        row_weight=row_weight,
    )


def _weight_of_row(n_test: NDArray[Any]) -> float | None:
    """Return the weight of a test row in the mean of folds; None if the folds differ in size.

    `n_test`: the number of test rows of each fold.
    """
    is_of_equal_folds = len(set(n_test.tolist())) == 1
    return float(1 / np.sum(n_test)) if is_of_equal_folds else None


def draws_of_means(means: NDArray[np.float64], least_half_width: float) -> Draws:
    """Return the mean and the deviation of some run means, of which there is at least one.

    Deviations within round-off are 0; that of a single mean is NaN. `least_half_width`: that of
    their intervals, which the result stores unchanged.
    """
    mean = float(means.mean())
    deviation = float(means.std(ddof=1)) if len(means) > 1 else math.nan
    # Means of equal numbers may differ by round-off.
    largest = np.abs(means).max()
    round_off = 4 * np.finfo(float).eps * largest
    if deviation <= round_off:
        deviation = 0.0
    return Draws(
        mean=mean,
        deviation=deviation,
        runs=len(means),
        least_half_width=least_half_width,
    )

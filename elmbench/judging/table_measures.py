"""Three plain measures of a metric of a table: values, order and differences (docs/verdicts.md).

Each measure compares the published values with our means. Its interval shows how far it varies with
our runs: each row has simulated errors of its means, which keep the pairing of the models.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from elmbench.judging.judged_rows import (
    ROUND_OFF,
    SIMULATIONS,
    Array,
    Row,
    published_variances,
)
from elmbench.judging.value_verdicts import LOWER_END, UPPER_END
from elmbench.results import group_by

#: Noise may make up this share of the squared printed differences; beyond it, they are not
#: compared.
MOST_NOISE = 0.5


@dataclass(frozen=True)
class Interval:
    """An estimate and the ends of its 95 % interval, which are NaN if a model has a single run."""

    estimate: float
    low: float
    high: float


#: The shares of simulated values below the ends of an interval.
_ENDS = (LOWER_END, UPPER_END)
#: The interval of a quantity that is not defined.
_NO_INTERVAL = Interval(np.nan, np.nan, np.nan)


def _simulated_interval(estimate: float, simulated: Array) -> Interval:
    """Return the 95 % interval of an estimate from its simulated values.

    Its ends enclose the estimate, and are NaN if a simulated value is.
    """
    if np.isnan(simulated).any():
        return Interval(estimate, low=np.nan, high=np.nan)
    low, high = np.quantile(simulated, _ENDS, method="inverted_cdf").tolist()
    return Interval(estimate, low=min(low, estimate), high=max(high, estimate))


# --- values


@dataclass(frozen=True)
class Values:
    """The distances of the published values of a table from our means, for one metric."""

    n: int
    #: The number of values within their margin, or half of the last printed digit beyond it.
    within: int
    #: The median distance, in the unit of the metric.
    median: Interval
    #: The median distance, in margins.
    margins: Interval
    #: The largest distance, in the unit of the metric, and the data set and model that have it.
    largest: float
    largest_at: tuple[str, str]


def compare_values(rows: Sequence[Row]) -> Values:
    """Return the distances of the published values of a table from our means.

    `rows`: of one metric, at least one: the models of each data set.
    """
    signed = np.concatenate([row.means - row.published for row in rows])
    margins = np.concatenate([row.margins for row in rows])
    rounding = np.concatenate([row.rounding for row in rows])
    errors = np.concatenate([row.errors for row in rows], axis=1)
    distances = np.abs(signed)
    simulated = np.abs(signed + errors)
    # A value is within its margin if one that rounds to the print is.
    allowed = (margins + rounding) * (1 + ROUND_OFF)
    names = [(row.dataset, model) for row in rows for model in row.models]
    furthest = int(distances.argmax())
    return Values(
        n=len(distances),
        within=int(np.sum(distances <= allowed)),
        median=_median_interval(distances, simulated),
        margins=_median_interval(distances / margins, simulated / margins),
        largest=float(distances[furthest]),
        largest_at=names[furthest],
    )


def _median_interval(distances: Array, simulated: Array) -> Interval:
    """Return the median of distances with its interval.

    `distances`: of shape (n,). `simulated`: of shape (SIMULATIONS, n).
    """
    estimate = float(np.median(distances))
    return _simulated_interval(estimate, np.median(simulated, axis=1))


# --- order


@dataclass(frozen=True)
class PairOrder:
    """Two models on the data sets where the print separates them by more than the margin.

    A data set counts as often as it has rows: one for each measure.
    """

    #: In the order of the table.
    models: tuple[str, str]
    #: The number of data sets on which our runs put them in the same order.
    same: int
    #: The data sets on which our runs put them in the opposite order.
    opposite_on: tuple[str, ...]
    #: The number of data sets on which our runs do not separate them.
    unseparated: int

    @property
    def opposite(self) -> int:
        """The number of data sets on which our runs put them in the opposite order."""
        return len(self.opposite_on)

    @property
    def is_reversed(self) -> bool:
        """True if more data sets have the opposite order than the same one."""
        return self.opposite > self.same

    @property
    def is_kept(self) -> bool:
        """True if more data sets have the same order than the opposite one."""
        return self.same > self.opposite


@dataclass(frozen=True)
class Order:
    """The order of each two models that the print separates by more than the margin."""

    pairs: tuple[PairOrder, ...]
    #: The share of pairs on a data set whose means are in the printed order.
    share: Interval

    @property
    def same(self) -> int:
        """The number of pairs on a data set that our runs put in the printed order."""
        return sum(pair.same for pair in self.pairs)

    @property
    def opposite(self) -> int:
        """The number of pairs on a data set that our runs put in the opposite order."""
        return sum(pair.opposite for pair in self.pairs)

    @property
    def unseparated(self) -> int:
        """The number of pairs on a data set that our runs do not separate."""
        return sum(pair.unseparated for pair in self.pairs)

    @property
    def n(self) -> int:
        """The number of pairs on a data set that the print separates by more than the margin."""
        return self.same + self.opposite + self.unseparated

    @property
    def separated_pairs_by_model(self) -> dict[str, tuple[int, int]]:
        """Two numbers of pairs for each model, {model: (same, separated)}.

        A pair is the model and another one that the print separates from it by more than the
        margin, on one data set and measure. `separated` counts the pairs that our runs separate,
        `same` those of them in the printed order. A model without a pair is missing.
        """
        same: Counter[str] = Counter()
        decided: Counter[str] = Counter()
        for pair in self.pairs:
            n_decided = pair.same + pair.opposite
            for model in pair.models:
                same[model] += pair.same
                decided[model] += n_decided
        return {model: (same[model], n) for model, n in decided.items()}


def compare_order(rows: Sequence[Row]) -> Order:
    """Return the order of each two models that the print separates by more than the margin.

    `rows`: of one metric: the models of each data set.
    """
    return _order_of([(row, row.clear_pairs) for row in rows])


def compare_proposed(rows: Sequence[Row]) -> Order:
    """Return the order of each two models of which the paper proposes exactly one.

    Only those count that the print separates by more than the margin. `rows`: of one metric: the
    models of each data set.
    """
    return _order_of([(row, row.clear_pairs_of_proposed) for row in rows])


def compare_pairs(rows: Sequence[Row]) -> tuple[PairOrder, ...]:
    """Return the pairs of models that the print separates, with their order in our runs.

    There is no interval of their share in the printed order, which takes time (see
    `compare_order`). `rows`: of one metric: the models of each data set.
    """
    return _pair_orders([(row, row.clear_pairs) for row in rows])


#: A row and some pairs of its models, by their positions.
_RowPairs = tuple[Row, list[tuple[int, int]]]


def _order_of(chosen: Sequence[_RowPairs]) -> Order:
    """Return the order of some pairs of models on each data set.

    It includes the share of pairs whose means are in the printed order. `chosen`: (row, pairs) for
    each row; a pair is (i, j), the positions of two models.
    """
    return Order(pairs=_pair_orders(chosen), share=_share_of_same(chosen))


class _ComparedPair(NamedTuple):
    """Two models on one data set."""

    models: tuple[str, str]
    dataset: str
    #: True if the means are in the printed order.
    is_same: bool
    is_separated: bool


def _pair_orders(chosen: Sequence[_RowPairs]) -> tuple[PairOrder, ...]:
    """Return the order of each two models over all data sets that have them as a pair.

    `chosen`: (row, pairs) for each row; a pair is (i, j), the positions of two models.
    """
    compared = [
        _ComparedPair(
            models=(row.models[i], row.models[j]),
            dataset=row.dataset,
            is_same=_difference_in_order(row, i, j) > 0,
            is_separated=row.differences.are_separated(i, j),
        )
        for row, pairs in chosen
        for i, j in pairs
    ]
    by_models = group_by(compared, lambda pair: pair.models)
    return tuple(_pair_order(pairs) for pairs in by_models.values())


def _share_of_same(chosen: Sequence[_RowPairs]) -> Interval:
    """Return the share of pairs on a data set whose means are in the printed order.

    Its numbers are NaN without a pair. `chosen`: (row, pairs) for each row; a pair is (i, j), the
    positions of two models.
    """
    differences = []
    simulated = []
    for row, pairs in chosen:
        for i, j in pairs:
            larger, smaller = _in_printed_order(row, i, j)
            difference = _difference_in_order(row, i, j)
            error = row.errors[:, larger] - row.errors[:, smaller]
            differences.append(difference)
            simulated.append(_are_positive(difference + error))
    if not differences:
        return _NO_INTERVAL
    estimate = float(np.mean(np.array(differences) > 0))
    return _simulated_interval(estimate, np.mean(simulated, axis=0))


def _in_printed_order(row: Row, i: int, j: int) -> tuple[int, int]:
    """Return the positions of two models, i and j, with the larger published value first."""
    return (i, j) if row.published[i] > row.published[j] else (j, i)


def _difference_in_order(row: Row, i: int, j: int) -> float:
    """Return our difference of two models, positive if they are in the printed order.

    It is that over their common runs, or without any, that of their means. `i`, `j`: their
    positions.
    """
    larger, smaller = _in_printed_order(row, i, j)
    difference = float(row.differences.means[larger, smaller])
    if math.isnan(difference):
        return float(row.means[larger] - row.means[smaller])
    return difference


def _are_positive(numbers: Array) -> Array:
    """Return 1 for each positive number, else 0; NaN stays."""
    return np.where(np.isnan(numbers), np.nan, numbers > 0)


def _pair_order(pairs: Sequence[_ComparedPair]) -> PairOrder:
    """Return the order of two models, from that of their means on each data set.

    It has the number of data sets on which our runs separate them in the printed order, those on
    which they do so in the opposite one, and the number on which they are not separated. `pairs`:
    the same two models on each data set, at least one.
    """
    separated = [pair for pair in pairs if pair.is_separated]
    opposite_on = tuple(pair.dataset for pair in separated if not pair.is_same)
    return PairOrder(
        models=pairs[0].models,
        same=len(separated) - len(opposite_on),
        opposite_on=opposite_on,
        unseparated=len(pairs) - len(separated),
    )


# --- differences


def compare_differences(rows: Sequence[Row]) -> Interval:
    """Return the slope of our differences between models on the printed ones, within data sets.

    The slope is 1 if our differences are as large as the printed ones, and .5 if they are half as
    large. Each data set is weighted by its margin: differences are counted in margins. The noise of
    the published values, which would flatten it, is that of our runs divided by the square root of
    the number of runs that a published value is a mean over, and their rounding. The upper end may
    be infinite. All numbers are NaN if the print separates no two models by more than the margin,
    or if noise makes up more than `MOST_NOISE` of the squared printed differences.
    """
    products = 0.0
    squares = 0.0
    noise = 0.0
    simulated_products = np.zeros(SIMULATIONS)
    simulated_squares = np.zeros(SIMULATIONS)
    for row in rows:
        k = len(row.models)
        if k < 2:
            continue
        unit = row.margins.mean()
        published = (row.published - row.published.mean()) / unit
        ours = (row.means - row.means.mean()) / unit
        products += float(published @ ours)
        squares += float(published @ published)
        # Subtracting the mean of the row leaves (k - 1) / k of the noise.
        variances = published_variances(row.residuals, row.mean_of, row.rounding)
        variances = variances / unit**2
        noise += float(variances.sum() * (k - 1) / k)

        noisy_print = published + _centre(row.print_errors / unit)
        noisy_means = ours + _centre(row.errors / unit)
        simulated_products += (noisy_print * noisy_means).sum(axis=1)
        simulated_squares += (noisy_print**2).sum(axis=1)
    has_clear_pairs = any(row.clear_pairs for row in rows)
    if not has_clear_pairs or noise > MOST_NOISE * squares:
        return _NO_INTERVAL
    # The simulated squares have the noise twice: that of the print, and that of the simulation.
    denominators = np.maximum(simulated_squares - 2 * noise, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = simulated_products / denominators
        slopes = np.where(denominators > 0, slopes, np.inf)
    estimate = products / (squares - noise)
    return _simulated_interval(estimate, slopes)


def _centre(errors: Array) -> Array:
    """Return errors of shape (simulations, k) minus the mean of each simulation."""
    return errors - errors.mean(axis=1, keepdims=True)

"""Three plain measures of a metric of a table: values, order and differences (docs/verdicts.md).

Each measure compares the published values with our means. Its interval shows how far it varies with
our runs: each row has simulated errors of its means, which keep the pairing of the models.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from elmbench.judging.measured_cells import ComparedValue
from elmbench.judging.value_verdicts import FEWEST_RUNS, LEVEL
from elmbench.metrics import Unit
from elmbench.numerics.seeds import generator
from elmbench.numerics.significance import t_quantile
from elmbench.results import group_by

#: The number of simulated errors of our means.
SIMULATIONS = 500
#: Noise may make up this share of the squared printed differences; beyond it, they are not
#: compared.
MOST_NOISE = 0.5
#: Round-off of decimal numbers: a distance that equals the margin is within it.
_ROUND_OFF = 1e-9
Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Row:
    """The models of a table on one data set, in print and in our runs.

    If a data set has one model at several values of a hyperparameter, `models` are these values.
    The arrays have one number for each of the k models.
    """

    dataset: str
    models: tuple[str, ...]
    published: Array
    #: Half of the last printed digit.
    rounding: Array
    unit: Unit
    #: True for each model that the paper proposes.
    proposed: Mask
    #: The largest distance that does not matter, in the unit of the metric.
    margins: Array
    means: Array
    #: The number of our runs; as many as any model has, if nothing is random.
    n_runs: NDArray[np.int64]
    #: The residuals of our runs, of shape (runs, k); 0 for a run that a model lacks. The squares of
    #: a column sum to the variance of a run.
    residuals: Array
    #: The least half width of an interval of our mean: the weight of one test row, or round-off.
    least_half_widths: Array
    #: The number of runs that a published value is a mean over.
    mean_of: int
    #: Simulated errors of our means and of the published values, of shape (SIMULATIONS, k).
    errors: Array
    print_errors: Array
    #: True for each two models whose difference our runs separate from zero, of shape (k, k).
    separated: Mask

    def select(self, chosen: Mask) -> Row:
        """Return the row of some of its models."""
        return replace(
            self,
            models=tuple(model for model, keep in zip(self.models, chosen, strict=True) if keep),
            published=self.published[chosen],
            rounding=self.rounding[chosen],
            proposed=self.proposed[chosen],
            margins=self.margins[chosen],
            means=self.means[chosen],
            n_runs=self.n_runs[chosen],
            residuals=self.residuals[:, chosen],
            least_half_widths=self.least_half_widths[chosen],
            errors=self.errors[:, chosen],
            print_errors=self.print_errors[:, chosen],
            separated=self.separated[np.ix_(chosen, chosen)],
        )

    @property
    def clear_pairs(self) -> list[tuple[int, int]]:
        """The pairs of models that the print separates by more than the margin."""
        return [
            (i, j)
            for i, j in combinations(range(len(self.models)), 2)
            if abs(self.published[i] - self.published[j])
            > max(self.margins[i], self.margins[j]) * (1 + _ROUND_OFF)
        ]

    @property
    def clear_pairs_of_proposed(self) -> list[tuple[int, int]]:
        """The clear pairs of a proposed model and a different one."""
        return [(i, j) for i, j in self.clear_pairs if self.proposed[i] != self.proposed[j]]

    def with_published(self, published: Array) -> Row:
        """Return the row with different published values."""
        return replace(self, published=published, margins=_margins(self.unit, published))


def _margins(unit: Unit, published: Array) -> Array:
    return np.array([unit.margin_of(value) for value in published.tolist()])


def rows_of(compared: Iterable[ComparedValue]) -> list[Row]:
    """Return the rows of the compared values of one metric."""
    by_dataset = group_by(compared, lambda value: value.dataset)
    return [row for values in by_dataset.values() for row in _rows_of_dataset(values)]


def _rows_of_dataset(values: Sequence[ComparedValue]) -> Iterator[Row]:
    """Yield a row for each measure of a data set; one row for all measures of a single model."""
    if len({value.model for value in values}) == 1:
        yield _row(values, [value.measure.column for value in values])
        return
    for group in group_by(values, lambda value: value.measure.column).values():
        yield _row(group, [value.model for value in group])


def _row(values: Sequence[ComparedValue], models: Sequence[str]) -> Row:
    unit = values[0].unit
    dataset = values[0].dataset
    mean_of = values[0].printed.mean_of
    means = np.array([value.draws.mean for value in values])
    n_runs = _numbers_of_runs(values)
    published = np.array([value.printed.value for value in values])
    rounding = np.array([value.printed.rounding for value in values])
    residuals = _residuals(values)
    variances = (residuals**2).sum(axis=0) / mean_of + rounding**2 / 3
    rng = generator("errors of published values", dataset)
    return Row(
        dataset=dataset,
        models=tuple(models),
        published=published,
        rounding=rounding,
        unit=unit,
        proposed=np.array([value.is_proposed for value in values]),
        margins=_margins(unit, published),
        means=means,
        n_runs=n_runs,
        residuals=residuals,
        least_half_widths=np.array([value.draws.least_half_width for value in values]),
        mean_of=mean_of,
        errors=_errors(dataset, residuals, n_runs),
        print_errors=rng.standard_normal((SIMULATIONS, len(values))) * np.sqrt(variances),
        separated=_separated(means, residuals, n_runs),
    )


def _numbers_of_runs(values: Sequence[ComparedValue]) -> NDArray[np.int64]:
    """Return the number of runs of each model.

    A run in which nothing is random stands for any number of runs.
    """
    most = max(FEWEST_RUNS, *(len(value.runs) for value in values))
    return np.array([most if value.draws.is_fixed else len(value.runs) for value in values])


def _residuals(values: Sequence[ComparedValue]) -> Array:
    """Return the residuals of the runs of each model, scaled so that their squares sum to the
    variance of a run.
    """
    runs = sorted({run for value in values for run in value.runs.tolist()})
    residuals = np.zeros((len(runs), len(values)))
    for column, value in enumerate(values):
        if len(value.runs) > 1:
            numbers = np.searchsorted(runs, value.runs)
            centred = value.means - value.means.mean()
            residuals[numbers, column] = centred / np.sqrt(len(value.runs) - 1)
    return residuals


def _errors(dataset: str, residuals: Array, n_runs: NDArray[np.int64]) -> Array:
    """Return simulated errors of our means, of shape (SIMULATIONS, k); NaN for a model of one run.

    The error of a model has Student's t distribution, scaled by its standard error. Models share
    the errors of their common runs, so that differences of paired models vary less.
    """
    from scipy.special import gammaincinv

    rng = generator("errors of means", dataset)
    normal = rng.standard_normal((SIMULATIONS, len(residuals))) @ residuals
    freedom = np.maximum(n_runs - 1, 1)
    # One uniform number a simulation: the chi-squared variables of its models go together.
    chi_squared = 2 * gammaincinv(freedom / 2, rng.random((SIMULATIONS, 1)))
    errors = normal * np.sqrt(freedom / chi_squared) / np.sqrt(n_runs)
    return np.where(n_runs > 1, errors, np.nan)


def _separated(means: Array, residuals: Array, n_runs: NDArray[np.int64]) -> Mask:
    """Return True for each two models whose difference lies outside Student's interval of paired
    runs around zero.
    """
    paired_residuals = residuals[:, :, np.newaxis] - residuals[:, np.newaxis, :]
    variances = np.sum(paired_residuals**2, axis=0)
    common_runs = np.minimum.outer(n_runs, n_runs)
    degrees = np.maximum(common_runs - 1, 1)
    quantiles = np.vectorize(t_quantile, otypes=[float])(degrees, (1 + LEVEL) / 2)
    half_widths = quantiles * np.sqrt(variances / common_runs)
    distances = np.abs(np.subtract.outer(means, means))
    return np.asarray((distances > half_widths) & (common_runs > 1))


@dataclass(frozen=True)
class Interval:
    """An estimate and the ends of its 95 % interval, which are NaN if a model has a single run."""

    estimate: float
    low: float
    high: float


def _interval(estimate: float, simulated: Array) -> Interval:
    """Return the interval of an estimate from its simulated values."""
    if np.isnan(simulated).any():
        return Interval(estimate, np.nan, np.nan)
    low, high = np.quantile(simulated, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], method="inverted_cdf")
    return Interval(estimate, float(min(low, estimate)), float(max(high, estimate)))


# --- values


@dataclass(frozen=True)
class Values:
    """The distances of the published values from our means."""

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
    """Return the distances of the published values from our means."""
    signed = np.concatenate([row.means - row.published for row in rows])
    margins = np.concatenate([row.margins for row in rows])
    allowed = margins + np.concatenate([row.rounding for row in rows])
    errors = np.concatenate([row.errors for row in rows], axis=1)
    distances = np.abs(signed)
    simulated = np.abs(signed + errors)
    names = [(row.dataset, model) for row in rows for model in row.models]
    furthest = int(distances.argmax())
    return Values(
        n=len(distances),
        within=int(np.sum(distances <= allowed * (1 + _ROUND_OFF))),
        median=_interval(float(np.median(distances)), np.median(simulated, axis=1)),
        margins=_interval(
            float(np.median(distances / margins)), np.median(simulated / margins, axis=1)
        ),
        largest=float(distances[furthest]),
        largest_at=names[furthest],
    )


# --- order


@dataclass(frozen=True)
class PairOrder:
    """Two models on the data sets where the print separates them by more than the margin."""

    #: In the order of the table.
    models: tuple[str, str]
    #: The number of data sets on which our runs put them in the same order.
    same: int
    #: The number of data sets on which our runs put them in the opposite order.
    opposite: int
    #: The number of data sets on which our runs do not separate them.
    unseparated: int
    #: The number of data sets on which our means are in the same order, separated or not.
    same_means: int

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
        return sum(pair.same for pair in self.pairs)

    @property
    def opposite(self) -> int:
        return sum(pair.opposite for pair in self.pairs)

    @property
    def unseparated(self) -> int:
        return sum(pair.unseparated for pair in self.pairs)

    @property
    def n(self) -> int:
        """The number of pairs on a data set that the print separates."""
        return self.same + self.opposite + self.unseparated

    @property
    def by_model(self) -> dict[str, tuple[int, int]]:
        """For each model, the pairs on a data set that are in the same order, and in either order,
        as far as our runs separate them.
        """
        counts: dict[str, tuple[int, int]] = {}
        for pair in self.pairs:
            for model in pair.models:
                same, decided = counts.get(model, (0, 0))
                counts[model] = (same + pair.same, decided + pair.same + pair.opposite)
        return counts


def compare_order(rows: Sequence[Row]) -> Order:
    """Return the order of each two models that the print separates."""
    return _order_of((row, row.clear_pairs) for row in rows)


def compare_proposed(rows: Sequence[Row]) -> Order:
    """Return the order of each proposed model and each different one that the print separates."""
    return _order_of((row, row.clear_pairs_of_proposed) for row in rows)


def _order_of(pairs_of_rows: Iterable[tuple[Row, list[tuple[int, int]]]]) -> Order:
    """Return the order of the given pairs of models of each row."""
    counts: dict[tuple[str, str], list[int]] = {}
    simulated = []
    for row, clear_pairs in pairs_of_rows:
        for i, j in clear_pairs:
            sign = np.sign(row.published[i] - row.published[j])
            difference = (row.means[i] - row.means[j]) * sign
            noisy = difference + (row.errors[:, i] - row.errors[:, j]) * sign
            simulated.append(np.where(np.isnan(noisy), np.nan, noisy > 0))
            pair = counts.setdefault((row.models[i], row.models[j]), [0, 0, 0, 0])
            if not row.separated[i, j]:
                pair[2] += 1
            elif difference > 0:
                pair[0] += 1
            else:
                pair[1] += 1
            pair[3] += int(difference > 0)
    pairs = tuple(
        PairOrder(models, same=same, opposite=opposite, unseparated=rest, same_means=means)
        for models, (same, opposite, rest, means) in counts.items()
    )
    n = len(simulated)
    if n == 0:
        return Order((), Interval(np.nan, np.nan, np.nan))
    estimate = sum(pair.same_means for pair in pairs) / n
    return Order(pairs, _interval(estimate, np.mean(simulated, axis=0)))


# --- differences


def compare_differences(rows: Sequence[Row]) -> Interval:
    """Return the slope of our differences between models on the printed ones, within data sets.

    The slope is 1 if our differences are as large as the printed ones, and .5 if they are half as
    large. Each data set is weighted by its margin: differences are counted in margins. The noise of
    the published values, which would flatten it, is that of our runs divided
    by the square root of the number of runs that a published value is a mean over, and their
    rounding. The slope is NaN if the print separates no two models by more than the margin, or if
    noise makes up more than `MOST_NOISE` of the squared printed differences.
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
        variances = (row.residuals**2).sum(axis=0) / row.mean_of + row.rounding**2 / 3
        variances = variances / unit**2
        printed = (row.published - row.published.mean()) / unit
        ours = (row.means - row.means.mean()) / unit
        print_errors = _centred(row.print_errors / unit)
        our_errors = _centred(row.errors / unit)
        products += float(printed @ ours)
        squares += float(printed @ printed)
        noise += float(variances.sum() * (k - 1) / k)
        noisy = printed + print_errors
        simulated_products += (noisy * (ours + our_errors)).sum(axis=1)
        simulated_squares += (noisy**2).sum(axis=1)
    if not any(row.clear_pairs for row in rows) or noise > MOST_NOISE * squares:
        return Interval(np.nan, np.nan, np.nan)
    # The simulated squares have the noise twice: that of the print, and that of the simulation.
    denominators = np.maximum(simulated_squares - 2 * noise, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = np.where(denominators > 0, simulated_products / denominators, np.inf)
    return _interval(products / (squares - noise), slopes)


def _centred(errors: Array) -> Array:
    return errors - errors.mean(axis=1, keepdims=True)

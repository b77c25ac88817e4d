"""The rows of a table that are judged: published values and our means of models on a data set.

A row knows how certain its means are: it has simulated errors, which keep the pairing of the
models, and the intervals of the differences of each two models (docs/verdicts.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from elmbench.judging.measured_cells import ComparedValue
from elmbench.judging.value_verdicts import FEWEST_RUNS, UPPER_END
from elmbench.metrics import Unit
from elmbench.numerics.seeds import generator
from elmbench.numerics.significance import t_quantile
from elmbench.results import group_by

#: The number of simulated errors of our means.
SIMULATIONS = 500
#: Round-off of decimal numbers: a distance that equals the margin is within it.
ROUND_OFF = 1e-9
Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class PairedDifferences:
    """The differences of each two models on a data set over their common runs.

    The arrays have shape (k, k) for k models: the first model minus the second.
    """

    #: The number of common runs.
    n_runs: NDArray[np.int64]
    #: The mean differences; NaN without a common run.
    means: Array
    #: The half widths of Student's 95 % intervals; NaN with fewer than two common runs.
    half_widths: Array

    def select(self, chosen: Mask) -> PairedDifferences:
        """Return the differences of the models for which `chosen`, of shape (k,), is True."""
        positions = np.ix_(chosen, chosen)
        return PairedDifferences(
            n_runs=self.n_runs[positions],
            means=self.means[positions],
            half_widths=self.half_widths[positions],
        )

    def are_separated(self, i: int, j: int) -> bool:
        """Return True if zero lies outside Student's interval of the difference of two models.

        `i`, `j`: their positions. It is False without an interval.
        """
        distance = abs(self.means[i, j])
        return bool(distance > self.half_widths[i, j] + ROUND_OFF)


@dataclass(frozen=True)
class Row:
    """The models of a table on one data set, in print and in our runs, for one measure.

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
    #: The differences of our models over their common runs.
    differences: PairedDifferences

    def select(self, chosen: Mask) -> Row:
        """Return the row of the models for which `chosen`, of shape (k,), is True.

        The row may have no model.
        """
        return replace(
            self,
            models=tuple(
                model for model, keep in zip(self.models, chosen, strict=True) if keep
            ),
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
            differences=self.differences.select(chosen),
        )

    @property
    def clear_pairs(self) -> list[tuple[int, int]]:
        """The pairs of models that the print separates by more than the margin.

        They are positions (i, j) with i < j.
        """
        pairs = combinations(range(len(self.models)), 2)
        return [(i, j) for i, j in pairs if self._prints_apart(i, j)]

    def _prints_apart(self, i: int, j: int) -> bool:
        """Return True if the print separates two models, at positions i and j, beyond the margin.

        The margin is the larger one of theirs.
        """
        distance = abs(self.published[i] - self.published[j])
        margin = max(self.margins[i], self.margins[j])
        return bool(distance > margin * (1 + ROUND_OFF))

    @property
    def clear_pairs_of_proposed(self) -> list[tuple[int, int]]:
        """The pairs that the print separates, one of whose models the paper proposes, and only one.

        They are positions (i, j) with i < j.
        """
        return [
            (i, j) for i, j in self.clear_pairs if self.proposed[i] != self.proposed[j]
        ]

    def with_published(self, published: Array) -> Row:
        """Return the row with different published values, of shape (k,), and their margins."""
        return replace(
            self, published=published, margins=_margins(self.unit, published)
        )


def _margins(unit: Unit, published: Array) -> Array:
    """Return the margin of each published value: the largest distance that does not matter.

    `unit`: that of the metric, which defines the margin. `published`: of shape (k,).
    """
    return np.array([unit.margin_of(value) for value in published.tolist()])


def rows_of(compared: Iterable[ComparedValue]) -> list[Row]:
    """Return the compared values of one metric as rows, one for each data set and measure.

    A row has a number for each model. A data set with a single model has one row, in which its
    measures take the place of the models.
    """
    by_dataset = group_by(compared, lambda value: value.dataset)
    return [row for values in by_dataset.values() for row in _rows_of_dataset(values)]


def _rows_of_dataset(values: Sequence[ComparedValue]) -> Iterator[Row]:
    """Yield the rows of a data set, one for each measure, from all of its compared values.

    `values`: those of one metric, perhaps at several values of a hyperparameter. If the data set
    has a single model, there is one row, in which the measures take the place of the models.
    """
    models = dict.fromkeys(value.model for value in values)
    if len(models) == 1:
        yield _row(values, [value.measure.column for value in values])
        return
    by_measure = group_by(values, lambda value: value.measure.column)
    for group in by_measure.values():
        yield _row(group, [value.model for value in group])


def _row(values: Sequence[ComparedValue], models: Sequence[str]) -> Row:
    """Return the row of compared values of one data set, one value for each model.

    `values`: in the order of the row, at least one, all with the same unit. `models`: a name for
    each value, of the model or of its measure.
    """
    unit = values[0].unit
    dataset = values[0].dataset
    mean_of = values[0].tolerance.mean_of
    means = np.array([value.draws.mean for value in values])
    n_runs = _numbers_of_runs(values)
    published = np.array([value.published.number for value in values])
    rounding = np.array([value.tolerance.rounding for value in values])
    run_means = _means_by_run(values)
    residuals = _residuals(run_means)
    variances = published_variances(residuals, mean_of, rounding)
    rng = generator("errors of published values", dataset)
    normal = rng.standard_normal((SIMULATIONS, len(values)))
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
        errors=_simulated_errors(dataset, residuals, n_runs),
        print_errors=normal * np.sqrt(variances),
        differences=_paired_differences(run_means),
    )


def published_variances(residuals: Array, mean_of: int, rounding: Array) -> Array:
    """Return the variance of each published value of a row, of shape (k,).

    It is that of a mean of `mean_of` runs, plus that of its rounding, which is uniform.
    `residuals`: of our runs, of shape (runs, k), whose squares sum to the variance of a run.
    `rounding`: half of the last digit of each.
    """
    variances_of_run = (residuals**2).sum(axis=0)
    return np.asarray(variances_of_run / mean_of + rounding**2 / 3)


def _numbers_of_runs(values: Sequence[ComparedValue]) -> NDArray[np.int64]:
    """Return the number of runs of each compared value.

    A value in which nothing is random counts as many as the most runs of any, at least
    `FEWEST_RUNS`.
    """
    most = max(FEWEST_RUNS, *(len(value.runs) for value in values))
    return np.array(
        [most if value.draws.is_fixed else len(value.runs) for value in values]
    )


def _means_by_run(values: Sequence[ComparedValue]) -> Array:
    """Return the mean of each run of each model of a row, of shape (runs, k).

    It is NaN for a run that a model lacks. A model in which nothing is random has the same mean in
    all runs. There are at least `FEWEST_RUNS` rows, of which the last ones may be NaN. `values`:
    one for each model, on one data set.
    """
    runs_of_any: set[int] = set()
    for value in values:
        runs_of_any.update(value.runs.tolist())
    runs = sorted(runs_of_any)
    means = np.full((max(len(runs), FEWEST_RUNS), len(values)), np.nan)
    for column, value in enumerate(values):
        if value.draws.is_fixed:
            means[:, column] = value.means[0]
        else:
            means[np.searchsorted(runs, value.runs), column] = value.means
    return means


def _residuals(run_means: Array) -> Array:
    """Return the residuals of the runs of each model, of shape (runs, k).

    They are scaled so that their squares sum to the variance of a run; 0 for a missing run and for
    a single one. `run_means`: of shape (runs, k), NaN for a missing run.
    """
    n_runs = np.sum(~np.isnan(run_means), axis=0)
    centred = run_means - np.nanmean(run_means, axis=0)
    residuals = centred / np.sqrt(np.maximum(n_runs - 1, 1))
    return np.nan_to_num(residuals)


def _paired_differences(run_means: Array) -> PairedDifferences:
    """Return the differences of each two models over their common runs.

    `run_means`: of shape (runs, k), NaN for a missing run.
    """
    differences = run_means[:, :, np.newaxis] - run_means[:, np.newaxis, :]
    n_runs = np.sum(~np.isnan(differences), axis=0)
    degrees = np.maximum(n_runs - 1, 1)
    means = _divide_or_nan(np.nansum(differences, axis=0), n_runs)
    squares = np.nansum((differences - means) ** 2, axis=0)
    standard_errors = np.sqrt(squares / degrees / np.maximum(n_runs, 1))
    quantile_of = np.vectorize(t_quantile, otypes=[float])
    half_widths = quantile_of(degrees, UPPER_END) * standard_errors
    return PairedDifferences(
        n_runs=n_runs,
        means=means,
        half_widths=np.where(n_runs > 1, half_widths, np.nan),
    )


def _divide_or_nan(sums: Array, numbers: NDArray[np.int64]) -> Array:
    """Return the sums over their numbers, element by element; NaN for the number 0."""
    return np.where(numbers > 0, sums / np.maximum(numbers, 1), np.nan)


def _simulated_errors(
    dataset: str, residuals: Array, n_runs: NDArray[np.int64]
) -> Array:
    """Return simulated errors of our means, of shape (SIMULATIONS, k); NaN for a single run.

    The error of a model has Student's t distribution, scaled by its standard error. Models share
    the errors of their common runs, so that differences of paired models vary less. `residuals`: of
    shape (runs, k); their squares sum to the variance of a run. `n_runs`: of each model. `dataset`:
    gives the seed.
    """
    from scipy.special import gammaincinv

    rng = generator("errors of means", dataset)
    weights = rng.standard_normal((SIMULATIONS, len(residuals)))
    normal = weights @ residuals
    # Student's t is a normal variable over the root of a chi-squared one by its degrees.
    degrees = np.maximum(n_runs - 1, 1)
    # One uniform number a simulation: the chi-squared variables of its models go together.
    uniform = rng.random((SIMULATIONS, 1))
    chi_squared = 2 * gammaincinv(degrees / 2, uniform)
    errors_of_runs = normal * np.sqrt(degrees / chi_squared)
    errors = errors_of_runs / np.sqrt(n_runs)
    return np.where(n_runs > 1, errors, np.nan)

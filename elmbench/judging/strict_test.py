"""The strict test of a metric of a table: may the print be one more rerun of ours?

The published values outside of their prediction intervals are counted, and the count is compared
with that of simulated reruns, in which the models of a data set vary together as in our runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elmbench.judging.judged_rows import Array, Row
from elmbench.judging.value_verdicts import FEWEST_RUNS, UPPER_END
from elmbench.numerics.seeds import generator
from elmbench.numerics.significance import t_quantile

#: The number of simulated reruns.
SIMULATIONS = 2000


@dataclass(frozen=True)
class StrictTest:
    """The result of the strict test of a metric, for one number of runs behind the print.

    `outside` of `n` published values lie outside of their prediction intervals; `p` is the share of
    simulated reruns with as many or more.
    """

    #: The number of runs that a published value is taken to be a mean over.
    mean_of: int
    outside: int
    n: int
    p: float


def strict_tests(
    rows: Sequence[Row], means_of: Sequence[int]
) -> tuple[StrictTest, ...]:
    """Return the strict test of a metric for each of the numbers `means_of`.

    A published value is a mean over this number of runs. `rows`: of the metric, one for each data
    set. `means_of`: the tests are in this order. There are none if no model has three runs on a
    data set; models with fewer are left out. Reruns are simulated once for all tests.
    """
    chosen = []
    for row in rows:
        has_interval = row.n_runs >= FEWEST_RUNS
        with_interval = row.select(has_interval)
        if with_interval.models:
            chosen.append(with_interval)
    if not chosen:
        return ()
    reruns = [_simulate(row) for row in chosen]
    return tuple(_strict_test(chosen, reruns, mean_of) for mean_of in means_of)


def _strict_test(
    rows: Sequence[Row], reruns: Sequence[_Reruns], mean_of: int
) -> StrictTest:
    """Return the strict test of rows if a published value is a mean over `mean_of` runs.

    `reruns`: the simulated reruns of each row.
    """
    outside = 0
    simulated = np.zeros(SIMULATIONS, dtype=np.int64)
    for row, reruns_of_row in zip(rows, reruns, strict=True):
        outside += _number_outside(row, mean_of)
        simulated += reruns_of_row.numbers_outside(row, mean_of)
    n_as_many = int(np.sum(simulated >= outside))
    return StrictTest(
        mean_of=mean_of,
        outside=outside,
        n=sum(len(row.models) for row in rows),
        p=(1 + n_as_many) / (1 + SIMULATIONS),
    )


def _number_outside(row: Row, mean_of: int) -> int:
    """Return the number of published values of a row that are outside of their intervals.

    `mean_of`: the number of runs that each is a mean over.
    """
    variances = (row.residuals**2).sum(axis=0)
    distances = np.abs(row.published - row.means)
    is_outside = _are_outside(distances, np.sqrt(variances), row, mean_of)
    return int(is_outside.sum())


def _are_outside(
    distances: Array, deviations: Array, row: Row, mean_of: int
) -> NDArray[np.bool_]:
    """Return, for each distance, True if it is outside of the interval of its model.

    The half width is t s sqrt(1/M + 1/R), at least the least one of the row, with the rounding
    added. `distances`, `deviations`: those of values from the means, and of runs (s), of shape
    (..., k) for the k models of the row. `mean_of`: M.
    """
    quantiles = _quantiles(row.n_runs)
    relative_variances = 1 / mean_of + 1 / row.n_runs
    standard_errors = deviations * np.sqrt(relative_variances)
    half_widths = quantiles * standard_errors
    half_widths = np.maximum(half_widths, row.least_half_widths)
    half_widths += row.rounding
    # A distance at an end is inside even if its binary approximation is not.
    half_widths *= 1 + 1e-9
    return np.asarray(distances > half_widths)


def _quantiles(n_runs: NDArray[np.int64]) -> Array:
    """Return the 97.5 % quantile of Student's t for each number of runs, each at least 2."""
    return np.array([t_quantile(n - 1, UPPER_END) for n in n_runs.tolist()])


@dataclass(frozen=True)
class _Reruns:
    """Simulated reruns of a row with k models, arrays of shape (SIMULATIONS, k).

    Attributes
    ----------
    means, deviations : array
        Of the runs of each rerun; the true means are 0.
    single_prints : array
        The published value of a single run, before it is rounded.
    rounding : array
        The rounding of published values, which is added to them.
    """

    means: Array
    deviations: Array
    single_prints: Array
    rounding: Array

    def numbers_outside(self, row: Row, mean_of: int) -> NDArray[np.int64]:
        """Return, for each rerun, the number of published values outside of their intervals.

        The array has shape (SIMULATIONS,). `mean_of`: the number of runs that each value is a mean
        over. `row`: that of the reruns.
        """
        exact_prints = self.single_prints / np.sqrt(mean_of)
        distances = np.abs(exact_prints + self.rounding - self.means)
        is_outside = _are_outside(distances, self.deviations, row, mean_of)
        return np.asarray(is_outside.sum(axis=1))


def _simulate(row: Row) -> _Reruns:
    """Return simulated reruns of a row, each with new runs and new published values.

    Both are normal, with the covariance of our runs: combinations of the residuals.
    """
    rng = generator("reruns", row.dataset)
    means, deviations = _simulated_means(row, rng)
    # The print is a mean over its own runs, rounded.
    weights = rng.standard_normal((SIMULATIONS, len(row.residuals)))
    single_prints = weights @ row.residuals
    rounding = row.rounding * rng.uniform(-1, 1, single_prints.shape)
    return _Reruns(
        means=means,
        deviations=deviations,
        single_prints=single_prints,
        rounding=rounding,
    )


def _simulated_means(row: Row, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the means and the deviations of the runs of simulated reruns.

    Both arrays have shape (SIMULATIONS, k) for the k models of the row, each of which needs at
    least two runs; the true means are 0. Each rerun has as many runs as ours. `rng` is advanced.
    """
    longest = int(row.n_runs.max())
    shape = (SIMULATIONS, longest, len(row.residuals))
    weights = rng.standard_normal(shape)
    runs = weights @ row.residuals
    # A model with fewer runs than the longest series leaves the last ones out.
    numbers = np.arange(longest)
    is_run = numbers[:, np.newaxis] < row.n_runs
    sums = np.sum(runs, axis=1, where=is_run)
    means = sums / row.n_runs
    errors = runs - means[:, np.newaxis, :]
    squares = np.sum(errors**2, axis=1, where=is_run)
    variances = squares / (row.n_runs - 1)
    deviations = np.sqrt(variances)
    return means, deviations

"""The verdict on a table from all its comparable values of a metric (docs/verdicts.md), and its
test on own runs.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.judging.measured_cells import ComparedValue
from elmbench.judging.published_values import mean_rank_correlation, means_and_prints
from elmbench.judging.value_verdicts import FEWEST_RUNS, LEVEL, Printed, draws_of_means, judge
from elmbench.numerics.seeds import generator
from elmbench.results import group_by
from elmbench.specs.catalogue import PROFILES

#: All verdicts on a table.
TABLE_VERDICTS = (
    "reproduced",
    "pattern only",
    "level only",
    "not reproduced",
    "too small to judge",
)
#: The level of the tests of coverage and pattern.
ALPHA = 0.05
#: Fewer independent values cannot show that coverage holds: of four, three inside would still be
#: accepted.
FEWEST_VALUES = 5
#: As an exception, this many suffice if all are inside: for any coverage, that is rarer than four
#: of five inside.
FEWEST_ALL_INSIDE = 3
#: All permutations are computed up to this number; beyond it, this many are drawn at random.
SHUFFLES = 10_000

#: The costs |published - ours| of a data set: row i has the published value of model i, column j
#: our model j.
_Costs = NDArray[np.float64]


@dataclass(frozen=True)
class JointVerdict:
    """The verdict on one metric of a table."""

    metric: str = ""
    #: The number of published values that are compared.
    n_values: int = 0
    #: The number of their data sets.
    datasets: int = 0
    #: The number of published values inside the interval.
    inside: int = 0
    #: The number of published values that have an interval: of three runs or more.
    judged: int = 0
    #: The p-value of the binomial test that 95 % of the intervals contain the published value; None
    #: if there are too few independent values for an answer.
    coverage_p: float | None = None
    #: The p-value of the permutation test; None if there are too few permutations for a p-value of
    #: .05.
    pattern_p: float | None = None
    #: The mean of Spearman's correlation of the published and our values of the models.
    spearman: float | None = None
    #: The profiles of the values, the most faithful one first.
    profiles: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """One of `TABLE_VERDICTS`; a test that was not possible gives no evidence."""
        level = self.coverage_p is not None and self.coverage_p > ALPHA
        if self.pattern_p is not None and self.pattern_p <= ALPHA:
            return "reproduced" if level else "pattern only"
        if self.coverage_p is None:
            return "too small to judge"
        return "level only" if level else "not reproduced"

    @property
    def expected(self) -> float:
        """The expected number of published values inside their intervals."""
        return round(LEVEL * self.judged, 1)

    def record(self) -> dict[str, Any]:
        """Return the verdict for JSON."""
        return {
            "metric": self.metric,
            "figures": self.n_values,
            "datasets": self.datasets,
            "inside": self.inside,
            "of": self.judged,
            "coverage_p": self.coverage_p,
            "pattern_p": self.pattern_p,
            "spearman": self.spearman,
            "verdict": self.verdict,
            "expected": self.expected,
        }


def joint_record(verdicts: Sequence[JointVerdict]) -> dict[str, Any]:
    """Return the verdict on the metric of a table with the most published values, and under
    `metrics` those on all metrics.
    """
    return main_verdict(verdicts).record() | {"metrics": [verdict.record() for verdict in verdicts]}


def main_verdict(verdicts: Sequence[JointVerdict]) -> JointVerdict:
    """Return the verdict on the metric of a table with the most published values; without any, it
    is `too small to judge`.
    """
    return max(verdicts, key=lambda verdict: verdict.n_values, default=JointVerdict())


def judge_table(compared: Iterable[ComparedValue], *key: str) -> list[JointVerdict]:
    """Return the verdicts on the metrics of a table, in the order of the table; `key` is the seed
    of the shuffles.
    """
    return [
        judge_metric(group, *key)
        for group in group_by(compared, lambda value: value.measure.metric).values()
    ]


def judge_metric(compared: Sequence[ComparedValue], *key: str) -> JointVerdict:
    """Return the verdict on one metric of a table from its compared values."""
    metric = compared[0].measure.metric
    judged = [value for value in compared if value.draws.runs >= FEWEST_RUNS]
    inside = sum(
        judge(value.draws, replace(value.printed, gap=None)).verdict == "reproduced"
        for value in judged
    )
    rows = rows_of(compared)
    datasets = len({value.dataset for value in compared})
    coverage_p = _coverage_p(judged, inside) if judged else None
    pattern_p = pattern_test([costs_of(row) for row in rows], *key, metric)
    spearman = mean_rank_correlation(map(means_and_prints, rows))
    profiles = tuple(
        name for name in reversed(PROFILES) if any(value.profile == name for value in compared)
    )
    return JointVerdict(
        metric=metric,
        n_values=len(compared),
        datasets=datasets,
        inside=inside,
        judged=len(judged),
        coverage_p=coverage_p,
        pattern_p=pattern_p,
        spearman=spearman,
        profiles=profiles,
    )


def _coverage_p(compared: Sequence[ComparedValue], inside: int) -> float | None:
    """Return the p-value of a binomial test with Kish's effective number of independent values."""
    from scipy.special import bdtr

    n = len(compared)
    sizes = Counter(value.dataset for value in compared).values()
    per_dataset = sum(size**2 for size in sizes) / n
    design_effect = 1 + (per_dataset - 1) * _correlation(compared)
    effective = max(1, round(n / design_effect))
    p = float(bdtr(round(inside * effective / n), effective, LEVEL))
    fewest = FEWEST_ALL_INSIDE if inside == n >= FEWEST_VALUES else FEWEST_VALUES
    return p if p <= ALPHA or effective >= fewest else None


def _correlation(compared: Sequence[ComparedValue]) -> float:
    """Return the correlation between models of one data set of lying inside the interval, from our
    own runs.
    """
    products = []
    squares = []
    for group in group_by(compared, lambda value: value.dataset).values():
        hits = [value.runs_inside for value in group]
        squares += [(hit - LEVEL) ** 2 for by_run in hits for hit in by_run.values()]
        for first, second in combinations(hits, 2):
            products += [
                (first[run] - LEVEL) * (second[run] - LEVEL) for run in first.keys() & second.keys()
            ]
    if not products:
        return 0.0
    covariance = math.fsum(products) / len(products)
    variance = math.fsum(squares) / len(squares)
    return min(1.0, max(0.0, covariance / variance))


def rows_of(compared: Sequence[ComparedValue]) -> list[list[ComparedValue]]:
    """Return the values in groups that the pattern compares: those of one data set and measure.

    If a data set has one model at several values of a hyperparameter, its group has these values.
    """
    models = {(value.dataset, value.model) for value in compared}
    n_models = Counter(dataset for dataset, _ in models)

    def row_of(value: ComparedValue) -> tuple[str, str]:
        has_several_models = n_models[value.dataset] > 1
        return value.dataset, value.measure.column if has_several_models else ""

    return list(group_by(compared, row_of).values())


def costs_of(row: Sequence[ComparedValue]) -> _Costs:
    """Return |published - ours| for each pair of models of a group of values."""
    ours, printed = means_and_prints(row)
    return np.abs(np.subtract.outer(printed, ours))


def pattern_test(costs: Sequence[_Costs], *key: str) -> float | None:
    """Return the p-value of the order of our models within the data sets; None if it cannot be .05
    or less.

    `costs` are those of each data set, `key` is the seed of the shuffles.
    `scipy.stats.permutation_test` has no strata: it would also shuffle between data sets.
    """
    costs = [matrix for matrix in costs if len(matrix) > 1]
    orders = math.prod(math.factorial(len(matrix)) for matrix in costs)
    if 1 / orders > ALPHA:
        return None
    sums = np.zeros(1)
    rng = generator("pattern", *key)
    for matrix in costs:
        models = np.arange(len(matrix))
        if orders <= SHUFFLES:
            all_orders = np.array(list(permutations(models)))
            sums = np.add.outer(sums, matrix[models, all_orders].sum(axis=1)).ravel()
        else:
            random_orders = rng.permuted(np.tile(models, (SHUFFLES, 1)), axis=1)
            sums = sums + matrix[models, random_orders].sum(axis=1)
    # The order itself is one of all permutations, but not of those that are drawn.
    extra = int(orders > SHUFFLES)
    observed = sum(float(np.trace(matrix)) for matrix in costs)
    # Equal sums may differ by round-off.
    as_near = np.sum(sums <= observed * (1 + 1e-9) + 1e-12)
    return float((as_near + extra) / (len(sums) + extra))


def self_test(compared: Sequence[ComparedValue], *key: str) -> dict[str, Any]:
    """Return the verdicts on our own runs and on wrong prints, for the values of one metric of a
    table.

    The result has the number of prints of each kind, and of those that are `reproduced`.
    `own_runs`: means of as many of our own runs as a published mean is over (at most half of them),
    judged by the other runs; about 19 in 20 should be reproduced if the models differ by more than
    they vary. `wrong_models`, `wrong_sets`: the print with the models of each data set, or the data
    sets of each model, rotated; none should be reproduced. `own_verdicts`: the number of prints of
    our own runs with each verdict.
    """

    def verdicts_on(samples: Iterable[list[ComparedValue]]) -> list[str]:
        return [judge_metric(sample, *key).verdict for sample in samples]

    own_runs = verdicts_on(prints_of_runs(compared))
    models = verdicts_on(_rotations(compared, lambda value: (value.dataset, value.measure)))
    sets = verdicts_on(_rotations(compared, lambda value: (value.model, value.measure)))
    return {
        "own_runs": len(own_runs),
        "own_reproduced": own_runs.count("reproduced"),
        "wrong_models": len(models),
        "wrong_reproduced": models.count("reproduced"),
        "wrong_sets": len(sets),
        "wrong_sets_reproduced": sets.count("reproduced"),
        "own_verdicts": {verdict: own_runs.count(verdict) for verdict in TABLE_VERDICTS},
    }


def prints_of_runs(compared: Sequence[ComparedValue]) -> Iterator[list[ComparedValue]]:
    """Yield the values with the mean of some of our runs in place of the print, compared with the
    other runs.
    """
    for first in range(max((len(value.runs) for value in compared), default=0)):
        prints = []
        for value in compared:
            total = len(value.runs)
            size = min(value.printed.mean_of, total // 2)
            if first < total and total - size >= FEWEST_RUNS:
                means = np.roll(value.means, -first)
                printed = Printed(float(means[:size].mean()), 0.0, size)
                draws = draws_of_means(means[size:], value.draws.least_half_width)
                runs = np.roll(value.runs, -first)[size:]
                prints.append(
                    replace(value, runs=runs, means=means[size:], draws=draws, printed=printed)
                )
        if prints:
            yield prints


def _rotations(
    compared: Sequence[ComparedValue], group_of: Callable[[ComparedValue], Hashable]
) -> Iterator[list[ComparedValue]]:
    """Yield the values with the printed values rotated within groups, by each possible shift."""
    # A group of one value has no wrong print.
    groups = [group for group in group_by(compared, group_of).values() if len(group) > 1]
    for shift in range(1, max(map(len, groups), default=1)):
        yield [
            replace(value, printed=group[(i + shift) % len(group)].printed)
            for group in groups
            if shift < len(group)
            for i, value in enumerate(group)
        ]

"""Distorted prints of a table, on which its verdict is tested (docs/trust.md).

A verdict that stays the same when two models are exchanged in print, or when all differences are
doubled, says nothing about them. Every distortion changes the published values alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import combinations

import numpy as np

from elmbench.judging.judged_rows import Row, rows_of
from elmbench.judging.measured_cells import ComparedValue
from elmbench.judging.table_measures import compare_pairs
from elmbench.judging.table_verdicts import (
    ALPHA,
    TableVerdict,
    judge_measures,
    judge_order,
)
from elmbench.judging.value_verdicts import FEWEST_RUNS, draws_of_means
from elmbench.metrics import less_is_better
from elmbench.numerics.seeds import generator

_MODELS_EXCHANGED = "two models exchanged"
_EXCHANGED_ONCE = "two models exchanged on one data set"
_DATASETS_EXCHANGED = "two data sets exchanged"
_RIVALS_LOWERED = "rivals lowered by two margins"
_DIFFERENCES_DOUBLED = "differences doubled"
_ALL_SHIFTED = "all shifted by two margins"
_NOISE = "one model replaced by noise"
#: The kinds of distortions, in the order in which they are reported.
KINDS = (
    _MODELS_EXCHANGED,
    _EXCHANGED_ONCE,
    _DATASETS_EXCHANGED,
    _RIVALS_LOWERED,
    _DIFFERENCES_DOUBLED,
    _ALL_SHIFTED,
    _NOISE,
)


@dataclass(frozen=True)
class Distortion:
    """A distorted print of a table: the kind of the distortion, and the distorted rows."""

    kind: str
    rows: list[Row]


def distorted_prints(metric: str, rows: Sequence[Row]) -> Iterator[Distortion]:
    """Yield the distorted prints of a table that a reader would object to, of each of `KINDS`.

    The kinds are two models exchanged (everywhere, or on one data set), two data sets exchanged,
    the rivals of the best model lowered, differences doubled, all values shifted (by two margins
    up, then down), and each model replaced by noise. Models are exchanged only if the print
    separates them by more than the margin on a data set, and data sets only if they have the same
    models and a median difference above the margin. `rows`: those of one metric, at least one.
    """
    for pair in compare_pairs(rows):
        exchanged = [_exchange_models(row, *pair.models) for row in rows]
        yield Distortion(_MODELS_EXCHANGED, exchanged)
    yield from _exchange_once(rows)
    yield from _exchange_datasets(rows)
    if any(len(row.models) > 1 for row in rows):
        yield from _change_differences(metric, rows)
    for margins in (2, -2):
        shifted = [_shift_print(row, margins) for row in rows]
        yield Distortion(_ALL_SHIFTED, shifted)
    models = dict.fromkeys(model for row in rows for model in row.models)
    for model in models:
        noisy = [_with_noise(row, model) for row in rows]
        yield Distortion(_NOISE, noisy)


def _change_differences(metric: str, rows: Sequence[Row]) -> Iterator[Distortion]:
    """Yield the print in which the rivals of the best model are worse by two margins.

    If the print separates any models, the print with doubled differences follows. `rows`: of the
    metric, at least one; a row keeps all but its published values and their margins.
    """
    best = _best_published(metric, rows)
    margins = 2 if less_is_better(metric) else -2
    lowered = [_with_shifted_rivals(row, best, margins) for row in rows]
    yield Distortion(_RIVALS_LOWERED, lowered)
    if any(row.clear_pairs for row in rows):
        doubled = [_with_doubled_differences(row) for row in rows]
        yield Distortion(_DIFFERENCES_DOUBLED, doubled)


def _shift_print(row: Row, margins: float) -> Row:
    """Return a row in which each published value is larger by `margins` times its own margin."""
    return row.with_published(row.published + margins * row.margins)


def _exchange_models(row: Row, first: str, second: str) -> Row:
    """Return a row in which two models have each other's published value.

    If the row lacks one of them, it is returned as it is.
    """
    if not {first, second} <= set(row.models):
        return row
    positions = [row.models.index(first), row.models.index(second)]
    published = row.published.copy()
    published[positions] = published[positions[::-1]]
    return row.with_published(published)


def _exchange_once(rows: Sequence[Row]) -> Iterator[Distortion]:
    """Yield a print for each two models and each data set whose print separates them.

    They are exchanged on this data set only.
    """
    for number, row in enumerate(rows):
        for i, j in row.clear_pairs:
            distorted = list(rows)
            distorted[number] = _exchange_models(row, row.models[i], row.models[j])
            yield Distortion(_EXCHANGED_ONCE, distorted)


def _exchange_datasets(rows: Sequence[Row]) -> Iterator[Distortion]:
    """Yield a print for each two data sets that have each other's published values.

    They must have the same models. `rows`: of one metric; each print has all of them, two changed.
    Data sets with a median difference within the margin are not exchanged.
    """
    for i, j in combinations(range(len(rows)), 2):
        first = rows[i]
        second = rows[j]
        if first.models != second.models:
            continue
        distances = np.abs(first.published - second.published)
        margin = max(np.max(first.margins), np.max(second.margins))
        # Readers would not object to an exchange of data sets with close values.
        if np.median(distances) <= margin:
            continue
        distorted = list(rows)
        distorted[i] = first.with_published(second.published)
        distorted[j] = second.with_published(first.published)
        yield Distortion(_DATASETS_EXCHANGED, distorted)


def _best_published(metric: str, rows: Sequence[Row]) -> str:
    """Return the model that has the best published value on the most data sets.

    Of equal models, the first one counts. `rows`: at least one.
    """
    find_best = np.argmin if less_is_better(metric) else np.argmax
    counts = Counter(row.models[int(find_best(row.published))] for row in rows)
    return counts.most_common(1)[0][0]


def _with_shifted_rivals(row: Row, best: str, margins: int) -> Row:
    """Return a row in which all models but the best have larger published values.

    Each is larger by `margins` times its own margin; a negative number makes it smaller.
    """
    is_rival = np.array([float(model != best) for model in row.models])
    shifts = margins * row.margins * is_rival
    return row.with_published(row.published + shifts)


def _with_doubled_differences(row: Row) -> Row:
    """Return a row in which each published value is twice as far from the mean of the row."""
    mean = row.published.mean()
    return row.with_published(2 * row.published - mean)


def _with_noise(row: Row, model: str) -> Row:
    """Return a row in which the published value of a model is moved up or down at random.

    The distance is 0.5 to 1 times the range of the row or two margins, whichever is larger. The
    seed is that of the data set and the model. If the row lacks the model, it is returned as it is.
    """
    if model not in row.models:
        return row
    i = row.models.index(model)
    spread = float(np.ptp(row.published))
    least_spread = 2 * float(row.margins[i])
    rng = generator("noise", row.dataset, model)
    sign = rng.choice((-1.0, 1.0))
    share = rng.uniform(0.5, 1)
    published = row.published.copy()
    published[i] += sign * share * max(spread, least_spread)
    return row.with_published(published)


@dataclass(frozen=True)
class NoticedDistortions:
    """The number of distortions of one kind, and how many of them the verdict notices."""

    kind: str
    n: int
    noticed: int


def count_noticed_distortions(
    metric: str, rows: Sequence[Row]
) -> list[NoticedDistortions]:
    """Return, for each kind of distortion that the table has, how many the verdict notices.

    The number of distorted prints of the kind is returned with it. A distorted print is noticed if
    its verdict differs from that on the print in more than numbers. `rows`: those of the metric, at
    least one.
    """
    original = judge_measures(metric, rows)
    n: Counter[str] = Counter()
    noticed: Counter[str] = Counter()
    for distortion in distorted_prints(metric, rows):
        n[distortion.kind] += 1
        noticed[distortion.kind] += _is_noticed(distortion, metric, original)
    return [
        NoticedDistortions(kind, n=n[kind], noticed=noticed[kind])
        for kind in KINDS
        if n[kind]
    ]


def _is_noticed(distortion: Distortion, metric: str, original: TableVerdict) -> bool:
    """Return True if the verdict on a distorted print differs from the original one.

    Their states and exceptions count, not their numbers. `original`: the verdict on the print as it
    is. For models exchanged on one data set, only the order is judged unless it does not hold.
    """
    if distortion.kind == _EXCHANGED_ONCE:
        # A table has hundreds of these, and the order is the cheapest measure.
        order = judge_order(distortion.rows)
        if order.state != "does not hold":
            return order != original.order_verdict
    verdict = judge_measures(metric, distortion.rows)
    return states_and_exceptions(verdict) != states_and_exceptions(original)


def states_and_exceptions(verdict: TableVerdict) -> tuple[object, ...]:
    """Return the states of a verdict and of its measures, with their exceptions.

    Two verdicts with equal results differ in numbers only. The first item is the state; each other
    one is (state, exceptions, name of the model or data set that it rests on).
    """
    return (
        verdict.state,
        *(
            (measure.state, measure.exceptions, measure.rests_on)
            for measure in verdict.measures.values()
        ),
    )


def count_accepted_own_runs(
    metric: str, compared: Sequence[ComparedValue]
) -> tuple[int, int]:
    """Return how many of the prints made of our own runs are accepted, and how many there are.

    A print is accepted if its verdict is not `does not hold` and no strict test rejects it.
    `compared`: the compared values of the metric.
    """
    accepted = 0
    n = 0
    for values in prints_of_runs(compared):
        verdict = judge_measures(metric, rows_of(values))
        is_rejected = any(test.p <= ALPHA for test in verdict.strict)
        accepted += not is_rejected and verdict.state != "does not hold"
        n += 1
    return accepted, n


def prints_of_runs(compared: Sequence[ComparedValue]) -> Iterator[list[ComparedValue]]:
    """Yield the compared values with the mean of some of our runs in place of the published value.

    There is one print beginning at each run; its values are compared with the other runs. It is a
    mean of as many runs as the published value, but at most of half of them. Values with too few
    other runs are left out, and prints without any value.
    """
    for first in range(max((len(value.runs) for value in compared), default=0)):
        prints = []
        for value in compared:
            total = len(value.runs)
            size = min(value.tolerance.mean_of, total // 2)
            if first < total and total - size >= FEWEST_RUNS:
                means = np.roll(value.means, -first)
                mean = Decimal(float(means[:size].mean()))
                published = replace(value.published, value=mean)
                tolerance = replace(value.tolerance, rounding=0.0, mean_of=size)
                draws = draws_of_means(means[size:], value.draws.least_half_width)
                runs = np.roll(value.runs, -first)[size:]
                order = np.argsort(runs)
                prints.append(
                    replace(
                        value,
                        runs=runs[order],
                        means=means[size:][order],
                        draws=draws,
                        published=published,
                        tolerance=tolerance,
                    )
                )
        if prints:
            yield prints

"""Deviations that no values of a metric have, and those that no whole numbers of rows have
(GRIMMER).
"""

import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction

from elmbench.judging.print_checks.granularity import SHARES_OF_ROWS
from elmbench.judging.print_checks.printed_table import (
    Finding,
    PrintedTable,
    number_text,
)
from elmbench.judging.print_checks.rounding import ROUNDINGS, NumberRange, interval_of
from elmbench.metrics import unit_of
from elmbench.specs.measures import is_quality
from elmbench.specs.published import PublishedValue

#: Means with more possible sums than this are not enumerated.
_MOST_SUMS = 10_000


def check_deviations(
    table: PrintedTable, paper: Sequence[PrintedTable]
) -> Iterator[Finding]:
    """Yield the deviations that are impossible beside their means. `paper` is not used."""
    for value in table.numbers:
        if value.value is None or value.std is None or not is_quality(value.metric):
            continue
        reason = _why_impossible(table, value)
        if reason:
            yield table.finding_on(
                value,
                "deviations",
                f"the mean {value.text} cannot have the deviation "
                f"{_deviation_text(value)}: {reason}",
            )


def _deviation_text(value: PublishedValue) -> str:
    """Return the printed deviation of a value in the unit of its printed mean, such as `1.2`.

    `value`: with a number and a deviation.
    """
    assert value.std is not None
    return f"{value.std * 100:f}" if _is_percent(value) else f"{value.std:f}"


def _is_percent(value: PublishedValue) -> bool:
    """Return True if a value is printed as a percentage.

    Its share has two more decimals, also if it is 0. `value`: with a printed number, not a power.
    """
    assert value.value is not None
    printed = Decimal(value.text)
    return value.value.as_tuple().exponent != printed.as_tuple().exponent


def _why_impossible(table: PrintedTable, value: PublishedValue) -> str:
    """Return, as text, why the printed deviation of a value is impossible.

    A negative one always is. The text is empty if the deviation is possible, or if this cannot be
    decided because the number of values behind it is not known, or 1. `value`: with a number and a
    deviation.
    """
    assert value.std is not None
    assert value.value is not None
    if value.std < 0:
        return "it is negative"
    counts = sorted(_possible_numbers_of_values(table, value.dataset))
    if not counts:
        return ""
    means = [interval_of(value.value, rounding) for rounding in ROUNDINGS]
    deviations = [interval_of(value.std, rounding) for rounding in ROUNDINGS]
    smallest = min(deviation.low for deviation in deviations)
    reason = _why_impossible_by_range(value, means, counts, smallest)
    if reason:
        return reason
    sizes = _possible_rows_of_value(table, value)
    pairs = list(zip(means, deviations, strict=True))
    return _why_impossible_by_rows(pairs, sizes, counts)


def _why_impossible_by_range(
    value: PublishedValue,
    means: Sequence[NumberRange],
    counts: Sequence[int],
    smallest: Fraction,
) -> str:
    """Return, as text, why values in the range of a metric cannot deviate as much as printed.

    The text is empty if they can, or if the range is infinite. `value`: the printed one. `means`:
    what its mean may stand for. `counts`: the possible numbers of values behind it, each at least
    2. `smallest`: the smallest number that its deviation may stand for.
    """
    unit = unit_of(value.metric)
    if not (math.isfinite(unit.least) and math.isfinite(unit.greatest)):
        return ""
    least = Fraction(unit.least)
    greatest = Fraction(unit.greatest)
    largest = max(
        largest_deviation(mean, least, greatest, n) for mean in means for n in counts
    )
    if smallest <= largest + 1e-12:
        return ""
    factor = 100 if _is_percent(value) else 1
    low = factor * unit.least
    high = factor * unit.greatest
    at_most = number_text(factor * largest)
    return f"values from {low:g} to {high:g} have {at_most} at most"


def _why_impossible_by_rows(
    pairs: Sequence[tuple[NumberRange, NumberRange]],
    sizes: Sequence[int],
    counts: Sequence[int],
) -> str:
    """Return, as text, why no shares of rows have the mean and the deviation.

    The text is empty if some have, or if the numbers of rows are not known. `pairs`: what the
    printed mean and deviation may stand for. `sizes`: the possible numbers of rows; empty if they
    are not known. `counts`: the possible numbers of values, each at least 2.
    """
    are_possible = any(
        may_have_deviation(mean, deviation, rows, n)
        for mean, deviation in pairs
        for rows in sizes
        for n in counts
    )
    if are_possible or not sizes:
        return ""
    rows_text = " or ".join(f"{rows:,}" for rows in sizes)
    counts_text = " or ".join(map(str, counts))
    return f"no {counts_text} shares of {rows_text} rows have both"


def _possible_numbers_of_values(table: PrintedTable, dataset: str) -> set[int]:
    """Return the possible numbers of values that a printed deviation is of, each at least 2.

    They are runs or all folds of the runs; a single value has no deviation, so that the set may be
    empty. `dataset`: as the paper spells it.
    """
    parts = table.parts_of(dataset)
    factor = parts.folds if table.std == "of-folds" else 1
    return {runs * factor for runs in parts.runs if runs * factor > 1}


def _possible_rows_of_value(table: PrintedTable, value: PublishedValue) -> list[int]:
    """Return, sorted, the possible numbers of rows behind each single value of a printed mean.

    A single value is that of a fold if the table's deviations are of folds, else that of a run. The
    list is empty if the folds may differ in size, if the rows are not known, or if the metric is no
    share of rows. `value`: the printed mean.
    """
    if value.metric not in SHARES_OF_ROWS:
        return []
    parts = table.parts_of(value.dataset)
    have_equal_sizes = all(rows % parts.folds == 0 for rows in parts.tested)
    if not parts.known_folds or not have_equal_sizes:
        return []
    # A value is the share of one fold, or of a whole run.
    divisor = parts.folds if table.std == "of-folds" else 1
    return sorted(rows // divisor for rows in parts.tested)


def largest_deviation(
    mean: NumberRange, least: Fraction, greatest: Fraction, n: int
) -> float:
    """Return the largest sample deviation of n values from `least` to `greatest` with such a mean.

    All values lie at the ends of the range: Bhatia and Davis, A better bound on the variance.
    `mean`: the numbers that the mean may be; the result is 0 if all are outside of the range. `n`:
    at least 2.
    """
    middle = (least + greatest) / 2
    # The mean with the largest deviation is the possible one that is nearest to the middle.
    nearest = _clipped(middle, mean.low, mean.high)
    nearest = _clipped(nearest, least, greatest)
    population_variance = (nearest - least) * (greatest - nearest)
    variance = population_variance * Fraction(n, n - 1)
    return math.sqrt(variance)


def _clipped(number: Fraction, low: Fraction, high: Fraction) -> Fraction:
    """Return the number of a range, from `low` to `high`, that is nearest to `number`."""
    return min(max(number, low), high)


def may_have_deviation(
    mean: NumberRange, deviation: NumberRange, rows: int, n: int
) -> bool:
    """Return True if n shares, each a whole number out of `rows` rows, may have such a deviation.

    `mean`, `deviation`: the ranges of their mean and of their sample or population deviation, as
    shares from 0 to 1. `n`: at least 2. False is certain, True is not: only the size and the parity
    of the sum of squares are checked, and it is also True if there are too many possible sums to
    try all.
    """
    sums = mean.multiples(Fraction(1, rows * n))
    if len(sums) > _MOST_SUMS:
        return True
    for total in sums:
        if not 0 <= total <= rows * n:
            continue
        least = _least_sum_of_squares(total, n)
        greatest = _greatest_sum_of_squares(total, rows)
        for divisor in (n, n - 1):
            candidates = _sums_of_squares(
                deviation, divisor * rows**2, Fraction(total**2, n)
            )
            first = max(candidates.start, least)
            first += (first - total) % 2
            if first < min(candidates.stop, greatest + 1):
                return True
    return False


def _least_sum_of_squares(total: int, n: int) -> int:
    """Return the least sum of squares of n whole numbers with the sum `total`.

    `total`: 0 or more.
    """
    quotient, rest = divmod(total, n)
    return (n - rest) * quotient**2 + rest * (quotient + 1) ** 2


def _greatest_sum_of_squares(total: int, rows: int) -> int:
    """Return the greatest sum of squares of whole numbers from 0 to `rows` with the sum `total`.

    There may be as many numbers as it takes. `total`: 0 or more.
    """
    n_full, rest = divmod(total, rows)
    return n_full * rows**2 + rest**2


def _sums_of_squares(
    deviation: NumberRange, scale: int, part_of_mean: Fraction
) -> range:
    """Return the whole numbers S that can be a sum of squares of numbers with such a deviation.

    For a deviation d of the range, d² `scale` = S - `part_of_mean`; a negative lower end counts as
    0. `scale`: the divisor of the variance, times the square of the unit of the numbers.
    `part_of_mean`: the square of the sum of the numbers, divided by how many they are.
    """
    low = max(deviation.low, Fraction(0)) ** 2 * scale + part_of_mean
    high = deviation.high**2 * scale + part_of_mean
    return NumberRange(low, high).multiples(Fraction(1))

"""Confusion counts of the same test rows, and the metrics that follow from them."""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np

from elmbench.judging.print_checks.printed_table import (
    Finding,
    Numbers,
    Parts,
    PrintedTable,
    number_text,
)
from elmbench.judging.print_checks.rounding import (
    NOT_ROUNDED,
    ROUNDINGS,
    NumberRange,
    Rounding,
    interval_of,
    may_be_in,
)
from elmbench.numerics.arrays import Array

COUNTS = ("tn", "fp", "fn", "tp")
#: Rows of one class, by the actual class.
CLASSES = {"positive": ("tp", "fn"), "negative": ("tn", "fp")}
#: The metrics that the share of a class follows from.
_OF_SHARES = ("accuracy", "precision", "recall")
#: Values of each count within its rounding.
_STEPS = 13
#: Bound of the difference between the metric of mean counts and the mean of the metric, as a
#: multiple of errors over squared rows of the smaller class: a few times that of random errors.
_CURVATURE = 4.0
#: Classes with fewer rows a fold are not compared with metrics.
_FEWEST_ROWS = 10
#: Standard deviations that the share of a class in a random test part may be off.
_DEVIATIONS = 6.0
_ROUND_OFF = 1e-12

Metric = Callable[[Array, Array, Array, Array], Array]


def _mcc(tn: Array, fp: Array, fn: Array, tp: Array) -> Array:
    product = np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return (tp * tn - fp * fn) / np.maximum(product, 1e-300)


def _accuracy(tn: Array, fp: Array, fn: Array, tp: Array) -> Array:
    return (tp + tn) / (tp + tn + fp + fn)


def _precision(tn: Array, fp: Array, fn: Array, tp: Array) -> Array:
    return tp / np.maximum(tp + fp, 1e-300)


def _recall(tn: Array, fp: Array, fn: Array, tp: Array) -> Array:
    return tp / np.maximum(tp + fn, 1e-300)


def _f1(tn: Array, fp: Array, fn: Array, tp: Array) -> Array:
    return 2 * tp / np.maximum(2 * tp + fp + fn, 1e-300)


#: The metrics of two classes that follow from their counts.
OF_COUNTS: dict[str, Metric] = {
    "mcc": _mcc,
    "accuracy": _accuracy,
    "precision": _precision,
    "recall": _recall,
    "f1": _f1,
}


def check_class_counts(
    table: PrintedTable, paper: Sequence[PrintedTable]
) -> Iterator[Finding]:
    """Yield the contradictions of confusion counts and of the metrics of two classes."""
    for dataset, models in table.by_dataset.items():
        # Counts are of rows: their sums are not known if the rows are not.
        if table.name_of(dataset) not in table.unknown_rows:
            yield from _check_classes(table, dataset, models)
            yield from _check_totals(table, dataset, models)
            yield from _check_metrics(table, dataset, models, paper)
        yield from _check_f1(table, dataset, models)
        yield from _check_class_shares(table, dataset, models)


def _roundings_of_counts(parts: Parts) -> tuple[Rounding, ...]:
    """Return the ways in which printed counts are rounded: those of one test part are whole."""
    return NOT_ROUNDED if parts.is_one_part else ROUNDINGS


def _sum(
    numbers: Mapping[str, Decimal], names: Sequence[str], rounding: Rounding
) -> NumberRange:
    """Return the possible sums of printed counts."""
    parts = [interval_of(numbers[name], rounding) for name in names]
    low = sum((max(part.low, Fraction(0)) for part in parts), Fraction(0))
    high = sum((part.high for part in parts), Fraction(0))
    return NumberRange(low, high)


def _check_classes(
    table: PrintedTable, dataset: str, models: Mapping[str, Numbers]
) -> Iterator[Finding]:
    """Yield the classes that have different numbers of rows for two models."""
    roundings = _roundings_of_counts(table.parts_of(dataset))
    for name, pair in CLASSES.items():
        counted = {
            model: numbers for model, numbers in models.items() if _has(pair, numbers)
        }
        if any(
            _may_be_equal(pair, counted.values(), rounding) for rounding in roundings
        ):
            continue
        totals = ", ".join(
            f"{model} {sum(numbers[part] for part in pair)}"
            for model, numbers in counted.items()
        )
        says = f"the {name} rows differ between models on the same test rows: {totals}"
        exchanged = _exchanged_axes(models, roundings[0])
        yield table.finding(
            "counts", f"{says}{exchanged}", dataset=dataset, metric=" + ".join(pair)
        )


def _has(names: Iterable[str], numbers: Numbers) -> bool:
    """Return True if all of some metrics are printed."""
    return all(name in numbers for name in names)


def _may_be_equal(
    names: Sequence[str], models: Iterable[Numbers], rounding: Rounding
) -> bool:
    """Return True if each two models may have the same sum of some counts."""
    sums = [_sum(numbers, names, rounding) for numbers in models]
    return all(one.meets(other) for one, other in itertools.combinations(sums, 2))


def _exchanged_axes(models: Mapping[str, Numbers], rounding: Rounding) -> str:
    """Return a remark if both classes have the same rows for all models after the two axes are
    exchanged; else empty.
    """
    complete = [numbers for numbers in models.values() if _has(COUNTS, numbers)]
    exchanged = [_with_exchanged_axes(numbers) for numbers in complete]
    agree = len(complete) > 1 and _may_have_equal_classes(exchanged, rounding)
    return "; they agree if the two axes are exchanged" if agree else ""


def _may_have_equal_classes(models: Sequence[Numbers], rounding: Rounding) -> bool:
    return all(_may_be_equal(pair, models, rounding) for pair in CLASSES.values())


def _with_exchanged_axes(numbers: Numbers) -> Numbers:
    return {**numbers, "fp": numbers["fn"], "fn": numbers["fp"]}


def _possible_totals(parts: Parts) -> list[Fraction]:
    """Return the numbers of rows that the counts of a confusion matrix may add up to."""
    totals: set[Fraction] = set()
    for rows in parts.tested:
        # The counts are those of a run, the mean of its folds, or the sum of all runs.
        totals.add(Fraction(rows))
        totals.add(Fraction(rows, parts.folds))
        totals.update(Fraction(rows * runs) for runs in parts.runs)
    return sorted(totals)


def _check_totals(
    table: PrintedTable, dataset: str, models: Mapping[str, Numbers]
) -> Iterator[Finding]:
    """Yield the confusion matrices that do not add up to the test rows."""
    parts = table.parts_of(dataset)
    totals = _possible_totals(parts)
    roundings = _roundings_of_counts(parts)
    if not totals:
        return
    expected = ", ".join(number_text(float(total)) for total in totals)
    for model, numbers in models.items():
        if not _has(COUNTS, numbers):
            continue
        if _may_add_up(numbers, totals, roundings):
            continue
        total = sum(numbers[name] for name in COUNTS)
        says = f"the counts add up to {total}, the test rows to {expected}"
        yield table.finding("counts", says, dataset=dataset, model=model)


def _may_add_up(
    numbers: Numbers, totals: Sequence[Fraction], roundings: Iterable[Rounding]
) -> bool:
    """Return True if counts may add up to one of some numbers of rows."""
    sums = [_sum(numbers, COUNTS, rounding) for rounding in roundings]
    return any(one.holds(total) for one in sums for total in totals)


def _check_metrics(
    table: PrintedTable,
    dataset: str,
    models: Mapping[str, Numbers],
    paper: Sequence[PrintedTable],
) -> Iterator[Finding]:
    """Yield the metrics, here or in another table, that do not follow from the counts."""
    parts = table.parts_of(dataset)
    for model, numbers in models.items():
        if not _has(COUNTS, numbers):
            continue
        for other in paper:
            printed = _same_cell(table, other, dataset, model)
            metrics = [metric for metric in OF_COUNTS if metric in printed]
            for metric in metrics:
                number = printed[metric]
                possible = _possible_ranges(metric, numbers, parts)
                if not possible or may_be_in(number, possible):
                    continue
                low, high = _widest(possible)
                value = f"the {metric} of the counts is {low:.3f} to {high:.3f}"
                says = f"{value}; {other.label} prints {number}"
                yield table.finding(
                    "counts", says, dataset=dataset, model=model, metric=metric
                )


def _possible_ranges(
    metric: str, numbers: Numbers, parts: Parts
) -> list[tuple[float, float]]:
    """Return the range of a metric for each rounding of the counts, `numbers`, that allows one."""
    ranges = [
        _range(metric, numbers, parts, rounding)
        for rounding in _roundings_of_counts(parts)
    ]
    return [one for one in ranges if one is not None]


def _widest(bounds: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """Return the smallest lower bound and the largest upper one."""
    lows, highs = zip(*bounds, strict=True)
    return min(lows), max(highs)


def _same_cell(
    table: PrintedTable, other: PrintedTable, dataset: str, model: str
) -> Mapping[str, Decimal]:
    """Return the numbers that a table prints for what another one measures."""
    measured = table.measurement_of(dataset, model)
    for (other_dataset, other_model), numbers in other.by_cell.items():
        is_same_dataset = table.name_of(dataset) == other.name_of(other_dataset)
        if other is table:
            is_same = (other_dataset, other_model) == (dataset, model)
        else:
            is_same = is_same_dataset and measured is not None
            is_same = (
                is_same and other.measurement_of(other_dataset, other_model) == measured
            )
        if is_same:
            return numbers
    return {}


def _range(
    metric: str, numbers: Numbers, parts: Parts, rounding: Rounding
) -> tuple[float, float] | None:
    """Return the smallest and the largest value of a metric for counts within their rounding that
    add up to the test rows, if these are known; None if there are no such counts, or if a class is
    too small.
    """
    totals = _possible_totals(parts)
    tn, fp, fn, tp = _possible_counts(numbers, totals, rounding)
    if not len(tn):
        return None
    values = OF_COUNTS[metric](tn, fp, fn, tp)
    if parts.is_one_part:
        return float(values.min()) - _ROUND_OFF, float(values.max()) + _ROUND_OFF
    rows_of_smaller = np.minimum(tp + fn, tn + fp)
    fewest = float(rows_of_smaller.min())
    if fewest < _FEWEST_ROWS:
        return None
    most_errors = float((fp + fn).max())
    # The metric of mean counts differs from the mean of the metric.
    slack = _CURVATURE * most_errors / fewest**2
    low = float(values.min()) - slack
    high = float(values.max()) + slack
    return low, high


def _possible_counts(
    numbers: Numbers, totals: Sequence[Fraction], rounding: Rounding
) -> list[Array]:
    """Return combinations of the counts within their rounding: an array for each of `COUNTS`."""
    axes = []
    for name in COUNTS:
        interval = interval_of(numbers[name], rounding)
        low = max(float(interval.low), 0.0)
        high = float(interval.high)
        axes.append(np.linspace(low, high, _STEPS))
    grids = np.meshgrid(*axes, indexing="ij")
    counts = [grid.ravel() for grid in grids]
    if not totals:
        return counts
    # The first count follows from the others; each total gives its own.
    parts = [_with_total(float(total), counts, axes[0]) for total in totals]
    return list(np.concatenate(parts, axis=1))


def _with_total(total: float, counts: Sequence[Array], axis: Array) -> list[Array]:
    """Return the combinations of counts in which the first one, within the ends of its axis,
    completes the total.
    """
    _, fp, fn, tp = counts
    tn = total - fp - fn - tp
    fits = (axis[0] <= tn) & (tn <= axis[-1])
    return [count[fits] for count in (tn, fp, fn, tp)]


def _check_f1(
    table: PrintedTable, dataset: str, models: Mapping[str, Numbers]
) -> Iterator[Finding]:
    """Yield the means of F1 that do not fit those of precision and recall."""
    is_mean = not table.parts_of(dataset).is_one_part
    for model, numbers in models.items():
        if not _has(("precision", "recall", "f1"), numbers):
            continue
        bounds = [
            _bounds_of_f1(numbers, rounding, is_mean=is_mean) for rounding in ROUNDINGS
        ]
        if _f1_is_possible(numbers["f1"], bounds):
            continue
        yield table.finding(
            "counts",
            _f1_text(numbers, bounds),
            dataset=dataset,
            model=model,
            metric="f1",
        )


def _f1_text(numbers: Numbers, bounds: Sequence[tuple[float, float]]) -> str:
    """Return how F1 contradicts its bounds by precision and recall."""
    low, high = _widest(bounds)
    return (
        f"the printed precision {numbers['precision']} and recall {numbers['recall']} "
        f"allow {max(low, 0.0):.4f} to {high:.4f}; {numbers['f1']} is printed"
    )


def _f1_is_possible(f1: Decimal, bounds: Sequence[tuple[float, float]]) -> bool:
    """Return True if F1 lies in its bounds for one rounding, except for round-off."""
    return any(
        low - _ROUND_OFF <= possible.high and possible.low <= high + _ROUND_OFF
        for (low, high), possible in zip(
            bounds, (interval_of(f1, rounding) for rounding in ROUNDINGS), strict=True
        )
    )


def _bounds_of_f1(
    numbers: Numbers, rounding: Rounding, *, is_mean: bool
) -> tuple[float, float]:
    """Return the bounds of F1, or of its mean, by precision and recall, or their means.

    F1 is their harmonic mean, a concave function: its mean is at most that of the means, and at
    least their sum less 1.
    """
    precision = _possible_share(numbers["precision"], rounding)
    recall = _possible_share(numbers["recall"], rounding)
    high = harmonic_mean(float(precision.high), float(recall.high))
    if is_mean:
        low = float(precision.low + recall.low - 1)
    else:
        low = harmonic_mean(float(precision.low), float(recall.low))
    return low, high


def _possible_share(number: Decimal, rounding: Rounding) -> NumberRange:
    """Return the shares that a printed one may stand for."""
    return interval_of(number, rounding).clipped(Fraction(0), Fraction(1))


def harmonic_mean(one: float, other: float) -> float:
    """Return the harmonic mean of two numbers; 0 if both are 0."""
    return 2 * one * other / (one + other) if one + other > 0 else 0.0


def _check_class_shares(
    table: PrintedTable, dataset: str, models: Mapping[str, Numbers]
) -> Iterator[Finding]:
    """Yield the data sets whose share of positive rows, as it follows from accuracy, precision and
    recall, differs between models.
    """
    parts = table.parts_of(dataset)
    if not parts.tested:
        return
    lows = {}
    highs = {}
    for model, numbers in models.items():
        if _has(_OF_SHARES, numbers):
            lows[model], highs[model] = share_of_positives(numbers, parts)
    if not lows:
        return
    largest = max(lows, key=lambda model: lows[model])
    smallest = min(highs, key=lambda model: highs[model])
    if lows[largest] > highs[smallest]:
        says = (
            f"by the printed accuracy, precision and recall, the share of positive rows is at "
            f"least {lows[largest]:.3f} for {largest} and at most {highs[smallest]:.3f} for "
            f"{smallest}"
        )
        yield table.finding(
            "counts", says, dataset=dataset, metric=", ".join(_OF_SHARES)
        )


def share_of_positives(numbers: Numbers, parts: Parts) -> tuple[float, float]:
    """Return the least and the largest share of positive rows that gives the printed means.

    The bounds hold for the means over all parts, however their precisions and recalls differ. The
    share of a random part differs from that of all rows, and models may have different parts.
    """
    if parts.is_one_part:
        return _widest(_bounds_on_one_part(numbers, rounding) for rounding in ROUNDINGS)
    n_values = max(parts.runs) * parts.folds
    low, high = _widest(
        _bounds_of_share(numbers, n_values, rounding) for rounding in ROUNDINGS
    )
    rows = min(parts.tested) / parts.folds
    return _least_of_all_rows(low, rows), _largest_of_all_rows(high, rows)


def _least_of_all_rows(share: float, rows: float) -> float:
    """Return the least share of a class in all rows, from that in a random part."""
    return share / (1 + _largest_deviation(share, rows))


def _largest_of_all_rows(share: float, rows: float) -> float:
    """Return the largest share of a class in all rows, from that in a random part."""
    off = _largest_deviation(share, rows)
    return min(share / (1 - off), 1.0) if off < 1 else 1.0


def _bounds_of_share(
    numbers: Numbers, n_values: int, rounding: Rounding
) -> tuple[float, float]:
    """Return the bounds of the mean share of positive rows over `n_values` test parts.

    The errors of a test part are its positive rows times 1 - r + r (1/p - 1), by its precision p
    and recall r.
    """
    accuracy, precision, recall = _possible_shares(numbers, rounding)
    fewest_errors = float(1 - accuracy.high)
    most_errors = float(1 - accuracy.low)
    least_factor = max(1 - float(recall.high), 1 - float(precision.high))
    high = _ratio(most_errors, least_factor)
    # No part has a smaller precision, because the others have at most 1.
    most_wrong = 1 - float(precision.low)
    least_precision = 1 - n_values * most_wrong
    if least_precision <= 0:
        return 0.0, high
    largest_factor = 1 - float(recall.low) + most_wrong / least_precision
    low = _ratio(fewest_errors, largest_factor)
    return low, high


def _possible_shares(numbers: Numbers, rounding: Rounding) -> list[NumberRange]:
    """Return the possible values of `_OF_SHARES`."""
    return [_possible_share(numbers[name], rounding) for name in _OF_SHARES]


def _bounds_on_one_part(numbers: Numbers, rounding: Rounding) -> tuple[float, float]:
    """Return the bounds of the share of positive rows of one test part.

    See `_bounds_of_share` for its errors; their factor is monotonic in the precision and in the
    recall.
    """
    accuracy, precision, recall = _possible_shares(numbers, rounding)
    fewest_errors = float(1 - accuracy.high)
    most_errors = float(1 - accuracy.low)
    factors = []
    for p, r in itertools.product(precision, recall):
        factor = _errors_of_a_positive_row(float(p), float(r))
        factors.append(factor)
    low = _ratio(fewest_errors, max(factors))
    high = _ratio(most_errors, min(factors))
    return low, high


def _errors_of_a_positive_row(precision: float, recall: float) -> float:
    """Return the errors of a test part as a multiple of its positive rows."""
    if precision == 0:
        return math.inf
    return 1 - recall + recall * (1 / precision - 1)


def _ratio(errors: float, factor: float) -> float:
    """Return errors over a factor, a share."""
    return min(errors / factor, 1.0) if factor > 0 else 1.0


def _largest_deviation(share: float, rows: float) -> float:
    """Return how far the share of a class in a random part may be from that of all rows, as a
    part of it.
    """
    if not 0 < share < 1:
        return 0.0
    return _DEVIATIONS * math.sqrt((1 - share) / (share * rows))

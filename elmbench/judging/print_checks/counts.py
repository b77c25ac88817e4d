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
    """Return Matthews' correlation coefficient of counts, element by element; 0 if undefined.

    The counts are arrays of one shape: true and false negatives and positives.
    """
    product = np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return (tp * tn - fp * fn) / np.maximum(product, 1e-300)


def _accuracy(tn: Array, fp: Array, fn: Array, tp: Array) -> Array:
    """Return the share of right predictions of counts, element by element; not all may be 0."""
    return (tp + tn) / (tp + tn + fp + fn)


def _precision(tn: Array, fp: Array, fn: Array, tp: Array) -> Array:
    """Return the share of true ones among positive predictions, element by element.

    It is 0 without a positive prediction.
    """
    return tp / np.maximum(tp + fp, 1e-300)


def _recall(tn: Array, fp: Array, fn: Array, tp: Array) -> Array:
    """Return the share of found ones among positive rows, element by element; 0 without any."""
    return tp / np.maximum(tp + fn, 1e-300)


def _f1(tn: Array, fp: Array, fn: Array, tp: Array) -> Array:
    """Return the F1 of the positive class, element by element; 0 if it is undefined."""
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
    """Yield the contradictions of confusion counts and of the metrics of two classes.

    `paper`: all tables of the paper, in which metrics of the same measurement are looked up.
    """
    for dataset, models in table.by_dataset.items():
        # Counts are of rows: their sums are not known if the rows are not.
        if table.name_of(dataset) not in table.unknown_rows:
            yield from _check_classes(table, dataset, models)
            yield from _check_totals(table, dataset, models)
            yield from _check_metrics(table, dataset, models, paper)
        yield from _check_f1(table, dataset, models)
        yield from _check_class_shares(table, dataset, models)


def _roundings_of_counts(parts: Parts) -> tuple[Rounding, ...]:
    """Return the ways in which printed counts may be rounded: "nearest", "cut", or "not" at all.

    Counts of a single test part are whole; others are means. `parts`: what a value is measured on.
    """
    return NOT_ROUNDED if parts.is_one_part else ROUNDINGS


def _range_of_sum(
    numbers: Mapping[str, Decimal], names: Sequence[str], rounding: Rounding
) -> NumberRange:
    """Return the possible sums of some printed counts.

    `numbers`: {metric: number}. `names`: the metrics to add, such as tp and fn. `rounding`: how
    each count was shortened: "nearest", "cut", or "not" at all.
    """
    parts = [interval_of(numbers[name], rounding) for name in names]
    low = sum((max(part.low, Fraction(0)) for part in parts), Fraction(0))
    high = sum((part.high for part in parts), Fraction(0))
    return NumberRange(low, high)


def _check_classes(
    table: PrintedTable, dataset: str, models: Mapping[str, Numbers]
) -> Iterator[Finding]:
    """Yield a finding for each class whose number of rows differs between models of a data set.

    A class is checked on the models that have both of its counts; there is no finding if they may
    be equal before rounding. The finding remarks if exchanged axes would explain the difference.
    `dataset`: as the paper spells it. `models`: their printed numbers on it, {model: {metric:
    number}}.
    """
    roundings = _roundings_of_counts(table.parts_of(dataset))
    for name, pair in CLASSES.items():
        counted = {
            model: numbers
            for model, numbers in models.items()
            if _has_all(pair, numbers)
        }
        if any(
            _may_have_equal_sums(pair, counted.values(), rounding)
            for rounding in roundings
        ):
            continue
        totals = ", ".join(
            f"{model} {sum(numbers[part] for part in pair)}"
            for model, numbers in counted.items()
        )
        says = f"the {name} rows differ between models on the same test rows: {totals}"
        exchanged = _remark_on_axes(models, roundings[0])
        yield table.finding(
            "counts", f"{says}{exchanged}", dataset=dataset, metric=" + ".join(pair)
        )


def _has_all(names: Iterable[str], numbers: Numbers) -> bool:
    """Return True if all metrics of `names` are printed.

    `numbers`: the printed ones of a model on a data set, {metric: number}.
    """
    return all(name in numbers for name in names)


def _may_have_equal_sums(
    names: Sequence[str], models: Iterable[Numbers], rounding: Rounding
) -> bool:
    """Return True if each two models may have the same sum of some counts.

    It is also True for fewer than two models. `names`: the counts, such as tp and fn. `models`: the
    printed numbers of each, {metric: number}. `rounding`: how each count was shortened: "nearest",
    "cut", or "not" at all.
    """
    sums = [_range_of_sum(numbers, names, rounding) for numbers in models]
    return all(one.meets(other) for one, other in itertools.combinations(sums, 2))


def _remark_on_axes(models: Mapping[str, Numbers], rounding: Rounding) -> str:
    """Return a remark, as text, if exchanged axes of the confusion matrix explain a finding.

    It is empty unless, after the exchange of fp and fn, both classes may have the same rows for all
    models. Two models or more must have all four counts. `models`: their printed numbers, {model:
    {metric: number}}. `rounding`: how each count was shortened: "nearest", "cut", or "not" at all.
    """
    complete = [numbers for numbers in models.values() if _has_all(COUNTS, numbers)]
    exchanged = [_with_exchanged_axes(numbers) for numbers in complete]
    agree = len(complete) > 1 and _may_have_equal_classes(exchanged, rounding)
    return "; they agree if the two axes are exchanged" if agree else ""


def _may_have_equal_classes(models: Sequence[Numbers], rounding: Rounding) -> bool:
    """Return True if all models may have the same number of rows of each class.

    `models`: the printed numbers of each, {metric: number}. `rounding`: how each count was
    shortened: "nearest", "cut", or "not" at all.
    """
    return all(
        _may_have_equal_sums(pair, models, rounding) for pair in CLASSES.values()
    )


def _with_exchanged_axes(numbers: Numbers) -> Numbers:
    """Return printed numbers, {metric: number}, with fp and fn exchanged."""
    return {**numbers, "fp": numbers["fn"], "fn": numbers["fp"]}


def _possible_totals(parts: Parts) -> list[Fraction]:
    """Return, sorted, the numbers of rows that the counts of a confusion matrix may add up to.

    They are those of a run, of the mean of its folds, or of the sum of all runs; none if the test
    rows are not known. `parts`: the numbers of test rows, folds and runs.
    """
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
    """Yield the confusion matrices that do not add up to the test rows.

    Models without all four counts are skipped, and nothing is yielded if the test rows are not
    known. `dataset`: as the paper spells it. `models`: their printed numbers on it, {model:
    {metric: number}}.
    """
    parts = table.parts_of(dataset)
    totals = _possible_totals(parts)
    roundings = _roundings_of_counts(parts)
    if not totals:
        return
    expected = ", ".join(number_text(float(total)) for total in totals)
    for model, numbers in models.items():
        if not _has_all(COUNTS, numbers):
            continue
        if _may_add_up(numbers, totals, roundings):
            continue
        total = sum(numbers[name] for name in COUNTS)
        says = f"the counts add up to {total}, the test rows to {expected}"
        yield table.finding("counts", says, dataset=dataset, model=model)


def _may_add_up(
    numbers: Numbers, totals: Sequence[Fraction], roundings: Iterable[Rounding]
) -> bool:
    """Return True if counts may add up to one of some numbers of rows.

    `numbers`: {metric: number} with all four counts. `totals`: the numbers of rows. `roundings`:
    the ways in which counts may have been shortened.
    """
    sums = [_range_of_sum(numbers, COUNTS, rounding) for rounding in roundings]
    return any(one.holds(total) for one in sums for total in totals)


def _check_metrics(
    table: PrintedTable,
    dataset: str,
    models: Mapping[str, Numbers],
    paper: Sequence[PrintedTable],
) -> Iterator[Finding]:
    """Yield the metrics, here or in another table, that do not follow from the counts.

    Models of this table without all four counts are skipped. A metric in another table counts if it
    is of the same measurement; its finding is on this table. `dataset`: as the paper spells it.
    `models`: their printed numbers on it, {model: {metric: number}}. `paper`: all tables of the
    paper.
    """
    parts = table.parts_of(dataset)
    for model, numbers in models.items():
        if not _has_all(COUNTS, numbers):
            continue
        for other in paper:
            printed = _same_cell(table, other, dataset, model)
            metrics = [metric for metric in OF_COUNTS if metric in printed]
            for metric in metrics:
                number = printed[metric]
                possible = _possible_ranges(metric, numbers, parts)
                if not possible or may_be_in(number, possible):
                    continue
                low, high = _widest_range(possible)
                value = f"the {metric} of the counts is {low:.3f} to {high:.3f}"
                says = f"{value}; {other.label} prints {number}"
                yield table.finding(
                    "counts", says, dataset=dataset, model=model, metric=metric
                )


def _possible_ranges(
    metric: str, numbers: Numbers, parts: Parts
) -> list[tuple[float, float]]:
    """Return the range (low, high) of a metric for each rounding of the counts that allows one.

    `numbers`: the printed counts, {metric: number}. `parts`: the numbers of test rows, folds and
    runs behind them. The list is empty if no counts add up to the test rows, or if a class is too
    small.
    """
    ranges = [
        _range_of_metric(metric, numbers, parts, rounding)
        for rounding in _roundings_of_counts(parts)
    ]
    return [one for one in ranges if one is not None]


def _widest_range(bounds: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """Return the smallest lower bound and the largest upper one of some ranges.

    `bounds`: the ranges (low, high), at least one.
    """
    lows, highs = zip(*bounds, strict=True)
    return min(lows), max(highs)


def _same_cell(
    table: PrintedTable, other: PrintedTable, dataset: str, model: str
) -> Mapping[str, Decimal]:
    """Return the numbers that `other` prints for what `table` measures, {metric: number}.

    `dataset`, `model`: those of `table`, as the paper spells them. In the same table, these are the
    numbers of that cell; in another one, they are empty unless the files describe the same
    measurement.
    """
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


def _range_of_metric(
    metric: str, numbers: Numbers, parts: Parts, rounding: Rounding
) -> tuple[float, float] | None:
    """Return the smallest and the largest value of a metric for counts within their rounding.

    Of mean counts, the range is wider by a bound of the difference between the metric of the means
    and the mean of the metric. The counts add up to the test rows, if these are known. It is None
    if there are no such counts, or if a class of mean counts has fewer than `_FEWEST_ROWS` rows.
    `numbers`: the printed counts, {metric: number}. `parts`: the numbers of test rows, folds and
    runs behind them. `rounding`: how the counts were shortened: "nearest", "cut", or "not" at all.
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
    """Return combinations of the counts within their rounding: arrays of tn, fp, fn and tp.

    They are a grid of `_STEPS` numbers of each count, not only whole ones. The arrays have equal
    lengths; element i of each belongs to combination i. `numbers`: the printed counts, {metric:
    number}. `totals`: if there are any, tn is replaced so that each combination adds up to one of
    them; there may be none then.
    """
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
    parts = [_counts_with_total(float(total), counts, axes[0]) for total in totals]
    return list(np.concatenate(parts, axis=1))


def _counts_with_total(
    total: float, counts: Sequence[Array], axis: Array
) -> list[Array]:
    """Return the combinations of counts in which tn completes the total: arrays tn, fp, fn and tp.

    Combinations are left out if tn is not within the ends of its `axis`. `counts`: the
    combinations, arrays of tn (which is ignored), fp, fn and tp.
    """
    _, fp, fn, tp = counts
    tn = total - fp - fn - tp
    fits = (axis[0] <= tn) & (tn <= axis[-1])
    return [count[fits] for count in (tn, fp, fn, tp)]


def _check_f1(
    table: PrintedTable, dataset: str, models: Mapping[str, Numbers]
) -> Iterator[Finding]:
    """Yield a finding for each F1, or mean of it, that does not fit precision and recall.

    `dataset`: as the paper spells it. `models`: their printed numbers on it, {model: {metric:
    number}}; models without all three are skipped.
    """
    is_mean = not table.parts_of(dataset).is_one_part
    for model, numbers in models.items():
        if not _has_all(("precision", "recall", "f1"), numbers):
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
    """Return, as text, how F1 contradicts its bounds by precision and recall.

    `numbers`: {metric: number}. `bounds`: (low, high) for each rounding.
    """
    low, high = _widest_range(bounds)
    return (
        f"the printed precision {numbers['precision']} and recall {numbers['recall']} "
        f"allow {max(low, 0.0):.4f} to {high:.4f}; {numbers['f1']} is printed"
    )


def _f1_is_possible(f1: Decimal, bounds: Sequence[tuple[float, float]]) -> bool:
    """Return True if a printed F1 lies in its bounds for one rounding, except for round-off.

    `bounds`: (low, high) for each of `ROUNDINGS`, in their order.
    """
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
    least their sum less 1, which may be negative. `numbers`: {metric: number} with precision and
    recall. `rounding`: how these were shortened, "nearest" or "cut". `is_mean`: the numbers are
    means over test parts.
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
    """Return the shares, from 0 to 1, that a printed one may stand for.

    `rounding`: how it was shortened: "nearest", "cut", or "not" at all.
    """
    return interval_of(number, rounding).clipped(Fraction(0), Fraction(1))


def harmonic_mean(one: float, other: float) -> float:
    """Return the harmonic mean of two numbers; 0 if both are 0."""
    return 2 * one * other / (one + other) if one + other > 0 else 0.0


def _check_class_shares(
    table: PrintedTable, dataset: str, models: Mapping[str, Numbers]
) -> Iterator[Finding]:
    """Yield a finding if the share of positive rows of a data set differs between models.

    There is at most one, and none if the test rows are not known. The share follows from accuracy,
    precision and recall. `dataset`: as the paper spells it. `models`: their printed numbers on it,
    {model: {metric: number}}.
    """
    parts = table.parts_of(dataset)
    if not parts.tested:
        return
    lows = {}
    highs = {}
    for model, numbers in models.items():
        if _has_all(_OF_SHARES, numbers):
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
    """Return the least and the largest share of positive rows that gives the printed numbers.

    Of one test part, it is the share of its rows. Of means over several parts, it is the share of
    all rows, from which that of a random part differs; the bounds hold however the precisions and
    recalls of the parts differ. `numbers`: {metric: number} with accuracy, precision and recall.
    `parts`: with known test rows.
    """
    if parts.is_one_part:
        return _widest_range(
            _bounds_on_one_part(numbers, rounding) for rounding in ROUNDINGS
        )
    n_values = max(parts.runs) * parts.folds
    low, high = _widest_range(
        _bounds_of_share(numbers, n_values, rounding) for rounding in ROUNDINGS
    )
    rows = min(parts.tested) / parts.folds
    return _least_of_all_rows(low, rows), _largest_of_all_rows(high, rows)


def _least_of_all_rows(share: float, rows: float) -> float:
    """Return the least share of a class in all rows, from that in a random part.

    `rows`: of the part.
    """
    return share / (1 + _largest_relative_deviation(share, rows))


def _largest_of_all_rows(share: float, rows: float) -> float:
    """Return the largest share of a class in all rows, at most 1, from that in a random part.

    `rows`: of the part.
    """
    off = _largest_relative_deviation(share, rows)
    return min(share / (1 - off), 1.0) if off < 1 else 1.0


def _bounds_of_share(
    numbers: Numbers, n_values: int, rounding: Rounding
) -> tuple[float, float]:
    """Return the bounds (low, high) of the mean share of positive rows over `n_values` test parts.

    The errors of a test part are its positive rows times 1 - r + r (1/p - 1), by its precision p
    and recall r. The lower bound is 0 if one part may have the precision 0. `numbers`: {metric:
    number} with the means of accuracy, precision and recall. `rounding`: how these were shortened,
    "nearest" or "cut".
    """
    accuracy, precision, recall = _possible_shares(numbers, rounding)
    fewest_errors = float(1 - accuracy.high)
    most_errors = float(1 - accuracy.low)
    least_factor = max(1 - float(recall.high), 1 - float(precision.high))
    high = _share_from_errors(most_errors, least_factor)
    # No part has a smaller precision, because the others have at most 1.
    most_wrong = 1 - float(precision.low)
    least_precision = 1 - n_values * most_wrong
    if least_precision <= 0:
        return 0.0, high
    largest_factor = 1 - float(recall.low) + most_wrong / least_precision
    low = _share_from_errors(fewest_errors, largest_factor)
    return low, high


def _possible_shares(numbers: Numbers, rounding: Rounding) -> list[NumberRange]:
    """Return the ranges that the printed accuracy, precision and recall may stand for.

    They are in this order, each within 0 and 1. `numbers`: {metric: number} with these three.
    `rounding`: how they were shortened, "nearest" or "cut".
    """
    return [_possible_share(numbers[name], rounding) for name in _OF_SHARES]


def _bounds_on_one_part(numbers: Numbers, rounding: Rounding) -> tuple[float, float]:
    """Return the bounds (low, high) of the share of positive rows of one test part.

    The share is that of errors over the errors of a positive row, which are monotonic in precision
    and in recall. `numbers`: {metric: number} with accuracy, precision and recall. `rounding`: how
    these were shortened, "nearest" or "cut".
    """
    accuracy, precision, recall = _possible_shares(numbers, rounding)
    fewest_errors = float(1 - accuracy.high)
    most_errors = float(1 - accuracy.low)
    factors = []
    for p, r in itertools.product(precision, recall):
        factor = _errors_of_a_positive_row(float(p), float(r))
        factors.append(factor)
    low = _share_from_errors(fewest_errors, max(factors))
    high = _share_from_errors(most_errors, min(factors))
    return low, high


def _errors_of_a_positive_row(precision: float, recall: float) -> float:
    """Return the errors of a test part as a multiple of its positive rows.

    It is infinite for the precision 0.
    """
    if precision == 0:
        return math.inf
    return 1 - recall + recall * (1 / precision - 1)


def _share_from_errors(errors: float, factor: float) -> float:
    """Return the share of positive rows: the share of errors over the errors of a positive row.

    It is at most 1, and 1 if `factor`, the errors of a positive row, is 0.
    """
    return min(errors / factor, 1.0) if factor > 0 else 1.0


def _largest_relative_deviation(share: float, rows: float) -> float:
    """Return how far the share of a class in a random part may be from that of all rows.

    It is `_DEVIATIONS` standard deviations, relative to `share`, and 0 for the shares 0 and 1.
    `rows`: of the part.
    """
    if not 0 < share < 1:
        return 0.0
    return _DEVIATIONS * math.sqrt((1 - share) / (share * rows))

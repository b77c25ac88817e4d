"""Averages and ranks over the data sets of a table, and tests of its models, against its rows."""

import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from elmbench.judging.print_checks.printed_table import (
    Finding,
    PrintedTable,
    range_text,
)
from elmbench.judging.print_checks.rounding import (
    ROUNDINGS,
    NumberRange,
    Rounding,
    interval_of,
    may_be_equal,
    may_be_in,
)
from elmbench.metrics import less_is_better
from elmbench.specs.published import ALL, PublishedValue

#: Metrics of a rank over all data sets.
MEAN_RANKS = ("mean_rank", "rank")
#: The statistic of a test of two models over the data sets.
T = "t"
#: The numbers of a model, or of all models, by data set.
PrintedNumbers = Mapping[str, Decimal]


def check_averages(
    table: PrintedTable, paper: Sequence[PrintedTable]
) -> Iterator[Finding]:
    """Yield the averages, ranks and t values that do not follow from the printed rows.

    `paper`: all tables of the paper, of which one may have the rows of a t.
    """
    for value in table.numbers:
        if value.value is None:
            continue
        if value.metric in MEAN_RANKS:
            says = _rank_contradiction(table, value, value.value)
        elif value.dataset != ALL:
            continue
        elif value.metric == T:
            says = _t_contradiction(table, paper, value, value.value)
        else:
            says = _mean_contradiction(table, value, value.value)
        if says:
            yield table.finding_on(
                value,
                "averages",
                says,
            )


def _row_of(table: PrintedTable, model: str, metric: str) -> PrintedNumbers:
    """Return the printed numbers of a model, {data set, as the paper spells it: number}.

    Averages over all data sets and cited values are not among them.
    """
    return {
        dataset: numbers[metric]
        for (dataset, name), numbers in table.by_cell.items()
        if name == model and metric in numbers
    }


def _is_complete(table: PrintedTable, row: PrintedNumbers) -> bool:
    """Return True if a model has a number for every data set of the table, and for two or more.

    `row`: its numbers, {data set, as the paper spells it: number}.
    """
    datasets = {value.dataset for value in table.values if value.dataset != ALL}
    return len(row) > 1 and set(row) == datasets


def _mean_contradiction(
    table: PrintedTable, value: PublishedValue, number: Decimal
) -> str:
    """Return, as text, how a printed average contradicts the row of its model.

    The text is empty if it does not, or if the row is not complete. `value`: the average, over all
    data sets. `number`: its number.
    """
    row = _row_of(table, value.model, value.metric)
    if not _is_complete(table, row):
        return ""
    numbers = list(row.values())
    means = [possible_means(numbers, rounding) for rounding in ROUNDINGS]
    if may_be_in(number, means):
        return ""
    return f"the mean of the row is {range_text(means)}; {number} is printed"


def possible_means(numbers: Sequence[Decimal], rounding: Rounding) -> NumberRange:
    """Return the possible means of printed numbers, of which there is at least one.

    `rounding`: how each of them was shortened: "nearest", "cut", or "not" at all.
    """
    intervals = [interval_of(number, rounding) for number in numbers]
    low = sum((one.low for one in intervals), Fraction(0)) / len(intervals)
    high = sum((one.high for one in intervals), Fraction(0)) / len(intervals)
    return NumberRange(low, high)


def _rank_contradiction(
    table: PrintedTable, value: PublishedValue, number: Decimal
) -> str:
    """Return, as text, how a printed rank contradicts the printed values.

    The text is empty if it does not, either with or without the values that the paper cites, or if
    the values give no rank. `value`: the rank, on one data set or the average on all; only the
    average may be rounded. `number`: its number.
    """
    is_average = value.dataset == ALL
    datasets = list(table.by_dataset) if is_average else [value.dataset]
    # The authors may have ranked the values that they cite as well.
    possible = [
        _mean_rank_on(datasets, table, value.model, with_cited=with_cited)
        for with_cited in (False, True)
    ]
    known = [ranks for ranks in possible if ranks is not None]
    if is_average:
        is_possible = may_be_in(number, known)
    else:
        # A rank on one data set has no digits that are cut off.
        rank = Fraction(number)
        is_possible = any(ranks.holds(rank) for ranks in known)
    if not known or is_possible:
        return ""
    return f"the printed values give a rank of {range_text(known)}; {number} is printed"


def _mean_rank_on(
    datasets: Sequence[str], table: PrintedTable, model: str, *, with_cited: bool
) -> NumberRange | None:
    """Return the possible means of the ranks of a model on some data sets.

    It is None if the model cannot be ranked on all of them, or without any. `datasets`: as the
    paper spells them. `with_cited`: values that the paper takes from others are ranked, too.
    """
    if not datasets:
        return None
    best = []
    worst = []
    for dataset in datasets:
        ranks = _ranks_on(dataset, table, model, with_cited=with_cited)
        if ranks is None:
            return None
        best.append(ranks[0])
        worst.append(ranks[1])
    n = len(datasets)
    return NumberRange(Fraction(sum(best), n), Fraction(sum(worst), n))


def _ranks_on(
    dataset: str, table: PrintedTable, model: str, *, with_cited: bool
) -> tuple[int, int] | None:
    """Return the best and the worst rank of a model on a data set; None if it cannot be ranked.

    It is ranked by the table's metric for the data set, of which the model and at least one other
    must have a number. `dataset`: as the paper spells it. `with_cited`: values that the paper takes
    from others are ranked, too.
    """
    name = table.name_of(dataset)
    metric = table.ranked_by.get(name, "")
    numbers = dict(_numbers_by_model(table, dataset, metric))
    if with_cited:
        numbers |= _cited_numbers_by_model(table, dataset, metric)
    if model not in numbers or len(numbers) < 2:
        return None
    return possible_ranks(numbers, model, less=less_is_better(metric))


def _numbers_by_model(table: PrintedTable, dataset: str, metric: str) -> PrintedNumbers:
    """Return the printed numbers of a metric on a data set, {model: number}, without cited ones.

    `dataset`: as the paper spells it.
    """
    models = table.by_dataset.get(dataset, {})
    return {
        model: numbers[metric] for model, numbers in models.items() if metric in numbers
    }


def _cited_numbers_by_model(
    table: PrintedTable, dataset: str, metric: str
) -> PrintedNumbers:
    """Return the cited numbers of a metric on a data set, {model: number}.

    The paper takes them from others. `dataset`: as the paper spells it.
    """
    return {
        value.model: value.value
        for value in table.values
        if value.cited
        and value.value is not None
        and (value.dataset, value.metric) == (dataset, metric)
    }


def possible_ranks(
    numbers: PrintedNumbers, model: str, *, less: bool
) -> tuple[int, int]:
    """Return the best and the worst rank of a model, 1 being the best.

    Models whose numbers may be equal before rounding are in either order, or share a rank.
    `numbers`: {model: number}, with this model. `less`: less is better.
    """
    own = numbers[model]
    n_equal = 0
    n_better = 0
    for name, number in numbers.items():
        if name == model:
            continue
        is_better = number < own if less else number > own
        if may_be_equal(number, own):
            n_equal += 1
        elif is_better:
            n_better += 1
    best = 1 + n_better
    return best, best + n_equal


def _t_contradiction(
    table: PrintedTable,
    paper: Sequence[PrintedTable],
    value: PublishedValue,
    number: Decimal,
) -> str:
    """Return, as text, how a printed t contradicts the printed rows of its two models.

    The text is empty if it does not, if there are no such rows, or if they share fewer than three
    data sets. `value`: the statistic t of a comparison. `number`: its number; the sign does not
    count. `paper`: all tables of the paper, of which one has the rows.
    """
    rows = _rows_of_pair(table, paper, value.model)
    if rows is None:
        return ""
    label, metric, one, other = rows
    datasets = [dataset for dataset in one if dataset in other]
    if len(datasets) < 3:
        return ""
    common_of_one = [one[dataset] for dataset in datasets]
    common_of_other = [other[dataset] for dataset in datasets]
    bounds = t_bounds(common_of_one, common_of_other)
    if may_be_in(abs(number), bounds.values()):
        return ""
    texts = ", ".join(
        f"{name} {low:.3g} to {high:.3g}" for name, (low, high) in bounds.items()
    )
    return (
        f"abs(t) of the {metric} in {label} on {len(datasets)} data sets is {texts}; {number} is "
        "printed"
    )


def _rows_of_pair(
    table: PrintedTable, paper: Sequence[PrintedTable], name: str
) -> tuple[str, str, PrintedNumbers, PrintedNumbers] | None:
    """Return the rows of two tested models: (label of their table, metric, row, other row).

    The table is the first of `paper` that has both rows and measures both models as `table` does;
    without one, or if the test is unknown, return None. A row is {data set: number} of one model in
    the first ranking metric of that table; the two may have different data sets. `table`: that of
    the tests, whose `pairs` have the models of each. `name`: that of the test.
    """
    if name not in table.pairs:
        return None
    one, other = table.pairs[name]
    for source in paper:
        metric = next(iter(source.ranked_by.values()), "")
        first = _row_of(source, one, metric)
        second = _row_of(source, other, metric)
        if not first or not second:
            continue
        is_same_pair = _is_same_column(table, source, one)
        is_same_pair = is_same_pair and _is_same_column(table, source, other)
        if is_same_pair:
            return source.label, metric, first, second
    return None


def _is_same_column(table: PrintedTable, source: PrintedTable, model: str) -> bool:
    """Return True if two tables measure a model alike: on some data set, and on none differently.

    `model`: the name of its column in both, `table` and `source`. Data sets that only one has do
    not count.
    """
    keys = [
        key
        for key in table.measurements
        if key[1] == model and key in source.measurements
    ]
    are_equal = [table.measurements[key] == source.measurements[key] for key in keys]
    return bool(keys) and all(are_equal)


def t_bounds(
    one: Sequence[Decimal], other: Sequence[Decimal]
) -> dict[str, tuple[float, float]]:
    """Return the range of abs(t) of two rows within their rounding, for each form of the test.

    The form is {"independent": (low, high), "paired": (low, high)}; each range includes both the
    sample and the population variance. `one`, `other`: printed numbers of the same data sets, two
    or more, in the same order.
    """
    # A number is at most half a unit from the middle of its interval, a difference of two numbers
    # at most one of the larger unit.
    pairs = list(zip(one, other, strict=True))
    differences = _Sample(
        numbers=[float(a - b) for a, b in pairs],
        off=[max(_weight_of_last_digit(a), _weight_of_last_digit(b)) for a, b in pairs],
    )
    independent = [
        _Sample(
            numbers=[float(number) for number in row],
            off=[_weight_of_last_digit(number) / 2 for number in row],
        )
        for row in (one, other)
    ]
    return {
        "independent": _range_of_t(differences, independent),
        "paired": _range_of_t(differences, [differences]),
    }


def _range_of_t(
    differences: "_Sample", samples: Sequence["_Sample"]
) -> tuple[float, float]:
    """Return the range of abs(t) of the mean of differences: its least and its greatest value.

    The least is 0 if rounding may hide the whole difference, and the greatest is infinite if it may
    hide all variation. `differences`: of the two rows, one for each data set. `samples`: the error
    of the mean has the sum of their variances; both rows for the independent test, the differences
    for the paired one.
    """
    n = len(differences.numbers)
    # t is the distance of the means over its error.
    distance = abs(math.fsum(differences.numbers)) / n
    off = math.fsum(differences.off) / n
    largest_error = _standard_error(samples, +1)
    # The population variance is smaller by (n - 1) / n.
    smallest_error = _standard_error(samples, -1) * math.sqrt((n - 1) / n)
    least = 0.0
    if largest_error:
        least = max(distance - off, 0.0) / largest_error
    greatest = math.inf
    if smallest_error:
        greatest = (distance + off) / smallest_error
    return least, greatest


def _standard_error(samples: Sequence["_Sample"], sign: int) -> float:
    """Return sqrt(sum of the sample variances / n), at its smallest or largest within rounding.

    This is the standard error of a difference of means. `samples`: two independent ones of equal
    size n, or a single one of n paired differences. `sign`: -1 for the smallest value within the
    rounding of the numbers, +1 for the largest.
    """
    n = len(samples[0].numbers)
    variance = sum(sample.deviation(sign) ** 2 for sample in samples)
    return math.sqrt(variance / n)


def _weight_of_last_digit(number: Decimal) -> float:
    """Return the weight of the last printed digit, such as 0.01 for 0.93."""
    return 10.0 ** int(number.as_tuple().exponent)


def _sample_deviation(errors: Sequence[float]) -> float:
    """Return the sample deviation of two or more numbers, from each minus their mean."""
    squares = math.fsum(error**2 for error in errors)
    return math.sqrt(squares / (len(errors) - 1))


class _Sample(NamedTuple):
    """Numbers (`numbers`), and how far each may be from the true one (`off`)."""

    numbers: list[float]
    off: list[float]

    def deviation(self, sign: int) -> float:
        """Return a bound of the sample deviation within rounding: the lower or the upper one.

        `sign`: -1 for the lower bound, which is at least 0; +1 for the upper one.
        """
        mean = math.fsum(self.numbers) / len(self.numbers)
        deviation = _sample_deviation([number - mean for number in self.numbers])
        change = _sample_deviation(self.off)
        return max(deviation + sign * change, 0.0)

"""Values that are printed twice and differ, and rows and columns that are printed twice."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from elmbench.judging.print_checks.printed_table import Finding, Numbers, PrintedTable
from elmbench.judging.print_checks.ratios import SPEED_UP
from elmbench.judging.print_checks.rounding import may_be_equal, n_digits
from elmbench.specs.measures import UNJUDGED
from elmbench.specs.published import ALL, PublishedValue

#: Two columns are called identical if they share the numbers of so many data sets, with so many
#: digits in all: two models may make the same errors on one data set.
_COLUMN_DATASETS = 3
_COLUMN_DIGITS = 15
#: The same for the times of two rows, which are unlikely to be equal.
_TIMES = 2
_TIMES_DIGITS = 4
#: The same for the speed-ups of two rows.
_SPEED_UPS = 3
_SPEED_UPS_DIGITS = 6
_TIME_METRICS = ("fit_seconds", "predict_seconds")


def check_printed_twice(table: PrintedTable, paper: Sequence[PrintedTable]) -> Iterator[Finding]:
    """Yield the values of which an earlier table prints a different one for the same
    measurement.
    """
    earlier = paper[: paper.index(table)]
    for value in table.numbers:
        measured = table.measurement_of(value.dataset, value.model)
        if measured is None or value.value is None or value.dataset == ALL:
            continue
        for other, printed in _same_values(value, measured, table, earlier):
            assert printed.value is not None
            if not may_be_equal(value.value, printed.value):
                yield table.finding_on(
                    value,
                    "printed twice",
                    f"{value.text} is printed; {other.label} prints {printed.text} for the "
                    f"same measurement ({printed.model})",
                )


def _same_values(
    value: PublishedValue, measured: object, table: PrintedTable, others: Sequence[PrintedTable]
) -> Iterator[tuple[PrintedTable, PublishedValue]]:
    """Yield the values of other tables that are of the same measurement."""
    for other in others:
        for printed in other.numbers:
            if printed.metric != value.metric or printed.value is None:
                continue
            same_data = other.name_of(printed.dataset) == table.name_of(value.dataset)
            same_column = other.measurement_of(printed.dataset, printed.model) == measured
            if same_data and same_column:
                yield other, printed


def check_repeated(table: PrintedTable, paper: Sequence[PrintedTable]) -> Iterator[Finding]:
    """Yield the columns with the numbers of another one, and the times and speed-ups of one row
    that stand in another one as well.
    """
    yield from _repeated_columns(table)
    yield from _repeated_times(table)
    yield from _repeated_speed_ups(table, paper)


def _total_digits(numbers: Sequence[Decimal]) -> int:
    return sum(n_digits(number) for number in numbers)


def _repeated_columns(table: PrintedTable) -> Iterator[Finding]:
    """Yield the pairs of models with the same numbers of quality on all data sets."""
    columns = _columns_of_quality(table)
    for one, other in itertools.combinations(columns, 2):
        is_said = frozenset((one, other)) in table.said_equal
        if is_said or columns[one] != columns[other]:
            continue
        numbers = list(columns[one].values())
        n_datasets = len({dataset for dataset, _ in columns[one]})
        if n_datasets >= _COLUMN_DATASETS and _total_digits(numbers) >= _COLUMN_DIGITS:
            says = f"all {len(numbers)} numbers are those of {other}"
            yield table.finding("repeated", says, model=one)


def _columns_of_quality(table: PrintedTable) -> Mapping[str, Mapping[tuple[str, str], Decimal]]:
    """Return the numbers of quality of each model, by data set and metric."""
    columns: dict[str, dict[tuple[str, str], Decimal]] = {}
    for (dataset, model), cell in table.by_cell.items():
        for metric, number in cell.items():
            if metric not in UNJUDGED:
                column = columns.setdefault(model, {})
                column[dataset, metric] = number
    return columns


def _repeated_times(table: PrintedTable) -> Iterator[Finding]:
    """Yield the pairs of rows that share a data set or a model and have the same times."""
    times = {cell: _times_of(numbers) for cell, numbers in table.by_cell.items()}
    for one, other in itertools.combinations(times, 2):
        shares_a_name = one[0] == other[0] or one[1] == other[1]
        if not shares_a_name or times[one] != times[other]:
            continue
        numbers = list(times[one].values())
        if len(numbers) >= _TIMES and _total_digits(numbers) >= _TIMES_DIGITS:
            dataset, model = one
            printed = " and ".join(f"{number} s" for number in numbers)
            says = f"the times {printed} are those of {model} on {dataset}"
            yield table.finding("repeated", says, dataset=other[0], model=other[1])


def _times_of(numbers: Numbers) -> Numbers:
    return {name: numbers[name] for name in _TIME_METRICS if name in numbers}


def _repeated_speed_ups(table: PrintedTable, paper: Sequence[PrintedTable]) -> Iterator[Finding]:
    """Yield the rows whose speed-ups begin as those of another data set, in this or a later
    table.
    """
    rows = _speed_ups(table)
    later = paper[paper.index(table) :]
    for dataset, row in rows.items():
        for other in later:
            for other_dataset, other_row in _speed_ups(other).items():
                is_before = other is table and list(rows).index(other_dataset) <= list(rows).index(
                    dataset
                )
                if is_before:
                    continue
                length = min(len(row), len(other_row))
                same = row[:length] == other_row[:length]
                is_long = length >= _SPEED_UPS and _total_digits(row[:length]) >= _SPEED_UPS_DIGITS
                if same and is_long:
                    printed = ", ".join(map(str, row[:length]))
                    says = f"{printed} are also the speed-ups of {other_dataset} in {other.label}"
                    yield table.finding("repeated", says, dataset=dataset, metric=SPEED_UP)


def _speed_ups(table: PrintedTable) -> Mapping[str, list[Decimal]]:
    """Return the speed-ups of each data set in the order of the models, apart from 1."""
    rows: dict[str, list[Decimal]] = {}
    for value in table.values:
        speed_up = value.value
        if value.metric != SPEED_UP or speed_up is None:
            continue
        if speed_up != Decimal(1):
            rows.setdefault(value.dataset, []).append(speed_up)
    return rows

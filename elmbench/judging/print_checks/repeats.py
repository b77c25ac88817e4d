"""Values that are printed twice and differ, and rows and columns that are printed twice."""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple, Self

from elmbench.judging.print_checks.printed_table import (
    Cell,
    Finding,
    Numbers,
    PrintedTable,
)
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


def check_printed_twice(
    table: PrintedTable, paper: Sequence[PrintedTable]
) -> Iterator[Finding]:
    """Yield the values of which an earlier table prints a different one for the same measurement.

    Averages over all data sets are not compared. `paper`: all tables of the paper in their order,
    with this one.
    """
    earlier = paper[: paper.index(table)]
    for value in table.numbers:
        measured = table.measurement_of(value.dataset, value.model)
        if measured is None or value.value is None or value.dataset == ALL:
            continue
        for other, printed in _numbers_of_measurement(value, measured, table, earlier):
            assert printed.value is not None
            if not may_be_equal(value.value, printed.value):
                yield table.finding_on(
                    value,
                    "printed twice",
                    f"{value.text} is printed; {other.label} prints {printed.text} for the "
                    f"same measurement ({printed.model})",
                )


def _numbers_of_measurement(
    value: PublishedValue,
    measured: object,
    table: PrintedTable,
    others: Sequence[PrintedTable],
) -> Iterator[tuple[PrintedTable, PublishedValue]]:
    """Yield (table, value) for each number of other tables that is of the same measurement.

    The same measurement has the same metric, data set and `measured`. `value`: a value of `table`.
    `measured`: what its column is measured by, from `PrintedTable.measurement_of`. `others`: the
    tables that are searched, without `table` itself.
    """
    for other in others:
        for printed in other.numbers:
            if printed.metric != value.metric or printed.value is None:
                continue
            same_data = other.name_of(printed.dataset) == table.name_of(value.dataset)
            same_column = (
                other.measurement_of(printed.dataset, printed.model) == measured
            )
            if same_data and same_column:
                yield other, printed


def check_repeated(
    table: PrintedTable, paper: Sequence[PrintedTable]
) -> Iterator[Finding]:
    """Yield the columns, times and speed-ups that repeat those of another model or data set.

    `paper`: all tables of the paper in their order, with this one; only speed-ups are compared with
    later tables.
    """
    yield from _repeated_columns(table)
    yield from _repeated_times(table)
    yield from _repeated_speed_ups(table, paper)


def _total_digits(numbers: Iterable[Decimal]) -> int:
    """Return the number of significant digits of some printed numbers, in all."""
    return sum(n_digits(number) for number in numbers)


def _repeated_columns(table: PrintedTable) -> Iterator[Finding]:
    """Yield a finding for each two models with the same numbers of quality on all data sets.

    It is on the first of them. Short columns are left out, and pairs that a claim of the paper
    calls close.
    """
    columns = _columns_of_quality(table)
    for one, other in itertools.combinations(columns, 2):
        numbers = columns[one]
        if numbers != columns[other]:
            continue
        is_said = frozenset((one, other)) in table.pairs_called_close
        if is_said or not _is_long(numbers):
            continue
        says = f"all {len(numbers)} numbers are those of {other}"
        yield table.finding("repeated", says, model=one)


def _is_long(column: Mapping[Cell, Decimal]) -> bool:
    """Return True if a column is too long to be equal to another one by chance.

    `column`: {(data set, metric): number}.
    """
    n_datasets = len({dataset for dataset, _ in column})
    n_digits = _total_digits(column.values())
    return n_datasets >= _COLUMN_DATASETS and n_digits >= _COLUMN_DIGITS


def _columns_of_quality(table: PrintedTable) -> Mapping[str, Mapping[Cell, Decimal]]:
    """Return the numbers of quality of each model, {model: {(data set, metric): number}}.

    Times, sizes and other measures without a verdict are left out; a model that has only these gets
    an empty dict.
    """
    columns: dict[str, dict[Cell, Decimal]] = defaultdict(dict)
    for (dataset, model), cell in table.by_cell.items():
        column = columns[model]
        for metric, number in cell.items():
            if metric not in UNJUDGED:
                column[dataset, metric] = number
    return columns


def _repeated_times(table: PrintedTable) -> Iterator[Finding]:
    """Yield a finding for each two cells that have the same times, on the second of them.

    The cells share a data set or a model; cells with a single time, or with few digits, are left
    out.
    """
    rows = [_Times.of(cell, numbers) for cell, numbers in table.by_cell.items()]
    for one, other in itertools.combinations(rows, 2):
        if one.repeats(other) and one.are_long:
            yield table.finding(
                "repeated",
                one.text,
                dataset=other.dataset,
                model=other.model,
            )


class _Times(NamedTuple):
    """The printed times of a model on a data set, {metric: seconds}."""

    dataset: str
    model: str
    times: Numbers

    @classmethod
    def of(cls, cell: Cell, numbers: Numbers) -> Self:
        """Return the times among the printed numbers of a cell.

        `cell`: (data set, model). `numbers`: {metric: number}.
        """
        times = {name: numbers[name] for name in _TIME_METRICS if name in numbers}
        return cls(*cell, times)

    @property
    def text(self) -> str:
        """The times in words, for a finding on another cell that repeats them."""
        printed = " and ".join(f"{time} s" for time in self.times.values())
        return f"the times {printed} are those of {self.model} on {self.dataset}"

    @property
    def are_long(self) -> bool:
        """True if the times are too long to be equal to others by chance.

        There must be two of them, with four digits in all.
        """
        return (
            len(self.times) >= _TIMES
            and _total_digits(self.times.values()) >= _TIMES_DIGITS
        )

    def repeats(self, other: Self) -> bool:
        """Return True if two cells of one data set or one model have the same times, or none."""
        shares_a_name = self.dataset == other.dataset or self.model == other.model
        return shares_a_name and self.times == other.times


def _repeated_speed_ups(
    table: PrintedTable, paper: Sequence[PrintedTable]
) -> Iterator[Finding]:
    """Yield the data sets whose speed-ups begin as those of another one, in this or a later table.

    A finding is on a data set of this table; it has the common numbers and the other data set.
    `paper`: all tables of the paper in their order, with this one; earlier ones are not compared.
    """
    rows = _speed_ups(table)
    names = list(rows)
    later = paper[paper.index(table) :]
    for position, dataset in enumerate(names):
        # Each pair of rows of this table is compared once.
        compared = names[: position + 1]
        for other in later:
            for other_dataset, other_row in _speed_ups(other).items():
                if other is table and other_dataset in compared:
                    continue
                start = _common_start(rows[dataset], other_row)
                if not start:
                    continue
                numbers = ", ".join(map(str, start))
                says = f"{numbers} are also the speed-ups of {other_dataset} in {other.label}"
                yield table.finding("repeated", says, dataset=dataset, metric=SPEED_UP)


def _common_start(row: list[Decimal], other: list[Decimal]) -> list[Decimal]:
    """Return the shorter one of two rows of numbers if the other one begins with it.

    It is empty otherwise, and if the row is so short that this may be by chance.
    """
    length = min(len(row), len(other))
    start = row[:length]
    if start != other[:length]:
        return []
    has_digits = _total_digits(start) >= _SPEED_UPS_DIGITS
    return start if length >= _SPEED_UPS and has_digits else []


def _speed_ups(table: PrintedTable) -> Mapping[str, list[Decimal]]:
    """Return the published speed-ups, {data set: numbers in the order of the table}.

    Those of 1 are left out.
    """
    rows: dict[str, list[Decimal]] = {}
    for value in table.values:
        speed_up = value.value
        if value.metric != SPEED_UP or speed_up is None:
            continue
        if speed_up != Decimal(1):
            rows.setdefault(value.dataset, []).append(speed_up)
    return rows

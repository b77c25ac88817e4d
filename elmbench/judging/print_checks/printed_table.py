"""A table as printed, with the facts of its file that the checks of the print use."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Literal

from elmbench.judging.print_checks.rounding import NumberRange
from elmbench.specs.published import ALL, DATA, PublishedValue

#: A data set and a model, as the paper spells them.
Cell = tuple[str, str]
#: The printed number of each metric.
Numbers = Mapping[str, Decimal]


@dataclass(frozen=True)
class Parts:
    """The rows that one value of a data set is measured on.

    Each field holds all numbers that the paper and the file of the table allow.
    """

    #: Rows of all test parts of a run together.
    tested: frozenset[int] = frozenset()
    #: Rows of the training part; empty for folds.
    trained: frozenset[int] = frozenset()
    #: Rows of the data set.
    all_rows: frozenset[int] = frozenset()
    #: Splits of a run.
    folds: int = 1
    #: True if the sizes of the folds follow from the number of rows.
    known_folds: bool = True
    #: Runs behind a mean.
    runs: frozenset[int] = frozenset((1,))

    @property
    def is_one_part(self) -> bool:
        """True if a value is of one test part, whose size is known, and no mean."""
        return bool(self.tested) and self.folds == 1 and self.runs == {1}


@dataclass(frozen=True)
class PrintedTable:
    """The published values of one table of a paper."""

    id: str
    #: The paper's name, such as "Table IV".
    label: str
    values: tuple[PublishedValue, ...]
    #: The data sets by the paper's spelling, each with its name in the suite.
    names: Mapping[str, str] = field(default_factory=dict)
    #: By the suite's name of a data set.
    parts: Mapping[str, Parts] = field(default_factory=dict)
    #: What a published value is measured by: equal for two values that the files describe as one
    #: measurement. By the suite's name of a data set and the column.
    measurements: Mapping[tuple[str, str], Hashable] = field(default_factory=dict)
    #: The metric by which models are ranked, by the suite's name of a data set.
    ranked_by: Mapping[str, str] = field(default_factory=dict)
    std: Literal["of-run-means", "of-folds"] = "of-run-means"
    #: Data sets, by the suite's name, of which the printed rows are not known.
    unknown_rows: frozenset[str] = frozenset()
    #: Two columns by the name of their test.
    pairs: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    #: Pairs of columns that the paper says are equal.
    pairs_called_close: frozenset[frozenset[str]] = frozenset()

    @cached_property
    def numbers(self) -> tuple[PublishedValue, ...]:
        """The values with printed digits, without facts of data sets, powers and cited values."""
        return tuple(
            value
            for value in self.values
            if value.last_place and value.model != DATA and not value.cited
        )

    @cached_property
    def by_cell(self) -> Mapping[Cell, Numbers]:
        """The printed numbers of each model on each data set.

        The form is {(data set, model): {metric: number}}, with the paper's names. Averages over all
        data sets, facts, cited values and values without printed digits are left out.
        """
        cells: dict[Cell, dict[str, Decimal]] = {}
        for value in self.numbers:
            if value.dataset == ALL or value.value is None:
                continue
            key = (value.dataset, value.model)
            numbers = cells.setdefault(key, {})
            numbers[value.metric] = value.value
        return cells

    @cached_property
    def by_dataset(self) -> Mapping[str, Mapping[str, Numbers]]:
        """The printed numbers of each model, {data set: {model: {metric: number}}}.

        The names are the paper's. Values are left out as in `by_cell`, such as averages over all
        data sets.
        """
        datasets: dict[str, dict[str, Numbers]] = {}
        for (dataset, model), numbers in self.by_cell.items():
            datasets.setdefault(dataset, {})[model] = numbers
        return datasets

    def finding(
        self,
        check: str,
        says: str,
        *,
        dataset: str = "",
        model: str = "",
        metric: str = "",
    ) -> Finding:
        """Return a finding of a check on this table.

        `check`: the name of the check. `says`: what the values are, and what would be possible.
        `dataset`, `model`, `metric`: those of the values, as the paper names them; empty for
        several.
        """
        return Finding(
            table=self.id,
            label=self.label,
            check=check,
            dataset=dataset,
            model=model,
            metric=metric,
            says=says,
        )

    def finding_on(self, value: PublishedValue, check: str, says: str) -> Finding:
        """Return a finding of a check on one printed value of this table.

        `check`: the name of the check. `says`: what the value is, and what would be possible.
        """
        return self.finding(
            check, says, dataset=value.dataset, model=value.model, metric=value.metric
        )

    def parts_of(self, dataset: str) -> Parts:
        """Return the numbers of rows, folds and runs behind the values of a data set.

        `dataset`: as the paper spells it. A data set that the table's file does not have gets one
        part of unknown rows.
        """
        return self.parts.get(self.name_of(dataset), Parts())

    def name_of(self, dataset: str) -> str:
        """Return the suite's name of a data set, given by the paper's spelling.

        It is the spelling itself for a data set that the suite does not have.
        """
        return self.names.get(dataset, dataset)

    def measurement_of(self, dataset: str, model: str) -> Hashable | None:
        """Return what a column is measured by on a data set.

        Two values with equal results are of the same measurement. It is None if the file of the
        table does not have the column or the data set. `dataset`: as the paper spells it.
        """
        return self.measurements.get((self.name_of(dataset), model))


@dataclass(frozen=True)
class Finding:
    """Printed values that no results could have given, or that contradict each other."""

    #: The id of the table.
    table: str
    label: str
    #: The name of the check.
    check: str
    dataset: str
    model: str
    metric: str
    #: What the values are, and what would be possible.
    says: str

    @property
    def subject(self) -> str:
        """The metric, the model and the data set in words, such as `mcc of ELM on wine`.

        Without a metric, it begins with `all metrics`. An empty model or data set is left out, and
        so is `all` for the data sets.
        """
        metric = self.metric or "all metrics"
        model = f" of {self.model}" if self.model else ""
        dataset = f" on {self.dataset}" if self.dataset not in ("", ALL) else ""
        return f"{metric}{model}{dataset}"

    def to_json_dict(self) -> dict[str, str]:
        """Return the finding for JSON, {name: text}; a text is empty if it concerns several."""
        return {
            "experiment": self.table,
            "label": self.label,
            "check": self.check,
            "dataset": self.dataset,
            "model": self.model,
            "metric": self.metric,
            "finding": self.says,
        }


def number_text(number: float) -> str:
    """Return a number with four significant digits, such as `0.1235`."""
    return f"{number:.4g}"


def range_text(ranges: Sequence[NumberRange]) -> str:
    """Return the least and the greatest number of some ranges, such as `1.5 to 2`.

    There is at least one range.
    """
    low = min(one.low for one in ranges)
    high = max(one.high for one in ranges)
    return f"{number_text(float(low))} to {number_text(float(high))}"

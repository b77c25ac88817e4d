"""The published values of the papers, in the suite's names and units; they are never changed."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache
from pathlib import Path

from pydantic import Field

from elmbench.files import check_regular
from elmbench.metrics import metrics_taking
from elmbench.specs.files import invalid
from elmbench.specs.measures import MEASURES, TRAIN_ACCURACY
from elmbench.specs.papers import Spec
from elmbench.specs.splits import Count

_PERCENT = Decimal("0.01")
#: A metric's name in the files, without the unit `_percent` -> the suite's name if it differs.
_METRICS = {
    "train_seconds": "fit_seconds",
    "test_seconds": "predict_seconds",
    "test_error": "error_rate",
    "error": "error_rate",
    "nodes": "n_units",
    "nSV": "n_units",
    "predicted negative, actual negative": "tn",
    "predicted positive, actual negative": "fp",
    "predicted negative, actual positive": "fn",
    "predicted positive, actual positive": "tp",
    "L": "n_hidden",
    "F": "budget",
    "attributes": "features",
}

_COLUMNS = ("dataset", "model", "metric", "value")
#: Columns that a file may lack.
_OPTIONAL_COLUMNS = ("std", "note")
#: The beginning of metrics of test rows, which all are unless they say otherwise.
_OF_TEST_ROWS = "test_"
#: Hyperparameters that are whole numbers, besides those whose names begin with `n_`.
_WHOLE = ("budget", "target_dimensions")
#: A power as the papers print it, such as 2^-20.
_POWER = re.compile(r"(\d+)\^(-?\d+)")
#: Notes in the files: the authors stopped a fit, or cited a value.
_STOPPED = re.compile(r"over (\d+) s")
_CITED = "(cited)"
#: Largest power of ten in a published value.
_LARGEST_POWER = 300
#: The column `model` of facts of a data set.
DATA = "data"
#: The column `dataset` of values over all data sets of a table.
ALL = "all"


class Published(Spec):
    """The section `published` of an experiment file: CSV files beside it."""

    #: The CSV file of the printed values.
    values: str | None = None
    #: Values that no run measures, such as ratios in the text or speed-ups beside the times: only
    #: the checks of the print read them.
    also_printed: str | None = None
    #: One file, or several that each hold the hyperparameters of other columns.
    parameters: str | tuple[str, ...] = ()
    #: Data sets that stand in for another one, such as draws from the same distribution.
    stand_ins: dict[str, str] = Field(default_factory=dict)
    #: Number of draws of the protocol (splits, random nodes, order of rows) in a printed mean. If
    #: the paper does not say, the numbers that it may be, the smallest one first: it gives the
    #: widest interval for a verdict.
    mean_of: Count | tuple[Count, ...] = 1
    #: The meaning of metrics that the paper prints under another metric's name.
    meant: dict[str, str] = Field(default_factory=dict)

    @property
    def means_of(self) -> tuple[int, ...]:
        """The numbers of draws that a printed mean may have, the smallest one first."""
        return (self.mean_of,) if isinstance(self.mean_of, int) else self.mean_of

    @property
    def parameter_files(self) -> tuple[str, ...]:
        """The names of the files of hyperparameters; empty if there are none."""
        return (
            (self.parameters,) if isinstance(self.parameters, str) else self.parameters
        )


@dataclass(frozen=True)
class PublishedValue:
    """A number or a word of a paper, for one metric of one model on one data set."""

    #: The data set and the model, as the paper spells them.
    dataset: str
    model: str
    #: The name of the metric in the suite.
    metric: str
    #: In the metric's natural unit, with the printed digits; None if the paper prints none.
    value: Decimal | None
    #: The printed deviation.
    std: Decimal | None
    #: A doubt or remark about the value.
    note: str
    #: The print, in the paper's unit: '88.6' percent, '2^-20', or a word such as 'regression'.
    text: str = ""
    #: Seconds after which the authors stopped a fit; its time is not printed.
    over_seconds: float | None = None
    #: The authors cited the value from another paper.
    cited: bool = False

    @property
    def number(self) -> float:
        """The value as a float; NaN if the paper prints none."""
        return math.nan if self.value is None else float(self.value)

    @property
    def shown(self) -> str:
        """The value as a table shows it: `0.93 ± 0.012`, `2^-20`, `> 600 s`, a dash for a blank.

        It has the printed digits and the metric's unit; a percentage is shown as a share, a word as
        a dash.
        """
        if self.value is None:
            if self.over_seconds is None:
                return "–"
            return f"> {self.over_seconds:g} s"
        is_power = "^" in self.text
        mean = self.text if is_power else str(self.value)
        if self.std is None:
            return mean
        return f"{mean} ± {self.std}"

    @property
    def last_place(self) -> float:
        """The weight of the last printed digit in the metric's unit, such as 0.001 for 0.931.

        It is 0 if no value or a power such as 2^-20 is printed. Of a percentage it is that of the
        share: 0.001 for 93.1 %.
        """
        if self.value is None or _POWER.fullmatch(self.text):
            return 0.0
        return 10.0 ** int(self.value.as_tuple().exponent)


@cache
def read_published(path: Path) -> tuple[PublishedValue, ...]:
    """Return the published values in a CSV file; raise ElmbenchError if it is not valid.

    The file has the columns dataset, model, metric, value, and perhaps std and note. If it has a
    column dataset but no column metric, each other column is a fact of data sets (a word has no
    value, an empty field is skipped).
    """
    try:
        check_regular(path)
        with path.open(newline="", encoding="utf-8-sig") as stream:
            reader = csv.DictReader(stream)
            names = set(reader.fieldnames or ())
            if "dataset" in names and "metric" not in names:
                return tuple(_parse_facts(reader))
            if missing := sorted(set(_COLUMNS) - names):
                raise invalid(
                    f"{path}: the columns {', '.join(missing)} are missing",
                    f"{', '.join(_COLUMNS)}, and perhaps {', '.join(_OPTIONAL_COLUMNS)}",
                )
            return tuple(_parse_lines(reader, path))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise invalid(f"cannot read {path}: {error}", "a CSV file in UTF-8") from error


def _parse_lines(rows: csv.DictReader[str], path: Path) -> Iterator[PublishedValue]:
    """Yield the published values of a CSV file with a line for each value.

    `rows`: a reader of the file. `path`: the file, for messages. Metrics get the suite's names, and
    percentages become shares; a blank gives a value of None. Raises ElmbenchError for an invalid
    line or a second value of the same data set, model and metric.
    """
    shares = {*metrics_taking("counts"), TRAIN_ACCURACY}
    columns = rows.fieldnames or ()
    printed = set()
    for row in rows:
        location = f"{path}, line {rows.line_num}"
        if None in row or None in row.values():
            problem = f"{location}: {'too many' if None in row else 'too few'} fields"
            expected = f"{len(columns)} fields, a field with a comma in double quotes"
            raise invalid(problem, expected)
        name = row["metric"].removesuffix("_percent")
        metric = _METRICS.get(name, name.removeprefix(_OF_TEST_ROWS))
        factor = Decimal(1) if name == row["metric"] else _PERCENT
        value = _parse_number(row["value"], factor, location)
        std = _parse_number(row.get("std", ""), factor, location)
        note = row.get("note", "")
        if value is not None and value > 1 and metric in shares:
            percent = (
                "at most 1; percentages have a metric such as test_accuracy_percent"
            )
            raise invalid(f"{location}: {row['metric']} is {row['value']}", percent)
        cell = (row["dataset"], row["model"], metric)
        if cell in printed:
            problem = f"{location}: a second value of {', '.join(cell)}"
            raise invalid(problem, "one value")
        printed.add(cell)
        stopped = _STOPPED.fullmatch(note) if value is None else None
        yield PublishedValue(
            dataset=row["dataset"],
            model=row["model"],
            metric=metric,
            value=value,
            std=std,
            note=note,
            text=row["value"],
            over_seconds=float(stopped[1]) if stopped else None,
            cited=row["model"].endswith(_CITED),
        )


def _parse_facts(rows: csv.DictReader[str]) -> Iterator[PublishedValue]:
    """Yield the published facts about data sets, of a CSV file with a column for each fact.

    `rows`: a reader of the file. The model of a fact is `DATA`. A fact that is not a whole number
    has a text but no value; empty fields are skipped.
    """
    for row in rows:
        for name, text in row.items():
            if name not in ("dataset", None) and text:
                metric = _METRICS.get(name, name)
                value = Decimal(text) if text.isascii() and text.isdigit() else None
                yield PublishedValue(
                    dataset=row["dataset"],
                    model=DATA,
                    metric=metric,
                    value=value,
                    std=None,
                    note="",
                    text=text,
                )


def _parse_number(text: str, factor: Decimal, location: str) -> Decimal | None:
    """Return a printed number times `factor`, or a power such as 2^-5 without it.

    The empty text gives None. `location`: the file and line, for the message. Raises ElmbenchError
    if the text is not a number, or its size is above 1e300 or, unless it is 0, below 1e-300.
    """
    if not text:
        return None
    power = _POWER.fullmatch(text)
    try:
        number = Decimal(power[1]) ** int(power[2]) if power else Decimal(text) * factor
    except (ArithmeticError, ValueError):
        number = Decimal("nan")
    if not number.is_finite() or abs(number.adjusted()) > _LARGEST_POWER:
        raise invalid(f"{location}: {text!r} is not a number", "a number, or nothing")
    return number


#: Hyperparameters by (data set, model), both as the paper spells them.
PublishedParameters = dict[tuple[str, str], dict[str, float | int]]


def published_parameters(path: Path) -> PublishedParameters:
    """Return {(data set, model): {hyperparameter: value}} of a file of published values.

    Data sets and models have the paper's spelling. A value is one of a hyperparameter unless its
    metric is a measure other than the size of the model; blanks and words are left out. Whole
    numbers such as n_hidden are integers, others floats.
    """
    table: PublishedParameters = {}
    for published in read_published(path):
        name = published.metric
        value = published.value
        is_parameter = name == "n_units" or name not in MEASURES
        if value is None or not is_parameter:
            continue
        counts = name.startswith("n_") or name in _WHOLE
        is_whole = counts and value == value.to_integral_value()
        parameters = table.setdefault((published.dataset, published.model), {})
        parameters[name] = int(value) if is_whole else float(value)
    return table


@dataclass(frozen=True)
class PublishedTable:
    """What a paper prints for a table, from the files of the section `published`."""

    #: The values of the table, under the metrics that they mean.
    values: tuple[PublishedValue, ...] = ()
    #: The same values, under the metrics that the paper names.
    printed_values: tuple[PublishedValue, ...] = ()
    #: The values beside those of the table, which only the checks of the print read.
    also_printed: tuple[PublishedValue, ...] = ()
    #: The hyperparameters of the columns.
    parameters: PublishedParameters = field(default_factory=dict)


def read_published_table(section: Published | None, folder: Path) -> PublishedTable:
    """Return what a paper prints for a table; empty without a section.

    `section`: the section `published` of the experiment file; None if it has none. `folder`: the
    folder of this file. Of several files with hyperparameters of the same data set and model, only
    those of the last count.
    """
    if section is None:
        return PublishedTable()
    printed_values = _read_values(section.values, folder)
    parameters: PublishedParameters = {}
    for name in section.parameter_files:
        parameters |= published_parameters(folder / name)
    return PublishedTable(
        values=tuple(
            replace(value, metric=section.meant.get(value.metric, value.metric))
            for value in printed_values
        ),
        printed_values=printed_values,
        also_printed=_read_values(section.also_printed, folder),
        parameters=parameters,
    )


def _read_values(name: str | None, folder: Path) -> tuple[PublishedValue, ...]:
    """Return the published values of the file `name` in a folder; none if `name` is None."""
    return tuple(read_published(folder / name)) if name else ()

"""The papers' figures as data: read, brought to the suite's names and units, never changed."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cache
from pathlib import Path

from elmbench.errors import ElmbenchError

#: What the files call a metric -> the suite's name and the factor that brings it to its natural unit.
_METRICS = {
    "train_seconds": ("fit_seconds", 1),
    "gmean_percent": ("gmean", Decimal("0.01")),
    "test_accuracy_percent": ("accuracy", Decimal("0.01")),
    "precision_percent": ("precision", Decimal("0.01")),
    "recall_percent": ("recall", Decimal("0.01")),
    "f1_percent": ("f1", Decimal("0.01")),
    "predicted negative, actual negative": ("tn", 1),
    "predicted positive, actual negative": ("fp", 1),
    "predicted negative, actual positive": ("fn", 1),
    "predicted positive, actual positive": ("tp", 1),
    "L": ("n_hidden", 1),
    "F": ("budget", 1),
    "attributes": ("features", 1),
}

#: Metrics that are hyperparameters.
_PARAMETERS = ("n_hidden", "C", "gamma", "budget", "delta")
#: The model that facts of a data set are filed under.
DATA = "data"


@dataclass(frozen=True)
class PublishedValue:
    """One figure of a paper.

    Attributes
    ----------
    dataset, model, metric : str
        As the paper spells the first two; the metric by the suite's name.
    value : Decimal or None
        In the metric's natural unit, with as many digits as are printed; None where the paper prints none.
    std : Decimal or None
        The printed deviation.
    note : str
        A doubt or remark about the figure.
    cited : bool
        Whether the authors took the figure from another paper.
    over_seconds : float or None
        The time after which the paper stopped the fit, printed as `> 600 s`.
    """

    dataset: str
    model: str
    metric: str
    value: Decimal | None
    std: Decimal | None
    note: str
    cited: bool = False
    over_seconds: float | None = None

    @property
    def last_place(self) -> float:
        """The weight of the last printed digit."""
        if self.value is None:
            return 0.0
        exponent = self.value.as_tuple().exponent
        return 10.0 ** int(exponent)


@cache
def read_published(path: Path) -> tuple[PublishedValue, ...]:
    """Return the figures of a table.

    Parameters
    ----------
    path : Path
        A CSV file with the columns dataset, model, metric, value, std, note; or, for facts of data sets, with a
        column dataset and one column a fact (those that are words are passed over).

    Raises
    ------
    ElmbenchError
        If a column is missing or a figure is not a number.
    """
    values = []
    with path.open(newline="", encoding="utf-8") as stream:
        reader = csv.DictReader(stream)
        names = set(reader.fieldnames or ())
        if "dataset" in names and "metric" not in names:
            return tuple(_facts(reader))
        missing = {"dataset", "model", "metric", "value", "std", "note"} - names
        if missing:
            raise ElmbenchError(
                f"{path}: the columns {', '.join(sorted(missing))} are missing",
                expected="dataset, model, metric, value, std, note",
                next_step="elmbench validate",
            )
        for row in reader:
            if None in row or None in row.values():
                raise ElmbenchError(
                    f"{path}, line {reader.line_num}: {'too many' if None in row else 'too few'} fields",
                    expected="six fields, a field with a comma in double quotes",
                    next_step="elmbench validate",
                )
            metric, factor = _METRICS.get(row["metric"], (row["metric"], 1))
            where = f"{path}, line {reader.line_num}"
            values.append(
                PublishedValue(
                    row["dataset"],
                    row["model"],
                    metric,
                    _number(row["value"], factor, where),
                    _number(row["std"], factor, where),
                    row["note"] or "",
                )
            )
    return tuple(values)


def _facts(rows: csv.DictReader[str]) -> Iterator[PublishedValue]:
    for row in rows:
        for name, text in row.items():
            if name not in ("dataset", None) and (text or "").isdigit():
                metric, _ = _METRICS.get(name, (name, 1))
                yield PublishedValue(row["dataset"], DATA, metric, Decimal(text), None, "")


def _number(text: str, factor: int | Decimal, where: str) -> Decimal | None:
    if not text:
        return None
    try:
        number = Decimal(text) * factor
    except InvalidOperation:
        number = Decimal("nan")
    if not number.is_finite():
        raise ElmbenchError(
            f"{where}: {text!r} is not a number",
            expected="a figure, or nothing",
            next_step="elmbench validate",
        )
    return number


def published_parameters(path: Path) -> dict[tuple[str, str], dict[str, float | int]]:
    """Return the printed hyperparameters by (data set, model), both as the paper spells them."""
    table: dict[tuple[str, str], dict[str, float | int]] = {}
    for entry in read_published(path):
        name = entry.metric
        if name not in _PARAMETERS or entry.value is None:
            continue
        whole = entry.value == entry.value.to_integral_value() and name in ("n_hidden", "budget")
        value: float | int = int(entry.value) if whole else float(entry.value)
        table.setdefault((entry.dataset, entry.model), {})[name] = value
    return table

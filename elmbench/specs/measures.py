"""Measures of a table: a metric, or a metric at one value of a hyperparameter."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, Field, PlainSerializer, PlainValidator

from elmbench.metrics import (
    COUNTS,
    PREQUENTIAL,
    RANK_CORRELATION,
    REGISTRY,
    counts_rows,
    registered_metric,
)
from elmbench.registry.scorers import is_metric
from elmbench.specs.grids import Value

#: The accuracy on the training rows.
TRAIN_ACCURACY = "train_accuracy"
#: Measures of quality that are not of test rows, with their tasks. Tables may show them; they never
#: choose hyperparameters.
OF_LEARNT_ROWS = {
    TRAIN_ACCURACY: ("classification",),
    PREQUENTIAL: ("classification", "regression"),
}
#: Measures of every fit.
OF_FITS = ("fit_seconds", "predict_seconds", "n_units")
MEASURES = (
    *(name for name, metric in REGISTRY.items() if not metric.counts_rows),
    *OF_LEARNT_ROWS,
    *OF_FITS,
)
#: The facts of a split: the rows of its two parts.
PARTS = ("train", "test")
#: Facts of a data set.
FACTS = ("features", "instances", "classes", "negatives", "positives", *PARTS)
#: Times and sizes that every table shows.
ALWAYS_SHOWN = ("fit_seconds", "n_units")
#: Kernels that have a weight, and updates of the weights.
COUNTED = ("kernels", "iterations")
#: Times and sizes: shown, never judged.
UNJUDGED = (*ALWAYS_SHOWN, "predict_seconds", *COUNTED)
#: Measures that have a margin, beside the metrics of plug-ins.
JUDGED = (*REGISTRY, *OF_LEARNT_ROWS, RANK_CORRELATION)
#: Measures of a stream after each chunk, by task.
OF_CHUNKS = {
    "classification": ("accuracy", TRAIN_ACCURACY, PREQUENTIAL, "n_units"),
    "regression": ("nrmse", PREQUENTIAL, "n_units"),
}
#: The number of hidden nodes, or of landmarks, is h, as the papers call it.
_SYMBOLS = {"n_hidden": "h", "n_landmarks": "h"}


def rows_after_chunks(n_rows: int, chunk: int) -> list[int]:
    """Return the number of rows of a stream that have been learnt after each chunk.

    `n_rows`: of the whole stream, which is the last number. `chunk`: rows of a chunk; the last
    chunk may be smaller.
    """
    return [*range(chunk, n_rows, chunk), n_rows]


def is_measure(name: str) -> bool:
    """Return True if a table can show a measure of this name.

    These are metrics, also of plug-ins and scorers of scikit-learn, the measures of learnt rows,
    and the times and the size of a fit. Numbers of rows such as `tp` are not among them.
    """
    return name in MEASURES or (is_metric(name) and not counts_rows(name))


def is_quality(name: str) -> bool:
    """Return True if the measure `name` is one of quality, for which a row of a table has a best
    model.

    These are the metrics of the registry and of plug-ins, and the measures of learnt rows. Times,
    sizes and numbers of rows are not among them.
    """
    is_registered = registered_metric(name) is not None
    return name in OF_LEARNT_ROWS or (is_registered and not counts_rows(name))


def _check_metric(name: str) -> str:
    """Return the name of a measure as it is; raise ValueError if no table can show the measure."""
    if is_measure(name):
        return name
    others = ", ".join((*OF_LEARNT_ROWS, *OF_FITS))
    raise ValueError(
        f"expected a name of `elmbench list metrics` except {', '.join(COUNTS)}, or one of {others}"
    )


#: A measure by name.
MeasureName = Annotated[str, AfterValidator(_check_metric)]
MeasureNames = Annotated[tuple[MeasureName, ...], Field(min_length=1)]


@dataclass(frozen=True)
class Measure:
    """A metric, or a fact, of a model on a data set."""

    metric: str
    #: The hyperparameter that it is measured at, by the paper's name; empty for none.
    parameter: str = ""
    value: Value | None = None

    @classmethod
    def create(cls, metric: str, parameter: str, value: Any) -> Measure:
        """Create the measure of a metric at one value of a hyperparameter.

        `parameter`: the suite's name of the hyperparameter, such as n_hidden; the measure has the
        papers' symbol for it.
        """
        return cls(metric, symbol_of(parameter), value)

    @property
    def column(self) -> str:
        """The name of the measure in CSV files: `mcc`, `gmean@h=50` or `accuracy@C=2^-20`."""
        if not self.parameter:
            return self.metric
        return f"{self.metric}@{self.parameter}={self.written_value}"

    @property
    def written_value(self) -> str:
        """The value of the hyperparameter, in a unique spelling: `50`, `0.5`, `2^-20`.

        A float has up to six digits if these are exact; else it is a power of two, or has all its
        digits. It has a meaning only if `parameter` is not empty.
        """
        value = self.value
        if not isinstance(value, float):
            return str(value)
        text = f"{value:g}"
        if float(text) == value:
            return text
        exponent = log2_of(value)
        if exponent is None:
            return repr(value)
        return f"2^{exponent}"


def symbol_of(parameter: str) -> str:
    """Return the papers' symbol of a hyperparameter, such as h for n_hidden.

    `parameter`: the suite's name, which is returned if there is no symbol.
    """
    return _SYMBOLS.get(parameter, parameter)


def log2_of(value: Value | None) -> int | None:
    """Return the exponent of a power of two, such as 3 for 8 and -1 for 0.5.

    For any other `value`, also a text, None, zero or a negative number, return None.
    """
    if isinstance(value, str) or not value or value < 0:
        return None
    mantissa, exponent = math.frexp(value)
    return exponent - 1 if mantissa == 0.5 else None


def _from_yaml(text: Any) -> Measure:
    """Return the measure that a text names, such as "accuracy" or "gmean@h=50"; a measure as it is.

    `text`: the form of `Measure.column`. Raises ValueError for another text, an unknown measure, or
    a value that is not a finite number.
    """
    if isinstance(text, Measure):
        return text
    name, at, point = str(text).partition("@")
    parameter, _, value = point.partition("=")
    with contextlib.suppress(ValueError, OverflowError):
        number = (
            math.ldexp(1.0, int(value[2:]))
            if value.startswith("2^")
            else float(value or "nan")
        )
        if is_measure(name) and not at:
            return Measure(name)
        if is_measure(name) and parameter and math.isfinite(number):
            return Measure(name, parameter, int(value) if value.isdigit() else number)
    raise ValueError(
        f"expected one of {', '.join(MEASURES)}, or one at a value such as gmean@h=50 or "
        "accuracy@C=2^-20"
    )


#: A measure as an experiment file writes it: `gmean`, `gmean@h=500`, `accuracy@C=2^-20`.
WrittenMeasure = Annotated[
    Measure,
    PlainValidator(_from_yaml, json_schema_input_type=str),
    PlainSerializer(lambda measure: measure.column),
]

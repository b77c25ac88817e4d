"""What a table measures: a metric, or a metric at one value of a hyperparameter."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any, get_args

from pydantic import PlainSerializer, PlainValidator

from elmbench.specs.grids import Value
from elmbench.specs.protocol import Metric

#: Counts of a confusion matrix.
COUNTS = ("tn", "fp", "fn", "tp")
#: Facts of a data set.
FACTS = ("features", "instances", "classes", "negatives", "positives")
#: The number of hidden nodes, or of landmarks, is h, as the papers call it.
_SYMBOLS = {"n_hidden": "h", "n_landmarks": "h"}


@dataclass(frozen=True)
class Measure:
    """One thing that is measured of a model on a data set."""

    metric: str
    #: The hyperparameter at whose value it is measured, as the paper calls it; empty where there is none.
    parameter: str = ""
    value: Value | None = None

    @classmethod
    def at(cls, metric: str, parameter: str, value: Value) -> Measure:
        """Return a metric at one value of a hyperparameter that has the suite's name."""
        return cls(metric, _SYMBOLS.get(parameter, parameter), value)

    @property
    def column(self) -> str:
        """Its name in CSV files, such as `mcc` or `gmean@h=50`."""
        if not self.parameter:
            return self.metric
        value = f"{self.value:g}" if isinstance(self.value, float) else self.value
        return f"{self.metric}@{self.parameter}={value}"

    @property
    def is_whole(self) -> bool:
        """Whether it is a count, of which one cell has a whole number."""
        return self.metric in (*COUNTS, *FACTS)


def _from_yaml(text: Any) -> Measure:
    if isinstance(text, Measure):
        return text
    if text in get_args(Metric):
        return Measure(text)
    point = re.fullmatch(r"([a-z]+)@(h)=([0-9]+)", str(text))
    if point is None:
        raise ValueError(f"expected one of {', '.join(get_args(Metric))}, or one at so many nodes, such as gmean@h=50")
    return Measure(point[1], point[2], int(point[3]))


#: A measure as an experiment file writes it: `gmean`, `gmean@h=500`.
WrittenMeasure = Annotated[Measure, PlainValidator(_from_yaml), PlainSerializer(lambda measure: measure.column)]

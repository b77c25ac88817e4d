"""A line of `summary.csv`."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from elmbench.specs.measures import Measure
from elmbench.specs.published import PublishedValue

#: Columns that each `summary.csv` has.
COLUMNS = [
    "dataset",
    "model",
    "metric",
    "select",
    "reading",
    "mean",
    "std",
    "n",
    "published",
    "published_std",
    "verdict",
    "ended",
    "runs",
    "low",
    "high",
    "runs_to_tell",
]
#: The column that `summary.csv` has only if a value in which nothing is random is off.
ROWS_OFF = "rows_off"


@dataclass(frozen=True, kw_only=True)
class SummaryLine:
    """A line of `summary.csv`: our value, the published value and the verdict."""

    dataset: str
    model: str
    measure: Measure
    select: str
    reading: str
    #: The mean and the deviation of the cells that ended ok.
    mean: float | None = None
    std: float | None = None
    #: The number of cells that ended ok.
    n: int
    published: PublishedValue | None = None
    #: The comparison of the mean with the published value (`elmbench.judging.value_verdicts`).
    verdict: str = ""
    #: `ok`, or the ending that all cells share, or `incomplete` if some of them did not end ok or a
    #: run lacks folds, or `not measured` for a model that the suite does not run.
    ended: str
    #: The number of runs behind the verdict.
    runs: int | None = None
    #: The ends of the interval.
    low: float | None = None
    high: float | None = None
    #: The number of runs that an interval needs, or that would separate the models.
    runs_to_tell: int | None = None
    #: The test rows by which a value is off in which nothing is random.
    rows_off: int | None = None

    @property
    def group(self) -> tuple[str, str, str, str]:
        """The group of cells: the data set, the model, the selection and the reading."""
        return (self.dataset, self.model, self.select, self.reading)

    def to_csv_dict(self) -> dict[str, Any]:
        """Return the line by the columns of `summary.csv`, None for those without a value.

        They are `dataset`, `model`, `metric`, `select`, `reading`, `mean`, `std`, `n`, `published`,
        `published_std`, `verdict`, `ended`, `runs`, `low`, `high`, `runs_to_tell` and `rows_off`,
        which is always included. Published numbers are floats.
        """
        published = self.published
        return {
            "dataset": self.dataset,
            "model": self.model,
            "metric": self.measure.column,
            "select": self.select,
            "reading": self.reading,
            "mean": self.mean,
            "std": self.std,
            "n": self.n,
            "published": None if published is None else _number(published.value),
            "published_std": None if published is None else _number(published.std),
            "verdict": self.verdict,
            "ended": self.ended,
            "runs": self.runs,
            "low": self.low,
            "high": self.high,
            "runs_to_tell": self.runs_to_tell,
            ROWS_OFF: self.rows_off,
        }


def _number(value: Decimal | None) -> float | None:
    """Return a printed number as a float; None stays None."""
    return None if value is None else float(value)

"""A line of `summary.csv`."""

from dataclasses import dataclass, fields
from typing import Any

#: The column that `summary.csv` has only if a value in which nothing is random is off.
ROWS_OFF = "rows_off"


@dataclass(frozen=True, kw_only=True)
class SummaryLine:
    """A line of `summary.csv`: the value of a group of cells, the published value and the
    verdict.
    """

    dataset: str
    model: str
    metric: str
    select: str
    reading: str
    #: The mean and the deviation of the cells that ended ok.
    mean: float | None = None
    std: float | None = None
    #: The number of cells that ended ok.
    n: int
    published: float | None = None
    published_std: float | None = None
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

    def record(self) -> dict[str, Any]:
        """Return the columns that have a value."""
        return {name: value for name, value in vars(self).items() if value is not None}


#: Columns that each `summary.csv` has.
COLUMNS = [field.name for field in fields(SummaryLine) if field.name != ROWS_OFF]

"""Fit times and metric of each model on each data set."""

from collections.abc import Collection, Iterator, Sequence

from elmbench.tables.base import DATASET, MODEL, VALUE, Entry
from elmbench.tables.metrics import RATIOS, TEST_TIMES, TIMES, MetricsTable
from elmbench.tables.result_table import Column, Line


class TimesTable(MetricsTable):
    """A line for each model on each data set: times, ratios, and metrics without verdicts."""

    per_metric = (VALUE,)

    def columns(self, datasets: Collection[str]) -> tuple[Column, ...]:
        """Return the columns of times and ratios, followed by one for each metric.

        `datasets`: the names of those that the table shows, whose metrics have columns.
        """
        return (
            DATASET,
            MODEL,
            *TIMES,
            *RATIOS,
            *TEST_TIMES,
            *self._metric_columns(datasets),
        )

    def lines(self, entries: Sequence[Entry]) -> Iterator[Line]:
        """Yield a line for each model on each data set: {name of the column: text}.

        If a fit has no time, the value of the first metric, such as the ending of its cells, moves
        to the column `fit`; further values are then left out. `entries`: of a section, in the order
        of the table.
        """
        for line in super().lines(entries):
            if "fit" in line or "value" not in line:
                yield line
            else:
                others = {
                    name: item
                    for name, item in line.items()
                    if not name.startswith("value")
                }
                yield others | {"fit": line["value"]}

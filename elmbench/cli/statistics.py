"""The comparison of models over data sets for the terminal."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from elmbench.reporting.statistics import Statistics
from elmbench.reporting.writers.text import grid


def statistics_text(comparisons: Sequence[Statistics]) -> RenderableType:
    """Return the ranks, the tests and the wins of each comparison."""

    def parts() -> Iterator[RenderableType]:
        for one in comparisons:
            yield Text(f"\n{one.heading}")
            yield grid(one.columns, one.rows, right=one.columns[1:], whole=("model",))
            yield Text(one.differences)

    return Group(*parts())

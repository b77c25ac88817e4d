"""Figures of cells that are made by hand."""

from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd
from made_cells import frame

from elmbench.specs.profiles import Resolved
from elmbench.tables import kind_of_table
from elmbench.tables.base import Outputs
from elmbench.tables.drawing import Figure

Toy = Callable[..., Resolved]


def figure_of(
    resolved: Resolved, lines: list[dict[str, Any]], outputs: Iterable[Outputs] = ()
) -> Figure | None:
    """Return the figure of some cells."""
    return kind_of_table(resolved).figure(frame(resolved, lines), outputs)


def data_of(
    resolved: Resolved, lines: list[dict[str, Any]], outputs: Iterable[Outputs] = ()
) -> pd.DataFrame:
    """Return the data of a figure, which has a picture."""
    figure = figure_of(resolved, lines, outputs)
    assert figure is not None
    assert figure.png[:8] == b"\x89PNG\r\n\x1a\n"
    return figure.data


def draw(resolved: Resolved, points: pd.DataFrame) -> Any:
    """Return these points as a matplotlib figure."""
    return kind_of_table(resolved).draw(points)

"""What the figures of several kinds of table have in common: which cells they show, panels, lines told apart."""

import math
from collections.abc import Sequence
from textwrap import fill
from typing import Any

import pandas as pd

from elmbench.specs.measures import log2_of

_LINES = ("-", "--", "-.", (0, (1, 1.2)))
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">")
_WORDS = {"gmean": "G-mean", "h": "hidden nodes h"}


def words_for(name: str) -> str:
    """Return what an axis calls a metric or a hyperparameter."""
    return _WORDS.get(name, name)


def exponents_of(values: Sequence[float]) -> list[int] | None:
    """Return the exponents of powers of two; None if one of the values is none, or there are fewer than three."""
    found = [exponent for exponent in map(log2_of, values) if exponent is not None]
    return found if len(found) == len(values) > 2 else None


def default_cells(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells under the default readings and, of each model on each data set, the first selection."""
    own = cells[cells["reading"] == ""]
    return own[own["select"] == own.groupby(["dataset", "model"])["select"].transform("first")]


def line_styles(names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return how the line of each name is drawn: colour, dashes and marker, no two alike for up to 20 names."""
    return {
        name: {"color": f"C{i % 10}", "linestyle": _LINES[i % 4], "marker": _MARKERS[i % 10], "linewidth": 1.3}
        for i, name in enumerate(names)
    }


def panels(n: int, height: float = 3.4) -> tuple[Any, list[Any]]:
    """Return a new drawing and the axes of its n panels, three in a row or, of four, two."""
    from matplotlib.figure import Figure as Drawing

    across = 2 if n == 4 else min(n, 3)
    down = math.ceil(n / across)
    width = 6.4 if across == 1 else 4.0 * across
    figure = Drawing(figsize=(width, height * down + 0.7), dpi=150, layout="constrained")
    axes = [figure.add_subplot(down, across, place + 1) for place in range(n)]
    for one in axes:
        one.grid(alpha=0.3)
        one.tick_params(which="both", labelsize="small")
    return figure, axes


def panel_title(axes: Any, title: str) -> None:
    """Put a title above a panel, on several lines if it is long."""
    alone = axes.get_subplotspec().get_geometry()[1] == 1
    axes.set_title(fill(title, 76 if alone else 44), fontsize="medium")


def legend_below(figure: Any, axes: Any, labels: Sequence[str]) -> None:
    """Put the legend below the drawing: what has these labels in one of its panels."""
    handles = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    columns = max(1, int(figure.get_figwidth() * 11 // (max(map(len, labels)) + 8)))
    shown = [handles[label] for label in labels]
    figure.legend(shown, labels, loc="outside lower center", ncols=min(columns, len(labels)), fontsize="small")


def ridge_axis(axes: Any) -> None:
    """Show the ridges, which are 1/C, above an axis of C in powers of two."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    above = axes.secondary_xaxis("top")
    above.xaxis.set_major_locator(LogLocator(base=2))
    above.xaxis.set_minor_locator(NullLocator())
    above.xaxis.set_major_formatter(FuncFormatter(lambda C, _: f"$2^{{{-round(math.log2(C))}}}$"))
    above.set_xlabel("ridge 1/C")

"""A metric over two hyperparameters, as a table of points and as a surface."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elmbench.layouts.base import LayoutOptions, Outputs
from elmbench.layouts.curves import Curves
from elmbench.layouts.figures import exponents_of, panel_title, panels, png, title_of, words_for
from elmbench.metrics import less_is_better
from elmbench.specs.experiments import Experiment
from elmbench.specs.measures import symbol_of
from elmbench.specs.profiles import Resolved

if TYPE_CHECKING:
    import pandas as pd


class SurfaceOptions(LayoutOptions):
    """The second hyperparameter of the surface, which each column fixes at a value."""

    rows: str


class Surface(Curves):
    """Curves over one hyperparameter; the `params` of each column fix a second one at another value.

    The figure has a panel for each data set.
    """

    Options = SurfaceOptions
    takes_models = False

    def check(self, spec: Experiment) -> None:
        super().check(spec)
        if len(self.varied(spec)) != 1:
            varied = ", ".join(self.varied(spec))
            raise ValueError(f"models search {varied}; expected the same hyperparameter of each column")
        rows = self.options(spec).rows
        values = [model.params.get(rows) for model in spec.models.values()]
        for column, value in zip(spec.models, values, strict=True):
            if isinstance(value, bool) or not isinstance(value, int | float) or values.count(value) > 1:
                raise ValueError(f"models.{column}.params.{rows} is {value!r}; expected a number of its own")

    def points_of(self, cells: pd.DataFrame, outputs: Iterable[Outputs], resolved: Resolved) -> pd.DataFrame:
        """Return the points of the curves with the columns row (its name) and row_value."""
        points = super().points_of(cells, outputs, resolved)
        if not len(points):
            return points
        rows = self.options(resolved.spec).rows
        models = resolved.file.spec.models
        values: list[Any] = [models[model].params[rows] for model in points["model"]]
        return points.assign(row=symbol_of(rows), row_value=values)

    def draw(self, points: pd.DataFrame, resolved: Resolved) -> bytes:
        return draw_surface(points, title_of(resolved))


def draw_surface(points: pd.DataFrame, title: str) -> bytes:
    """Return the picture of a metric over two hyperparameters, as in Fig. 1 of the RKELM paper.

    There is a panel for each data set. All points have tiles of the same size, even if they are not evenly spaced.
    """
    groups = list(points.groupby("dataset", sort=False))
    figure, every = panels(len(groups), height=3.8)
    for axes, (dataset, group) in zip(every, groups, strict=True):
        surface = group.pivot(index="row_value", columns="value", values="mean").sort_index().sort_index(axis=1)
        _draw_panel(figure, axes, surface, group.iloc[0])
        panel_title(axes, str(dataset))
    figure.suptitle(title)
    return png(figure)


def _draw_panel(figure: Any, axes: Any, surface: pd.DataFrame, point: Any) -> None:
    """Draw a surface, with rows from the bottom up, contour lines and a star at the best point."""
    from matplotlib.ticker import MaxNLocator

    smaller = less_is_better(point["metric"])
    heights = np.ma.masked_invalid(surface.to_numpy(dtype=float))
    axes.grid(visible=False)
    axes.set_facecolor("lightgrey")  # where there is no value
    image = axes.pcolormesh(heights, cmap="viridis_r" if smaller else "viridis")
    figure.colorbar(image, ax=axes, label=f"{words_for(point['metric'])}, mean over test folds")
    across, up = (np.arange(n) + 0.5 for n in surface.shape[::-1])
    low, high = float(heights.min()), float(heights.max())
    if min(surface.shape) > 1 and high > low:
        levels = [level for level in MaxNLocator(6).tick_values(low, high) if low < level < high]
        dark = [level > (low + high) / 2 if smaller else level < (low + high) / 2 for level in levels]
        colours = ["white" if one else "black" for one in dark]
        axes.clabel(axes.contour(across, up, heights, levels, colors=colours, linewidths=0.8), fontsize="x-small")
    row, column = np.unravel_index((heights.argmin if smaller else heights.argmax)(), heights.shape)
    best = {"marker": "*", "markersize": 13, "color": "white", "markeredgecolor": "black", "clip_on": False}
    axes.plot(across[column], up[row], **best)
    axes.set_yticks(up, [f"{value:g}" for value in surface.index])
    axes.set_ylabel(words_for(point["row"]))
    _label_columns(axes, across, surface.columns.to_list(), point["parameter"])


def _label_columns(axes: Any, centres: NDArray[Any], values: list[Any], parameter: str) -> None:
    axes.set_xlabel(words_for(parameter))
    exponents = exponents_of(values)
    if exponents is None:
        some = slice(None, None, max(1, len(values) // 6))
        axes.set_xticks(centres[some], [f"{value:.3g}" for value in values[some]])
        return
    shown = [(x, e) for x, e in zip(centres, exponents, strict=True) if len(values) <= 8 or e % 5 == 0]
    axes.set_xticks([x for x, _ in shown], [f"$2^{{{e}}}$" for _, e in shown])
    if parameter == "C":
        above = axes.secondary_xaxis("top")
        above.set_xticks([x for x, _ in shown], [f"$2^{{{-e}}}$" for _, e in shown], fontsize="small")
        above.set_xlabel("ridge 1/C")

"""A metric over two hyperparameters, as a table of points and as a surface."""

from typing import Any

from elmbench.metrics import less_is_better
from elmbench.specs.measures import symbol_of
from elmbench.tables.base import DataFrame, Points, TableOptions
from elmbench.tables.curves import CurvesTable
from elmbench.tables.drawing import exponents_of, panels, title_of, words_for


class SurfaceOptions(TableOptions):
    """The second hyperparameter of the surface, which each column fixes at a value."""

    rows: str


class SurfaceTable(CurvesTable):
    """Curves over one hyperparameter; the `params` of each column fix a second one at another
    value.

    The figure has a panel for each data set.
    """

    Options = SurfaceOptions
    takes_models = False

    def check(self) -> None:
        super().check()
        if len(self.varied_params()) != 1:
            names = ", ".join(self.varied_params())
            raise ValueError(
                f"models search {names}; expected the same hyperparameter of each column"
            )
        rows = self.options.rows
        values = [model.params.get(rows) for model in self.spec.models.values()]
        for column, value in zip(self.spec.models, values, strict=True):
            if (
                isinstance(value, bool)
                or not isinstance(value, int | float)
                or values.count(value) > 1
            ):
                raise ValueError(
                    f"models.{column}.params.{rows} is {value!r}; expected a number of its own"
                )

    def points_of_entry(self, cells: DataFrame, dataset: str, model: str) -> Points:
        """Yield the points of the curves with the name and the value of the second
        hyperparameter.
        """
        rows = self.options.rows
        row = {
            "row": symbol_of(rows),
            "row_value": self.experiment.file.spec.models[model].params[rows],
        }
        yield from (point | row for point in super().points_of_entry(cells, dataset, model))

    def draw(self, points: DataFrame) -> Any:
        """Draw a panel for each data set, as in Fig. 1 of the RKELM paper; all points have tiles of
        the same size.
        """
        figure, parts = panels(points, height=3.8)
        for axes, group in parts:
            surface = (
                group.pivot(index="row_value", columns="value", values="mean")
                .sort_index()
                .sort_index(axis=1)
            )
            _draw_panel(figure, axes, surface, group.iloc[0])
        figure.suptitle(title_of(self.experiment))
        return figure


def _draw_panel(figure: Any, axes: Any, surface: DataFrame, point: Any) -> None:
    """Draw a surface, with rows from the bottom up, contour lines and a star at the best point."""
    import numpy as np
    from matplotlib.ticker import MaxNLocator

    smaller = less_is_better(point["metric"])
    heights = np.ma.masked_invalid(surface.to_numpy(dtype=float))
    axes.grid(visible=False)
    axes.set_facecolor("lightgrey")  # where there is no value
    image = axes.pcolormesh(heights, cmap="viridis_r" if smaller else "viridis")
    figure.colorbar(image, ax=axes, label=f"{words_for(point['metric'])}, mean over test folds")
    x, y = (np.arange(n) + 0.5 for n in surface.shape[::-1])
    low = float(heights.min())
    high = float(heights.max())
    if min(surface.shape) > 1 and high > low:
        levels = [level for level in MaxNLocator(6).tick_values(low, high) if low < level < high]
        dark = [
            level > (low + high) / 2 if smaller else level < (low + high) / 2 for level in levels
        ]
        colours = ["white" if is_dark else "black" for is_dark in dark]
        axes.clabel(
            axes.contour(x, y, heights, levels, colors=colours, linewidths=0.8), fontsize="x-small"
        )
    row, column = np.unravel_index((heights.argmin if smaller else heights.argmax)(), heights.shape)
    best = {
        "marker": "*",
        "markersize": 13,
        "color": "white",
        "markeredgecolor": "black",
        "clip_on": False,
    }
    axes.plot(x[column], y[row], **best)
    axes.set_yticks(y, [f"{value:g}" for value in surface.index])
    axes.set(xlabel=words_for(point["parameter"]), ylabel=words_for(point["row"]))
    values: list[Any] = surface.columns.to_list()
    exponents = exponents_of(values)
    if exponents is None:
        thin = slice(None, None, max(1, len(values) // 6))
        axes.set_xticks(x[thin], [f"{value:.3g}" for value in values[thin]])
        return
    ticks = {
        tick: e for tick, e in zip(x, exponents, strict=True) if len(values) <= 8 or e % 5 == 0
    }
    axes.set_xticks(list(ticks), [f"$2^{{{e}}}$" for e in ticks.values()])
    if point["parameter"] == "C":
        top_axis = axes.secondary_xaxis("top")
        top_axis.set_xticks(
            list(ticks), [f"$2^{{{-e}}}$" for e in ticks.values()], fontsize="small"
        )
        top_axis.set_xlabel("ridge 1/C")

"""A metric over two hyperparameters, as a table of points and as a surface."""

from dataclasses import dataclass
from typing import Any

from elmbench.metrics import less_is_better
from elmbench.specs.measures import symbol_of
from elmbench.tables.base import DataFrame, Points, TableOptions
from elmbench.tables.curves import CurvesTable
from elmbench.tables.drawing import (
    ProperNames,
    exponents_of,
    headline,
    panels,
    words_for,
)


class SurfaceOptions(TableOptions):
    """The second hyperparameter of the surface, which each column fixes at a value."""

    rows: str


class SurfaceTable(CurvesTable):
    """Curves over one hyperparameter; each column fixes a second one at another value.

    The figure has a panel for each data set.
    """

    Options = SurfaceOptions
    takes_models = False
    figure_legend = "The star marks the best value; the lines join equal values."

    def check(self) -> None:
        """Raise ValueError unless the columns form a surface.

        All must vary the same numeric hyperparameter, and each must fix the one of `options.rows`
        at a number of its own.
        """
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
        """Yield the points of one row of the surface, that of the column `model` of the table.

        They have `metric`, `parameter`, `value` (of the first hyperparameter), `mean`, `std` and
        `n`, and `row` and `row_value`, the symbol and the value of the second one. `cells`: those
        of this model and data set. A model that is no column of the table raises KeyError.
        """
        rows = self.options.rows
        row = {
            "row": symbol_of(rows),
            "row_value": self.experiment.file.spec.models[model].params[rows],
        }
        yield from (
            point | row for point in super().points_of_entry(cells, dataset, model)
        )

    def draw(self, points: DataFrame) -> Any:
        """Return a figure with a surface for each data set, as in Fig. 1 of the RKELM paper.

        It is a figure of matplotlib; all points have tiles of the same size. `points`: with the
        columns `dataset`, `metric`, `parameter` and `value` (the first hyperparameter, along x),
        `row_value` (that of the second one, along y) and `mean`; one for each pair of values.
        """
        points = ProperNames(self.experiment).rename_datasets(points)
        title = headline(self.experiment)
        figure, parts = panels(points, height=3.8)
        for axes, group in parts:
            surface = (
                group.pivot(index="row_value", columns="value", values="mean")
                .sort_index()
                .sort_index(axis=1)
            )
            _draw_panel(figure, axes, surface, group.iloc[0])
            axes.set_ylabel(words_for(self.options.rows))
            if axes.get_title().casefold() in title.casefold():
                axes.set_title("")
        figure.suptitle(title, fontsize="medium")
        return figure


def _draw_panel(figure: Any, axes: Any, surface: DataFrame, point: Any) -> None:
    """Draw a surface, with rows from the bottom up, contour lines and a star at the best point.

    `surface`: the means, a row for each value of the second hyperparameter, a column for each value
    of the first, ascending. `point`: any of its points, with `metric` and `parameter`, the names of
    what the tiles and the x axis show.
    """
    import numpy as np

    metric = point["metric"]
    heights = np.ma.masked_invalid(surface.to_numpy(dtype=float))
    axes.grid(visible=False)
    axes.set_facecolor("lightgrey")  # where there is no value
    image = axes.pcolormesh(
        heights, cmap="viridis_r" if less_is_better(metric) else "viridis"
    )
    figure.colorbar(image, ax=axes, label=f"{words_for(metric)}, mean over test folds")
    n_rows, n_columns = surface.shape
    tiles = TileCentres(x=np.arange(n_columns) + 0.5, y=np.arange(n_rows) + 0.5)
    _add_contours(axes, tiles, heights, metric)
    _mark_best(axes, tiles, heights, metric)
    axes.set_yticks(tiles.y, [f"{value:g}" for value in surface.index])
    axes.set_xlabel(words_for(point["parameter"]))
    _label_values(
        axes, tiles.x, surface.columns.to_list(), has_ridges=point["parameter"] == "C"
    )


@dataclass(frozen=True)
class TileCentres:
    """The centres of the tiles of a surface on both axes."""

    x: Any
    y: Any


def _add_contours(axes: Any, tiles: TileCentres, heights: Any, metric: str) -> None:
    """Add labelled contour lines, white where the tiles are dark.

    There are none if the surface is flat or has a single row or column. `heights`: the values, of
    shape (rows, columns), masked where missing. `metric`: decides which end of the colours is dark.
    """
    from matplotlib.ticker import MaxNLocator

    low = float(heights.min())
    high = float(heights.max())
    if min(heights.shape) == 1 or high <= low:
        return
    levels = [
        level for level in MaxNLocator(6).tick_values(low, high) if low < level < high
    ]
    middle = (low + high) / 2

    def colour(level: float) -> str:
        """Return white or black: the colour of a line that can be seen on tiles of this level."""
        is_dark = level > middle if less_is_better(metric) else level < middle
        return "white" if is_dark else "black"

    colours = list(map(colour, levels))
    contours = axes.contour(
        tiles.x, tiles.y, heights, levels=levels, colors=colours, linewidths=0.8
    )
    axes.clabel(contours, fontsize="x-small")


def _mark_best(axes: Any, tiles: TileCentres, heights: Any, metric: str) -> None:
    """Mark the best point, the largest or for an error the smallest, with a star.

    Of equal ones, it is the lowest on the panel, then the leftmost. `heights`: the values, of shape
    (rows, columns), masked where missing.
    """
    import numpy as np

    best = heights.argmin() if less_is_better(metric) else heights.argmax()
    row, column = np.unravel_index(best, heights.shape)
    axes.plot(
        tiles.x[column],
        tiles.y[row],
        marker="*",
        markersize=13,
        color="white",
        markeredgecolor="black",
        clip_on=False,
    )


def _label_values(axes: Any, x: Any, values: list[Any], *, has_ridges: bool) -> None:
    """Label the ticks of the x axis with the values of the first hyperparameter.

    `x`: the position of each value. `values`: the values, ascending. If all are powers of two, and
    at least three, they are labelled as such: each of up to eight, else every fifth power. Of other
    values, about six are labelled, evenly spaced. `has_ridges`: also label powers of two with their
    inverses above the panel; other values never get these.
    """
    exponents = exponents_of(values)
    if exponents is None:
        step = max(1, len(values) // 6)
        axes.set_xticks(x[::step], [f"{value:.3g}" for value in values[::step]])
        return
    shown = [
        (tick, exponent)
        for tick, exponent in zip(x, exponents, strict=True)
        if len(values) <= 8 or exponent % 5 == 0
    ]
    ticks = [tick for tick, _ in shown]
    axes.set_xticks(ticks, [_power_of_two(exponent) for _, exponent in shown])
    if has_ridges:
        top_axis = axes.secondary_xaxis("top")
        ridges = [_power_of_two(-exponent) for _, exponent in shown]
        top_axis.set_xticks(ticks, ridges, fontsize="small")
        top_axis.set_xlabel("ridge 1/C")


def _power_of_two(exponent: int) -> str:
    """Return the power of two with this exponent as a formula for matplotlib, `$2^{-3}$`."""
    return f"$2^{{{exponent}}}$"

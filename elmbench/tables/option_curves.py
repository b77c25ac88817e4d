"""Fit times of each model over an option of generated data, as a table and as curves."""

from collections.abc import Collection, Mapping
from itertools import cycle
from typing import Any

from elmbench.specs.datasets import split_name
from elmbench.tables.base import DATASET, MODEL, DataFrame, Points
from elmbench.tables.drawing import (
    BAND_LEGEND,
    common_value,
    curve_of,
    finish,
    headline,
    line_styles,
    mean_of,
    panels,
    plot_with_band,
    words_for,
)
from elmbench.tables.metrics import RATIOS, TIMES
from elmbench.tables.number_texts import ending_text
from elmbench.tables.result_table import Column
from elmbench.tables.times import TimesTable

#: The marks of cells that did not end ok, by their ending.
_CROSSES = ("x", "+", "1", "2", "|")


class OptionCurvesTable(TimesTable):
    """Fit times of each model on generated data with an option in the name.

    An example of a name is `sparse-10k[density=0.6]`. The figure has a panel for each generator,
    and in it a curve of each model over the values of the option.
    """

    figure_legend = BAND_LEGEND

    def check(self) -> None:
        """Raise ValueError unless each name of a data set has one option, the same for all.

        The error names the first data set with no or several options, or with another option than
        the first data set. The value of the option may be any number (else ElmbenchError). A table
        without models raises ValueError too.
        """
        super().check()
        options = {}
        for name in self.spec.datasets:
            _, values = split_name(name)
            options[name] = list(values)
        expected = options[self.spec.datasets[0]]
        for name, names in options.items():
            if len(names) != 1 or names != expected:
                raise ValueError(
                    f"datasets names {name!r}; expected names with one option, the same for all"
                )

    def columns(self, datasets: Collection[str]) -> tuple[Column, ...]:
        """Return the columns of names, fit times and ratios, without metrics, for any data sets."""
        return (DATASET, MODEL, *TIMES, *RATIOS)

    def points_of_entry(self, cells: DataFrame, dataset: str, model: str) -> Points:
        """Yield one point: the mean time of a fit on generated data with one value of the option.

        Its columns are `dataset` (the generator), `option`, `value`, `mean`, `std` and `n` of the
        seconds of the cells that ended ok, and `ending`, the first other status, or empty. `cells`:
        those of this model and data set.
        """
        spec = self.experiment.dataset(dataset)
        _, options = split_name(spec.name)
        ((option, value),) = options.items()
        is_ok = cells["status"] == "ok"
        seconds = cells.loc[is_ok, "fit_seconds"].dropna().astype(float)
        yield {
            "dataset": spec.base,
            "option": option,
            "value": value,
            **mean_of(seconds),
            "ending": "" if is_ok.all() else cells.loc[~is_ok, "status"].iloc[0],
        }

    def draw(self, points: DataFrame) -> Any:
        """Return a figure with a panel for each generator, as in Fig. 4 of the RKELM paper.

        It is a figure of matplotlib: fit times over the values of the option. Models with cells
        that did not end ok have marks. `points`: with the columns `dataset` (the generator),
        `model`, `option`, `value`, `mean`, `std` and `ending` (empty for ok).
        """
        styles = line_styles(points["model"])
        marks = _marks_of(points["ending"])
        datasets = self.experiment.datasets.values()
        titles = {spec.base: spec.title for spec in datasets}
        figure, parts = panels(points, titles=titles)
        for axes, group in parts:
            _draw_panel(axes, group, styles, marks)
        first_axes = figure.axes[0]
        words = f"{words_for('fit_seconds')}, mean and deviation"
        first_axes.set_ylabel(words, fontsize="small")
        legend = {ending_text(status): mark for status, mark in marks.items()}
        title = headline(self.experiment)
        return finish(figure, styles, title, legend)


def _draw_panel(
    axes: Any, points: Any, styles: Mapping[str, Any], marks: Mapping[str, str]
) -> None:
    """Draw the curve of each model on one generator, with marks for cells that did not end ok.

    `points`: those of the generator, with the columns `model`, `option`, `value`, `mean`, `std` and
    `ending`. `styles`: {model: arguments of `plot`}. `marks`: {status: marker}.
    """
    _scale_axes(axes, points["value"], has_marks=bool(marks))
    for i, (model, style) in enumerate(styles.items()):
        curve = curve_of(points, model, by="value")
        plot_with_band(axes, "value", curve, style)
        # Each model has its own height, so that marks do not overlap.
        height = 0.96 - 0.05 * (i % 4)
        _add_marks(axes, curve, marks, style, height=height)
    option = common_value(points, "option")
    axes.set_xlabel(option)


def _marks_of(endings: Any) -> dict[str, str]:
    """Return a marker of matplotlib for each distinct status but ok, by the status.

    Markers repeat if there are more statuses than markers. `endings`: a series of statuses, empty
    or missing for ok.
    """
    statuses = endings.astype(object).fillna("")
    distinct = dict.fromkeys(filter(None, statuses))
    return dict(zip(distinct, cycle(_CROSSES), strict=False))


def _scale_axes(axes: Any, values: Any, *, has_marks: bool) -> None:
    """Make the y axis, of seconds, logarithmic; also the x axis if all x values are positive.

    Otherwise, the x axis stays linear. `values`: the x values of all points, a series. `has_marks`:
    leave space at the top for marks.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    least = values.min()
    if least > 0:
        axes.set(xscale="log", xlim=(least / 1.4, values.max() * 1.4))
        axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda seconds, _: f"{seconds:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_ymargin(0.25 if has_marks else 0.05)


def _add_marks(
    axes: Any,
    curve: DataFrame,
    marks: Mapping[str, str],
    style: Mapping[str, Any],
    *,
    height: float,
) -> None:
    """Mark the points whose cells did not end ok: the marker of the model around a cross.

    `curve`: the points of a model, with `value` (x) and `ending` (the status; empty for ok).
    `marks`: {status: cross}, markers of matplotlib. `style`: that of the model, with `color` and
    `marker`. `height`: a share of the panel's height, from 0 at the bottom to 1.
    """
    look = {
        "transform": axes.get_xaxis_transform(),
        "linestyle": "",
        "color": style["color"],
    }
    for status, mark in marks.items():
        has_ending = curve["ending"] == status
        x = curve.loc[has_ending, "value"]
        heights = [height] * len(x)
        axes.plot(
            x, heights, **look, marker=style["marker"], markersize=8, fillstyle="none"
        )
        axes.plot(x, heights, **look, marker=mark, markersize=4)

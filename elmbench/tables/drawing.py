"""Parts that the figures of several kinds of table share: cells, drawings, panels, line styles,
legends.
"""

from __future__ import annotations

import io
import math
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

from elmbench.specs.measures import log2_of
from elmbench.terminal import escape

if TYPE_CHECKING:
    import pandas as pd

    from elmbench.specs.model_columns import ModelColumn
    from elmbench.specs.profiles import Resolved

#: Colours in the palette of a picture.
_COLOURS = 256
#: The label of a tick.
_POWER_OF_TWO = re.compile(r"\$2\^\{-?\d+\}\$")
_LINES = ("-", "--", "-.", ":")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">")
#: The palette of Okabe and Ito, which colour-blind readers can tell apart, without the faint
#: yellow.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
#: The sentence on the bands of `plot_with_band`.
BAND_LEGEND = "A shaded band is one deviation on each side of a mean."
#: Colours of single scores and of their mean.
DOT_COLOUR = PALETTE[0]
MEAN_COLOUR = PALETTE[1]
#: The name of each metric and hyperparameter that is not spelled as in the files.
_WORDS = {
    "gmean": "G-mean",
    "mcc": "MCC",
    "f1": "F1",
    "rmse": "RMSE",
    "nrmse": "NRMSE",
    "mse": "MSE",
    "mae": "MAE",
    "r2": "R²",
    "f1_macro": "macro F1",
    "roc_auc": "ROC AUC",
    "train_accuracy": "training accuracy",
    "spearman": "rank correlation",
    "fit_seconds": "training time (s)",
    "search_seconds": "search time (s)",
    "predict_seconds": "prediction time (s)",
    "n_units": "model size",
    "tp": "true positives",
    "fp": "false positives",
    "tn": "true negatives",
    "fn": "false negatives",
    "h": "hidden nodes h",
    "n_hidden": "hidden nodes",
    "n_landmarks": "centres",
    "gamma": "kernel parameter γ",
}


@dataclass(frozen=True)
class Figure:
    """A figure: its data, and the picture as PNG.

    `drawing`: of matplotlib, from which the picture has other formats too.
    """

    data: pd.DataFrame
    png: bytes
    drawing: Any = None


def title_of(resolved: Resolved) -> str:
    """Return the title of a figure in one line: paper, label of the table and profile."""
    return f"{resolved.file.paper.name}, {resolved.file.spec.label}, profile {resolved.profile}"


def headline(resolved: Resolved, detail: str = "", width: int = 80) -> str:
    """Return the heading of a figure: title of the table and `detail`, and `title_of` below.

    The title and the detail are broken into lines of `width` characters. A detail that is empty, or
    that the title already has, is left out.
    """
    title = resolved.file.spec.title
    words = title[:1].upper() + title[1:]
    is_said = detail.casefold() in words.casefold()
    if not is_said:
        words = f"{words}: {detail}"
    lines = fill(words, width)
    return f"{lines}\n{title_of(resolved)}"


def words_for(name: str) -> str:
    """Return the name of a metric or a hyperparameter for readers, such as `G-mean` for `gmean`.

    The settings of a measure, such as `rows=100` in `prequential_error@rows=100`, follow the word
    "at". Other names have their underscores replaced by spaces.
    """
    metric, _, settings = name.partition("@")
    words = _WORDS.get(metric, metric.replace("_", " "))
    return f"{words} at {settings}" if settings else words


class ProperNames:
    """The names of data sets and models as the tables of the experiment's paper print them."""

    def __init__(self, resolved: Resolved) -> None:
        self._resolved = resolved
        self._datasets: dict[str, str] = {}
        self._models: dict[str, str] = {}
        for table in resolved.file.tables or [resolved.file]:
            for value in table.published.values:
                name = value.dataset
                self._datasets.setdefault(name.casefold(), name)
            self._add_models(table.spec.models)

    def _add_models(self, columns: Mapping[str, ModelColumn]) -> None:
        """Add the column name of each model that has a single column in a table.

        `columns`: those of the table, by name. Earlier tables take precedence. A model with several
        columns has a name for each of its sizes, so none is added.
        """
        n_columns = Counter(column.model for column in columns.values())
        for name, column in columns.items():
            if n_columns[column.model] == 1:
                self._models.setdefault(column.model, name)

    def dataset(self, name: str) -> str:
        """Return the printed name of a data set, given by any of its names.

        The name itself is returned if no table prints it. The case does not matter.
        """
        names = [name]
        if name in self._resolved.datasets:
            spec = self._resolved.dataset(name)
            names += [spec.name, *spec.aliases]
        for known in names:
            printed = self._datasets.get(known.casefold())
            if printed:
                return printed
        return name

    def rename_datasets(self, points: pd.DataFrame) -> pd.DataFrame:
        """Return the points of a figure with printed names in the column `dataset`."""
        return points.assign(dataset=points["dataset"].map(self.dataset))

    def model(self, name: str) -> str:
        """Return the column of a table that shows a model, given by the suite's name of the model.

        The name itself is returned if no table has exactly one column of the model.
        """
        return self._models.get(name, name)


def exponents_of(values: Sequence[float]) -> list[int] | None:
    """Return the exponents if all values are powers of two and there are at least three.

    None for other or fewer values.
    """
    exponents = [exponent for exponent in map(log2_of, values) if exponent is not None]
    return exponents if len(exponents) == len(values) > 2 else None


def cells_ended_ok(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells whose status is `ok`.

    `cells`: with the column `status`; the result has their columns and index.
    """
    return cells[cells["status"] == "ok"]


def common_value(points: pd.DataFrame, column: str) -> str:
    """Return the value of a column that all points have in common, as text.

    It is read from the first point and not checked.
    """
    return str(points[column].iloc[0])


def curve_of(points: pd.DataFrame, model: str, by: str) -> pd.DataFrame:
    """Return the points of a model in ascending order of the column `by`.

    `points`: with the columns `model` and `by`.
    """
    of_model = points[points["model"] == model]
    return of_model.sort_values(by)


def default_cells(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells under the default readings and the first selection of their model.

    That is the first one in the order of the cells, for each model on each data set. `cells`: lines
    of `cells.csv`, of which those are returned, with their index.
    """
    default = cells[cells["reading"] == ""]
    return default[
        default["select"]
        == default.groupby(["dataset", "model"])["select"].transform("first")
    ]


def default_cells_by_model(
    cells: pd.DataFrame,
) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield (data set, model, its cells) under default readings and the first selection.

    They are in the order of their first cells. `cells`: lines of `cells.csv`; the yielded cells
    have its columns and index.
    """
    for (dataset, model), group in default_cells(cells).groupby(
        ["dataset", "model"], sort=False
    ):
        yield str(dataset), str(model), group


def mean_of(values: pd.Series[float]) -> dict[str, float]:
    """Return {"mean": ..., "std": ..., "n": ...} of some values, none of them missing.

    `std` divides by n - 1 and is NaN for a single value; without values the mean is NaN.
    """
    return {"mean": values.mean(), "std": values.std(ddof=1), "n": len(values)}


def line_styles(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the style of each line by its name, as arguments of matplotlib's `plot`.

    The arguments are `color`, `linestyle`, `marker` and `linewidth`. A name that occurs twice
    counts once. No two of up to 20 lines are alike.
    """
    return {
        name: {
            "color": PALETTE[i % len(PALETTE)],
            "linestyle": _LINES[i % 4],
            "marker": _MARKERS[i % 10],
            "linewidth": 1.3,
        }
        for i, name in enumerate(dict.fromkeys(names))
    }


def empty_figure(width: float, height: float) -> Any:
    """Return a new matplotlib figure of this size in inches, without axes."""
    from matplotlib.figure import Figure as Drawing

    return Drawing(figsize=(width, height), dpi=150, layout="constrained")


def new_figure(width: float, height: float) -> tuple[Any, Any]:
    """Return a new matplotlib figure of this size in inches, and its only axes."""
    figure = empty_figure(width, height)
    return figure, figure.add_subplot()


class Panel(NamedTuple):
    """A panel of a figure, and the points that are drawn on it."""

    axes: Any
    points: pd.DataFrame


def panels(
    points: pd.DataFrame,
    key: str | list[str] = "dataset",
    height: float = 3.4,
    titles: Mapping[str, str] | None = None,
    columns: int | None = None,
) -> tuple[Any, list[Panel]]:
    """Return a new matplotlib figure and its panels, one for each group of points.

    The panels have the order of the first points of their groups. There are three in a row, or two
    if there are four.

    `points`: at least one, with a column `dataset`. `key`: the columns that group them. `height`:
    that of a row, in inches. `titles`: the titles of panels by data set; a data set without one has
    its name. `columns`: the number of panels in a row; None for the above.
    """
    titles = titles or {}
    groups = [group for _, group in points.groupby(key, sort=False)]
    n_groups = len(groups)
    n_columns = columns or (2 if n_groups == 4 else min(n_groups, 3))
    n_rows = math.ceil(n_groups / n_columns)
    # In inches and in characters: a single panel is wider.
    width = 4.0 * n_columns
    title_width = 44
    if n_columns == 1:
        width = 6.4
        title_width = 76
    figure = empty_figure(width, height * n_rows + 0.7)
    drawn = []
    for number, group in enumerate(groups, start=1):
        axes = figure.add_subplot(n_rows, n_columns, number)
        axes.grid(alpha=0.3)
        axes.tick_params(which="both", labelsize="small")
        dataset = common_value(group, "dataset")
        title = fill(titles.get(dataset, dataset), title_width)
        axes.set_title(title, fontsize="medium")
        drawn.append(Panel(axes=axes, points=group))
    return figure, drawn


def plot_with_band(
    axes: Any, x: str, points: pd.DataFrame, style: Mapping[str, Any]
) -> None:
    """Plot the column `mean` of points over the column `x`, with a band of one deviation.

    The deviation is the column `std`, on both sides; a missing one has no band. `points`: in the
    order of the line, with the columns `mean` and `std`, and the one that `x` names. `style`:
    arguments of matplotlib's `plot`; its `color`, which it must have, also fills the band.
    """
    mean = points["mean"]
    std = points["std"].astype(float).fillna(0)
    axes.plot(points[x], mean, markersize=4, **style)
    axes.fill_between(
        points[x],
        mean - std,
        mean + std,
        color=style["color"],
        alpha=0.15,
        linewidth=0,
    )


def plot_scores(axes: Any, height: int, scores: pd.Series[float]) -> None:
    """Plot the scores of a model as dots at a height, and their mean as a vertical bar.

    `height`: the y value. `scores`: the x values.
    """
    axes.plot(
        scores,
        [height] * len(scores),
        "o",
        color=DOT_COLOUR,
        alpha=0.5,
        markersize=4,
        markeredgewidth=0,
    )
    axes.plot(
        [scores.mean()],
        [height],
        "|",
        color=MEAN_COLOUR,
        markersize=13,
        markeredgewidth=2,
    )


def finish(
    figure: Any,
    styles: Mapping[str, Any],
    title: str,
    markers: Mapping[str, str] | None = None,
) -> Any:
    """Add a title, and a legend below the panels, to a figure of panels, and return it.

    `styles`: the style of each line of the legend by its label (see `line_styles`). `markers`:
    black markers that the legend also explains, {label: marker of matplotlib}.
    """
    looks = dict(styles) | {
        label: {"linestyle": "", "marker": marker, "color": "black"}
        for label, marker in (markers or {}).items()
    }
    # The handles come from one panel, which may lack some of the lines.
    handles = [
        figure.axes[0].plot([], [], label=label, markersize=4, **look)[0]
        for label, look in looks.items()
    ]
    columns = max(1, int(figure.get_figwidth() * 11 // (max(map(len, looks)) + 8)))
    figure.legend(
        handles,
        looks,
        loc="outside lower center",
        ncols=min(columns, len(looks)),
        fontsize="small",
    )
    figure.suptitle(title, fontsize="medium")
    return figure


def figure_bytes(figure: Any, form: str = "png") -> bytes:
    """Return a matplotlib figure as the bytes of a file.

    `form`: the format, png, pdf or svg. A PNG has a palette, which suffices for its few colours.
    Texts of the figure are changed in place: a dollar sign starts no formula, except in ticks that
    are powers of two, and control characters are escaped.
    """
    import numpy as np
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text
    from PIL import Image

    for text in figure.findobj(Text):
        if text.get_text() != escape(text.get_text()):
            text.set_text(escape(text.get_text()))
        # The ticks of logarithmic axes have their texts, which are formulas, only when drawn.
        if "$" in text.get_text() and not _POWER_OF_TWO.fullmatch(text.get_text()):
            text.set_parse_math(False)
    buffer = io.BytesIO()
    canvas = FigureCanvasAgg(figure)
    with warnings.catch_warnings():
        # The texts of ticks and names in other scripts may have characters without a glyph.
        warnings.filterwarnings("ignore", r"Glyph \d+ ", UserWarning)
        if form != "png":
            figure.savefig(buffer, format=form)
            return buffer.getvalue()
        canvas.draw()
    picture = Image.fromarray(np.asarray(canvas.buffer_rgba())[:, :, :3])
    picture.quantize(_COLOURS, method=Image.Quantize.FASTOCTREE).save(
        buffer, "PNG", optimize=True
    )
    return buffer.getvalue()

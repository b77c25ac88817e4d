"""Metrics of each model, and a figure of what a model of each size is worth."""

from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

from elmbench.layouts.base import Figure, Outputs, png, title_of
from elmbench.layouts.figures import default_cells, legend_below, line_styles, panel_title, panels, words_for
from elmbench.layouts.metrics import Metrics
from elmbench.specs.profiles import Resolved


class SizeCurves(Metrics):
    """A line for each column, as any table of metrics has; columns of one model differ in how large it may become.

    The figure has a panel for each data set, and in it the first metric of each model over the rows or nodes that it
    keeps. A model with one column is a level line.
    """

    def figure(self, cells: pd.DataFrame, outputs: Iterable[Outputs], resolved: Resolved) -> Figure | None:
        points = pd.DataFrame(size_points(cells, resolved))
        return Figure(points, draw_sizes(points, title_of(resolved))) if len(points) else None


def size_points(cells: pd.DataFrame, resolved: Resolved) -> Iterator[dict[str, Any]]:
    """Yield a point for each column on each data set, under the default readings and the first selection.

    The keys are dataset (as the paper spells it), model, column, size (the mean of n_units), metric, mean, std (from
    fold to fold) and n of the cells that ended ok. The model is the
    column's own or, where it has one column, that column.
    """
    columns = resolved.spec.models
    alone = {name for name, own in columns.items() if [other.model for other in columns.values()].count(own.model) == 1}
    shown = default_cells(cells)
    ended = shown[(shown["status"] == "ok") & shown["model"].isin(columns)]
    for (dataset, column), group in ended.groupby(["dataset", "model"], sort=False):
        metric = resolved.spec.protocol.metric_for(resolved.dataset(str(dataset)).task)
        values = group[metric].astype(float).dropna()
        if len(values):
            yield {
                "dataset": resolved.spelling(str(dataset)),
                "model": column if column in alone else columns[str(column)].model,
                "column": column,
                "size": float(group["n_units"].astype(float).mean()),
                "metric": metric,
                "mean": float(values.mean()),
                "std": float(values.std(ddof=1)) if len(values) > 1 else None,
                "n": len(values),
            }


def draw_sizes(points: pd.DataFrame, title: str) -> bytes:
    """Return the picture of a metric over the size of the models; a band is one deviation to both sides.

    Parameters
    ----------
    points : DataFrame
        With the keys of `size_points` as columns.
    """
    models = list(dict.fromkeys(points["model"]))
    styles = line_styles(models)
    figure, every = panels(points["dataset"].nunique())
    for axes, (dataset, own) in zip(every, points.groupby("dataset", sort=False), strict=True):
        for model, curve in own.sort_values("size").groupby("model", sort=False):
            style, mean, spread = styles[str(model)], curve["mean"], curve["std"].astype(float).fillna(0)
            if len(curve) == 1:
                axes.axhline(mean.iloc[0], **style | {"marker": ""})
                axes.axhspan(*(mean - spread), *(mean + spread), color=style["color"], alpha=0.1, linewidth=0)
            else:
                axes.plot(curve["size"], mean, markersize=4, **style)
                axes.fill_between(
                    curve["size"], mean - spread, mean + spread, color=style["color"], alpha=0.15, linewidth=0
                )
        axes.set(xlabel="rows kept", ylabel=words_for(own["metric"].iloc[0]))
        panel_title(axes, str(dataset))
    for model in models:
        every[0].plot([], [], label=model, markersize=4, **styles[model])
    legend_below(figure, every[0], models)
    figure.suptitle(title)
    return png(figure)

"""Metrics of each model, with a figure of the first metric over the size of the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from elmbench.layouts.base import Outputs
from elmbench.layouts.figures import (
    default_cells,
    finish,
    line_styles,
    panel_title,
    panels,
    plot_with_band,
    title_of,
    words_for,
)
from elmbench.layouts.metrics import Metrics
from elmbench.specs.profiles import Resolved

if TYPE_CHECKING:
    import pandas as pd


class SizeCurves(Metrics):
    """A table of metrics whose columns may be one model at several sizes.

    The figure has a panel for each data set, with a line for each model: the first metric over the rows or nodes of the
    model. A model with one column is a horizontal line.
    """

    def points_of(self, cells: pd.DataFrame, outputs: Iterable[Outputs], resolved: Resolved) -> pd.DataFrame:
        """Return a point for each column on each data set, under the default readings and the first selection.

        The columns are dataset (as the paper spells it), model, column, size (the mean of n_units), metric, mean, std
        (from fold to fold) and n of the cells that ended ok. The model is that of the column, or the column itself if
        no other column has the same model.
        """
        import pandas as pd

        columns = resolved.spec.models
        models = Counter(column.model for column in columns.values())
        shown = default_cells(cells)
        ended = shown[(shown["status"] == "ok") & shown["model"].isin(columns)]
        points = []
        for (dataset, column), group in ended.groupby(["dataset", "model"], sort=False):
            metric = resolved.metric_of(str(dataset))
            values = group[metric].astype(float).dropna()
            model = columns[str(column)].model
            if len(values):
                point = {"dataset": resolved.spelling(str(dataset)), "model": column if models[model] == 1 else model}
                point |= {"column": column, "size": group["n_units"].astype(float).mean(), "metric": metric}
                points.append(point | {"mean": values.mean(), "std": values.std(ddof=1), "n": len(values)})
        return pd.DataFrame(points)

    def draw(self, points: pd.DataFrame, resolved: Resolved) -> bytes:
        """Return the picture of a metric over the size of the models, with bands of one deviation to both sides."""
        styles = line_styles(list(dict.fromkeys(points["model"])))
        figure, every = panels(points["dataset"].nunique())
        for axes, (dataset, group) in zip(every, points.groupby("dataset", sort=False), strict=True):
            for model, curve in group.sort_values("size").groupby("model", sort=False):
                style = styles[str(model)]
                if len(curve) > 1:
                    plot_with_band(axes, curve["size"], curve, style)
                    continue
                mean, std = curve["mean"].iloc[0], curve["std"].fillna(0).iloc[0]
                axes.axhline(mean, **style | {"marker": ""})
                axes.axhspan(mean - std, mean + std, color=style["color"], alpha=0.1, linewidth=0)
            axes.set(xlabel="rows kept", ylabel=words_for(group["metric"].iloc[0]))
            panel_title(axes, str(dataset))
        return finish(figure, every, styles, title_of(resolved))

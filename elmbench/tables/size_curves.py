"""Metrics of each model, with a figure of the first metric over the size of the model."""

from collections import Counter
from typing import Any

from elmbench.tables import drawing
from elmbench.tables.base import DataFrame, Points
from elmbench.tables.metrics import MetricsTable


class SizeCurvesTable(MetricsTable):
    """A table of metrics whose columns may be one model at several sizes.

    The figure has a panel for each data set, with a line for each model: the first metric over the
    rows or nodes of the model. A model with one column is a horizontal line.
    """

    def points_of_entry(self, cells: DataFrame, dataset: str, model: str) -> Points:
        """Yield the point of a column: its mean size, and its model if other columns have it
        too.
        """
        columns = {name: column.model for name, column in self.spec.models.items()}
        ok = cells[cells["status"] == "ok"]
        metric = self.experiment.metric_of(dataset)
        values = ok[metric].astype(float).dropna()
        if len(values) and model in columns:
            line = model if Counter(columns.values())[columns[model]] == 1 else columns[model]
            size = ok["n_units"].astype(float).mean()
            yield {
                "model": line,
                "column": model,
                "size": size,
                "metric": metric,
                **drawing.mean_of(values),
            }

    def draw(self, points: DataFrame) -> Any:
        """Draw the metric over the size of the models, with bands of one deviation to both
        sides.
        """
        styles = drawing.line_styles(points["model"])
        figure, parts = drawing.panels(points)
        for axes, group in parts:
            for model, curve in group.sort_values("size").groupby("model", sort=False):
                style = styles[str(model)]
                if len(curve) > 1:
                    drawing.plot_with_band(axes, "size", curve, style)
                    continue
                mean = curve["mean"].iloc[0]
                std = curve["std"].fillna(0).iloc[0]
                axes.axhline(mean, **style | {"marker": ""})
                axes.axhspan(mean - std, mean + std, color=style["color"], alpha=0.1, linewidth=0)
            axes.set(xlabel="rows kept", ylabel=drawing.words_for(group["metric"].iloc[0]))
        return drawing.finish(figure, styles, drawing.title_of(self.experiment))

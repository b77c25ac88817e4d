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

    figure_legend = (
        f"{drawing.BAND_LEGEND} A level line is a model that keeps all rows."
    )

    def points_of_entry(self, cells: DataFrame, dataset: str, model: str) -> Points:
        """Yield the point of a column: its mean size and the mean of its first metric.

        Its columns are `model`, `column`, `size`, `metric`, `mean`, `std` and `n`, of the cells
        that ended ok. Columns of one model have one curve, with the name of the model. Nothing is
        yielded without a value, or for an added model. `cells`: those of this column and data set.
        """
        models = {name: column.model for name, column in self.spec.models.items()}
        ok = drawing.cells_ended_ok(cells)
        metric = self.experiment.metric_of(dataset)
        values = ok[metric].astype(float).dropna()
        if not len(values) or model not in models:
            return
        name = models[model]
        has_one_column = Counter(models.values())[name] == 1
        yield {
            "model": model if has_one_column else name,
            "column": model,
            "size": ok["n_units"].astype(float).mean(),
            "metric": metric,
            **drawing.mean_of(values),
        }

    def draw(self, points: DataFrame) -> Any:
        """Return a figure of the metric over the size of the models, a panel for each data set.

        It is a figure of matplotlib. Bands are one deviation to both sides; a model with one size
        is a horizontal line. `points`: with the columns `dataset`, `model`, `size` (rows or nodes),
        `metric` (the same on a data set), `mean` and `std`, in any order.
        """
        names = drawing.ProperNames(self.experiment)
        points = names.rename_datasets(points)
        points = points.assign(model=points["model"].map(names.model))
        styles = drawing.line_styles(points["model"])
        figure, parts = drawing.panels(points)
        for axes, group in parts:
            by_size = group.sort_values("size")
            for model, curve in by_size.groupby("model", sort=False):
                style = styles[str(model)]
                if len(curve) > 1:
                    drawing.plot_with_band(axes, "size", curve, style)
                else:
                    _draw_level(axes, curve, style)
            metric = drawing.common_value(group, "metric")
            axes.set(xlabel="rows kept", ylabel=drawing.words_for(metric))
        return drawing.finish(figure, styles, drawing.headline(self.experiment))


def _draw_level(axes: Any, point: DataFrame, style: dict[str, Any]) -> None:
    """Draw the only point of a model as a horizontal line, with a band of one deviation.

    `point`: one line with `mean` and `std`; if the latter is missing, there is no band. `style`:
    arguments of matplotlib's `plot`.
    """
    mean = point["mean"].iloc[0]
    std = point["std"].fillna(0).iloc[0]
    axes.axhline(mean, **style | {"marker": ""})
    axes.axhspan(mean - std, mean + std, color=style["color"], alpha=0.1, linewidth=0)

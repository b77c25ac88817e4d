"""Metrics of each model, with a figure of each trial."""

from typing import Any

from elmbench.tables.base import DataFrame, Points
from elmbench.tables.drawing import (
    ProperNames,
    common_value,
    curve_of,
    finish,
    headline,
    line_styles,
    panels,
    words_for,
)
from elmbench.tables.metrics import MetricsTable


class TrialsTable(MetricsTable):
    """The table of metrics, with a figure of each trial.

    The figure has a panel for each data set, and in it a line of each model over the trials. A
    trial is a run; its value is that of the first metric of the task, the mean over the folds if
    there are several.
    """

    figure_legend = "Each point is the value of one trial."

    def points_of_entry(self, cells: DataFrame, dataset: str, model: str) -> Points:
        """Return a point for each run of a model on a data set, a dict with three keys.

        `metric`: the name of the metric. `trial`: the number of the run from 1. `value`: the mean
        of the metric over the folds of the run that have one, NaN if none has; None if a cell did
        not end ok. There are no points
        if no run has a value. `cells`: those of this model and data set.
        """
        metric = self.experiment.metric_of(dataset)
        trials: list[dict[str, Any]] = []
        for run, group in cells.groupby("run", sort=False):
            is_complete = (group["status"] == "ok").all()
            mean = group[metric].astype(float).mean()
            trials.append(
                {
                    "metric": metric,
                    "trial": int(str(run)) + 1,
                    "value": mean if is_complete else None,
                }
            )
        has_values = any(trial["value"] is not None for trial in trials)
        return trials if has_values else []

    def draw(self, points: DataFrame) -> Any:
        """Return a matplotlib figure of a metric by trial, a panel for each data set.

        It is as in Fig. 3 of the RKELM paper. `points`: with the columns `dataset`, `model`,
        `metric`, `trial` (from 1) and `value` (None leaves a gap in the line).
        """
        from matplotlib.ticker import MaxNLocator

        points = ProperNames(self.experiment).rename_datasets(points)
        styles = line_styles(points["model"])
        figure, parts = panels(points)
        for axes, group in parts:
            for model, style in styles.items():
                line = curve_of(group, model, by="trial")
                axes.plot(line["trial"], line["value"], markersize=4, **style)
            whole_numbers = MaxNLocator(integer=True, steps=[1, 2, 5, 10])
            axes.xaxis.set_major_locator(whole_numbers)
            metric = common_value(group, "metric")
            axes.set(xlabel="trial", ylabel=words_for(metric))
        return finish(figure, styles, headline(self.experiment))

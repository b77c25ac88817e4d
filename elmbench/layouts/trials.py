"""Metrics of each model, with a figure of each trial."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from elmbench.layouts.base import Outputs
from elmbench.layouts.figures import default_cells, finish, line_styles, panel_title, panels, title_of
from elmbench.layouts.metrics import Metrics
from elmbench.specs.profiles import Resolved

if TYPE_CHECKING:
    import pandas as pd


class Trials(Metrics):
    """The table of metrics; the figure has a panel for each data set, and in it a line of each model over the trials.

    A trial is a run; its value is that of the first metric of the task, the mean over the folds if there are several.
    """

    compares_readings = False

    def points_of(self, cells: pd.DataFrame, outputs: Iterable[Outputs], resolved: Resolved) -> pd.DataFrame:
        """Return the metric of each trial under the default readings.

        The columns are dataset (as the paper spells it), model, metric, trial (counted from 1) and value, which is
        empty if a cell of the trial did not end ok.
        """
        import pandas as pd

        lines = []
        for (dataset, model, run), group in default_cells(cells).groupby(["dataset", "model", "run"], sort=False):
            metric = resolved.metric_of(str(dataset))
            value = group[metric].astype(float).mean() if (group["status"] == "ok").all() else None
            lines.append([resolved.spelling(str(dataset)), model, metric, int(str(run)) + 1, value])
        trials = pd.DataFrame(lines, columns=["dataset", "model", "metric", "trial", "value"])
        return trials if trials["value"].notna().any() else trials[:0]

    def draw(self, points: pd.DataFrame, resolved: Resolved) -> bytes:
        return draw_trials(points, title_of(resolved))


def draw_trials(trials: pd.DataFrame, title: str) -> bytes:
    """Return the picture of a metric by trial, a panel for each data set, as in Fig. 3 of the RKELM paper."""
    from matplotlib.ticker import MaxNLocator

    styles = line_styles(list(dict.fromkeys(trials["model"])))
    groups = list(trials.groupby("dataset", sort=False))
    figure, every = panels(len(groups))
    for axes, (dataset, group) in zip(every, groups, strict=True):
        for model, style in styles.items():
            line = group[group["model"] == model].sort_values("trial")
            axes.plot(line["trial"], line["value"], markersize=4, **style)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
        axes.set(xlabel="trial", ylabel=group["metric"].iloc[0])
        panel_title(axes, str(dataset))
    return finish(figure, every, styles, title)

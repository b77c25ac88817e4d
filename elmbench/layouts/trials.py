"""Metrics of each model, with a figure of each trial."""

from collections.abc import Iterable

import pandas as pd

from elmbench.layouts.base import Figure, Outputs, png, title_of
from elmbench.layouts.figures import default_cells, legend_below, line_styles, panel_title, panels
from elmbench.layouts.metrics import Metrics
from elmbench.specs.profiles import Resolved


class Trials(Metrics):
    """The table of metrics; the figure has a panel for each data set, and in it a line of each model over the trials.

    A trial is a run; its value is that of the first metric of the task, the mean over the folds if there are several.
    """

    compares_readings = False

    def figure(self, cells: pd.DataFrame, outputs: Iterable[Outputs], resolved: Resolved) -> Figure | None:
        trials = trials_of(cells, resolved)
        return Figure(trials, draw_trials(trials, title_of(resolved))) if trials["value"].notna().any() else None


def trials_of(cells: pd.DataFrame, resolved: Resolved) -> pd.DataFrame:
    """Return the metric of each trial under the default readings.

    The columns are dataset (as the paper spells it), model, metric, trial (counted from 1) and value, which is empty if
    a cell of the trial did not end ok.
    """
    lines = []
    for (dataset, model, run), group in default_cells(cells).groupby(["dataset", "model", "run"], sort=False):
        metric = resolved.spec.protocol.metric_for(resolved.dataset(str(dataset)).task)
        value = group[metric].astype(float).mean() if (group["status"] == "ok").all() else None
        lines.append([resolved.spelling(str(dataset)), model, metric, int(str(run)) + 1, value])
    return pd.DataFrame(lines, columns=["dataset", "model", "metric", "trial", "value"])


def draw_trials(trials: pd.DataFrame, title: str) -> bytes:
    """Return the picture of a metric by trial, a panel a data set, as in Fig. 3 of the RKELM paper."""
    from matplotlib.ticker import MaxNLocator

    models = list(dict.fromkeys(trials["model"]))
    styles = line_styles(models)
    groups = list(trials.groupby("dataset", sort=False))
    figure, every = panels(len(groups))
    for axes, (dataset, own) in zip(every, groups, strict=True):
        for model in models:
            line = own[own["model"] == model].sort_values("trial")
            axes.plot(line["trial"], line["value"], label=model, markersize=4, **styles[model])
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
        axes.set(xlabel="trial", ylabel=own["metric"].iloc[0])
        panel_title(axes, str(dataset))
    legend_below(figure, every[0], models)
    figure.suptitle(title)
    return png(figure)

"""Fit times of each model over an option of generated data, as a table and as curves."""

from collections.abc import Collection, Iterable
from typing import Any

import pandas as pd

from elmbench.layouts.base import DATASET, MODEL, Figure, Outputs, png, title_of
from elmbench.layouts.figures import default_cells, legend_below, line_styles, panel_title, panels
from elmbench.layouts.metrics import RATIOS, TIMES
from elmbench.layouts.table import Column, Ending
from elmbench.layouts.times import Times
from elmbench.specs.datasets import DatasetSpec
from elmbench.specs.datasets.options import split_name
from elmbench.specs.experiments import Experiment
from elmbench.specs.profiles import Resolved

#: How the figure marks cells that did not end ok; the same again for more than five endings.
_CROSSES = ("x", "+", "1", "2", "|")
#: The share of a panel's height that is kept for these marks.
_TOP = 0.2


class OptionCurves(Times):
    """The times of each model on generated data whose names have an option, such as `sparse-10k[density=0.6]`.

    The figure has a panel for each generator, and in it a curve of each model over the values of the option.
    """

    def check(self, spec: Experiment) -> None:
        super().check(spec)
        options = {name: list(split_name(name)[1]) for name in spec.datasets}
        for name, found in options.items():
            if len(found) != 1 or found != options[spec.datasets[0]]:
                raise ValueError(f"datasets names {name!r}; expected names with one option, the same for all")

    def columns(self, resolved: Resolved, datasets: Collection[str]) -> tuple[Column, ...]:
        return (DATASET, MODEL, *TIMES, *RATIOS)

    def figure(self, cells: pd.DataFrame, outputs: Iterable[Outputs], resolved: Resolved) -> Figure | None:
        curves = option_curves(cells, resolved)
        if not len(curves):
            return None
        titles = {spec.base: spec.title for spec in resolved.datasets.values()}
        return Figure(curves, draw_option_curves(curves, titles, title_of(resolved)))


def option_curves(cells: pd.DataFrame, resolved: Resolved) -> pd.DataFrame:
    """Return the mean time of a fit by generator, model and value of the option, under the default readings.

    The columns are dataset (without its option), model, option, value, mean, std (from cell to cell) and n of the cells
    that ended ok, and ending: how the first of the others ended.
    """
    lines = []
    for (dataset, model), group in default_cells(cells).groupby(["dataset", "model"], sort=False):
        spec: DatasetSpec = resolved.dataset(str(dataset))
        ((option, value),) = split_name(spec.name)[1].items()
        ok = group["status"] == "ok"
        seconds = group.loc[ok, "fit_seconds"].dropna().astype(float)
        place = {"dataset": spec.base, "model": model, "option": option, "value": value}
        found = {"mean": seconds.mean(), "std": seconds.std(ddof=1), "n": len(seconds)}
        lines.append(place | found | {"ending": "" if ok.all() else group.loc[~ok, "status"].iloc[0]})
    return pd.DataFrame(lines)


def draw_option_curves(curves: pd.DataFrame, titles: dict[str, str], title: str) -> bytes:
    """Return the picture of times over an option, a panel a data set, as in Fig. 4 of the RKELM paper.

    A model that did not end ok at a value is marked at the top of the panel.

    Parameters
    ----------
    titles : dict of str to str
        The title of each panel by the name of its data set.
    """
    datasets, models = list(dict.fromkeys(curves["dataset"])), list(dict.fromkeys(curves["model"]))
    endings = [ending for ending in dict.fromkeys(curves["ending"].fillna("")) if ending]
    crosses = {ending: _CROSSES[i % len(_CROSSES)] for i, ending in enumerate(endings)}
    figure, every = panels(len(datasets))
    for axes, dataset in zip(every, datasets, strict=True):
        own = curves[curves["dataset"] == dataset].sort_values("value")
        _draw_panel(axes, own, line_styles(models), crosses)
        panel_title(axes, titles.get(dataset, dataset))
        axes.set_xlabel(str(own["option"].iloc[0]))
    every[0].set_ylabel("seconds of a fit, mean and deviation over runs", fontsize="small")
    for ending, cross in crosses.items():
        every[0].plot([], [], linestyle="", marker=cross, color="black", label=Ending(ending).text)
    legend_below(figure, every[0], [*models, *(Ending(ending).text for ending in crosses)])
    figure.suptitle(title)
    return png(figure)


def _draw_panel(axes: Any, curves: pd.DataFrame, styles: dict[str, dict[str, Any]], crosses: dict[str, str]) -> None:
    from matplotlib.ticker import NullFormatter

    axes.set(yscale="log")
    values = curves["value"]
    if values.min() > 0:
        axes.set(xscale="log", xlim=(values.min() / 1.4, values.max() * 1.4))
        axes.xaxis.set_minor_formatter(NullFormatter())
    mean, std = curves["mean"], curves["std"].fillna(0)
    low, high = (mean - std).where(std < mean, mean).min(), (mean + std).max()
    if low > 0:
        span = high / low * 1.5
        axes.set_ylim(
            low / span**0.06, high * span ** (0.06 + (_TOP if (curves["ending"].fillna("") != "").any() else 0))
        )
    for i, (model, style) in enumerate(styles.items()):
        own = curves[curves["model"] == model]
        axes.plot(own["value"], own["mean"], label=model, markersize=5, **style)
        low, high = own["mean"] - own["std"].fillna(0), own["mean"] + own["std"].fillna(0)
        axes.fill_between(own["value"], low, high, color=style["color"], alpha=0.15, linewidth=0)
        for ending, cross in crosses.items():
            ended = own.loc[own["ending"] == ending, "value"]
            # A row of its own, so that no mark hides another; the marker around the cross is that of the model.
            height = [0.96 - 0.05 * (i % 4)] * len(ended)
            top: Any = {"transform": axes.get_xaxis_transform(), "linestyle": "", "color": style["color"]}
            axes.plot(ended, height, **top, marker=style["marker"], markersize=8, fillstyle="none")
            axes.plot(ended, height, **top, marker=cross, markersize=4)

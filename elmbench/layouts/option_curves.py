"""Fit times of each model over an option of generated data, as a table and as curves."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from elmbench.layouts.base import DATASET, MODEL, Outputs
from elmbench.layouts.figures import default_cells, finish, line_styles, panel_title, panels, plot_with_band, title_of
from elmbench.layouts.metrics import RATIOS, TIMES
from elmbench.layouts.table import Column, Ending
from elmbench.layouts.times import Times
from elmbench.specs.datasets import DatasetSpec, split_name
from elmbench.specs.experiments import Experiment
from elmbench.specs.profiles import Resolved

if TYPE_CHECKING:
    import pandas as pd

#: The marks of cells that did not end ok, by their ending.
_CROSSES = ("x", "+", "1", "2", "|")
#: The share of a panel's height that these marks need.
_TOP = 0.2


class OptionCurves(Times):
    """Fit times of each model on generated data with an option in the name, such as `sparse-10k[density=0.6]`.

    The figure has a panel for each generator, and in it a curve of each model over the values of the option.
    """

    def check(self, spec: Experiment) -> None:
        super().check(spec)
        options = {name: list(split_name(name)[1]) for name in spec.datasets}
        for name, names in options.items():
            if len(names) != 1 or names != options[spec.datasets[0]]:
                raise ValueError(f"datasets names {name!r}; expected names with one option, the same for all")

    def columns(self, resolved: Resolved, datasets: Collection[str]) -> tuple[Column, ...]:
        return (DATASET, MODEL, *TIMES, *RATIOS)

    def points_of(self, cells: pd.DataFrame, outputs: Iterable[Outputs], resolved: Resolved) -> pd.DataFrame:
        """Return the mean time of a fit by generator, model and value of the option, under the default readings.

        The columns are dataset (without its option), model, option, value, mean, std (from cell to cell) and n of the
        cells that ended ok, and the ending of the first other cell.
        """
        import pandas as pd

        lines = []
        for (dataset, model), group in default_cells(cells).groupby(["dataset", "model"], sort=False):
            spec: DatasetSpec = resolved.dataset(str(dataset))
            ((option, value),) = split_name(spec.name)[1].items()
            ok = group["status"] == "ok"
            seconds = group.loc[ok, "fit_seconds"].dropna().astype(float)
            point = {"dataset": spec.base, "model": model, "option": option, "value": value}
            point |= {"mean": seconds.mean(), "std": seconds.std(ddof=1), "n": len(seconds)}
            lines.append(point | {"ending": "" if ok.all() else group.loc[~ok, "status"].iloc[0]})
        return pd.DataFrame(lines)

    def draw(self, points: pd.DataFrame, resolved: Resolved) -> bytes:
        titles = {spec.base: spec.title for spec in resolved.datasets.values()}
        return draw_option_curves(points, titles, title_of(resolved))


def draw_option_curves(curves: pd.DataFrame, titles: dict[str, str], title: str) -> bytes:
    """Return the picture of times over an option, a panel for each data set, as in Fig. 4 of the RKELM paper.

    A model that did not end ok at a value is marked at the top of the panel.

    Parameters
    ----------
    titles : dict of str to str
        The title of each panel by the name of its data set.
    """
    styles = line_styles(list(dict.fromkeys(curves["model"])))
    endings = [ending for ending in dict.fromkeys(curves["ending"].fillna("")) if ending]
    crosses = {ending: _CROSSES[i % len(_CROSSES)] for i, ending in enumerate(endings)}
    groups = list(curves.groupby("dataset", sort=False))
    figure, every = panels(len(groups))
    for axes, (dataset, group) in zip(every, groups, strict=True):
        _scale(axes, group)
        for i, (model, style) in enumerate(styles.items()):
            curve = group[group["model"] == model].sort_values("value")
            plot_with_band(axes, curve["value"], curve, style)
            # Each model has its own height and a marker around the cross, so that marks do not overlap.
            top = {"transform": axes.get_xaxis_transform(), "linestyle": "", "color": style["color"]}
            for ending, cross in crosses.items():
                ended = curve.loc[curve["ending"] == ending, "value"]
                height = [0.96 - 0.05 * (i % 4)] * len(ended)
                axes.plot(ended, height, **top, marker=style["marker"], markersize=8, fillstyle="none")
                axes.plot(ended, height, **top, marker=cross, markersize=4)
        panel_title(axes, titles.get(str(dataset), str(dataset)))
        axes.set_xlabel(str(group["option"].iloc[0]))
    every[0].set_ylabel("seconds of a fit, mean and deviation over runs", fontsize="small")
    return finish(figure, every, styles, title, {Ending(ending).text: cross for ending, cross in crosses.items()})


def _scale(axes: Any, curves: pd.DataFrame) -> None:
    """Make the axes logarithmic, with room for the marks at the top."""
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
        top = _TOP if (curves["ending"].fillna("") != "").any() else 0
        axes.set_ylim(low / span**0.06, high * span ** (0.06 + top))

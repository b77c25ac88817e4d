"""Pictures on the pages of the site: figures against the print, average ranks and optimism."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pandas as pd

from elmbench.layouts.figures import new_figure, png, title_of
from elmbench.reporting.notes import mean_gain
from elmbench.reporting.papers import PaperResults
from elmbench.reporting.results import Results
from elmbench.reporting.statistics import Statistics, compare_models, draw_critical_differences
from elmbench.specs.protocol import is_quality

#: The marker and the colour of each verdict on a compared figure: a reader does not depend on colours.
_MARKS = {
    "too few runs": (".", "#6e7781"),
    "consistent": ("D", "#4f9a63"),
    "reproduced": ("s", "#116329"),
    "close": ("^", "#9a6700"),
    "differs": ("x", "#b3221b"),
}
#: The fewest models and data sets of a diagram of ranks.
_FEWEST_MODELS, _FEWEST_SETS = 3, 4


@dataclass(frozen=True)
class Picture:
    """A picture of a page, with the text that describes it."""

    label: str
    png: bytes

    @property
    def source(self) -> str:
        """The picture as a data URL, so that a page needs no other file."""
        return f"data:image/png;base64,{b64encode(self.png).decode()}"


def scatter(papers: Iterable[PaperResults]) -> tuple[Picture, int]:
    """Return the picture of published against measured scores and errors, and the number of figures beyond 0 to 1."""
    figures = pd.concat([table.figures for paper in papers for table in paper.tables])
    is_score = figures["metric"].str.partition("@")[0].map(is_quality)
    figures = figures[figures["verdict"].isin(_MARKS) & is_score].dropna(subset="mean")
    is_visible = figures["mean"].between(0, 1) & figures["published"].between(0, 1)
    figure, axes = new_figure(5, 5.4)
    axes.plot([0, 1], [0, 1], "--", color="grey", linewidth=0.8)
    for verdict, (marker, colour) in _MARKS.items():
        points = figures[is_visible & (figures["verdict"] == verdict)]
        if len(points):
            axes.scatter(points["published"], points["mean"], s=22, marker=marker, color=colour, label=verdict)
    axes.set(xlabel="published", ylabel="ours, mean", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    figure.legend(loc="outside lower center", ncols=3, fontsize="small")
    label = f"{int(is_visible.sum())} scores and errors from 0 to 1; a figure on the diagonal equals the published one"
    return Picture(label, png(figure)), int((~is_visible).sum())


def rank_diagrams(results: Results) -> Iterator[Picture]:
    """Yield the critical differences of the average ranks, measured and printed, if there are models to compare."""
    for comparison in compare_models(results.summary, results.resolved):
        if len(comparison.ranks) >= _FEWEST_MODELS and len(comparison.datasets) >= _FEWEST_SETS:
            yield rank_diagram(comparison, title_of(results.resolved))


def rank_diagram(comparison: Statistics, name: str) -> Picture:
    """Return the critical differences of average ranks."""
    label = (
        f"{name}: average ranks of the {comparison.source} figures on {len(comparison.datasets)} data sets; a bar "
        f"joins models that do not differ (Nemenyi, critical distance {comparison.critical_distance:.2f})"
    )
    return Picture(label, draw_critical_differences(comparison, name))


def optimism_chart(results: Results) -> Picture:
    """Return the gains of the oracle: a dot for each data set, the mean of each model and its interval."""
    groups = list(results.default_gains.groupby("model", sort=False)["optimism"])
    figure, axes = new_figure(7, 0.9 + 0.22 * len(groups))
    axes.use_sticky_edges = False
    axes.axvline(0, linestyle="--", color="grey", linewidth=0.8)
    for i, (_, values) in enumerate(groups):
        mean = mean_gain(values)
        if mean is not None and mean.low is not None and mean.high is not None:
            axes.barh(i, mean.high - mean.low, left=mean.low, height=0.6, color="C0", alpha=0.25)
        axes.plot(values, [i] * len(values), "o", color="C0", fillstyle="none", markersize=4)
        axes.plot(values.mean(), i, "|", color="black", markersize=11, markeredgewidth=2)
    axes.set_yticks(range(len(groups)), [str(model) for model, _ in groups])
    axes.set(xlabel="oracle minus nested", ylim=(len(groups) - 0.5, -0.5))
    label = "optimism; a dot is a data set, the stroke the mean, the band its interval of 95 %"
    return Picture(f"{title_of(results.resolved)}: {label}", png(figure))

"""Pictures on the pages of the site: verdicts, average ranks, optimism, and the metric against time and size."""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from elmbench.errors import ElmbenchError
from elmbench.layouts.base import ALWAYS_SHOWN
from elmbench.layouts.figures import line_styles, new_figure, panel_title, panels, png
from elmbench.layouts.table import COMPARED, COMPLETE
from elmbench.reporting.notes import mean_gain
from elmbench.reporting.results import Results
from elmbench.reporting.site.gather import PaperResults
from elmbench.reporting.statistics import Statistics, compare_models, draw_critical_differences
from elmbench.specs.protocol import is_quality
from elmbench.specs.published import ALL

#: The marker and the colour of each verdict: the shapes differ, so that a reader does not depend on colours.
_MARKS = {
    "too few runs": (".", "#6e7781"),
    "consistent": ("D", "#4f9a63"),
    "reproduced": ("s", "#116329"),
    "close": ("^", "#9a6700"),
    "differs": ("x", "#b3221b"),
    "not comparable": ("|", "#57606a"),
    "no data": ("_", "#57606a"),
    "cited": ("+", "#57606a"),
}
#: Marks in a line of the map of verdicts.
_MARKS_PER_LINE = 50
#: The fewest models and data sets of a diagram of ranks, and the most data sets with a panel each.
_FEWEST_MODELS, _FEWEST_SETS, _MOST_PANELS = 3, 4, 6
_COSTS = {"fit_seconds": "seconds of a fit", "n_units": "units of the model"}


@dataclass(frozen=True)
class Picture:
    """A picture of a page, with the text that describes it."""

    label: str
    png: bytes

    @property
    def source(self) -> str:
        """The picture as the address of an image, so that a page needs no other file."""
        return f"data:image/png;base64,{b64encode(self.png).decode()}"


def verdict_map(paper: PaperResults) -> Picture | None:
    """Return each published figure of a paper as a mark by its verdict, a line or more for each table."""
    marks: dict[str, list[tuple[int, int]]] = {verdict: [] for verdict in _MARKS}
    labels: dict[int, str] = {}
    line = 0
    for table in paper.tables:
        if table.figures and not table.facts:
            labels[line] = table.file.spec.label
            for i, figure in enumerate(table.figures):
                marks[figure["verdict"]].append((i % _MARKS_PER_LINE, line + i // _MARKS_PER_LINE))
            line += -(-len(table.figures) // _MARKS_PER_LINE)
    if not labels:
        return None
    figure, axes = new_figure(9, 0.8 + 0.18 * line)
    for verdict, points in marks.items():
        if points:
            marker, colour = _MARKS[verdict]
            axes.scatter(*zip(*points, strict=True), s=36, marker=marker, color=colour, label=verdict)
    axes.set_yticks(list(labels), list(labels.values()))
    axes.set(xticks=[], xlim=(-1, _MARKS_PER_LINE), ylim=(line - 0.4, -0.6))
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    figure.legend(loc="outside lower center", ncols=4, fontsize="small")
    return Picture(
        f"Verdicts of {paper.paper.key}: a mark is a published figure, in the order of its table", png(figure)
    )


def scatter(papers: Iterable[PaperResults]) -> tuple[Picture, int]:
    """Return the picture of published against measured scores and errors, and the number of figures beyond 0 to 1."""
    lines = [line for paper in papers for table in paper.tables for line in table.figures]
    figures = pd.DataFrame(lines, columns=["metric", "verdict", "mean", "published"])
    is_score = figures["metric"].str.partition("@")[0].map(is_quality)
    figures = figures[figures["verdict"].isin(COMPARED) & is_score].dropna(subset="mean")
    within = figures["mean"].between(0, 1) & figures["published"].between(0, 1)
    figure, axes = new_figure(5, 5.4)
    axes.plot([0, 1], [0, 1], "--", color="grey", linewidth=0.8)
    for verdict, (marker, colour) in _MARKS.items():
        points = figures[within & (figures["verdict"] == verdict)]
        if len(points):
            axes.scatter(points["published"], points["mean"], s=22, marker=marker, color=colour, label=verdict)
    axes.set(xlabel="published", ylabel="ours, mean", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    figure.legend(loc="outside lower center", ncols=3, fontsize="small")
    label = f"{int(within.sum())} scores and errors from 0 to 1; a figure on the diagonal equals the published one"
    return Picture(label, png(figure)), int((~within).sum())


def rank_diagrams(results: Results) -> Iterator[Picture]:
    """Yield the critical differences of the average ranks, measured and printed, if there are models to compare."""
    try:
        comparisons = compare_models(results.summary, results.resolved)
    except ElmbenchError:
        return
    for one in comparisons:
        if len(one.ranks) >= _FEWEST_MODELS and len(one.datasets) >= _FEWEST_SETS:
            yield rank_diagram(one, _name(results))


def rank_diagram(comparison: Statistics, name: str) -> Picture:
    """Return the critical differences of average ranks."""
    label = (
        f"{name}: average ranks of the {comparison.source} figures on {len(comparison.datasets)} data sets; a bar "
        f"joins models that do not differ (Nemenyi, critical distance {comparison.critical_distance:.2f})"
    )
    return Picture(label, draw_critical_differences(comparison, name))


def optimism_chart(results: Results) -> Picture | None:
    """Return the gains of the oracle: a dot for each data set, the mean of each model and its interval."""
    gains = results.gains[results.gains["reading"] == ""]
    if not len(gains):
        return None
    groups = list(gains.groupby("model", sort=False)["optimism"])
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
    label = f"{_name(results)}: optimism; a dot is a data set, the stroke the mean, the band its interval of 95 %"
    return Picture(label, png(figure))


def trade_offs(results: Results) -> Iterator[Picture]:
    """Yield the first metric against the time of a fit and the size of the model, for a table of few data sets."""
    section = results.sections[0] if results.sections else None
    if section is None or section.select == "" or not results.resolved.file.figures:
        return
    lines = pd.DataFrame(section.lines)
    lines = lines[(lines["ended"] == COMPLETE) & lines["mean"].notna()]
    datasets = [name for name in dict.fromkeys(lines["dataset"]) if name != ALL]
    if len(datasets) > _MOST_PANELS:
        return
    drawn = [panel for dataset in datasets for panel in _trade_off(lines[lines["dataset"] == dataset], results)]
    if drawn:
        label = (
            f"{_name(results)}: the metric against the time of a fit and the units of the model; a bar is the deviation"
        )
        yield Picture(label, _draw_trade_offs(drawn))


#: The panel of one data set: its title, the metric, the cost, and both by model with the deviation of the metric.
_Panel = tuple[str, str, str, pd.DataFrame]


def _trade_off(lines: pd.DataFrame, results: Results) -> Iterator[_Panel]:
    dataset = str(lines["dataset"].iloc[0])
    metric = results.resolved.metric_of(dataset)
    if not is_quality(metric):
        return
    table = lines.pivot(index="model", columns="metric", values=["mean", "std"]).reindex(lines["model"].unique())
    for cost in ALWAYS_SHOWN:
        if ("mean", metric) in table and ("mean", cost) in table:
            columns = {
                "cost": table["mean", cost],
                "mean": table["mean", metric],
                "std": table["std", metric].fillna(0),
            }
            points = pd.DataFrame(columns, dtype=float).dropna()
            points = points[points["cost"] > 0]
            if len(points) >= _FEWEST_MODELS:
                yield results.resolved.spelling(dataset), metric, cost, points


def _draw_trade_offs(drawn: Sequence[_Panel]) -> bytes:
    styles = line_styles(list(dict.fromkeys(str(model) for *_, points in drawn for model in points.index)))
    # A fixed layout and few ticks: matplotlib's defaults take most of the time of a report.
    figure, every = panels(len(drawn), height=2.6, constrained=False)
    columns = max(1, int(figure.get_figwidth() * 10 // (max(map(len, styles)) + 6)))
    height, margin = figure.get_figheight(), 0.8 + 0.2 * -(-len(styles) // columns)
    figure.subplots_adjust(0.07, margin / height, 0.98, 1 - 0.3 / height, wspace=0.3, hspace=0.55)
    for axes, (title, metric, cost, points) in zip(every, drawn, strict=True):
        axes.set_xscale("log")
        axes.minorticks_off()
        axes.locator_params(axis="y", nbins=4)
        low, high = points["cost"].min(), points["cost"].max()
        ticks = sorted({low, math.sqrt(low * high), high})
        axes.set_xticks(ticks, [f"{tick:.2g}" if tick < 100 else f"{tick:.0f}" for tick in ticks])
        axes.errorbar(points["cost"], points["mean"], points["std"], fmt="none", ecolor="grey", linewidth=1)
        for model, point in points.iterrows():
            axes.plot(point["cost"], point["mean"], **styles[str(model)] | {"linestyle": ""})
        axes.set_xlabel(_COSTS[cost], fontsize="small")
        axes.set_ylabel(metric, fontsize="small")
        panel_title(axes, title)
    handles = [every[0].plot([], [], label=name, **style | {"linestyle": ""})[0] for name, style in styles.items()]
    figure.legend(handles, styles, loc="lower center", ncols=min(columns, len(styles)), fontsize="small")
    return png(figure)


def _name(results: Results) -> str:
    file: Any = results.resolved.file
    return f"{file.spec.label} of {file.paper.key}, profile {results.resolved.profile}"

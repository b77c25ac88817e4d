"""Pictures of the site as small drawings in the page: verdicts, average ranks, optimism, error against time and size.

What is drawn differs in shape or letter, never in colour alone; a band is an interval or a deviation.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from string import ascii_lowercase
from typing import Any

import pandas as pd
from markupsafe import Markup, escape

from elmbench.errors import ElmbenchError
from elmbench.layouts.base import ALWAYS_SHOWN
from elmbench.layouts.table import COMPLETE, VERDICTS
from elmbench.reporting.notes import mean_gain
from elmbench.reporting.site.gather import PaperResults, ProfileResults
from elmbench.reporting.statistics import Statistics, compare_models
from elmbench.specs.protocol import is_quality
from elmbench.specs.published import ALL

#: The mark of each verdict in a square of 8 by 8, from its upper left corner.
_MARKS = {
    "reproduced": "h8v8h-8z",
    "consistent": "m4 0l4 4l-4 4l-4-4z",
    "close": "m4 0l4 8h-8z",
    "differs": "l8 8m0-8l-8 8",
    "too few runs": "m3 3h2v2h-2z",
    "not comparable": "m2 0v8m4-8v8",
    "no data": "m0 4h8",
    "cited": "m2 0v3m3-3v3",
}
#: Of the map of verdicts: the distance of two marks, the marks in a line and where they begin.
_STEP, _ACROSS, _LEFT = 11, 50, 90
#: Fewer models or data sets than these have no diagram of ranks; more data sets have no panel each.
_FEWEST_MODELS, _FEWEST_SETS, _MOST_PANELS = 3, 4, 6
_AXES = {"fit_seconds": "seconds of a fit", "n_units": "units of the model"}


def verdict_map(paper: PaperResults) -> Markup:
    """Return each published figure of a paper as a mark by its verdict, a row or more for each table."""
    texts: list[Markup] = []
    y = 0
    paths: dict[str, list[str]] = {verdict: [] for verdict in VERDICTS}
    for table in paper.tables:
        if not table.figures or table.facts:
            continue
        y += 6
        texts.append(_text(_LEFT - 8, y + 9, table.file.spec.label, anchor="end"))
        for place, line in enumerate(table.figures):
            x, down = _LEFT + _STEP * (place % _ACROSS), y + _STEP * (place // _ACROSS)
            paths[line["verdict"]].append(f"M{x} {down}{_MARKS[line['verdict']]}")
        y += _STEP * math.ceil(len(table.figures) / _ACROSS)
    drawn = [
        Markup('<path class="m-{}" d="{}"/>').format(name.replace(" ", "-"), "".join(own))
        for name, own in paths.items()
        if own
    ]
    label = f"Verdicts of {paper.paper.key}: a mark is a published figure, in the order of its table"
    return _chart(_LEFT + _STEP * _ACROSS, y + 6, label, [*texts, *drawn]) if texts else Markup()


def verdict_key() -> list[tuple[str, Markup]]:
    """Return the mark of each verdict."""
    return [
        (name, Markup('<svg viewBox="-1 -1 10 10" aria-hidden="true"><path class="m-{}" d="M0 0{}"/></svg>').format(
            name.replace(" ", "-"), mark
        ))
        for name, mark in _MARKS.items()
    ]  # fmt: skip


def rank_diagrams(own: ProfileResults) -> Iterator[Markup]:
    """Yield the critical differences of the average ranks, measured and printed, if there are models to compare."""
    try:
        compared = compare_models(own.results.summary, own.resolved)
    except ElmbenchError:
        return
    for found in compared:
        if len(found.ranks) >= _FEWEST_MODELS and len(found.datasets) >= _FEWEST_SETS:
            yield _ranks(found, _place(own))


def _ranks(found: Statistics, place: str) -> Markup:
    width, left, right = 640, 130, 510
    models = list(found.ranks.items())
    half = math.ceil(len(models) / 2)

    def across(rank: float) -> float:
        return round(left + (right - left) * (rank - 1) / max(1, len(models) - 1), 1)

    bars = list(_cliques(found))
    under = 44 + 8 * len(bars)
    parts = [_line(left, 30, right, 30)]
    for tick in range(1, len(models) + 1):
        parts += [_line(across(tick), 25, across(tick), 30), _text(across(tick), 20, str(tick), anchor="middle")]
    for i, (first, last) in enumerate(bars):
        parts.append(_line(across(first) - 3, 40 + 8 * i, across(last) + 3, 40 + 8 * i, "bar"))
    for i, (model, rank) in enumerate(models):
        on_left = i < half
        down = under + 18 * (i if on_left else len(models) - 1 - i) + 10
        end = left - 8 if on_left else right + 8
        parts.append(Markup('<path class="lead" d="M{} 30V{}H{}"/>').format(across(rank), down, end))
        name = f"{model} {rank:.2f}" if on_left else f"{rank:.2f} {model}"
        parts.append(_text(end - 4 if on_left else end + 4, down + 4, name, anchor="end" if on_left else "start"))
    label = (
        f"{place}: average ranks of the {found.source} figures on {len(found.datasets)} data sets; a bar joins models "
        f"that do not differ (Nemenyi, critical distance {found.critical_distance:.2f})"
    )
    return _chart(width, under + 18 * half + 10, label, parts)


def _cliques(found: Statistics) -> Iterator[tuple[float, float]]:
    """Yield the first and the last rank of each longest run of models that lie no further apart than the distance."""
    ranks = list(found.ranks.values())
    reached = -1
    for i, low in enumerate(ranks):
        last = max(j for j, rank in enumerate(ranks) if rank - low <= found.critical_distance)
        if last > max(i, reached):
            yield low, ranks[last]
        reached = max(reached, last)


def optimism_chart(own: ProfileResults) -> Markup:
    """Return what the oracle gains: a dot for each data set, the mean of each model and its interval over data sets."""
    gains = own.results.gains[own.results.gains["reading"] == ""]
    if not len(gains):
        return Markup()
    rows = [(str(model), group) for model, group in gains.groupby("model", sort=False)]
    means = {model: mean_gain(group["optimism"]) for model, group in rows}
    ends = [end for found in means.values() if found is not None for end in (found.low, found.high) if end is not None]
    low, high = (float(pick([0.0, *gains["optimism"], *ends])) for pick in (min, max))
    left, right, down = 130, 600, 18

    def across(value: float) -> float:
        return round(left + (right - left) * (value - low) / ((high - low) or 1), 1)

    bottom = down * len(rows) + 14
    parts = [_line(across(0), 4, across(0), bottom, "zero")]
    for i, (model, group) in enumerate(rows):
        y = down * i + 16
        parts.append(_text(left - 10, y + 4, model, anchor="end"))
        found = means[model]
        if found is not None and found.low is not None and found.high is not None:
            wide = round(across(found.high) - across(found.low), 1)
            parts.append(Markup('<rect class="band" x="{}" y="{}" width="{}" height="10"/>').format(
                across(found.low), y - 5, wide
            ))  # fmt: skip
        dots = "".join(f"M{across(value)} {y}m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0" for value in group["optimism"])
        parts.append(Markup('<path class="dot" d="{}"/>').format(dots))
        mean = across(float(group["optimism"].mean()))
        parts.append(Markup('<path class="mean" d="M{} {}v14"/>').format(mean, y - 7))
    for value in (low, 0.0, high):
        parts.append(_text(across(value), bottom + 14, f"{value:+.3f}", anchor="middle"))
    label = f"{_place(own)}: optimism; a dot is a data set, the stroke the mean, the band its interval of 95 %"
    return _chart(660, bottom + 22, label, parts)


def trade_offs(own: ProfileResults) -> Iterator[Markup]:
    """Yield for each data set of a small table the first metric against the time of a fit and the size of the model."""
    section = own.results.sections[0] if own.results.sections else None
    if section is None or section.select == "" or not own.resolved.file.figures:
        return
    lines = pd.DataFrame(section.lines)
    lines = lines[(lines["ended"] == COMPLETE) & lines["mean"].notna()]
    datasets = [name for name in dict.fromkeys(lines["dataset"]) if name != ALL]
    if len(datasets) > _MOST_PANELS:
        return
    for dataset in datasets:
        metric = own.resolved.spec.protocol.metric_for(own.resolved.dataset(str(dataset)).task)
        if not is_quality(metric):
            continue
        table = lines[lines["dataset"] == dataset].pivot(index="model", columns="metric", values=["mean", "std"])
        for name in ALWAYS_SHOWN:
            if ("mean", metric) in table and ("mean", name) in table:
                means = table["mean"][[name, metric]].astype(float)
                known = means[means[name] > 0].dropna().reindex(dict.fromkeys(lines["model"])).dropna()
                spread = table["std"][metric].astype(float).fillna(0.0)
                if len(known) >= _FEWEST_MODELS:
                    about = f"{_place(own)}, {own.resolved.spelling(str(dataset))}: {metric} against {_AXES[name]}"
                    yield _against(known, spread, (name, metric), about)


def _against(table: pd.DataFrame, spread: Mapping[Any, float], names: tuple[str, str], about: str) -> Markup:
    left, right, top, bottom = 60, 420, 14, 214
    x, y = (table[name] for name in names)
    start, stop = math.log10(float(x.min())), math.log10(float(x.max()))
    deviations = pd.Series([spread[model] for model in table.index], index=table.index)
    least, most = float((y - deviations).min()), float((y + deviations).max())

    def across(value: float) -> float:
        return round(left + 14 + (right - left - 28) * (math.log10(value) - start) / ((stop - start) or 1), 1)

    def down(value: float) -> float:
        return round(bottom - 12 - (bottom - top - 24) * (value - least) / ((most - least) or 1), 1)

    parts = [Markup('<rect class="frame" x="{}" y="{}" width="{}" height="{}"/>').format(
        left, top, right - left, bottom - top
    )]  # fmt: skip
    for value in sorted({float(x.min()), float(x.max())}):
        parts.append(_text(across(value), bottom + 16, f"{value:.2g}" if value < 100 else f"{value:.0f}", "middle"))
    for value in sorted({least, most}):
        parts.append(_text(left - 6, down(value) + 4, f"{value:.3f}", anchor="end"))
    parts.append(_text((left + right) / 2, bottom + 32, f"{_AXES[names[0]]}, logarithmic", "middle"))
    parts.append(_text(left, top - 4, names[1]))
    for letter, model in zip(_letters(), table.index, strict=False):
        place, error = across(float(x[model])), float(deviations[model])
        high, low = down(float(y[model]) + error), down(float(y[model]) - error)
        parts.append(Markup('<rect class="band" x="{}" y="{}" width="8" height="{}"/>').format(
            place - 4, high, round(low - high, 1)
        ))  # fmt: skip
        parts.append(_text(place, down(float(y[model])) + 4, letter, "middle", "letter"))
    for i, (letter, model) in enumerate(zip(_letters(), table.index, strict=False)):
        parts.append(_text(right + 14, top + 14 + 17 * i, f"{letter} {model}"))
    return _chart(620, max(bottom + 40, top + 20 + 17 * len(table)), f"{about}; a band is the deviation", parts)


def _letters() -> Iterable[str]:
    return (*ascii_lowercase, *(one + other for one in ascii_lowercase for other in ascii_lowercase))


def _place(own: ProfileResults) -> str:
    file = own.resolved.file
    return f"{file.spec.label} of {file.paper.key}, profile {own.profile}"


def _chart(width: float, height: float, label: str, parts: Sequence[Markup]) -> Markup:
    drawing = Markup('<svg class="chart" viewBox="0 0 {} {}" width="{}" role="img" aria-label="{}">{}</svg>')
    inside = Markup("").join(parts)
    shown = drawing.format(width, height, width, label, inside)
    return Markup(
        '<figure><div class="scroll" tabindex="0" role="region" aria-label="{}">{}</div>'
        "<figcaption>{}</figcaption></figure>"
    ).format(label, shown, label)


def _text(x: float, y: float, words: str, anchor: str = "start", kind: str = "tick") -> Markup:
    return Markup('<text class="{}" x="{}" y="{}" text-anchor="{}">{}</text>').format(kind, x, y, anchor, escape(words))


def _line(x1: float, y1: float, x2: float, y2: float, kind: str = "rule") -> Markup:
    return Markup('<path class="{}" d="M{} {}L{} {}"/>').format(kind, x1, y1, x2, y2)

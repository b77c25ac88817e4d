"""What was found, strongest first; every number is computed from the results, and so is whether there is a finding."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd

from elmbench.layouts import layout_of
from elmbench.layouts.base import UNJUDGED
from elmbench.layouts.table import COMPLETE
from elmbench.protocol.metrics import LESS_IS_BETTER
from elmbench.reporting.readings import ReadingComparison
from elmbench.reporting.site.gather import PaperResults, ProfileResults
from elmbench.reporting.site.links import paper_page, readings_page, table_page

#: A reading that leaks explains a figure if it closes at least this share of the distance between ours and the print.
_CLOSED = 0.5
#: A table may come out under no reading if it has so many figures and their order is no more like the print's.
_FEWEST, _UNLIKE = 10, 0.5


@dataclass(frozen=True)
class Finding:
    """Something that the results say of a paper.

    Attributes
    ----------
    paper : str
        Its key.
    title : str
        One sentence.
    says : tuple of str
        What it goes by, in sentences.
    columns, rows : tuple
        The figures that show it, as texts.
    links : tuple of (str, str)
        The address of each piece of evidence below the site, and what it is.
    """

    paper: str
    title: str
    says: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    links: tuple[tuple[str, str], ...]


def find(papers: Sequence[PaperResults]) -> list[Finding]:
    """Return the findings: readings that leak first, then choices on test folds, then what comes out under no reading.

    Of each kind, the strongest one of each paper.
    """
    leaks = [found for paper in papers if (found := _leak(paper)) is not None]
    choices = sorted(filter(None, map(_choice, papers)), key=lambda pair: -pair[0])
    unexplained = sorted(filter(None, map(_unexplained, papers)), key=lambda pair: pair[0])
    kinds: list[list[Finding]] = [leaks, [one for _, one in choices], [one for _, one in unexplained]]
    firsts = [kind[0] for kind in kinds if kind]
    return firsts + [one for kind in kinds for one in kind[1:]]


def _leak(paper: PaperResults) -> Finding | None:
    """Return the model whose figures come out only where test rows reach it before the test."""
    explained = []
    for name, comparisons in paper.readings.items():
        reading = paper.paper.readings[name]
        for found in comparisons:
            value = reading.values.get(found.fits)
            if value is not None and value.leaks and _share_closed(found, reading.default) >= _CLOSED:
                explained.append((name, found))
    if not explained:
        return None
    groups = groupby(sorted(explained, key=lambda pair: (pair[0], pair[1].model)), lambda p: (p[0], p[1].model))
    (name, model), own = max(((key, [one for _, one in group]) for key, group in groups), key=lambda g: len(g[1]))
    reading, leaking = paper.paper.readings[name], own[0].fits
    figures = " and ".join(f"{one.published:g} on {one.dataset}" for one in own)
    left = [abs(one.values[leaking] - one.published) for one in own]
    nearly = "" if max(left) < 0.01 else ", or nearly,"
    return Finding(
        paper.paper.key,
        f"{model}'s published {figures} come out{nearly} only where test rows leak: {name}={leaking}",
        (
            f"{reading.question} Our default: {reading.values[reading.default].says}.",
            f"With {name}={leaking} ({reading.values[leaking].says}) the same folds and random numbers give the "
            "means on the right.",
        ),
        ("data set", "published", reading.default, leaking),
        tuple(
            (
                one.dataset,
                f"{one.published:g}",
                f"{one.values[reading.default]:.3f}",
                f"{one.values[leaking]:.3f}",
            )
            for one in own
        ),
        (
            (f"{readings_page(paper.paper.key)}#{name}", "every figure under both readings"),
            *((table_page(id), _label(paper, id)) for id in dict.fromkeys(one.experiment for one in own)),
        ),
    )


def _share_closed(found: ReadingComparison, default: str) -> float:
    before = abs(found.values.get(default, math.nan) - found.published)
    after = abs(found.values.get(found.fits, math.nan) - found.published)
    return 1 - after / before if before > 0 else 0.0


def _choice(paper: PaperResults) -> tuple[int, Finding] | None:
    """Return whether the print is nearer to a choice on the test folds than to one on inner folds, and by how many."""
    rows, nearer, distances = [], np.zeros(3, dtype=int), []
    for table in paper.tables:
        if not table.profiles:
            continue
        own = pd.DataFrame(_both_choices(table.profiles[0]), columns=["metric", "model", "oracle", "nested"])
        if not len(own):
            continue
        oracle, nested = own["oracle"].abs(), own["nested"].abs()
        counts = [int((oracle < nested).sum()), int((oracle > nested).sum()), int((oracle == nested).sum())]
        nearer += counts
        distances.append(own)
        medians = [f"{own[name].median():+.4f}" for name in ("oracle", "nested")]
        place = f"{table.file.spec.label}, {table.profiles[0].profile}"
        rows.append((place, *map(str, counts[:2]), *medians))
    if not rows or nearer[0] < 2 * nearer[1]:
        return None
    own = pd.concat(distances)
    metrics = ", ".join(dict.fromkeys(own["metric"]))
    finding = Finding(
        paper.paper.key,
        f"{paper.paper.key.upper()}'s figures are those of hyperparameters chosen on the test folds",
        (
            f"Of {len(own)} published figures ({metrics}), {nearer[0]} are nearer to ours where the best grid point is "
            f"chosen by its mean over the test folds (oracle) and {nearer[1]} where it is chosen on inner folds "
            f"(nested); {nearer[2]} are as near.",
            f"Ours minus the print is {own['oracle'].median():+.4f} in the median with the oracle, "
            f"{own['nested'].median():+.4f} nested (of errors the print minus ours).",
        ),
        ("table", "oracle nearer", "nested nearer", "oracle − print", "nested − print"),
        tuple(rows),
        (
            (f"optimism.html#{paper.paper.key}", "what the choice gains, by data set and model"),
            (paper_page(paper.paper.key), "its tables"),
        ),
    )
    return int(nearer[0] - nearer[1]), finding


def _both_choices(own: ProfileResults) -> Iterator[tuple[str, str, float, float]]:
    """Yield how much better than the print each figure is under both selections, on whole data sets."""
    summary = own.results.summary
    lines = summary[(summary["reading"] == "") & summary["published"].notna() & (summary["ended"] == COMPLETE)]
    lines = lines[lines["select"].isin(["oracle", "nested"]) & ~lines["metric"].isin(UNJUDGED)]
    for (dataset, model, metric), group in lines.groupby(["dataset", "model", "metric"], sort=False):
        means = dict(zip(group["select"], group["mean"], strict=True))
        if len(means) == 2 and own.resolved.compares(str(dataset)) and group["mean"].notna().all():
            sign = -1 if metric in LESS_IS_BETTER else 1
            published = float(group["published"].iloc[0])
            better = [sign * (float(means[name]) - published) for name in ("oracle", "nested")]
            yield str(metric), str(model), better[0], better[1]


def _unexplained(paper: PaperResults) -> tuple[float, Finding] | None:
    """Return the table whose figures come out under none of its readings, and how like the print its order is."""
    found = [one for table in paper.tables for own in table.profiles if (one := _under_readings(own)) is not None]
    if not found:
        return None
    likeness, own, lines = min(found, key=lambda one: one[0])
    label, id = own.resolved.file.spec.label, own.resolved.file.id
    nearest = _nearest(lines)
    out = int((nearest["distance"] <= nearest["digits"]).sum())
    opposite = int((nearest["mean"] * nearest["published"] < 0).sum())
    rows = tuple(
        (
            str(reading) or "defaults",
            str(len(group)),
            f"{_rank_correlation(group):+.2f}",
            f"{group['distance'].median():.3f}",
        )
        for reading, group in lines.groupby("reading", sort=False)
    )
    signs = f"; {opposite} have the opposite sign" if opposite else ""
    return likeness, Finding(
        paper.paper.key,
        f"{label} of {paper.paper.key.upper()} comes out under no reading",
        (
            f"Under {len(rows)} readings, {out} of its {len(nearest)} figures that could be measured come within one "
            f"printed digit of ours even if each may take the reading that suits it best{signs}.",
            f"The rank correlation between the printed figures and ours is at most {likeness:+.2f}.",
        ),
        ("reading", "figures", "rank corr.", "median distance"),
        rows,
        (
            (table_page(id), label),
            (readings_page(paper.paper.key), "every figure under each reading"),
        ),
    )


def _under_readings(own: ProfileResults) -> tuple[float, ProfileResults, pd.DataFrame] | None:
    """Return the figures of a table under each reading, if their order is unlike the print under all of them."""
    summary = own.results.summary
    first = summary["select"].iloc[0] if len(summary) else ""
    lines = summary[summary["published"].notna() & summary["mean"].notna() & (summary["select"] == first)]
    lines = lines[~lines["metric"].isin(UNJUDGED) & (lines["ended"] == COMPLETE)]
    lines = lines[lines["dataset"].map(own.resolved.compares).astype(bool)]
    if own.resolved.profile == "ci" or lines["reading"].nunique() < 2 or len(_nearest_places(lines)) < _FEWEST:
        return None
    layout = layout_of(own.resolved)
    digits = [
        layout.last_place(own.resolved.published[place])
        for place in zip(lines["dataset"], lines["model"], lines["metric"], strict=True)
    ]
    lines = lines.assign(distance=(lines["mean"] - lines["published"]).abs(), digits=digits)
    likeness = max(_rank_correlation(group) for _, group in lines.groupby("reading", sort=False))
    return (likeness, own, lines) if likeness < _UNLIKE else None


def _nearest_places(lines: pd.DataFrame) -> pd.DataFrame:
    return lines.drop_duplicates(["dataset", "model", "metric"])


def _nearest(lines: pd.DataFrame) -> pd.DataFrame:
    """Return each figure under the reading that brings ours nearest to it."""
    return _nearest_places(lines.sort_values("distance"))


def _rank_correlation(lines: pd.DataFrame) -> float:
    found = float(lines["mean"].corr(lines["published"], method="spearman")) if len(lines) > 2 else math.nan
    return 0.0 if math.isnan(found) else found


def _label(paper: PaperResults, id: str) -> str:
    return next(table.file.spec.label for table in paper.tables if table.file.id == id)


def power(papers: Iterable[PaperResults]) -> dict[str, Any]:
    """Return how the rule of the verdicts did: on our own runs and on wrong pairings, of the tables' first profiles."""
    metrics = [
        one
        for paper in papers
        for table in paper.tables
        for one in (table.profiles[0].agreements if table.profiles else ())
    ]
    names = ("pairings", "pairings_reproduced", "left_out", "left_out_reproduced")
    return {name: sum(getattr(one, name) for one in metrics) for name in names}

"""Findings, strongest first: every number, and whether there is a finding, is computed from the results."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from elmbench.layouts.base import UNJUDGED
from elmbench.layouts.table import COMPLETE
from elmbench.metrics import less_is_better
from elmbench.registry import registry
from elmbench.reporting.readings import ReadingComparison
from elmbench.reporting.site.gather import PaperResults, ProfileResults, TableResults
from elmbench.reporting.site.links import paper_page, readings_page, table_page
from elmbench.specs.profiles import resolve
from elmbench.specs.published import PublishedValue

#: A reading that leaks explains a figure if it closes at least this share of the distance between ours and the print.
_CLOSED = 0.5
#: The level of the sign test that tells the two choices of hyperparameters apart.
_LEVEL = 0.05
#: No reading explains a table of at least so many figures if more than this share lies outside under all of them.
_FEWEST, _MOST = 10, 0.5


@dataclass(frozen=True)
class Finding:
    """A finding about a paper.

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
    """Return the strongest finding of each kind and paper: leaks, choices on test folds, tables without a reading."""
    leaks = [found for paper in papers if (found := _leak(paper)) is not None]
    choices = sorted(filter(None, map(_choice, papers)), key=lambda pair: -pair[0])
    unexplained = sorted(filter(None, map(_unexplained, papers)), key=lambda pair: -pair[0])
    kinds: list[list[Finding]] = [leaks, [one for _, one in choices], [one for _, one in unexplained]]
    firsts = [kind[0] for kind in kinds if kind]
    return firsts + [one for kind in kinds for one in kind[1:]]


def _leak(paper: PaperResults) -> Finding | None:
    """Return the model that comes near its figures only if test rows reach it before the test."""
    explained: dict[tuple[str, str], list[ReadingComparison]] = {}
    for name, comparisons in paper.readings.items():
        reading = paper.paper.readings[name]
        for one in comparisons:
            value = reading.values.get(one.fits)
            leaks = value is not None and value.leaks and _share_closed(one, reading.default) >= _CLOSED
            if leaks and not _comes_as_near(paper, name, one):
                explained.setdefault((name, one.model), []).append(one)
    if not explained:
        return None
    (name, model), figures = max(explained.items(), key=lambda item: len(item[1]))
    reading, leaking = paper.paper.readings[name], figures[0].fits
    published = " and ".join(f"{one.published:g} on {one.dataset}" for one in figures)
    intervals = "; ".join(_interval(one, leaking) for one in figures)
    left = " and ".join(f"{abs(one.values[leaking] - one.published):.3f}" for one in figures)
    rows = tuple(
        (
            one.dataset,
            f"{one.published:g}",
            f"{one.values[reading.default]:.3f}",
            f"{one.values[leaking]:.3f}",
        )
        for one in figures
    )
    return Finding(
        paper.paper.key,
        f"{model} comes within {left} of its published {published} only if test rows leak: {name}={leaking}",
        (
            f"{reading.question} Our default: {reading.values[reading.default].says}.",
            f"With {name}={leaking} ({reading.values[leaking].says}) the same folds and random numbers give the "
            "means on the right. No other reading that was tried comes as near.",
            f"The interval of 95 % for the published figure with it: {intervals}.",
        ),
        ("data set", "published", reading.default, leaking),
        rows,
        (
            (f"{readings_page(paper.paper.key)}#{name}", "every figure under both readings"),
            *((table_page(id), _label(paper, id)) for id in dict.fromkeys(one.experiment for one in figures)),
        ),
    )


def _interval(one: ReadingComparison, value: str) -> str:
    if value not in one.intervals:
        return f"too few runs on {one.dataset}"
    low, high = one.intervals[value]
    side = "inside" if low <= one.published <= high else "outside"
    return f"{low:.4f} to {high:.4f} on {one.dataset}, where {one.published:g} is {side}"


def _comes_as_near(paper: PaperResults, name: str, one: ReadingComparison) -> bool:
    """Return True if another reading brings our mean as near to the figure."""
    figure = (one.experiment, one.dataset, one.model, one.metric)
    others = (other for key, others in paper.readings.items() if key != name for other in others)
    means = [
        mean
        for other in others
        if (other.experiment, other.dataset, other.model, other.metric) == figure
        for mean in other.values.values()
    ]
    return any(abs(mean - one.published) <= abs(one.values[one.fits] - one.published) for mean in means)


def _share_closed(one: ReadingComparison, default: str) -> float:
    before = abs(one.values.get(default, math.nan) - one.published)
    after = abs(one.values.get(one.fits, math.nan) - one.published)
    return 1 - after / before if before > 0 else 0.0


@dataclass(frozen=True)
class _Choice:
    """How many figures of a model in a table are nearer to each choice of hyperparameters, and the median distances."""

    table: TableResults
    model: str
    oracle: int
    nested: int
    equal: int
    medians: tuple[float, float]

    @property
    def is_of_oracle(self) -> bool:
        """Whether at least twice as many figures are nearer to the choice on the test folds."""
        return self.oracle > 0 and self.oracle >= 2 * self.nested


def _choice(paper: PaperResults) -> tuple[int, Finding] | None:
    """Return the table in which most models' figures are nearer to a choice on the test folds, if chance is unlikely.

    The models are judged one by one: a paper may have chosen in one way for some of them and not for others.
    """
    choices = [one for table in paper.tables if table.profiles for one in _choices(table)]
    strong = [one for one in choices if one.is_of_oracle and _sign_p(one) * len(choices) <= _LEVEL]
    if not strong:
        return None
    table = max(strong, key=lambda one: one.oracle - one.nested).table
    in_table = [one for one in choices if one.table is table]
    chosen = [one for one in in_table if one.is_of_oracle]
    label = table.file.spec.label
    others = [f"{one.model} {one.oracle}:{one.nested}" for one in in_table if not one.is_of_oracle]
    counts = ", ".join(f"{one.model} {one.oracle}:{one.nested}:{one.equal}" for one in chosen)
    says = [
        "Each published figure is compared with our means for hyperparameters of the best mean over the test folds "
        f"(oracle) and for those chosen on inner folds (nested). Nearer to oracle, to nested, and as near: {counts}. "
        "That the authors chose on the test folds is an inference from these counts.",
    ]
    if others:
        says.append(f"It is not seen of all models: {', '.join(others)}.")
    says += _against(table, paper)
    finding = Finding(
        paper.paper.key,
        f"The figures of {_listed([one.model for one in chosen])} in {label} of {paper.paper.key.upper()} are nearer "
        "to hyperparameters chosen on the test folds",
        tuple(says),
        ("table", "model", "oracle nearer", "nested nearer", "oracle − print", "nested − print"),
        tuple(
            (
                f"{one.table.file.spec.label}, {one.table.profiles[0].profile}",
                one.model,
                str(one.oracle),
                str(one.nested),
                *(f"{median:+.4f}" for median in one.medians),
            )
            for one in choices
        ),
        (
            (f"optimism.html#{paper.paper.key}", "what the choice gains, by data set and model"),
            (paper_page(paper.paper.key), "its tables"),
        ),
    )
    return sum(one.oracle - one.nested for one in chosen), finding


def _sign_p(one: _Choice) -> float:
    from scipy.stats import binomtest

    return float(binomtest(one.oracle, one.oracle + one.nested, alternative="greater").pvalue)


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _choices(table: TableResults) -> Iterator[_Choice]:
    """Yield how each estimator of a table does under both selections, its columns together."""
    columns = table.file.spec.models
    lines = pd.DataFrame(_both_choices(table.profiles[0]), columns=["metric", "model", "oracle", "nested"])
    titles = lines["model"].map(lambda column: registry()[columns[column].model].name.upper())
    for model, group in lines.groupby(titles, sort=False):
        oracle, nested = group["oracle"].abs(), group["nested"].abs()
        nearer = (int((oracle < nested).sum()), int((oracle > nested).sum()), int((oracle == nested).sum()))
        yield _Choice(table, str(model), *nearer, (group["oracle"].median(), group["nested"].median()))


def _against(table: TableResults, paper: PaperResults) -> Iterator[str]:
    """Yield the tables that print better figures for the same cells: the best on the same folds cannot be exceeded."""
    own = resolve(table.file, table.file.profiles[-1]).published
    for other in paper.tables:
        if other is table:
            continue
        published = resolve(other.file, other.file.profiles[-1]).published
        shared = [
            place
            for place, figure in published.items()
            if place in own and place[2] not in UNJUDGED and None not in (figure.value, own[place].value)
        ]
        better = [
            f"{column} on {published[dataset, column, metric].dataset}"
            for dataset, column, metric in shared
            if _gain(metric, published[dataset, column, metric], own[dataset, column, metric]) > 0
        ]
        if better:
            label, other_label = table.file.spec.label, other.file.spec.label
            yield (
                f"Against it: {other_label} prints a better figure in {len(better)} of the {len(shared)} cells that "
                f"{label} has too ({', '.join(better)}). That cannot be if {label} were the best on the same folds."
            )


def _gain(metric: str, one: PublishedValue, other: PublishedValue) -> float:
    sign = -1 if less_is_better(metric) else 1
    return sign * float((one.value or 0) - (other.value or 0))


def _both_choices(own: ProfileResults) -> Iterator[tuple[str, str, float, float]]:
    """Yield how much better than the print each figure is under both selections, on whole data sets."""
    summary = own.results.summary
    lines = summary[(summary["reading"] == "") & summary["published"].notna() & (summary["ended"] == COMPLETE)]
    lines = lines[lines["select"].isin(["oracle", "nested"]) & ~lines["metric"].isin(UNJUDGED)]
    for (dataset, model, metric), group in lines.groupby(["dataset", "model", "metric"], sort=False):
        means = dict(zip(group["select"], group["mean"], strict=True))
        if len(means) == 2 and own.resolved.compares(str(dataset)) and group["mean"].notna().all():
            sign = -1 if less_is_better(str(metric)) else 1
            published = float(group["published"].iloc[0])
            better = [sign * (float(means[name]) - published) for name in ("oracle", "nested")]
            yield str(metric), str(model), better[0], better[1]


def _unexplained(paper: PaperResults) -> tuple[float, Finding] | None:
    """Return the table most of whose figures lie outside of our intervals under every reading, and their share."""
    candidates = [one for table in paper.tables for own in table.profiles if (one := _under_readings(own)) is not None]
    if not candidates:
        return None
    share, own, lines = max(candidates, key=lambda one: one[0])
    label, id = own.resolved.file.spec.label, own.resolved.file.id
    figures = lines.groupby(_PLACE, sort=False)
    opposite = int(figures["opposite"].all().sum())
    rows = tuple(
        (
            str(reading) or "defaults",
            str(len(group)),
            str(int(group["outside"].sum())),
            f"{(group['mean'] - group['published']).abs().median():.3f}",
        )
        for reading, group in lines.groupby("reading", sort=False)
    )
    signs = f" {opposite} have the other sign under all of them." if opposite else ""
    return share, Finding(
        paper.paper.key,
        f"Most of {label} of {paper.paper.key.upper()} is reproduced under no reading",
        (
            f"Under each of {len(rows)} readings, with {int(lines['runs'].min())} runs or more, "
            f"{int(figures['outside'].all().sum())} of its {len(figures)} figures that can be compared lie outside of "
            f"the interval of 95 %.{signs}",
        ),
        ("reading", "figures", "outside", "median distance"),
        rows,
        (
            (table_page(id), label),
            (readings_page(paper.paper.key), "every figure under each reading"),
        ),
    )


_PLACE = ["dataset", "model", "metric"]


def _under_readings(own: ProfileResults) -> tuple[float, ProfileResults, pd.DataFrame] | None:
    """Return the figures of a table under each reading, if most lie outside of the intervals under all of them."""
    summary = own.results.summary
    first = summary["select"].iloc[0] if len(summary) else ""
    lines = summary[summary["published"].notna() & summary["low"].notna() & (summary["select"] == first)]
    lines = lines[~lines["metric"].isin(UNJUDGED) & (lines["ended"] == COMPLETE)]
    lines = lines[lines["dataset"].map(own.resolved.compares).astype(bool)]
    if own.resolved.profile == "ci" or lines["reading"].nunique() < 2:
        return None
    lines = lines.assign(
        outside=(lines["published"] < lines["low"]) | (lines["published"] > lines["high"]),
        opposite=lines["mean"] * lines["published"] < 0,
    )
    outside = lines.groupby(_PLACE)["outside"].all()
    return (outside.mean(), own, lines) if len(outside) >= _FEWEST and outside.mean() > _MOST else None


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

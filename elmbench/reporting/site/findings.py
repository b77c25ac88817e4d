"""Findings, strongest first; every number, and the existence of a finding, is computed from the results."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

import pandas as pd

from elmbench.layouts.base import UNJUDGED
from elmbench.layouts.table import COMPLETE
from elmbench.metrics import less_is_better
from elmbench.numerics.significance import sign
from elmbench.registry import registry
from elmbench.reporting.papers import PaperResults, TableResults
from elmbench.reporting.readings import ReadingComparison
from elmbench.reporting.results import Results
from elmbench.specs.profiles import resolve

#: A reading that leaks explains a figure if it closes at least this share of the distance between ours and the print.
_CLOSED = 0.5
#: The level of the sign test between the two choices of hyperparameters.
_LEVEL = 0.05
#: The fewest figures of a table, and the share of them outside of the intervals, that no reading then explains.
_FEWEST, _MOST = 10, 0.5
_FIGURE = ["dataset", "model", "metric"]


@dataclass(frozen=True)
class Finding:
    """A finding about a paper: its title and evidence in sentences, and the figures that show it, as texts.

    `paper` is a key. `links`: the address below the site and the name of each page with evidence.
    """

    paper: str
    title: str
    evidence: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    links: tuple[tuple[str, str], ...]


#: A finding, and its strength compared with others of its kind.
_Ranked = tuple[float, Finding] | None


def find(papers: Sequence[PaperResults]) -> list[Finding]:
    """Return the strongest finding of each kind and paper: leaks, choices on test folds, tables without a reading."""
    kinds: list[list[Finding]] = []
    for search in (_leak, _choice, _farthest_table):
        ranked = sorted(filter(None, map(search, papers)), key=lambda pair: -pair[0])
        kinds.append([finding for _, finding in ranked])
    return [kind[0] for kind in kinds if kind] + [finding for kind in kinds for finding in kind[1:]]


def _leak(paper: PaperResults) -> _Ranked:
    """Return the model that matches its figures only if test rows leak into training."""
    explained: dict[tuple[str, str], list[ReadingComparison]] = {}
    for name, comparisons in paper.readings.items():
        reading = paper.paper.readings[name]
        for one in comparisons:
            leaks = one.fits in reading.values and reading.values[one.fits].leaks
            if (
                leaks
                and _distance(one, one.fits) <= _CLOSED * _distance(one, reading.default)
                and not _other_reading_fits(paper, name, one)
            ):
                explained.setdefault((name, one.model), []).append(one)
    if not explained:
        return None
    (name, model), figures = max(explained.items(), key=lambda item: len(item[1]))
    reading, leaking = paper.paper.readings[name], figures[0].fits
    published = " and ".join(f"{one.published:g} on {one.dataset}" for one in figures)
    distances = " and ".join(f"{_distance(one, leaking):.3f}" for one in figures)
    rows = (
        (one.dataset, f"{one.published:g}", *(f"{one.values[value]:.3f}" for value in (reading.default, leaking)))
        for one in figures
    )
    return 0, Finding(
        paper.paper.key,
        f"{model} comes within {distances} of its published {published} only if test rows leak: {name}={leaking}",
        (
            f"{reading.question} Our default: {reading.values[reading.default].says}.",
            f"With {name}={leaking} ({reading.values[leaking].says}), the same folds and random numbers give the "
            "means in the table. No other reading comes as near.",
            f"Its interval of 95 % for the published figure: {'; '.join(_interval(one, leaking) for one in figures)}.",
        ),
        ("data set", "published", f"{name}={reading.default}", f"{name}={leaking}"),
        tuple(rows),
        (
            (f"{paper.readings_page}#{name}", "every figure under both readings"),
            *(paper.link(id) for id in dict.fromkeys(one.experiment for one in figures)),
        ),
    )


def _distance(one: ReadingComparison, value: str) -> float:
    return abs(one.values.get(value, math.nan) - one.published)


def _interval(one: ReadingComparison, value: str) -> str:
    if value not in one.intervals:
        return f"too few runs on {one.dataset}"
    low, high = one.intervals[value]
    side = "inside" if low <= one.published <= high else "outside"
    return f"{low:.4f} to {high:.4f} on {one.dataset}, where {one.published:g} is {side}"


def _other_reading_fits(paper: PaperResults, name: str, one: ReadingComparison) -> bool:
    """Return True if another reading brings our mean as near to the figure."""
    figure = attrgetter("experiment", *_FIGURE)
    others = (other for key, comparisons in paper.readings.items() if key != name for other in comparisons)
    nearest = (_distance(other, value) for other in others if figure(other) == figure(one) for value in other.values)
    return any(distance <= _distance(one, one.fits) for distance in nearest)


@dataclass(frozen=True)
class _Choice:
    """The number of a model's figures in a table that are nearer to each choice of hyperparameters, or as near."""

    table: TableResults
    model: str
    oracle: int
    nested: int
    equal: int
    medians: tuple[float, float]

    @property
    def is_of_oracle(self) -> bool:
        """True if at least twice as many figures are nearer to the choice on the test folds."""
        return self.oracle > 0 and self.oracle >= 2 * self.nested

    @property
    def p(self) -> float:
        """The p-value of the sign test."""
        return sign(self.oracle, self.oracle + self.nested).confirming


def _choice(paper: PaperResults) -> _Ranked:
    """Return the table in which most models' figures are nearer to a choice on the test folds than chance explains.

    Each model is judged separately, because a paper may have chosen differently for some of them.
    """
    choices = [one for table in paper.tables if table.results for one in _choices(table)]
    strong = [one for one in choices if one.is_of_oracle and one.p * len(choices) <= _LEVEL]
    if not strong:
        return None
    table = max(strong, key=lambda one: one.oracle - one.nested).table
    label = table.file.spec.label
    chosen = [one for one in choices if one.table is table and one.is_of_oracle]
    others = [f"{one.model} {one.oracle}:{one.nested}" for one in choices if one.table is table and one not in chosen]
    counts = ", ".join(f"{one.model} {one.oracle}:{one.nested}:{one.equal}" for one in chosen)
    models = [one.model for one in chosen]
    listed = " and ".join(filter(None, (", ".join(models[:-1]), models[-1])))
    rows = (
        (one.table.file.spec.label, one.model, str(one.oracle), str(one.nested), *(f"{x:+.4f}" for x in one.medians))
        for one in choices
    )
    return sum(one.oracle - one.nested for one in chosen), Finding(
        paper.paper.key,
        f"The figures of {listed} in {label} of {paper.paper.key.upper()} are nearer to hyperparameters chosen on the "
        "test folds",
        (
            "Each published figure is compared with our means for hyperparameters of the best mean over the test folds "
            "(oracle) and for those chosen on inner folds (nested). Nearer to oracle, to nested, and as near: "
            f"{counts}. A choice by the authors on the test folds is an inference from these counts.",
            *([f"The other models do not show it: {', '.join(others)}."] if others else ()),
            *_counter_evidence(table, paper),
        ),
        ("table", "model", "oracle nearer", "nested nearer", "oracle − print", "nested − print"),
        tuple(rows),
        (
            (f"optimism.html#{paper.paper.key}", "the gain of the choice, by data set and model"),
            (paper.page, "its tables"),
        ),
    )


def _choices(table: TableResults) -> Iterator[_Choice]:
    """Yield the counts of each estimator of a table, its columns together."""
    lines = _comparable(table.results[0])
    lines = lines[lines["reading"] == ""]
    gains = lines.pivot_table("mean", [*_FIGURE, "published"], "select", sort=False)
    gains = gains.reindex(columns=["oracle", "nested"]).dropna().reset_index()
    for select in ("oracle", "nested"):
        gains[select] = gains["metric"].map(_sign).astype(int) * (gains[select] - gains["published"])
    columns = table.file.spec.models
    names = gains["model"].map(lambda column: registry()[columns[column].model].name.upper())
    for model, group in gains.groupby(names, sort=False):
        oracle, nested = group["oracle"].abs(), group["nested"].abs()
        nearer = (int((oracle < nested).sum()), int((oracle > nested).sum()), int((oracle == nested).sum()))
        yield _Choice(table, str(model), *nearer, (group["oracle"].median(), group["nested"].median()))


def _comparable(results: Results) -> pd.DataFrame:
    """Return the lines of published figures that get a verdict, measured on whole data sets."""
    lines = results.summary
    lines = lines[lines["published"].notna() & (lines["ended"] == COMPLETE) & ~lines["metric"].isin(UNJUDGED)]
    return lines[lines["dataset"].map(results.resolved.compares).astype(bool)]


def _sign(metric: str) -> int:
    return -1 if less_is_better(metric) else 1


def _counter_evidence(table: TableResults, paper: PaperResults) -> Iterator[str]:
    """Yield the tables that print better figures for the same cells: the best on the same folds cannot be exceeded."""
    printed = resolve(table.file, table.file.profiles[-1]).published
    label = table.file.spec.label
    for other in paper.tables:
        published = resolve(other.file, other.file.profiles[-1]).published if other is not table else {}
        shared = []
        for key, figure in published.items():
            one, two = figure.value, printed[key].value if key in printed else None
            if one is not None and two is not None and key[2] not in UNJUDGED:
                shared.append((f"{key[1]} on {figure.dataset}", _sign(key[2]) * (one - two)))
        if better := [cell for cell, gain in shared if gain > 0]:
            yield (
                f"Evidence against it: {other.file.spec.label} prints a better figure in {len(better)} of the "
                f"{len(shared)} cells that {label} also has ({', '.join(better)}). This would be impossible if {label} "
                "had the best on the same folds."
            )


def _farthest_table(paper: PaperResults) -> _Ranked:
    """Return the table most of whose figures lie outside of our intervals under every reading, and their share."""
    candidates = list(filter(None, map(_under_readings, paper.results)))
    if not candidates:
        return None
    share, results, lines = max(candidates, key=lambda one: one[0])
    link = paper.link(results.resolved.file.id)
    figures = lines.groupby(_FIGURE, sort=False)
    opposite = int(figures["opposite"].all().sum())
    rows = []
    for reading, group in lines.groupby("reading", sort=False):
        distance = (group["mean"] - group["published"]).abs().median()
        rows.append((str(reading) or "defaults", str(len(group)), str(int(group["outside"].sum())), f"{distance:.3f}"))
    signs = f" {opposite} have the other sign under all of them." if opposite else ""
    return share, Finding(
        paper.paper.key,
        f"Most figures of {link[1]} of {paper.paper.key.upper()} are not reproduced under any reading",
        (
            f"Under each of {len(rows)} readings, with {int(lines['runs'].min())} runs or more, "
            f"{int(figures['outside'].all().sum())} of its {len(figures)} figures that can be compared lie outside of "
            f"the interval of 95 %.{signs}",
        ),
        ("reading", "figures", "outside", "median distance"),
        tuple(rows),
        (link, (paper.readings_page, "every figure under each reading")),
    )


def _under_readings(results: Results) -> tuple[float, Results, pd.DataFrame] | None:
    """Return the figures of a table under each reading, if most lie outside of the intervals under all of them."""
    lines = _comparable(results)
    lines = lines[lines["low"].notna() & lines["select"].isin(results.summary["select"].head(1))]
    if results.resolved.profile == "ci" or lines["reading"].nunique() < 2:
        return None
    lines = lines.assign(
        outside=(lines["published"] < lines["low"]) | (lines["published"] > lines["high"]),
        opposite=lines["mean"] * lines["published"] < 0,
    )
    outside = lines.groupby(_FIGURE)["outside"].all()
    return (outside.mean(), results, lines) if len(outside) >= _FEWEST and outside.mean() > _MOST else None

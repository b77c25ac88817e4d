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
        kinds.append([finding for _, finding in sorted(filter(None, map(search, papers)), key=lambda pair: -pair[0])])
    return [kind[0] for kind in kinds if kind] + [finding for kind in kinds for finding in kind[1:]]


def _leak(paper: PaperResults) -> _Ranked:
    """Return the model that matches its figures only if test rows leak into training."""
    explained: dict[tuple[str, str], list[ReadingComparison]] = {}
    for name, comparisons in paper.readings.items():
        reading = paper.paper.readings[name]
        for figure in comparisons:
            is_leak = figure.nearest in reading.values and reading.values[figure.nearest].leaks
            is_near = _distance(figure, figure.nearest) <= _CLOSED * _distance(figure, reading.default)
            if is_leak and is_near and not _other_reading_fits(paper, name, figure):
                explained.setdefault((name, figure.model), []).append(figure)
    if not explained:
        return None
    (name, model), figures = max(explained.items(), key=lambda item: len(item[1]))
    reading, leaking = paper.paper.readings[name], figures[0].nearest
    published = " and ".join(f"{figure.published:g} on {figure.dataset}" for figure in figures)
    distances = " and ".join(f"{_distance(figure, leaking):.3f}" for figure in figures)
    intervals = "; ".join(_interval(figure, leaking) for figure in figures)
    choices = (reading.default, leaking)
    rows = (
        (figure.dataset, f"{figure.published:g}", *(f"{figure.values[value]:.3f}" for value in choices))
        for figure in figures
    )
    return 0, Finding(
        paper.paper.key,
        f"{model} comes within {distances} of its published {published} only if test rows leak: {name}={leaking}",
        (
            f"{reading.question} Our default: {reading.values[reading.default].says}.",
            f"With {name}={leaking} ({reading.values[leaking].says}), the same folds and random numbers give the "
            "means in the table. No other reading comes as near.",
            f"Its interval of 95 % for the published figure: {intervals}.",
        ),
        ("data set", "published", f"{name}={reading.default}", f"{name}={leaking}"),
        tuple(rows),
        (
            (f"{paper.readings_page}#{name}", "every figure under both readings"),
            *(paper.link(id) for id in dict.fromkeys(figure.experiment for figure in figures)),
        ),
    )


def _distance(figure: ReadingComparison, value: str) -> float:
    return abs(figure.values.get(value, math.nan) - figure.published)


def _interval(figure: ReadingComparison, value: str) -> str:
    if value not in figure.intervals:
        return f"too few runs on {figure.dataset}"
    low, high = figure.intervals[value]
    side = "inside" if low <= figure.published <= high else "outside"
    return f"{low:.4f} to {high:.4f} on {figure.dataset}, where {figure.published:g} is {side}"


def _other_reading_fits(paper: PaperResults, name: str, figure: ReadingComparison) -> bool:
    """Return True if another reading brings our mean as near to the figure."""
    entry = attrgetter("experiment", *_FIGURE)
    others = (other for key, comparisons in paper.readings.items() if key != name for other in comparisons)
    distances = (_distance(other, value) for other in others if entry(other) == entry(figure) for value in other.values)
    return any(distance <= _distance(figure, figure.nearest) for distance in distances)


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
    choices = [choice for table in paper.tables if table.results for choice in _choices(table)]
    strong = [choice for choice in choices if choice.is_of_oracle and choice.p * len(choices) <= _LEVEL]
    if not strong:
        return None
    table = max(strong, key=lambda choice: choice.oracle - choice.nested).table
    label = table.file.spec.label
    near = [choice for choice in choices if choice.table is table and choice.is_of_oracle]
    rest = [choice for choice in choices if choice.table is table and choice not in near]
    others = [f"{choice.model} {choice.oracle}:{choice.nested}" for choice in rest]
    counts = ", ".join(f"{choice.model} {choice.oracle}:{choice.nested}:{choice.equal}" for choice in near)
    models = [choice.model for choice in near]
    listed = " and ".join(filter(None, (", ".join(models[:-1]), models[-1])))
    rows = []
    for choice in choices:
        medians = (f"{median:+.4f}" for median in choice.medians)
        rows.append((choice.table.file.spec.label, choice.model, str(choice.oracle), str(choice.nested), *medians))
    return sum(choice.oracle - choice.nested for choice in near), Finding(
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
            first, second = figure.value, printed[key].value if key in printed else None
            if first is not None and second is not None and key[2] not in UNJUDGED:
                shared.append((f"{key[1]} on {figure.dataset}", _sign(key[2]) * (first - second)))
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
    share, results, lines = max(candidates, key=lambda candidate: candidate[0])
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

"""Findings, strongest first; every number, and the existence of a finding, is computed from the
results.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from elmbench.layouts.table import COMPLETE, UNJUDGED
from elmbench.metrics import less_is_better
from elmbench.numerics.significance import sign_test
from elmbench.registry import registry
from elmbench.reporting.papers import PaperResults
from elmbench.reporting.results import Results
from elmbench.reporting.summary import FIGURE
from elmbench.specs.catalogue import ExperimentFile

#: A reading that leaks explains a figure if it closes at least this share of the distance between
#: ours and the print.
_CLOSED = 0.5
#: The level of the sign test between the two choices of hyperparameters.
_LEVEL = 0.05
#: The fewest figures of a table, and the share of them outside of the intervals, that no reading
#: then explains.
_FEWEST, _MOST = 10, 0.5
_ENTRY = ["experiment", *FIGURE]


@dataclass(frozen=True)
class Finding:
    """A finding about a paper: its title and evidence in sentences, and the figures that show it,
    as texts.

    `paper` is a key. `links`: the address below the site and the name of each page with evidence.
    """

    paper: str
    title: str
    evidence: Sequence[str]
    figures: pd.DataFrame
    links: Sequence[tuple[str, str]]


def find(papers: Sequence[PaperResults]) -> list[Finding]:
    """Return a finding of each kind and paper: leaks, choices on test folds, tables without a
    reading.
    """
    kinds = [
        list(filter(None, map(search, papers))) for search in (_leak, _choice, _farthest_table)
    ]
    return [kind[0] for kind in kinds if kind] + [finding for kind in kinds for finding in kind[1:]]


def _leak(paper: PaperResults) -> Finding | None:
    """Return the model that matches its figures only if test rows leak into training."""
    lines = paper.readings.assign(
        distance=(paper.readings["mean"] - paper.readings["published"]).abs()
    )
    default = {name: reading.default for name, reading in paper.paper.readings.items()}
    at_default = lines["distance"].where(lines["value"] == lines["reading"].map(default))
    is_near = lines["distance"] <= _CLOSED * at_default.groupby(
        [lines["reading"], lines["label"]]
    ).transform("max")
    leaks = lines[lines["leaks"] & lines["nearest"] & is_near]
    nearest = lines.groupby([*_ENTRY, "reading"])["distance"].min().reset_index()
    pairs = leaks.reset_index().merge(nearest, on=_ENTRY, suffixes=("", " of rival"))
    rivals = pairs[
        (pairs["reading"] != pairs["reading of rival"])
        & (pairs["distance of rival"] <= pairs["distance"])
    ]
    by_value: Any = leaks.drop(rivals["index"].unique()).groupby(
        ["reading", "value", "model"], sort=False
    )
    groups = list(by_value)
    if not groups:
        return None
    (name, leaking, model), figures = max(groups, key=lambda group: len(group[1]))
    reading = paper.paper.readings[name]
    published = [f"{line['published']:g} on {line['dataset']}" for _, line in figures.iterrows()]
    means = lines[lines["label"].isin(figures["label"])].pivot_table(
        "mean", "label", "value", sort=False
    )
    columns = {
        f"{name}={value}": means[value].map("{:.3f}".format).to_list()
        for value in (default[name], leaking)
    }
    page = f"{paper.readings_page}#{name}", "every figure under both readings"
    table = {
        "data set": figures["dataset"],
        "published": figures["published"].map("{:g}".format),
        **columns,
    }
    return Finding(
        paper.paper.key,
        f"{model} comes within {' and '.join(figures['distance'].map('{:.3f}'.format))} of its "
        "published "
        f"{' and '.join(published)} only if test rows leak: {name}={leaking}",
        (
            f"{reading.question} Our default: {reading.values[reading.default].says}.",
            f"With {name}={leaking} ({reading.values[leaking].says}), the same folds and random "
            "numbers give the "
            "means in the table. No other reading comes as near.",
            "The 95 % intervals for the published figures: "
            f"{'; '.join(figures.apply(_interval, axis=1))}.",
        ),
        pd.DataFrame(table),
        (page, *map(paper.link, figures["experiment"].unique())),
    )


def _interval(line: pd.Series[Any]) -> str:
    """Return a sentence part on the interval of a line, and if the published value is inside."""
    if math.isnan(line["low"]):
        return f"too few runs on {line['dataset']}"
    side = "inside" if line["low"] <= line["published"] <= line["high"] else "outside"
    return (
        f"{line['low']:.4f} to {line['high']:.4f} on {line['dataset']}, where "
        f"{line['published']:g} is {side}"
    )


def _choice(paper: PaperResults) -> Finding | None:
    """Return the table in which most models' figures are nearer to a choice on the test folds than
    chance explains.

    Each model is judged separately, because a paper may have chosen differently for some of them.
    """
    choices = pd.concat(
        [_choices(table.results[0]) for table in paper.run] or [pd.DataFrame()], ignore_index=True
    )
    if not len(choices):
        return None
    oracle, nested = choices["oracle nearer"], choices["nested nearer"]
    p = [
        sign_test(k, k + rest).confirming if k else 1.0
        for k, rest in zip(oracle, nested, strict=True)
    ]
    is_of_oracle = (oracle > 0) & (oracle >= 2 * nested)
    strong = (oracle - nested).where(is_of_oracle & (pd.Series(p) * len(choices) <= _LEVEL))
    if strong.isna().all():
        return None
    label = str(choices["table"].iloc[int(np.nanargmax(strong))])
    counts = choices["model"] + " " + oracle.astype(str) + ":" + nested.astype(str)
    nearer, rest = (
        (choices["table"] == label) & is_of_oracle,
        (choices["table"] == label) & ~is_of_oracle,
    )
    listed = ", ".join(counts[nearer] + ":" + choices["equal"][nearer].astype(str))
    page = f"optimism.html#{paper.paper.key}", "the gain of the choice, by data set and model"
    models = " and ".join(
        filter(None, (", ".join(choices["model"][nearer][:-1]), choices["model"][nearer].iloc[-1]))
    )
    return Finding(
        paper.paper.key,
        f"The figures of {models} in {label} of {paper.paper.key.upper()} are nearer to "
        "hyperparameters chosen on the "
        "test folds",
        (
            "Each published figure is compared with our means for hyperparameters of the best mean "
            "over the test folds "
            "(oracle) and for those chosen on inner folds (nested). Nearer to oracle, to nested, "
            "and as near: "
            f"{listed}. A choice by the authors on the test folds is an inference from these "
            "counts. The last two "
            "columns are median differences.",
            *(
                [f"The other models do not show it: {', '.join(counts[rest])}."]
                if rest.any()
                else ()
            ),
            *_counter_evidence(label, [table.file for table in paper.tables]),
        ),
        choices.drop(columns="equal").map(
            lambda value: f"{value:+.4f}" if isinstance(value, float) else str(value)
        ),
        (page, (paper.page, "its tables")),
    )


def _choices(results: Results) -> pd.DataFrame:
    """Return a line for each estimator of a table, its columns together.

    It has the numbers of figures that are nearer to each choice, or as near, and the median
    differences.
    """
    lines = _comparable(results)
    lines = lines[lines["reading"] == ""]
    gains = lines.pivot_table("mean", [*FIGURE, "published"], "select", sort=False)
    gains = gains.reindex(columns=["oracle", "nested"]).dropna().reset_index()
    signs = gains["metric"].map(lambda metric: -1 if less_is_better(metric) else 1).astype(int)
    differences = gains[["oracle", "nested"]].sub(gains["published"], axis=0).mul(signs, axis=0)
    models = results.resolved.file.spec.models
    names = gains["model"].map(lambda column: registry()[models[column].model].name.upper())
    rows = []
    for model, group in differences.groupby(names, sort=False):
        closer = group["nested"].abs() - group["oracle"].abs()
        counts = [int(hits.sum()) for hits in (closer > 0, closer < 0, closer == 0)]
        rows.append([results.resolved.file.spec.label, str(model), *counts, *group.median()])
    columns = (
        "table",
        "model",
        "oracle nearer",
        "nested nearer",
        "equal",
        "oracle − print",
        "nested − print",
    )
    return pd.DataFrame(rows, columns=columns)


def _comparable(results: Results) -> pd.DataFrame:
    """Return the lines of published figures that get a verdict, measured on whole data sets."""
    lines = results.summary
    lines = lines[
        lines["published"].notna() & (lines["ended"] == COMPLETE) & ~lines["metric"].isin(UNJUDGED)
    ]
    return lines[lines["dataset"].map(results.resolved.compares).astype(bool)]


def _counter_evidence(label: str, files: Sequence[ExperimentFile]) -> Iterator[str]:
    """Yield the tables that print better figures for the same cells: the best on the same folds
    cannot be exceeded.
    """
    printed = {
        file.spec.label: {
            (figure.model, figure.dataset, figure.metric): figure.value for figure in file.figures
        }
        for file in files
    }
    best = {
        key: value
        for key, value in printed.pop(label).items()
        if value is not None and key[2] not in UNJUDGED
    }
    for table, figures in printed.items():
        pairs = ((key, value, figures.get(key)) for key, value in best.items())
        shared = {key: figure - value for key, value, figure in pairs if figure is not None}
        better = [
            key for key, gain in shared.items() if (-gain if less_is_better(key[2]) else gain) > 0
        ]
        if better:
            cells = ", ".join(f"{model} on {dataset}" for model, dataset, _ in better)
            yield (
                f"Evidence against it: {table} prints a better figure in {len(better)} of the "
                f"{len(shared)} cells that "
                f"{label} also has ({cells}). This would be impossible if {label} had the best on "
                "the same folds."
            )


def _farthest_table(paper: PaperResults) -> Finding | None:
    """Return the table most of whose figures lie outside of our intervals under every reading."""
    tables = {
        one.resolved.file.id: outside
        for one in paper.results
        if (outside := _outside(one)) is not None
    }
    if not tables:
        return None
    id, (_, lines) = max(tables.items(), key=lambda item: item[1][0])
    link, figures = paper.link(id), lines.groupby(FIGURE, sort=False)
    opposite = figures["opposite"].all().sum()
    rows = [
        (
            reading or "defaults",
            str(len(group)),
            str(group["outside"].sum()),
            f"{group['distance'].median():.3f}",
        )
        for reading, group in lines.groupby("reading", sort=False)
    ]
    return Finding(
        paper.paper.key,
        f"Most figures of {link[1]} of {paper.paper.key.upper()} are not reproduced under any "
        "reading",
        (
            f"Under each of {len(rows)} readings, with {lines['runs'].min()} runs or more, "
            f"{figures['outside'].all().sum()} of its {len(figures)} figures that can be compared "
            "lie outside of "
            "their 95 % interval."
            + f" {opposite} have the other sign under all of them."
            * bool(opposite),
        ),
        pd.DataFrame(rows, columns=("reading", "figures", "outside", "median distance")),
        (link, (paper.readings_page, "every figure under each reading")),
    )


def _outside(results: Results) -> tuple[float, pd.DataFrame] | None:
    """Return the share of a table's figures outside of the intervals under all readings, and all
    lines, if most are.
    """
    lines = _comparable(results)
    lines = lines[lines["low"].notna() & lines["select"].isin(results.summary["select"].head(1))]
    lines = lines.assign(
        distance=(lines["mean"] - lines["published"]).abs(),
        outside=(lines["published"] < lines["low"]) | (lines["published"] > lines["high"]),
        opposite=lines["mean"] * lines["published"] < 0,
    )
    outside = lines.groupby(FIGURE)["outside"].all()
    has_readings = results.resolved.profile != "ci" and len(set(lines["reading"])) > 1
    return (
        (outside.mean(), lines)
        if has_readings and len(outside) >= _FEWEST and outside.mean() > _MOST
        else None
    )

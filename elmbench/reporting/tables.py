"""A table as it is shown: what was measured beside what is published, in rows of text."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pandas as pd

from elmbench.reporting.summary import published_values
from elmbench.specs.catalogue import Resolved
from elmbench.specs.datasets import load_dataset_specs
from elmbench.specs.published import PublishedValue

_HOW = {
    "published": "hyperparameters fixed at the paper's",
    "nested": "hyperparameters chosen on inner folds of the training part",
    "oracle": "hyperparameters of the best mean over the outer test folds",
}
_SHOWN = {"timeout": "> limit", "out-of-memory": "out of memory", "unavailable": "-"}


@dataclass(frozen=True)
class Entry:
    """One line: a model on a data set.

    Attributes
    ----------
    dataset, model : str
        As the paper spells them.
    value, published : str
        Mean and deviation of the table's metric.
    verdict : str
    fit, published_fit : str
        Seconds.
    ratio, published_ratio : str
        The fit time over that of the first model on the same data set.
    """

    dataset: str
    model: str
    value: str
    published: str
    verdict: str
    fit: str
    published_fit: str
    ratio: str
    published_ratio: str


@dataclass(frozen=True)
class Section:
    """The lines of one reading and one selection.

    Attributes
    ----------
    heading : str
    entries : tuple of Entry
    """

    heading: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Table:
    """A table of a paper under one profile.

    Attributes
    ----------
    title, subtitle : str
    metric : str
    sections : tuple of Section
        Default readings and the table's own selection first.
    notes : tuple of str
        What ended otherwise than ok and why; remarks on published figures.
    """

    title: str
    subtitle: str
    metric: str
    sections: tuple[Section, ...]
    notes: tuple[str, ...]


def build_table(summary: pd.DataFrame, cells: pd.DataFrame, resolved: Resolved) -> Table:
    """Return the table that a summary and its cells make.

    Parameters
    ----------
    summary, cells : DataFrame
        As `summary.csv` and `cells.csv` have them.
    resolved : Resolved
        The experiment under the profile that they are of.
    """
    metric = resolved.spec.protocol.metrics[0]
    published = published_values(resolved)
    sections = []
    for (reading, select), group in summary.groupby(["reading", "select"], sort=False):
        heading = f"{select}: {_HOW[str(select)]}" + (f"; reading {reading}" if reading else "")
        if "carry-over=folds" in str(reading):
            heading += " (LEAKING: test rows were learnt in earlier folds)"
        entries = _entries(group, cells, metric, published, resolved)
        sections.append(Section(heading, tuple(entries)))
    file = resolved.file
    return Table(
        title=f"{file.spec.label}: {file.spec.title}",
        subtitle=f"{file.paper.authors} ({file.paper.year}), doi:{file.paper.doi}. {profile_line(resolved, cells)}",
        metric=metric,
        sections=tuple(sections),
        notes=(*_endings(cells), *_remarks(published)),
    )


def profile_line(resolved: Resolved, cells: pd.DataFrame) -> str:
    """Return which profile a table shows and what it means."""
    runs = cells["run"].nunique()
    ran = f"{runs} run{'s' if runs != 1 else ''}"
    if resolved.profile == "paper":
        planned = resolved.spec.protocol.outer.runs
        if runs >= planned:
            return f"Profile paper: the protocol as printed, {ran}."
        return f"Profile paper: the protocol as printed, but {ran} of {planned}."
    return f"Profile {resolved.profile}: {ran}; not a reproduction of the printed protocol."


def _entries(
    group: pd.DataFrame,
    cells: pd.DataFrame,
    metric: str,
    published: dict[tuple[str, str, str], PublishedValue],
    resolved: Resolved,
) -> list[Entry]:
    lines = {(line["dataset"], line["model"], line["metric"]): line for line in group.to_dict("records")}
    entries: list[Entry] = []
    base: tuple[float | None, float | None] = (None, None)
    previous = ""
    for dataset, model in dict.fromkeys((d, m) for d, m, _ in lines):
        line, fit = lines[dataset, model, metric], lines[dataset, model, "fit_seconds"]
        paper = published.get((dataset, model, metric))
        times = (_number(fit["mean"]), _number(fit["published"]))
        if dataset != previous:
            base, previous = times, dataset
        entries.append(
            Entry(
                dataset=spelling(dataset, resolved),
                model=model,
                value=_measured(line, paper),
                published=_printed(paper),
                verdict=line["verdict"] or "",
                fit=seconds(times[0]),
                published_fit=seconds(times[1]),
                ratio=_ratio(times[0], base[0]),
                published_ratio=_ratio(times[1], base[1]),
            )
        )
    return entries


def spelling(dataset: str, resolved: Resolved) -> str:
    """Return a data set's name as the paper spells it, or the suite's where the paper does not print it."""
    for name, _, _ in ((e.dataset, e.model, e.metric) for e in _all_published(resolved)):
        if load_dataset_specs().find(name).name == dataset:
            return name
    return dataset


def _all_published(resolved: Resolved) -> list[PublishedValue]:
    return list(published_values(resolved).values())


def _number(value: Any) -> float | None:
    return None if value is None or pd.isna(value) else float(value)


def _measured(line: dict[Any, Any], paper: PublishedValue | None) -> str:
    mean, std = _number(line["mean"]), _number(line["std"])
    if mean is None:
        return _SHOWN.get(line["verdict"], line["verdict"])
    places = max(3, -math.floor(math.log10(paper.last_place)) if paper and paper.last_place else 0)
    text = fixed(mean, places) + (f" ± {fixed(std, places)}" if std is not None else "")
    return text if line["verdict"] in ("", "agrees", "near", "differs") else f"{text} ({line['n']} ok)"


def fixed(value: float, places: int) -> str:
    """Return a number with so many decimals, or in powers of ten where it is large."""
    return f"{value:.{places}f}" if abs(value) < 1000 else f"{value:.1e}"


def _printed(paper: PublishedValue | None) -> str:
    if paper is None or paper.value is None:
        return "-" if paper else ""
    return f"{paper.value}" + (f" ± {paper.std}" if paper.std is not None else "")


def seconds(value: float | None) -> str:
    """Return seconds with three figures at most."""
    if value is None:
        return ""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}" if value >= 0.001 else f"{value:.1g}"


def _ratio(value: float | None, base: float | None) -> str:
    return f"{value / base:.2g}" if value is not None and base else ""


def _endings(cells: pd.DataFrame) -> list[str]:
    """Return one note for each way in which cells ended otherwise than ok, with how many and the first reason."""
    bad = cells[cells["status"] != "ok"]
    notes = []
    for (dataset, model, status), group in bad.groupby(["dataset", "model", "status"], sort=False):
        total = len(cells[(cells["dataset"] == dataset) & (cells["model"] == model)])
        reason = str(group["reason"].iloc[0]).splitlines()[0]
        notes.append(f"{dataset} {model}: {len(group)} of {total} cells {status}: {reason}")
    unavailable = bad[bad["status"] == "unavailable"]
    if len(unavailable):
        notes = [n for n in notes if " unavailable: " not in n]
        for dataset, group in unavailable.groupby("dataset", sort=False):
            notes.append(f"{dataset} unavailable: {group['reason'].iloc[0]}")
    return notes


def _remarks(published: dict[tuple[str, str, str], PublishedValue]) -> list[str]:
    return [f"published {d} {m}: {entry.note}" for (d, m, _), entry in published.items() if entry.note]

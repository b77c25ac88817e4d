"""A table as it is shown: what was measured beside what is published, in rows of text."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from elmbench.reporting.claims import check_claims
from elmbench.reporting.layouts import COUNTS, FACTS, MEASURED
from elmbench.reporting.notes import endings, meant, remarks
from elmbench.reporting.summary import COMPLETE, ENTRY, Published, published_values
from elmbench.specs.datasets import load_dataset_specs
from elmbench.specs.profiles import Resolved
from elmbench.specs.published import PublishedValue

HOW = {
    "published": "hyperparameters fixed at the paper's",
    "nested": "hyperparameters chosen on inner folds of the training part",
    "oracle": "hyperparameters of the best mean over the outer test folds",
}
_SHOWN = {"out-of-memory": "out of memory", "unavailable": "-"}
_LINE = ("dataset", "model", "measure", "value", "published", "verdict")
_FACT = ("dataset", "measure", "value", "published", "verdict")
_TIMED = ("dataset", "model", "value", "published", "verdict", "fit", "published_fit", "ratio", "published_ratio")
#: Columns that there is no room for on a terminal.
WIDE_ONLY = ("ratio", "published_ratio")
#: Columns of numbers.
NUMERIC = ("fit", "published_fit", "ratio", "published_ratio")


@dataclass(frozen=True)
class Section:
    """The lines of one reading and one selection.

    Attributes
    ----------
    heading : str
    rows : tuple of dict of str to str
        One text a column.
    """

    heading: str
    rows: tuple[dict[str, str], ...]


@dataclass(frozen=True)
class Table:
    """A table of a paper under one profile.

    Attributes
    ----------
    title, subtitle : str
    columns : dict of str to str
        Name of a column to its heading.
    sections : tuple of Section
        Default readings and the table's own selection first.
    notes : tuple of str
        What the paper claims and whether it holds; what ended otherwise than ok and why; remarks on published figures.
    """

    title: str
    subtitle: str
    columns: dict[str, str]
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
    published = published_values(resolved)
    timed = resolved.spec.layout in ("metrics", "precision-recall")
    facts = resolved.spec.layout == "datasets"
    rows_of = _timed_rows if timed else _plain_rows
    sections = [
        Section(_heading(str(select), str(reading), resolved), tuple(rows_of(group, cells, published, resolved)))
        for (reading, select), group in summary.groupby(["reading", "select"], sort=False)
    ]
    file = resolved.file
    own = [m for m in resolved.spec.protocol.metrics if m in set(summary["metric"]) and m != "fit_seconds"]
    titles = {
        "dataset": "data set",
        "model": "model",
        "measure": "measure",
        "value": " / ".join(own) if timed else "found" if facts else "mean",
        "published": "published",
        "verdict": "verdict",
        "fit": "fit s",
        "published_fit": "publ. s",
        "ratio": "fit ratio",
        "published_ratio": "publ. ratio",
    }
    return Table(
        title=f"{file.spec.label}: {file.spec.title}",
        subtitle=f"{file.paper.authors} ({file.paper.year}), doi:{file.paper.doi}. {profile_line(resolved, cells)}",
        columns={name: titles[name] for name in (_TIMED if timed else _FACT if facts else _LINE)},
        sections=tuple(sections),
        notes=(
            *check_claims(summary, resolved),
            *endings(cells),
            *remarks(published, set(cells["dataset"])),
            *meant(resolved),
        ),
    )


def _heading(select: str, reading: str, resolved: Resolved) -> str:
    if resolved.spec.layout == "datasets":
        return "the data that were loaded"
    heading = f"{select}: {HOW[select]}" + (f"; reading {reading}" if reading else "")
    if "carry-over=folds" in reading:
        heading += " (LEAKING: test rows were learnt in earlier folds)"
    return heading


def profile_line(resolved: Resolved, cells: pd.DataFrame) -> str:
    """Return which profile a table shows and what it means."""
    if resolved.spec.layout == "datasets":
        return f"Profile {resolved.profile}."
    numbers = cells.groupby("dataset")["run"].nunique()
    if not len(numbers):
        return f"Profile {resolved.profile}: no cell has ended yet."
    runs, most = int(numbers.min()), int(numbers.max())
    ran = f"{runs} run{'s' if runs != 1 else ''}" if runs == most else f"{runs} to {most} runs"
    if resolved.profile != "paper":
        ran = "; ".join([ran, *_departures(resolved)])
        return f"Profile {resolved.profile}: {ran}; not a reproduction of the printed protocol."
    planned = resolved.spec.protocol.outer.runs
    return f"Profile paper: the protocol as printed, {ran}" + ("." if runs >= planned else f" of {planned}.")


def _departures(resolved: Resolved) -> list[str]:
    """Return what a profile changes about the data and the search."""
    settings = resolved.settings
    found = []
    if settings.stand_ins:
        found.append(f"{', '.join(settings.stand_ins)} in place of the paper's data")
    if settings.rows:
        found.append(f"at most {settings.rows} rows of a data set")
    if settings.folds:
        found.append(f"{settings.folds} folds")
    if settings.thin_grids and settings.thin_grids > 1:
        found.append("thinned grids")
    return found


def _by_place(group: pd.DataFrame) -> dict[tuple[str, str, str], dict[Any, Any]]:
    return {(line["dataset"], line["model"], line["metric"]): line for line in group.to_dict("records")}


def _timed_rows(
    group: pd.DataFrame, cells: pd.DataFrame, published: Published, resolved: Resolved
) -> Iterator[dict[str, str]]:
    lines = _by_place(group)
    base: tuple[float | None, float | None] = (None, None)
    previous = ""
    for dataset, model in dict.fromkeys((d, m) for d, m, _ in lines):
        metric = resolved.spec.protocol.metric_for(load_dataset_specs().find(dataset).task)
        line, fit = lines[dataset, model, metric], lines.get((dataset, model, "fit_seconds"), {})
        paper = published.get((dataset, model, metric))
        times = (_number(fit.get("mean")), _number(fit.get("published")))
        if dataset != previous:
            base, previous = times, dataset
        yield {
            "dataset": spelling(dataset, resolved),
            "model": model,
            "value": _measured(line, paper, cells),
            "published": _printed(paper),
            "verdict": _judged(line),
            "fit": three_figures(times[0]),
            "published_fit": three_figures(times[1]),
            "ratio": _ratio(times[0], base[0]),
            "published_ratio": _ratio(times[1], base[1]),
        }


def _plain_rows(
    group: pd.DataFrame, cells: pd.DataFrame, published: Published, resolved: Resolved
) -> Iterator[dict[str, str]]:
    for (dataset, model, measure), line in _by_place(group).items():
        paper = published.get((dataset, model, measure))
        yield {
            "dataset": spelling(dataset, resolved),
            "model": model,
            "measure": measure,
            "value": _measured(line, paper, cells),
            "published": _printed(paper),
            "verdict": _judged(line),
        }


def spelling(dataset: str, resolved: Resolved) -> str:
    """Return a data set's name as the paper spells it, or the suite's where the paper does not print it."""
    for entry in resolved.file.figures:
        if load_dataset_specs().find(entry.dataset).name == dataset:
            return entry.dataset
    return dataset


def _number(value: Any) -> float | None:
    return None if value is None or pd.isna(value) else float(value)


def _measured(line: dict[Any, Any], paper: PublishedValue | None, cells: pd.DataFrame) -> str:
    mean, std, verdict = _number(line["mean"]), _number(line["std"]), line["verdict"] or ""
    if mean is None:
        if verdict == "timeout":
            return _limit_reached(line, cells)
        return _SHOWN.get(verdict, verdict)
    if line["metric"] not in MEASURED:
        return three_figures(mean) + (f" ± {three_figures(std)}" if std is not None else "")
    places = _places(line["metric"], paper)
    text = fixed(mean, places) + (f" ± {fixed(std, places)}" if std is not None else "")
    return text if verdict in COMPLETE else f"{text} ({line['n']} ok)"


def _judged(line: dict[Any, Any]) -> str:
    """Return the verdict of an entry, nothing where its value says how it ended instead."""
    return line["verdict"] if line["verdict"] in (*COMPLETE, "incomplete") else ""


def _limit_reached(line: dict[Any, Any], cells: pd.DataFrame) -> str:
    """Return how the papers show a cell that was stopped: `> 600 s`, whether in its fit or in the search before it."""
    own = cells[(cells[ENTRY] == [line[name] for name in ENTRY]).all(axis=1)]
    return "> " + str(own.loc[own["status"] == "timeout", "reason"].iloc[0]).rpartition("> ")[2]


def _places(metric: str, paper: PublishedValue | None) -> int:
    """Return the decimals to show: one more than printed, three for what is not; none for facts and counts."""
    if metric in (*FACTS, *COUNTS):
        return 0
    if paper is not None and paper.value is not None:
        return max(0, -math.floor(math.log10(paper.last_place))) + 1
    return 3


def fixed(value: float, places: int) -> str:
    """Return a number with so many decimals, or in powers of ten where it is very large."""
    return f"{value:.{places}f}" if abs(value) < 1e6 else f"{value:.1e}"


def _printed(paper: PublishedValue | None) -> str:
    if paper is None:
        return ""
    if paper.value is None:
        return "-"
    return f"{paper.value}" + (f" ± {paper.std}" if paper.std is not None else "")


def three_figures(value: float | None) -> str:
    """Return seconds or a hyperparameter with three figures at most, large ones with all before the point."""
    if value is None:
        return ""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}" if value >= 0.01 else f"{value:.2g}"


def _ratio(value: float | None, base: float | None) -> str:
    return f"{value / base:.2g}" if value is not None and base else ""

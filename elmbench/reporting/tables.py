"""A table as it is shown: what was measured beside what is published, in rows of text."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from elmbench.reporting.capped import capped_notes
from elmbench.reporting.claims import check_claims
from elmbench.reporting.layouts import in_table
from elmbench.reporting.notes import endings, meant, remarks
from elmbench.reporting.optimism import GAINS, optimism, optimism_note
from elmbench.reporting.rows import plain_rows, timed_rows
from elmbench.reporting.summary import published_values
from elmbench.reporting.warned import warning_notes
from elmbench.specs.profiles import Resolved

HOW = {
    "published": "hyperparameters fixed at the paper's",
    "nested": "hyperparameters chosen on inner folds of the training part",
    "oracle": "hyperparameters of the best mean over the outer test folds",
}
#: Of `nested`, where it goes by another criterion than the score on inner folds.
_BLIND = {
    "dcs-gaussians": "hyperparameters of the largest D_CS of the two classes' projected training rows, as Gaussians",
    "dcs-kde": "hyperparameters of the largest D_CS of the two classes' projected training rows, by kernel densities",
}
_LINE = ("dataset", "model", "measure", "value", "published", "verdict")
_TIMES = ("fit", "published_fit", "ratio", "published_ratio")
_TIMED = ("dataset", "model", "value", "published", "verdict", "optimism", *_TIMES)
#: The columns of each layout.
_COLUMNS = {
    "metrics": _TIMED,
    "precision-recall": _TIMED,
    "times": ("dataset", "model", *_TIMES, "value"),
    "datasets": ("dataset", "measure", "value", "published", "verdict"),
    "rank-correlation": ("dataset", "measure", "value", "published", "verdict"),
}
#: What layouts show in which no hyperparameters are chosen.
_WHAT = {
    "datasets": "the data that were loaded",
    "rank-correlation": "rank correlation of D_CS and its leading term over random projections and operators",
    "curves": "each number of hidden nodes on the outer test folds; none is chosen",
}
#: Columns that there is no room for on a terminal, beside those that say whether a figure came out.
_WIDE_ONLY = ("ratio", "published_ratio")
#: Columns of numbers.
NUMERIC = ("optimism", *_TIMES)


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
        What the paper claims and whether it holds; how optimistic its selection is; which fits were stopped; what
        models warned of; what ended otherwise than ok and why; remarks on published figures.
    """

    title: str
    subtitle: str
    columns: dict[str, str]
    sections: tuple[Section, ...]
    notes: tuple[str, ...]

    def columns_of(self, section: Section, *, narrow: bool = False) -> dict[str, str]:
        """Return the columns in which a section has something to show; where room is short, the first of them."""
        return {
            name: title
            for name, title in self.columns.items()
            if any(row[name] for row in section.rows)
            and not (narrow and name in _WIDE_ONLY and "verdict" in self.columns)
        }


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
    columns = _COLUMNS.get(resolved.spec.layout, _LINE)
    timed = "fit" in columns
    gains = optimism(cells, resolved) if "optimism" in columns else pd.DataFrame(columns=GAINS)
    sections = []
    for (reading, select), group in summary.groupby(["reading", "select"], sort=False):
        if timed:
            own_gains = gains[gains["reading"] == reading] if select == "oracle" else gains[:0]
            rows = timed_rows(group, cells, published, own_gains, resolved)
        else:
            if resolved.spec.layout == "curves":
                points = group["metric"].unique().tolist()
                group = group[[in_table(metric, points) for metric in group["metric"]]]
            rows = plain_rows(group, cells, published, resolved)
        sections.append(Section(_heading(str(select), str(reading), resolved), tuple(rows)))
    file = resolved.file
    own = [m for m in resolved.spec.protocol.metrics if m in set(summary["metric"]) and m != "fit_seconds"]
    titles = {
        "dataset": "data set",
        "model": "model",
        "measure": "measure",
        "value": " / ".join(own) if timed else "found" if "model" not in columns else "mean",
        "published": "published",
        "verdict": "verdict",
        "optimism": "optimism",
        "fit": "fit s",
        "published_fit": "publ. s",
        "ratio": "fit ratio",
        "published_ratio": "publ. ratio",
    }
    return Table(
        title=f"{file.spec.label}: {file.spec.title}",
        subtitle=f"{file.paper.authors} ({file.paper.year}), doi:{file.paper.doi}. {profile_line(resolved, cells)}",
        columns={name: titles[name] for name in columns},
        sections=tuple(sections),
        notes=(
            *check_claims(summary, resolved),
            *optimism_note(gains),
            *capped_notes(cells),
            *warning_notes(cells),
            *endings(cells),
            *remarks(published, set(cells["dataset"])),
            *meant(resolved),
        ),
    )


def _heading(select: str, reading: str, resolved: Resolved) -> str:
    how = _BLIND.get(resolved.spec.protocol.criterion, HOW[select]) if select == "nested" else HOW[select]
    heading = _WHAT.get(resolved.spec.layout, f"{select}: {how}") + (f"; reading {reading}" if reading else "")
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

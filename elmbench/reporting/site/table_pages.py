"""What the page of a table shows: its grids, its figure, its intervals and its notes, profile by profile."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from elmbench.layouts.table import VERDICTS
from elmbench.reporting.agreement import Agreement
from elmbench.reporting.figures import verdict_counts
from elmbench.reporting.grids import grids_of
from elmbench.reporting.papers import facts_sentence, table_sentence
from elmbench.reporting.results import read_commands
from elmbench.reporting.site.charts import rank_diagrams, trade_offs
from elmbench.reporting.site.gather import PaperResults, ProfileResults, TableResults
from elmbench.reporting.site.links import paper_page
from elmbench.reporting.tables import EntrySection

LEGEND = (
    "Reproduced: the published figure lies in the 95 % prediction interval of our runs, widened by half of the last "
    "printed digit, and the interval is narrower than the distance between the models; consistent: it lies in the "
    "interval, but so would figures of other models; close: in an interval twice as wide; differs: outside of that. "
    "Too few runs: fewer than three. Not comparable: the profile cut the rows, they are not the paper's, or the "
    "reading leaks. No data: the data set is not here, or some of its cells did not end ok."
)
#: The lines of a figure's data that its page shows, and the most columns of a grid.
_MOST_LINES, _MOST_COLUMNS = 40, 16
_FIGURES = ("dataset", "model", "metric", "mean", "low", "high", "runs", "published", "verdict", "runs_to_tell")
_HEADINGS = (
    "data set",
    "model",
    "measure",
    "ours",
    "from",
    "to",
    "runs",
    "published",
    "verdict",
    "runs to tell",
)


def table_context(paper: PaperResults, table: TableResults) -> dict[str, Any]:
    """Return what the template of a table's page takes."""
    return {
        "file": table.file,
        "paper_page": paper_page(paper.paper.key),
        "legend": LEGEND,
        "profiles": [_profile(own, beside=own is table.profiles[0]) for own in table.profiles],
    }


def figures_frame(own: ProfileResults) -> pd.DataFrame:
    """Return the lines of `summary.csv` with a published figure, under the default readings and the own selection."""
    return pd.DataFrame(own.figures, columns=list(own.results.summary.columns))


def address(own: ProfileResults, name: str) -> str:
    """Return where a file of a table under one profile lies below the site's folder."""
    return f"data/{own.resolved.file.id.replace('/', '-')}-{own.profile}-{name}"


def _profile(own: ProfileResults, *, beside: bool) -> dict[str, Any]:
    """Return what a profile shows, with `beside` also the measures that the paper does not print."""
    table = own.results.table
    counts, facts = verdict_counts(own.figures)
    return {
        "profile": own.profile,
        "subtitle": table.subtitle,
        "counted": [(name, counts[name]) for name in VERDICTS if counts[name]],
        "sentences": [table_sentence(own.resolved.file.spec.label, one, [own.profile]) for one in own.results.verdicts]
        + [facts_sentence(facts)] * bool(facts),
        "picture": address(own, own.picture.name) if own.picture is not None else "",
        "data": _data(own),
        "sections": [
            shown for section in own.results.sections if (shown := _section(section, own, beside=beside))["shown"]
        ],
        "figure_columns": _HEADINGS,
        "figures": [[_said(line[name]) for name in _FIGURES] for line in own.figures if line["verdict"]],
        "csv": address(own, "figures.csv"),
        "agreement_columns": _AGREEMENT,
        "agreement": [_agreement(one) for one in own.agreements],
        "charts": [*rank_diagrams(own), *trade_offs(own)] if beside else [],
        "notes": [note.text for note in table.notes],
        "commands": read_commands(own.results.folder),
    }


def _section(section: EntrySection, own: ProfileResults, *, beside: bool) -> dict[str, Any]:
    readings = ", ".join(map(str, section.readings))
    leaks = any(reading.leaks for reading in section.readings)
    heading = section.how + (f"; reading {readings}" if readings else "") + (" (LEAKING)" if leaks else "")
    grids = [one for one in grids_of(section, own.resolved) if len(one.columns) <= _MOST_COLUMNS]
    printed = [one for one in grids if one.has_printed] or grids[:1]
    more = (
        []
        if section.readings or section is not own.results.sections[0] or not beside
        else [one for one in grids if one not in printed]
    )
    short = f"profile {own.profile}, {section.select}" + (f", {readings}" if readings else "")
    names = dict.fromkeys(place.entry.measure.column for one in more for place in one.places)
    return {"heading": heading, "short": short, "shown": printed, "more": more, "beside": list(names)}


def _data(own: ProfileResults) -> dict[str, Any] | None:
    path = own.picture_data
    if path is None:
        return None
    columns, rows, total = _first_lines(path)
    caption = f"The data of the figure, profile {own.profile}"
    if total > len(rows):
        caption += f": the first {len(rows)} of {total} lines"
    place = address(own, path.name)
    return {"columns": columns, "rows": rows, "caption": caption, "total": total, "address": place}


def _first_lines(path: Path) -> tuple[list[str], list[list[str]], int]:
    with path.open(newline="", encoding="utf-8") as stream:
        lines = list(csv.reader(stream))
    return lines[0], lines[1 : _MOST_LINES + 1], len(lines) - 1


def _said(value: Any) -> str:
    if value is None or (isinstance(value, float) and pd.isna(value)):
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


_AGREEMENT = (
    "measure", "figures", "median distance", "median factor of times", "rank correlation", "same best model",
    "wrong pairs reproduced", "own runs reproduced",
)  # fmt: skip


def _agreement(one: Agreement) -> Sequence[str]:
    shown = (one.median_difference, one.median_factor, one.rank_correlation)
    return (
        one.metric,
        str(one.figures),
        *("" if value is None else f"{value:.3g}" for value in shown),
        _of(one.same_best, one.rows),
        _of(one.pairings_reproduced, one.pairings),
        _of(one.left_out_reproduced, one.left_out),
    )


def _of(part: int, whole: int) -> str:
    return f"{part} of {whole}" if whole else ""

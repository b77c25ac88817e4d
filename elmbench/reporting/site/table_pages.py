"""The content of a table's page, profile by profile: grids, figure, intervals and notes."""

from __future__ import annotations

from typing import Any

import pandas as pd

from elmbench.layouts.table import VERDICTS
from elmbench.reporting.agreement import Agreement
from elmbench.reporting.figures import facts_sentence, verdict_counts
from elmbench.reporting.grids import grids_of
from elmbench.reporting.papers import table_sentence
from elmbench.reporting.provenance import read_commands
from elmbench.reporting.results import Results
from elmbench.reporting.site.charts import rank_diagrams
from elmbench.reporting.site.gather import PaperResults, TableResults
from elmbench.reporting.site.links import paper_page
from elmbench.reporting.tables import EntrySection

LEGEND = (
    "Reproduced: the published figure lies in the 95 % prediction interval of our runs, widened by half of the last "
    "printed digit, and the interval is narrower than the distance between the models; consistent: it lies in the "
    "interval, but so would figures of other models; close: in an interval twice as wide; differs: outside of that. "
    "Too few runs: fewer than three. Not comparable: the profile cut the rows, they are not the paper's, or the "
    "reading leaks. No data: the data set is not here, or some of its cells did not end ok."
)
#: The number of lines of a figure's data that its page shows, and the most columns of a grid.
_MOST_LINES, _MOST_COLUMNS = 40, 16
#: The columns of the printed figures, with their headings.
_FIGURES = {
    "dataset": "data set", "model": "model", "metric": "measure", "mean": "ours", "low": "from", "high": "to",
    "runs": "runs", "published": "published", "verdict": "verdict", "runs_to_tell": "runs to tell",
}  # fmt: skip
_AGREEMENT = (
    "measure", "figures", "median distance", "median factor of times", "rank correlation", "same best model",
    "wrong pairs reproduced", "own runs reproduced",
)  # fmt: skip


def table_context(paper: PaperResults, table: TableResults) -> dict[str, Any]:
    """Return the content of the template of a table's page."""
    return {
        "file": table.file,
        "paper_page": paper_page(paper.paper.key),
        "legend": LEGEND,
        "profiles": [_profile(results, first=results is table.results[0]) for results in table.results],
    }


def address(results: Results, name: str) -> str:
    """Return the address of a file of a table under one profile, below the site's folder."""
    return f"data/{results.resolved.file.id.replace('/', '-')}-{results.resolved.profile}-{name}"


def _profile(results: Results, *, first: bool) -> dict[str, Any]:
    """Return the content of a profile; the first one has charts and the measures that the paper does not print."""
    table, label = results.table, results.resolved.file.spec.label
    figures = results.figures.to_dict("records")
    counts, facts = verdict_counts(figures)
    sections = [_section(section, results, with_more=first and i == 0) for i, section in enumerate(results.sections)]
    sentences = [table_sentence(label, one, [results.resolved.profile]) for one in results.verdicts] + [
        facts_sentence(facts)
    ]
    return {
        "profile": results.resolved.profile,
        "subtitle": table.subtitle,
        "counted": [(name, counts[name]) for name in VERDICTS if counts[name]],
        "sentences": sentences,
        "picture": address(results, results.picture.name) if results.picture is not None else "",
        "data": _data(results),
        "sections": [section for section in sections if section["shown"]],
        "figure_columns": list(_FIGURES.values()),
        "figures": [[_text(line[name]) for name in _FIGURES] for line in figures if line["verdict"]],
        "csv": address(results, "figures.csv"),
        "agreement_columns": _AGREEMENT,
        "agreement": [_agreement(one) for one in results.agreements],
        "charts": list(rank_diagrams(results)) if first else [],
        "notes": [note.text for note in table.notes],
        "commands": read_commands(results.folder),
    }


def _section(section: EntrySection, results: Results, *, with_more: bool) -> dict[str, Any]:
    readings = ", ".join(map(str, section.readings))
    leaks = any(reading.leaks for reading in section.readings)
    heading = section.how + (f"; reading {readings}" if readings else "") + (" (LEAKING)" if leaks else "")
    grids = [one for one in grids_of(section, results.resolved) if len(one.columns) <= _MOST_COLUMNS]
    printed = [one for one in grids if one.has_printed] or grids[:1]
    more = [one for one in grids if one not in printed] if with_more and not section.readings else []
    short = f"profile {results.resolved.profile}, {section.select}" + (f", {readings}" if readings else "")
    names = dict.fromkeys(figure.entry.measure.column for one in more for figure in one.figures)
    return {"heading": heading, "short": short, "shown": printed, "more": more, "beside": list(names)}


def _data(results: Results) -> dict[str, Any] | None:
    """Return the first lines of the figure's data."""
    path = results.picture_data
    if path is None:
        return None
    lines = pd.read_csv(path, dtype=str, keep_default_na=False)
    rows = lines[:_MOST_LINES].to_numpy().tolist()
    caption = f"The data of the figure, profile {results.resolved.profile}"
    if len(lines) > len(rows):
        caption += f": the first {len(rows)} of {len(lines)} lines"
    content = {"columns": list(lines.columns), "rows": rows, "caption": caption}
    return content | {"total": len(lines), "address": address(results, path.name)}


def _text(value: Any) -> str:
    if pd.isna(value):
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _agreement(one: Agreement) -> list[str]:
    numbers = (one.median_difference, one.median_factor, one.rank_correlation)
    shares = (
        (one.same_best, one.rows),
        (one.pairings_reproduced, one.pairings),
        (one.left_out_reproduced, one.left_out),
    )
    texts = [one.metric, str(one.figures), *("" if value is None else f"{value:.3g}" for value in numbers)]
    return texts + [f"{part} of {whole}" if whole else "" for part, whole in shares]

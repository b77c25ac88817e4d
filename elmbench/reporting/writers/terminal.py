"""A table of results for the terminal, within 80 columns, in the shape of the print where figures are printed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
from rich.console import Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from elmbench.layouts.base import UNJUDGED
from elmbench.layouts.table import SIGNS, VERDICTS, Printed
from elmbench.reporting.figures import verdict_counts
from elmbench.reporting.grids import Grid, Place, grids_of
from elmbench.reporting.papers import facts_sentence
from elmbench.reporting.results import Results
from elmbench.reporting.tables import EntrySection
from elmbench.reporting.verdicts import FEWEST_RUNS
from elmbench.reporting.writers.text import WIDTH, section_text

#: Characters between two columns; of a row's name.
_GAP, _NAME = 2, 20
_COLOURS = {"reproduced": "green", "consistent": "green", "close": "yellow", "differs": "red"}
_PAPER = "  paper"
_MARKS = "Below a row of ours stands the paper's; * is the best of a row."


def results_text(results: Results, width: int = WIDTH, *, claims: bool = True) -> RenderableType:
    """Return a table of results, the last line of which counts the verdicts and says what their signs mean.

    Printed figures stand in the shape of the print, data sets by models: below each row of ours that of the paper, with
    the sign of the verdict; the best of each row is marked. What the paper does not print has the lines of its kind of
    table.

    Parameters
    ----------
    results : Results
    width : int, default=80
        Characters of a line; what is wider is cut into blocks of columns.
    claims : bool, default=True
        Print the tested claims of the paper too.
    """
    table = results.table
    parts: list[RenderableType] = [Text(f"\n{table.title}", style="bold"), Text(table.subtitle)]
    for section, about in zip(results.sections, table.sections, strict=True):
        parts.append(Text(f"\n{about.heading}", style="italic"))
        grids = _printed(section, results)
        for grid in grids:
            parts += _grid(grid, width)
        parts += () if grids else section_text(table, about, width)
    notes = [note for note in table.notes if claims or note not in results.claims]
    if notes:
        parts += [Text(""), *(Text(f"- {note.text}", style="dim") for note in notes)]
    if results.resolved.file.spec.published is None:
        return Group(*parts)
    marks = [Text(_MARKS, style="dim")] if len(results.figures) else []
    return Group(*parts, Text(""), *marks, Text(counted(results.figures.to_dict("records"), results.missing_runs)))


def counted(figures: Iterable[Mapping[Any, Any]], missing: pd.DataFrame) -> str:
    """Return the sentences that count verdicts, with their signs, and say how many runs are missing.

    Parameters
    ----------
    figures : iterable of dict
        Lines of `summary.csv`, one for each published figure. Facts of data sets are counted apart.
    missing : DataFrame
        As `elmbench.reporting.figures.missing_runs` returns it.
    """
    counts, facts = verdict_counts(figures)
    of_facts = facts_sentence(facts) if facts["reproduced"] or facts["differs"] else ""
    if not counts:
        return of_facts or "No published figure to judge."
    listed = ", ".join(f"{counts[verdict]} {SIGNS[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    text = f"{counts.total()} published figure{'s' * (counts.total() > 1)}: {listed}."
    if len(missing):
        fewest, most = missing["more_runs"].min(), missing["more_runs"].max()
        more = str(most) if fewest == most else f"{fewest} to {most}"
        text += (
            f" An interval needs {FEWEST_RUNS} runs, {more} more than there are: {_duration(missing['minutes'].sum())}."
        )
    return f"{text} {of_facts}".rstrip()


def _duration(minutes: float) -> str:
    """Return a time on one core in words."""
    if minutes < 1:
        return "less than a minute"
    return f"about {minutes:.0f} min" if minutes < 120 else f"about {minutes / 60:.0f} h"


def _printed(section: EntrySection, results: Results) -> list[Grid]:
    """Return the grids with printed figures, and the times of the fits in the first section."""
    grids = grids_of(section, results.resolved)
    printed = [grid for grid in grids if grid.has_printed]
    if section is not results.sections[0]:
        # What another selection or reading changes are the figures that are judged.
        return [grid for grid in printed if grid.measures - {*UNJUDGED}] or printed
    return printed + [grid for grid in grids if printed and grid not in printed and grid.measures == {"fit_seconds"}]


def _grid(grid: Grid, width: int) -> Iterator[RenderableType]:
    """Yield a grid, cut into blocks of columns where it is too wide; deviations go where that makes fewer blocks."""
    room = width - _name_width(grid) - 1
    whole, bare = (_blocks(_widths(grid, deviations=kept), room) for kept in (True, False))
    deviations = len(whole) <= len(bare)
    said = "" if deviations else " (deviations: --format md)"
    yield Text(f"\n{grid.heading}{said}", style="bold")
    for number, block in enumerate(whole if deviations else bare):
        if number:
            yield Text("")
        yield _block(grid, block, deviations=deviations)


def _blocks(widths: Sequence[int], room: int) -> list[list[int]]:
    """Return the places of columns in groups that each fit the room, if none is wider than it."""
    groups: list[list[int]] = [[]]
    taken = 0
    for place, width in enumerate(widths):
        if groups[-1] and taken + width + _GAP > room:
            groups.append([])
            taken = 0
        groups[-1].append(place)
        taken += width + _GAP
    return groups


def _widths(grid: Grid, *, deviations: bool) -> list[int]:
    return [
        max(len(column), *(len(_words(places[i], deviations, paper=of)) for _, places in grid.rows for of in (0, 1)))
        for i, column in enumerate(grid.columns)
    ]


def _name_width(grid: Grid) -> int:
    return min(_NAME, max(len(_PAPER), len(grid.corner), *(len(name) for name, _ in grid.rows)))


def _block(grid: Grid, block: Sequence[int], *, deviations: bool) -> RichTable:
    """Return some columns of a grid: a line of ours for each row and, where something is printed, one of the paper."""
    table = RichTable(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    table.add_column(grid.corner, width=_name_width(grid), overflow="fold")
    for place in block:
        table.add_column(grid.columns[place], overflow="fold")
    for name, places in grid.rows:
        own = [places[place] for place in block]
        if not any(own):
            continue
        table.add_row(Text(name), *(Text(_words(place, deviations, paper=False)) for place in own))
        if any(place is not None and place.entry.published is not None for place in own):
            told = (Text(_words(place, deviations, paper=True), style=_colour(place)) for place in own)
            table.add_row(Text(_PAPER, style="dim"), *told)
    return table


def _words(place: Place | None, deviations: bool, *, paper: int) -> str:
    """Return our figure, or the paper's with the sign of its verdict; a star marks the best of its row."""
    if place is None:
        return ""
    entry = place.entry
    if not paper:
        return _short(entry.found.text if entry.found is not None else "-", deviations) + "*" * place.best
    if entry.published is None:
        return ""
    text = _short(Printed(entry.published).text, deviations) + "*" * place.best_printed
    return f"{text} {SIGNS[entry.verdict.text]}" if entry.verdict is not None and entry.verdict.text else text


def _short(text: str, deviations: bool) -> str:
    mean, _, rest = text.partition(" ± ")
    if not rest:
        return text
    deviation, _, remark = rest.partition(" ")
    return mean + f"±{deviation}" * deviations + f" {remark}" * bool(remark)


def _colour(place: Place | None) -> str:
    verdict = place.entry.verdict if place is not None else None
    return _COLOURS.get(verdict.text, "") if verdict is not None else ""

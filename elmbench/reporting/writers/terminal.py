"""A table of results for the terminal, within 80 columns; printed figures have the layout of the paper."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial

from rich.console import Console, Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from elmbench.layouts import layout_of
from elmbench.layouts.base import UNJUDGED
from elmbench.layouts.table import SIGNS, ResultTable, Section, printed_item
from elmbench.reporting.grids import Grid, GridFigure, grids_of
from elmbench.reporting.writers.text import COLOURS, GAP, WIDTH, section_text, side_by_side
from elmbench.specs.profiles import Resolved

#: The most characters of a row's name.
_NAME = 20
_PAPER = "  paper"
MARKS = "The row of the paper follows ours; * marks the best of a row."


def table_text(
    table: ResultTable, resolved: Resolved, width: int = WIDTH, hidden: Collection[str] = ()
) -> RenderableType:
    """Return a table of results with its notes.

    Printed figures have the layout of the paper, data sets by models. The paper's row, with the signs of the verdicts,
    is below ours; the best figure of each row is marked. Other figures have the lines of their kind of table.

    A grid wider than `width` characters is cut into blocks of columns. `hidden`: kinds of notes that are left out.
    """
    parts: list[RenderableType] = [Text(f"\n{table.title}", style="bold"), Text(table.subtitle)]
    for i, section in enumerate(table.sections):
        parts.append(Text(f"\n{section.heading}", style="italic"))
        # A comparison has its own order of models.
        grids = [] if layout_of(resolved).ranks else _grids_to_show(section, resolved, first=i == 0)
        for grid in grids:
            parts += _grid(grid, width)
        parts += () if grids else section_text(table, section, width)
    notes = [note for note in table.notes if note.kind not in hidden]
    if notes:
        parts += [Text(""), *(Text(f"- {note.text}", style="dim") for note in notes)]
    return Group(*parts)


def as_text(renderable: RenderableType) -> str:
    """Return the output of rich on a terminal of 80 columns without colours."""
    console = Console(width=WIDTH, highlight=False)
    with console.capture() as captured:
        console.print(renderable)
    return captured.get()


def _grids_to_show(section: Section, resolved: Resolved, *, first: bool) -> list[Grid]:
    """Return the grids with printed figures or added metrics, and the times of the fits in the first section."""
    grids = grids_of(section, resolved)
    if not any(grid.has_printed for grid in grids):
        return []
    added = {*resolved.spec.protocol.metrics} - {*resolved.file.spec.protocol.metrics}
    printed = [grid for grid in grids if grid.has_printed or grid.measures & added]
    if first:
        return printed + [grid for grid in grids if not grid.has_printed and grid.measures == {"fit_seconds"}]
    # Another selection or reading changes the judged figures.
    return [grid for grid in printed if grid.measures - {*UNJUDGED}] or printed


def _grid(grid: Grid, width: int) -> Iterator[RenderableType]:
    """Yield a grid in blocks of columns, without deviations if there are then fewer blocks."""
    name = min(_NAME, max(len(_PAPER), len(grid.corner), *(len(name) for name, _ in grid.rows)))
    columns = [[i] for i in range(len(grid.columns))]
    full, short = (
        side_by_side(columns, partial(_width, grid, deviations), width - name - 1) for deviations in (True, False)
    )
    deviations = len(full) <= len(short)
    yield Text(f"\n{grid.heading}{'' if deviations else ' (deviations: --format md)'}", style="bold")
    for number, block in enumerate(full if deviations else short):
        if number:
            yield Text("")
        yield _block(grid, block, name, deviations=deviations)


def _width(grid: Grid, deviations: bool, column: int) -> int:
    """Return the number of characters that a column of a grid needs."""
    texts = [text for _, figures in grid.rows for text in _texts(figures[column], deviations)]
    return max(len(grid.columns[column]), *map(len, texts))


def _block(grid: Grid, block: Sequence[int], name_width: int, *, deviations: bool) -> RichTable:
    """Return some columns of a grid: a line of ours for each row and, if figures are printed, one of the paper."""
    table = RichTable(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    table.add_column(grid.corner, width=name_width, overflow="fold")
    for i in block:
        table.add_column(grid.columns[i], overflow="fold")
    for name, row in grid.rows:
        figures = [row[i] for i in block]
        if not any(figures):
            continue
        ours, papers = zip(*(_texts(figure, deviations) for figure in figures), strict=True)
        table.add_row(Text(name), *ours)
        if any(figure is not None and figure.entry.published is not None for figure in figures):
            table.add_row(Text(_PAPER, style="dim"), *papers)
    return table


def _texts(figure: GridFigure | None, deviations: bool) -> tuple[Text, Text]:
    """Return our figure, and the paper's with the sign of its verdict."""
    if figure is None:
        return Text(""), Text("")
    entry = figure.entry
    ours = Text(_short(entry.shown.text if entry.shown is not None else "-", deviations) + "*" * figure.best)
    if entry.published is None:
        return ours, Text("")
    verdict = entry.verdict
    papers = _short(printed_item(entry.published).text, deviations) + "*" * figure.best_printed
    return ours, Text(f"{papers} {SIGNS[verdict]}" if verdict else papers, style=COLOURS.get(verdict, ""))


def _short(text: str, deviations: bool) -> str:
    """Return a figure without the spaces around ±, and without its deviation unless that is shown."""
    mean, _, rest = text.partition(" ± ")
    if not rest:
        return text
    deviation, _, remark = rest.partition(" ")
    return mean + f"±{deviation}" * deviations + f" {remark}" * bool(remark)

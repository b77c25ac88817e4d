"""A table of results for the terminal, within 80 columns; printed figures have the layout of the
paper.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import rich.text
from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table as RichTable

from elmbench.judging.verdict_words import SIGNS
from elmbench.specs.measures import UNJUDGED
from elmbench.tables import kind_of_table
from elmbench.tables.result_table import Column, Entry, ResultTable, Section
from elmbench.terminal import escape

if TYPE_CHECKING:
    from elmbench.report.build_table import TableGrid
    from elmbench.specs.profiles import Resolved

#: Characters of a line, between two columns, and at most of a row's name in a grid.
WIDTH = 80
GAP = 2
_NAME = 20
#: The colours of verdicts and endings.
_COLOURS = {
    "reproduced": "green",
    "consistent": "green",
    "close": "yellow",
    "differs": "red",
    "failed": "red",
}
_PAPER = "  paper"
MARKS = "The row of the paper follows ours; * marks the best of a row."
T = TypeVar("T")


class Text(rich.text.Text):
    """Text of a terminal in one style, in which characters that a terminal acts on are escaped."""

    def __init__(self, text: str = "", style: str = "") -> None:
        super().__init__(escape(text), style)


def table_text(
    table: ResultTable, resolved: Resolved, width: int = WIDTH, hidden: Collection[str] = ()
) -> RenderableType:
    """Return a table of results with its notes.

    Printed figures have the layout of the paper, data sets by models. The paper's row, with the
    signs of the verdicts, is below ours; the best figure of each row is marked. Other figures have
    the lines of their kind of table.

    A grid wider than `width` characters is cut into blocks of columns. `hidden`: kinds of notes
    that are left out.
    """
    parts: list[RenderableType] = [Text(f"\n{table.title}", style="bold"), Text(table.subtitle)]
    for i, section in enumerate(table.sections):
        parts.append(Text(f"\n{section.heading}", style="italic"))
        # A comparison has its own order of models.
        grids = (
            [] if kind_of_table(resolved).ranks else _grids_to_show(section, resolved, first=i == 0)
        )
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


def lines_text(
    headings: Sequence[str],
    rows: Iterable[Sequence[Any]],
    right: Sequence[str] = (),
    whole: Sequence[str] = (),
) -> RichTable:
    """Return a table of text without vertical lines.

    `right`: the headings of the columns that are aligned to the right. `whole`: those of columns
    whose words are never broken.
    """
    header = any(headings)
    table = RichTable(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        show_edge=False,
        show_header=header,
    )
    for heading in headings:
        justify: Literal["left", "right"] = "right" if heading in right else "left"
        table.add_column(Text(heading), justify=justify, overflow="fold", no_wrap=heading in whole)
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(str(cell)) for cell in row))
    return table


def blocks(
    headings: Sequence[str], rows: Sequence[Sequence[Any]], width: int, n_names: int = 1
) -> Iterator[RichTable]:
    """Yield a table of text in blocks of columns that fit the width; each begins with the first
    `n_names` columns.
    """
    lines = [headings, *rows]
    widths = [
        max(len(word) for line in lines for word in str(line[i]).split("\n"))
        for i in range(len(headings))
    ]
    names = [*range(n_names)]
    room = width - sum(widths[:n_names]) - GAP * (n_names - 1)
    for group in _side_by_side(
        [[i] for i in range(n_names, len(headings))], widths.__getitem__, room
    ):
        shown, *texts = ([line[i] for i in names + group] for line in lines)
        yield lines_text(shown, texts, right=shown[n_names:], whole=shown[1:])


def _side_by_side(
    units: Sequence[Sequence[T]], width_of: Callable[[T], int], room: int
) -> list[list[T]]:
    """Return columns in groups that each fit the width; the columns of a unit stay together."""
    groups: list[list[T]] = [[]]
    for unit in units:
        if groups[-1] and sum(GAP + width_of(column) for column in (*groups[-1], *unit)) > room:
            groups.append([])
        groups[-1] += unit
    return groups


def section_text(
    table: ResultTable, section: Section, width: int = WIDTH
) -> Iterator[RenderableType]:
    """Yield the lines of a section in blocks of columns; the name of a data set is on a line above
    its models.
    """
    # A column of data sets would leave too little room for the figures.
    first, *rest = (
        column for column in table.columns_of(section, narrow=True) if column.name != "dataset"
    )
    # A measure, its published value and its verdict stay together.
    starts = {
        0,
        *(
            i
            for i, column in enumerate(rest)
            if not column.name.startswith(("published", "verdict"))
        ),
    }
    units = [rest[i:j] for i, j in pairwise([*sorted(starts), len(rest)])]

    def width_of(column: Column) -> int:
        return max(len(column.heading), *(len(line.get(column.name, "")) for line in section.lines))

    names = (len(line["dataset"]) for line in section.lines)
    room = width - max(len("  ") + width_of(first), max(names, default=0))
    for number, columns in enumerate(_side_by_side(units, width_of, room)):
        if number:
            yield Text("")
        rows: list[list[Text]] = []
        previous = ""
        for line in section.lines:
            texts = [line.get(column.name, "") for column in columns]
            if not any(texts):
                continue
            if line["dataset"] != previous:
                previous = line["dataset"]
                rows.append([Text(previous, style="bold"), *(Text("") for _ in columns)])
            rows.append(
                [
                    Text("  " + line[first.name]),
                    *(Text(text, style=_COLOURS.get(text, "")) for text in texts),
                ]
            )
        right = [column.heading for column in columns if column.numeric]
        whole = [column.heading for column in (first, *columns) if column.whole]
        yield lines_text(
            [column.heading for column in (first, *columns)], rows, right=right, whole=whole
        )


def _grids_to_show(section: Section, resolved: Resolved, *, first: bool) -> list[TableGrid]:
    """Return the grids with printed figures or added metrics, and the times of the fits in the
    first section.
    """
    from elmbench.report.build_table import grids_of

    grids = grids_of(section, resolved)
    if not any(grid.has_printed for grid in grids):
        return []
    added = {*resolved.spec.protocol.metrics} - {*resolved.file.spec.protocol.metrics}
    printed = [grid for grid in grids if grid.has_printed or grid.measures & added]
    if first:
        return printed + [
            grid for grid in grids if not grid.has_printed and grid.measures == {"fit_seconds"}
        ]
    # Another selection or reading changes the judged figures.
    return [grid for grid in printed if grid.measures - {*UNJUDGED}] or printed


def _grid(grid: TableGrid, width: int) -> Iterator[RenderableType]:
    """Yield a grid in blocks of columns, without deviations if there are then fewer blocks.

    Each row has a line of ours and, if figures of a block are printed, one of the paper.
    """
    name_width = min(
        _NAME, max(len(_PAPER), len(grid.corner), *(len(name) for name, _ in grid.rows))
    )
    ways = []
    for deviations in (True, False):
        lines = []
        for name, entries in grid.rows:
            ours, papers = zip(*(_texts(entry, deviations) for entry in entries), strict=True)
            lines += [(Text(name), ours), (Text(_PAPER, style="dim"), papers)]
        widths = [
            max(map(len, texts))
            for texts in zip(grid.columns, *(texts for _, texts in lines), strict=True)
        ]
        columns = [[i] for i in range(len(widths))]
        ways.append(
            (lines, _side_by_side(columns, widths.__getitem__, width - name_width - 1), deviations)
        )
    lines, groups, deviations = min(ways, key=lambda way: len(way[1]))
    yield Text(
        f"\n{grid.heading}{'' if deviations else ' (deviations: --format md)'}", style="bold"
    )
    for number, group in enumerate(groups):
        if number:
            yield Text("")
        table = RichTable(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
        table.add_column(Text(grid.corner), width=name_width, overflow="fold")
        for i in group:
            table.add_column(Text(grid.columns[i]), overflow="fold")
        for label, texts in lines:
            if any(shown := [texts[i] for i in group]):
                table.add_row(label, *shown)
        yield table


def _texts(entry: Entry | None, deviations: bool) -> tuple[Text, Text]:
    """Return our figure, and the paper's with the sign of its verdict."""
    if entry is None:
        return Text(""), Text("")
    ours = Text(_short(entry.shown or "-", deviations) + "*" * entry.best)
    printed = _short(entry.printed, deviations) + "*" * entry.best_printed
    sign = f" {SIGNS[entry.verdict]}" if entry.verdict else ""
    return ours, Text(printed + sign, style=_COLOURS.get(entry.verdict, ""))


def _short(text: str, deviations: bool) -> str:
    """Return a figure without the spaces around ±, and without its deviation unless that is
    shown.
    """
    mean, _, rest = text.partition(" ± ")
    if not rest:
        return text
    deviation, _, remark = rest.partition(" ")
    return mean + f"±{deviation}" * deviations + f" {remark}" * bool(remark)

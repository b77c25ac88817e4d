"""A table of results for the terminal, within 80 columns."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from elmbench.layouts.table import Column, Ending, Item, ResultTable, Section, Verdict

#: Characters for the columns beside the models, and those from which a table is cut into several below each other.
_ROOM, _FAR_TOO_WIDE = 62, 100
_COLOURS = {"reproduced": "green", "close": "yellow", "differs": "red", "failed": "red"}


def grid(
    headings: Sequence[str], rows: Iterable[Sequence[Any]], right: Sequence[str] = (), whole: Sequence[str] = ()
) -> RichTable:
    """Return a table of text without vertical lines.

    Columns with these headings are aligned to the `right`, or `whole`: their words are never broken, others give way.
    """
    shown = any(headings)
    table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False, show_header=shown)
    for heading in headings:
        justify: Literal["left", "right"] = "right" if heading in right else "left"
        table.add_column(heading, justify=justify, overflow="fold", no_wrap=heading in whole)
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(str(cell)) for cell in row))
    return table


def table_text(table: ResultTable) -> RenderableType:
    """Return a table of results; a data set has a line of its own above its models."""
    parts: list[RenderableType] = [Text(f"\n{table.title}", style="bold"), Text(table.subtitle)]
    for section in table.sections:
        # A column of data sets would leave too little room for the figures.
        columns = [column for column in table.columns_of(section, narrow=True) if column.name != "dataset"]
        first, *others = columns
        parts.append(Text(f"\n{section.heading}", style="italic"))
        parts += [_grid_of(section, first, some) for some in _side_by_side(section, others)]
    parts += [Text(""), *(Text(f"- {note.text}", style="dim") for note in table.notes)] if table.notes else []
    return Group(*parts)


def _grid_of(section: Section, first: Column, others: Sequence[Column]) -> RichTable:
    """Return some columns of a section beside its models."""
    rows: list[list[Text]] = []
    previous = ""
    for line in section.lines:
        if line["dataset"].text != previous:
            previous = line["dataset"].text
            rows.append([Text(previous, style="bold"), *(Text("") for _ in others)])
        rows.append([Text("  " + line[first.name].text), *(_coloured(line.get(column.name)) for column in others)])
    columns = [first, *others]
    right = [column.heading for column in others if column.numeric]
    whole = [column.heading for column in columns if column.whole]
    return grid([column.heading for column in columns], rows, right=right, whole=whole)


def _side_by_side(section: Section, columns: Sequence[Column]) -> list[list[Column]]:
    """Return the columns in groups that each fit a line: one group, unless there is far too little room for it."""
    widths = {
        column.name: 1
        + max(
            len(column.heading),
            *(len(line[column.name].text) for line in section.lines if column.name in line),
        )
        for column in columns
    }
    if sum(widths.values()) <= _FAR_TOO_WIDE:
        return [list(columns)]
    groups: list[list[Column]] = [[]]
    for column in columns:
        # What is published of a metric stays beside it.
        full = sum(widths[own.name] for own in groups[-1]) + widths[column.name] > _ROOM
        if groups[-1] and (full or column.name.startswith("value")):
            groups.append([])
        groups[-1].append(column)
    return groups


def _coloured(item: Item | None) -> Text:
    if item is None:
        return Text("")
    return Text(item.text, style=_COLOURS.get(item.text, "") if isinstance(item, Verdict | Ending) else "")

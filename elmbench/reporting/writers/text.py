"""A table of results for the terminal, within 80 columns."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from rich import box
from rich.console import RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from elmbench.layouts.table import Column, Ending, Item, ResultTable, Section, Verdict

#: Characters of a line, a wider table being cut into several below each other, and those between two columns.
WIDTH, _GAP = 80, 2
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


def section_text(table: ResultTable, section: Section, width: int = WIDTH) -> Iterator[RenderableType]:
    """Yield the lines of a section as its kind of table has them; a data set has a line of its own above its models."""
    # A column of data sets would leave too little room for the figures.
    columns = [column for column in table.columns_of(section, narrow=True) if column.name != "dataset"]
    first, *others = columns
    for number, some in enumerate(_side_by_side(section, first, others, width)):
        if number:
            yield Text("")
        yield _grid_of(section, first, some)


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


def _side_by_side(section: Section, first: Column, others: Sequence[Column], width: int) -> list[list[Column]]:
    """Return the columns beside the first one in groups that each fit a line, if none is wider than a line alone."""
    names = (len(line["dataset"].text) for line in section.lines)
    room = width - max(len("  ") + _width(section, first), max(names, default=0))
    groups: list[list[Column]] = [[]]
    # What is published of a measure, and its verdict, stay beside it.
    for unit in _units(others):
        if groups[-1] and sum(_GAP + _width(section, column) for column in (*groups[-1], *unit)) > room:
            groups.append([])
        groups[-1] += unit
    return groups


def _units(columns: Sequence[Column]) -> list[list[Column]]:
    """Return the columns in groups that belong together, each with what it is compared with."""
    units: list[list[Column]] = []
    for column in columns:
        if units and column.name.startswith(("published", "verdict")):
            units[-1].append(column)
        else:
            units.append([column])
    return units


def _width(section: Section, column: Column) -> int:
    texts = (line[column.name].text for line in section.lines if column.name in line)
    return max(len(column.heading), *map(len, texts))


def _coloured(item: Item | None) -> Text:
    if item is None:
        return Text("")
    return Text(item.text, style=_COLOURS.get(item.text, "") if isinstance(item, Verdict | Ending) else "")

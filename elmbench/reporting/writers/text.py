"""Tables of text for the terminal, and the lines of a table of results within 80 columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, TypeVar

from rich import box
from rich.console import RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from elmbench.layouts.table import Column, Item, ResultTable, Section

#: Characters of a line, and between two columns.
WIDTH, GAP = 80, 2
#: The colours of verdicts and endings.
COLOURS = {"reproduced": "green", "consistent": "green", "close": "yellow", "differs": "red", "failed": "red"}
T = TypeVar("T")


def grid(
    headings: Sequence[str], rows: Iterable[Sequence[Any]], right: Sequence[str] = (), whole: Sequence[str] = ()
) -> RichTable:
    """Return a table of text without vertical lines.

    `right`: the headings of the columns that are aligned to the right. `whole`: those of columns whose words are never
    broken.
    """
    header = any(headings)
    table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False, show_header=header)
    for heading in headings:
        justify: Literal["left", "right"] = "right" if heading in right else "left"
        table.add_column(heading, justify=justify, overflow="fold", no_wrap=heading in whole)
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(str(cell)) for cell in row))
    return table


def blocks(headings: Sequence[str], rows: Sequence[Sequence[Any]], width: int, n_names: int = 1) -> Iterator[RichTable]:
    """Yield a table of text in blocks of columns that fit the width; each begins with the first `n_names` columns."""
    lines = [headings, *rows]
    widths = [max(len(word) for line in lines for word in str(line[i]).split("\n")) for i in range(len(headings))]
    names = [*range(n_names)]
    room = width - sum(widths[:n_names]) - GAP * (n_names - 1)
    for group in side_by_side([[i] for i in range(n_names, len(headings))], widths.__getitem__, room):
        columns = [[line[i] for i in names + group] for line in lines]
        yield grid(columns[0], columns[1:], right=columns[0][n_names:], whole=columns[0][1:])


def side_by_side(units: Sequence[Sequence[T]], width_of: Callable[[T], int], room: int) -> list[list[T]]:
    """Return columns in groups that each fit the width; the columns of a unit stay together."""
    groups: list[list[T]] = [[]]
    for unit in units:
        if groups[-1] and sum(GAP + width_of(column) for column in (*groups[-1], *unit)) > room:
            groups.append([])
        groups[-1] += unit
    return groups


def section_text(table: ResultTable, section: Section, width: int = WIDTH) -> Iterator[RenderableType]:
    """Yield the lines of a section in blocks of columns; the name of a data set is on a line above its models."""
    # A column of data sets would leave too little room for the figures.
    first, *others = (column for column in table.columns_of(section, narrow=True) if column.name != "dataset")
    units: list[list[Column]] = []
    for column in others:
        # A measure, its published value and its verdict stay together.
        if units and column.name.startswith(("published", "verdict")):
            units[-1].append(column)
        else:
            units.append([column])
    names = (len(line["dataset"].text) for line in section.lines)
    room = width - max(len("  ") + _width(section, first), max(names, default=0))
    for number, columns in enumerate(side_by_side(units, lambda column: _width(section, column), room)):
        if number:
            yield Text("")
        yield _block(section, first, columns)


def _block(section: Section, first: Column, others: Sequence[Column]) -> RichTable:
    """Return the lines of a section below the names of their data sets."""
    rows: list[list[Text]] = []
    previous = ""
    for line in section.lines:
        items = [_colour(line.get(column.name)) for column in others]
        if not any(items):
            continue
        if line["dataset"].text != previous:
            previous = line["dataset"].text
            rows.append([Text(previous, style="bold"), *(Text("") for _ in others)])
        rows.append([Text("  " + line[first.name].text), *items])
    columns = [first, *others]
    right = [column.heading for column in others if column.numeric]
    whole = [column.heading for column in columns if column.whole]
    return grid([column.heading for column in columns], rows, right=right, whole=whole)


def _width(section: Section, column: Column) -> int:
    """Return the number of characters that a column needs."""
    texts = (line[column.name].text for line in section.lines if column.name in line)
    return max(len(column.heading), *map(len, texts))


def _colour(item: Item | None) -> Text:
    """Return an item as text in the colour of its verdict."""
    if item is None:
        return Text("")
    return Text(item.text, style=COLOURS.get(item.text, ""))

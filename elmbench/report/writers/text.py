"""A table of results for the terminal, within 80 columns; published values have the layout of the
paper.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import rich.text
from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table as RichTable

from elmbench.judging.verdict_words import SIGNS
from elmbench.tables import kind_of_table
from elmbench.tables.result_table import (
    QUESTION,
    Column,
    Entry,
    Line,
    Note,
    ResultTable,
    Section,
)
from elmbench.terminal import escape

if TYPE_CHECKING:
    from elmbench.report.entry_tables import EntryTable
    from elmbench.specs.profiles import Resolved

#: Characters of a line, between two columns, and at most of a row's name in an `EntryTable`.
WIDTH = 80
GAP = 2
_NAME = 20
#: The colours of verdicts and endings.
_COLOURS = {
    "exact": "green",
    "reproduced": "green",
    "consistent": "green",
    "close": "yellow",
    "differs": "red",
    "failed": "red",
}
_PAPER = "  paper"
#: Numbers with this many digits before the point have no decimals in brief columns.
_MOST_DIGITS = 4
MARKS = "The row of the paper follows ours; * marks the best of a row."
T = TypeVar("T")


class Text(rich.text.Text):
    """Text of a terminal in one style, in which characters that a terminal acts on are escaped."""

    def __init__(self, text: str = "", style: str = "") -> None:
        super().__init__(escape(text), style)


def table_text(
    table: ResultTable,
    resolved: Resolved,
    width: int = WIDTH,
    hidden: Collection[str] = (),
) -> RenderableType:
    """Return a table of results with its notes, for rich to print.

    Published values have the layout of the paper, data sets by models: the paper's row, with the
    signs of the verdicts, is below ours, and the best value of each row is marked. Other values,
    and comparisons, have the lines of their kind of table. A table wider than `width` characters is
    cut into blocks of columns. `hidden`: kinds of notes that are left out below; questions to the
    user are always shown, above the sections.
    """
    parts: list[RenderableType] = [
        Text(f"\n{table.title}", style="bold"),
        Text(table.subtitle),
    ]
    for note in _questions(table):
        parts.append(Text(f"- {note.text}"))
    # A comparison has its own order of models.
    has_own_order = kind_of_table(resolved).ranks
    for i, section in enumerate(table.sections):
        parts.append(Text(f"\n{section.heading}", style="italic"))
        entry_tables = []
        if not has_own_order:
            entry_tables = entry_tables_to_show(section, resolved, first=i == 0)
        for entry_table in entry_tables:
            parts += _entry_table_text(entry_table, width)
        if not entry_tables:
            parts += section_text(table, section, width)
    below = {*hidden, QUESTION}
    notes = [note for note in table.notes if note.kind not in below]
    if notes:
        parts.append(Text(""))
    for note in notes:
        parts.append(Text(f"- {note.text}", style="dim"))
    return Group(*parts)


def as_text(renderable: RenderableType) -> str:
    """Return what rich prints on a terminal of 80 columns, without colours."""
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
    """Return a table of rich without vertical lines.

    `headings`: if all are empty, there is no line of headings. `rows`: a cell for each heading;
    other things than `Text` are converted. `right`: the headings of the columns that are aligned to
    the right. `whole`: those of columns whose words are never broken.
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
        table.add_column(
            Text(heading), justify=justify, overflow="fold", no_wrap=heading in whole
        )
    for row in rows:
        table.add_row(
            *(cell if isinstance(cell, Text) else Text(str(cell)) for cell in row)
        )
    return table


def blocks(
    headings: Sequence[str], rows: Sequence[Sequence[Any]], width: int, n_names: int = 1
) -> Iterator[RichTable]:
    """Yield a table in blocks of columns that each fit `width` characters, as tables of rich.

    Each block begins with the first `n_names` columns, which label the rows; the others are aligned
    to the right. `rows`: a cell for each of `headings`, which is shown as text. `n_names`: at least
    1. A column that is too wide has a block of its own.
    """
    columns = [list(map(str, column)) for column in zip(headings, *rows, strict=True)]
    widths = [_text_width(column) for column in columns]
    name_widths = sum(widths[:n_names])
    gaps = GAP * (n_names - 1)
    space = width - name_widths - gaps
    names = range(n_names)
    units = [[i] for i in range(n_names, len(headings))]
    for group in _side_by_side(units, widths.__getitem__, space):
        shown = [*names, *group]
        shown_headings = _pick_columns(headings, shown)
        yield lines_text(
            shown_headings,
            [_pick_columns(row, shown) for row in rows],
            right=shown_headings[n_names:],
            whole=shown_headings[1:],
        )


def _pick_columns(row: Sequence[T], columns: Iterable[int]) -> list[T]:
    """Return the items of a row at these positions, in the order of `columns`."""
    return [row[column] for column in columns]


def _text_width(texts: Iterable[str]) -> int:
    """Return the number of characters of the longest line of some texts, at least one."""
    return max(len(line) for text in texts for line in text.split("\n"))


def _side_by_side(
    units: Sequence[Sequence[T]], width_of: Callable[[T], int], space: int
) -> list[list[T]]:
    """Return columns in groups that each fit into `space` characters, in their order.

    `units`: lists of columns that stay together, even if one is wider; without any, there is one
    empty group. `width_of`: returns the width of a column in characters, without the gap of `GAP`
    before it.
    """
    groups: list[list[T]] = [[]]
    for unit in units:
        group = groups[-1]
        width = sum(GAP + width_of(column) for column in (*group, *unit))
        if group and width > space:
            groups.append(list(unit))
        else:
            group += unit
    return groups


def section_text(
    table: ResultTable, section: Section, width: int = WIDTH
) -> Iterator[RenderableType]:
    """Yield the lines of a section as tables of columns that fit `width` characters.

    Optional columns, and those that are empty in the section, are left out. An empty text is
    between two tables. Each begins with the first column, usually the model; the name of a data set
    is a line above its models.
    """
    # A column of data sets would leave too little space for the values.
    first, *rest = (
        column
        for column in table.columns_of(section, narrow=True)
        if column.name != "dataset"
    )

    def width_of(column: Column) -> int:
        """Return the width of a column in characters: of its heading or its longest text."""
        texts = (_text_of(line, column) for line in section.lines)
        return _text_width([_heading_of(column), *texts])

    longest_dataset = max((len(line["dataset"]) for line in section.lines), default=0)
    space = width - max(len("  ") + width_of(first), longest_dataset)
    for number, columns in enumerate(_side_by_side(_units_of(rest), width_of, space)):
        if number:
            yield Text("")
        shown = [first, *columns]
        yield lines_text(
            [_heading_of(column) for column in shown],
            _section_rows(section, first, columns),
            right=[_heading_of(column) for column in columns if column.numeric],
            whole=[_heading_of(column) for column in shown if column.whole],
        )


def _heading_of(column: Column) -> str:
    """Return the heading of a column in a terminal: its brief one if it has one."""
    return column.brief or column.heading


def _text_of(line: Line, column: Column) -> str:
    """Return the text in a column of a line of a table; empty without one.

    `line`: {name of the column: text}. In a column with a brief heading, it has no deviation, and a
    number of `_MOST_DIGITS` digits or more before the point has no decimals.
    """
    text = line.get(column.name, "")
    if not column.brief:
        return text
    short = _short_value(text, deviations=False)
    number = short.partition(" ")[0]
    whole_part = number.partition(".")[0]
    # Words such as "failed" stay.
    if len(whole_part) < _MOST_DIGITS or not whole_part.removeprefix("-").isdigit():
        return short
    # The error of a target of large values would need the space of two columns.
    return short.replace(number, f"{float(number):.0f}", 1)


def _questions(table: ResultTable) -> list[Note]:
    """Return the notes that are shown above the lines.

    They say whether the table answers the user's question.
    """
    return [note for note in table.notes if note.kind == QUESTION]


def _units_of(columns: Sequence[Column]) -> list[list[Column]]:
    """Return columns in groups that stay together: a measure, its published value and its verdict.

    The columns `published...` and `verdict...` join the group of the column before them; each other
    column begins one.
    """
    units: list[list[Column]] = []
    for column in columns:
        if units and column.name.startswith(("published", "verdict")):
            units[-1].append(column)
        else:
            units.append([column])
    return units


def _section_rows(
    section: Section, first: Column, columns: Sequence[Column]
) -> Iterator[list[Text]]:
    """Yield the rows of a section: the text of the column `first`, then those of `columns`.

    The name of a data set is a row above its models. Lines that are empty in `columns` are left
    out. Endings and verdicts have their colours.
    """
    colours = _colours_of(section)
    previous = ""
    for line in section.lines:
        texts = [_text_of(line, column) for column in columns]
        if not any(texts):
            continue
        dataset = line["dataset"]
        if dataset != previous:
            previous = dataset
            blanks = [Text("") for _ in columns]
            yield [Text(dataset, style="bold"), *blanks]
        coloured = [Text(text, style=colours.get(text, "")) for text in texts]
        name = Text("  " + line[first.name])
        yield [name, *coloured]


def _colours_of(section: Section) -> dict[str, str]:
    """Return the style in rich of endings and verdicts: {text: colour}.

    A verdict with test rows ("close, 2 test rows off") of the section has the colour of its
    verdict.
    """
    colours = dict(_COLOURS)
    for entry in section.entries:
        if entry.verdict in _COLOURS:
            colours[entry.verdict_text] = _COLOURS[entry.verdict]
    return colours


def entry_tables_to_show(
    section: Section, resolved: Resolved, *, first: bool
) -> list[EntryTable]:
    """Return the entries of a section as the tables that are shown; [] if none is published.

    They are the tables with published values or added metrics. The first section (`first`) also has
    the times of the fits; the others (`first` is False) leave out tables of times and sizes alone,
    unless all are. Tables of times without published values come last.
    """
    from elmbench.report.entry_tables import entry_tables_of
    from elmbench.specs.measures import UNJUDGED

    tables = entry_tables_of(section, resolved)
    with_published = [table for table in tables if table.has_published]
    if not with_published:
        return []
    metrics = {*resolved.spec.protocol.all_metrics}
    added = metrics - {*resolved.file.spec.protocol.all_metrics}
    published = [
        table for table in tables if table.has_published or table.measures & added
    ]
    if first:
        times = [table for table in tables if table.measures == {"fit_seconds"}]
        return published + [table for table in times if not table.has_published]
    # Another selection or reading changes the judged values.
    judged = [table for table in published if table.measures - {*UNJUDGED}]
    return judged or published


@dataclass(frozen=True)
class _EntryTableBlocks:
    """The lines of a table of entries as texts, and its columns in groups that fit the width."""

    #: The label of each line, and a text for each column.
    lines: list[tuple[Text, list[Text]]]
    #: The positions of the columns of each block.
    groups: list[list[int]]
    has_deviations: bool


def _entry_table_text(entry_table: EntryTable, width: int) -> Iterator[RenderableType]:
    """Yield a table of entries in blocks of columns that fit `width` characters, for rich to print.

    Its heading comes first. Each row has a line of ours and, if values of the block are published,
    one of the paper. Deviations are left out if there are then fewer blocks; the heading says so.
    """
    longest_name = max(len(name) for name, _ in entry_table.rows)
    widest = max(len(_PAPER), len(entry_table.corner), longest_name)
    name_width = min(_NAME, widest)
    space = width - name_width - 1
    with_deviations = _entry_table_blocks(entry_table, space, deviations=True)
    without_deviations = _entry_table_blocks(entry_table, space, deviations=False)
    blocks = with_deviations
    if len(without_deviations.groups) < len(with_deviations.groups):
        blocks = without_deviations
    hint = "" if blocks.has_deviations else " (deviations: --format md)"
    yield Text(f"\n{entry_table.heading}{hint}", style="bold")
    for number, group in enumerate(blocks.groups):
        if number:
            yield Text("")
        table = RichTable(
            box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold"
        )
        table.add_column(Text(entry_table.corner), width=name_width, overflow="fold")
        for i in group:
            heading = Text(entry_table.columns[i])
            table.add_column(heading, overflow="fold")
        for label, texts in blocks.lines:
            shown = [texts[i] for i in group]
            if any(shown):
                table.add_row(label, *shown)
        yield table


def _entry_table_blocks(
    entry_table: EntryTable, space: int, *, deviations: bool
) -> _EntryTableBlocks:
    """Return the texts of a table of entries, and its columns in groups that fit into `space`.

    There are two lines for each row: our values and the published ones. `space`: in characters,
    without the column of names. `deviations`: keep the ± part of values.
    """
    lines: list[tuple[Text, list[Text]]] = []
    for name, entries in entry_table.rows:
        ours = [_our_text(entry, deviations) for entry in entries]
        published = [_published_text(entry, deviations) for entry in entries]
        lines.append((Text(name), ours))
        lines.append((Text(_PAPER, style="dim"), published))
    # The widest text of each column, with its heading.
    rows = [texts for _, texts in lines]
    widths = []
    for column in zip(entry_table.columns, *rows, strict=True):
        lengths = [len(text) for text in column]
        widths.append(max(lengths))
    columns = [[i] for i in range(len(widths))]
    groups = _side_by_side(columns, widths.__getitem__, space)
    return _EntryTableBlocks(
        lines=lines,
        groups=groups,
        has_deviations=deviations,
    )


def _our_text(entry: Entry | None, deviations: bool) -> Text:
    """Return our value as text, with an asterisk if it is the best of its row.

    It is a dash if the entry has no value of ours, and empty without an entry (None). `deviations`:
    keep the ± part.
    """
    if entry is None:
        return Text("")
    text = _short_value(entry.shown or "–", deviations)
    return Text(f"{text}*" if entry.best else text)


def _published_text(entry: Entry | None, deviations: bool) -> Text:
    """Return the published value as text with the sign of its verdict, in the verdict's colour.

    An asterisk marks the best value of its row. It is empty without a published value or an entry
    (None). `deviations`: keep the ± part.
    """
    if entry is None:
        return Text("")
    text = _short_value(entry.published_text, deviations)
    if entry.best_published:
        text += "*"
    if entry.verdict:
        text += f" {SIGNS[entry.verdict]}"
    return Text(text, style=_COLOURS.get(entry.verdict, ""))


def _short_value(text: str, deviations: bool) -> str:
    """Return a value such as "0.9 ± 0.1" without the spaces around ±, as "0.9±0.1".

    Without `deviations`, it is only the mean. A remark after it, such as "(3 ok)", stays; so does a
    text without ±.
    """
    mean, _, rest = text.partition(" ± ")
    if not rest:
        return text
    deviation, _, remark = rest.partition(" ")
    short = f"{mean}±{deviation}" if deviations else mean
    return f"{short} {remark}" if remark else short

"""The entries of a table's section as tables in the shape of the printed table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from elmbench.results import group_by
from elmbench.specs.profiles import Resolved
from elmbench.specs.published import ALL
from elmbench.tables.drawing import words_for
from elmbench.tables.result_table import Entry, Section


@dataclass(frozen=True)
class EntryTable:
    """A table in the paper's shape: rows and columns with names, and an entry for each pair.

    Measures have the names of `words_for`, data sets those of the paper.
    """

    #: What all values share: a measure, a data set or a model.
    heading: str
    #: The kind of the rows.
    corner: str
    columns: tuple[str, ...]
    #: The name of each row and an entry for each column; None if there is none.
    rows: tuple[tuple[str, tuple[Entry | None, ...]], ...]

    @property
    def entries(self) -> list[Entry]:
        """The entries of the table, row by row, without the places that have none."""
        return [
            entry for _, entries in self.rows for entry in entries if entry is not None
        ]

    @property
    def has_published(self) -> bool:
        """True if the paper prints at least one value of the table."""
        return any(entry.published for entry in self.entries)

    @property
    def measures(self) -> set[str]:
        """The metrics of the table's values, without settings such as `@rows=100`."""
        return {entry.measure.metric for entry in self.entries}


class _Shape(NamedTuple):
    """The axes of the tables of entries of a section, each of which has a heading.

    Each is `dataset`, `model`, `measure`, `pair` (model and measure) or `all`: the kind of the rows
    and of the columns, and what all values of a table share.
    """

    rows: str
    columns: str
    heading: str


def entry_tables_of(section: Section, resolved: Resolved) -> list[EntryTable]:
    """Return the entries of a section as tables in the shape of the paper's table.

    Those with published values come first. There is a table for each measure, but a single one if
    there is only one model or data set, or if the models have few measures in common (see
    `_shape_of`). Columns without any published value have a table of their own, unless the columns
    are models. Entries that have neither a value of ours nor a published one are left out; without
    entries, the list is empty.
    """
    entries = [
        entry for entry in section.entries if entry.shown or entry.published is not None
    ]
    shape = _shape_of(entries, resolved)

    def column_of(entry: Entry) -> tuple[str, str]:
        """Return the name of the table of an entry, and that of its column in this table."""
        return _name_on_axis(entry, shape.heading), _name_on_axis(entry, shape.columns)

    # Unless the columns are models, those with published values have a separate table.
    with_published = {
        column_of(entry) for entry in entries if entry.published is not None
    }

    def entry_table_of(entry: Entry) -> tuple[str, bool]:
        """Return the table of an entry: its name, and False for the one of unpublished columns."""
        is_published = column_of(entry) in with_published
        heading, _ = column_of(entry)
        return heading, is_published or shape.columns == "model"

    groups = group_by(entries, entry_table_of)
    order = list(dict.fromkeys(heading for heading, _ in groups))
    keys = sorted(groups, key=lambda key: (order.index(key[0]), not key[1]))
    tables = [_entry_table(groups[key], shape, resolved) for key in keys]
    return sorted(tables, key=lambda table: not table.has_published)


def _shape_of(entries: Sequence[Entry], resolved: Resolved) -> _Shape:
    """Return the kinds of rows, columns and headings of the tables of some entries.

    `entries`: of a section. By default, each measure has a table of data sets by models. A single
    model has a table of data sets by measures, an experiment with a single data set one of models
    by measures. Models that have few measures in common have one table of data sets by pairs of
    model and measure.
    """
    models = {entry.model for entry in entries}
    datasets = {entry.dataset for entry in entries}
    all_datasets = datasets | {*resolved.file.spec.datasets}
    if len(models) <= 1:
        return _Shape(rows="dataset", columns="measure", heading="model")
    if len(all_datasets) <= 1:
        return _Shape(rows="model", columns="measure", heading="dataset")
    if _has_few_pairs(entries):
        return _Shape(rows="dataset", columns="pair", heading="all")
    return _Shape(rows="dataset", columns="model", heading="measure")


def _has_few_pairs(entries: Sequence[Entry]) -> bool:
    """Return True if the models have, on average, at most half of the measures of all entries.

    `entries`: of a section, of several models. Only entries with published values count, if there
    are any: a paper may print two measures of many cited models, of which we have no others.
    """
    published = [entry for entry in entries if entry.published is not None]
    counted = published or entries
    models = {entry.model for entry in counted}
    measures = {entry.measure.column for entry in counted}
    pairs = {_name_on_axis(entry, "pair") for entry in counted}
    return len(pairs) <= len(models) * len(measures) / 2


def _entry_table(
    entries: Sequence[Entry], shape: _Shape, resolved: Resolved
) -> EntryTable:
    """Return the table of entries that share a heading.

    A row is (name, entries), with an entry or None for each column. Rows and columns have the order
    of the entries, of which there is at least one. `shape`: the kind of rows, columns and heading.
    If all columns are one metric at several values of a hyperparameter (`metric@rows=100`), the
    metric moves into the heading.
    """
    entry_of = {}
    # The entries that name the columns.
    first_entries: dict[str, Entry] = {}
    for entry in entries:
        column = _name_on_axis(entry, shape.columns)
        entry_of[_name_on_axis(entry, shape.rows), column] = entry
        first_entries.setdefault(column, entry)
    row_names = list(dict.fromkeys(row for row, _ in entry_of))
    rows = tuple(
        (
            _spelling_of_dataset(row, resolved) if shape.rows == "dataset" else row,
            tuple(entry_of.get((row, column)) for column in first_entries),
        )
        for row in row_names
    )
    heading = _heading_on_axis(entries[0], shape.heading, resolved)
    columns = [
        _heading_on_axis(entry, shape.columns, resolved)
        for entry in first_entries.values()
    ]
    metrics = {entry.measure.metric for entry in entries}
    is_curve = shape.columns == "measure" and len(columns) > 1 and len(metrics) == 1
    if is_curve and all("@" in column for column in first_entries):
        # For one metric at many values of a hyperparameter, the columns are the values alone.
        heading = f"{heading}, {words_for(metrics.pop())}"
        columns = [column.partition("@")[2] for column in first_entries]
    return EntryTable(
        heading=heading,
        corner="data set" if shape.rows == "dataset" else shape.rows,
        columns=tuple(columns),
        rows=rows,
    )


def _name_on_axis(entry: Entry, axis: str) -> str:
    """Return what identifies the row, the column or the table of an entry on one axis.

    `axis`: `dataset`, `model`, `measure` (with its settings), `pair` ("MODEL MEASURE"), or `all`,
    for which all entries have the same name.
    """
    if axis == "dataset":
        return entry.dataset
    if axis == "model":
        return entry.model
    if axis == "measure":
        return entry.measure.column
    if axis == "pair":
        return f"{entry.model} {entry.measure.column}"
    return "measures by model"


def _heading_on_axis(entry: Entry, axis: str, resolved: Resolved) -> str:
    """Return the heading of the row, column or table of an entry on one axis, for readers.

    `axis`: as in `_Shape`. Data sets are spelt as in the paper, and measures have the words of
    `words_for`.
    """
    measure = words_for(entry.measure.column)
    if axis == "dataset":
        return _spelling_of_dataset(entry.dataset, resolved)
    if axis == "measure":
        return measure
    if axis == "pair":
        return f"{entry.model} {measure}"
    return _name_on_axis(entry, axis)


def _spelling_of_dataset(dataset: str, resolved: Resolved) -> str:
    """Return the name of a data set as the paper spells it; "all data sets" for `all`."""
    return "all data sets" if dataset == ALL else resolved.spelling(dataset)

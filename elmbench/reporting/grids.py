"""The figures of a table in the layout of the paper: data sets as rows, models as columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from elmbench.layouts.table import Entry, Section
from elmbench.reporting import group_by
from elmbench.specs.profiles import Resolved
from elmbench.specs.published import ALL


@dataclass(frozen=True)
class Grid:
    """A table in the paper's shape.

    All figures share `heading`: a measure, a data set or a model. `corner` is the kind of the rows. Each row has its
    name and an entry for each column; None if there is none.
    """

    heading: str
    corner: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Entry | None, ...]], ...]

    @property
    def entries(self) -> list[Entry]:
        """The entries, row by row."""
        return [entry for _, entries in self.rows for entry in entries if entry is not None]

    @property
    def has_printed(self) -> bool:
        """True if the paper prints one of these figures."""
        return any(entry.published for entry in self.entries)

    @property
    def measures(self) -> set[str]:
        """The metrics of its figures."""
        return {entry.measure.metric for entry in self.entries}


def grids_of(section: Section, resolved: Resolved) -> list[Grid]:
    """Return the figures of a section as grids, those with published figures first.

    There is a grid of data sets and models for each measure. A single model has a grid of data sets and measures, a
    table with a single data set one of models and measures, and models that have few measures in common one of data
    sets and the measures of each model.
    """
    entries = [entry for entry in section.entries if entry.shown or entry.published is not None]
    models, measures, datasets, pairs = (
        {_name(entry, axis) for entry in entries} for axis in ("model", "measure", "dataset", "pair")
    )
    if len(models) <= 1:
        shape = ("dataset", "measure", "model")
    elif len({*datasets, *resolved.file.spec.datasets}) <= 1:
        shape = ("model", "measure", "dataset")
    elif len(pairs) <= len(models) * len(measures) / 2:
        shape = ("dataset", "pair", "all")
    else:
        shape = ("dataset", "model", "measure")
    # Unless the columns are models, the printed ones have a separate grid.
    printed = {(_name(e, shape[2]), _name(e, shape[1])) for e in entries if e.published is not None}

    def grid_of(entry: Entry) -> tuple[str, bool]:
        name = _name(entry, shape[2])
        return name, shape[1] == "model" or (name, _name(entry, shape[1])) in printed

    groups = group_by(entries, grid_of)
    order = list(dict.fromkeys(name for name, _ in groups))
    keys = sorted(groups, key=lambda key: (order.index(key[0]), not key[1]))
    return sorted((_grid(groups[key], shape, resolved) for key in keys), key=lambda grid: not grid.has_printed)


def _grid(entries: Sequence[Entry], shape: tuple[str, str, str], resolved: Resolved) -> Grid:
    """Return a grid of entries. `shape` names the axis of its rows, of its columns and of its heading."""
    row, column, heading_axis = shape
    by_names = {(_name(entry, row), _name(entry, column)): entry for entry in entries}
    rows, columns = (list(dict.fromkeys(_name(entry, axis) for entry in entries)) for axis in (row, column))
    lines = tuple((_spell(row, r, resolved), tuple(by_names.get((r, c)) for c in columns)) for r in rows)
    heading, titles = _spell(heading_axis, _name(entries[0], heading_axis), resolved), tuple(columns)
    metrics = {entry.measure.metric for entry in entries}
    if column == "measure" and len(columns) > 1 and all("@" in title for title in titles) and len(metrics) == 1:
        # For one metric at many values of a hyperparameter, the columns are the values alone.
        heading, titles = f"{heading}, {metrics.pop()}", tuple(title.partition("@")[2] for title in titles)
    return Grid(heading, "data set" if row == "dataset" else row, titles, lines)


def _name(entry: Entry, axis: str) -> str:
    """Return the name of the row, the column or the grid of an entry."""
    if axis == "dataset":
        return entry.dataset
    model, measure = entry.model, entry.measure.column
    return {"model": model, "measure": measure, "pair": f"{model} {measure}", "all": "measures by model"}[axis]


def _spell(axis: str, name: str, resolved: Resolved) -> str:
    """Return the heading for a label on an axis of a grid."""
    if axis != "dataset":
        return name
    return "all data sets" if name == ALL else resolved.spelling(name)

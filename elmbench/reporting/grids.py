"""The figures of a table in the layout of the paper: data sets as rows, models as columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import SupportsFloat

from elmbench.layouts.table import Entry, Section
from elmbench.metrics import less_is_better
from elmbench.reporting import group_by
from elmbench.specs.profiles import Resolved
from elmbench.specs.protocol import is_quality
from elmbench.specs.published import ALL


@dataclass(frozen=True)
class GridFigure:
    """One figure of a grid.

    `best` and `best_printed` are True if our mean, or the printed figure, is the best of the models on that data set;
    never for times and sizes.
    """

    entry: Entry
    best: bool = False
    best_printed: bool = False

    @cached_property
    def names(self) -> dict[str, str]:
        """The label of this figure on each axis that a grid can have: data set, model, measure, ..."""
        model, measure = self.entry.model, self.entry.measure.column
        names = {"dataset": self.entry.dataset, "model": model, "measure": measure}
        return names | {"pair": f"{model} {measure}", "all": "measures by model"}


@dataclass(frozen=True)
class Grid:
    """A table in the paper's shape.

    All figures share `heading`: a measure, a data set or a model. `corner` is the kind of the rows. Each row has its
    name and a figure for each column; None if there is none.
    """

    heading: str
    corner: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[GridFigure | None, ...]], ...]

    @property
    def figures(self) -> list[GridFigure]:
        """The figures, row by row."""
        return [figure for _, figures in self.rows for figure in figures if figure is not None]

    @property
    def has_printed(self) -> bool:
        """True if the paper prints one of these figures."""
        return any(figure.entry.published for figure in self.figures)

    @property
    def measures(self) -> set[str]:
        """The metrics of its figures."""
        return {figure.entry.measure.metric for figure in self.figures}


def grids_of(section: Section, resolved: Resolved) -> list[Grid]:
    """Return the figures of a section as grids, those with published figures first.

    There is a grid of data sets and models for each measure. A single model has a grid of data sets and measures, a
    table with a single data set one of models and measures, and models that have few measures in common one of data
    sets and the measures of each model.
    """
    best = _best((entry, entry.mean) for entry in section.entries)
    printed = _best((entry, entry.published.value) for entry in section.entries if entry.published)
    figures = [
        GridFigure(entry, id(entry) in best, id(entry) in printed)
        for entry in section.entries
        if entry.shown is not None or entry.published is not None
    ]
    models, measures, datasets, pairs = (
        {figure.names[axis] for figure in figures} for axis in ("model", "measure", "dataset", "pair")
    )
    if len(models) <= 1:
        shape = ("dataset", "measure", "model")
    elif len({*datasets, *resolved.file.spec.datasets}) <= 1:
        shape = ("model", "measure", "dataset")
    elif len(pairs) <= len(models) * len(measures) / 2:
        shape = ("dataset", "pair", "all")
    else:
        shape = ("dataset", "model", "measure")
    # If the columns are measures, the printed ones have a separate grid.
    in_print = {(f.names[shape[2]], f.names["measure"]) for f in figures if f.entry.published is not None}

    def grid_of(figure: GridFigure) -> tuple[str, bool]:
        name = figure.names[shape[2]]
        return name, shape[1] != "measure" or (name, figure.names["measure"]) in in_print

    groups = group_by(figures, grid_of)
    order = list(dict.fromkeys(name for name, _ in groups))
    keys = sorted(groups, key=lambda key: (order.index(key[0]), not key[1]))
    return sorted((_grid(groups[key], shape, resolved) for key in keys), key=lambda grid: not grid.has_printed)


def _grid(figures: Sequence[GridFigure], shape: tuple[str, str, str], resolved: Resolved) -> Grid:
    """Return a grid of figures. `shape` names the axis of its rows, of its columns and of its heading."""
    row, column, heading_axis = shape
    by_names = {(figure.names[row], figure.names[column]): figure for figure in figures}
    rows, columns = (list(dict.fromkeys(figure.names[axis] for figure in figures)) for axis in (row, column))
    lines = tuple((_spell(row, r, resolved), tuple(by_names.get((r, c)) for c in columns)) for r in rows)
    heading, titles = _spell(heading_axis, figures[0].names[heading_axis], resolved), tuple(columns)
    metrics = {figure.entry.measure.metric for figure in figures}
    if column == "measure" and len(columns) > 1 and all("@" in title for title in titles) and len(metrics) == 1:
        # For one metric at many values of a hyperparameter, the columns are the values alone.
        heading, titles = f"{heading}, {metrics.pop()}", tuple(title.partition("@")[2] for title in titles)
    return Grid(heading, "data set" if row == "dataset" else row, titles, lines)


def _spell(axis: str, name: str, resolved: Resolved) -> str:
    """Return the heading for a label on an axis of a grid."""
    if axis != "dataset":
        return name
    return "all data sets" if name == ALL else resolved.spelling(name)


def _best(values: Iterable[tuple[Entry, SupportsFloat | None]]) -> set[int]:
    """Return the entries (by `id`) whose value is the best of two models or more on their data set."""
    pairs = [(entry, float(value)) for entry, value in values if value is not None and is_quality(entry.measure.metric)]
    best = set()
    for group in group_by(pairs, lambda pair: (pair[0].dataset, pair[0].measure.column)).values():
        pick = min if less_is_better(group[0][0].measure.metric) else max
        limit = pick(value for _, value in group)
        best |= {id(entry) for entry, value in group if value == limit and len(group) > 1}
    return best

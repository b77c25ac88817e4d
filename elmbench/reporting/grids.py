"""The figures of a table in the shape that papers print them in: data sets as rows, models as columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from elmbench.layouts.base import Entry
from elmbench.metrics import less_is_better
from elmbench.reporting.tables import EntrySection
from elmbench.specs.profiles import Resolved
from elmbench.specs.protocol import is_quality
from elmbench.specs.published import ALL

#: How a place in a grid is named: the data set, the model, the measure, the last two together, all alike.
_AXES = ("dataset", "model", "measure", "pair", "all")
_CORNERS = {"dataset": "data set", "model": "model", "measure": "measure"}


@dataclass(frozen=True)
class Place:
    """One figure of a grid.

    Attributes
    ----------
    entry : Entry
    line : dict
        Its line of `summary.csv`.
    best, best_printed : bool
        Whether our mean, or the printed figure, is the best of the models on that data set; of times and sizes none is.
    """

    entry: Entry
    line: Mapping[Any, Any]
    best: bool = False
    best_printed: bool = False


@dataclass(frozen=True)
class Grid:
    """A table in the paper's shape.

    Attributes
    ----------
    heading : str
        What all its figures share: a measure, a data set or a model.
    corner : str
        What its rows are: data sets or models.
    columns : tuple of str
    rows : tuple of (str, tuple of Place or None)
        The name of each row and its places, one for each column; None where there is nothing.
    """

    heading: str
    corner: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Place | None, ...]], ...]

    @property
    def has_printed(self) -> bool:
        """Whether the paper prints one of these figures."""
        return any(place.entry.published for _, places in self.rows for place in places if place is not None)

    @property
    def measures(self) -> set[str]:
        """The metrics of its figures."""
        return {place.entry.measure.metric for place in self.places}

    @property
    def places(self) -> list[Place]:
        """The figures, row by row."""
        return [place for _, places in self.rows for place in places if place is not None]


def grids_of(section: EntrySection, resolved: Resolved) -> list[Grid]:
    """Return the figures of a section as grids, those with published figures first.

    There is a grid of data sets and models for each measure. Of a single model there is one of data sets and measures,
    of a table with a single data set one of models and measures, of models that have few measures in common one of data
    sets and the measures of each model.
    """
    best = _best(section.entries, lambda entry: entry.mean)
    printed = _best(section.entries, _printed)
    places = [
        Place(entry, line, id(entry) in best, id(entry) in printed)
        for entry, line in zip(section.entries, section.lines, strict=True)
        if entry.found is not None or entry.published is not None
    ]
    names = {axis: list(dict.fromkeys(_names(place)[axis] for place in places)) for axis in _AXES}
    if len(names["model"]) <= 1:
        shape = ("dataset", "measure", "model")
    elif len({*names["dataset"], *resolved.file.spec.datasets}) <= 1:
        shape = ("model", "measure", "dataset")
    elif (
        len({(place.entry.model, place.entry.measure) for place in places})
        <= len(names["model"]) * len(names["measure"]) / 2
    ):
        shape = ("dataset", "pair", "all")
    else:
        shape = ("dataset", "model", "measure")
    grids = [grid for name in names[shape[2]] for grid in _split(places, name, shape, resolved)]
    return sorted(grids, key=lambda grid: not grid.has_printed)


def _split(places: Sequence[Place], name: str, shape: tuple[str, str, str], resolved: Resolved) -> list[Grid]:
    """Return a grid of all places with a name, or two where columns are measures that the paper prints only in part."""
    own = [place for place in places if _names(place)[shape[2]] == name]
    if shape[1] != "measure":
        return [_grid(own, name, shape, resolved)]
    printed = {place.entry.measure.column for place in own if place.entry.published is not None}
    parts = [[place for place in own if (place.entry.measure.column in printed) is told] for told in (True, False)]
    return [_grid(part, name, shape, resolved) for part in parts if part]


def _grid(places: Sequence[Place], name: str, shape: tuple[str, str, str], resolved: Resolved) -> Grid:
    row, column, other = shape
    shown = {(_names(place)[row], _names(place)[column]): place for place in places}
    rows, columns = (list(dict.fromkeys(_names(place)[axis] for place in places)) for axis in (row, column))

    def said(axis: str, text: str) -> str:
        return _dataset(text, resolved) if axis == "dataset" else text

    lines = tuple((said(row, r), tuple(shown.get((r, c)) for c in columns)) for r in rows)
    heading, titles = said(other, name), tuple(said(column, c) for c in columns)
    metrics = {place.entry.measure.metric for place in places}
    if column == "measure" and len(columns) > 1 and all("@" in title for title in titles) and len(metrics) == 1:
        # One metric at many values of something: a column says the value alone.
        heading, titles = f"{heading}, {metrics.pop()}", tuple(title.partition("@")[2] for title in titles)
    return Grid(heading, _CORNERS[row], titles, lines)


def _names(place: Place) -> dict[str, str]:
    entry = place.entry
    model, measure = entry.model, entry.measure.column
    return dict(zip(_AXES, (entry.dataset, model, measure, f"{model} {measure}", "measures by model"), strict=True))


def _dataset(name: str, resolved: Resolved) -> str:
    return "all data sets" if name == ALL else resolved.spelling(name)


def _printed(entry: Entry) -> float | None:
    figure = entry.published
    return None if figure is None or figure.value is None else float(figure.value)


def _best(entries: Iterable[Entry], value_of: Callable[[Entry], float | None]) -> set[int]:
    """Return which entries (by `id`) are the best of two models or more on their data set."""
    groups: dict[tuple[str, str], list[tuple[float, Entry]]] = {}
    for entry in entries:
        value = value_of(entry)
        if value is not None and is_quality(entry.measure.metric):
            groups.setdefault((entry.dataset, entry.measure.column), []).append((value, entry))
    found = set()
    for group in groups.values():
        if len(group) > 1:
            less = less_is_better(group[0][1].measure.metric)
            best = (min if less else max)(value for value, _ in group)
            found |= {id(entry) for value, entry in group if value == best}
    return found

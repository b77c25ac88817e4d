"""The table of an experiment, built from its summary and its cells, and its figures in the layout
of the paper.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from elmbench.judging.claim_outcomes import ClaimOutcome
from elmbench.judging.summary import ENTRY, FIGURE
from elmbench.judging.verdict_words import COMPLETE, NOT_MEASURED
from elmbench.metrics import less_is_better
from elmbench.numerics.significance import without_round_off
from elmbench.report.notes import table_notes
from elmbench.results import group_by
from elmbench.results.cells import LIMITS
from elmbench.specs.measures import Measure
from elmbench.specs.profiles import Resolved
from elmbench.specs.protocol import MEASURES, is_quality
from elmbench.specs.published import ALL
from elmbench.tables import kind_of_table
from elmbench.tables.base import TableKind
from elmbench.tables.number_texts import ending, quantity, three_figures
from elmbench.tables.result_table import Entry, ResultTable, Section

#: The description of each selection; `nested` may go by a criterion other than the score on inner
#: folds.
_HOW = {
    "published": "hyperparameters fixed at the paper's",
    "nested": "hyperparameters chosen on inner folds of the training part",
    "oracle": "hyperparameters of the best mean over the outer test folds",
    "dcs-gaussians": "hyperparameters of the largest D_CS of the two classes' projected training "
    "rows, as Gaussians",
    "dcs-kde": "hyperparameters of the largest D_CS of the two classes' projected training rows, "
    "by kernel densities",
}


def build_table(
    summary: pd.DataFrame,
    cells: pd.DataFrame,
    gains: pd.DataFrame,
    claims: Sequence[ClaimOutcome],
    resolved: Resolved,
) -> ResultTable:
    """Return the table of a summary, the default readings and the table's first selection first."""
    layout = kind_of_table(resolved)
    columns = layout.columns(resolved, list(dict.fromkeys(cells["dataset"])))
    if all(column.name != "optimism" for column in columns):
        gains = gains.iloc[:0]
    sections = []
    criterion = resolved.spec.protocol.criterion
    for (reading, select), group in summary.groupby(["reading", "select"], sort=False):
        rule = criterion if select == "nested" and criterion in _HOW else str(select)
        how = layout.heading(resolved) or f"{select}: {_HOW[rule]}"
        readings = resolved.file.paper.read_label(str(reading))
        lines = gains[(gains["reading"] == reading) & (select == "oracle")]
        optimism = lines.set_index(["dataset", "model"])["optimism"].to_dict()
        entries = tuple(_entries(group, cells, optimism, layout, resolved))
        sections.append(
            Section(how, readings, tuple(layout.lines(entries, resolved)), str(select), entries)
        )
    spec = resolved.file.spec
    paper = resolved.file.paper
    if paper.authors:
        profile = (
            _coverage(resolved, cells) if layout.shows_profile else f"Profile {resolved.profile}."
        )
        subtitle = f"{paper.citation}. {profile}"
    else:  # a user's data
        subtitle = _protocol(resolved)
    datasets = {*cells["dataset"], *summary["dataset"]} or set(resolved.datasets)
    notes = tuple(table_notes(cells, gains, claims, datasets, resolved))
    return ResultTable(f"{spec.label}: {spec.title}", subtitle, columns, tuple(sections), notes)


def _protocol(resolved: Resolved) -> str:
    """Describe the splits and the search of a comparison in words."""
    protocol = resolved.spec.protocol
    outer = protocol.outer
    rows = resolved.settings.tune_rows
    runs = f", {outer.runs} runs" if outer.runs > 1 else ""
    searched = (
        f"at most {rows} rows of each training part, in " if rows else "each training part, in "
    )
    inner = f"{protocol.inner.folds} inner folds"
    kinds = sorted({outer.split(spec.name, spec.task).kind for spec in resolved.datasets.values()})
    parts = (
        f"{outer.folds} outer folds ({', '.join(kinds)})"
        if outer.folds > 1
        else "one held-out test part"
    )
    return f"{parts}{runs}; hyperparameters are searched on {searched}{inner}."


def _coverage(resolved: Resolved, cells: pd.DataFrame) -> str:
    """Return the profile of a table, its runs and its departures from the printed protocol."""
    runs = cells.groupby(["dataset", "model"])["run"].nunique()
    if not len(runs):
        return f"Profile {resolved.profile}: no cell has ended yet."
    smallest = int(runs.min())
    largest = int(runs.max())
    ran = (
        f"{smallest} run{'s' * (smallest != 1)}"
        if smallest == largest
        else f"{smallest} to {largest} runs"
    )
    if resolved.profile == "paper":
        planned = resolved.spec.protocol.outer.runs
        return f"Profile paper: the protocol as printed, {ran}" + (
            "." if smallest >= planned else f" of {planned}."
        )
    settings = resolved.settings
    departures = {
        f"{', '.join(settings.stand_ins)} in place of the paper's data": settings.stand_ins,
        f"at most {settings.rows} rows of a data set": settings.rows,
        f"{settings.folds} folds": settings.folds,
        "thinned grids": (settings.thin_grids or 1) > 1,
    }
    ran = "; ".join([ran, *(text for text, departs in departures.items() if departs)])
    return f"Profile {resolved.profile}: {ran}; not a reproduction of the printed protocol."


def _entries(
    summary: pd.DataFrame,
    cells: pd.DataFrame,
    optimism: dict[Any, float],
    layout: TableKind,
    resolved: Resolved,
) -> Iterator[Entry]:
    """Yield the entries of a table: our value beside the published one, a line of the summary each.

    The best of two models or more on a data set is marked, of our complete means and of the
    published figures.
    """
    params = _common_params(cells) if layout.ranks else {}
    measures_of = cache(
        lambda *entry: {measure.column: measure for measure in layout.measures(resolved, *entry)}
    )
    measures = [
        Measure(column) if ended == NOT_MEASURED else measures_of(dataset, model)[column]
        for dataset, model, column, ended in summary[[*FIGURE, "ended"]].itertuples(
            index=False, name=None
        )
    ]
    metrics = [measure.metric for measure in measures]
    scorers = {*resolved.spec.protocol.metrics} - {*MEASURES}
    signs = [
        (-1.0 if less_is_better(metric) else 1.0)
        if is_quality(metric) or metric in scorers
        else np.nan
        for metric in metrics
    ]
    means = summary["mean"].where(
        summary["ended"] == COMPLETE
    )  # the other folds may be the easier ones
    scores = (
        pd.DataFrame({"mean": means, "published": summary["published"]})
        .astype(float)
        .mul(signs, axis=0)
    )
    scores = without_round_off(scores)
    rows = scores.groupby([summary["dataset"], summary["metric"]])
    is_best = (
        ((scores == rows.transform("max")) & (rows.transform("count") > 1)).to_numpy().tolist()
    )
    for line, measure, best in zip(summary.to_dict("records"), measures, is_best, strict=True):
        entry = line["dataset"], line["model"]
        mean = None if pd.isna(line["mean"]) else float(line["mean"])
        shown = _mean_or_ending(line, measure, cells, layout, resolved)
        published = resolved.published.get((*entry, line["metric"]))
        gain = optimism.get(entry)
        yield Entry(
            *entry,
            measure,
            mean,
            shown,
            published,
            line["verdict"],
            gain,
            params.get(entry, ""),
            *best,
        )


def _common_params(cells: pd.DataFrame) -> dict[Any, str]:
    """Return the hyperparameters that most folds choose, by data set and model, and their share
    unless all do.
    """
    texts = {}
    for entry, params in cells[cells["status"] == COMPLETE].groupby(["dataset", "model"])["params"]:
        ((text, count),) = Counter(params).most_common(1)
        words = " ".join(
            f"{name}={three_figures(value) if isinstance(value, float) and value > 0 else value}"
            for name, value in json.loads(text).items()
        )
        texts[entry] = words if count == len(params) else f"{words} ({count} of {len(params)})"
    return texts


def _mean_or_ending(
    line: dict[Any, Any],
    measure: Measure,
    cells: pd.DataFrame,
    layout: TableKind,
    resolved: Resolved,
) -> str:
    """Return the mean of an entry with its digits, or the ending of its cells, if there is
    either.
    """
    status = line["ended"]
    if pd.isna(line["mean"]):
        if status in (COMPLETE, NOT_MEASURED):
            return ""
        if status != "timeout":
            return ending(status)
        entry = cells[
            (cells[[*ENTRY, "status"]] == [line[name] for name in (*ENTRY, "ended")]).all(axis=1)
        ]
        limits = {
            name: seconds
            for name in LIMITS
            if name in entry
            for seconds in entry[name].dropna().head(1)
        }
        # A search that was stopped counts as a fit, unless searches may take longer than fits.
        search = "search " * ("fit_limit" not in limits and bool(resolved.spec.search_limit))
        return f"{search}> {next(iter(limits.values())):g} s" if limits else status
    figure = resolved.published.get((line["dataset"], line["model"], line["metric"]))
    std = None if pd.isna(line["std"]) else float(line["std"])
    ok = None if status == COMPLETE else int(line["n"])
    return quantity(float(line["mean"]), std, layout.places(measure, figure), ok)


@dataclass(frozen=True)
class TableGrid:
    """A table in the paper's shape.

    All figures share `heading`: a measure, a data set or a model. `corner` is the kind of the rows.
    Each row has its name and an entry for each column; None if there is none.
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


def grids_of(section: Section, resolved: Resolved) -> list[TableGrid]:
    """Return the figures of a section as grids, those with published figures first.

    There is a grid of data sets and models for each measure. A single model has a grid of data sets
    and measures, a table with a single data set one of models and measures, and models that have
    few measures in common one of data sets and the measures of each model.
    """
    entries = [entry for entry in section.entries if entry.shown or entry.published is not None]
    axes = ("model", "measure", "dataset", "pair")
    models, measures, datasets, pairs = ({_name(entry, axis) for entry in entries} for axis in axes)
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
    return sorted(
        (_grid(groups[key], shape, resolved) for key in keys), key=lambda grid: not grid.has_printed
    )


def _grid(entries: Sequence[Entry], shape: tuple[str, str, str], resolved: Resolved) -> TableGrid:
    """Return a grid of entries. `shape` names the axis of its rows, of its columns and of its
    heading.
    """
    row, column, heading_axis = shape
    by_names = {(_name(entry, row), _name(entry, column)): entry for entry in entries}
    rows, columns = (
        list(dict.fromkeys(_name(entry, axis) for entry in entries)) for axis in (row, column)
    )
    lines = tuple(
        (_spell(row, r, resolved), tuple(by_names.get((r, c)) for c in columns)) for r in rows
    )
    heading = _spell(heading_axis, _name(entries[0], heading_axis), resolved)
    titles = tuple(columns)
    metrics = {entry.measure.metric for entry in entries}
    if (
        column == "measure"
        and len(columns) > 1
        and all("@" in title for title in titles)
        and len(metrics) == 1
    ):
        # For one metric at many values of a hyperparameter, the columns are the values alone.
        heading = f"{heading}, {metrics.pop()}"
        titles = tuple(title.partition("@")[2] for title in titles)
    return TableGrid(heading, "data set" if row == "dataset" else row, titles, lines)


def _name(entry: Entry, axis: str) -> str:
    """Return the name of the row, the column or the grid of an entry."""
    if axis == "dataset":
        return entry.dataset
    model = entry.model
    measure = entry.measure.column
    return {
        "model": model,
        "measure": measure,
        "pair": f"{model} {measure}",
        "all": "measures by model",
    }[axis]


def _spell(axis: str, name: str, resolved: Resolved) -> str:
    """Return the heading for a label on an axis of a grid."""
    if axis != "dataset":
        return name
    return "all data sets" if name == ALL else resolved.spelling(name)

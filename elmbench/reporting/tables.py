"""The table of an experiment, built from its summary and its cells."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from elmbench.layouts import layout_of
from elmbench.layouts.base import Layout
from elmbench.layouts.table import COMPLETE, NOT_MEASURED, Entry, ResultTable, Section, ending, quantity, three_figures
from elmbench.metrics import less_is_better
from elmbench.reporting.cells import LIMITS
from elmbench.reporting.claim_outcomes import ClaimOutcome
from elmbench.reporting.notes import table_notes
from elmbench.reporting.summary import ENTRY
from elmbench.specs.measures import Measure
from elmbench.specs.profiles import Resolved
from elmbench.specs.protocol import is_quality

#: The description of each selection; `nested` may go by a criterion other than the score on inner folds.
_HOW = {
    "published": "hyperparameters fixed at the paper's",
    "nested": "hyperparameters chosen on inner folds of the training part",
    "oracle": "hyperparameters of the best mean over the outer test folds",
    "dcs-gaussians": "hyperparameters of the largest D_CS of the two classes' projected training rows, as Gaussians",
    "dcs-kde": "hyperparameters of the largest D_CS of the two classes' projected training rows, by kernel densities",
}


def build_table(
    summary: pd.DataFrame, cells: pd.DataFrame, gains: pd.DataFrame, claims: Sequence[ClaimOutcome], resolved: Resolved
) -> ResultTable:
    """Return the table of a summary, the default readings and the table's first selection first."""
    layout = layout_of(resolved)
    columns = layout.columns(resolved, list(dict.fromkeys(cells["dataset"])))
    if all(column.name != "optimism" for column in columns):
        gains = gains.iloc[:0]
    sections, criterion = [], resolved.spec.protocol.criterion
    for (reading, select), group in summary.groupby(["reading", "select"], sort=False):
        rule = criterion if select == "nested" and criterion in _HOW else str(select)
        how = layout.heading(resolved) or f"{select}: {_HOW[rule]}"
        readings = resolved.file.paper.read_label(str(reading))
        lines = gains[(gains["reading"] == reading) & (select == "oracle")]
        optimism = lines.set_index(["dataset", "model"])["optimism"].to_dict()
        entries = tuple(_with_best(list(_entries(group, cells, optimism, layout, resolved))))
        sections.append(Section(how, readings, tuple(layout.lines(entries, resolved)), str(select), entries))
    spec, paper = resolved.file.spec, resolved.file.paper
    if paper.authors:
        profile = _coverage(resolved, cells) if layout.shows_profile else f"Profile {resolved.profile}."
        subtitle = f"{paper.citation}. {profile}"
    else:  # a user's data
        subtitle = _protocol(resolved)
    datasets = {*cells["dataset"], *summary["dataset"]} or set(resolved.datasets)
    notes = tuple(table_notes(cells, gains, claims, datasets, resolved))
    return ResultTable(f"{spec.label}: {spec.title}", subtitle, columns, tuple(sections), notes)


def _protocol(resolved: Resolved) -> str:
    """Describe the splits and the search of a comparison in words."""
    protocol = resolved.spec.protocol
    outer, rows = protocol.outer, resolved.settings.tune_rows
    runs = f", {outer.runs} runs" if outer.runs > 1 else ""
    searched = f"at most {rows} rows of each training part, in " if rows else "each training part, in "
    inner = f"{protocol.inner.folds} inner folds"
    kinds = sorted({outer.split(spec.name, spec.task).kind for spec in resolved.datasets.values()})
    parts = f"{outer.folds} outer folds ({', '.join(kinds)})" if outer.folds > 1 else "one held-out test part"
    return f"{parts}{runs}; hyperparameters are searched on {searched}{inner}."


def _coverage(resolved: Resolved, cells: pd.DataFrame) -> str:
    """Return the profile of a table, its runs and its departures from the printed protocol."""
    runs = cells.groupby("dataset")["run"].nunique()
    if not len(runs):
        return f"Profile {resolved.profile}: no cell has ended yet."
    smallest, largest = int(runs.min()), int(runs.max())
    ran = f"{smallest} run{'s' * (smallest != 1)}" if smallest == largest else f"{smallest} to {largest} runs"
    if resolved.profile == "paper":
        planned = resolved.spec.protocol.outer.runs
        return f"Profile paper: the protocol as printed, {ran}" + ("." if smallest >= planned else f" of {planned}.")
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
    summary: pd.DataFrame, cells: pd.DataFrame, optimism: dict[Any, float], layout: Layout, resolved: Resolved
) -> Iterator[Entry]:
    """Yield the entries of a table: our value beside the published one, a line of the summary each."""
    params = _common_params(cells) if layout.ranks else {}
    measures_of = cache(lambda *entry: {measure.column: measure for measure in layout.measures(resolved, *entry)})
    for line in summary.to_dict("records"):
        entry, column = (line["dataset"], line["model"]), line["metric"]
        measure = Measure(column) if line["ended"] == NOT_MEASURED else measures_of(*entry)[column]
        mean = None if pd.isna(line["mean"]) else float(line["mean"])
        shown = _mean_or_ending(line, measure, cells, layout, resolved)
        published, gain = resolved.published.get((*entry, column)), optimism.get(entry)
        yield Entry(*entry, measure, mean, shown, published, line["verdict"], gain, params.get(entry, ""))


def _with_best(entries: Sequence[Entry]) -> Iterator[Entry]:
    """Yield entries, with those marked that are the best of two models or more on their data set."""
    printed = [entry.published.value if entry.published else None for entry in entries]
    values = pd.DataFrame({"ours": [entry.mean for entry in entries], "printed": printed}, dtype=float)
    metrics = [entry.measure.metric for entry in entries]
    signs = [(-1.0 if less_is_better(metric) else 1.0) if is_quality(metric) else np.nan for metric in metrics]
    scores = values.mul(signs, axis=0)
    rows = scores.groupby([[entry.dataset for entry in entries], [entry.measure.column for entry in entries]])
    is_best = (scores == rows.transform("max")) & (rows.transform("count") > 1)
    for entry, (ours, paper) in zip(entries, is_best.to_numpy().tolist(), strict=True):
        yield replace(entry, best=ours, best_printed=paper)


def _common_params(cells: pd.DataFrame) -> dict[Any, str]:
    """Return the hyperparameters that most folds choose, by data set and model, and their share unless all do."""
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
    line: dict[Any, Any], measure: Measure, cells: pd.DataFrame, layout: Layout, resolved: Resolved
) -> str:
    """Return the mean of an entry with its digits, or the ending of its cells, if there is either."""
    status = line["ended"]
    if pd.isna(line["mean"]):
        if status in (COMPLETE, NOT_MEASURED):
            return ""
        if status != "timeout":
            return ending(status)
        entry = cells[(cells[[*ENTRY, "status"]] == [line[name] for name in (*ENTRY, "ended")]).all(axis=1)]
        limits = {name: seconds for name in LIMITS if name in entry for seconds in entry[name].dropna().head(1)}
        # A search that was stopped counts as a fit, unless searches may take longer than fits.
        search = "search " * ("fit_limit" not in limits and bool(resolved.spec.search_limit))
        return f"{search}> {next(iter(limits.values())):g} s" if limits else status
    figure = resolved.published.get((line["dataset"], line["model"], line["metric"]))
    std = None if pd.isna(line["std"]) else float(line["std"])
    ok = None if status == COMPLETE else int(line["n"])
    return quantity(float(line["mean"]), std, layout.places(measure, figure), ok)

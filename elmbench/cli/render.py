"""Tables for the terminal, within 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, Literal

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from elmbench.cli.progress import duration
from elmbench.reporting.tables import NUMERIC, Table
from elmbench.specs.catalogue import ExperimentFile

_COLOURS = {"agrees": "green", "near": "yellow", "differs": "red", "failed": "red"}


def grid(
    headings: Sequence[str], rows: Iterable[Sequence[Any]], right: Sequence[str] = (), whole: Sequence[str] = ()
) -> RichTable:
    """Return a table of text without lines.

    Parameters
    ----------
    headings : sequence of str
    rows : iterable of sequences
    right : sequence of str
        Headings of the columns that are set flush right.
    whole : sequence of str
        Headings of the columns whose words are not to be broken: the others give way.
    """
    shown = any(headings)
    table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False, show_header=shown)
    for heading in headings:
        justify: Literal["left", "right"] = "right" if heading in right else "left"
        table.add_column(heading, justify=justify, overflow="fold", no_wrap=heading in whole)
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(str(cell)) for cell in row))
    return table


def table_text(table: Table) -> RenderableType:
    """Return a table of results beside the published values."""
    parts: list[RenderableType] = [Text(f"\n{table.title}", style="bold"), Text(table.subtitle)]
    # A data set has a line of its own above its models: a column of its name leaves too little for the figures.
    for section in table.sections:
        shown = table.columns_of(section, narrow=True)
        columns = {name: title for name, title in shown.items() if name != "dataset"}
        first, *others = columns
        right = [columns[name] for name in others if name in NUMERIC]
        rows: list[list[Text]] = []
        previous = ""
        for row in section.rows:
            if row["dataset"] != previous:
                previous = row["dataset"]
                rows.append([Text(previous, style="bold"), *(Text("") for _ in others)])
            values = (Text(row[name], style=_COLOURS.get(row[name], "")) for name in others)
            rows.append([Text("  " + row[first]), *values])
        text = grid(list(columns.values()), rows, right=right, whole=("model", "measure", "verdict"))
        parts += [Text(f"\n{section.heading}", style="italic"), text]
    parts += [Text(""), *(Text(f"- {note}", style="dim") for note in table.notes)] if table.notes else []
    return Group(*parts)


#: More lines than this of a plan are not shown one by one.
_MOST_LINES = 100


def plan_table(lines: list[dict[str, Any]]) -> RichTable:
    """Return what a run would do, a line for each data set and model of a table; of many, one for each data set."""
    if len(lines) > _MOST_LINES:
        lines = _by_dataset(lines)
    rows = [
        (line["experiment"], line["dataset"], line["model"], line["cells"], line["to_run"], line["fits"],
         "no data" if line["unavailable"] else duration(line["seconds"]))
        for line in lines
    ]  # fmt: skip
    right = ("cells", "to run", "fits", "one core")
    left = ("experiment", "data set", "model")
    return grid((*left, *right), rows, right=right, whole=left[1:])


def _by_dataset(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the lines of a plan with those of all models on a data set of a table added up."""
    merged = []
    for (experiment, dataset), group in groupby(lines, key=itemgetter("experiment", "dataset")):
        own = list(group)
        names = f"{len(own)} model{'s' * (len(own) > 1)}"
        counted = ("cells", "to_run", "unavailable", "fits", "seconds")
        totals = {name: sum(line[name] for line in own) for name in counted}
        merged.append({"experiment": experiment, "dataset": dataset, "model": names, **totals})
    return merged


def show_experiment(file: ExperimentFile, costs: dict[str, float]) -> RenderableType:
    """Return what an experiment file says, and what its profiles cost."""
    spec, protocol = file.spec, file.spec.protocol
    outer = protocol.outer
    others = "".join(f", {o.folds} on {name}" for name, o in outer.overrides.items() if o.folds)
    scale = protocol.scale
    criterion = protocol.metrics[0] if protocol.criterion == "score" else protocol.criterion
    how = [
        ("outer splits", f"{outer.kind}, {outer.folds} folds{others}, {outer.runs} run{'s' * (outer.runs != 1)}"),
        ("inner splits", f"{protocol.inner.kind}, {protocol.inner.folds} folds"),
        ("selection", ", ".join(protocol.selections) + f" by {criterion}"),
        ("inputs", f"scaled to {list(scale.range)} over {scale.fit_on} rows" if scale else "as they are"),
        ("order", protocol.order),
        *((f"grid {name}", _values(found.expand())) for name, found in spec.grids.items()),
        ("readings", ", ".join(spec.readings)),
    ]
    facts = [
        ("paper", f"{file.paper.title} ({file.paper.authors}, {file.paper.year}), doi:{file.paper.doi}"),
        ("data", ", ".join(spec.datasets)),
        *(how if spec.models else ()),
        ("cost", ", ".join(f"{profile} {duration(seconds)}" for profile, seconds in costs.items()) + " on one core"),
        ("file", f"experiments/{file.id}.yaml"),
    ]
    models = []
    for column, model in spec.models.items():
        searched = model.search if isinstance(model.search, tuple) else [
            f"{name} in {_values(found.expand())}" for name, found in model.search.items()
        ]  # fmt: skip
        fixed = ", ".join(f"{k}={v}" for k, v in model.params.items())
        models.append((column, model.model, model.like or "", ", ".join(searched), fixed))
    parts: list[RenderableType] = [
        Text(f"{file.id}  {spec.label}: {spec.title}", style="bold"),
        grid(("", ""), facts),
    ]
    if models:
        parts += [Text("\nModels", style="italic"), grid(("column", "model", "like", "searched", "fixed"), models)]
    if file.figures:
        rows = [
            (f.dataset, f.model, f.metric, f"{f.value}" if f.value is not None else f.text or "-", f.std or "", f.note)
            for f in file.figures
        ]
        parts += [
            Text("\nPublished", style="italic"),
            grid(("data set", "model", "metric", "value", "±", "note"), rows, right=("value", "±")),
        ]
    return Group(*parts)


def _values(values: Sequence[Any]) -> str:
    shown = [f"{v:g}" if isinstance(v, float | int) else str(v) for v in values]
    return ", ".join(shown) if len(shown) <= 6 else f"{shown[0]}, {shown[1]}, ..., {shown[-1]} ({len(shown)})"


def readings_text(lines: list[dict[str, Any]]) -> RenderableType:
    """Return each reading as a block: its question, the tables that have it, its values."""
    parts: list[RenderableType] = []
    # Two papers may leave the same thing open, each with a question of its own.
    for name, question in dict.fromkeys((line["reading"], line["question"]) for line in lines):
        own = [line for line in lines if (line["reading"], line["question"]) == (name, question)]
        parts += [Text(f"{name}: {question}", style="bold"), Text(f"in {', '.join(own[0]['tables'])}")]
        values = [(line["value"] + " (default)" * line["default"], line["meaning"]) for line in own]
        parts.append(grid(("value", "meaning"), values))
        parts.append(Text(""))
    return Group(*parts)

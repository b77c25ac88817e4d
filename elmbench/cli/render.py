"""Specs and plans for the terminal, within 80 columns."""

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table as RichTable

from elmbench.cli.options import state
from elmbench.cli.progress import duration
from elmbench.report.writers.text import Text, lines_text
from elmbench.specs.catalogue import ExperimentFile
from elmbench.specs.profiles import resolve
from elmbench.specs.protocol import Scale


def plan_table(lines: list[dict[str, Any]]) -> RichTable:
    """Return the plan of a run: a line for each data set and model, or for each table if there are
    several.
    """
    keys = (
        ["experiment"] if len({line["experiment"] for line in lines}) > 1 else ["dataset", "model"]
    )
    rows = []
    for _, group in groupby(lines, key=itemgetter(*keys)):
        entries = list(group)
        totals = ("cells", "unavailable", "to_run", "fits")
        cells, unavailable, *counts = (sum(line[name] for line in entries) for name in totals)
        seconds = [line["seconds"] for line in entries]
        time = duration(sum(filter(None, seconds)))
        if None in seconds:
            time = f"> {time}" if any(seconds) else "unknown"
        estimate = "no data" if unavailable == cells else time
        rows.append([*(entries[0][name] for name in keys), cells, *counts, estimate])
    names = [name.replace("dataset", "data set") for name in keys]
    numbers = ("cells", "to run", "fits", "one core")
    return lines_text((*names, *numbers), rows, right=numbers, whole=names)


def show_experiment(file: ExperimentFile) -> RenderableType:
    """Return the content of an experiment file."""
    spec = file.spec
    paper = file.paper
    protocol = file.spec.protocol
    outer = protocol.outer
    folds = [f"{outer.folds} folds"] * (outer.folds > 1)
    folds += [
        f"{override.folds} on {name}"
        for name, override in outer.overrides.items()
        if override.folds
    ]
    exceptions = "".join(
        f"; {name} {_scaling(scale)}" for name, scale in protocol.scale_except.items()
    )
    metrics = ", ".join(dict.fromkeys(map(resolve(file, "paper").metric_of, spec.datasets)))
    criterion = metrics if protocol.criterion == "score" else protocol.criterion
    protocol_facts = [
        (
            "outer splits",
            ", ".join([outer.kind, *folds, f"{outer.runs} run{'s' * (outer.runs != 1)}"]),
        ),
        ("inner splits", f"{protocol.inner.kind}, {protocol.inner.folds} folds"),
        ("selection", ", ".join(protocol.selections) + f" by {criterion}"),
        ("inputs", _scaling(protocol.scale) + exceptions),
        ("order", protocol.order),
        *((f"grid {name}", _values(values.expand())) for name, values in spec.grids.items()),
        ("readings", ", ".join(spec.readings)),
    ]
    facts = [
        *([("paper", f"{paper.title}. {paper.citation}")] if paper.title else []),
        ("data", ", ".join(spec.datasets)),
        *(protocol_facts if spec.models else ()),
        ("profiles", ", ".join(file.profiles)),
        ("duration", state.complete(f"elmbench run {file.id} --dry-run")),
        ("file", str(file.path)),
    ]
    models = []
    for column, model in spec.models.items():
        searched = model.search
        if not isinstance(searched, tuple):
            searched = tuple(
                f"{name} in {_values(values.expand())}" for name, values in searched.items()
            )
        fixed, printed = (
            ", ".join(f"{k}={v}" for k, v in params.items())
            for params in (model.params, model.printed)
        )
        overrides = ", ".join(model.overrides)
        models.append(
            (column, model.model, model.like or "", ", ".join(searched), fixed, printed, overrides)
        )
    title = Text(f"{file.id}  {spec.label}: {spec.title}", style="bold")
    parts: list[RenderableType] = [title, lines_text(("", ""), facts)]
    if models:
        columns = ("column", "model", "like", "searched", "fixed", "printed as", "differs on")
        indices = [i for i, _ in enumerate(columns) if i < 2 or any(line[i] for line in models)]
        lines = [[line[i] for i in indices] for line in models]
        parts += [
            Text("\nModels", style="italic"),
            lines_text([columns[i] for i in indices], lines),
        ]
    if file.figures:
        rows = [
            (
                f.dataset,
                f.model,
                f.metric,
                f"{f.value}" if f.value is not None else f.text or "-",
                f.std or "",
                f.note,
            )
            for f in file.figures
        ]
        headings = ("data set", "model", "metric", "value", "±", "note")
        parts += [
            Text("\nPublished", style="italic"),
            lines_text(headings, rows, right=("value", "±")),
        ]
    return Group(*parts)


def _scaling(scale: Scale | None) -> str:
    """Describe a scaling of inputs or targets in words."""
    if scale is None:
        return "as they are"
    if scale.kind == "unit-rows":
        return "each row divided by its length"
    target = f"to {list(scale.range)}" if scale.kind == "range" else f"by {scale.kind}"
    return f"scaled {target} over {scale.fit_on} rows"


def _values(values: Sequence[Any]) -> str:
    """Return the values of a grid as text: at most six, or the first two and the last, with their
    number.
    """
    texts = [f"{v:g}" if isinstance(v, float | int) else str(v) for v in values]
    return (
        ", ".join(texts)
        if len(texts) <= 6
        else f"{texts[0]}, {texts[1]}, ..., {texts[-1]} ({len(texts)})"
    )


def readings_text(lines: list[dict[str, Any]]) -> RenderableType:
    """Return each reading as a block: its question, the tables that have it, its values."""
    parts: list[RenderableType] = []
    # Two papers may have a reading of the same name, with different questions.
    for name, question in dict.fromkeys((line["reading"], line["question"]) for line in lines):
        choices = [
            line for line in lines if (line["reading"], line["question"]) == (name, question)
        ]
        parts += [
            Text(f"{name}: {question}", style="bold"),
            Text(f"in {', '.join(choices[0]['tables'])}"),
        ]
        values = [
            (line["value"] + " (default)" * line["default"], line["meaning"]) for line in choices
        ]
        parts += [lines_text(("value", "meaning"), values), Text("")]
    return Group(*parts)

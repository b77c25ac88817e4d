"""What `elmbench list` and `elmbench show` print, within 80 columns."""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table as RichTable

from elmbench.cli.options import state
from elmbench.cli.progress import duration
from elmbench.errors import amount
from elmbench.report.writers.text import Text, lines_text
from elmbench.specs.experiment_file import ExperimentFile
from elmbench.specs.grids import SearchGrid
from elmbench.specs.model_columns import ModelColumn
from elmbench.specs.papers import Paper
from elmbench.specs.profiles import resolve
from elmbench.specs.scaling import Scale
from elmbench.specs.splits import Outer, Splitter

#: The most missing data sets that a line names.
_MOST_MISSING = 2


def _recorded_time(seconds: float | None) -> str:
    """Return the duration of an earlier run in words; a dash for None, "< 1 s" below a second."""
    if seconds is None:
        return "–"
    return "< 1 s" if seconds < 1 else duration(seconds)


def experiments_text(lines: Sequence[Mapping[str, Any]]) -> RichTable:
    """Return the list of experiments: a row for each, with its data, duration and verdict.

    `lines`: mappings with id, title ("LABEL: TITLE"), data sets, missing data sets (lists of
    names), seconds (None if unknown) and verdict (empty if there is none).
    """
    rows = [
        (
            line["id"],
            _title_text(line["title"].partition(": ")[2], line["missing data sets"]),
            _presence(line),
            _recorded_time(line["seconds"]),
            line["verdict"] or "–",
        )
        for line in lines
    ]
    headings = ("id", "title", "data", "time", "verdict")
    return lines_text(
        headings, rows, right=("time",), whole=("id", "data", "time", "verdict")
    )


def _title_text(title: str, missing: Sequence[str]) -> Text:
    """Return the title of a table; if data sets are missing, a second line names at most
    `_MOST_MISSING` of them.
    """
    text = Text(title)
    if missing:
        names = ", ".join(missing[:_MOST_MISSING])
        more = len(missing) - _MOST_MISSING
        text.append(
            f"\nlacks {names}" + (f" and {more} more" if more > 0 else ""), style="dim"
        )
    return text


def _presence(line: Mapping[str, Any]) -> str:
    """Return "yes", "some" or "no": the data sets of a table that are present.

    `line`: see `experiments_text`.
    """
    n_missing = len(line["missing data sets"])
    if not n_missing:
        return "yes"
    return "no" if n_missing == len(line["data sets"]) else "some"


def experiment_text(file: ExperimentFile) -> RenderableType:
    """Return the content of an experiment file as text."""
    parts: list[RenderableType] = [
        Text(f"{file.id}  {file.spec.label}: {file.spec.title}", style="bold"),
        lines_text(("", ""), _facts(file)),
    ]
    if file.spec.models:
        parts.append(Text("\nModels", style="italic"))
        parts.append(_models_table(file.spec.models, file.spec.grids))
    if file.published.values:
        parts.append(Text("\nPublished", style="italic"))
        parts.append(_published_table(file))
    return Group(*parts)


def paper_text(paper: Paper, tables: Sequence[ExperimentFile]) -> RenderableType:
    """Return a paper with its tables, main claims and readings as text."""
    rows = [
        (file.id, f"{file.spec.label}: {file.spec.title}", len(file.spec.claims))
        for file in tables
    ]
    parts: list[RenderableType] = [
        Text(f"{paper.key}  {paper.title}", style="bold"),
        Text(paper.citation),
        Text(""),
        lines_text(
            ("experiment", "title", "claims"),
            rows,
            right=("claims",),
            whole=("experiment",),
        ),
    ]
    if paper.main_claims:
        parts.append(Text("\nMain claims", style="italic"))
        parts += [
            Text(f'- "{claim.says}" ({claim.where})') for claim in paper.main_claims
        ]
    if paper.readings:
        parts.append(Text("\nReadings", style="italic"))
        parts += [
            Text(f"- {name} ({', '.join(reading.values)})")
            for name, reading in paper.readings.items()
        ]
    command = state.complete(f"elmbench check {tables[0].id} --against published")
    parts.append(Text(f"\nverdicts: {command}"))
    return Group(*parts)


def _facts(file: ExperimentFile) -> list[tuple[str, str]]:
    """Return the name and the text of each setting of an experiment file: paper, data, protocol,
    profiles, the command that estimates the duration, and file.
    """
    paper = file.paper
    spec = file.spec
    datasets = ", ".join(spec.datasets)
    profiles = ", ".join(file.profiles)
    dry_run = f"elmbench run {file.id} --dry-run"
    facts = []
    if paper.title:
        facts.append(("paper", f"{paper.title}. {paper.citation}"))
    facts.append(("data", datasets))
    if spec.models:
        facts += _protocol_facts(file)
    facts.append(("profiles", profiles))
    facts.append(("duration", state.complete(dry_run)))
    facts.append(("file", str(file.path)))
    return facts


def _protocol_facts(file: ExperimentFile) -> list[tuple[str, str]]:
    """Return the name and the text of each setting of a protocol: splits, selection, scaling,
    order, grids and readings. Inner splits and selection are left out if the file names no inner
    splits.
    """
    spec = file.spec
    protocol = spec.protocol
    inputs = "; ".join(
        [
            _scaling(protocol.scale),
            *(
                f"{name} {_scaling(scale)}"
                for name, scale in protocol.scale_except.items()
            ),
        ]
    )
    criterion: str = protocol.criterion
    if criterion == "score":
        metric_of = resolve(file, "paper").metric_of
        criterion = ", ".join(dict.fromkeys(map(metric_of, spec.datasets)))
    facts = [
        ("outer splits", _outer_splits(protocol.outer)),
        ("inputs", inputs),
        ("order", protocol.order),
    ]
    if "inner" in protocol.model_fields_set:
        facts.insert(1, ("inner splits", _inner_splits(protocol.inner)))
        facts.insert(
            2, ("selection", f"{', '.join(protocol.selections)} by {criterion}")
        )
    facts += [
        (f"grid {name}", _values(values)) for name, values in spec.grids.values.items()
    ]
    facts.append(("readings", ", ".join(spec.readings)))
    return facts


def _inner_splits(inner: Splitter) -> str:
    """Describe the inner splits: their kind, and the number of folds or the sizes."""
    parts: list[str] = [inner.kind]
    if inner.folds > 1:
        parts.append(f"{inner.folds} folds")
    if inner.train is not None:
        parts.append(f"train {inner.train}")
    if inner.test is not None:
        parts.append(f"test {inner.test}")
    return ", ".join(parts)


def _outer_splits(outer: Outer) -> str:
    """Describe the outer splits: their kind, the numbers of folds, and the number of runs."""
    parts: list[str] = [outer.kind]
    if outer.folds > 1:
        parts.append(f"{outer.folds} folds")
    for name, override in outer.overrides.items():
        if override.folds:
            parts.append(f"{override.folds} on {name}")
    parts.append(amount(outer.runs, "run"))
    return ", ".join(parts)


def _models_table(models: Mapping[str, ModelColumn], grids: SearchGrid) -> RichTable:
    """Return a row for each column of a table: its model, searched and fixed hyperparameters, and
    more. A heading whose entries are all empty is left out.
    """
    headings = (
        "column",
        "model",
        "like",
        "searched",
        "fixed",
        "printed as",
        "differs on",
    )
    rows = [
        (
            name,
            column.model,
            column.like or "",
            _searched(column, grids),
            _parameters(column.params),
            _parameters(column.printed),
            ", ".join(column.overrides),
        )
        for name, column in models.items()
    ]
    filled = [
        index
        for index in range(len(headings))
        if index < 2 or any(row[index] for row in rows)
    ]
    return lines_text(
        [headings[index] for index in filled],
        [[row[index] for index in filled] for row in rows],
    )


def _searched(column: ModelColumn, grids: SearchGrid) -> str:
    """Return the searched hyperparameters of a column, such as "C, gamma in 1, 2": values follow
    only if they differ from `grids`, those of the table.
    """
    parts = [
        name if values == grids.values.get(name) else f"{name} in {_values(values)}"
        for name, values in column.grid.values.items()
    ]
    return ", ".join(parts)


def _parameters(params: Mapping[str, Any]) -> str:
    """Return parameters as text: "NAME=VALUE", separated by commas."""
    return ", ".join(f"{name}={value}" for name, value in params.items())


def _published_table(file: ExperimentFile) -> RichTable:
    """Return a table with a row for each published value of an experiment."""
    headings = ("data set", "model", "metric", "value", "±", "note")
    rows = [
        (
            published.dataset,
            published.model,
            published.metric,
            (published.text or "–")
            if published.value is None
            else str(published.value),
            published.std or "",
            published.note,
        )
        for published in file.published.values
    ]
    return lines_text(headings, rows, right=("value", "±"))


def _scaling(scale: Scale | None) -> str:
    """Describe a scaling of inputs or targets in words; None is no scaling."""
    if scale is None:
        return "as they are"
    if scale.kind == "unit-rows":
        return "each row divided by its length"
    target = f"to {list(scale.range)}" if scale.kind == "range" else f"by {scale.kind}"
    return f"scaled {target} over {scale.fit_on} rows"


def _values(values: Sequence[Any]) -> str:
    """Return the values of a grid as text: all of at most six, else the first two, the last and the
    number of values.
    """
    texts = [
        f"{value:g}" if isinstance(value, float | int) else str(value)
        for value in values
    ]
    if len(texts) <= 6:
        return ", ".join(texts)
    return f"{texts[0]}, {texts[1]}, ..., {texts[-1]} ({len(texts)})"


def readings_text(lines: list[dict[str, Any]]) -> RenderableType:
    """Return each reading as a block: its question, the tables that have it, its values.

    `lines`: one for each value of a reading, with reading (its id), question, value, default (True
    for the default value), meaning and tables (a list of ids).
    """
    # Two papers may have a reading of the same name, with different questions.
    key = itemgetter("reading", "question")
    parts: list[RenderableType] = []
    for name, question in dict.fromkeys(map(key, lines)):
        choices = [line for line in lines if key(line) == (name, question)]
        rows = [
            (
                f"{choice['value']} (default)"
                if choice["default"]
                else choice["value"],
                choice["meaning"],
            )
            for choice in choices
        ]
        parts += [
            Text(f"{name}: {question}", style="bold"),
            Text(f"in {', '.join(choices[0]['tables'])}"),
            lines_text(("value", "meaning"), rows),
            Text(""),
        ]
    return Group(*parts)

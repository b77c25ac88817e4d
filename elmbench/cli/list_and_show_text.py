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
    """Return the duration of an earlier run in words, such as "5 min".

    It is "< 1 s" below a second, and a dash for None.
    """
    if seconds is None:
        return "–"
    return "< 1 s" if seconds < 1 else duration(seconds)


def experiments_text(lines: Sequence[Mapping[str, Any]]) -> RichTable:
    """Return the list of experiments, to be printed by rich: a row for each.

    The columns are id, title, data ("yes", "some" or "no": whether they are present), time and
    verdict. `lines`: mappings with `id`, `title` ("LABEL: TITLE"), `data sets` and `missing data
    sets` (lists of names), `seconds` (None if unknown) and `verdict` (empty if there is none).
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
    """Return the title of a table; if data sets are missing, a second line names them.

    `missing`: their names, of which at most two are named; further ones are counted.
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
    """Return "yes", "some" or "no": whether the data sets of a table are present.

    "some" means that some of them are missing; a table without data sets is "yes". `line`: has the
    lists of names `data sets`, all of the table's, and `missing data sets`.
    """
    n_missing = len(line["missing data sets"])
    if not n_missing:
        return "yes"
    return "no" if n_missing == len(line["data sets"]) else "some"


def experiment_text(file: ExperimentFile) -> RenderableType:
    """Return the settings, models and published values of a table, to be printed by rich.

    Models and published values are left out if the file has none.
    """
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
    """Return a paper with its tables, main claims and readings, to be printed by rich.

    `tables`: those of the paper, at least one.
    """
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
    """Return [(name, text)] of the settings of an experiment file, for `elmbench show`.

    They are paper (if it has a title), data, protocol (several, if the table has models), profiles,
    the command that estimates the duration, and the path of the file.
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
    """Return [(name, text)] of the settings of a protocol, for `elmbench show`.

    They are outer splits, inner splits, selection, inputs (their scaling), order, a line for each
    grid, and readings. Inner splits and selection are left out if the file names no inner splits.
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
    """Describe the inner splits, such as "kfold, 5 folds" or "holdout, train 100, test 50".

    The parts are their kind, the number of folds if there are several, and the sizes if given.
    """
    parts: list[str] = [inner.kind]
    if inner.folds > 1:
        parts.append(f"{inner.folds} folds")
    if inner.train is not None:
        parts.append(f"train {inner.train}")
    if inner.test is not None:
        parts.append(f"test {inner.test}")
    return ", ".join(parts)


def _outer_splits(outer: Outer) -> str:
    """Describe the outer splits, such as "kfold, 10 folds, 5 folds on iris, 20 runs".

    The parts are the kind of the splits, the number of folds if there are several, different
    numbers of folds for single data sets, and the number of runs.
    """
    parts: list[str] = [outer.kind]
    if outer.folds > 1:
        parts.append(f"{outer.folds} folds")
    for name, override in outer.overrides.items():
        if override.folds:
            parts.append(f"{override.folds} on {name}")
    parts.append(amount(outer.runs, "run"))
    return ", ".join(parts)


def _models_table(models: Mapping[str, ModelColumn], grids: SearchGrid) -> RichTable:
    """Return a table with a row for each column of an experiment, to be printed by rich.

    It shows the model, the column whose hyperparameters it uses (like), its searched and fixed
    hyperparameters, their printed notation, and the data sets on which it differs. A heading whose
    entries are all empty is left out, except for the first two. `models`: by the name of the
    column. `grids`: of the experiment; a column's own values are shown only if they differ from
    these.
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
    """Return the searched hyperparameters of a column, such as "C, gamma in 1, 2".

    Values follow only if they differ from those of `grids`, the grids of the whole table. Empty if
    none is searched.
    """
    parts = [
        name if values == grids.values.get(name) else f"{name} in {_values(values)}"
        for name, values in column.grid.values.items()
    ]
    return ", ".join(parts)


def _parameters(params: Mapping[str, Any]) -> str:
    """Return parameters as text, such as "C=10, gamma=1"; empty if there are none."""
    return ", ".join(f"{name}={value}" for name, value in params.items())


def _published_table(file: ExperimentFile) -> RichTable:
    """Return a table with a row for each published value of an experiment, to be printed by rich.

    The columns are data set, model, metric, value, ± and note. A value that is not a number is
    shown as the paper prints it. A missing value is a dash; a missing ± or note is blank.
    """
    headings = ("data set", "model", "metric", "value", "±", "note")
    rows = [
        (
            published.dataset,
            published.model,
            published.metric,
            (published.text or "–")
            if published.value is None
            else str(published.value),
            "" if published.std is None else str(published.std),
            published.note,
        )
        for published in file.published.values
    ]
    return lines_text(headings, rows, right=("value", "±"))


def _scaling(scale: Scale | None) -> str:
    """Describe a scaling in words, such as "scaled to [-1, 1] over train rows".

    None, which is no scaling, is "as they are"; `unit-rows` is "each row divided by its length".
    """
    if scale is None:
        return "as they are"
    if scale.kind == "unit-rows":
        return "each row divided by its length"
    target = f"to {list(scale.range)}" if scale.kind == "range" else f"by {scale.kind}"
    return f"scaled {target} over {scale.fit_on} rows"


def _values(values: Sequence[Any]) -> str:
    """Return the values of a grid as text, such as "1, 10, 100".

    Of more than six values, only the first two, the last and the number of values are shown: "1, 2,
    ..., 9 (9)".
    """
    texts = [
        f"{value:g}" if isinstance(value, float | int) else str(value)
        for value in values
    ]
    if len(texts) <= 6:
        return ", ".join(texts)
    return f"{texts[0]}, {texts[1]}, ..., {texts[-1]} ({len(texts)})"


def readings_text(lines: list[dict[str, Any]]) -> RenderableType:
    """Return each reading with its question, its tables and its values, to be printed by rich.

    `lines`: a mapping for each value of a reading, with `reading` (its id), `question`, `value`,
    `default` (True for the default value), `meaning` and `tables` (a list of ids). Readings of the
    same id with different questions, which are of different papers, are shown apart.
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

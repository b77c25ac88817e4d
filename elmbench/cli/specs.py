"""`elmbench list`, `show`, `validate`, `schema`, `new-paper` and `env`."""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from elmbench.cli.app import app
from elmbench.cli.help import LOOK_AROUND, RERUN
from elmbench.cli.options import TABLE, state
from elmbench.errors import amount


@app.command("list", rich_help_panel=LOOK_AROUND)
def list_command(
    what: Annotated[
        Literal[
            "papers",
            "experiments",
            "claims",
            "datasets",
            "models",
            "metrics",
            "readings",
        ],
        typer.Argument(
            help="papers, experiments, claims, datasets, models, metrics or readings."
        ),
    ],
) -> None:
    """List papers, experiments, claims, data sets, models and more."""
    from elmbench.cli.list_and_show_text import experiments_text, readings_text
    from elmbench.report.writers.text import lines_text

    find, headings = _LISTS[what]
    lines = list(find())
    if what == "experiments":
        state.emit(lines, experiments_text(lines))
        state.say(
            "time: profile fast on one core; times and verdicts come from the committed results"
        )
        return
    if what == "readings":
        state.emit(lines, readings_text(lines))
        return
    rows = [
        [
            ", ".join(v) if isinstance(v := line[heading], list) else v
            for heading in headings
        ]
        for line in lines
    ]
    state.emit(lines, lines_text(headings, rows, _NUMBERS, ("name", "experiment")))


def _papers() -> Iterator[dict[str, Any]]:
    """Yield a dict for each paper, for `elmbench list papers`.

    Its keys are key, year, tables and claims (their numbers), title, authors and doi.
    """
    from elmbench.specs.catalogue import tables_by_paper

    for tables in tables_by_paper().values():
        paper = tables[0].paper
        yield {
            "key": paper.key,
            "year": paper.year,
            "tables": len(tables),
            "claims": sum(len(file.spec.claims) for file in tables),
            "title": paper.title,
            "authors": paper.authors,
            "doi": paper.doi,
        }


def _claims() -> Iterator[dict[str, Any]]:
    """Yield a dict for each claim of each table, for `elmbench list claims`.

    Its keys are experiment (the id of the table), label (such as "Table 4") and claim (its text).
    """
    from elmbench.specs.catalogue import load_catalogue

    for file in load_catalogue().values():
        for claim in file.spec.claims:
            yield {"experiment": file.id, "label": file.spec.label, "claim": claim.says}


def _experiments() -> Iterator[dict[str, Any]]:
    """Yield a dict for each table, for `elmbench list experiments`.

    Its keys are id, alias (a list), title ("LABEL: TITLE"), "data sets" and "missing data sets"
    (lists of names), and seconds and verdict of its committed results (None and "" if there are
    none).
    """
    from elmbench.datasets.find import MissingDatasets
    from elmbench.specs.catalogue import load_catalogue
    from elmbench.specs.outcomes import read_outcomes

    missing = MissingDatasets(state.data_dir)
    for file in load_catalogue().values():
        outcome = read_outcomes().get(file.id) if file.is_of_suite else None
        yield {
            "id": file.id,
            "alias": list(file.spec.aliases),
            "title": f"{file.spec.label}: {file.spec.title}",
            "data sets": list(file.spec.datasets),
            "missing data sets": missing.of_table(file),
            "seconds": outcome.seconds if outcome else None,
            "verdict": outcome.verdict if outcome else "",
        }


def _datasets() -> Iterator[dict[str, Any]]:
    """Yield a dict for each data set, for `elmbench list datasets`.

    Its keys are name, task, rows, columns (the number of features) and title.
    """
    from elmbench.specs.datasets import load_dataset_specs

    for spec in load_dataset_specs().values():
        size = {"rows": spec.shape.instances, "columns": spec.shape.features}
        yield {"name": spec.name, "task": spec.task, **size, "title": spec.title}


def _models() -> Iterator[dict[str, Any]]:
    """Yield a dict for each model of the registry, for `elmbench list models`.

    Its keys are name, title (with " (baseline)" after that of a baseline), parameters (the names of
    those in its default grid), tasks (a list), and origin (the package or file that has it).
    """
    from elmbench.registry import TASKS, registry

    for entry in registry().values():
        suffix = " (baseline)" if entry.baseline else ""
        tasks = [task for task in TASKS if getattr(entry, task) is not None]
        yield {
            "name": entry.name,
            "title": f"{entry.title}{suffix}",
            "parameters": list(entry.grid),
            "tasks": tasks,
            "origin": entry.origin,
        }


def _metrics() -> Iterator[dict[str, Any]]:
    """Yield a dict for each metric, for `elmbench list metrics`.

    Its keys are name, task, better ("less" or "more") and takes (what it is computed from).
    """
    from elmbench.metrics import all_metrics

    for metric in all_metrics().values():
        better = "less" if metric.less_is_better else "more"
        yield {
            "name": metric.name,
            "task": metric.task,
            "better": better,
            "takes": metric.takes,
        }


def _readings() -> Iterator[dict[str, Any]]:
    """Yield a dict for each value of each reading, for `elmbench list readings`.

    A reading is an interpretation of an ambiguous passage. The keys are reading (its id), question,
    value, default (True for the default value), meaning, and tables (the ids of those that have the
    reading).
    """
    from elmbench.specs.catalogue import load_catalogue

    files = list(load_catalogue().values())
    papers = {file.paper.key: file.paper for file in files}
    for paper in papers.values():
        for name, reading in paper.readings.items():
            tables = [
                file.id
                for file in files
                if file.paper.key == paper.key and name in file.spec.readings
            ]
            for value, choice in reading.values.items():
                default = value == reading.default
                line = {
                    "reading": name,
                    "question": reading.question,
                    "value": value,
                    "default": default,
                }
                yield line | {"meaning": choice.says, "tables": tables}


#: Headings of columns that are aligned to the right.
_NUMBERS = ("rows", "columns", "tables", "claims")
#: The kinds of list, with the columns of their tables; experiments and readings have their own
#: texts.
_LISTS: dict[str, tuple[Callable[[], Iterator[dict[str, Any]]], tuple[str, ...]]] = {
    "papers": (_papers, ("key", "year", "tables", "claims", "title")),
    "claims": (_claims, ("experiment", "claim")),
    "experiments": (_experiments, ()),
    "datasets": (_datasets, ("name", "task", "rows", "columns", "title")),
    "models": (_models, ("name", "title", "parameters", "origin")),
    "metrics": (_metrics, ("name", "task", "better", "takes")),
    "readings": (_readings, ()),
}


@app.command("show", rich_help_panel=LOOK_AROUND)
def show_command(experiment: Annotated[str, TABLE]) -> None:
    """Show a table's protocol and values, or a paper's claims."""
    from elmbench.cli.list_and_show_text import experiment_text, paper_text
    from elmbench.specs.catalogue import find_experiment, tables_by_paper

    if tables := tables_by_paper().get(experiment):
        paper = tables[0].paper
        state.emit(
            paper.model_dump(mode="json", by_alias=True)
            | {"tables": [file.id for file in tables]},
            paper_text(paper, tables),
        )
        return
    file = find_experiment(experiment)
    content = file.spec.model_dump(mode="json", by_alias=True, exclude_none=True)
    state.emit(
        content | {"values": [asdict(value) for value in file.published.values]},
        experiment_text(file),
    )


@app.command("validate", rich_help_panel=LOOK_AROUND)
def validate_command() -> None:
    """Check datasets.yaml and every experiment file."""
    from elmbench.runs.validate import validate_specs

    datasets, experiments = validate_specs()
    counts = {"datasets": datasets, "experiments": experiments}
    state.emit(
        counts,
        f"valid: {amount(datasets, 'data set')}, {amount(experiments, 'experiment')}",
    )


@app.command("schema", rich_help_panel=LOOK_AROUND)
def schema_command(
    kind: Annotated[
        Literal["experiment", "paper", "datasets"],
        typer.Argument(help="experiment, paper or datasets."),
    ],
) -> None:
    """Print the JSON schema of a kind of YAML file.

    Editors use it to check and complete keys.
    """
    from elmbench.specs.schemas import schema_text

    # It is for a file, so no line is wrapped, and --json changes nothing.
    typer.echo(schema_text(kind), nl=False)


@app.command("new-paper", rich_help_panel=RERUN)
def new_paper_command(
    key: Annotated[
        str,
        typer.Argument(metavar="KEY", help="Key of the paper and name of the folder."),
    ],
) -> None:
    """Write a folder for a new paper, with an example that runs.

    The folder holds a table, data, a model and a workflow. It is written in the working folder; an
    existing folder of this name must be empty.
    """
    from elmbench.specs.new_paper import COMMANDS, write_new_paper

    files = write_new_paper(key, Path())
    state.emit(
        {"folder": key, "files": [str(file) for file in files], "next": COMMANDS}
    )
    state.say(f"{amount(len(files), 'file')} written to {key}", "next:", f"  cd {key}")
    state.say(*(f"  {command}" for command in COMMANDS))


@app.command("env", rich_help_panel=LOOK_AROUND)
def env_command() -> None:
    """Show versions, linear algebra library and machine."""
    from elmbench.execution.environment import describe_environment
    from elmbench.report.writers.text import lines_text

    environment = describe_environment()
    rows = environment | environment["packages"]
    rows["blas"] = "; ".join(
        ", ".join(str(v) for v in library.values() if v)
        for library in environment["blas"]
    )
    state.emit(
        environment,
        lines_text(
            ("item", "value"), [(k, v) for k, v in rows.items() if k != "packages"]
        ),
    )

"""`elmbench list`, `show`, `validate` and `env`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from elmbench.cli.app import app
from elmbench.cli.state import state

if TYPE_CHECKING:
    from elmbench.specs.catalogue import ExperimentFile

_KINDS = ("experiments", "datasets", "models", "readings")


@app.command("list")
def list_(what: Annotated[str, typer.Argument(help="experiments, datasets, models or readings.")]) -> None:
    """List experiments, data sets, models or readings."""
    from elmbench.cli.render import grid, readings_text
    from elmbench.errors import unknown_name

    if what not in _KINDS:
        raise unknown_name("list", what, list(_KINDS), "elmbench list experiments")
    headings, lines = {
        "experiments": _experiments,
        "datasets": _datasets,
        "models": _models,
        "readings": _readings,
    }[what]()
    if what == "readings":
        state.emit(lines, readings_text(lines))
        return
    right = tuple(h for h in headings if h in ("rows", "columns"))
    state.emit(lines, grid(headings, [[_words(line[h]) for h in headings] for line in lines], right))


def _words(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else "" if value is None else str(value)


def _experiments() -> tuple[list[str], list[dict[str, Any]]]:
    from elmbench.specs.catalogue import load_catalogue

    return ["id", "alias", "title"], [
        {
            "id": file.id,
            "alias": list(file.spec.aliases),
            "title": f"{file.spec.label}: {file.spec.title}",
            "data sets": list(file.spec.datasets),
        }
        for file in load_catalogue().values()
    ]


def _datasets() -> tuple[list[str], list[dict[str, Any]]]:
    from elmbench.specs.datasets import load_dataset_specs

    return ["name", "task", "rows", "columns", "title"], [
        {
            "name": spec.name,
            "task": spec.task,
            "rows": spec.shape.instances,
            "columns": spec.shape.features,
            "title": spec.title,
        }
        for spec in load_dataset_specs().values()
    ]


def _models() -> tuple[list[str], list[dict[str, Any]]]:
    from elmbench.specs.registry import TASKS, registry

    return ["name", "title", "parameters", "origin"], [
        {
            "name": entry.name,
            "title": entry.title + (" (baseline)" if entry.baseline else ""),
            "parameters": list(entry.grid),
            "tasks": [task for task in TASKS if getattr(entry, task) is not None],
            "origin": entry.origin,
        }
        for entry in registry().values()
    ]


def _readings() -> tuple[list[str], list[dict[str, Any]]]:
    from elmbench.specs.catalogue import load_catalogue

    files = list(load_catalogue().values())
    papers = {file.paper.key: file.paper for file in files}
    return ["reading", "value", "meaning", "tables"], [
        {
            "reading": name,
            "question": reading.question,
            "value": value,
            "default": value == reading.default,
            "meaning": choice.says,
            "tables": [file.id for file in files if file.paper.key == paper.key and name in file.spec.readings],
        }
        for paper in papers.values()
        for name, reading in paper.readings.items()
        for value, choice in reading.values.items()
    ]


@app.command()
def show(experiment: str) -> None:
    """Show a table's protocol, grids, data, cost and published values."""
    from elmbench.cli.render import show_experiment
    from elmbench.specs.catalogue import find_experiment

    file = find_experiment(experiment)
    cost = _costs(file)
    state.emit(
        {**file.spec.model_dump(mode="json", by_alias=True, exclude_none=True), "seconds_on_one_core": cost},
        show_experiment(file, cost),
    )


def _costs(file: ExperimentFile) -> dict[str, float]:
    """Return a rough cost of the whole table under each profile, in seconds on one core."""
    from elmbench.layouts.planning import make_plan
    from elmbench.specs.profiles import resolve
    from elmbench.work.plan import Request

    costs = {}
    for profile in file.profiles:
        plan = make_plan(resolve(file, profile), Request(without_data=True))
        costs[profile] = sum(work.seconds() for work in plan.works.values())
    return costs


@app.command()
def validate() -> None:
    """Check datasets.yaml and every experiment file."""
    from elmbench.errors import ElmbenchError
    from elmbench.layouts import layout_of
    from elmbench.specs.catalogue import load_catalogue
    from elmbench.specs.datasets import load_dataset_specs
    from elmbench.specs.profiles import resolve
    from elmbench.specs.registry import find_model

    files = load_catalogue()
    for file in files.values():
        try:
            for model in file.spec.models.values():
                find_model(model.model)
            under_readings = [
                resolve(file, profile, {name: value})
                for profile in file.profiles[:1]
                for name in file.spec.readings
                for value in file.paper.readings[name].values
            ]
            for resolved in (*(resolve(file, profile) for profile in file.profiles), *under_readings):
                for dataset in resolved.datasets.values():
                    resolved.spec.protocol.metric_for(dataset.task)
                layout_of(resolved)
                _ = resolved.published
            _ = file.printed_parameters
        except ElmbenchError as error:
            found = error.found if str(file.path.parent) in error.found else f"{file.path}: {error.found}"
            raise ElmbenchError(found, expected=error.expected, next_step=error.next_step) from error
    counts = {"datasets": len(load_dataset_specs()), "experiments": len(files)}
    state.emit(counts, f"valid: {counts['datasets']} data sets, {counts['experiments']} experiments")


@app.command()
def env() -> None:
    """Show versions, linear algebra library and machine, as every result records them."""
    from elmbench.cli.render import grid
    from elmbench.running.environment import describe_environment

    found = describe_environment()
    rows = []
    for key, value in found.items():
        if isinstance(value, dict):
            rows += [(name, version) for name, version in value.items()]
        elif isinstance(value, list):
            rows += [(key, ", ".join(str(v) for v in entry.values() if v)) for entry in value]
        else:
            rows.append((key, value))
    state.emit(found, grid(("what", "found"), rows))

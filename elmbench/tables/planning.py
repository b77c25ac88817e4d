"""The plan of a table: its cells under a profile and readings, and the tasks that they need."""

from collections.abc import Mapping
from typing import Any

from elmbench.datasets.load import Identities
from elmbench.errors import ElmbenchError, wording
from elmbench.registry import find_model, registry
from elmbench.specs.datasets import DatasetSpec
from elmbench.specs.model_columns import ModelColumn
from elmbench.specs.profiles import Resolved
from elmbench.tables import kind_of_table
from elmbench.tasks.plan import Plan, RunRequest
from elmbench.tasks.planner import DatasetPlanner


def make_plan(
    resolved: Resolved, request: RunRequest, identities: Identities | None = None
) -> Plan:
    """Return the plan of one experiment: its requested cells and their tasks.

    `identities`: the look-up of the checksums of data sets, which the tables of a run share; by
    default, that of the files in `ELMBENCH_DATA_DIR`. Raises ElmbenchError if a requested data set,
    model or grid does not fit the table, or the requested models have no cells.
    """
    if identities is None:
        identities = Identities()
    table = kind_of_table(resolved)
    plan = Plan()
    columns = _columns(resolved, request)
    for dataset in _datasets(resolved, request):
        planner = DatasetPlanner(
            plan=plan,
            resolved=resolved,
            request=request,
            dataset=dataset,
            columns=columns,
            identities=identities,
        )
        table.plan(planner)
    if request.models and not plan.cells:
        raise ElmbenchError(
            f"none of {', '.join(request.models)} is for the task of these data sets",
            expected="models for the task",
            next_step="elmbench list models",
        )
    return plan


def _datasets(resolved: Resolved, request: RunRequest) -> list[DatasetSpec]:
    """Return the requested data sets of a table; by default those of the profile.

    Requested ones need not be of the table, but must have a task of its data sets; else
    ElmbenchError is raised. Each is returned once, in the order of the request.
    """
    if not request.datasets:
        return [resolved.datasets[name] for name in resolved.spec.datasets]
    datasets = {
        dataset.name: dataset for dataset in map(resolved.dataset, request.datasets)
    }
    table_names = dict.fromkeys((*resolved.file.spec.datasets, *resolved.spec.datasets))
    tasks = {resolved.dataset(name).task for name in table_names}
    for dataset in datasets.values():
        if dataset.name not in table_names and dataset.task not in tasks:
            raise ElmbenchError(
                f"{resolved.file.id} is about {' and '.join(sorted(tasks))}; {dataset.name!r} is "
                f"for {dataset.task}",
                expected=f"one of {', '.join(table_names)}, or another data set for the task",
                next_step=f"elmbench show {resolved.file.id}",
            )
    return list(datasets.values())


def _columns(resolved: Resolved, request: RunRequest) -> dict[str, ModelColumn]:
    """Return the columns to fill, by name: those of the table, then added ones.

    Of the table, these are the requested ones, or all if no model is requested. Requested models
    and baselines that the table does not have are added, with the requested or default grids, if
    they are for a task of the table. Raises ElmbenchError for an unknown model, or a grid of a
    model that is not added.
    """
    columns = resolved.spec.models
    extra_names: list[str] = []
    if request.with_baselines:
        extra_names += [entry.name for entry in registry().values() if entry.baseline]
    table_columns: dict[str, ModelColumn] = {} if request.models else dict(columns)
    for name in request.models:
        matches = _matching(name, columns)
        table_columns |= matches
        if not matches:
            extra_names.append(find_model(name).name)
    tasks = {resolved.datasets[name].task for name in resolved.spec.datasets}
    extra_columns = {
        name: extra_column(name, request.grids.get(name))
        for name in extra_names
        if any(getattr(find_model(name), task) is not None for task in tasks)
    }
    for name in request.grids:
        if name not in extra_columns:
            raise _unused_grid(
                name, bool(_matching(name, columns)), list(extra_columns)
            )
    return table_columns | extra_columns


def _matching(name: str, columns: Mapping[str, ModelColumn]) -> dict[str, ModelColumn]:
    """Return the columns that `name` requests, by their names.

    It is the name of a column, in upper or lower case, or the name of a model, which several
    columns may have. `columns`: {name: column}; the result has this form, and is empty if nothing
    matches.
    """
    return {
        column_name: column
        for column_name, column in columns.items()
        if name.lower() == column_name.lower() or name == column.model
    }


def _unused_grid(name: str, is_in_table: bool, added: list[str]) -> ElmbenchError:
    """Return the error for a grid of a model that is not added to the table.

    `name`: the model. `is_in_table`: True if it is a model of the table itself, which already has a
    grid, so that the error advises to leave it out; else it advises to add the model. `added`: the
    added models, which the message lists.
    """
    kind = "a model" if is_in_table else "not an added model"
    if is_in_table:
        next_step = "leave the grid out: the table has it"
    else:
        next_step = wording(f"add -m {name}", f"add {name!r} to models")
    return ElmbenchError(
        f"a grid is given for {name!r}, which is {kind} of this table",
        expected=f"an added model: {', '.join(added) or 'none is added'}",
        next_step=next_step,
    )


def extra_column(name: str, grid: Mapping[str, Any] | None = None) -> ModelColumn:
    """Return a column for a model that the table does not have.

    `name`: that of the model. `grid`: {hyperparameter: notation as in files}; by default that of
    the registry, in which the model must exist (else ElmbenchError).
    """
    if grid is None:
        grid = {
            key: {"values": list(values)}
            for key, values in find_model(name).grid.items()
        }
    return ModelColumn.model_validate({"model": name, "search": grid})

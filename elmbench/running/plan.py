"""Planning: which cells a table has under a profile and readings, and which work leads to them."""

from __future__ import annotations

from typing import Any

from elmbench.errors import ElmbenchError
from elmbench.specs.datasets import load_dataset_specs
from elmbench.specs.experiments import Model
from elmbench.specs.profiles import Resolved
from elmbench.specs.registry import find_model, registry
from elmbench.work.base import Grid, Work
from elmbench.work.correlation import Correlation
from elmbench.work.curve import Curve
from elmbench.work.description import Description
from elmbench.work.plan import Plan, Request
from elmbench.work.planner import DatasetPlanner


def make_plan(resolved: Resolved, request: Request) -> Plan:
    """Return the plan of one experiment.

    Raises
    ------
    ElmbenchError
        If a data set or model that is asked for does not exist, or a data file is bad.
    """
    plan = Plan()
    columns = _columns(resolved, request)
    for name in _datasets(resolved, request):
        _plan(DatasetPlanner(plan, resolved, request, load_dataset_specs().find(name), columns))
    if request.models and not plan.cells:
        raise ElmbenchError(
            f"none of {', '.join(request.models)} is for the task of these data sets",
            expected="models for the task",
            next_step="elmbench list models",
        )
    return plan


def _plan(planner: DatasetPlanner) -> None:
    work, select = planner.work, planner.own_selection
    layout = planner.resolved.spec.layout
    if layout == "datasets":
        if planner.missing:
            planner.add_unavailable("data", "published", folds=1, runs=1)
        else:
            planner.add_works("data", {(0, 0): Description(work.dataset.task, work.dataset_ref(0))}, "published")
        return
    if layout in ("curves", "rank-correlation"):
        folds = 1 if layout == "rank-correlation" else work.folds
        for column in planner.columns:
            own = column in planner.resolved.spec.models
            if not (work.does_task(column) and (own or (layout == "curves" and len(work.grid(column)) == 1))):
                continue
            if planner.missing:
                planner.add_unavailable(column, select, folds)
                continue
            works: dict[tuple[int, int], Work] = {}
            for run in range(work.runs):
                for fold in range(folds):
                    if layout == "curves":
                        works[run, fold] = Curve(**work.grid_fields(column, run, fold), metric=work.metric)
                    else:
                        options: Any = planner.resolved.spec.options
                        model = work.model_ref(column), work.models[column].params, Grid(work.grid(column))
                        data = work.dataset.task, work.dataset_ref(run), work.protocol.scale, run
                        works[run, fold] = Correlation(*data, *model, **options)
            planner.add_works(column, works, select)
        return
    planner.add_fits(keep_outputs=layout == "precision-recall", choices_only=layout == "parameters")


def _datasets(resolved: Resolved, request: Request) -> list[str]:
    available = list(resolved.spec.datasets)
    if not request.datasets:
        return available
    wanted = [load_dataset_specs().find(name).name for name in request.datasets]
    known = dict.fromkeys((*resolved.file.spec.datasets, *available))
    for name in wanted:
        if name not in known:
            raise ElmbenchError(
                f"{resolved.file.id} has no data set {name!r}",
                expected=f"one of {', '.join(known)}",
                next_step=f"elmbench show {resolved.file.id}",
            )
    return wanted


def _columns(resolved: Resolved, request: Request) -> dict[str, Model]:
    """Return the columns to fill: those of the table, and extra ones from the registry with their default grids."""
    own = resolved.spec.models
    extra = [entry.name for entry in registry().values() if entry.baseline] if request.with_baselines else []
    chosen: dict[str, Model] = {}
    for name in request.models:
        matches = [column for column, model in own.items() if name.lower() == column.lower() or name == model.model]
        if matches:
            chosen |= {column: own[column] for column in matches}
        else:
            extra.append(find_model(name).name)
    if not request.models:
        chosen = dict(own)
    return chosen | {name: extra_column(name) for name in extra if _fits_some(resolved, name)}


def _fits_some(resolved: Resolved, name: str) -> bool:
    tasks = {load_dataset_specs().find(dataset).task for dataset in resolved.spec.datasets}
    return any(getattr(find_model(name), task) is not None for task in tasks)


def extra_column(name: str) -> Model:
    """Return a column for a model of the registry that the table does not have."""
    grid = {key: {"values": list(values)} for key, values in find_model(name).grid.items()}
    return Model.model_validate({"model": name, "search": grid})

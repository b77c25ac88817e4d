"""Execution of a prepared run: missing results are computed, and tables are written; and the same
from Python.
"""

import inspect
import json
import os
import shlex
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar, cast, get_type_hints

from pydantic import ConfigDict, Field, ValidationError, validate_call

from elmbench.errors import (
    DataUnavailableError,
    ElmbenchError,
    messages_for_python,
    unknown_name,
)
from elmbench.execution.engine import Event, OnEvent, Run
from elmbench.execution.executors import Executor, Settings, executor_of
from elmbench.files import RESULTS_DIR, open_standard_streams
from elmbench.registry.plugins import load_address
from elmbench.report.table_results import Results
from elmbench.runs.prepare import PreparedRun, RunOptions, prepare_run
from elmbench.runs.user_specs import add_specs, load_plugins
from elmbench.runs.write_results import write_results
from elmbench.specs.limits import parse_limits
from elmbench.specs.profiles import Resolved
from elmbench.specs.project import Project, current_project
from elmbench.tasks.plan import Plan, RunRequest

#: Data sets that a message names.
_MOST_NAMES = 8

Function = TypeVar("Function", bound=Callable[..., Any])
Count = Annotated[int, Field(ge=1)]


def execute(
    run: PreparedRun,
    on_event: OnEvent = lambda event: None,
    executor: Executor | None = None,
) -> list[Results]:
    """Compute the missing results of a plan, write its tables and return their results.

    The results are in the order of the plan's tables. After Ctrl-C, the tables are written with the
    results so far, and KeyboardInterrupt is raised. `on_event`: receives the start and end of each
    task. `executor`: a ready one, which the caller ends; None for a new one. Raises
    DataUnavailableError if no cell has data, and WriteError if the results folder cannot be
    written.
    """
    _check_data(run)
    for resolved, plan in run.tables:
        run.store.add_cells(
            resolved.profile,
            resolved.file.id,
            plan.cells,
            _command(run, resolved),
            whole=run.options.whole,
        )
    try:
        compute(run, on_event, executor)
    except KeyboardInterrupt:
        _write(run)
        raise
    return _write(run)


def _check_data(run: PreparedRun) -> None:
    """Raise DataUnavailableError if the plan has cells, and none of them has data."""
    cells = [cell for _, plan in run.tables for cell in plan.cells]
    has_data = any(not cell.unavailable for cell in cells)
    if has_data or not cells:
        return
    tables = dict.fromkeys(resolved.file.id for resolved, _ in run.tables)
    missing = list(dict.fromkeys(cell.dataset for cell in cells))
    names = ", ".join(missing[:_MOST_NAMES])
    rest = len(missing) - _MOST_NAMES
    if rest > 0:
        names += f" and {rest} more"
    reason, _, step = cells[0].unavailable.partition("; ")
    separator = ":" if len(missing) == 1 else ";"
    problem = f"no cell of {', '.join(tables)} has data (missing: {names})"
    raise DataUnavailableError(
        f"{problem}{separator} {reason}",
        expected="a file for at least one data set of the table; nothing was written",
        next_step=step or "elmbench data status",
    )


def compute(run: PreparedRun, on_event: OnEvent, executor: Executor | None) -> None:
    """Compute the missing results of a plan, and store them; write no table.

    The tasks in `run.todo` are run, at most until `run.options.until`; then the store is closed.
    `on_event`: receives the start and end of each task. `executor`: a ready one, which the caller
    ends; None for a new one. Raises WriteError if a result cannot be stored, and KeyboardInterrupt
    on Ctrl-C.
    """
    engine_run = Run(
        tasks=run.tasks,
        limits=run.limits,
        store=run.store,
        settings=run.options.settings,
        estimates=run.estimates,
        on_event=on_event,
        executor=executor,
        until=run.options.until,
    )
    with closing(run.store):
        engine_run.run(run.todo)


def _write(run: PreparedRun) -> list[Results]:
    """Write the tables of a run from its store; return their results, in the order of the plan.

    A lock makes concurrent runs take turns.
    """
    # Concurrent runs take turns, so that the last one's tables contain the results of all.
    with run.store.writing_tables():
        return [_write_table(run, resolved, plan) for resolved, plan in run.tables]


def _write_table(run: PreparedRun, resolved: Resolved, plan: Plan) -> Results:
    """Write the files of a table and return its results.

    They hold the cells of `plan` and, unless the options of the run say `whole`, those of all
    earlier requests for the table in the store; the cells of the plan replace theirs. Raises
    WriteError if the folder cannot be written.
    """
    store = run.store
    table = (resolved.profile, resolved.file.id)
    if run.options.whole:
        planned = plan.cells
        commands = [_command(run, resolved)]
    else:
        planned = store.cells(*table, latest=plan.cells)
        commands = store.commands(*table)
    return write_results(
        resolved,
        store,
        run.results_dir,
        planned=planned,
        commands=commands,
        figure_format=run.options.figure_format,
    )


def _command(run: PreparedRun, resolved: Resolved) -> str:
    """Return the command that a table of a run names.

    It is the one in the options of the run, such as `elmbench compare ...`, or else the `elmbench
    run ...` that computes its requested cells.
    """
    return run.options.command or command_of(resolved, run.options)


class Failures(NamedTuple):
    """The failures of a run.

    Attributes
    ----------
    n_cells : int
        The number of failed cells.
    first_reason : str
        The reason of the first failed cell, with its data set and model; empty if none has
        failed.
    tracebacks : list of str
        The different tracebacks of the failed tasks.
    """

    n_cells: int
    first_reason: str
    tracebacks: list[str]


def failures_of(run: PreparedRun) -> Failures:
    """Return the failures of a run that has ended, from the results in its store.

    They are the number of failed cells, the reason of the first one (empty if none has failed), and
    the different tracebacks, also of searches. Cells of several tables that share a task count
    once; timeouts, exceeded memory limits and missing data do not count.
    """
    failures = {}
    for key in run.tasks:
        result = run.store.result(key)
        if result is not None and result.get("status") == "failed":
            failures[key] = result
    cells = {cell.key: cell for _, plan in run.tables for cell in plan.cells}
    reasons = []
    for key, cell in cells.items():
        if key in failures:
            reason, _, _ = failures[key]["reason"].strip().partition("\n")
            reasons.append(f"{reason} ({cell.dataset}, {cell.model})")
    tracebacks = dict.fromkeys(
        result["traceback"] for result in failures.values() if "traceback" in result
    )
    return Failures(
        n_cells=len(reasons),
        first_reason=next(iter(reasons), ""),
        tracebacks=list(tracebacks),
    )


def command_of(resolved: Resolved, options: RunOptions) -> str:
    """Return the command `elmbench run ...` that computes the requested cells of a table.

    Options that do not affect them, such as --jobs, are left out. Plug-ins are given by the names
    of their files, without folders. The words are quoted for a shell.
    """
    request = options.request
    arguments = {
        "-d": request.datasets,
        "-m": request.models,
        "--select": request.select,
        "--runs": () if request.runs is None else (request.runs,),
        "--reading": filter(None, resolved.reading.split(";")),
        "--metric": options.metrics,
        "--grid": (json.dumps({name: grid}) for name, grid in request.grids.items()),
        "--blas-threads": filter(
            lambda threads: threads > 1, [options.settings.blas_threads]
        ),
        "--limit": filter(None, [options.settings.limits.text]),
    }
    flags = {
        "--with-baselines": request.with_baselines,
        "--other-data": request.other_data,
    }
    words = ["elmbench", "run", resolved.file.id, "--profile", resolved.profile]
    words += [
        word
        for option, values in arguments.items()
        for value in values
        for word in (option, str(value))
    ]
    words += [flag for flag, is_given in flags.items() if is_given]
    # Only the names of plug-ins: their folders exist on one machine.
    words += [
        word
        for path in options.settings.plugins
        for word in ("--plugin", Path(path).name)
    ]
    return shlex.join(words)


def checked(function: Function) -> Function:
    """Decorate a function of the Python interface, so that its arguments are checked.

    An argument that is missing, unknown or not allowed by its annotation raises ElmbenchError, and
    messages name Python's arguments instead of options. Each call also forgets the models that were
    loaded by address, because a notebook may have edited them.
    """
    validated = validate_call(config=ConfigDict(arbitrary_types_allowed=True))(function)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        open_standard_streams()
        load_address.cache_clear()  # a notebook may have edited the module
        try:
            with messages_for_python():
                return validated(*args, **kwargs)
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(map(str, first["loc"]))
            step = f"help(elmbench.{function.__name__})"
            if first["type"] == "unexpected_keyword_argument":
                raise unknown_name(
                    "argument", name, list(inspect.signature(function).parameters), step
                ) from error
            value = (
                "missing"
                if first["type"] == "missing_argument"
                else f"{first['input']!r:.100}"
            )
            raise ElmbenchError(
                f"the argument {name} is {value}", expected=first["msg"], next_step=step
            ) from error

    call.__signature__ = _plain_signature(function)  # type: ignore[attr-defined]
    return cast("Function", call)


def _plain_signature(function: Callable[..., Any]) -> inspect.Signature:
    """Return the signature of a function with plain types: `Annotated` is removed."""
    signature = inspect.signature(function)
    types = get_type_hints(function)
    parameters = [
        parameter.replace(annotation=types.get(name, parameter.annotation))
        for name, parameter in signature.parameters.items()
    ]
    return signature.replace(
        parameters=parameters, return_annotation=types.get("return")
    )


def _data_folder(named: Path | str | None, project: Project | None) -> str | None:
    """Return the folder of data files; None for the default, which ELMBENCH_DATA_DIR may name.

    It is `named`, or else that of the project if it exists and the environment variable is not set.
    `project`: None without an `elmbench.toml`.
    """
    if named is not None:
        return str(named)
    if project is None or project.data is None or "ELMBENCH_DATA_DIR" in os.environ:
        return None
    return str(project.data) if project.data.is_dir() else None


@checked
def run(
    experiment: str,
    *,
    profile: str = "fast",
    datasets: Sequence[str] = (),
    models: Sequence[str] = (),
    select: Sequence[Any] = (),
    runs: Count | None = None,
    readings: Mapping[str, str] | None = None,
    with_baselines: bool = False,
    grids: Mapping[str, Mapping[str, Any]] | None = None,
    jobs: Count = 1,
    blas_threads: Count = 1,
    limit: str = "",
    data_dir: Path | str | None = None,
    plugins: Sequence[Path | str] = (),
    spec_dirs: Sequence[Path | str] = (),
    results_dir: Path | str | None = None,
    retry: bool = False,
    force: bool = False,
    engine: str = "local",
    scheduler: str | None = None,
    on_event: Callable[[Event], None] | None = None,
) -> Results:
    """Run a table and write its files; what has been computed before is not computed again.

    Parameters
    ----------
    experiment : str
        Id or alias, such as "kos-elm/table4" or "table4", or the YAML file of your own table.
    profile : {"ci", "fast", "paper"}, default="fast"
        The part of the protocol: "paper" is the printed one, and the others are shorter.
    datasets, models : sequence of str
        Only these; by default, all of the table's. A model may be any name of `list_models`, or an
        address `package.module:Class`.
    select : sequence of {"nested", "once", "oracle", "published"}
        Replaces the selections of the profile.
    runs : int, optional
        Replaces the number of runs of the profile.
    readings : mapping of str to str, optional
        Values of readings by id, such as `{"c-grid": "all-powers"}`.
    with_baselines : bool, default=False
        Add ridge, support vector machine, trees and others as columns.
    grids : mapping of str to mapping, optional
        Grids of models that the table does not have, such as `{"my_models:Mine": {"C": [1, 10]}}`.
    jobs, blas_threads : int, default=1
        Worker processes, and threads of the linear algebra library in each.
    limit : str
        Limit of each search and fit, such as "time=600s,memory=4GB".
    data_dir : path, optional
        Folder of data files; by default `ELMBENCH_DATA_DIR`. An `elmbench.toml` in the working
        folder or a folder above has the defaults of this and the next three, as for the commands.
    plugins : sequence of path
        Files that declare models, kinds of table, sources, metrics or splits.
    spec_dirs : sequence of path
        Folders of your own data sets and tables.
    results_dir : path, optional
        By default "elmbench-results".
    retry, force : bool, default=False
        Retry failed cells, or recompute everything.
    engine : {"local", "dask"}, default="local"
        The executor.
    scheduler : str, optional
        Address of a dask scheduler, for "dask" only.
    on_event : callable, optional
        Receives an `elmbench.execution.engine.Event` at the start and end of each task.

    Returns
    -------
    Results
        `cells` and `summary` as data frames, `text` for the terminal; a notebook shows the table.

    Raises
    ------
    ElmbenchError
        If something in the request does not exist, or a data file is bad.
    """
    project = current_project()
    paths = load_plugins(plugins, project, warnings.warn)
    add_specs(spec_dirs, project, warnings.warn)
    settings = Settings(
        jobs=jobs,
        data_dir=_data_folder(data_dir, project),
        plugins=tuple(map(str, paths)),
        blas_threads=blas_threads,
        limits=parse_limits(limit),
    )
    request = RunRequest(
        datasets=tuple(datasets),
        models=tuple(models),
        select=tuple(select),
        runs=runs,
        with_baselines=with_baselines,
        grids=dict(grids or {}),
    )
    with executor_of(engine, settings, scheduler) as executor:
        options = RunOptions(
            experiments=(experiment,),
            profile=profile,
            readings=dict(readings or {}),
            request=request,
            settings=replace(settings, memory=executor.memory),
            retry=retry,
            force=force,
        )
        if results_dir is None:
            results_dir = RESULTS_DIR if project is None else project.results
        prepared = prepare_run(options, Path(results_dir))
        (results,) = execute(prepared, on_event or (lambda event: None), executor)
    return results

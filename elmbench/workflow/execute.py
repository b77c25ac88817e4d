"""Execution of a prepared run: missing results are computed, and tables are written."""

import json
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from elmbench.files import sweep
from elmbench.reporting.folders import results_folder
from elmbench.reporting.results import Results, is_current, read_results, write_results
from elmbench.running.engine import Event, Run
from elmbench.running.environment import describe_environment
from elmbench.running.executors.base import Executor
from elmbench.specs.profiles import Resolved
from elmbench.work.fit import Fit
from elmbench.workflow.prepare import PreparedRun, RunOptions


def execute(
    run: PreparedRun,
    on_event: Callable[[Event], None] = lambda event: None,
    executor: Executor | None = None,
) -> list[Results]:
    """Compute missing results and write the tables; after Ctrl-C, with the results so far.

    `on_event`: called at the start and end of all work. `executor`: a ready executor, which ends with the run; by
    default, a new one.

    Raises WriteError if the results folder cannot be written. Raises KeyboardInterrupt after the tables have been
    written.
    """
    try:
        return _execute(run, on_event, executor)
    finally:
        run.store.close()


def _execute(run: PreparedRun, on_event: Callable[[Event], None], executor: Executor | None) -> list[Results]:
    run.store.mend()
    for resolved, plan in run.tables:
        sweep(results_folder(run.results_dir, resolved.profile, resolved.file.id))
        command = run.options.command or command_of(resolved, run.options)
        run.store.add_cells(resolved.profile, resolved.file.id, plan.cells, command, whole=run.options.whole)
    try:
        compute(run, on_event, executor)
    except KeyboardInterrupt:
        _write(run)
        raise
    return _write(run)


def compute(run: PreparedRun, on_event: Callable[[Event], None], executor: Executor | None) -> None:
    """Compute missing results and store them; no table is written. See `execute`."""
    settings = run.options.settings
    if run.todo or run.options.clean_times:
        environment: dict[str, Any] = describe_environment() | {"blas_threads": settings.blas_threads}
        settings = replace(settings, environment=run.store.put_environment(environment))
    work = Run(run.works, run.limits, run.store, settings, on_event, executor, run.estimates, run.options.until)
    work.run(run.todo, _fits_to_time(run))


def _fits_to_time(run: PreparedRun) -> list[str]:
    """Return the keys of the fits to be timed one by one."""
    cells = (cell for _, plan in run.tables for cell in plan.cells if run.options.clean_times and cell.key)
    return list(dict.fromkeys(cell.key for cell in cells if isinstance(run.works[cell.key], Fit)))


def _write(run: PreparedRun) -> list[Results]:
    # Concurrent runs take turns, so that the last one's tables contain the results of all.
    with run.store.writing_tables():
        return [_written(resolved, run) for resolved, _ in run.tables]


def _written(resolved: Resolved, run: PreparedRun) -> Results:
    """Write a table, or read it if it is that of a comparison and nothing new is stored."""
    if run.options.whole and is_current(resolved, run.store, run.results_dir):
        return read_results(resolved, run.results_dir)
    return write_results(resolved, run.store, run.results_dir)


def failed_cells(run: PreparedRun) -> tuple[int, list[str]]:
    """Return the number of failed cells, and the different tracebacks of their work."""
    cells = {cell.key for _, plan in run.tables for cell in plan.cells}
    results = {key: run.store.result(key) or {} for key in run.works}
    failed = {key: result for key, result in results.items() if result.get("status") == "failed"}
    traces = dict.fromkeys(result["traceback"] for result in failed.values() if "traceback" in result)
    return len(cells & set(failed)), list(traces)


def command_of(resolved: Resolved, options: RunOptions) -> str:
    """Return the command that computes these cells, without options that do not affect them."""
    words = ["elmbench", "run", resolved.file.id, "--profile", resolved.profile]
    request = options.request
    for flag, values in (("-d", request.datasets), ("-m", request.models), ("--select", request.select)):
        for value in values:
            words += [flag, value]
    if request.runs is not None:
        words += ["--runs", str(request.runs)]
    for reading in filter(None, resolved.reading.split(";")):
        words += ["--reading", reading]
    for name, grid in request.grids.items():
        words += ["--grid", json.dumps({name: grid})]
    if request.first_runs:
        words.append("--until-told")
    if request.with_baselines:
        words.append("--with-baselines")
    if request.other_data:
        words.append("--other-data")
    if options.clean_times:
        words.append("--clean-times")
    for path in options.settings.plugins:
        # Only its name: its folder exists on one machine.
        words += ["--plugin", Path(path).name]
    return shlex.join(words)

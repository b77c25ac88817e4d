"""A prepared run: what is missing is computed, and the tables are written."""

import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from elmbench.reporting.results import Results, write_results
from elmbench.running.engine import Event, Run
from elmbench.running.environment import describe_environment
from elmbench.specs.profiles import Resolved
from elmbench.workflow.prepare import PreparedRun, RunOptions


def execute(run: PreparedRun, on_event: Callable[[Event], None] = lambda event: None) -> list[Results]:
    """Do what is missing and write the tables; after Ctrl-C too, with what has arrived.

    Raises
    ------
    WriteError
        If the results folder cannot be written.
    KeyboardInterrupt
        After the tables have been written.
    """
    for resolved, plan in run.tables:
        run.store.add_cells(resolved.profile, resolved.file.id, plan.cells, command_of(resolved, run.options))
    settings = run.options.settings
    if run.todo:
        environment: dict[str, Any] = describe_environment() | {"blas_threads": settings.blas_threads}
        settings = replace(settings, environment=run.store.put_environment(environment))
    try:
        Run(run.works, run.limits, run.store, settings, on_event).run(run.todo)
    except KeyboardInterrupt:
        _write(run)
        raise
    return _write(run)


def _write(run: PreparedRun) -> list[Results]:
    return [write_results(resolved, run.store, run.results_dir) for resolved, _ in run.tables]


def failed_cells(run: PreparedRun) -> int:
    """Return how many of the cells that were asked for failed."""
    keys = {cell.key for _, plan in run.tables for cell in plan.cells if cell.key}
    results = [run.store.result(key) for key in keys]
    return sum(result is not None and result["status"] == "failed" for result in results)


def command_of(resolved: Resolved, options: RunOptions) -> str:
    """Return the command that asks for these cells, without what does not change them."""
    words = ["elmbench", "run", resolved.file.id, "--profile", resolved.profile]
    request = options.request
    for flag, values in (("-d", request.datasets), ("-m", request.models), ("--select", request.select)):
        for value in values:
            words += [flag, value]
    if request.runs is not None:
        words += ["--runs", str(request.runs)]
    for reading in filter(None, resolved.reading.split(";")):
        words += ["--reading", reading]
    if request.with_baselines:
        words.append("--with-baselines")
    if not request.paths:
        words.append("--no-paths")
    if request.other_data:
        words.append("--other-data")
    for path in options.settings.plugins:
        # By its name: where it lies is of one machine.
        words += ["--plugin", Path(path).name]
    return shlex.join(words)

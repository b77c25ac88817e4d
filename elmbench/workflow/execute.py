"""Execution of a prepared run: missing results are computed, and tables are written."""

import json
import shlex
from pathlib import Path

from elmbench.files import sweep
from elmbench.reporting.folders import results_folder
from elmbench.reporting.results import Results, is_current, read_results, write_results
from elmbench.running.engine import OnEvent, Run
from elmbench.running.executors import Executor
from elmbench.specs.profiles import Resolved
from elmbench.work.fit import Fit
from elmbench.workflow.prepare import PreparedRun, RunOptions


def execute(
    run: PreparedRun, on_event: OnEvent = lambda event: None, executor: Executor | None = None
) -> list[Results]:
    """Compute missing results and write the tables; after Ctrl-C, with the results so far.

    `executor`: a ready executor, which ends with the run; by default, a new one. Raises WriteError if the results
    folder cannot be written, and KeyboardInterrupt after the tables have been written.
    """
    try:
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
    finally:
        run.store.close()


def compute(run: PreparedRun, on_event: OnEvent, executor: Executor | None) -> None:
    """Compute missing results and store them; no table is written. See `execute`."""
    settings, until = run.options.settings, run.options.until
    work = Run(run.works, run.limits, run.store, settings, run.estimates, on_event, executor, until)
    cells = (cell for _, plan in run.tables for cell in plan.cells if run.options.clean_times and cell.key)
    work.run(run.todo, list(dict.fromkeys(cell.key for cell in cells if isinstance(run.works[cell.key], Fit))))


def _write(run: PreparedRun) -> list[Results]:
    """Write the tables; that of a comparison is read if nothing new is stored."""
    # Concurrent runs take turns, so that the last one's tables contain the results of all.
    with run.store.writing_tables():
        return [
            read_results(resolved, run.results_dir)
            if run.options.whole and is_current(resolved, run.store, run.results_dir)
            else write_results(resolved, run.store, run.results_dir)
            for resolved, _ in run.tables
        ]


def failed_cells(run: PreparedRun) -> tuple[int, list[str]]:
    """Return the number of failed cells, and the different tracebacks of their work."""
    cells = {cell.key for _, plan in run.tables for cell in plan.cells}
    results = {key: run.store.result(key) or {} for key in run.works}
    failed = {key: result for key, result in results.items() if result.get("status") == "failed"}
    traces = dict.fromkeys(result["traceback"] for result in failed.values() if "traceback" in result)
    return len(cells & set(failed)), list(traces)


def command_of(resolved: Resolved, options: RunOptions) -> str:
    """Return the command that computes these cells, without options that do not affect them."""
    request = options.request
    arguments = {
        "-d": request.datasets,
        "-m": request.models,
        "--select": request.select,
        "--runs": () if request.runs is None else (request.runs,),
        "--reading": filter(None, resolved.reading.split(";")),
        "--grid": (json.dumps({name: grid}) for name, grid in request.grids.items()),
        "--blas-threads": filter(lambda threads: threads > 1, [options.settings.blas_threads]),
        "--limit": filter(None, [options.settings.limits.text]),
    }
    flags = {
        "--until-told": request.first_runs,
        "--with-baselines": request.with_baselines,
        "--other-data": request.other_data,
        "--clean-times": options.clean_times,
    }
    words = ["elmbench", "run", resolved.file.id, "--profile", resolved.profile]
    words += [word for option, values in arguments.items() for value in values for word in (option, str(value))]
    words += [flag for flag, is_given in flags.items() if is_given]
    # Only the names of plug-ins: their folders exist on one machine.
    words += [word for path in options.settings.plugins for word in ("--plugin", Path(path).name)]
    return shlex.join(words)

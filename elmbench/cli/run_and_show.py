"""Carry out a plan with live progress and print its tables, for `run` and `compare`."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, TypeVar

import typer

from elmbench.cli.options import state
from elmbench.errors import amount

if TYPE_CHECKING:
    from elmbench.execution.executors import Executor
    from elmbench.report.table_results import Results
    from elmbench.runs.prepare import PreparedRun

T = TypeVar("T")


def run_prepared(
    prepared: PreparedRun,
    executor: Executor,
    finish: Callable[[list[Results]], None] = lambda results: None,
) -> None:
    """Run a plan with live progress and print its tables; exit with code 1 if a cell failed.

    Before the exit, `finish` is called with the results of the tables. An interrupt exits with code
    130.
    """
    from elmbench.runs.execute import execute

    results = run_cells(prepared, executor, execute)
    _show(results, prepared)
    finish(results)
    _exit_if_failed(prepared)


def run_cells(
    prepared: PreparedRun, executor: Executor, carry_out: Callable[..., T]
) -> T:
    """Carry out a plan with live progress, and return the result of `carry_out`.

    The number of cells to run is printed first. `carry_out`: called as `carry_out(prepared,
    on_event, executor)`: `execute`, which also writes tables, or `compute`. On Ctrl-C or SIGTERM,
    print how to resume, and exit with code 130.
    """
    from elmbench.cli.progress import CommandProgress

    counts = prepared.count_cells()
    force = prepared.options.force
    reused = counts["planned"] - counts["to_run"] - counts["unavailable"]
    if counts["to_run"]:
        stored = f"; {reused} {'is' if reused == 1 else 'are'} stored" if reused else ""
        state.say(
            f"{amount(counts['to_run'], 'cell')} to run on "
            f"{amount(executor.workers, 'worker')}{stored}"
        )
    if damaged := counts["to_run"] and prepared.store.n_damaged:
        print(
            f"{prepared.store.root} has {amount(damaged, 'damaged record')}; "
            "their work is repeated",
            file=sys.stderr,
        )
    handlers = {
        number: signal.signal(number, signal.default_int_handler)
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        with CommandProgress(prepared, state.silent, executor) as progress:
            return carry_out(prepared, progress.on_event, executor)
    except KeyboardInterrupt:
        step = (
            "without --force, the same command runs the missing cells"
            if force
            else "the same command resumes"
        )
        print(f"interrupted: finished work is stored. Next: {step}", file=sys.stderr)
        raise typer.Exit(130) from None
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _show(results: Sequence[Results], prepared: PreparedRun) -> None:
    """Print the tables of a run: only the planned cells of each, or with --json all its cells.

    With --json, one list is printed, with a dict for each table: `experiment`, `profile`, `folder`,
    `cells` ({status: number}), `summary` (the lines of `summary.csv`) and `notes`. Else, each table
    is followed by where its files and claims are. `results`: a table each, in the order of the
    plan's tables.
    """
    from elmbench.report.table_results import part_of
    from elmbench.specs.profiles import COMPARE
    from elmbench.tables.result_table import CONCLUSION

    if state.as_json:
        from elmbench.report.table_results import frame_json_dicts

        state.emit(
            [
                {
                    "experiment": result.resolved.file.id,
                    "profile": result.resolved.profile,
                    "folder": str(result.folder),
                    "cells": result.cells["status"].value_counts().to_dict(),
                    "summary": frame_json_dicts(result.summary),
                    "notes": [
                        note.text for note in result.table.notes if note.kind != "claim"
                    ],
                }
                for result in results
            ]
        )
    for whole, (_, plan) in zip(
        () if state.as_json else results, prepared.tables, strict=False
    ):
        result = part_of(whole, plan.cells)
        # `compare` has printed the remarks on its data, and prints the conclusion last.
        is_comparison = result.resolved.profile == COMPARE and not state.silent
        elsewhere = ["data", *CONCLUSION] if is_comparison else []
        state.console.print(result.renderable(state.width, ["claim", *elsewhere]))
        table = f"elmbench table {result.resolved.file.id} --profile {result.resolved.profile}"
        if whole.judged.claim_outcomes:
            state.say(
                f"tested claims of the paper: {len(whole.judged.claim_outcomes)}; next: {table}"
            )
        elif len(result.cells) < len(whole.cells):
            state.say(f"the whole table, with earlier cells: {table}")
        state.say(f"written to {result.folder}")


def _exit_if_failed(prepared: PreparedRun) -> None:
    """Exit with code 1 if a cell failed; first print the number of failed cells and a reason.

    With --debug, the different tracebacks are printed too, all on standard error.
    """
    from elmbench.runs.execute import failures_of

    n_failed, first_reason, tracebacks = failures_of(prepared)
    if not n_failed:
        return
    for traceback in tracebacks if state.debug else ():
        print(traceback, file=sys.stderr)
    debug = "" if state.debug or not tracebacks else ", --debug the traceback"
    # The first reason is printed here, because `status` has none after an edit of a plug-in, which
    # makes its cells new ones.
    text = (
        f"{amount(n_failed, 'cell')} failed; first reason: {first_reason}\n"
        f"`elmbench status` shows the reasons{debug}; --retry runs them again"
    )
    print(state.complete(text), file=sys.stderr)
    raise typer.Exit(1)


def show_plan(prepared: PreparedRun) -> None:
    """Print the planned work of a run, with rough durations; run nothing.

    With --json, print {"tables": [a dict for each data set and model of each table], "total":
    {...}}. The keys of the total are `planned`, `to_run` and `unavailable` (numbers of cells),
    `seconds` (on the `jobs` workers), `longest` (seconds of the longest task), `jobs`, and
    `unknown` (what has no known duration, so that it is not counted).
    """
    from elmbench.cli.plan_text import plan_table
    from elmbench.cli.progress import duration

    lines = [asdict(cost) for cost in prepared.cost_by_group()]
    counts = prepared.count_cells()
    jobs = prepared.options.settings.jobs
    seconds = prepared.seconds_on(jobs)
    longest = prepared.longest
    unknown = prepared.unknown
    total = {
        **counts,
        "seconds": seconds,
        "longest": longest,
        "jobs": jobs,
        "unknown": unknown,
    }
    state.emit({"tables": lines, "total": total}, plan_table(lines))
    estimate = (
        f"roughly {duration(seconds)}" if seconds or not unknown else "unknown time"
    )
    n_planned = amount(counts["planned"], "cell")
    parts = [
        f"{counts['to_run']} of {n_planned} would run, in {estimate} on {amount(jobs, 'worker')}"
    ]
    if counts["unavailable"]:
        parts.append(f"{counts['unavailable']} without data")
    if longest:
        parts.append(f"the longest search or fit takes {duration(longest)}")
    state.say("; ".join(parts) + ".")
    if unknown:
        state.say(
            f"Not counted: {', '.join(unknown)}; their durations are unknown until some cells have "
            "ended."
        )

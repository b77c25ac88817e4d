"""`elmbench run`, and what `elmbench compare` shares with it."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from elmbench.cli.app import app
from elmbench.cli.help import RERUN, execution_option, protocol_option, selection_option
from elmbench.cli.options import (
    DryRun,
    Figures,
    Jobs,
    Profile,
    Retry,
    Tables,
    Words,
    datasets,
    models,
    split_words,
    state,
)
from elmbench.errors import ElmbenchError, amount

if TYPE_CHECKING:
    from elmbench.execution.executors import Executor
    from elmbench.report.results import Results
    from elmbench.runs.prepare import PreparedRun

T = TypeVar("T")


@app.command("run", rich_help_panel=RERUN)
def run_command(
    experiments: Tables = None,
    paper: Annotated[
        str | None, selection_option(help="Run every experiment of this paper.")
    ] = None,
    everything: Annotated[
        bool, selection_option("--all", help="Run every experiment.")
    ] = False,
    profile: Profile = "fast",
    dataset: Annotated[
        Words,
        selection_option(
            "-d", "--dataset", help="Only these data sets.", autocompletion=datasets
        ),
    ] = None,
    model: Annotated[
        Words,
        selection_option(
            "-m",
            "--model",
            help="Only these models; also module:Class.",
            autocompletion=models,
        ),
    ] = None,
    select: Annotated[
        Words,
        protocol_option(
            help="nested, once, oracle or published; default: the profile's."
        ),
    ] = None,
    runs: Annotated[
        int | None,
        protocol_option(min=1, help="Number of runs; default: the profile's."),
    ] = None,
    reading: Annotated[
        Words,
        protocol_option(
            metavar="ID=VALUE", help="Use a reading; see `elmbench list readings`."
        ),
    ] = None,
    metric: Annotated[
        Words, protocol_option(help="Add a metric; see `elmbench list metrics`.")
    ] = None,
    grid: Annotated[
        Words,
        selection_option(
            metavar="GRID", help="Grid of an added model: 'my-model: {C: [1, 10]}'."
        ),
    ] = None,
    with_baselines: Annotated[
        bool,
        selection_option("--with-baselines", help="Add ridge, SVM, trees and others."),
    ] = False,
    other_data: Annotated[
        bool,
        protocol_option(
            "--other-data", help="Accept files that are not the public ones."
        ),
    ] = False,
    jobs: Jobs = 1,
    engine: Annotated[
        str, execution_option(help="local, or dask for a cluster; see docs/cluster.md.")
    ] = "local",
    scheduler: Annotated[
        str | None,
        execution_option(
            metavar="ADDRESS",
            help="Address of a dask scheduler, such as tls://HOST:8786.",
        ),
    ] = None,
    blas_threads: Annotated[
        int, execution_option(min=1, help="Linear algebra threads in each worker.")
    ] = 1,
    limit: Annotated[
        str,
        execution_option(
            metavar="LIMITS",
            help="Limits of each search and fit, such as time=600s,memory=4GB.",
        ),
    ] = "",
    figures: Figures = "png",
    dry_run: DryRun = False,
    retry: Retry = False,
    force: Annotated[
        bool, execution_option("--force", help="Run finished cells again.")
    ] = False,
) -> None:
    """Run experiments and write their tables. Finished cells are not computed again."""
    from elmbench.execution.executors import Settings, executor_of
    from elmbench.specs.limits import parse_limits

    settings = Settings(
        jobs=jobs,
        data_dir=state.data_dir,
        plugins=state.plugins,
        blas_threads=blas_threads,
        limits=parse_limits(limit),
    )
    with executor_of(engine, settings, scheduler) as executor:
        if not (dry_run or _has_run(experiments or (), paper, profile)):
            # The worker starts while the run is planned, which takes about as long, unless all may
            # be stored.
            executor.warm()
        # Imported here because these imports take seconds.
        from elmbench.runs.prepare import RunOptions, prepare_run
        from elmbench.specs.catalogue import refuse_blocked_tables
        from elmbench.specs.grids import read_all_grids
        from elmbench.tasks.plan import RunRequest

        options = RunOptions(
            experiments=tuple(experiments or ()),
            paper=paper,
            everything=everything,
            profile=profile,
            readings=_readings(reading or []),
            metrics=split_words(metric),
            request=RunRequest(
                datasets=split_words(dataset),
                models=split_words(model),
                select=split_words(select),  # type: ignore[arg-type]  # checked by `prepare_run`
                runs=runs,
                with_baselines=with_baselines,
                other_data=other_data,
                grids=read_all_grids(grid or []),
            ),
            settings=settings if dry_run else replace(settings, memory=executor.memory),
            retry=retry,
            force=force,
            figure_format=figures,
        )
        prepared = prepare_run(options, state.results_dir)
        if dry_run:
            show_plan(prepared)
        else:
            run_prepared(prepared, executor)
        if options.many_tables:
            refuse_blocked_tables(paper)


def _has_run(experiments: Sequence[str], paper: str | None, profile: str) -> bool:
    """Return True if each of these tables, or by default some table (of a paper), has results under
    a profile.
    """
    folders = [
        path.parent for path in (state.results_dir / profile).glob("*/*/cells.csv")
    ]
    tables = {folder.name for folder in folders if paper in (None, folder.parent.name)}
    return bool(tables) and tables.issuperset(
        PurePath(name).stem for name in experiments
    )


def _readings(texts: list[str]) -> dict[str, str]:
    """Return the readings of the option --reading, by id."""
    readings = {
        name: value for name, _, value in (text.partition("=") for text in texts)
    }
    if len(readings) < len(texts) or not all(readings.values()):
        problem = f"--reading is given as {', '.join(texts)}"
        raise ElmbenchError(
            problem,
            expected="ID=VALUE, each id once",
            next_step="elmbench list readings",
        )
    return readings


def run_prepared(
    prepared: PreparedRun,
    executor: Executor,
    finish: Callable[[list[Results]], None] = lambda results: None,
) -> None:
    """Run a plan with live progress, print its tables, call `finish`, and exit with code 1 if a
    cell failed.
    """
    from elmbench.runs.execute import execute

    results = run_cells(prepared, executor, execute)
    _show(results, prepared)
    finish(results)
    _exit_if_failed(prepared)


def run_cells(
    prepared: PreparedRun, executor: Executor, carry_out: Callable[..., T]
) -> T:
    """Carry out a plan by `execute` or `compute`, with live progress."""
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
            "without --force, the same command runs what is missing"
            if force
            else "the same command resumes"
        )
        print(f"interrupted: finished work is stored. Next: {step}", file=sys.stderr)
        raise typer.Exit(130) from None
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _show(results: Sequence[Results], prepared: PreparedRun) -> None:
    """Print the tables of a run: the part that it was about, or all of it as JSON."""
    from elmbench.report.results import part_of
    from elmbench.specs.profiles import COMPARE
    from elmbench.tables.result_table import CONCLUSION

    if state.as_json:
        from elmbench.report.results import records

        state.emit(
            [
                {
                    "experiment": result.resolved.file.id,
                    "profile": result.resolved.profile,
                    "folder": str(result.folder),
                    "cells": result.cells["status"].value_counts().to_dict(),
                    "summary": records(result.summary),
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
        if whole.claim_outcomes:
            state.say(
                f"tested claims of the paper: {len(whole.claim_outcomes)}; next: {table}"
            )
        elif len(result.cells) < len(whole.cells):
            state.say(f"the whole table, with earlier cells: {table}")
        state.say(f"written to {result.folder}")


def _exit_if_failed(prepared: PreparedRun) -> None:
    from elmbench.runs.execute import failures_of

    n_failed, first_reason, tracebacks = failures_of(prepared)
    if not n_failed:
        return
    for traceback in tracebacks if state.debug else ():
        print(traceback, file=sys.stderr)
    debug = "" if state.debug or not tracebacks else ", --debug the traceback"
    # The first reason: `status` has none once a plug-in is edited, which makes its cells new ones.
    text = (
        f"{amount(n_failed, 'cell')} failed; first reason: {first_reason}\n"
        f"`elmbench status` shows the reasons{debug}; --retry runs them again"
    )
    print(state.complete(text), file=sys.stderr)
    raise typer.Exit(1)


def show_plan(prepared: PreparedRun) -> None:
    """Print the planned work, with rough durations."""
    from elmbench.cli.progress import duration
    from elmbench.cli.render import plan_table

    lines = prepared.cost_by_entry()
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

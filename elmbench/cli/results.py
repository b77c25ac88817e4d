"""`elmbench status`, `merge`, `table`, `check`, `report` and `baseline`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from elmbench.cli import options
from elmbench.cli.app import app
from elmbench.cli.state import state
from elmbench.errors import ElmbenchError

baseline_app = typer.Typer(
    no_args_is_help=True, help="Change the baseline of the regression check.", rich_markup_mode=None
)
app.add_typer(baseline_app, name="baseline")


@app.command()
def status(experiment: options.Table = None) -> None:
    """Show how many cells of each table have ended, and how."""
    from elmbench.cli.progress import duration
    from elmbench.reporting.writers.text import grid
    from elmbench.running.store import Store
    from elmbench.workflow.status import table_status

    store = Store(state.results_dir)
    if experiment is not None and experiment not in {name for name, _ in store.tables()}:
        # Reading all experiment files takes a while.
        from elmbench.specs.catalogue import find_experiment

        experiment = find_experiment(experiment).id
    lines = table_status(store, experiment)
    rows = [
        (line.experiment, line.profile, line.planned, ", ".join(f"{n} {status}" for status, n in line.ended.items()))
        for line in lines
    ]
    text = grid(("experiment", "profile", "cells", "ended"), rows, right=("cells",)) if rows else None
    state.emit([asdict(line) for line in lines], text)
    if store.n_damaged:
        state.say(f"{store.n_damaged} damaged records in {store.root}: the next run computes them again")
    if not rows:
        committed = state.results_dirs.committed
        written = 0 if committed is None else len(list(committed.glob("*/*/*/cells.csv")))
        hint = f"{committed} holds {written} committed tables: elmbench table table4"
        state.say(f"nothing has been run into {state.results_dir}; {hint if written else 'next: elmbench run table4'}")
    for line in lines:
        table = f"{line.experiment} ({line.profile})"
        if missing := line.ended.get("missing"):
            estimate = f", about {duration(line.seconds_left)} on one worker" if line.seconds_left else ""
            state.say(f"{table}: {missing} cells left{estimate}; next:", line.command)
        state.say(*(f"{table}: {count} x {reason}" for reason, count in line.reasons.items()))


@app.command()
def merge(
    folders: Annotated[list[Path], typer.Argument(help="Results folders of other machines, with their .store.")],
    into: Annotated[
        Path | None, typer.Option(help="Folder of the joined results; by default the results folder.")
    ] = None,
) -> None:
    """Join the results of several machines and write the tables.

    Results with other specifications, data or versions are rejected.
    """
    from elmbench.workflow.merge import merge as join

    into = into or state.results_dir
    merged = join(folders, into)
    written = [str(result.folder) for result in merged.tables]
    content = {"results": merged.results, "tables": written, "unknown": merged.unknown, "damaged": merged.damaged}
    state.emit(content)
    state.say(f"{merged.results} results joined in {into}", *(f"written to {folder}" for folder in written))
    if merged.damaged:
        state.say(f"{merged.damaged} damaged records are left out: elmbench --results-dir {into} status")
    for name in merged.unknown:
        state.say(f"{name} is not a table of this installation: merged, not written; give --spec-dir, or compare again")


@app.command()
def table(
    experiment: options.Table = None,
    profile: options.Profile = "fast",
    form: Annotated[Literal["text", "md", "csv", "latex"], typer.Option("--format", help="Format.")] = "text",
    update: Annotated[
        bool, typer.Option("--update", help="Rewrite summary.csv and table.md, by default of all tables.")
    ] = False,
    statistics: Annotated[bool, typer.Option("--statistics", help="Compare the models over the data sets.")] = False,
    diagram: Annotated[
        Path | None, typer.Option(help="With --statistics: write the diagram of critical differences as PNG.")
    ] = None,
    metric: Annotated[
        options.Words, typer.Option(help="Add this metric, from stored predictions; ranks a comparison (own/NAME).")
    ] = None,
) -> None:
    """Print a table from its cells.csv."""
    from elmbench.cli.checks import format_table, show_statistics
    from elmbench.reporting.results import read_results, records
    from elmbench.specs.catalogue import find_experiment, load_catalogue
    from elmbench.specs.profiles import recorded_comparison, resolve

    if update:
        from elmbench.cli.progress import show_progress
        from elmbench.workflow.checks import update_tables

        updated = update_tables([experiment] if experiment else [], profile, state.results_dir, show_progress)
        folders = [str(folder) for folder in updated]
        state.emit(folders, "\n".join(f"written: {folder}/summary.csv, table.md" for folder in folders))
        return
    if experiment is None:
        raise ElmbenchError("no table is named", expected="an id or alias", next_step="elmbench list experiments")
    if experiment.startswith("own/") and experiment not in load_catalogue():
        resolved = recorded_comparison(experiment, state.results_dir)
    else:
        resolved = resolve(find_experiment(experiment), profile)
    dirs, key = state.results_dirs, (resolved.profile, resolved.file.id)
    if statistics or diagram is not None:
        show_statistics(read_results(resolved, dirs.find(*key)), diagram, form)
        return
    results = read_results(resolved, dirs.find(*key), options.split_words(metric))
    if state.as_json:
        state.emit(records(results.summary))
    elif form == "text":
        state.console.print(results.renderable(state.width))
    else:
        text = format_table(form, results.table, results.summary, results.commands, results.picture)
        state.console.file.write(text)
    if dirs.committed is not None:
        state.remark(dirs.origin(*key))


@app.command()
def check(
    experiments: options.Tables = None,
    against: Annotated[Literal["baseline", "published"], typer.Option(help="Reference.")] = "baseline",
    profile: Annotated[
        Literal["ci", "fast", "paper"] | None,
        typer.Option(help="Profile; the baseline has ci alone, published values go by the most faithful by default."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with code 1 if a figure differs from the paper.")
    ] = False,
) -> None:
    """Compare results with the baseline or the published values."""
    from elmbench.cli.checks import baseline_text, published_text
    from elmbench.cli.progress import show_progress
    from elmbench.layouts.table import COMPARED
    from elmbench.specs.catalogue import find_experiment
    from elmbench.workflow.checks import NothingToCompareError, check_baselines, check_published, published_record

    names = [find_experiment(name).id for name in experiments or ()]
    if against == "baseline":
        if profile not in (None, "ci"):
            raise ElmbenchError(
                f"--profile {profile}: baselines have the cells of profile ci alone",
                expected="profile ci, or a comparison with the paper",
                next_step=f"elmbench check {' '.join([*names, '--against'])} published --profile {profile}",
            )
        outcomes = check_baselines(names, state.results_dir)
        state.emit([{"experiment": name, **asdict(check)} for name, check in outcomes.items()], baseline_text(outcomes))
        compared = sum(check.compared for check in outcomes.values())
        differs = any(check.differences for check in outcomes.values())
    else:
        dirs = state.results_dirs
        papers = check_published(names, profile, dirs, show_progress)
        tables = [table for paper in papers for table in paper.tables]
        if state.as_json:
            state.emit(published_record(papers))
        elif papers:
            state.emit(None, published_text(papers))
        if dirs.committed is not None:
            state.remark(dirs.origins((table.results[0].resolved.profile, table.file.id) for table in tables))
        verdicts = [counts for table in tables for counts in table.counts]
        compared = sum(counts[verdict] for counts in verdicts for verdict in COMPARED)
        differs = strict and any(counts["differs"] for counts in verdicts)
    if not compared:
        raise NothingToCompareError(
            f"nothing was compared: {state.results_dir} holds no figure to compare",
            expected="results of an earlier run that ended ok",
            next_step=f"elmbench run {' '.join(names) or '--all'} --profile {profile or 'fast'}, then check again",
        )
    if differs:
        raise typer.Exit(1)


@baseline_app.command("update")
def update(experiments: Annotated[list[str], typer.Argument(autocompletion=options.tables)]) -> None:
    """Make the cells of profile ci the new baseline of these tables."""
    from elmbench.specs.catalogue import find_experiment
    from elmbench.workflow.checks import update_baselines

    names = [find_experiment(name).id for name in experiments]
    written = [
        {"experiment": name, "cells": count, "file": f"experiments/{name}.baseline.csv"}
        for name, count in update_baselines(names, state.results_dir).items()
    ]
    state.emit(written)
    state.say(*("{experiment}: {cells} cells are the baseline now ({file})".format(**line) for line in written))


@app.command()
def report(
    out: Annotated[
        Path | None, typer.Option(help="Folder of the site; by default `site` in the results folder.")
    ] = None,
) -> None:
    """Build the site of all results."""
    from elmbench.cli.progress import show_progress
    from elmbench.workflow.report import report

    page = report(state.results_dirs, out, show_progress)
    state.emit([str(page)], f"written: {page}")

"""`elmbench status`, `table`, `check` and `baseline`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from elmbench.cli import completion
from elmbench.cli.app import app
from elmbench.cli.state import as_json, state

if TYPE_CHECKING:
    from elmbench.specs.profiles import Resolved

baseline_app = typer.Typer(
    no_args_is_help=True, help="Change the baseline of the regression check.", rich_markup_mode=None
)
app.add_typer(baseline_app, name="baseline")

_Profile = Annotated[str, typer.Option(help="ci, fast or paper.")]


@app.command()
def status(experiment: Annotated[str | None, typer.Argument(autocompletion=completion.tables)] = None) -> None:
    """Show how many cells of each table are done, running, failed or missing."""
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
    endings = [", ".join(f"{n} {status}" for status, n in line.ended.items()) for line in lines]
    rows = [(line.experiment, line.profile, line.planned, text) for line, text in zip(lines, endings, strict=True)]
    text = grid(("experiment", "profile", "cells", "ended"), rows, right=("cells",)) if rows else None
    state.emit([asdict(line) for line in lines], text)
    if store.damaged:
        state.say(f"{store.damaged} damaged records in {store.root}: the next run computes them again")
    if not rows:
        committed = state.results_dirs.committed
        written = 0 if committed is None else len(list(committed.glob("*/*/*/cells.csv")))
        there = f"{committed} holds {written} committed tables: elmbench table table4"
        state.say(f"nothing has been run into {state.results_dir}; {there if written else 'next: elmbench run table4'}")
    for line in lines:
        if line.seconds_left:
            state.say(f"{line.experiment} ({line.profile}): about {duration(line.seconds_left)} left on one worker")
        for reason, count in line.reasons.items():
            state.say(f"{line.experiment} ({line.profile}): {count} x {reason}")


@app.command()
def merge(
    folders: Annotated[list[Path], typer.Argument(help="Results folders of other machines, with their .store.")],
    into: Annotated[
        Path | None, typer.Option(help="Where all of them are joined; the results folder if it is not given.")
    ] = None,
) -> None:
    """Join results of several machines and write the tables; other specs, data or versions are refused."""
    from elmbench.workflow.merge import merge as join

    merged = join(folders, into or state.results_dir)
    written = [str(result.folder) for result in merged.tables]
    state.emit({"results": merged.results, "tables": written, "unknown": merged.unknown})
    state.say(f"{merged.results} results joined in {into or state.results_dir}")
    for folder in written:
        state.say(f"written to {folder}")
    for name in merged.unknown:
        state.say(f"{name} is not a table of this installation: merged, not written; give --spec-dir, or compare again")


@app.command()
def table(
    experiment: Annotated[str | None, typer.Argument(autocompletion=completion.tables)] = None,
    profile: _Profile = "fast",
    form: Annotated[str, typer.Option("--format", help="text, md, csv or latex.")] = "text",
    update: Annotated[
        bool, typer.Option("--update", help="Rewrite summary.csv and table.md; of all tables if none is named.")
    ] = False,
    statistics: Annotated[bool, typer.Option("--statistics", help="Compare the models over the data sets.")] = False,
    diagram: Annotated[
        Path | None, typer.Option(help="With --statistics: write the critical differences of the ranks as PNG.")
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(help="Show this metric too, of stored predictions; a comparison (own/NAME) is ranked by it."),
    ] = None,
) -> None:
    """Print a table from its cells.csv."""
    from elmbench.cli.state import split_words
    from elmbench.errors import ElmbenchError, unknown_name
    from elmbench.specs.catalogue import find_experiment, load_catalogue
    from elmbench.specs.profiles import recorded_comparison, resolve

    if form not in ("text", "md", "csv", "latex"):
        raise unknown_name("format", form, ["text", "md", "csv", "latex"], "elmbench table --help")
    if update:
        _update_tables([experiment] if experiment else [], profile)
        return
    if experiment is None:
        raise ElmbenchError("no table is named", expected="an id or alias", next_step="elmbench list experiments")
    is_comparison = experiment.startswith("own/") and experiment not in load_catalogue()
    if is_comparison:
        resolved = recorded_comparison(experiment, state.results_dir)
    else:
        resolved = resolve(find_experiment(experiment), profile)
    if statistics or diagram is not None:
        _compare_models(resolved, diagram)
        return
    dirs = state.results_dirs
    state.console.file.write(_table_as(resolved, "json" if state.as_json else form, split_words(metric)))
    if dirs.committed is not None:
        state.remark(dirs.origin(resolved.profile, resolved.file.id))


def _table_as(resolved: Resolved, form: str, metrics: tuple[str, ...]) -> str:
    """Return a table as it is printed."""
    from elmbench.reporting.cells import csv
    from elmbench.reporting.folders import picture_in
    from elmbench.reporting.provenance import read_commands
    from elmbench.reporting.results import read_results
    from elmbench.reporting.writers.latex import latex
    from elmbench.reporting.writers.markdown import markdown

    results = read_results(resolved, state.results_dirs.of(resolved.profile, resolved.file.id), metrics)
    if form == "md":
        return markdown(results.table, read_commands(results.folder), picture_in(results.folder))
    if form == "csv":
        return csv(results.summary)
    if form == "latex":
        return latex(results.table)
    if form == "json":
        return as_json(results.summary_lines()) + "\n"
    with state.console.capture() as captured:
        state.console.print(results.renderable(state.width))
    return captured.get()


def _compare_models(resolved: Resolved, diagram: Path | None) -> None:
    from elmbench.cli.statistics import statistics_text
    from elmbench.files import write_atomically
    from elmbench.layouts.figures import title_of
    from elmbench.reporting.results import read_results
    from elmbench.reporting.statistics import compare_models, draw_critical_differences

    results_dir = state.results_dirs.of(resolved.profile, resolved.file.id)
    comparisons = compare_models(read_results(resolved, results_dir).summary, resolved)
    if diagram is not None:
        write_atomically(diagram, draw_critical_differences(comparisons[0], title_of(resolved)))
    state.emit([one.record() for one in comparisons], statistics_text(comparisons))


def _update_tables(names: list[str], profile: str) -> None:
    from elmbench.cli.progress import watched
    from elmbench.workflow.checks import update_tables

    folders = [str(folder) for folder in update_tables(names, profile, state.results_dir, watched)]
    state.emit(folders, "\n".join(f"written: {folder}/summary.csv, table.md" for folder in folders))


@app.command()
def check(
    experiments: Annotated[list[str] | None, typer.Argument(autocompletion=completion.tables)] = None,
    against: Annotated[str, typer.Option(help="baseline or published.")] = "baseline",
    profile: Annotated[
        str | None, typer.Option(help="ci against the baseline; otherwise the best one with results.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 where a figure differs from the paper.")
    ] = False,
) -> None:
    """Compare results with the committed baseline or with the published values."""
    from elmbench.errors import unknown_name
    from elmbench.specs.catalogue import find_experiment

    if against not in ("baseline", "published"):
        raise unknown_name("reference", against, ["baseline", "published"], "elmbench check --help")
    names = [find_experiment(name).id for name in experiments or ()]
    if against == "baseline":
        _check_baseline(names, profile or "ci")
    else:
        _check_published(names, profile, strict)


def _check_baseline(names: list[str], profile: str) -> None:
    from elmbench.cli.checks import baseline_text
    from elmbench.workflow.checks import check_baselines

    outcomes = check_baselines(names, profile, state.results_dir)
    lines = [{"experiment": name, **asdict(check)} for name, check in outcomes.items()]
    state.emit(lines, baseline_text(outcomes))
    _end(sum(check.compared for check in outcomes.values()), any(check.differences for check in outcomes.values()))


def _check_published(names: list[str], profile: str | None, strict: bool) -> None:
    from elmbench.cli.checks import published_text
    from elmbench.cli.progress import watched
    from elmbench.workflow.checks import check_published

    dirs = state.results_dirs
    checks = check_published(names, profile, dirs, watched)
    if state.as_json:
        state.emit([one.record() for one in checks])
    elif checks:
        state.emit(None, published_text(checks))
    if dirs.committed is not None:
        state.remark(dirs.origins((one.profile, one.experiment) for one in checks))
    _end(sum(one.compared for one in checks), strict and any(one.differs for one in checks))


def _end(compared: int, differs: bool) -> None:
    if not compared:
        from elmbench.workflow.checks import NothingToCompareError

        raise NothingToCompareError(
            f"nothing was compared: {state.results_dir} holds no figure to compare",
            expected="results of an earlier run that ended ok",
            next_step="elmbench run --all --profile ci (or fast), then check again",
        )
    if differs:
        raise typer.Exit(1)


@baseline_app.command("update")
def update(experiments: Annotated[list[str], typer.Argument()]) -> None:
    """Make the cells of profile ci the new baseline of these tables."""
    from elmbench.specs.catalogue import find_experiment
    from elmbench.workflow.checks import update_baselines

    names = [find_experiment(name).id for name in experiments]
    written = update_baselines(names, state.results_dir)
    files = {name: f"experiments/{name}.baseline.csv" for name in written}
    state.emit([{"experiment": name, "cells": count, "file": files[name]} for name, count in written.items()])
    for name, count in written.items():
        state.say(f"{name}: {count} cells are the baseline now ({files[name]})")


@app.command()
def report(
    out: Annotated[
        Path | None, typer.Option(help="Folder of the site; `site` in the results folder if it is not given.")
    ] = None,
) -> None:
    """Build the site of all results, and a page of readings for each paper."""
    from elmbench.cli.progress import watched
    from elmbench.workflow.report import report

    written = report(state.results_dirs, out, watched)
    state.emit([str(path) for path in written], "\n".join(f"written: {path}" for path in written))

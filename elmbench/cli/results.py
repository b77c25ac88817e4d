"""`elmbench status`, `table`, `check` and `baseline`."""

from dataclasses import asdict
from typing import Annotated

import typer

from elmbench.cli.app import app
from elmbench.cli.state import state

baseline_app = typer.Typer(
    no_args_is_help=True, help="Change the baseline of the regression check.", rich_markup_mode=None
)
app.add_typer(baseline_app, name="baseline")

#: Differences of a table that are printed.
_SHOWN = 20

_Profile = Annotated[str, typer.Option(help="ci, fast or paper.")]


@app.command()
def status(experiment: Annotated[str | None, typer.Argument()] = None) -> None:
    """Show how many cells of each table have ended, and how."""
    from elmbench.reporting.writers.text import grid
    from elmbench.running.store import Store
    from elmbench.workflow.status import table_status

    store = Store(state.results_dir)
    if experiment is not None and experiment not in {name for name, _ in store.tables()}:
        # It takes a while to read every file of experiments.
        from elmbench.specs.catalogue import find_experiment

        experiment = find_experiment(experiment).id
    lines = table_status(store, experiment)
    endings = [", ".join(f"{n} {status}" for status, n in line.ended.items()) for line in lines]
    rows = [(line.experiment, line.profile, line.planned, said) for line, said in zip(lines, endings, strict=True)]
    text = grid(("experiment", "profile", "cells", "ended"), rows, right=("cells",)) if rows else None
    state.emit([asdict(line) for line in lines], text)
    if store.damaged:
        state.say(f"{store.damaged} damaged records in {store.root}: the next run computes anew what they held")
    if not rows:
        state.say(f"nothing has been run into {state.results_dir}; next: elmbench run table4")
    for line in lines:
        for reason, count in line.reasons.items():
            state.say(f"{line.experiment} ({line.profile}): {count} x {reason}")


@app.command()
def table(
    experiment: str,
    profile: _Profile = "fast",
    form: Annotated[str, typer.Option("--format", help="text, md, csv or latex.")] = "text",
) -> None:
    """Print a table from its cells.csv."""
    from elmbench.errors import unknown_name
    from elmbench.reporting.results import PICTURE, read_commands, read_results
    from elmbench.reporting.writers.csv import csv
    from elmbench.reporting.writers.latex import latex
    from elmbench.reporting.writers.markdown import markdown
    from elmbench.reporting.writers.text import table_text
    from elmbench.specs.catalogue import find_experiment
    from elmbench.specs.profiles import resolve

    if form not in ("text", "md", "csv", "latex"):
        raise unknown_name("format", form, ["text", "md", "csv", "latex"], "elmbench table --help")
    results = read_results(resolve(find_experiment(experiment), profile), state.results_dir)
    if state.as_json:
        state.emit(results.summary_lines())
    elif form == "text":
        state.console.print(table_text(results.table))
    elif form == "md":
        picture = PICTURE if (results.folder / PICTURE).is_file() else None
        typer.echo(markdown(results.table, read_commands(results.folder), picture), nl=False)
    elif form == "csv":
        typer.echo(csv(results.summary), nl=False)
    else:
        typer.echo(latex(results.table), nl=False)


@app.command()
def check(
    experiments: Annotated[list[str] | None, typer.Argument()] = None,
    against: Annotated[str, typer.Option(help="baseline or published.")] = "baseline",
    profile: Annotated[str | None, typer.Option(help="ci against the baseline, fast otherwise.")] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 where a figure differs from the paper.")
    ] = False,
) -> None:
    """Compare results with the committed baseline or with the published values."""
    from elmbench.errors import unknown_name

    if against not in ("baseline", "published"):
        raise unknown_name("reference", against, ["baseline", "published"], "elmbench check --help")
    from elmbench.specs.catalogue import find_experiment

    names = [find_experiment(name).id for name in experiments or ()]
    if against == "baseline":
        _check_baseline(names, profile or "ci")
    else:
        _check_published(names, profile or "fast", strict)


def _check_baseline(names: list[str], profile: str) -> None:
    from elmbench.cli.render import grid
    from elmbench.workflow.checks import check_baselines

    outcomes = check_baselines(names, profile, state.results_dir)
    lines = [{"experiment": name, **asdict(found)} for name, found in outcomes.items()]
    rows = [(name, found.compared, len(found.differences)) for name, found in outcomes.items()]
    state.emit(lines, grid(("experiment", "cells compared", "differ"), rows, right=("cells compared", "differ")))
    for name, found in outcomes.items() if not state.as_json else ():
        for d in found.differences[:_SHOWN]:
            state.emit(None, f"{name}: {d.place}: {d.what} is {d.found}, baseline {d.baseline} (allowed: {d.allowed})")
        if len(found.differences) > _SHOWN:
            state.emit(None, f"{name}: and {len(found.differences) - _SHOWN} more; --json has them all")
    _end(sum(found.compared for found in outcomes.values()), any(found.differences for found in outcomes.values()))


def _check_published(names: list[str], profile: str, strict: bool) -> None:
    from elmbench.cli.render import grid
    from elmbench.layouts.table import JUDGED
    from elmbench.workflow.checks import COUNTED, check_published

    checks = check_published(names, profile, state.results_dir)
    lines = [{"experiment": name, **counts} for name, counts in checks.items()]
    rows = [(name, *counts.values()) for name, counts in checks.items()]
    state.emit(lines, grid(("experiment", *COUNTED), rows, right=COUNTED) if rows else None)
    compared = sum(counts[verdict] for counts in checks.values() for verdict in JUDGED)
    _end(compared, strict and any(counts["differs"] for counts in checks.values()))


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
def report() -> None:
    """Write a page for each paper: what each reading changes in its tables."""
    from elmbench.reporting.readings import write_all_readings
    from elmbench.specs.catalogue import load_catalogue

    papers = dict.fromkeys(file.spec.paper for file in load_catalogue().values() if file.paper.readings)
    written = [str(path) for path in write_all_readings(list(papers), state.results_dir)]
    state.emit(written, "\n".join(f"written: {path}" for path in written))

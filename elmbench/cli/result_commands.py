"""`elmbench status`, `merge`, `table`, `check`, `report` and `baseline`."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from elmbench.cli import options
from elmbench.cli.app import app
from elmbench.cli.help import (
    RERUN,
    RESULTS,
    comparison_option,
    output_option,
    protocol_option,
)
from elmbench.cli.options import state
from elmbench.errors import ElmbenchError, amount
from elmbench.files import check_outputs
from elmbench.report.writers import TableFormat
from elmbench.results.folders import FigureFormat

if TYPE_CHECKING:
    from rich.table import Table

baseline_app = app.add_group(
    "baseline", help="Change the baseline of the regression check.", panel=RESULTS
)

# The options of `elmbench table`.
_Format = Annotated[
    TableFormat,
    output_option("--format", help=f"Format: {', '.join(get_args(TableFormat))}."),
]
_Update = Annotated[
    bool, output_option("--update", help="Rewrite the files beside cells.csv.")
]
_Statistics = Annotated[
    bool, output_option("--statistics", help="Compare the models over the data sets.")
]
_Diagram = Annotated[
    Path | None, output_option(help="Draw critical differences: .png, .pdf or .svg.")
]
_AddedMetrics = Annotated[
    options.Words,
    protocol_option(help="Add a metric; the first one ranks a comparison."),
]
_AllReadings = Annotated[
    bool,
    protocol_option(
        "--readings", help="Print all readings, not only the default ones."
    ),
]
# The options of `elmbench report`.
_SiteFolder = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Folder of the site; default: RESULTS/site."),
]
_Force = Annotated[
    bool,
    typer.Option(
        "--force",
        help="Write into a folder with files of your own; replace those named like a page.",
    ),
]


@app.command("status", rich_help_panel=RERUN)
def status_command(experiment: options.Table = None) -> None:
    """Show the number of cells of each table by status.

    The command that runs the missing cells follows, and the reasons why cells did not end ok.
    """
    from elmbench.execution.store import Store
    from elmbench.runs.status import is_known_table, table_status

    store = Store(state.results_dir)
    lines = [
        line | {"command": state.complete(line["command"])}
        for line in table_status(store, experiment)
    ]
    state.emit(lines, _status_text(lines))
    is_incomplete = not lines or any("missing" in line["ended"] for line in lines)
    if store.n_damaged and is_incomplete:
        damaged = amount(store.n_damaged, "damaged record")
        state.say(f"{store.root} has {damaged}; a run computes the missing cells")
    if not lines:
        state.say(f"{state.results_dir} holds no runs; {_first_step()}")
    for line in lines:
        if is_known_table(line["experiment"], line["profile"]):
            _say_what_is_left(line)
        else:
            name = f"{line['experiment']} ({line['profile']})"
            state.say(f"{name} is not a table of this installation. Next: --spec-dir")


def _status_text(lines: Sequence[Mapping[str, Any]]) -> "Table | None":
    """Return a table of the numbers of cells by status, to be printed by rich; None without lines.

    `lines`: for each table and profile, a mapping with `experiment` (an id), `profile`, `planned`
    (the number of cells) and `ended` ({status: number of cells}).
    """
    from elmbench.report.writers.text import lines_text

    if not lines:
        return None
    rows = []
    for line in lines:
        ended = ", ".join(f"{n} {status}" for status, n in line["ended"].items())
        rows.append([line["experiment"], line["profile"], line["planned"], ended])
    return lines_text(
        ("experiment", "profile", "cells", "ended"), rows, right=("cells",)
    )


def _first_step() -> str:
    """Return the next step of a user without runs, as text with a command.

    It is that of a first run, or the one that shows a committed table if there are any.
    """
    committed = state.results_dirs.committed
    n_tables = 0 if committed is None else len(list(committed.glob("*/*/*/cells.csv")))
    if not n_tables:
        return "next: elmbench run table4"
    return f"{committed} holds {n_tables} committed tables: elmbench table table4"


def _say_what_is_left(line: Mapping[str, Any]) -> None:
    """Print the number of missing cells of a table and the command that runs them.

    Their duration follows the number; then come the reasons why cells did not end ok. Nothing is
    printed if all did. `line`: a mapping with `experiment`, `profile`, `ended` (a Counter of cells
    by status), `seconds_left`, `unknown` (models whose duration is unknown), `command` and
    `reasons` ({reason: number of cells}).
    """
    from elmbench.cli.progress import duration

    table = f"{line['experiment']} ({line['profile']})"
    missing = line["ended"]["missing"]
    if missing:
        estimate = ""
        if line["seconds_left"]:
            estimate += f", about {duration(line['seconds_left'])} on one worker"
        if line["unknown"]:
            estimate += f"; the duration of {', '.join(line['unknown'])} is unknown"
        state.say(
            f"{table}: {amount(missing, 'cell')} left{estimate}; next:", line["command"]
        )
    state.say(
        *(f"{table}: {count} x {reason}" for reason, count in line["reasons"].items())
    )


@app.command("merge", rich_help_panel=RERUN)
def merge_command(
    folders: Annotated[
        list[Path],
        typer.Argument(help="Results folders of other machines, with their .store."),
    ],
    target: Annotated[
        Path | None,
        typer.Option(
            "--into", metavar="FOLDER", help="Target folder; default: --results-dir."
        ),
    ] = None,
    figures: options.Figures = "png",
) -> None:
    """Join the results of several machines and write the tables.

    Results with different specifications, data or versions are rejected.
    """
    from elmbench.runs.merge import merge_results

    target = target or state.results_dir
    merged = merge_results(folders, target, figures)
    state.emit(asdict(merged))
    state.say(f"joined in {target}: {amount(merged.results, 'result')}")
    state.say(*(f"written to {folder}" for folder in merged.tables))
    if merged.damaged:
        state.say(
            f"left out: {amount(merged.damaged, 'damaged record')}; elmbench --results-dir "
            f"{target} status"
        )
    for name in merged.unknown:
        state.say(
            f"{name} is not a table of this installation: joined, not written. Next: --spec-dir or "
            "compare again"
        )


@app.command("table", rich_help_panel=RESULTS)
def table_command(
    experiment: options.Table = None,
    profile: options.Profile = "fast",
    form: _Format = "text",
    update: _Update = False,
    figures: options.Figures = "png",
    statistics: _Statistics = False,
    diagram: _Diagram = None,
    metric: _AddedMetrics = None,
    readings: _AllReadings = False,
) -> None:
    """Print a table or its statistics from its cells.csv, or rewrite its other files."""
    from elmbench.report.shown_results import shown_results
    from elmbench.report.table_results import frame_json_dicts
    from elmbench.results.folders import check_not_results
    from elmbench.specs.profiles import find_resolved

    if update:
        _update_files(experiment, profile, figures)
        return
    if experiment is None:
        raise ElmbenchError(
            "no table is named",
            expected="an id or alias",
            next_step="elmbench list experiments",
        )
    _check_picture(figures, diagram)
    resolved = find_resolved(experiment, profile, state.results_dir)
    dirs = state.results_dirs
    key = (resolved.profile, resolved.file.id)
    if diagram is not None:
        check_outputs([("--diagram", diagram)], [resolved.file.path])
        check_not_results([("--diagram", diagram)], dirs)
    results = shown_results(resolved, dirs, options.split_words(metric))
    if statistics or diagram is not None:
        from elmbench.cli.table_statistics import show_statistics

        show_statistics(results, diagram, form)
        return
    if state.as_json:
        state.emit(frame_json_dicts(results.summary))
    elif form == "text":
        state.console.print(results.renderable(state.width, readings=readings))
        if results.n_other_readings and not readings:
            state.say(
                f"{amount(results.n_other_readings, 'other reading')}: --readings"
            )
    else:
        from elmbench.cli.table_statistics import format_table

        # A page of LaTeX has as little room as a terminal.
        shows_all = readings or form != "latex"
        text = format_table(
            form,
            table=results.table if shows_all else results.default_table,
            frame=results.summary,
            commands=results.commands,
            picture=results.picture,
            resolved=resolved,
        )
        state.write(text)
        if not shows_all and results.n_other_readings:
            state.remark(
                f"{amount(results.n_other_readings, 'other reading')}: --readings"
            )
    if dirs.committed is not None:
        state.remark(dirs.origin(*key))


def _update_files(
    experiment: str | None, profile: str, figure_format: FigureFormat
) -> None:
    """Rewrite the files beside the `cells.csv` of a table or of all, and print their folders.

    `experiment`: the id or alias of a table; None for all tables with results under `profile`.
    Raises NothingToCompareError if there are no results.
    """
    from elmbench.cli.progress import show_tables
    from elmbench.report.update_tables import update_tables

    with show_tables() as watch:
        updated = update_tables(
            experiment, profile, state.results_dir, watch, figure_format
        )
    folders = [str(folder) for folder in updated]
    state.emit(folders, "\n".join(f"written to {folder}" for folder in folders))


def _check_picture(figures: str, diagram: Path | None) -> None:
    """Raise ElmbenchError if --figure-format or the file of --diagram cannot be used.

    This is for a command without --update, which writes no figures, so `figures` must be the
    default, "png". `diagram`: must end in .png, .pdf or .svg; None if it is not given.
    """
    if figures != "png":
        raise ElmbenchError(
            "--figure-format is given without --update",
            expected="a command that writes figures",
            next_step="add --update, or give --diagram a name that ends in .svg or .pdf",
        )
    if diagram is not None and diagram.suffix.lower() not in (".png", ".pdf", ".svg"):
        raise ElmbenchError(
            f"{diagram}: unknown kind of picture",
            expected="a name that ends in .png, .pdf or .svg",
            next_step="change the ending of its name",
        )


@app.command("check", rich_help_panel=RESULTS)
def check_command(
    experiments: options.Tables = None,
    against: Annotated[
        Literal["baseline", "published"] | None,
        comparison_option(
            help="Compare with baseline or published; default: baseline, or published if there are "
            "no baselines."
        ),
    ] = None,
    profile: Annotated[
        Literal["ci", "fast", "paper"] | None,
        comparison_option(
            help="ci, fast or paper; default: ci, or nearest to the paper."
        ),
    ] = None,
    strict: Annotated[
        bool,
        comparison_option(
            "--strict",
            help="Exit with code 1 if a table unexpectedly does not hold or holds in part, with 3 "
            "if none is decided. A table that holds but for some models is no error.",
        ),
    ] = False,
    print_only: Annotated[
        bool,
        comparison_option(
            "--print-only",
            help="Check whether the print contradicts itself; run nothing.",
        ),
    ] = False,
) -> None:
    """Compare results with the baseline or the published values.

    The exit code is 1 if a cell differs from its baseline, and 3 if nothing is compared.
    """
    from elmbench.report.checks.baseline_check import default_comparison
    from elmbench.specs.catalogue import find_experiment, refuse_blocked_tables

    if print_only:
        if _check_print(experiments or ()) and strict:
            raise typer.Exit(1)
        if not experiments:
            refuse_blocked_tables()
        return
    names = [find_experiment(name).id for name in experiments or ()]
    if against is None:
        against = default_comparison(names)
    if against == "baseline":
        code = int(_check_against_baseline(names, profile))
    else:
        code = _check_against_papers(names, profile, strict=strict)
    if code:
        raise typer.Exit(code)
    if not names:
        refuse_blocked_tables()


def _check_print(names: Sequence[str]) -> bool:
    """Print where published tables contradict themselves; return True if any does.

    `names`: ids or aliases of tables, or keys of papers; all tables if empty. Raises
    NothingToCompareError if none has published values.
    """
    from elmbench.cli.check_text import findings_text
    from elmbench.report.checks.print_findings import check_prints, findings_json_dicts

    checked = check_prints(names)
    state.emit(findings_json_dicts(checked), findings_text(checked))
    return any(table.findings for table in checked)


def _check_against_baseline(names: list[str], profile: str | None) -> bool:
    """Print the comparison of tables with their baselines; return True if a cell differs.

    `names`: ids of tables, each with a baseline and results; if empty, all tables with both.
    `profile`: None or "ci"; another one raises ElmbenchError. Raises NothingToCompareError if no
    cell is compared.
    """
    from elmbench.cli.check_text import baseline_text
    from elmbench.report.checks.baseline_check import check_baselines
    from elmbench.report.checks.checked_tables import nothing_compared

    outcomes = check_baselines(names, state.results_dir, profile or "ci")
    json_dicts = []
    compared = 0
    differs = False
    for name, check in outcomes.items():
        json_dicts.append({"experiment": name, **check})
        compared += check["compared"]
        differs = differs or bool(check["differences"])
    state.emit(json_dicts, baseline_text(outcomes))
    if not compared:
        raise nothing_compared([], profile, state.results_dir)
    return differs


def _check_against_papers(
    names: list[str], profile: str | None, *, strict: bool
) -> int:
    """Print the comparison of tables with their papers; return the exit code.

    `names`: ids of tables; if empty, all with results. `profile`: None for the most faithful one
    with results. The code is 0 unless `strict`, which also prints the objections on standard error:
    it is then 1 if a table unexpectedly does not hold or holds in part, and 3 if none is decided.
    Raises NothingToCompareError if no value is compared.
    """
    from elmbench.cli.check_text import check_text
    from elmbench.cli.progress import show_tables
    from elmbench.report.checks.published_check import recall_check

    dirs = state.results_dirs
    with show_tables() as watch:
        check = recall_check(names, profile, dirs, watch, as_json=state.as_json)
    if state.as_json:
        state.emit(check.json_dicts)
    elif check.tables:
        state.emit(None, check_text(check.blocks))
    if check.origins:
        state.remark(check.origins)
    if not check.compared:
        from elmbench.report.checks.checked_tables import nothing_compared

        raise nothing_compared(
            check.tables, check.profile or profile, state.results_dir
        )
    if not strict:
        return 0
    for objection in check.objections:
        typer.echo(objection, err=True)
    return check.strict_code


@app.command("pages", rich_help_panel=RESULTS)
def pages_command(
    documents: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILES", help="Markdown files; default: README.md and docs/."
        ),
    ] = None,
) -> None:
    """Rewrite the marked blocks of Markdown files from results.

    If a block cannot be made, no file changes.
    """
    from elmbench.report.documents import default_documents, update_documents
    from elmbench.report.result_blocks import ResultBlocks

    project = state.project
    folder = Path() if project is None else Path(os.path.relpath(project.file.parent))
    paths = documents or default_documents(folder)
    updated = update_documents(paths, ResultBlocks(state.results_dirs))
    changed = [str(path) for path in updated]
    state.emit(changed, "\n".join(f"written to {path}" for path in changed) or None)
    n_unchanged = len(paths) - len(changed)
    if n_unchanged:
        state.say(f"{amount(n_unchanged, 'file')} unchanged")


@baseline_app.command("update")
def baseline_update_command(experiments: Annotated[list[str], options.TABLE]) -> None:
    """Make the cells of profile ci the new baseline of these tables.

    If a table has no cells or failed ones, no baseline changes.
    """
    from elmbench.report.checks.baseline_check import update_baselines

    lines = update_baselines(experiments, state.results_dir)
    state.emit(lines)
    state.say(
        *(
            "{experiment}: the baseline is now {cells} cells ({file})".format(**line)
            for line in lines
        )
    )


@app.command("report", rich_help_panel=RESULTS)
def report_command(out: _SiteFolder = None, force: _Force = False) -> None:
    """Build the site of all results. Other files in its folder stay; see --force."""
    from elmbench.cli.progress import show_tables
    from elmbench.report.build_site import PASSES, build_report, comparisons_in

    with show_tables(PASSES) as watch:
        page = build_report(state.results_dirs, out, watch, force=force)
    state.emit([str(page)], f"written to {page}")
    if names := comparisons_in(state.results_dir):
        state.say(
            f"comparisons are left out: {', '.join(names)}",
            "to write a page: elmbench compare ... --html FILE",
        )

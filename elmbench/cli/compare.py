"""`elmbench compare`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from elmbench.cli.app import app
from elmbench.cli.state import check_decimal, split_words, state

if TYPE_CHECKING:
    from elmbench.reporting.results import Results
    from elmbench.workflow.prepare import PreparedRun


@app.command()
def compare(
    data: Annotated[list[str], typer.Argument(help="Files (see docs), openml:ID or sklearn:NAME.")],
    target: Annotated[str, typer.Option("-t", "--target", help="Target column; else by name, or the last.")] = "",
    model: Annotated[
        list[str] | None, typer.Option("-m", "--model", help="Models, by commas or repeated; else a dozen.")
    ] = None,
    grid: Annotated[list[str] | None, typer.Option(help="Grid of a model: 'k-elm: {C: [1, 10]}'.")] = None,
    task: Annotated[str | None, typer.Option(help="classification or regression; else by the target.")] = None,
    positive: Annotated[str, typer.Option(help="Class that precision and F1 are of; else the last.")] = "",
    metric: Annotated[
        list[str] | None,
        typer.Option(help="Metrics or scorers; the first chooses and ranks."),
    ] = None,
    folds: Annotated[int, typer.Option(min=2, help="Outer folds.")] = 5,
    runs: Annotated[int, typer.Option(min=1, help="Repetitions of the folds.")] = 1,
    fold: Annotated[str | None, typer.Option(help="Column with the outer fold of each row.")] = None,
    test: Annotated[str, typer.Option(help="File of held-out rows: all of DATA is learnt.")] = "",
    groups: Annotated[str | None, typer.Option(help="Column of groups that stay in one fold.")] = None,
    weights: Annotated[str | None, typer.Option(help="Column with the weight of each row in fits.")] = None,
    time_order: Annotated[
        str | None, typer.Option("--time-order", help="Column to sort by; each fold follows its rows.")
    ] = None,
    dates: Annotated[str, typer.Option(help="Order of 1/2/2023: day-first or month-first.")] = "",
    drop: Annotated[list[str] | None, typer.Option(help="Column to leave out; repeatable.")] = None,
    words: Annotated[list[str] | None, typer.Option(help="Column of categories that look like numbers.")] = None,
    drop_missing_target: Annotated[
        bool, typer.Option("--drop-missing-target", help="Leave out rows without a target.")
    ] = False,
    sep: Annotated[str, typer.Option(help="Separator of a text table; else detected.")] = "",
    decimal: Annotated[str, typer.Option(help="Decimal mark, '.' or ','; else detected.")] = "",
    header: Annotated[
        bool | None, typer.Option("--header/--no-header", help="Whether line 1 holds names; else detected.")
    ] = None,
    impute: Annotated[bool, typer.Option("--impute", help="Fill missing values in, by training rows.")] = False,
    name: Annotated[str, typer.Option(help="Name of the folder of the results.")] = "",
    jobs: Annotated[int, typer.Option("-j", "--jobs", min=1, help="Worker processes.")] = 1,
    limit: Annotated[str, typer.Option(help="Limit of each search and fit.  [default: time=600s]")] = "",
    budget: Annotated[str, typer.Option(help="Time for all, such as 10min: cheap models first.")] = "",
    save: Annotated[Path | None, typer.Option(help="Write the best model, fitted to all rows (joblib).")] = None,
    page: Annotated[Path | None, typer.Option("--html", help="Write a page of tables, charts and importances.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would run, and how long.")] = False,
    retry: Annotated[bool, typer.Option("--retry", help="Run again what ended other than ok.")] = False,
) -> None:
    """Compare models on your own data by nested search. Stored results are not computed again."""
    from elmbench.cli.run import run_prepared, show_plan
    from elmbench.errors import unknown_name
    from elmbench.running.executors.base import Settings
    from elmbench.running.executors.local import LocalExecutor
    from elmbench.running.store import Store
    from elmbench.specs.limits import parse_limits

    command = shlex.join(["elmbench", *sys.argv[1:]])
    if task not in (None, "classification", "regression"):
        raise unknown_name("task", str(task), ["classification", "regression"], "elmbench compare --help")
    if dates not in ("", "day-first", "month-first"):
        raise unknown_name("order of day and month", dates, ["day-first", "month-first"], "elmbench compare --help")
    check_decimal(decimal, "compare")
    settings = Settings(jobs, None, state.plugins, 1, parse_limits(limit))
    with LocalExecutor(settings) as executor:
        if not (dry_run or budget or Store(state.results_dir).has_command(command)):
            # The worker starts while the comparison is planned, unless its results are stored.
            executor.warm()
        from elmbench.datasets.user_data import UserData
        from elmbench.specs.grids import read_all_grids
        from elmbench.workflow.comparison import Comparison, prepare_comparison
        from elmbench.workflow.prepare import RunOptions

        kind = cast(Literal["classification", "regression"] | None, task)
        day_first = {"day-first": True, "month-first": False}.get(dates)
        rows = tuple(
            UserData(
                location,
                target,
                kind,
                groups=groups,
                ordered_by=time_order,
                impute=impute,
                day_first=day_first,
                drop=tuple(drop or ()),
                words=tuple(words or ()),
                separator=sep,
                decimal=cast(Literal["", ".", ","], decimal),
                header=header,
                drop_missing_target=drop_missing_target,
                test=test,
                fold=fold,
                weights=weights,
                positive=positive,
            )
            for location in data
        )
        asked = Comparison(
            rows, split_words(model), read_all_grids(grid or []), split_words(metric), folds, runs, limit, name
        )
        options = RunOptions(settings=settings, retry=retry, command=command)
        if budget and not dry_run:
            from elmbench.cli.run import run_cells
            from elmbench.workflow.budget import spend
            from elmbench.workflow.execute import compute

            prepared = spend(
                asked, options, state.results_dir, budget, lambda run, executor: run_cells(run, executor, compute)
            )
        else:
            prepared = prepare_comparison(asked, options, state.results_dir)
        for resolved, plan in prepared.tables:
            remarks = {cell.dataset: cell.remarks for cell in plan.cells}
            for name, spec in resolved.datasets.items():
                state.say(f"{spec.title}: {spec.shape.instances} rows, {spec.shape.features} features")
                for remark in filter(None, remarks.get(name, "").split("; ")):
                    state.say(f"- {remark}")
        if dry_run:
            show_plan(prepared)
        else:

            def finish(tables: list[Results]) -> None:
                (results,) = tables
                if len(rows) > 1 and not state.as_json:
                    _show_statistics(results)
                if save is not None:
                    from elmbench.workflow.takeaway import fit_final
                    from elmbench.workflow.takeaway import save as write_model

                    write_model(fit_final(prepared, results), save)
                    state.say(f"written to {save}; next: elmbench predict {save} NEW.csv")
                    state.say("Loading a joblib file runs code that it names: load only files that you trust.")
                if page is not None:
                    _write_page(prepared, results, page)

            run_prepared(prepared, executor, finish)


def _show_statistics(results: Results) -> None:
    """Print the comparison of the models over the data sets, if there are two models or more."""
    from elmbench.cli.statistics import statistics_text
    from elmbench.errors import ElmbenchError
    from elmbench.reporting.statistics import compare_models

    try:
        state.console.print(statistics_text(compare_models(results.summary, results.resolved)))
    except ElmbenchError:
        return
    state.say(f"picture: elmbench table {results.resolved.file.id} --diagram FILE.png")


def _write_page(prepared: PreparedRun, results: Results, path: Path) -> None:
    """Compute the permutation importance of the best models, with live progress, and write the page."""
    from elmbench.cli.run import run_cells
    from elmbench.running.executors.local import LocalExecutor
    from elmbench.workflow.execute import compute
    from elmbench.workflow.own_page import failures_of, plan_importance, write_own_page

    importance = plan_importance(prepared, results)
    if importance.todo:
        state.say("permutation importance of the columns for the best model, on its test folds:")
        with LocalExecutor(prepared.options.settings) as executor:
            run_cells(importance, executor, compute)
    for reason in failures_of(importance):
        state.say(f"no permutation importance of a test part: {reason}")
    write_own_page(prepared, importance, results, path)
    state.say(f"written to {path}")

"""`elmbench compare` and `elmbench predict`.

What `compare` prints and writes is in `elmbench.cli.compare_output`.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from typer import Option

from elmbench.cli.app import app
from elmbench.cli.compare_output import ComparisonOutputs, finish_comparison, show_data
from elmbench.cli.help import (
    OWN_DATA,
    column_option,
    execution_option,
    format_option,
    model_option,
    output_option,
    split_option,
)
from elmbench.cli.options import (
    DecimalMark,
    DryRun,
    Jobs,
    Retry,
    Words,
    models,
    split_words,
    state,
)
from elmbench.cli.progress import show_reading, show_wait, size_of
from elmbench.cli.run_and_show import run_cells, run_prepared, show_plan
from elmbench.files import check_folder

if TYPE_CHECKING:
    from elmbench.comparison.request import ComparisonRequest
    from elmbench.execution.executors import Executor
    from elmbench.runs.prepare import PreparedRun, RunOptions


@app.command("compare", rich_help_panel=OWN_DATA)
def compare_command(
    data: Annotated[
        list[str],
        typer.Argument(
            help="Data sets, each a CSV file or the like, openml:ID or sklearn:NAME."
        ),
    ],
    target: Annotated[
        str,
        column_option(
            "-t", "--target", help="Column to predict; detected by name, else the last."
        ),
    ] = "",
    model: Annotated[
        Words,
        model_option(
            "-m",
            "--model",
            help="Models or module:Class; default: up to 15 models.",
            autocompletion=models,
        ),
    ] = None,
    grid: Annotated[
        Words,
        model_option(metavar="GRID", help="Grid of a model: 'k-elm: {C: [1, 10]}'."),
    ] = None,
    task: Annotated[
        Literal["classification", "regression"] | None,
        column_option(help="classification or regression; detected by default."),
    ] = None,
    positive: Annotated[
        str, column_option(help="Positive class; default: a rare class, or the last.")
    ] = "",
    metric: Annotated[
        Words, model_option(help="Metrics; the first chooses candidates and ranks.")
    ] = None,
    folds: Annotated[
        int | None, split_option(min=2, help="Outer folds.  [default: 5]")
    ] = None,
    runs: Annotated[
        int, split_option(min=1, max=10_000, help="Repeats of the folds.")
    ] = 1,
    fold: Annotated[
        str | None, split_option(help="Column with the outer fold of each row.")
    ] = None,
    test: Annotated[
        str,
        split_option(
            metavar="FILE", help="File of held-out rows; DATA is the training part."
        ),
    ] = "",
    groups: Annotated[
        str | None, split_option(help="Column of groups that stay in one fold.")
    ] = None,
    weights: Annotated[
        str | None, column_option(help="Column with the weight of each row in fits.")
    ] = None,
    time_order: Annotated[
        str | None,
        split_option(help="Column of times; earlier rows predict later ones."),
    ] = None,
    dates: Annotated[
        Literal["day-first", "month-first"] | None,
        format_option(help="Order of 1/2/2023: day-first or month-first."),
    ] = None,
    drop: Annotated[
        Words, column_option(help="Column to leave out; repeatable.")
    ] = None,
    words: Annotated[
        Words, column_option(help="Column of categories that look like numbers.")
    ] = None,
    text: Annotated[
        Words, column_option(help="Text column; its words become features.")
    ] = None,
    drop_missing_target: Annotated[
        bool,
        column_option("--drop-missing-target", help="Leave out rows without a target."),
    ] = False,
    sep: Annotated[
        str,
        format_option(
            metavar="MARK", help="Separator of a text table; detected by default."
        ),
    ] = "",
    decimal: DecimalMark = None,
    header: Annotated[
        bool | None,
        format_option(
            "--header/--no-header",
            help="Line 1 holds names, or data; detected by default.",
        ),
    ] = None,
    no_impute: Annotated[
        bool,
        column_option(
            "--no-impute", help="Reject missing values instead of imputing them."
        ),
    ] = False,
    name: Annotated[
        str, output_option(help="Name of the results; default: name of the data.")
    ] = "",
    jobs: Jobs = 1,
    limit: Annotated[
        str,
        execution_option(
            metavar="LIMITS", help="Limit of each search and fit.  [default: time=600s]"
        ),
    ] = "",
    budget: Annotated[
        str,
        execution_option(
            metavar="TIME", help="Total time, such as 10min; begins with few rows."
        ),
    ] = "",
    save: Annotated[
        Path | None,
        output_option(help="Write the model fitted to DATA: .joblib or .skops."),
    ] = None,
    page: Annotated[
        Path | None,
        output_option("--html", help="Write a page of tables, charts and importances."),
    ] = None,
    dry_run: DryRun = False,
    retry: Retry = False,
) -> None:
    """Compare models on your own data by nested search. Stored results are reused."""
    from elmbench.execution.executors import Settings
    from elmbench.execution.executors.local import LocalExecutor
    from elmbench.execution.store import Store
    from elmbench.specs.limits import parse_duration, parse_limits

    parse_duration(budget or "0")  # an error before the work, and in a dry run
    outputs = ComparisonOutputs(model=save, page=page)
    outputs.check(data, test, split_words(model))
    if not dry_run:
        for path in outputs.paths():
            check_folder(path)
    settings = Settings(jobs=jobs, plugins=state.plugins, limits=parse_limits(limit))
    with LocalExecutor(settings) as executor:
        if not (dry_run or Store(state.results_dir).has_command(state.command)):
            # The worker starts while the comparison is planned, unless its results are stored.
            executor.warm()
        from elmbench.comparison.request import ComparisonRequest
        from elmbench.datasets.user_data import UserData
        from elmbench.runs.prepare import RunOptions
        from elmbench.specs.grids import read_all_grids

        user_data = partial(
            UserData,
            target=target,
            task=task,
            groups=groups,
            ordered_by=time_order,
            impute=not no_impute,
            day_first=None if dates is None else dates == "day-first",
            drop=tuple(drop or ()),
            words=tuple(words or ()),
            text=tuple(text or ()),
            separator=sep,
            decimal=decimal or "",
            header=header,
            drop_missing_target=drop_missing_target,
            test=test,
            fold=fold,
            weights=weights,
            positive=positive,
        )
        request = ComparisonRequest(
            data=tuple(map(user_data, data)),
            models=split_words(model),
            grids=read_all_grids(grid or []),
            metrics=split_words(metric),
            folds=folds,
            runs=runs,
            limit=limit,
            name=name,
        )
        options = RunOptions(settings=settings, retry=retry, command=state.command)
        prepared = _plan(request, options, executor, budget="" if dry_run else budget)
        show_data(prepared)
        if dry_run:
            show_plan(prepared)
            state.say(
                *(f"not written in a dry run: {path}" for path in outputs.paths())
            )
        else:
            run_prepared(
                prepared, executor, partial(finish_comparison, prepared, outputs)
            )


def _plan(
    request: ComparisonRequest, options: RunOptions, executor: Executor, *, budget: str
) -> PreparedRun:
    """Return the plan of a comparison; with a budget, first compute the work that fits it.

    `budget`: a duration such as "10min", or empty for none, in which case nothing is computed. With
    a budget, `executor` does the work, with live progress; the results are stored, and the plan is
    that of the computed part.
    """
    if not budget:
        from elmbench.comparison.request import prepare_comparison

        return prepare_comparison(
            request, options, state.results_dir, watch=show_reading
        )
    from elmbench.comparison.budget import run_within_budget
    from elmbench.runs.execute import compute

    carry_out = partial(run_cells, executor=executor, carry_out=compute)
    return run_within_budget(
        request, options, state.results_dir, budget, carry_out, watch=show_reading
    )


@app.command("predict", rich_help_panel=OWN_DATA)
def predict_command(
    model: Annotated[
        Path,
        typer.Argument(
            help="File of `compare --save`. A joblib file runs code: use only files that you trust."
        ),
    ],
    data: Annotated[
        Path,
        typer.Argument(
            help="File of new rows, with the same columns as the training data."
        ),
    ],
    proba: Annotated[
        bool, Option("--proba", help="Add the probability of each class.")
    ] = False,
    keep: Annotated[
        Words,
        Option(
            "--keep",
            metavar="COLUMN",
            help="Column of DATA to write before the prediction; repeatable.",
        ),
    ] = None,
    sep: Annotated[
        str,
        format_option(
            metavar="MARK",
            help="Separator of a text table, such as ';' or tab; detected by default.",
        ),
    ] = "",
    decimal: DecimalMark = None,
) -> None:
    """Predict new rows with a model of `compare --save`, as CSV."""
    from elmbench.comparison.predict_file import predict_file

    with show_wait(f"predicting the rows of {data}{size_of(data)}"):
        predictions, remarks = predict_file(
            model, data, sep, decimal or "", proba=proba, keep=keep or ()
        )
    for remark in () if state.quiet else remarks:
        # Also with --json: no line of the output can hold it.
        print(f"{data}: {remark}", file=sys.stderr)
    if state.as_json:
        state.emit(predictions.to_dict("records"))
    else:
        state.write(predictions.to_csv(index=False, lineterminator="\n"))

"""`elmbench compare` and `elmbench predict`.

The table of a comparison and its notes are made in `elmbench.tables.comparison`, and printed by
`elmbench.cli.run_and_show`.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer
from typer import Option

from elmbench.cli.app import app
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
from elmbench.errors import ElmbenchError, amount
from elmbench.files import check_folder, check_outputs

if TYPE_CHECKING:
    from elmbench.comparison.request import ComparisonRequest
    from elmbench.execution.executors import Executor
    from elmbench.report.table_results import Results
    from elmbench.runs.prepare import PreparedRun, RunOptions


@app.command("compare", rich_help_panel=OWN_DATA)
def compare_command(
    data: Annotated[
        list[str], typer.Argument(help="Files such as CSV, openml:ID or sklearn:NAME.")
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
    outputs = _Outputs(model=save, page=page)
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
        _show_data(prepared)
        if dry_run:
            show_plan(prepared)
            state.say(
                *(f"not written in a dry run: {path}" for path in outputs.paths())
            )
        else:
            run_prepared(prepared, executor, partial(_finish, prepared, outputs))


class _Outputs(NamedTuple):
    """The files that a comparison writes besides its results.

    Attributes
    ----------
    model : path, optional
        The file of --save.
    page : path, optional
        The file of --html.
    """

    model: Path | None
    page: Path | None

    def by_option(self) -> list[tuple[str, Path]]:
        """Return the option and the path of each file that is named, such as ("--save", path)."""
        paths = {"--save": self.model, "--html": self.page}
        return [(option, path) for option, path in paths.items() if path]

    def paths(self) -> list[Path]:
        """Return the paths of the files that are named."""
        return [path for _, path in self.by_option()]

    def check(self, data: list[str], test: str, models: Iterable[str]) -> None:
        """Raise ElmbenchError if a file cannot be written, or is an input or a file of results."""
        if self.model is not None:
            from elmbench.comparison.saved_models import check_format

            if len(data) > 1:
                raise ElmbenchError(
                    f"--save is given with {len(data)} data sets",
                    expected="one data set for the model",
                    next_step="leave --save out, or compare one data set",
                )
            check_format(self.model)
        self._check_paths([*data, test], models)

    def _check_paths(self, data: list[str], models: Iterable[str]) -> None:
        """Raise ElmbenchError if a file is an input, a file of results or a folder."""
        if not self.paths():
            return
        from elmbench.registry.plugins import files_of_models
        from elmbench.results.folders import check_not_results

        code = files_of_models(models, map(Path, state.plugins))
        check_outputs(self.by_option(), [*data, *state.plugins, *code])
        check_not_results(self.by_option(), state.results_dirs)
        for path in self.paths():
            if not path.name or path.is_dir():
                raise ElmbenchError(
                    f"{str(path)!r} is a folder",
                    expected="a file to write",
                    next_step="name a file",
                )


def _plan(
    request: ComparisonRequest, options: RunOptions, executor: Executor, *, budget: str
) -> PreparedRun:
    """Return the plan of a comparison.

    `budget`: a duration, or empty for none. With a budget, first compute the work that fits it, and
    return the plan of this part.
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


def _show_data(prepared: PreparedRun) -> None:
    """Print the size of each data set, with the detected settings and warnings."""
    for resolved, plan in prepared.tables:
        remarks = {cell.dataset: cell.remarks for cell in plan.cells}
        for name, spec in resolved.datasets.items():
            n_features = amount(spec.shape.features, "feature")
            state.say(f"{spec.title}: {spec.shape.instances} rows, {n_features}")
            text = remarks.get(name, "")
            for remark in filter(None, text.split("; ")):
                state.say(f"- {remark}")


def _finish(prepared: PreparedRun, outputs: _Outputs, tables: list[Results]) -> None:
    """Print the comparison of the models over several data sets, the conclusion and the next step,
    if one is left; write the page and the best model if they are requested.

    `tables`: the results of the comparison, a list of one.
    """
    (results,) = tables
    if len(results.resolved.datasets) > 1 and not state.as_json:
        from elmbench.cli.table_statistics import show_statistics

        with suppress(ElmbenchError):  # there is only one model
            show_statistics(results)
            state.say(
                f"picture: elmbench table {results.resolved.file.id} --diagram FILE.png"
            )
    if outputs.page is not None:
        _write_page(prepared, results, outputs.page)
    state.say(*_conclusion(results))
    if outputs.model is not None:
        _save_best(prepared, results, outputs.model)
        return
    if len(results.resolved.datasets) == 1:
        next_step = _next_step(results, prepared.options.command)
        state.say(*next_step)


def _next_step(results: Results, command: str) -> list[str]:
    """Return the line with the next step after a comparison on one data set, if there is one."""
    from elmbench.comparison.best_model import find_best
    from elmbench.evaluation.score_comparison import dummies

    best = find_best(results)
    if best is None:
        return []
    if best.model in dummies(results.resolved):
        return ["next: add models by -m, or leave -m out for the default models"]
    if not best.is_above_dummy:
        return ["next: add columns, rows or models: no model is worth saving"]
    return [f"next: {command} --save best.joblib"]


def _conclusion(results: Results) -> list[str]:
    """Return a sentence for each data set: its best model, and the models not distinguishable from
    it. It begins with the name of the data set only if there are several.
    """
    from elmbench.tables.result_table import CONCLUSION

    notes = [note.text for note in results.table.notes if note.kind in CONCLUSION]
    if len(results.resolved.datasets) > 1:
        return notes
    return [note.partition(": ")[2] for note in notes]


def _save_best(prepared: PreparedRun, results: Results, path: Path) -> None:
    """Fit the best model to all rows but the held-out ones and write it; print what it is and how
    to use it.
    """
    from elmbench.comparison.final_model import save_best
    from elmbench.comparison.saved_models import is_safe

    final = save_best(prepared, results, path)
    best = final.best
    state.say(f"saved: {best.model} ({best.reason}), fitted to {final.rows}: {path}")
    if final.is_calibrated:
        state.say(
            "Its probabilities are calibrated on inner folds (Platt's sigmoid); its predictions "
            "are unchanged."
        )
    probabilities = " --proba" if final.has_probabilities else ""
    state.say(f"next: elmbench predict {shlex.quote(str(path))} NEW.csv{probabilities}")
    if is_safe(path):
        state.say("Loading a skops file runs no code: unknown types are rejected.")
    else:
        state.say(
            "Loading a joblib file runs code that it names: load only files that you trust. "
            "To share the model: --save FILE.skops (pip install 'elmbench[skops]')"
        )


def _write_page(prepared: PreparedRun, results: Results, path: Path) -> None:
    """Compute the permutation importance for the best model of each data set, with live progress,
    and write the page to `path`.
    """
    from elmbench.comparison.html_page import (
        plan_importance,
        reasons_of_failures,
        write_page,
    )
    from elmbench.execution.executors.local import LocalExecutor
    from elmbench.runs.execute import compute

    importance = plan_importance(prepared, results)
    if importance.todo:
        state.say(
            "permutation importance of the columns for the best model, on its test folds:"
        )
        with LocalExecutor(prepared.options.settings) as executor:
            run_cells(importance, executor, compute)
    for reason in reasons_of_failures(importance):
        state.say(f"no permutation importance of a test part: {reason}")
    write_page(prepared, importance, results, path)
    state.say(f"written to {path}")


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
            model, data, sep, decimal or "", proba=proba
        )
    for remark in () if state.quiet else remarks:
        # Also with --json: no line of the output can hold it.
        print(f"{data}: {remark}", file=sys.stderr)
    if state.as_json:
        state.emit(predictions.to_dict("records"))
    else:
        state.write(predictions.to_csv(index=False, lineterminator="\n"))

"""Comparison of models on a user's data from Python."""

import atexit
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple, cast

import numpy as np
from pydantic import Field

from elmbench.comparison.arrays import check_arrays, take_named_columns
from elmbench.comparison.budget import run_within_budget
from elmbench.comparison.python_progress import with_progress
from elmbench.comparison.python_results import ComparisonResults
from elmbench.comparison.request import ComparisonRequest, prepare_comparison
from elmbench.datasets.table import unused_name
from elmbench.datasets.user_data import UserData, short_slug
from elmbench.errors import ElmbenchError
from elmbench.execution.engine import Event
from elmbench.execution.executors import Settings
from elmbench.registry import registry
from elmbench.registry.plugins import loaded_plugins, write_plugin
from elmbench.runs.execute import Count, checked, compute, execute
from elmbench.runs.prepare import PreparedRun, RunOptions
from elmbench.runs.user_specs import load_plugins
from elmbench.specs.datasets import LearningTask
from elmbench.specs.limits import parse_limits
from elmbench.specs.project import current_project
from elmbench.specs.splits import Count as Runs


@checked
def compare(
    X: Any,
    y: Any,
    models: Any = (),
    *,
    name: str = "data",
    task: LearningTask | None = None,
    positive: Any = None,
    metric: str | Sequence[str] = (),
    grids: Mapping[str, Mapping[str, Any]] | None = None,
    folds: Annotated[int, Field(ge=2)] | None = None,
    runs: Runs = 1,
    groups: Any = None,
    time_order: Any = None,
    fold: Any = None,
    weights: Any = None,
    impute: bool = True,
    text: str | Sequence[str] = (),
    test: Any = None,
    budget: str = "",
    jobs: Count = 1,
    blas_threads: Count = 1,
    limit: str = "",
    plugins: Sequence[Path | str] = (),
    results_dir: Path | str | None = None,
    progress: bool | None = None,
    on_event: Callable[[Event], None] | None = None,
) -> ComparisonResults:
    """Compare models on your own data by nested search; stored results are not recomputed.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        Categorical columns are one-hot encoded, by the training rows of each fold. `to_pandas`
        converts data frames of other libraries.
    y : array-like of shape (n_samples,) or str
        Labels or values, or the column of X that holds them: `compare(frame, "target")`.
    models : str, estimator or sequence of str, estimator or (str, estimator)
        Names of `list_models`, addresses `package.module:Class`, and scikit-learn estimators, which
        are fitted to the encoded, imputed and scaled columns as an array. By default, an estimator
        has the name of its class, and a pipeline those of its steps, such as "standardscaler+svc";
        a name of `list_models` gets a number, such as "knn-2". Without `models`, the default ones
        are compared.
    name : str
        Name of the data, which begins the name of the folder of the results.
    task : {"classification", "regression"}, optional
        By default, detected from the values of `y`.
    positive : label, optional
        The positive one of two classes, for metrics such as precision; by default the rare one,
        or else the last one.
    metric : str or sequence of str
        A name of `elmbench list metrics` or of a scikit-learn scorer, or several: the first chooses
        hyperparameters and ranks the models, accuracy or the NRMSE by default.
    grids : mapping of str to mapping, optional
        Grids in place of the models' own, such as `{"k-elm": {"C": [1, 10]}, "SVC": {"C": [1,
        10]}}`. An estimator without a grid keeps its parameters.
    folds, runs : int
        Outer folds, five by default, and repetitions of them.
    groups : array-like of shape (n_samples,) or str, optional
        Rows of one group stay in one fold. A name is that of the column of X with the values; the
        next three arguments may be names, too.
    time_order : array-like of shape (n_samples,) or str, optional
        Rows are learnt in this order and tested by what came before. No fold begins among rows of
        equal times.
    fold : array-like of shape (n_samples,) or str, optional
        The outer fold of each row; -1 for rows that are always learnt.
    weights : array-like of shape (n_samples,) or str, optional
        Weights of the rows in fits. Models that take none are left out.
    impute : bool, default=True
        Impute missing values from the training rows of each fold; False rejects them.
    text : str or sequence of str
        Columns of text, whose words become features; by default, such columns are left out.
    test : tuple of (X, y) or data frame, optional
        Held-out rows; a data frame if `y` is a column. Hyperparameters are searched on inner folds
        of all the other rows, and each model is tested once. They have neither groups nor times,
        so it is not checked that they hold none of the groups of X, or are later.
    budget : str
        Time for all, such as "10min". With many rows, all models first learn some of the training
        rows, and the promising ones then learn more. The notes of the table name the models that
        learnt fewer rows, and those that are left out.
    jobs, blas_threads : int, default=1
        Worker processes, and threads of the linear algebra library in each.
    limit : str
        Limit of each search and fit, "time=600s" if empty.
    plugins : sequence of path
        Files that declare models, metrics or splits; by default those of an `elmbench.toml` in the
        working folder or a folder above.
    results_dir : path, optional
        Folder of the results, each frame's in a folder of its own; by default that of the
        `elmbench.toml`, or a temporary one, which is removed when Python exits.
    progress : bool, optional
        Show a progress bar; by default in a terminal and in a notebook.
    on_event : callable, optional
        Receives each `elmbench.execution.engine.Event` of the run.

    Returns
    -------
    ComparisonResults
        `leaderboard`, `predictions`, `cells` and `summary` as data frames, `text` for the terminal
        and `plot()`; its representation and a notebook show the table. `best_estimator()` fits the
        best model to all rows of X, and to none of `test`.

    Raises
    ------
    ElmbenchError
        If the data or the request cannot be used.
    """
    row_arguments = {
        "groups": groups,
        "time_order": time_order,
        "fold": fold,
        "weights": weights,
    }
    named = take_named_columns(X, y, row_arguments, test)
    arrays = check_arrays(named)
    project = current_project()
    if results_dir is not None:
        results_folder = Path(results_dir)
    else:
        results_folder = _temporary_folder() if project is None else project.results
    stem = short_slug(name)
    files = arrays.write(results_folder.resolve() / ".data", stem)
    data = UserData(
        location=str(files.rows),
        title=name,
        target=files.columns["y"],
        task=task,
        positive="" if positive is None else str(positive),
        impute=impute,
        text=(text,) if isinstance(text, str) else tuple(text),
        test="" if files.held_out is None else str(files.held_out),
        groups=files.columns.get("groups"),
        ordered_by=files.columns.get("time_order"),
        fold=files.columns.get("fold"),
        weights=files.columns.get("weights"),
    )
    project_plugins: list[Path] = []
    if not plugins:
        project_plugins = load_plugins((), project, warnings.warn)
    with loaded_plugins(plugins) as named_plugins:
        selection = select_models(models)
        request = ComparisonRequest(
            data=(data,),
            models=tuple(selection.names),
            grids=dict(grids or {}),
            metrics=(metric,) if isinstance(metric, str) else tuple(metric),
            folds=folds,
            runs=runs,
            limit=limit,
            name=stem,
        )
        estimator_plugins: tuple[Path, ...] = ()
        if selection.estimators:
            plugin = write_plugin(selection.estimators, files.rows.parent, sys.path)
            estimator_plugins = (plugin,)
        all_plugins = (*project_plugins, *named_plugins, *estimator_plugins)
        settings = Settings(
            jobs=jobs,
            plugins=tuple(map(str, all_plugins)),
            blas_threads=blas_threads,
            limits=parse_limits(limit),
        )
        options = RunOptions(
            settings=settings, command=f"elmbench.compare(X, y, name={name!r})"
        )
        with loaded_plugins(estimator_plugins):
            compute_shown = partial(
                with_progress, compute, on_event=on_event, shown=progress
            )
            run = _plan(request, options, results_folder, budget, compute_shown)
            (results,) = with_progress(execute, run, on_event, progress)
    shared = {field.name: getattr(results, field.name) for field in fields(results)}
    return ComparisonResults(
        **shared, run=run, plugins=all_plugins, targets=np.asarray(arrays.y)
    )


def _plan(
    request: ComparisonRequest,
    options: RunOptions,
    results_dir: Path,
    budget: str,
    carry_out: Callable[[PreparedRun], object],
) -> PreparedRun:
    """Return the plan of a comparison; with a budget, first compute the work that fits it.

    `budget`: a duration such as "10min", or empty for none, in which case nothing is computed. With
    a budget, `carry_out` computes plans and stores the results, and the plan is that of the
    computed part.
    """
    if not budget:
        return prepare_comparison(request, options, results_dir)
    return run_within_budget(request, options, results_dir, budget, carry_out)


@cache
def _temporary_folder() -> Path:
    """Return the folder of this process for results, which is removed when Python exits.

    It is made at the first call; all later calls return the same.
    """
    folder = Path(tempfile.mkdtemp(prefix="elmbench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


class SelectedModels(NamedTuple):
    """The models that a call of `compare` selects.

    Attributes
    ----------
    names : list of str
        The names of all models, in their order; empty for the default models.
    estimators : mapping of str to estimator
        The user's own estimators, by their names among these.
    """

    names: list[str]
    estimators: Mapping[str, Any]


def select_models(models: Any) -> SelectedModels:
    """Return the names of the models of the argument `models` of `compare`, and the estimators.

    `models`: a name, an estimator, or a sequence of names, estimators and pairs (name, estimator);
    empty or None for none. A pair alone is a sequence of two models; its name must be that of one.
    An estimator has its given name, or that of its class or of a pipeline's steps; a number is
    added if the registry or an earlier model has the name. Other names are not checked. Raises
    ElmbenchError if a model is neither a name nor an estimator, or for a pair alone.
    """
    _refuse_pair_alone(models)
    names: list[str] = []
    estimators: dict[str, Any] = {}
    for model in _as_sequence(models):
        if isinstance(model, str):
            names.append(model)
            continue
        if isinstance(model, tuple) and len(model) == 2:
            name, estimator = model
        else:
            name = _name_of(model)
            estimator = model
        if not (_is_estimator(estimator) and isinstance(name, str)):
            raise ElmbenchError(
                f"{estimator!r} is neither the name of a model nor an estimator",
                expected='such as "ridge" or SVC()',
                next_step="correct `models`",
            )
        name = unused_name(name, {*registry(), *names})
        names.append(name)
        estimators[name] = estimator
    return SelectedModels(names, estimators)


def _refuse_pair_alone(models: Any) -> None:
    """Raise ElmbenchError if the argument `models` is a pair (name, estimator), not in a sequence.

    If the name is an address or that of a known model, these are two models instead.
    """
    if not isinstance(models, tuple) or len(models) != 2:
        return
    name, estimator = models
    if not isinstance(name, str) or not _is_estimator(estimator):
        return
    if ":" not in name and name not in registry():
        pair = f"({name!r}, {type(estimator).__name__}(...))"
        raise ElmbenchError(
            f"`models` is the pair {pair}, but {name!r} is not the name of a model",
            expected=f"a list of pairs: [{pair}]",
            next_step="correct `models`",
        )


def _as_sequence(models: Any) -> Iterable[Any]:
    """Return the argument `models` as a sequence: () for None, (model,) for a name or an estimator.

    Any other value is returned as it is.
    """
    if models is None:
        return ()
    if isinstance(models, str) or hasattr(models, "fit"):
        return (models,)
    return cast("Iterable[Any]", models)


def _name_of(estimator: Any) -> str:
    """Return the name of an estimator's class; of a pipeline, its steps, as "scaler+svc"."""
    steps = getattr(estimator, "steps", None)
    return "+".join(step for step, _ in steps) if steps else type(estimator).__name__


def _is_estimator(value: Any) -> bool:
    """Return True for an instance, not a class, with the methods fit, predict and get_params."""
    methods = ("fit", "predict", "get_params")
    return not isinstance(value, type) and all(
        hasattr(value, method) for method in methods
    )

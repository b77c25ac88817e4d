"""Comparison of models on a user's data from Python."""

import atexit
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import joblib
import numpy as np
import scipy.sparse as sp
from pydantic import Field

from elmbench.comparison.budget import run_within_budget
from elmbench.comparison.final_model import ComparisonResults
from elmbench.comparison.request import ComparisonRequest, prepare_comparison
from elmbench.datasets.table import to_frame, unused_name
from elmbench.datasets.user_data import UserData, short_slug, write_arrays
from elmbench.errors import ElmbenchError
from elmbench.execution.engine import Event
from elmbench.execution.executors import Settings
from elmbench.files import sweep
from elmbench.registry import registry
from elmbench.registry.plugins import loaded_plugins, write_plugin
from elmbench.runs.execute import Count, checked, compute, execute
from elmbench.runs.prepare import RunOptions
from elmbench.specs.limits import parse_limits
from elmbench.specs.protocol import Count as Runs
from elmbench.specs.protocol import Task

#: The bits of the integers in a file, without the sign.
_BITS = 63


@checked
def compare(
    X: Any,
    y: Any,
    models: Any = (),
    *,
    name: str = "data",
    task: Task | None = None,
    positive: Any = None,
    metric: str | Sequence[str] = (),
    grids: Mapping[str, Mapping[str, Any]] | None = None,
    folds: Annotated[int, Field(ge=2)] | None = None,
    runs: Runs = 1,
    groups: Any = None,
    time_order: Any = None,
    fold: Any = None,
    weights: Any = None,
    impute: bool = False,
    test: tuple[Any, Any] | None = None,
    budget: str = "",
    jobs: Count = 1,
    blas_threads: Count = 1,
    limit: str = "",
    plugins: Sequence[Path | str] = (),
    results_dir: Path | str | None = None,
    on_event: Callable[[Event], None] = lambda event: None,
) -> ComparisonResults:
    """Compare models on your own data by nested search; stored results are not recomputed.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        Categorical columns are one-hot encoded, by the training rows of each fold. `to_pandas`
        converts data frames of other libraries.
    y : array-like of shape (n_samples,)
        Labels or values.
    models : str, estimator or sequence of str, estimator or (str, estimator)
        Names of `list_models`, addresses `package.module:Class`, and scikit-learn estimators, which
        are fitted to the encoded, imputed and scaled columns as an array. By default, an estimator
        has the name of its class, and a pipeline those of its steps, such as "standardscaler+svc";
        a name of `list_models` gets a number, such as "knn-2". Without `models`, the default ones
        are compared.
    name : str
        Name of the data.
    task : {"classification", "regression"}, optional
        By default, detected from the values of `y`.
    positive : label, optional
        The positive one of two classes, for metrics such as precision; the last one by default.
    metric : str or sequence of str
        A name of `elmbench list metrics` or of a scikit-learn scorer, or several: the first chooses
        hyperparameters and ranks the models, accuracy or the NRMSE by default.
    grids : mapping of str to mapping, optional
        Grids in place of the models' own, such as `{"k-elm": {"C": [1, 10]}, "SVC": {"C": [1,
        10]}}`. An estimator without a grid keeps its parameters.
    folds, runs : int
        Outer folds, five by default, and repetitions of them.
    groups : array-like of shape (n_samples,), optional
        Rows of one group stay in one fold.
    time_order : array-like of shape (n_samples,), optional
        Rows are learnt in this order and tested by what came before. No fold begins among rows of
        equal times.
    fold : array-like of shape (n_samples,), optional
        The outer fold of each row; -1 for rows that are always learnt.
    weights : array-like of shape (n_samples,), optional
        Weights of the rows in fits. Models that take none are left out.
    impute : bool, default=False
        Fill missing values in, by the training rows of each fold.
    test : tuple of (X, y), optional
        Held-out rows. Hyperparameters are searched on inner folds of all the other rows, and each
        model is tested once. They have neither groups nor times, so it is not checked that they
        hold none of the groups of X, or are later.
    budget : str
        Time for all, such as "10min": cheap models come first. Models that do not fit are left out,
        and the notes of the table name them.
    jobs, blas_threads : int, default=1
    limit : str
        Limit of each search and fit, "time=600s" if empty.
    plugins : sequence of path
    results_dir : path, optional
        Folder of the results, each frame's in a folder of its own; by default a temporary one,
        which is removed when Python exits.
    on_event : callable, optional

    Returns
    -------
    ComparisonResults
        `cells` and `summary` as data frames, `text` for the terminal; a notebook shows the table.
        `best_estimator()` fits the best model to all rows of X, and to none of `test`.

    Raises
    ------
    ElmbenchError
        If the data or the request cannot be used.
    """
    import pandas as pd

    by_row = {"groups": groups, "time_order": time_order, "fold": fold, "weights": weights}
    # The index of a series need not be that of X.
    extra = {
        key: list(_unmasked(np.atleast_1d(values)))
        for key, values in by_row.items()
        if values is not None
    }
    extra = {key: _with_words_for_huge_integers(key, values) for key, values in extra.items()}
    X = _rows(X)
    y = _with_words_for_huge_integers("y", _unmasked(y))
    if test is not None:
        test = _rows(test[0]), _with_words_for_huge_integers("test", _unmasked(test[1]))
        if sp.issparse(X) != sp.issparse(test[0]) or not test[0].shape[0]:
            problem = "`test` has no rows, or either X or `test` is sparse"
            raise ElmbenchError(
                problem, expected="held-out rows, as sparse as X", next_step="test=(X, y)"
            )
    for key, values in {"y": y, **extra}.items():
        if key in extra and len(values) != X.shape[0]:
            problem = f"X has {X.shape[0]} rows, and {key} has {len(values)} values"
            raise ElmbenchError(problem, expected="one value a row", next_step="give a vector")
        if missing := int(np.asarray(pd.isna(values)).sum()):
            problem = f"{key} has {missing} missing values"
            raise ElmbenchError(problem, expected="none", next_step="leave these rows out")
    if sp.issparse(X) and np.isnan(X.data).any():
        step = "X.toarray() and impute=True"
        raise ElmbenchError(
            "the sparse rows X have missing values", expected="none", next_step=step
        )
    digest = sha256(str(joblib.hash((X, y, extra, test))).encode()).hexdigest()[:12]
    results_dir = Path(results_dir) if results_dir is not None else _temporary_folder()
    folder = results_dir.resolve() / ".data" / digest
    stem = short_slug(name)
    for data_folder in folder.parent.glob("*"):
        sweep(data_folder)
    taken = {name for rows in (X, *(test or ())[:1]) if not sp.issparse(rows) for name in rows}
    column = {key: unused_name(key, taken) for key in ("y", *extra)}  # messages name the arguments
    extra = {column[key]: values for key, values in extra.items()}
    path = write_arrays(X, y, folder, stem, extra, column["y"])
    held_out = ""
    if test is not None:
        # Their groups and weights are not used, but both files have the same columns.
        first = {name: values[:1] * len(test[1]) for name, values in extra.items()}
        held_out = str(write_arrays(test[0], test[1], folder, f"{stem}-test", first, column["y"]))
    rows = UserData(
        str(path),
        column["y"],
        task,
        impute=impute,
        test=held_out,
        positive="" if positive is None else str(positive),
        title=name,
        groups=column.get("groups"),
        ordered_by=column.get("time_order"),
        fold=column.get("fold"),
        weights=column.get("weights"),
    )
    metrics = (metric,) if isinstance(metric, str) else tuple(metric)
    with loaded_plugins(plugins) as paths:
        names, estimators = named_models(models)
        comparison = ComparisonRequest(
            (rows,), tuple(names), dict(grids or {}), metrics, folds, runs, limit, stem
        )
        files = (write_plugin(estimators, path.parent, sys.path),) if estimators else ()
        all_files = (*paths, *files)
        settings = Settings(
            jobs, None, tuple(map(str, all_files)), blas_threads, parse_limits(limit)
        )
        options = RunOptions(settings=settings, command=f"elmbench.compare(X, y, name={name!r})")
        with loaded_plugins(files):
            if budget:
                run = run_within_budget(
                    comparison,
                    options,
                    results_dir,
                    budget,
                    lambda run: compute(run, on_event, None),
                )
            else:
                run = prepare_comparison(comparison, options, results_dir)
            (results,) = execute(run, on_event)
    shared = {field.name: getattr(results, field.name) for field in fields(results)}
    return ComparisonResults(**shared, run=run, plugins=all_files, targets=np.asarray(y))


def _rows(X: Any) -> Any:
    """Return the rows of a program as a data frame or, if they are sparse, as a CSR matrix."""
    return sp.csr_matrix(X, dtype=np.float64) if sp.issparse(X) else to_frame(X)


def _unmasked(values: Any) -> Any:
    """Return values of a program, None in place of those that a masked array hides."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    return (
        np.where(values.mask, np.array(None), values.data)
        if np.ma.is_masked(values)
        else values.data
    )


def _with_words_for_huge_integers(name: str, values: Any) -> Any:
    """Return values with text in place of integers of more than 64 bits, which no file holds;
    raise ElmbenchError if Python refuses to write them.
    """
    if np.asarray(values).dtype != object:
        return values
    if not any(type(value) is int and value.bit_length() > _BITS for value in values):
        return values
    try:
        return [str(value) for value in values]
    except ValueError as error:
        problem = f"{name} holds an integer of more than {sys.get_int_max_str_digits()} digits"
        expected = "integers of fewer digits, or text"
        raise ElmbenchError(problem, expected=expected, next_step="give it as text") from error


@cache
def _temporary_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="elmbench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def named_models(models: Any) -> tuple[list[str], dict[str, Any]]:
    """Return the names of models, and the estimators by name; raise ElmbenchError if one is
    neither.
    """
    names: list[str] = []
    estimators: dict[str, Any] = {}
    for model in (
        [models]
        if isinstance(models, str) or hasattr(models, "fit")
        else ()
        if models is None
        else models
    ):
        if isinstance(model, str):
            names.append(model)
            continue
        steps = getattr(model, "steps", None)
        name = "+".join(step for step, _ in steps) if steps else type(model).__name__
        name, estimator = model if isinstance(model, tuple) and len(model) == 2 else (name, model)
        methods = ("fit", "predict", "get_params")
        is_estimator = not isinstance(estimator, type) and all(
            hasattr(estimator, method) for method in methods
        )
        if not (is_estimator and isinstance(name, str)):
            problem = f"{estimator!r} is neither the name of a model nor an estimator"
            raise ElmbenchError(
                problem, expected='such as "ridge" or SVC()', next_step="correct `models`"
            )
        names.append(unused_name(name, {*registry(), *names}))
        estimators[names[-1]] = estimator
    return names, estimators

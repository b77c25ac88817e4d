"""The final model of a comparison, fitted to all rows but the held-out ones as one scikit-learn
pipeline.
"""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from elmbench.comparison.best_model import BestModel, choose_best
from elmbench.comparison.saved_models import save
from elmbench.datasets.dataset import Dataset
from elmbench.datasets.table import label_word
from elmbench.errors import ElmbenchError, amount
from elmbench.evaluation.folds import FoldProtocol, fold_of, load_rows
from elmbench.evaluation.preprocessing import (
    pipeline_of,
    prepared_inputs,
    scaler_of,
    take_rows,
)
from elmbench.evaluation.splits import Indices, folds_of, order_rows
from elmbench.models.base.probabilities import WithProbabilities
from elmbench.models.candidate_problem import weight_argument
from elmbench.registry import find_model, model_version
from elmbench.report.table_results import Results
from elmbench.runs.prepare import PreparedRun
from elmbench.specs.datasets import DatasetSpec
from elmbench.specs.splits import Split
from elmbench.tasks.base import Context
from elmbench.tasks.fit import Fit
from elmbench.tasks.nested_search import Search


@dataclass(frozen=True)
class FinalModel:
    """A model that is fitted to all rows but the held-out ones.

    Attributes
    ----------
    best : BestModel
        Its column in the table, and why it was chosen.
    estimator : estimator
        The fitted scikit-learn pipeline; of a regression with scaled targets, a
        `TransformedTargetRegressor` of it.
    rows : str
        The rows that it is fitted to, in words.
    """

    best: BestModel
    estimator: Any
    rows: str

    @property
    def has_probabilities(self) -> bool:
        """True if it predicts the probabilities of classes."""
        return hasattr(self.estimator, "predict_proba")

    @property
    def is_calibrated(self) -> bool:
        """True if a classifier without probabilities of its own got those of inner folds.

        Only models that are calibrated as `WithProbabilities` count, not those that the comparison
        calibrated too.
        """
        steps = getattr(self.estimator, "named_steps", {})
        return isinstance(steps.get("model"), WithProbabilities)


def save_best(run: PreparedRun, results: Results, path: Path) -> FinalModel:
    """Fit the best model of a comparison to all rows but the held-out ones; write and return it.

    `run`: the carried-out plan. `results`: its results, of one data set. `path`: the file is of
    skops if it ends in .skops, else of joblib. Raises ElmbenchError if there are several models and
    none has a rank, or if the file cannot hold the model.
    """
    best = choose_best(results)
    estimator = fit_final(run, results, best.model)
    save(estimator, path)
    return FinalModel(best=best, estimator=estimator, rows=_fitted_rows(results))


def _fitted_rows(results: Results) -> str:
    """Return a text on the rows that the final model is fitted to, such as "all 150 rows of iris".

    Held-out rows are counted apart. `results`: of exactly one data set.
    """
    (spec,) = results.resolved.datasets.values()
    if spec.shape.split is None:
        return f"all {amount(spec.shape.instances, 'row')} of {spec.title}"
    n_fitted, n_held_out = spec.shape.split
    return (
        f"all {amount(n_fitted, 'row')} of {spec.title}, and to none of the "
        f"{amount(n_held_out, 'held-out row')}"
    )


def fit_final(
    run: PreparedRun, results: Results, column: str = "", targets: Iterable[Any] = ()
) -> Any:
    """Return a model of a comparison on one data set, fitted to all rows but the held-out ones.

    It is one scikit-learn estimator with the preprocessing. Its hyperparameters are searched on
    these rows if the comparison searches them. `run`: the carried-out plan. `column`: the model;
    empty for the best or the only one. `targets`: the labels as the user gave them, which the model
    then predicts; if they are not given, integers if all labels are written so, else texts. Raises
    ElmbenchError if the column is unknown, or the version of its model has changed since the
    comparison.
    """
    ((resolved, _),) = run.tables
    (spec,) = resolved.datasets.values()
    column = column or choose_best(results).model
    task = _fit_of(run, column, spec)
    fold = task.outer_fold
    data = load_rows(fold.dataset, None)
    all_rows = np.arange(len(data.y))
    stored_rows = all_rows if data.splits is None else data.splits["train"]
    # A sequential model learns them as in the cells: a file sorted by its target would make another
    # model.
    order = fold.protocol.order
    rows = order_rows(stored_rows, order, data.name, fold.run, fold.fold)
    chosen = {}
    search = run.tasks[task.chosen] if task.chosen else None
    if isinstance(search, Search):
        chosen = _search_hyperparameters(search, data, rows)
    inner_splits = resolved.spec.protocol.inner
    return fit_pipeline(
        task,
        data,
        rows,
        chosen=chosen,
        targets=_targets(data, rows, targets),
        inner=inner_splits.split(spec.name, spec.task),
    )


def _fit_of(run: PreparedRun, column: str, spec: DatasetSpec) -> Fit:
    """Return the first planned fit of a model of the comparison, which has its settings.

    `column`: the model. `spec`: the data set, for the task. Raises ElmbenchError if there is no
    such model, or if its version has changed since the comparison.
    """
    ((_, plan),) = run.tables
    tasks = [
        run.tasks[cell.key] for cell in plan.cells if cell.model == column and cell.key
    ]
    if not tasks:
        names = ", ".join(dict.fromkeys(cell.model for cell in plan.cells))
        raise ElmbenchError(
            f"{column!r} is not a model of this comparison",
            expected=f"one of {names}",
            next_step="correct the name, or add it to models",
        )
    task = tasks[0]
    assert isinstance(task, Fit)
    version = model_version(find_model(task.model.name), spec.task)
    if version != task.model.version:
        raise ElmbenchError(
            f"the model {column} has changed since the comparison: it is {version}",
            expected=task.model.version,
            next_step="compare again",
        )
    return task


def fit_pipeline(
    task: Fit,
    data: Dataset,
    rows: Indices,
    *,
    chosen: dict[str, Any],
    targets: Any,
    inner: Split,
) -> Any:
    """Return the model of a fit with its preprocessing, as one pipeline, fitted to some rows.

    A classifier without probabilities gets them from inner folds. The weights of the data are used.
    Of a regression with scaled targets, the result is a `TransformedTargetRegressor` of the
    pipeline.

    Parameters
    ----------
    task : Fit
        Has the model, its fixed hyperparameters and the protocol.
    data : Dataset
    rows : ndarray of int
        Positions of the rows in `data`, in the order of learning.
    chosen : dict of str to object
        The hyperparameters that a search has chosen; empty if none is searched.
    targets : array of the length of `rows`
        In the form that the model predicts.
    inner : Split
        The split of the inner folds.
    """
    factory, params = task.factory_with(chosen=chosen)
    model = factory(**params)
    weights = None if data.weights is None else data.weights[rows]
    fit_params: dict[str, Any] = {}
    if weights is not None:
        argument = weight_argument(model)
        assert argument is not None
        fit_params[argument] = weights
    if (
        task.calibrate is not None
        and not hasattr(model, "predict_proba")
        and hasattr(model, "decision_function")
    ):
        model = _calibrated(model, task.calibrate, data, rows, targets)
        if weights is not None:
            fit_params["sample_weight"] = weights
    elif data.classes is not None and not hasattr(model, "predict_proba"):
        # The cells are not calibrated, so the labels stay those of the classifier.
        model = WithProbabilities(model)
        fit_params = {"folds": _inner_folds(data, rows, inner, targets)}
        if weights is not None:
            fit_params["sample_weight"] = weights
    with warnings.catch_warnings():
        # A pipeline passes weights on under the name of its last step.
        warnings.filterwarnings("ignore", "Since Pipeline does not appear to accept")
        pipeline = _unfitted_pipeline(model, data, task.outer_fold.protocol)
        of_model = {f"model__{name}": value for name, value in fit_params.items()}
        return pipeline.fit(_features(data, rows), targets, **of_model)


def _calibrated(
    model: Any, split: Split, data: Dataset, rows: Indices, targets: Any
) -> Any:
    """Return an unfitted classifier that calibrates the decision values of `model` on folds.

    The folds are of its training rows, by `split`; its labels follow the probabilities, as in the
    cells of the table. Ordered rows have plain folds, and groups of rows stay together. `rows`:
    positions of the training rows in `data`. `targets`: one for each of them.
    """
    from sklearn.calibration import CalibratedClassifierCV

    # `cross_val_predict` takes only partitions, so ordered rows have plain folds.
    folds: Any = split.folds
    if split.kind != "ordered-kfold":
        groups = None if data.groups is None else data.groups[rows]
        folds = folds_of(split, 0, rows, targets, groups=groups)
    return CalibratedClassifierCV(model, cv=folds, ensemble=False)


def _inner_folds(data: Dataset, rows: Indices, split: Split, targets: Any) -> Any:
    """Return [(training positions, test positions)] of the inner folds of some rows.

    They are positions in `rows`, which are positions in `data`. `targets`: one for each of `rows`.
    Groups and times of the data are respected.
    """
    groups = None if data.groups is None else data.groups[rows]
    times = None if data.times is None else data.times[rows]
    with warnings.catch_warnings():
        # A class has fewer rows than folds.
        warnings.simplefilter("ignore", UserWarning)
        return folds_of(split, 0, rows, targets, groups=groups, times=times)


def _unfitted_pipeline(model: Any, data: Dataset, protocol: FoldProtocol) -> Any:
    """Return an unfitted pipeline that preprocesses rows and fits `model`, as a protocol says.

    Of a regression whose targets are scaled, it is a `TransformedTargetRegressor`, which predicts
    in the original units. `data`: its columns decide on the encoding and imputing; only their kinds
    count, not the rows. `protocol`: its scaling of inputs and targets is used.
    """
    # All kinds of columns, even if no fold has to encode these rows (`encoded_columns`): new rows
    # are read by them and may have missing values.
    pipeline = pipeline_of(model, data.columns, protocol.scale)
    if data.classes is not None or protocol.targets is None:
        return pipeline
    from sklearn.compose import TransformedTargetRegressor

    return TransformedTargetRegressor(pipeline, transformer=scaler_of(protocol.targets))


def _features(data: Dataset, rows: Indices) -> Any:
    """Return the features of some rows as a program has them: a data frame, or sparse rows.

    `rows`: positions in `data`.
    """
    X = take_rows(data.X, rows)
    return (
        pd.DataFrame(X, columns=list(data.feature_names))
        if isinstance(X, np.ndarray)
        else X
    )


def _targets(data: Dataset, rows: Indices, originals: Iterable[Any]) -> Any:
    """Return the targets of `rows` in the form that the final model predicts, in this order.

    Numbers for a regression. For classes, the labels among `originals`, which the user gave, that
    are written alike, if all are there and are integers, texts or booleans; else integers if all
    labels are written so, such as for 1.0, else texts. Labels that were read as booleans stay
    booleans.
    """
    if data.classes is None:
        return data.y[rows]
    words = data.labels_of(rows)
    if data.has_boolean_labels:
        originals = (False, True)
    by_word = {label_word(label): label for label in dict.fromkeys(originals)}
    labels = np.array([by_word.get(word) for word in words])
    if labels.dtype.kind in "biuU":
        return labels
    try:
        integers = words.astype(np.int64)
    except (ValueError, OverflowError):
        return words
    written = integers.astype(str)
    return integers if np.array_equal(written, words) else words


def _search_hyperparameters(
    search: Search, data: Dataset, rows: Indices
) -> dict[str, Any]:
    """Repeat a search of the comparison on inner folds of `rows`; return the best candidate.

    It is {hyperparameter: value}. `rows`: positions in `data`.
    """
    protocol = search.outer_fold.protocol
    none = rows[:0]

    def prepare() -> tuple[Any, Any]:
        X = prepared_inputs(data.X, rows, protocol.scale, data.encoded_columns)
        return X[rows], X[none]

    whole = fold_of(data, prepare, protocol.targets, rows, none)
    with warnings.catch_warnings():
        # Those of the cells' fits are in the table.
        warnings.simplefilter("ignore", UserWarning)
        result = search.evaluate(whole, search.problem(whole, {}, Context()))
    params: dict[str, Any] = result["params"]
    return params

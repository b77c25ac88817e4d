"""The final model of a comparison, fitted to all rows but the held-out ones as one scikit-learn
pipeline, and its predictions.
"""

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import scipy.sparse as sp

from elmbench.comparison.best_model import choose_best
from elmbench.comparison.plots import Kind, plot
from elmbench.comparison.saved_models import load
from elmbench.datasets.dataset import Columns, Dataset
from elmbench.datasets.sources.file import FileSource, header_of, read_user_file
from elmbench.datasets.table import few, label_word
from elmbench.datasets.values import as_read
from elmbench.errors import ElmbenchError, amount, first_line, messages_for_python
from elmbench.evaluation.folds import FoldProtocol, fold_of, load_rows
from elmbench.evaluation.model_order import rank_models
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
from elmbench.registry.plugins import loaded_plugins
from elmbench.report.results import Results
from elmbench.results.predictions_file import predictions_frame
from elmbench.runs.prepare import PreparedRun
from elmbench.specs.protocol import Split
from elmbench.tables.result_table import ResultTable
from elmbench.tasks.base import Context
from elmbench.tasks.fit import Fit
from elmbench.tasks.scoring import best, grid_scores
from elmbench.tasks.search import Search

#: The kinds of the columns of sparse rows, which have no names.
_NO_COLUMNS = Columns(numbers=(), dates={}, words=())._asdict()


@dataclass(frozen=True, repr=False)
class ComparisonResults(Results):
    """The results of a comparison.

    Attributes
    ----------
    run : PreparedRun
    plugins : tuple of path
        Plug-in files of the comparison, and of its estimators.
    targets : ndarray
        The targets, as they were given.
    """

    run: PreparedRun
    plugins: tuple[Path, ...] = ()
    targets: Any = ()

    @cached_property
    def table(self) -> ResultTable:
        with messages_for_python():
            return super().table

    @cached_property
    def leaderboard(self) -> pd.DataFrame:
        """The means of each model, the best first: the metrics, the rank, the p-value of the
        difference from the best model, and the costs.
        """
        (spec,) = self.resolved.datasets.values()
        lines = self.summary[self.summary["dataset"] == spec.name]
        means = lines.pivot_table("mean", "model", "metric", sort=False)
        ranked = rank_models(self.summary, spec.name, self.resolved).models
        others = means.index.difference(ranked, sort=False)
        return means.loc[[*ranked, *others]]

    @cached_property
    def predictions(self) -> pd.DataFrame:
        """The lines of `predictions.csv`: the prediction of each model for each test row."""
        ((_, plan),) = self.run.tables
        with loaded_plugins(self.plugins):
            return predictions_frame(plan.cells, self.run.store, self.resolved)

    def plot(self, kind: Kind = "scores", model: str = "", ax: Any = None) -> Any:
        """Draw a picture on matplotlib's axes and return these.

        `kind`: "scores" of all models with intervals; of one model, "confusion" or "calibration"
        for classes, "residuals" for numbers. `model`: the best one by default.
        """
        with messages_for_python():
            needs_predictions = kind != "scores"
            rows = self.predictions if needs_predictions else pd.DataFrame()
            return plot(self, rows, kind, model, ax)

    def best_estimator(self, model: str = "") -> Any:
        """Return the best model, or a named one, fitted to all rows with the hyperparameters of a
        last search.

        Held-out rows of `test` are neither searched nor fitted, so that the scores in the table are
        those of this model. It is one scikit-learn estimator: a pipeline that encodes, imputes and
        scales, for data frames with the columns that were compared, or for sparse rows.
        """
        from sklearn import config_context

        with loaded_plugins(self.plugins), config_context(transform_output="default"):
            return fit_final(self.run, self, model, self.targets)


def fitted_rows(results: Results) -> str:
    """Return the number of rows that the final model of a comparison is fitted to, in words."""
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
    """Return a model of a comparison on one data set, fitted to all rows but the held-out ones; the
    best or the only one if none is named.

    It predicts labels as they are among the `targets`, those of a file as integers if they are
    written so.
    """
    ((resolved, plan),) = run.tables
    (spec,) = resolved.datasets.values()
    column = column or choose_best(results).model
    keys = [cell.key for cell in plan.cells if cell.model == column and cell.key]
    if not keys:
        problem = f"{column!r} is not a model of this comparison"
        names = ", ".join(dict.fromkeys(cell.model for cell in plan.cells))
        raise ElmbenchError(
            problem,
            expected=f"one of {names}",
            next_step="correct the name, or add it to models",
        )
    work = run.works[keys[0]]
    assert isinstance(work, Fit)
    version = model_version(find_model(work.model.name), spec.task)
    if version != work.model.version:
        raise ElmbenchError(
            f"the model {column} has changed since the comparison: it is {version}",
            expected=work.model.version,
            next_step="compare again",
        )
    fold = work.outer_fold
    data = load_rows(fold.dataset, None)
    rows = np.arange(len(data.y)) if data.splits is None else data.splits["train"]
    # A sequential model learns them as in the cells: a file sorted by its target would make another
    # model.
    rows = order_rows(rows, fold.protocol.order, data.name, fold.run, fold.fold)
    chosen = _search_all_rows(run, work, rows)
    inner = resolved.spec.protocol.inner.split(spec.name, spec.task)
    return fit_pipeline(
        work, rows, chosen, targets=_targets(data, rows, targets), inner=inner
    )


def is_calibrated(estimator: Any) -> bool:
    """Return True if the probabilities of a final model are calibrated."""
    return isinstance(
        getattr(estimator, "named_steps", {}).get("model"), WithProbabilities
    )


def fit_pipeline(
    work: Fit, rows: Indices, chosen: dict[str, Any], *, targets: Any, inner: Split
) -> Any:
    """Return the model of a fit with its preprocessing, as one pipeline, fitted to some rows.

    A classifier without probabilities gets those of `WithProbabilities`, on inner folds.

    `chosen`: the hyperparameters that a search has chosen. `targets`: of the rows, as they are
    predicted. `inner`: the split of the inner folds.
    """
    data = load_rows(work.outer_fold.dataset, None)
    factory, params = work.factory_with(chosen=chosen)
    model = factory(**params)
    fit_params: dict[str, Any] = {}
    if data.weights is not None:
        fit_params[f"model__{weight_argument(model)}"] = data.weights[rows]
    if (
        work.calibrate is not None
        and not hasattr(model, "predict_proba")
        and hasattr(model, "decision_function")
    ):
        # The cells are calibrated in the same way (`elmbench.evaluation.calibration`): the labels
        # follow the probabilities.
        from sklearn.calibration import CalibratedClassifierCV

        # `cross_val_predict` takes only partitions, so ordered rows have plain folds.
        folds: Any = work.calibrate.folds
        if work.calibrate.kind != "ordered-kfold":
            groups = None if data.groups is None else data.groups[rows]
            folds = folds_of(work.calibrate, 0, rows, targets, groups=groups)
        model = CalibratedClassifierCV(model, cv=folds, ensemble=False)
        if data.weights is not None:
            fit_params["model__sample_weight"] = data.weights[rows]
    elif data.classes is not None and not hasattr(model, "predict_proba"):
        # The cells are not calibrated, so the labels stay those of the classifier.
        model = WithProbabilities(model)
        fit_params = {"folds": _inner_folds(data, rows, inner, targets)}
        if data.weights is not None:
            fit_params["sample_weight"] = data.weights[rows]
        fit_params = {f"model__{name}": value for name, value in fit_params.items()}
    with warnings.catch_warnings():
        # A pipeline passes weights on under the name of its last step.
        warnings.filterwarnings("ignore", "Since Pipeline does not appear to accept")
        pipeline = _unfitted_pipeline(model, data, work.outer_fold.protocol)
        return pipeline.fit(_features(data, rows), targets, **fit_params)


def _inner_folds(data: Dataset, rows: Indices, split: Split, targets: Any) -> Any:
    """Return the training and test positions of each inner fold of some rows."""
    groups = None if data.groups is None else data.groups[rows]
    times = None if data.times is None else data.times[rows]
    with warnings.catch_warnings():
        # A class has fewer rows than folds.
        warnings.simplefilter("ignore", UserWarning)
        return folds_of(split, 0, rows, targets, groups=groups, times=times)


def _unfitted_pipeline(model: Any, data: Dataset, protocol: FoldProtocol) -> Any:
    """Return the pipeline that preprocesses rows and fits a model as the protocol does; it scales
    the targets of a regression.
    """
    pipeline = pipeline_of(model, data.columns, protocol.scale)
    if data.classes is not None or protocol.targets is None:
        return pipeline
    from sklearn.compose import TransformedTargetRegressor

    return TransformedTargetRegressor(pipeline, transformer=scaler_of(protocol.targets))


def _features(data: Dataset, rows: Indices) -> Any:
    """Return the features of some rows as a program has them: a data frame, or sparse rows."""
    X = take_rows(data.X, rows)
    return (
        pd.DataFrame(X, columns=list(data.feature_names))
        if isinstance(X, np.ndarray)
        else X
    )


def _targets(data: Dataset, rows: Indices, originals: Iterable[Any]) -> Any:
    """Return the targets that the final model is fitted to: numbers, booleans, integers or
    words.
    """
    if data.classes is None:
        return data.y[rows]
    words = data.labels_of(rows)
    originals = (False, True) if data.has_boolean_labels else originals
    by_word = {label_word(label): label for label in dict.fromkeys(originals)}
    labels = np.array([by_word.get(word) for word in words])
    if labels.dtype.kind in "biuU":
        return labels
    try:
        integers = words.astype(np.int64)
    except (ValueError, OverflowError):
        return words
    return integers if np.array_equal(integers.astype(str), words) else words


def _search_all_rows(run: PreparedRun, work: Fit, rows: Indices) -> dict[str, Any]:
    """Return the hyperparameters that the search of a comparison chooses on the rows to learn."""
    search = run.works[work.chosen] if work.chosen else None
    if not isinstance(search, Search):
        return {}
    data = load_rows(work.outer_fold.dataset, None)
    protocol = work.outer_fold.protocol
    none = rows[:0]

    def prepare() -> tuple[Any, Any]:
        X = prepared_inputs(data.X, rows, protocol.scale, data.encoded_columns)
        return X[rows], X[none]

    whole = fold_of(data, prepare, protocol.targets, rows, none)
    problems = search.problems(whole, search.problem(whole, {}, Context()))
    with warnings.catch_warnings():
        # Those of the cells' fits are in the table.
        warnings.simplefilter("ignore", UserWarning)
        scores, _ = grid_scores(problems, search.metric)
    return search.grid.candidates()[best(scores)]


def predict_file(
    model: Path,
    file: Path,
    separator: str = "",
    decimal: Literal["", ".", ","] = "",
    *,
    proba: bool = False,
) -> tuple[pd.DataFrame, list[str]]:
    """Return the predictions of a saved model for the rows of a file, with `proba` the probability
    of each class too.

    Also return warnings about the file, such as each column with categories that the training rows
    lack. `separator`,
    `decimal`: marks of a text table; by default, the separator is detected and the decimal mark is
    that of the training rows.

    Raises ElmbenchError if the model cannot be loaded, or a column of the file is missing or has
    unusable values.
    """
    if not model.is_file():
        raise ElmbenchError(
            f"{model} {'is not a regular file' if model.exists() else 'does not exist'}",
            expected="a file of compare --save",
            next_step="check the path",
        )
    try:
        estimator = load(model)
        steps = getattr(estimator, "regressor_", estimator).named_steps
        names = list(getattr(estimator, "feature_names_in_", ()))
        # A model of an earlier version may name the kinds of its columns differently.
        kinds = Columns(**steps["values"].kw_args)._asdict() if names else _NO_COLUMNS
    except ElmbenchError:
        raise
    except Exception as error:
        # Other errors say only that it is another file.
        is_of_others = isinstance(error, ImportError | AttributeError)
        reason = (
            f" with these versions ({type(error).__name__}: {first_line(error)})"
            if is_of_others
            else ""
        )
        problem = (
            f"{model} is not a model that `elmbench compare --save` has written{reason}"
        )
        next_step = (
            "name the model first and the rows second: elmbench predict MODEL ROWS"
        )
        raise ElmbenchError(
            problem, expected="a file of compare --save", next_step=next_step
        ) from error
    source = FileSource(
        kind="file",
        path=str(file),
        words=(*kinds["words"], *kinds["dates"]),
        text=kinds["text"],
        separator=separator,
        decimal=decimal,
        header=header_of(names),
    )
    table = read_user_file(
        source, features=names, has_target=False, decimal=kinds["decimal"]
    )
    if not len(table.target):
        raise ElmbenchError(
            f"{file} has no rows",
            expected="rows below the header",
            next_step="add rows",
        )
    remarks = [*table.warnings]
    has_probabilities = hasattr(estimator, "predict_proba")
    if proba and not has_probabilities:
        reason = (
            "a regression"
            if hasattr(estimator, "regressor_")
            else "a model of an old version"
        )
        remarks.append(f"{model} has no probabilities, as it is {reason}")
    try:
        if names:
            # The last features of sparse rows may be zero in all rows.
            frame = table.frame().reindex(columns=names, fill_value=0.0)
            X: Any = as_read(frame, **kinds)
            remarks += _unknown_categories(X[[*kinds["words"]]], steps["inputs"])
        else:
            X = sp.csr_matrix(table.X)
            # The last features of a file may be zero in all rows.
            X.resize(X.shape[0], estimator.n_features_in_)
        predictions = pd.DataFrame({"prediction": estimator.predict(X)})
        if not (proba and has_probabilities):
            return predictions, remarks
        labels = [f"probability_{label}" for label in estimator.classes_]
        return predictions.join(
            pd.DataFrame(estimator.predict_proba(X), columns=labels)
        ), remarks
    except ValueError as error:
        problem = f"{file}: {first_line(error)}"
        raise ElmbenchError(
            problem, expected="values as in training", next_step="correct the file"
        ) from error


def _unknown_categories(words: pd.DataFrame, inputs: Any) -> Iterator[str]:
    """Yield a remark on each column with categories that a fitted encoder does not know."""
    encoded = (
        inputs.named_transformers_["words"][-1].categories_
        if len(words.columns)
        else ()
    )
    for (name, values), categories in zip(words.items(), encoded, strict=True):
        unknown = values[values.notna() & ~values.isin(categories)]
        if len(unknown):
            rows = f"{len(unknown)} of {len(values)} rows"
            examples = few([*map(repr, unknown.unique())], 5)
            yield (
                f"{name!r} has categories that the training rows lack, in {rows}: {examples}; they "
                "are ignored"
            )

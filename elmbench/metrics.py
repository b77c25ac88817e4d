"""The registry of metrics: one entry each, from which every list of metrics in the suite derives.

A metric is added by one entry in `REGISTRY`. Names of scikit-learn's scorers that it lacks are looked up there.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from elmbench.errors import unknown_name

if TYPE_CHECKING:
    from elmbench.numerics.arrays import Array

Takes = Literal["counts", "values", "scores", "probabilities"]


@dataclass(frozen=True)
class Metric:
    """A metric of the predictions for test rows.

    Attributes
    ----------
    name : str
    task : {"classification", "regression"}
    takes : {"counts", "values", "scores", "probabilities"}
        Arguments of `function`: confusion counts of shape (..., k, k); targets and predictions, of shapes (n,) and
        (..., n); class numbers of shape (n,) and decision values of shape (n, k), or (n,) for the second of two
        classes; class numbers and probabilities of shape (n, k).
    function : callable
        NaN where the metric is not defined.
    less_is_better : bool
    counts_rows : bool
        True if its value is a number of rows.
    column : bool
        True if each `cells.csv` of its task has it.
    scorer : str
        scikit-learn's scorer of the same values, of an error negated.
    """

    name: str
    task: str
    takes: Takes
    function: Callable[..., Any] = field(compare=False, repr=False)
    less_is_better: bool = False
    counts_rows: bool = False
    column: bool = False
    scorer: str = ""

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods of an estimator; the metric takes the first that exists."""
        probabilities = ("predict_proba",)
        return {"scores": ("decision_function", *probabilities), "probabilities": probabilities}.get(
            self.takes, ("predict",)
        )

    def scores(self, values: Any) -> Array:
        """Return values to compare candidates by: more is better, and -inf replaces values that are not finite."""
        import numpy as np

        values = np.asarray(values, dtype=np.float64)
        return np.where(np.isfinite(values), -values if self.less_is_better else values, -np.inf)


def _formula(name: str, *arguments: Any) -> Callable[..., Any]:
    """Return a formula of `elmbench.numerics.scores`, or the result of calling it with other formulas by name.

    It is imported on the first call, because many commands only need the names of metrics.
    """

    @cache
    def formula() -> Callable[..., Any]:
        from elmbench.numerics import scores

        made: Callable[..., Any] = getattr(scores, name)
        return (
            made(*(getattr(scores, one, one) if isinstance(one, str) else one for one in arguments))
            if arguments
            else made
        )

    return lambda *data: formula()(*data)


def _of_labels(name: str, function: Callable[..., Any], scorer: str = "", **options: bool) -> Metric:
    return Metric(name, "classification", "counts", function, scorer=scorer, **options)


def _of_values(name: str, function: Callable[..., Any], scorer: str = "", **options: bool) -> Metric:
    return Metric(name, "regression", "values", function, scorer=scorer, **options)


def _of_ranking(name: str, formula: str) -> Metric:
    return Metric(name, "classification", "scores", _formula("one_against_rest", formula), scorer=name)


_ENTRIES = [
    _of_labels("mcc", _formula("matthews_correlation"), "matthews_corrcoef", column=True),
    _of_labels("gmean", _formula("geometric_mean"), column=True),
    _of_labels("accuracy", _formula("accuracy"), "accuracy", column=True),
    _of_labels("precision", _formula("of_positives", "precisions"), "precision", column=True),
    _of_labels("recall", _formula("of_positives", "recalls"), "recall", column=True),
    _of_labels("f1", _formula("of_positives", "f1_scores"), "f1", column=True),
    _of_labels("tn", _formula("count_of", 0, 0), counts_rows=True, column=True),
    _of_labels("fp", _formula("count_of", 0, 1), counts_rows=True, less_is_better=True, column=True),
    _of_labels("fn", _formula("count_of", 1, 0), counts_rows=True, less_is_better=True, column=True),
    _of_labels("tp", _formula("count_of", 1, 1), counts_rows=True, column=True),
    _of_labels("balanced_accuracy", _formula("balanced_accuracy"), "balanced_accuracy"),
    _of_labels("precision_macro", _formula("macro", "precisions"), "precision_macro"),
    _of_labels("recall_macro", _formula("macro", "recalls"), "recall_macro"),
    _of_labels("f1_macro", _formula("macro", "f1_scores"), "f1_macro"),
    _of_ranking("roc_auc", "roc_areas"),
    _of_ranking("average_precision", "average_precisions"),
    Metric(
        "log_loss", "classification", "probabilities", _formula("log_loss"), less_is_better=True, scorer="neg_log_loss"
    ),
    _of_values("nrmse", _formula("normalised_error"), less_is_better=True, column=True),
    _of_values(
        "rmse", _formula("root_mean_squared_error"), "neg_root_mean_squared_error", less_is_better=True, column=True
    ),
    _of_values("mse", _formula("mean_squared_error"), "neg_mean_squared_error", less_is_better=True),
    _of_values("mae", _formula("mean_absolute_error"), "neg_mean_absolute_error", less_is_better=True),
    _of_values("r2", _formula("r2"), "r2"),
]
#: Every metric by name.
REGISTRY: dict[str, Metric] = {metric.name: metric for metric in _ENTRIES}
#: The command that lists metrics.
LIST = "elmbench list metrics"
#: The cells of a confusion matrix of two classes.
COUNTS = tuple(metric.name for metric in _ENTRIES if metric.counts_rows)
#: Error of a stream's chunks, each predicted before it is learnt; it is measured, not computed from stored predictions.
PREQUENTIAL = "prequential_error"


def find_metric(name: str) -> Metric:
    """Return the metric of this name, or that of scikit-learn's scorer of this name.

    Raises
    ------
    ElmbenchError
        If there is neither.
    """
    metric = REGISTRY.get(name) or _of_scorer(name)
    if metric is None:
        raise unknown_name("metric", name, list(REGISTRY), LIST)
    return metric


def is_metric(name: str) -> bool:
    """Return True if a metric or a scorer has this name."""
    return name in REGISTRY or _of_scorer(name) is not None


def metric_names(task: str) -> list[str]:
    """Return the names of the metrics of a task that hyperparameters can be chosen by."""
    return [metric.name for metric in REGISTRY.values() if metric.task == task and not metric.counts_rows]


def columns(task: str) -> list[str]:
    """Return the metrics that each `cells.csv` of a task has."""
    return [metric.name for metric in REGISTRY.values() if metric.task == task and metric.column]


def less_is_better(name: str) -> bool:
    """Return True if a measure is an error or a loss."""
    return name == PREQUENTIAL or (name in REGISTRY and REGISTRY[name].less_is_better)


def counts_rows(name: str) -> bool:
    """Return True if a measure is a number of rows of a confusion matrix."""
    return name in REGISTRY and REGISTRY[name].counts_rows


def rates() -> list[str]:
    """Return the metrics that follow from the confusion counts, without the counts."""
    return [metric.name for metric in REGISTRY.values() if metric.takes == "counts" and not metric.counts_rows]


def ranking_names() -> list[str]:
    """Return the metrics of decision values and probabilities."""
    return [metric.name for metric in REGISTRY.values() if metric.takes in ("scores", "probabilities")]


# --- scikit-learn's scorers


@cache
def _of_scorer(name: str) -> Metric | None:
    """Return a scorer of scikit-learn as a metric, more being better; None if there is none."""
    import numpy as np
    from sklearn.metrics import get_scorer, get_scorer_names

    if name not in get_scorer_names():
        return None
    scorer: Any = get_scorer(name)
    twin = next((metric for metric in REGISTRY.values() if metric.scorer == name), None)
    if twin is not None:
        negated = replace(twin, function=lambda *data: -twin.function(*data)) if twin.less_is_better else twin
        return replace(negated, name=name, less_is_better=False, column=False)

    def function(*data: Any) -> float:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return float(scorer._sign * scorer._score_func(*data, **scorer._kwargs))
        except ValueError:  # such as the score of two classes for more of them
            return float("nan")

    if scorer._score_func.__module__.endswith("_regression"):
        by_model = np.vectorize(function, signature="(n),(n)->()")
        return Metric(name, "regression", "values", by_model, scorer=name)
    if scorer._response_method == "predict":
        by_model = np.vectorize(lambda counts: function(*_labels(counts)), signature="(k,k)->()")
        return Metric(name, "classification", "counts", by_model, scorer=name)
    if scorer._response_method == "predict_proba":

        def of_shares(true: Any, shares: Array) -> float:
            return function(true, shares[:, 1] if shares.shape[1] == 2 else shares)

        return Metric(name, "classification", "probabilities", of_shares, scorer=name)
    return Metric(name, "classification", "scores", function, scorer=name)


def _labels(counts: Array) -> Any:
    """Return true and predicted class numbers with these confusion counts."""
    import numpy as np

    return np.repeat(np.indices(counts.shape).reshape(2, -1), counts.ravel().astype(int), axis=1)

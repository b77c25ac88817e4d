"""The registry of metrics: one entry each, from which every list of metrics in the suite derives.

A metric is added by one entry in `_ENTRIES`. Other names are those of scikit-learn's scorers.
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

    `takes`: the arguments of `function`: confusion counts of shape (..., k, k); targets and
    predictions ("values"), of shapes (n,) and (..., n); class numbers of shape (n,) and decision
    values ("scores") of shape (n, k), or (n,) for the second of two classes; class numbers and
    probabilities of shape (n, k). `function`: NaN where the metric is not defined. `counts_rows`:
    True if its value is a number of rows. `column`: True if each `cells.csv` of its task has it.
    `scorer`: scikit-learn's scorer of the same values, of an error negated.
    """

    name: str
    takes: Takes
    function: Callable[..., Any] = field(compare=False, repr=False)
    less_is_better: bool = False
    counts_rows: bool = False
    column: bool = False
    scorer: str = ""

    @property
    def task(self) -> str:
        """The task of the models that it evaluates."""
        return "regression" if self.takes == "values" else "classification"

    def methods(self, n_classes: int = 2) -> tuple[str, ...]:
        """Return the methods of an estimator; the metric takes the first that exists."""
        others = {"scores": ranking_methods(n_classes), "probabilities": ("predict_proba",)}
        return others.get(self.takes, ("predict",))

    def scores(self, values: Any) -> Array:
        """Return values to compare candidates by: more is better, and -inf replaces values that are
        not finite.
        """
        import numpy as np

        values = np.asarray(values, dtype=np.float64)
        return np.where(np.isfinite(values), -values if self.less_is_better else values, -np.inf)


def ranking_methods(n_classes: int) -> tuple[str, str]:
    """Return the methods of an estimator whose outputs rank rows, the first choice first.

    For more than two classes, these are probabilities, as for scikit-learn's "roc_auc_ovr": the
    decision values of a softmax are comparable only within a row.
    """
    return (
        ("decision_function", "predict_proba")
        if n_classes <= 2
        else ("predict_proba", "decision_function")
    )


def _metric(
    name: str, takes: Takes, formula: tuple[Any, ...], scorer: str = "", **options: bool
) -> Metric:
    """Return a metric whose formula is imported from `elmbench.numerics.scores` at its first call.

    `formula`: the name of a function there, alone; or with the arguments, functions by name, for
    which it returns one.
    """

    @cache
    def function() -> Callable[..., Any]:
        from elmbench.numerics import scores

        score, *arguments = (
            getattr(scores, part) if isinstance(part, str) else part for part in formula
        )
        return score(*arguments) if arguments else score

    return Metric(name, takes, lambda *data: function()(*data), scorer=scorer, **options)


_ENTRIES = [
    _metric("mcc", "counts", ("matthews_correlation",), "matthews_corrcoef", column=True),
    _metric("gmean", "counts", ("geometric_mean",), column=True),
    _metric("accuracy", "counts", ("accuracy",), "accuracy", column=True),
    _metric("precision", "counts", ("positive_score", "precisions"), "precision", column=True),
    _metric("recall", "counts", ("positive_score", "recalls"), "recall", column=True),
    _metric("f1", "counts", ("positive_score", "f1_scores"), "f1", column=True),
    _metric("tn", "counts", ("cell_count", 0, 0), counts_rows=True, column=True),
    _metric(
        "fp", "counts", ("cell_count", 0, 1), counts_rows=True, less_is_better=True, column=True
    ),
    _metric(
        "fn", "counts", ("cell_count", 1, 0), counts_rows=True, less_is_better=True, column=True
    ),
    _metric("tp", "counts", ("cell_count", 1, 1), counts_rows=True, column=True),
    _metric("balanced_accuracy", "counts", ("balanced_accuracy",), "balanced_accuracy"),
    _metric("precision_macro", "counts", ("macro_mean", "precisions"), "precision_macro"),
    _metric("recall_macro", "counts", ("macro_mean", "recalls"), "recall_macro"),
    _metric("f1_macro", "counts", ("macro_mean", "f1_scores"), "f1_macro"),
    _metric("roc_auc", "scores", ("one_against_rest", "roc_areas"), "roc_auc"),
    _metric(
        "average_precision",
        "scores",
        ("one_against_rest", "average_precisions"),
        "average_precision",
    ),
    _metric("log_loss", "probabilities", ("log_loss",), "neg_log_loss", less_is_better=True),
    _metric("nrmse", "values", ("normalised_error",), less_is_better=True, column=True),
    _metric(
        "rmse",
        "values",
        ("root_mean_squared_error",),
        "neg_root_mean_squared_error",
        less_is_better=True,
        column=True,
    ),
    _metric(
        "mse", "values", ("mean_squared_error",), "neg_mean_squared_error", less_is_better=True
    ),
    _metric(
        "mae", "values", ("mean_absolute_error",), "neg_mean_absolute_error", less_is_better=True
    ),
    _metric("r2", "values", ("r2",), "r2"),
]
#: Every metric by name.
REGISTRY: dict[str, Metric] = {metric.name: metric for metric in _ENTRIES}
#: The command that lists metrics.
LIST_COMMAND = "elmbench list metrics"
#: The cells of a confusion matrix of two classes.
COUNTS = tuple(metric.name for metric in _ENTRIES if metric.counts_rows)
#: Error of a stream's chunks, each predicted before it is learnt; it is measured, not computed from
#: stored predictions.
PREQUENTIAL = "prequential_error"


def find_metric(name: str) -> Metric:
    """Return the metric, or scikit-learn's scorer as a metric, of this name."""
    metric = REGISTRY.get(name) or _scorer_metric(name)
    if metric is None:
        raise unknown_name(
            "metric", name, list(REGISTRY), f"{LIST_COMMAND}, or name a scorer of scikit-learn"
        )
    return metric


def is_metric(name: str) -> bool:
    """Return True if a metric or a scorer has this name."""
    return name in REGISTRY or _scorer_metric(name) is not None


def metric_names(task: str) -> list[str]:
    """Return the names of the metrics of a task that hyperparameters can be chosen by."""
    return [
        metric.name
        for metric in REGISTRY.values()
        if metric.task == task and not metric.counts_rows
    ]


def columns(task: str) -> list[str]:
    """Return the names of the metrics that each `cells.csv` of a task has."""
    return [metric.name for metric in REGISTRY.values() if metric.task == task and metric.column]


def less_is_better(name: str) -> bool:
    """Return True if a measure is an error or a loss."""
    return name == PREQUENTIAL or (name in REGISTRY and REGISTRY[name].less_is_better)


def counts_rows(name: str) -> bool:
    """Return True if a measure is a number of rows of a confusion matrix."""
    return name in REGISTRY and REGISTRY[name].counts_rows


def metrics_taking(*takes: Takes) -> list[str]:
    """Return the names of the metrics whose `takes` is one of these, without those that count
    rows.
    """
    return [
        metric.name
        for metric in REGISTRY.values()
        if metric.takes in takes and not metric.counts_rows
    ]


# --- scikit-learn's scorers


@cache
def _scorer_metric(name: str) -> Metric | None:
    """Return the metric of scikit-learn's scorer of this name, more being better; None if there is
    no such scorer.
    """
    import numpy as np
    from sklearn.metrics import get_scorer, get_scorer_names

    if name not in get_scorer_names():
        return None
    scorer: Any = get_scorer(name)
    twin = next((metric for metric in REGISTRY.values() if metric.scorer == name), None)
    if twin is not None:
        metric = (
            replace(twin, function=lambda *data: -twin.function(*data))
            if twin.less_is_better
            else twin
        )
        return replace(metric, name=name, less_is_better=False, column=False)

    def function(*data: Any) -> float:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return float(scorer._sign * scorer._score_func(*data, **scorer._kwargs))
        except ValueError:  # such as the score of two classes for more of them
            return float("nan")

    def of_counts(counts: Array) -> float:
        return function(
            *np.repeat(np.indices(counts.shape).reshape(2, -1), counts.ravel().astype(int), axis=1)
        )

    if scorer._score_func.__module__.endswith("_regression"):
        return Metric(name, "values", np.vectorize(function, signature="(n),(n)->()"), scorer=name)
    if scorer._response_method == "predict":
        return Metric(name, "counts", np.vectorize(of_counts, signature="(k,k)->()"), scorer=name)
    if scorer._response_method == "predict_proba":

        def of_shares(true: Any, shares: Array) -> float:
            return function(true, shares[:, 1] if shares.shape[1] == 2 else shares)

        return Metric(name, "probabilities", of_shares, scorer=name)
    return Metric(name, "scores", function, scorer=name)

"""The registry of metrics: one entry each, from which every list of metrics in the suite derives.

A metric is added by one entry in `_ENTRIES`. `elmbench.registry.scorers` finds a metric by its
name, which may also be that of a scorer of scikit-learn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from elmbench.lazy import LazyModule

if TYPE_CHECKING:
    from elmbench.numerics import scores
    from elmbench.numerics.arrays import Array
else:
    scores = LazyModule("elmbench.numerics.scores")

Takes = Literal["counts", "values", "scores", "probabilities"]


class Unit(NamedTuple):
    """The range of a metric, and the distance from a published value that does not matter."""

    #: The unit of distances in words; points are hundredths.
    name: str
    least: float
    greatest: float
    margin: float
    #: True if the margin is a share of the published value.
    is_relative: bool = False

    def margin_of(self, published: float) -> float:
        """Return the margin of a published value, in the unit of the value.

        It is a share of the value if the margin is relative.
        """
        return self.margin * abs(published) if self.is_relative else self.margin


SHARE = Unit("points", least=0.0, greatest=1.0, margin=0.01)
CORRELATION = Unit("", least=-1.0, greatest=1.0, margin=0.02)
ERROR = Unit("%", least=0.0, greatest=math.inf, margin=0.03, is_relative=True)
NUMBER_OF_ROWS = Unit("rows", least=0.0, greatest=math.inf, margin=2.0)
#: The unit of R squared.
EXPLAINED_SHARE = SHARE._replace(least=-math.inf)


@dataclass(frozen=True)
class Metric:
    """A metric of the predictions for test rows."""

    name: str
    #: The arguments of `function`: confusion counts of shape (..., k, k); targets and predictions
    #: ("values"), of shapes (n,) and (..., n); class numbers of shape (n,) and decision values
    #: ("scores") of shape (n, k), or (n,) for the second of two classes; class numbers and
    #: probabilities of shape (n, k).
    takes: Takes
    #: Returns NaN if the metric is not defined.
    function: Callable[..., Any] = field(compare=False, repr=False)
    less_is_better: bool = False
    unit: Unit = SHARE
    #: True if each `cells.csv` of its task has it.
    column: bool = False
    #: scikit-learn's scorer of the same values, of an error negated.
    scorer: str = ""
    #: The version of the code of a plug-in's metric, which is part of the keys of searches.
    version: str = ""

    @property
    def counts_rows(self) -> bool:
        """True if its value is a number of rows."""
        return self.unit == NUMBER_OF_ROWS

    @property
    def task(self) -> str:
        """The task of the models that it evaluates, `classification` or `regression`."""
        return "regression" if self.takes == "values" else "classification"

    def methods(self, n_classes: int = 2) -> tuple[str, ...]:
        """Return the methods of an estimator that give the input of the metric, best first.

        The first one that an estimator has is used. `n_classes`: matters for metrics that take
        scores.
        """
        if self.takes == "scores":
            return ranking_methods(n_classes)
        return ("predict_proba",) if self.takes == "probabilities" else ("predict",)

    def scores(self, values: Any) -> Array:
        """Return values of the metric, of any shape, as scores of which more is better.

        The sign of an error or loss changes. -inf replaces values that are not finite.
        """
        import numpy as np

        values = np.asarray(values, dtype=np.float64)
        return np.where(
            np.isfinite(values), -values if self.less_is_better else values, -np.inf
        )


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
    name: str,
    takes: Takes,
    formula: Callable[[], Callable[..., Any]],
    scorer: str = "",
    **options: Any,
) -> Metric:
    """Return a metric whose function is imported at its first use.

    `takes`: the kind of its arguments, see `Metric`. `formula`: returns the function; its first
    call imports numpy. `scorer`: scikit-learn's scorer of the same values. `options`: further
    fields of `Metric`.
    """
    find = cache(formula)
    return Metric(name, takes, lambda *data: find()(*data), scorer=scorer, **options)


def _count(name: str, *, row: int, column: int, less_is_better: bool = False) -> Metric:
    """Return a metric that counts the rows in one cell of the confusion matrix of two classes.

    The cell has the true class `row` and the predicted class `column`. `name`: of the metric.
    """
    return _metric(
        name,
        "counts",
        lambda: scores.cell_count(row, column),
        unit=NUMBER_OF_ROWS,
        less_is_better=less_is_better,
        column=True,
    )


_ENTRIES = [
    _metric(
        "mcc",
        "counts",
        lambda: scores.matthews_correlation,
        "matthews_corrcoef",
        unit=CORRELATION,
        column=True,
    ),
    _metric("gmean", "counts", lambda: scores.geometric_mean, column=True),
    _metric("accuracy", "counts", lambda: scores.accuracy, "accuracy", column=True),
    _metric(
        "precision",
        "counts",
        lambda: scores.positive_score(scores.precisions),
        "precision",
        column=True,
    ),
    _metric(
        "recall",
        "counts",
        lambda: scores.positive_score(scores.recalls),
        "recall",
        column=True,
    ),
    _metric(
        "f1",
        "counts",
        lambda: scores.positive_score(scores.f1_scores),
        "f1",
        column=True,
    ),
    _count("tn", row=0, column=0),
    _count("fp", row=0, column=1, less_is_better=True),
    _count("fn", row=1, column=0, less_is_better=True),
    _count("tp", row=1, column=1),
    _metric("error_rate", "counts", lambda: scores.error_rate, less_is_better=True),
    _metric(
        "balanced_accuracy",
        "counts",
        lambda: scores.balanced_accuracy,
        "balanced_accuracy",
    ),
    _metric(
        "precision_macro",
        "counts",
        lambda: scores.macro_mean(scores.precisions),
        "precision_macro",
    ),
    _metric(
        "recall_macro",
        "counts",
        lambda: scores.macro_mean(scores.recalls),
        "recall_macro",
    ),
    _metric(
        "f1_macro", "counts", lambda: scores.macro_mean(scores.f1_scores), "f1_macro"
    ),
    _metric(
        "roc_auc",
        "scores",
        lambda: scores.one_against_rest(scores.roc_areas),
        "roc_auc",
    ),
    _metric(
        "average_precision",
        "scores",
        lambda: scores.one_against_rest(scores.average_precisions),
        "average_precision",
    ),
    _metric(
        "log_loss",
        "probabilities",
        lambda: scores.log_loss,
        "neg_log_loss",
        less_is_better=True,
        unit=ERROR,
    ),
    _metric(
        "nrmse",
        "values",
        lambda: scores.normalised_error,
        less_is_better=True,
        unit=ERROR,
        column=True,
    ),
    _metric(
        "rmse",
        "values",
        lambda: scores.root_mean_squared_error,
        "neg_root_mean_squared_error",
        less_is_better=True,
        unit=ERROR,
        column=True,
    ),
    _metric(
        "mse",
        "values",
        lambda: scores.mean_squared_error,
        "neg_mean_squared_error",
        less_is_better=True,
        unit=ERROR,
    ),
    _metric(
        "mae",
        "values",
        lambda: scores.mean_absolute_error,
        "neg_mean_absolute_error",
        less_is_better=True,
        unit=ERROR,
    ),
    _metric("r2", "values", lambda: scores.r2, "r2", unit=EXPLAINED_SHARE),
]
#: Every metric by name.
REGISTRY: dict[str, Metric] = {metric.name: metric for metric in _ENTRIES}
#: Returns the metrics of the loaded plug-in files by name; `elmbench.registry.plugins` sets it.
_plugin_metrics: Callable[[], Mapping[str, Metric]] = dict
#: The command that lists metrics.
LIST_COMMAND = "elmbench list metrics"
#: The rank correlation of two quantities; it is measured, not computed from predictions.
RANK_CORRELATION = "spearman"
#: The cells of a confusion matrix of two classes.
COUNTS = tuple(metric.name for metric in _ENTRIES if metric.counts_rows)
#: Error of a stream's chunks, each predicted before it is learnt; it is measured, not computed from
#: stored predictions.
PREQUENTIAL = "prequential_error"


def set_plugin_metrics(find: Callable[[], Mapping[str, Metric]]) -> None:
    """Set the function that returns the metrics of the loaded plug-in files by name.

    All look-ups of this module call it.
    """
    global _plugin_metrics
    _plugin_metrics = find


def all_metrics() -> dict[str, Metric]:
    """Return every metric by name, those of plug-in files last."""
    return REGISTRY | dict(_plugin_metrics())


def registered_metric(name: str) -> Metric | None:
    """Return a metric of the registry or of a loaded plug-in file, by name.

    It is None if neither has this name; scorers of scikit-learn are not looked up.
    """
    return REGISTRY.get(name) or _plugin_metrics().get(name)


def metric_names(task: str) -> list[str]:
    """Return the names of the metrics of a task that can choose hyperparameters.

    These are all but numbers of rows, those of plug-in files included. `task`: "classification" or
    "regression".
    """
    return [
        metric.name
        for metric in all_metrics().values()
        if metric.task == task and not metric.counts_rows
    ]


def columns(task: str) -> list[str]:
    """Return the names of the metrics of a task that each `cells.csv` has as columns.

    It has them also if the protocol does not name them. `task`: "classification" or "regression".
    """
    return [
        metric.name
        for metric in REGISTRY.values()
        if metric.task == task and metric.column
    ]


def unit_of(name: str) -> Unit:
    """Return the unit of a measure, by its name.

    An unknown name is no error: it has the unit of a share, `SHARE`. So have measures that are not
    registered metrics, except for `RANK_CORRELATION`.
    """
    if name == RANK_CORRELATION:
        return CORRELATION
    metric = registered_metric(name)
    return SHARE if metric is None else metric.unit


def less_is_better(name: str) -> bool:
    """Return True if a measure is an error or a loss, by its name.

    It is True for `fp` and `fn` too, and False for times, sizes, scorers of scikit-learn and
    unknown names.
    """
    metric = registered_metric(name)
    return name == PREQUENTIAL or (metric is not None and metric.less_is_better)


def counts_rows(name: str) -> bool:
    """Return True if a measure is a number of rows of a confusion matrix.

    The result is False for an unknown name.
    """
    metric = registered_metric(name)
    return metric is not None and metric.counts_rows


def metrics_taking(*takes: Takes) -> list[str]:
    """Return the names of the metrics of the registry that take one of these kinds of arguments.

    A kind is "counts", "values", "scores" or "probabilities". Numbers of rows and metrics of
    plug-in files are left out.
    """
    return [
        metric.name
        for metric in REGISTRY.values()
        if metric.takes in takes and not metric.counts_rows
    ]

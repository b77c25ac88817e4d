"""Metrics by name, including scorers of scikit-learn."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from elmbench.errors import unknown_name
from elmbench.metrics import (
    LIST_COMMAND,
    REGISTRY,
    Metric,
    all_metrics,
    registered_metric,
)

if TYPE_CHECKING:
    from elmbench.numerics.arrays import Array


def find_metric(name: str) -> Metric:
    """Return the metric of this name: a built-in one, one of a plug-in, or a scorer of scikit-learn
    as a metric. Raises ElmbenchError if there is none.
    """
    metric = registered_metric(name) or _scorer_metric(name)
    if metric is None:
        step = f"{LIST_COMMAND}, or name a scorer of scikit-learn"
        raise unknown_name("metric", name, list(all_metrics()), step)
    return metric


def is_metric(name: str) -> bool:
    """Return True if a built-in metric, one of a loaded plug-in, or a scorer of scikit-learn has
    this name.
    """
    return registered_metric(name) is not None or _scorer_metric(name) is not None


@cache
def _scorer_metric(name: str) -> Metric | None:
    """Return scikit-learn's scorer of this name, such as "neg_mean_squared_error", as a metric, of
    which more is better; None if there is no such scorer. A built-in metric provides the values if
    it has this scorer.
    """
    from sklearn.metrics import get_scorer, get_scorer_names

    if name not in get_scorer_names():
        return None
    for metric in REGISTRY.values():
        if metric.scorer == name:
            return _as_scorer(metric)
    return _metric_of(get_scorer(name), name)


def _as_scorer(metric: Metric) -> Metric:
    """Return a copy of a metric under the name and with the sign of its scorer: more is better. It
    is no column of `cells.csv`.

    `metric`: a built-in one with a scorer.
    """

    def negated(*data: Any) -> Any:
        """Return the metric of some data, with the other sign."""
        return -metric.function(*data)

    function = negated if metric.less_is_better else metric.function
    return replace(
        metric,
        name=metric.scorer,
        function=function,
        less_is_better=False,
        column=False,
    )


def _metric_of(scorer: Any, name: str) -> Metric:
    """Return a scorer of scikit-learn as a metric of this name, of which more is better.

    It takes values for a scorer of regressions. Otherwise it takes confusion counts if the scorer
    requests `predict` alone, probabilities if `predict_proba` alone, else decision values
    ("scores").
    """
    import numpy as np

    from elmbench.models.base.sklearn_private import response_methods, scorer_parts

    score = _signed_score(scorer)

    def of_counts(counts: Array) -> float:
        """Return the score of class numbers with these confusion counts, of shape (k, k), true
        classes in rows.
        """
        true, predicted = np.indices(counts.shape).reshape(2, -1)
        n_rows = counts.ravel().astype(int)
        return score(np.repeat(true, n_rows), np.repeat(predicted, n_rows))

    def of_shares(true: Any, shares: Array) -> float:
        """Return the score of probabilities of shape (n, k) for class numbers of shape (n,); of two
        classes, it takes the second column.
        """
        return score(true, shares[:, 1] if shares.shape[1] == 2 else shares)

    if scorer_parts(scorer).function.__module__.endswith("_regression"):
        of_rows = np.vectorize(score, signature="(n),(n)->()")
        return Metric(name, "values", of_rows, scorer=name)
    methods = response_methods(scorer)
    if methods == ("predict",):
        of_matrices = np.vectorize(of_counts, signature="(k,k)->()")
        return Metric(name, "counts", of_matrices, scorer=name)
    if methods == ("predict_proba",):
        return Metric(name, "probabilities", of_shares, scorer=name)
    return Metric(name, "scores", score, scorer=name)


def _signed_score(scorer: Any) -> Callable[..., float]:
    """Return the function `score(targets, outputs)` behind a scorer, with its sign, so that more is
    better. It returns NaN if the scorer raises ValueError, and hides warnings.
    """
    from elmbench.models.base.sklearn_private import scorer_parts

    parts = scorer_parts(scorer)

    def score(*data: Any) -> float:
        """Return the score of true values and outputs; NaN if it is not defined."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return float(parts.sign * parts.function(*data, **parts.options))
        except ValueError:  # such as the score of two classes for more of them
            return float("nan")

    return score

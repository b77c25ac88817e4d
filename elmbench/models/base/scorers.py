"""Scorers of scikit-learn, computed for many candidates at once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import metrics

from elmbench.metrics import REGISTRY, Metric
from elmbench.numerics.arrays import Array
from elmbench.numerics.scores import confusion_counts, roc_areas


def _metric_of(scorer: Any) -> Metric | None:
    """Return the metric of the registry that computes the values of a scorer, apart from the sign."""
    known = (metric for metric in REGISTRY.values() if metric.scorer and metric.takes in ("counts", "values"))
    return next((metric for metric in known if _same(metrics.get_scorer(metric.scorer), scorer)), None)


def _same(one: Any, other: Any) -> bool:
    return one._score_func is other._score_func and one._kwargs == other._kwargs


def is_default(scorer: Any) -> bool:
    """Return True if a scorer is the `score` method of the estimator."""
    return type(scorer).__name__ == "_PassthroughScorer"


def is_of_decisions(scorer: Any, positive: Any) -> bool:
    """Return True if a scorer takes decision values for the second of two classes."""
    takes = getattr(scorer, "_response_method", ())
    first = takes if isinstance(takes, str) else next(iter(takes or ()), "")
    label = scorer._get_pos_label() if first == "decision_function" else None
    return first == "decision_function" and (label is None or label == positive)


def scores_of(scorer: Any, y: NDArray[Any], predicted: NDArray[Any]) -> Array:
    """Return the scores of p candidates, from predictions of shape (p, n) or (p, n, k), or decision values (p, n)."""
    numbers = predicted.dtype.kind == "f"
    if is_default(scorer):
        scorer = metrics.get_scorer("r2" if numbers else "accuracy")
    metric = _metric_of(scorer)
    takes = "" if metric is None else metric.takes
    if metric and takes == "counts" and not numbers:
        classes = np.unique(np.concatenate([y, predicted.ravel()]))
        true, labels = np.searchsorted(classes, y), np.searchsorted(classes, predicted)
        if metric.name not in ("precision", "recall", "f1") or (len(classes) == 2 and classes[1] == 1):
            return np.asarray(metric.function(confusion_counts(true, labels, len(classes))))
    if metric and takes == "values" and y.ndim == 1 and np.ptp(y) > 0 and np.isfinite(predicted).all():
        return np.asarray(scorer._sign * metric.function(y, predicted))
    if _same(metrics.get_scorer("roc_auc"), scorer):
        return roc_areas(y == y.max(), predicted)
    return np.array([scorer._sign * scorer._score_func(y, some, **scorer._kwargs) for some in predicted])

"""Metrics of one test fold, all in their natural unit."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.numerics import scores
from elmbench.specs.measures import Measure
from elmbench.specs.protocol import PREQUENTIAL

#: The columns of `cells.csv` that a metric fills, by task.
CLASSIFICATION = ("mcc", "gmean", "accuracy", "precision", "recall", "f1", "tn", "fp", "fn", "tp")
REGRESSION = ("nrmse", "rmse")
#: Metrics of which less is better.
LESS_IS_BETTER = frozenset((*REGRESSION, PREQUENTIAL))


def metric_at(metric: str, parameter: str, value: Any) -> str:
    """Return the name of a metric at one value of a hyperparameter, such as `gmean@h=50`.

    Parameters
    ----------
    parameter : str
        The number of hidden nodes, or of landmarks, is h, as the papers call it.
    """
    return Measure.at(metric, parameter, value).column


def nrmse(y_true: NDArray[np.float64], y_pred: NDArray[np.float64]) -> float:
    """Return the root mean squared error over the deviation of the test targets (KOS-ELM, eq. 14).

    The variance is that of the targets at hand with N - 1; NaN where they do not vary or there is one row only.
    """
    if len(y_true) < 2:
        return float("nan")
    variance = float(np.var(y_true, ddof=1))
    if variance == 0:
        return float("nan")
    with np.errstate(over="ignore"):
        return float(np.sqrt(np.mean((y_true - y_pred) ** 2) / variance))


def classification_metrics(y_true: NDArray[Any], y_pred: NDArray[Any], labels: list[int]) -> dict[str, float]:
    """Return every metric of a classifier's predictions.

    Parameters
    ----------
    y_true, y_pred : ndarray of shape (n_samples,)
        True and predicted labels. Two classes are -1 and +1; precision, recall, F1 and the counts are of +1. Of more
        classes, precision, recall and F1 are means over the classes and there are no counts.
    labels : list of int
        Every label of the data set.

    Returns
    -------
    dict of str to float
        `mcc` is 0 where it is 0/0 (one class only, predicted or true); so are the others.
    """
    confusion = confusion_counts(y_true, y_pred, labels)
    values = {metric: _from_confusion(metric, confusion) for metric in ("mcc", "gmean", "accuracy")}
    if len(labels) == 2:
        tn, fp, fn, tp = confusion.ravel().astype(int).tolist()
        return values | _of_positives(tp, fp, fn) | _counts(tn, fp, fn, tp)
    return values | {metric: _from_confusion(metric, confusion) for metric in ("precision", "recall", "f1")}


def _of_positives(tp: float, fp: float, fn: float) -> dict[str, float]:
    """Return precision, recall and F1 of the positive class; 0 where one is 0/0."""
    parts = {"precision": (tp, tp + fp), "recall": (tp, tp + fn), "f1": (2 * tp, 2 * tp + fp + fn)}
    return {name: a / b if b else 0.0 for name, (a, b) in parts.items()}


def _counts(tn: int, fp: int, fn: int, tp: int) -> dict[str, float]:
    return {"tn": tn, "fp": fp, "fn": fn, "tp": tp}


def regression_metrics(y_true: NDArray[np.float64], y_pred: NDArray[np.float64]) -> dict[str, float]:
    """Return NRMSE and RMSE of predictions, arrays of shape (n_samples,)."""
    with np.errstate(over="ignore"):
        rmse = float(np.sqrt(np.mean((y_true - y_pred) ** 2)))
    return {"nrmse": nrmse(y_true, y_pred), "rmse": rmse}


def prequential_error(y_true: NDArray[Any], y_pred: NDArray[Any], labels: list[int] | None) -> float:
    """Return the error of predictions that were made one chunk of a stream after the other, all of them together.

    It is the share that is wrong (Gama, Sebastiao and Rodrigues, 2013, "On evaluating stream learning algorithms",
    Machine Learning 90, eq. 1, of the 0-1 loss), for a regression the NRMSE.

    Parameters
    ----------
    y_true, y_pred : ndarray of shape (n_samples,)
        Targets, and what the model said of each row before it had learnt it.
    labels : list of int or None
        None for a regression.
    """
    return nrmse(y_true, y_pred) if labels is None else float(np.mean(y_true != y_pred))


def score(metric: str, y_true: NDArray[Any], y_pred: NDArray[Any], labels: list[int] | None) -> float:
    """Return one metric, for a search, larger being better: an error is negated, what is not finite is -inf.

    Parameters
    ----------
    y_true, y_pred : ndarray of shape (n_samples,)
    labels : list of int or None
        The data set's labels; None for regression.
    """
    if y_pred.dtype.kind not in "iu" and not np.isfinite(y_pred).all():
        return -np.inf
    if labels is None:
        value = regression_metrics(y_true, y_pred)[metric]
    elif len(labels) == 2:
        value = _from_counts(metric, y_true, y_pred)
    else:
        value = _of_classes(metric, y_true, y_pred, labels)
    if not np.isfinite(value):
        return -np.inf
    return -value if metric in LESS_IS_BETTER else value


def _from_counts(metric: str, y_true: NDArray[Any], y_pred: NDArray[Any]) -> float:
    """Return a metric of two classes from its counts: a search asks for it thousands of times."""
    positive, predicted = y_true > 0, y_pred > 0
    tp = float(np.count_nonzero(positive & predicted))
    fp = float(np.count_nonzero(predicted)) - tp
    fn = float(np.count_nonzero(positive)) - tp
    tn = len(y_true) - tp - fp - fn
    if metric == "mcc":
        product = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
        return (tp * tn - fp * fn) / np.sqrt(product) if product else 0.0
    if metric == "accuracy":
        return (tp + tn) / len(y_true)
    of_positives = _of_positives(tp, fp, fn)
    if metric == "gmean":
        specificity = tn / (tn + fp) if tn + fp else 0.0
        return float(np.sqrt(of_positives["recall"] * specificity))
    return of_positives[metric]


def _of_classes(metric: str, y_true: NDArray[Any], y_pred: NDArray[Any], labels: list[int]) -> float:
    """Return a metric of more classes."""
    if metric == "accuracy":
        return float(np.mean(y_true == y_pred))
    return _from_confusion(metric, confusion_counts(y_true, y_pred, labels))


def confusion_counts(y_true: NDArray[Any], y_pred: NDArray[Any], labels: list[int]) -> NDArray[np.float64]:
    """Count how often each label was predicted for each true label, a row a true label.

    Parameters
    ----------
    y_true, y_pred : ndarray of shape (n_samples,)
        Predictions that are not labels count for one of them.
    labels : list of int
        All of them, in ascending order.
    """
    known = np.asarray(labels)
    true, predicted = (np.minimum(np.searchsorted(known, y), len(known) - 1) for y in (y_true, y_pred))
    return scores.confusion_counts(true, predicted, len(known))


#: Metrics of all classes, by name, from confusion counts.
_FROM_CONFUSION: dict[str, Callable[[NDArray[np.float64]], Any]] = {
    "accuracy": scores.accuracy,
    "mcc": scores.matthews_correlation,
    "gmean": scores.geometric_mean,
    "precision": lambda counts: scores.precisions(counts).mean(axis=-1),
    "recall": lambda counts: scores.recalls(counts).mean(axis=-1),
    "f1": lambda counts: scores.f1_scores(counts).mean(axis=-1),
}


def _from_confusion(metric: str, counts: NDArray[np.float64]) -> float:
    return float(_FROM_CONFUSION[metric](counts))

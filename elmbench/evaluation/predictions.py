"""Predictions for test rows: their validation, and the scores of candidates."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.datasets.table import few
from elmbench.metrics import Metric
from elmbench.numerics.arrays import Array
from elmbench.numerics.scores import confusion_counts
from elmbench.registry.scorers import find_metric

#: Numbers in the predictions that are scored at once, which fit into a cache.
_BLOCK = 2**17


def check_predictions(
    y_true: NDArray[Any], y_pred: Any, labels: list[int] | None
) -> NDArray[Any]:
    """Return the predictions `y_pred` as an array of the shape of the targets `y_true`.

    `labels`: every label of the data set, in ascending order; None for regression, or to skip the
    check of labels.

    Raises ValueError if their shape differs (a column of shape (n, 1) would be broadcast to n x n
    differences unnoticed), if they are not real numbers, if one is masked, or if one of a
    classifier is finite but not a label. NaN and infinities are accepted.
    """
    if np.ma.is_masked(y_pred):
        raise ValueError("expected a prediction for each row, got masked ones instead")
    predicted = np.asarray(y_pred)
    if predicted.shape != y_true.shape:
        raise ValueError(
            f"expected predictions of shape {y_true.shape}, got {predicted.shape} instead"
        )
    if predicted.dtype.kind not in "biuf":
        raise ValueError(
            f"expected predictions that are real numbers, got {predicted.dtype} instead"
        )
    if labels is not None:
        positions_of_labels(predicted, labels)
    return predicted


def positions_of_labels(predicted: NDArray[Any], labels: list[int]) -> NDArray[np.intp]:
    """Return the position of each prediction, of any shape, among all labels.

    `predicted`: the predictions. `labels`: in ascending order; a position counts from 0. Values
    that are not finite have any position. Raises ValueError for other values that are not labels.
    """
    classes = np.asarray(labels)
    if len(classes) == 2:
        negative_label, positive_label = classes
        is_positive = predicted == positive_label
        is_negative = predicted == negative_label
        is_unknown = ~(is_positive | is_negative)
        positions = is_positive.astype(np.intp)
    else:
        last = len(classes) - 1
        following = np.searchsorted(classes, predicted)
        positions = np.minimum(following, last)
        is_unknown = classes[positions] != predicted
    if is_unknown.any():
        _check_not_finite(predicted[is_unknown], labels)
    return positions


def _check_not_finite(strange: NDArray[Any], labels: list[int]) -> None:
    """Raise ValueError if some of the predictions `strange`, which are not labels, are finite.

    `labels`: every label, for the message.
    """
    wrong = np.unique(strange[np.isfinite(strange)])
    if not len(wrong):
        return
    expected = few([str(label) for label in labels], 5)
    predictions = few([str(value) for value in wrong], 5)
    raise ValueError(
        f"expected predictions among the labels {expected}, got {predictions} instead"
    )


def metric_value(
    name: str, y_true: NDArray[Any], predicted: NDArray[Any], labels: list[int] | None
) -> float:
    """Return the metric `name` of predicted labels, or of predicted values if `labels` is None.

    With labels, it must be a metric of confusion counts, in which a prediction that is not finite
    counts as any label. `y_true` and `predicted` are of shape (n,). `labels`: every label of the
    data set, in ascending order. Raises ValueError for targets or finite predictions that are not
    labels.
    """
    true = y_true if labels is None else positions_of_labels(y_true, labels)
    return float(_metric_values(find_metric(name), true, predicted, labels))


def _metric_values(
    metric: Metric,
    true: NDArray[Any],
    predicted: NDArray[Any],
    labels: list[int] | None,
) -> Any:
    """Return a metric of predictions of shape (..., n), an array of shape (...).

    `labels`: every label of the data set, in ascending order; None for predicted values. With
    labels, `metric` must take counts, `true` holds the positions of the true labels in `labels`, of
    shape (n,), and `predicted` holds labels themselves: ValueError if one is finite but not in
    `labels`; others that are not finite count as any label. Without, `metric` must take values, and
    `true` holds the targets, of shape (n,).
    """
    if labels is None:
        return metric.function(true, predicted)
    return metric.function(
        confusion_counts(true, positions_of_labels(predicted, labels), len(labels))
    )


def checked_metric(
    name: str, estimator: Any, X: Any, y: NDArray[Any], labels: list[int] | None
) -> float:
    """Return the metric `name` of a fitted model's predictions for the rows X with targets y.

    `labels`: every label of the data set, in ascending order; None for regression. Raises
    ValueError if the predictions are not valid. `estimator`: the fitted model.
    """
    return metric_value(
        name, y, check_predictions(y, estimator.predict(X), labels), labels
    )


def class_outputs(
    estimator: Any, method: str, X: Any, labels: list[int]
) -> Array | None:
    """Return the outputs of `decision_function` or `predict_proba` for all classes.

    `method`: one of these names. `labels`: every label of the data set, in ascending order. The
    result has shape (n, k), or (n,) for decision values of two classes: those for the second one,
    or their difference if the model has a column for each. It is None if the model does not have
    the method, or has not one column for each of its classes; a single column of decision values
    will do for two classes. A class without training rows has the probability 0, and a decision
    value below all others. Raises ValueError unless the estimator has an output for each row.
    """
    if not hasattr(estimator, method):
        return None
    outputs = _outputs_of_rows(estimator, method, X)
    classes = np.asarray(getattr(estimator, "classes_", labels))
    are_probabilities = method == "predict_proba"
    is_binary = len(labels) == 2
    # The only column of decision values is for the second of two classes.
    if not are_probabilities and outputs.shape[1] == 1:
        if is_binary:
            return outputs[:, 0]
        if len(classes) > 1:
            outputs = np.hstack([-outputs, outputs])
    if outputs.shape[1] != len(classes):
        return None
    if len(classes) < len(labels):
        absent = 0.0 if are_probabilities else outputs.min() - 1
        outputs = _with_absent_classes(outputs, classes, labels, absent)
    if is_binary and not are_probabilities:
        return outputs[:, 1] - outputs[:, 0]
    return outputs


def _outputs_of_rows(estimator: Any, method: str, X: Any) -> Array:
    """Return the outputs of a method of a fitted model for the rows X, of shape (n, k).

    `method`: such as "predict_proba". k is 1 for one number a row. Raises ValueError if a row lacks
    its output.
    """
    n_rows = X.shape[0]
    compute = getattr(estimator, method)
    outputs = np.asarray(compute(X), dtype=np.float64)
    has_each_row = outputs.ndim > 0 and len(outputs) == n_rows
    if not has_each_row:
        raise ValueError(
            f"expected {method} to return {n_rows} rows, got shape {outputs.shape} instead"
        )
    return outputs.reshape(n_rows, -1)


def _with_absent_classes(
    outputs: Array, classes: NDArray[Any], labels: list[int], absent: float
) -> Array:
    """Return outputs with one column for each label, of shape (n, number of labels).

    `outputs` has one for each of the model's `classes`, in ascending order, as `labels` are. The
    columns of all other labels get the value `absent`.
    """
    complete = np.full((len(outputs), len(labels)), absent)
    complete[:, np.searchsorted(labels, classes)] = outputs
    return complete


def outputs_for(
    metric: Metric, estimator: Any, X: Any, labels: list[int] | None
) -> Any:
    """Return what a metric takes from a fitted model for the rows X.

    These are predictions, of shape (n,); decision values or probabilities, of shape (n, k); for two
    classes and a metric that takes scores, those of the second one, of shape (n,). `labels`: every
    label of the data set; None for a regression, whose outputs are always predictions. Raises
    ValueError if the model has none of these.
    """
    if labels is None or metric.takes in ("counts", "values"):
        return estimator.predict(X)
    methods = metric.methods(len(labels))
    for method in methods:
        outputs = class_outputs(estimator, method, X, labels)
        if outputs is None:
            continue
        if method == "predict_proba" and metric.takes == "scores" and len(labels) == 2:
            return outputs[:, 1]
        return outputs
    raise ValueError(
        f"{metric.name} takes {' or '.join(methods)}, which {type(estimator).__name__} does not "
        "have"
    )


class FoldScores:
    """Scores of all candidates on one fold, computed from many predictions at once.

    Parameters
    ----------
    metric : Metric
    y : ndarray of shape (n,)
        Targets of the test rows.
    labels : list of int or None
        Every label; None for regression.
    n_candidates : int

    Attributes
    ----------
    scores : ndarray of shape (n_candidates,)
        More is better; -inf for values that are not finite, NaN for candidates without predictions.
    true : ndarray of shape (n,)
        Class numbers of the test rows, or their targets.
    """

    def __init__(
        self,
        metric: Metric,
        y: NDArray[Any],
        labels: list[int] | None,
        n_candidates: int,
    ) -> None:
        self.scores = np.full(n_candidates, np.nan)
        self._metric = metric
        self._y = y
        self._labels = labels
        self.true = y if labels is None else positions_of_labels(y, labels)
        # Each candidate takes its predictions and, for classes, its confusion matrix.
        n_counts = len(labels or ()) ** 2
        size_of_candidate = max(len(y), n_counts)
        self._block = max(1, _BLOCK // size_of_candidate)
        self._candidates: list[int] = []
        self._outputs: list[NDArray[Any]] = []

    def add(self, candidate: int, outputs: Any) -> None:
        """Add the predictions of a candidate, or the other outputs that the metric takes.

        `candidate`: its index in `scores`. `outputs`: as `outputs_for` returns them. Predictions
        are scored later, at the latest in `finish`; other outputs at once, as -inf if one of them
        is not finite. Raises ValueError for predictions that are not valid; for those that are not
        labels, perhaps only when they are scored.
        """
        if self._metric.takes in ("scores", "probabilities"):
            value = (
                self._metric.function(self.true, outputs)
                if np.isfinite(outputs).all()
                else np.nan
            )
            self.scores[candidate] = self._metric.scores(value)
            return
        self._candidates.append(candidate)
        self._outputs.append(check_predictions(self._y, outputs, None))
        if len(self._outputs) >= self._block:
            self.finish()

    def finish(self) -> None:
        """Score the predictions that were added but not yet scored; call it at the end.

        Candidates with a prediction that is not finite get -inf. Raises ValueError for a finite
        prediction that is not a label.
        """
        if not self._outputs:
            return
        predicted = np.array(self._outputs)
        with np.errstate(invalid="ignore", over="ignore"):
            scores = self._metric.scores(
                _metric_values(self._metric, self.true, predicted, self._labels)
            )
        self.scores[self._candidates] = np.where(
            np.isfinite(predicted).all(axis=1), scores, -np.inf
        )
        self._candidates.clear()
        self._outputs.clear()

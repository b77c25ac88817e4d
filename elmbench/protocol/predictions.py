"""Checks of predictions."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def check_predictions(y_true: NDArray[Any], y_pred: Any, labels: list[int] | None) -> NDArray[Any]:
    """Return predictions as an array of the shape of the targets.

    Parameters
    ----------
    labels : list of int or None
        Every label of the data set, in ascending order; None for regression.

    Raises
    ------
    ValueError
        If their shape is another: a column of shape (n, 1) would be spread over n x n differences unnoticed; or if
        they are no real numbers; or if one of a classifier is finite and no label.
    """
    predicted = np.asarray(y_pred)
    if predicted.shape != y_true.shape:
        raise ValueError(f"expected predictions of shape {y_true.shape}, got {predicted.shape} instead")
    if predicted.dtype.kind not in "biuf":
        raise ValueError(f"expected predictions that are real numbers, got {predicted.dtype} instead")
    if labels is not None and len(other := _no_labels(predicted, labels)):
        raise ValueError(f"expected predictions among the labels {_shown(labels)}, got {_shown(other)} instead")
    return predicted


def _no_labels(predicted: NDArray[Any], labels: list[int]) -> NDArray[Any]:
    """Return the finite predictions that are no labels, each once."""
    known = np.asarray(labels)
    nearest = known[np.minimum(np.searchsorted(known, predicted), len(known) - 1)]
    other = predicted[nearest != predicted]
    return np.unique(other[np.isfinite(other)]) if len(other) else other


def _shown(values: Any) -> str:
    found = [str(value) for value in list(values)[:5]]
    return ", ".join([*found, "..."] if len(values) > len(found) else found)

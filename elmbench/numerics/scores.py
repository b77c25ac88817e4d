"""Scores of the predictions of many models at once.

Scores of labels are functions of confusion counts of shape (..., k, k), in which a row is a true class and a column a
predicted one; scores of values are functions of `y`, of shape (n,), and predictions of shape (..., n).
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from elmbench.numerics.arrays import Array


def confusion_counts(true: NDArray[np.intp], predicted: NDArray[np.intp], n_classes: int) -> Array:
    """Count the pairs of class numbers, for `true` of shape (n,) and `predicted` of shape (..., n)."""
    rows = predicted.reshape(-1, len(true))
    cells = n_classes * true + rows + n_classes**2 * np.arange(len(rows))[:, np.newaxis]
    counts = np.bincount(cells.ravel(), minlength=len(rows) * n_classes**2)
    return counts.reshape(*predicted.shape[:-1], n_classes, n_classes).astype(np.float64)


def _ratios(numerators: Array, denominators: Array) -> Array:
    """Return the ratios, 0 for 0/0."""
    return np.divide(numerators, denominators, out=np.zeros_like(numerators), where=denominators > 0)


def _hits(counts: Array) -> Array:
    hits: Array = np.diagonal(counts, axis1=-2, axis2=-1)
    return hits


def accuracy(counts: Array) -> Array:
    """Return the share of correct predictions."""
    return np.asarray(_hits(counts).sum(axis=-1) / counts.sum(axis=(-2, -1)))


def matthews_correlation(counts: Array) -> Array:
    """Return Matthews' correlation coefficient, 0 for 0/0."""
    true, predicted, n = counts.sum(axis=-1), counts.sum(axis=-2), counts.sum(axis=(-2, -1))
    covariance = _hits(counts).sum(axis=-1) * n - (true * predicted).sum(axis=-1)
    spreads = (n**2 - (predicted**2).sum(axis=-1)) * (n**2 - (true**2).sum(axis=-1))
    return _ratios(np.asarray(covariance), np.sqrt(spreads))


def precisions(counts: Array) -> Array:
    """Return the precision of each class, of shape (..., k)."""
    return _ratios(_hits(counts), counts.sum(axis=-2))


def recalls(counts: Array) -> Array:
    """Return the recall of each class, of shape (..., k)."""
    return _ratios(_hits(counts), counts.sum(axis=-1))


def f1_scores(counts: Array) -> Array:
    """Return the F1 score of each class, of shape (..., k)."""
    return _ratios(2 * _hits(counts), counts.sum(axis=-1) + counts.sum(axis=-2))


def geometric_mean(counts: Array) -> Array:
    """Return the geometric mean of the recalls of all classes."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.exp(np.log(recalls(counts)).mean(axis=-1)))


def balanced_accuracy(counts: Array) -> Array:
    """Return the mean recall of the classes that occur."""
    return _ratios(recalls(counts).sum(axis=-1), (counts.sum(axis=-1) > 0).sum(axis=-1).astype(np.float64))


def macro(by_class: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Return the mean of a score over the classes that occur or are predicted."""

    def mean(counts: Array) -> Array:
        present = (counts.sum(axis=-1) + counts.sum(axis=-2)) > 0
        return _ratios(by_class(counts).sum(axis=-1), present.sum(axis=-1).astype(np.float64))

    return mean


def mean_squared_error(y: Array, predicted: Array) -> Array:
    """Return the mean squared error."""
    return np.asarray(((y - predicted) ** 2).mean(axis=-1))


def root_mean_squared_error(y: Array, predicted: Array) -> Array:
    """Return the root mean squared error."""
    return np.sqrt(mean_squared_error(y, predicted))


def mean_absolute_error(y: Array, predicted: Array) -> Array:
    """Return the mean absolute error."""
    return np.asarray(np.abs(y - predicted).mean(axis=-1))


def r2(y: Array, predicted: Array) -> Array:
    """Return the coefficient of determination of targets that vary."""
    return 1 - mean_squared_error(y, predicted) / np.var(y)

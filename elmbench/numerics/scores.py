"""Formulas of metrics, for the predictions of many models at once where possible.

Metrics of labels are functions of confusion counts of shape (..., k, k), integers or floats, with
true classes in rows and predicted ones in columns. Metrics of values are functions of `y`, of shape
(n,), and predictions of shape (..., n). Metrics of rankings are functions of class numbers, of
shape (n,), and decision values of shape (n, k), or (n,) for the second of two classes; those of
probabilities, of class numbers and probabilities of shape (n, k).
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from elmbench.numerics.arrays import EPS, Array


def confusion_counts(
    true: NDArray[np.intp], predicted: NDArray[np.intp], n_classes: int
) -> Array:
    """Count the pairs of true and predicted class numbers.

    `true` is of shape (n,), `predicted` of shape (..., n). The result, of floats, is of shape (...,
    k, k) for k classes (`n_classes`), with true classes in rows and predicted ones in columns.
    """
    predictions = predicted.reshape(-1, len(true))
    n_predictions = len(predictions)
    n_cells = n_classes**2
    # Number the cells of the matrices of all predictions one after another.
    numbers = np.arange(n_predictions)
    first_cells = n_cells * numbers
    first_of_rows = n_classes * true
    cells = first_of_rows + predictions + first_cells[:, np.newaxis]
    # Count the rows in each cell.
    n_counts = n_predictions * n_cells
    counts = np.bincount(cells.ravel(), minlength=n_counts)
    # A matrix for each prediction.
    shape = (*predicted.shape[:-1], n_classes, n_classes)
    matrices = counts.reshape(shape)
    return matrices.astype(np.float64)


def _ratios(numerators: Array, denominators: Array) -> Array:
    """Return the ratios of two arrays, entry by entry; 0 where the denominator is not positive."""
    ratios = np.zeros_like(numerators, dtype=np.float64)  # the counts may be integers
    return np.divide(numerators, denominators, out=ratios, where=denominators > 0)


def _correct_counts(counts: Array) -> Array:
    """Return the number of correct predictions of each class, of shape (..., k).

    `counts`: confusion counts, of shape (..., k, k).
    """
    return np.asarray(np.diagonal(counts, axis1=-2, axis2=-1))


# --- Labels


def accuracy(counts: Array) -> Array:
    """Return the share of correct predictions, of shape (...).

    `counts`: confusion counts, of shape (..., k, k).
    """
    return np.asarray(_correct_counts(counts).sum(axis=-1) / counts.sum(axis=(-2, -1)))


def error_rate(counts: Array) -> Array:
    """Return the share of wrong predictions, of shape (...).

    `counts`: confusion counts, of shape (..., k, k).
    """
    n_rows = counts.sum(axis=(-2, -1))
    return np.asarray((n_rows - _correct_counts(counts).sum(axis=-1)) / n_rows)


def matthews_correlation(counts: Array) -> Array:
    """Return Matthews' correlation coefficient, of shape (...), from confusion counts.

    `counts`: of shape (..., k, k), with true classes in rows. 0/0 counts as 0.
    """
    # Products of four integers may exceed 64 bits.
    counts = np.asarray(counts, dtype=np.float64)
    # (n c - sum_k t_k p_k) / sqrt((n^2 - sum_k p_k^2) (n^2 - sum_k t_k^2)) for n rows, c correct
    # ones, t_k rows of class k and p_k predictions of it (Gorodkin, 2004).
    true = counts.sum(axis=-1)
    predicted = counts.sum(axis=-2)
    n = counts.sum(axis=(-2, -1))
    n_correct = _correct_counts(counts).sum(axis=-1)
    # The covariance of true and predicted classes.
    products = true * predicted
    by_chance = products.sum(axis=-1)
    covariance = n_correct * n - by_chance
    # The variances of the predicted classes and of the true ones.
    squared_n = n**2
    predicted_squares = (predicted**2).sum(axis=-1)
    true_squares = (true**2).sum(axis=-1)
    predicted_variance = squared_n - predicted_squares
    true_variance = squared_n - true_squares
    # The root of both.
    deviations = np.sqrt(predicted_variance * true_variance)
    return _ratios(np.asarray(covariance), deviations)


def precisions(counts: Array) -> Array:
    """Return the precision of each class, of shape (..., k), from confusion counts; 0 for 0/0."""
    return _ratios(_correct_counts(counts), counts.sum(axis=-2))


def recalls(counts: Array) -> Array:
    """Return the recall of each class, of shape (..., k), from confusion counts; 0 for 0/0."""
    return _ratios(_correct_counts(counts), counts.sum(axis=-1))


def f1_scores(counts: Array) -> Array:
    """Return the F1 score of each class, of shape (..., k), from confusion counts; 0 for 0/0."""
    return _ratios(
        2 * _correct_counts(counts), counts.sum(axis=-1) + counts.sum(axis=-2)
    )


def positive_score(by_class: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Return a function that scores the second of two classes, or averages over more classes.

    `by_class` returns the scores of all classes, of shape (..., k), from confusion counts of shape
    (..., k, k); so does the function, with a result of shape (...). A class without rows and
    predictions counts as 0 in the mean.
    """

    def score(counts: Array) -> Array:
        """Return the scores of confusion counts of shape (..., k, k), of shape (...)."""
        scores = by_class(counts)
        if counts.shape[-1] == 2:
            return scores[..., 1]
        return np.asarray(scores.mean(axis=-1))

    return score


def macro_mean(by_class: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Return a function that averages a score over the classes that occur or are predicted.

    `by_class` returns the scores of all classes, of shape (..., k), from confusion counts of shape
    (..., k, k); so does the function, with a result of shape (...).
    """

    def mean(counts: Array) -> Array:
        """Return the mean over the classes that occur or are predicted, of shape (...)."""
        n_true = counts.sum(axis=-1)
        n_predicted = counts.sum(axis=-2)
        present = (n_true + n_predicted) > 0
        n_present = present.sum(axis=-1).astype(np.float64)
        # A class without rows and predictions has the score 0.
        scores = by_class(counts)
        total = scores.sum(axis=-1)
        return _ratios(total, n_present)

    return mean


def geometric_mean(counts: Array) -> Array:
    """Return the geometric mean of the recalls of all classes, of shape (...).

    `counts`: confusion counts, of shape (..., k, k). A class without rows has the recall 0.
    """
    return np.asarray(recalls(counts).prod(axis=-1) ** (1 / counts.shape[-1]))


def balanced_accuracy(counts: Array) -> Array:
    """Return the mean recall of the classes that have rows, of shape (...), from confusion counts.

    `counts`: of shape (..., k, k), with true classes in rows. A class that is only predicted does
    not count.
    """
    present = counts.sum(axis=-1) > 0
    n_present = present.sum(axis=-1).astype(np.float64)
    return _ratios(recalls(counts).sum(axis=-1), n_present)


def cell_count(true: int, predicted: int) -> Callable[[Array], Array]:
    """Return a function that reads the count of one cell from confusion counts.

    `true`, `predicted`: the class numbers of the cell. The function takes counts of shape (..., 2,
    2), and returns an array of shape (...), NaN if there are not two classes.
    """

    def cell(counts: Array) -> Array:
        """Return the count of the cell, of shape (...), or NaN."""
        if counts.shape[-1] == 2:
            return counts[..., true, predicted]
        return np.full(counts.shape[:-2], np.nan)

    return cell


# --- Values


def mean_squared_error(y: Array, predicted: Array) -> Array:
    """Return the mean squared error, of shape (...).

    `y` is of shape (n,), the predictions of shape (..., n).
    """
    with np.errstate(over="ignore"):
        return np.asarray(((y - predicted) ** 2).mean(axis=-1))


def root_mean_squared_error(y: Array, predicted: Array) -> Array:
    """Return the root of the mean squared error, of shape (...).

    `y` is of shape (n,), the predictions of shape (..., n).
    """
    return np.sqrt(mean_squared_error(y, predicted))


def normalised_error(y: Array, predicted: Array) -> Array:
    """Return the root mean squared error over the standard deviation of `y` with n - 1.

    `y` is of shape (n,), the predictions of shape (..., n), the result of shape (...). It is NaN
    for targets that do not vary, or a single one (KOS-ELM, eq. 14).
    """
    variance = np.var(y, ddof=1) if len(y) > 1 else 0.0
    return np.sqrt(mean_squared_error(y, predicted) / (variance or np.nan))


def mean_absolute_error(y: Array, predicted: Array) -> Array:
    """Return the mean absolute error, of shape (...).

    `y` is of shape (n,), the predictions of shape (..., n).
    """
    return np.asarray(np.abs(y - predicted).mean(axis=-1))


def r2(y: Array, predicted: Array) -> Array:
    """Return the coefficient of determination, of shape (...).

    `y` is of shape (n,), the predictions of shape (..., n). It is NaN for targets that do not vary.
    """
    return 1 - mean_squared_error(y, predicted) / (np.var(y) or np.nan)


# --- Rankings and probabilities


def roc_areas(positive: NDArray[np.bool_], values: Array) -> Array:
    """Return the areas under the ROC curves, of shape (...), of decision values of shape (..., n).

    `positive`, of shape (n,), marks the rows of the positive class. The result is NaN if all rows
    or none are, or for decision values with a NaN. A pair of equal values counts half. The areas
    are computed from the ranks of the positive rows (Hanley and McNeil, Radiology 143(1), 1982).
    """
    n_positive = np.count_nonzero(positive)
    n_negative = np.count_nonzero(~positive)
    if n_positive == 0 or n_negative == 0:
        return np.full(values.shape[:-1], np.nan)
    ranks = np.apply_along_axis(_average_ranks, -1, values)
    positive_ranks = ranks[..., positive]
    rank_sums = positive_ranks.sum(axis=-1)
    # The least sum has all positive rows below the negative ones.
    least_sum = n_positive * (n_positive + 1) / 2
    # The share of the pairs of a positive and a negative row that are in order.
    n_ordered = rank_sums - least_sum
    n_pairs = n_positive * n_negative
    return np.asarray(n_ordered / n_pairs)


def _average_ranks(values: Array) -> Array:
    """Return the ranks of values of shape (n,), from 1, averaged over equal ones.

    All are NaN if a value is NaN. It replaces `scipy.stats.rankdata`, whose import takes a second.
    """
    ordered = np.sort(values)
    largest = ordered[-1]  # NaN is sorted last
    if np.isnan(largest):
        return np.full(len(values), np.nan)
    n_below = np.searchsorted(ordered, values, side="left")
    n_not_above = np.searchsorted(ordered, values, side="right")
    # Equal values have the ranks from n_below + 1 to n_not_above.
    doubled_ranks = n_below + n_not_above + 1
    return np.asarray(doubled_ranks / 2)


def average_precisions(positive: NDArray[np.bool_], values: Array) -> Array:
    """Return the average precision of decision values of shape (n,), as a 0-dimensional array.

    `positive` marks the rows of the positive class; the result is NaN if all rows or none are. A
    decision value of NaN counts as 0.
    """
    from sklearn.metrics import average_precision_score

    if positive.all() or not positive.any():
        return np.array(np.nan)
    # Log-odds may be infinite, which scikit-learn rejects.
    return np.asarray(average_precision_score(positive, np.nan_to_num(values)))


def one_against_rest(
    function: Callable[[NDArray[np.bool_], Array], Array],
) -> Callable[[NDArray[np.intp], Array], float]:
    """Return a function that scores decision values of two or more classes by `function`.

    `function` takes a mask of the positive rows and one column of values. The result takes class
    numbers of shape (n,) and decision values. For values of shape (n,), the second of two classes
    is positive. For values of shape (n, k), it returns the mean over the classes against the rest,
    without classes for which `function` returns NaN, as it does if all rows or none are positive;
    NaN if no class is left.
    """

    def mean(true: NDArray[np.intp], values: Array) -> float:
        """Return the score of the second of two classes, or the mean over more classes."""
        if values.ndim == 1:
            return float(function(true == 1, values))
        scores = []
        for number, column in enumerate(values.T):
            is_of_class = true == number
            score = float(function(is_of_class, column))
            if not np.isnan(score):
                scores.append(score)
        return float(np.mean(scores)) if scores else float("nan")

    return mean


def log_loss(true: NDArray[np.intp], probabilities: Array) -> float:
    """Return the mean of -ln of the probability of the true class.

    `true` holds class numbers; probabilities of shape (n, k) are cut to [EPS, 1 - EPS].
    """
    of_true_class = probabilities[np.arange(len(true)), true]
    losses = -np.log(np.clip(of_true_class, EPS, 1 - EPS))
    return float(losses.mean())

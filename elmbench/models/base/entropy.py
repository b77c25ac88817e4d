"""Base class of the extreme entropy machines: two Gaussians on a line for each class."""

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_expit, softmax
from sklearn.utils.validation import check_is_fitted

from elmbench.models.base.parameters import check_real, estimator
from elmbench.models.base.weights import RowWeightedClassifier
from elmbench.numerics.arrays import Array
from elmbench.numerics.entropy.discriminant import (
    LEAST_SPREAD,
    Discriminant,
    Moments,
    crossing_points,
    discriminant,
    log_odds,
    moments,
    no_direction,
)

COINCIDING = (
    "the means of the two classes coincide in the features, so no direction keeps them apart and one class is "
    "predicted for all rows"
)
ONE_ROW = (
    "there is one row only of a class, so its Gaussian is a point and next to nothing is recognised as this class: "
    "expected two rows or more of every class"
)


def discriminants(
    features: Callable[[NDArray[np.intp]], Array],
    T: Array,
    sizes: Iterable[int],
    if_constant: str,
    dimension: int | None = None,
    weights: Array | None = None,
) -> dict[int, list[Discriminant]]:
    """Return the discriminant of each column of targets -1/+1, for each number of leading features.

    `features` returns a new array with the features of numbered rows; `if_constant` is the warning for features that
    are constant; `dimension` is as in `discriminant`; `weights` are those of the rows.
    """
    result: dict[int, list[Discriminant]] = {size: [] for size in sizes}

    def moments_of(side: NDArray[np.intp]) -> Moments:
        return moments(lambda rows: features(side[rows]), len(side), result, None if weights is None else weights[side])

    for t in T.T:
        counts = True if weights is None else weights > 0
        sides = [np.flatnonzero((t < 0) & counts), np.flatnonzero((t > 0) & counts)]
        fewest = min(map(len, sides))
        if fewest == 0:
            for size, columns in result.items():
                columns.append(no_direction(size))
            continue
        if fewest == 1:
            warnings.warn(ONE_ROW, UserWarning, stacklevel=2)
        negative, positive = map(moments_of, sides)
        for size, columns in result.items():
            columns.append(discriminant(negative, positive, size, dimension))
            if not columns[-1].beta.any():
                varies = [*negative.spread[:size], *positive.spread[:size], *(positive.first - negative.first)[:size]]
                warnings.warn(
                    COINCIDING if np.abs(varies).max() > LEAST_SPREAD else if_constant, UserWarning, stacklevel=2
                )
    return result


def class_odds(projections: Array, result: list[Discriminant], log_weights: Array) -> Array:
    """Return the log-odds of every class, of shape (n, k), from projections of that shape and their discriminants."""
    columns = [log_odds(projections[:, k], d.means, d.variances, float(log_weights[k])) for k, d in enumerate(result)]
    return np.column_stack(columns)


@estimator
class EntropyClassifier(RowWeightedClassifier):
    """Densities, decisions and probabilities of an extreme entropy machine.

    A subclass fits by `_set_discriminants` and returns beta'phi(x), of shape (n, k), from `_projections(X)`.
    """

    model_version = 2

    priors: ArrayLike | Mapping[Any, float] | None = None
    costs: ArrayLike | Mapping[Any, float] | None = None

    def _set_discriminants(self, result: list[Discriminant]) -> None:
        """Set the fitted attributes that follow from the discriminants of all outputs."""
        weights = self._log_weights(self.classes_)
        self._discriminants = result
        self.means_ = np.array([d.means for d in result])
        self.variances_ = np.array([d.variances for d in result])
        self.condition_ = max(max(d.condition, d.cancellation) for d in result)
        points = [crossing_points(d.means, d.variances, float(w)) for d, w in zip(result, weights, strict=True)]
        self.thresholds_ = points[0] if len(points) == 1 else points

    def _log_weights(self, classes: NDArray[Any]) -> Array:
        """Return, for each column, ln of the prior times the cost of its class, over their mean for the others."""
        # Section 6: the weight of a class is its prior probability times its cost.
        weights = _class_values("priors", self.priors, classes) * _class_values("costs", self.costs, classes)
        if len(classes) == 1:
            return np.zeros(1)
        others = (weights.sum() - weights) / (len(classes) - 1)
        return np.log(weights / others)[1 if len(classes) == 2 else 0 :]

    def _outputs(self, X: Array) -> Array:
        return class_odds(self._projections(X), self._discriminants, self._log_weights(self.classes_))

    def _projections(self, X: Array) -> Array:
        raise NotImplementedError

    def project(self, X: ArrayLike) -> Array:
        """Return the projections beta'phi(x) on which the decision is based, of shape (n_samples,).

        For more than two classes, they have shape (n_samples, n_classes), and the positive Gaussian of a column is that
        of its class.
        """
        check_is_fitted(self)
        projections = self._projections(self._validate_rows(X, reset=False))
        return projections[:, 0] if len(self.classes_) <= 2 else projections

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return the probabilities of the classes, of shape (n_samples, n_classes), in the order of `classes_`.

        From the two Gaussians, the priors and the costs: p(t | beta'h) is proportional to p(t) C_t p(beta'h | t)
        (section 6). For more than two classes, those of each class against the rest, divided by their sum. `predict`
        returns a class of the largest probability.
        """
        odds = self.decision_function(X)
        odds = odds.reshape(len(odds), -1)
        if len(self.classes_) == 1:
            return np.ones((len(odds), 1))
        if len(self.classes_) == 2:
            odds = np.hstack([-odds, odds])
        return np.asarray(softmax(log_expit(odds), axis=1))


def _class_values(name: str, values: Any, classes: NDArray[Any]) -> Array:
    """Return a positive number for each class, in their order; ones by default."""
    if values is None:
        return np.ones(len(classes))
    if isinstance(values, Mapping):
        labels = classes.tolist()
        if any(label not in values for label in labels):
            raise ValueError(f"{name}: expected a number for each of the labels {labels}, got {dict(values)} instead")
        values = [values[label] for label in labels]
    values = list(values)
    if len(values) != len(classes):
        raise ValueError(f"{name}: expected {len(classes)} numbers, one a class, got {len(values)} instead")
    return np.array([check_real(name, value) for value in values])

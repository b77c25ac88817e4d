"""Models whose `fit` takes weights of rows, and of classes.

The squared error of row i counts w_i times: a weight of 2 repeats the row, a weight of 0 removes
it. `scale` holds the factors s_i = w_i^(1/2) of the rows of a least-squares problem; it is None if
all weights are 1.
"""

from collections.abc import Hashable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags, get_tags
from sklearn.utils.multiclass import check_classification_targets

from elmbench.models.base.family import (
    FamilyClassifier,
    FamilyModel,
    FamilyRegressor,
    check_real,
    encode_classes,
    estimator,
    named_gamma,
)
from elmbench.models.base.sklearn_private import check_sample_weight, fit_context
from elmbench.numerics.arrays import Array, Rows


def weight_key(model: Any) -> Hashable:
    """Return a hashable key of the parameter `class_weight` of a model.

    It is None if the parameter is None or missing, "balanced", or a sorted tuple of texts for a
    dictionary, such as ("(0, 1.0)", "(1, 2.0)").
    """
    weight = getattr(model, "class_weight", None)
    return (
        tuple(sorted(map(repr, weight.items())))
        if isinstance(weight, Mapping)
        else weight
    )


def _select_weighted(
    model: FamilyModel, X: Rows, y: NDArray[Any], sample_weight: ArrayLike | None
) -> tuple[Rows, NDArray[Any], Array | None]:
    """Return the rows with a weight above zero, their `y` and their weights.

    If `sample_weight` is None, all rows are kept, and the weights are None. Otherwise, a number
    stands for the weight of each row, and the number of a named `gamma`, `model._gamma`, is set
    from the weighted rows. Rows of a precomputed kernel matrix are kept even with weight zero. A
    ValueError is raised for a negative weight, and if all are zero.
    """
    if sample_weight is None:
        return X, y, None
    weights = check_sample_weight(
        sample_weight, X, dtype=np.float64, ensure_non_negative=True
    )
    if isinstance(getattr(model, "gamma", None), str):
        model._gamma = named_gamma(model.gamma, X, weights)
    selection = weights > 0
    if selection.all() or get_tags(model).input_tags.pairwise:
        return X, y, weights
    return X[selection], y[selection], weights[selection]


class RowWeightedClassifier(FamilyClassifier):
    """A classifier whose `fit` takes weights of rows."""

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit the model to inputs `X`, of shape (n_samples, n_features), and labels `y`, of shape
        (n_samples,), forgetting any earlier fit.

        A row counts `sample_weight` times, 1 by default: a weight of 2 repeats it, a weight of 0
        leaves it out, also a label that has no other rows. If the model has a `class_weight`, it
        multiplies these weights. A ValueError is raised for a negative weight, and if all are zero.
        """
        rows, labels = self._validate_rows(X, y)
        check_classification_targets(labels)
        rows, labels, weights = _select_weighted(self, rows, labels, sample_weight)
        learnt_labels = labels
        if weights is not None:
            has_weight = weights > 0
            learnt_labels = labels[has_weight]
        self.classes_ = np.unique(learnt_labels)
        targets = encode_classes(labels, self.classes_)
        scale = self._scale(labels, weights)
        self._fit(rows, targets, scale)
        return self

    def _scale(
        self, labels: NDArray[Any], weights: Array | None = None
    ) -> Array | None:
        """Return the third argument of `_fit`: here, the weights of rows themselves, not their
        roots; None if all are 1.

        `labels`: of the rows, (n,), which have no effect here.
        """
        return weights


@estimator
class WeightedClassifier(RowWeightedClassifier):
    """A classifier that minimises weighted squared errors, with the parameter `class_weight`.

    `_local` sets the tag `poor_score`: far from all rows, where features vanish, no class weight
    makes one class likelier.
    """

    _local: ClassVar[bool] = False

    class_weight: str | Mapping[Any, float] | None = None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self._local
        return tags

    def _scale(
        self, labels: NDArray[Any], weights: Array | None = None
    ) -> Array | None:
        """Return the square roots of the weights of rows times those of their classes, of shape
        (n,); None if there are neither.

        `labels`: of the rows, (n,). `weights`: of the rows, (n,), not their roots; None if all are
        1.
        """
        if self.class_weight is None:
            return None if weights is None else np.sqrt(weights)
        by_class = self._class_weights(labels, weights)
        return np.asarray(np.sqrt(by_class if weights is None else by_class * weights))

    def _class_weights(self, labels: NDArray[Any], weights: Array | None) -> Array:
        """Return the weight of each row's class, of shape (n,), without the row's own weight.

        Only for a `class_weight` that is a dictionary, with 1 for a missing class, or "balanced",
        which gives the rows of each class the same sum of weights; None would count as "balanced",
        so `_scale` does not call this then. `labels`: of the rows, (n,). `weights`: of the rows in
        the sizes of classes for "balanced"; None if all are 1. A class whose rows all weigh nothing
        has 0 then. A ValueError is raised if a dictionary lacks one of the classes and names a
        label that no row has.
        """
        classes, positions = np.unique(labels, return_inverse=True)
        if isinstance(self.class_weight, Mapping):
            mapping = self.class_weight
            class_labels = classes.tolist()
            # A part of the rows may lack a class, so a dictionary with a number for every class may
            # have more labels.
            others = [label for label in mapping if label not in class_labels]
            if others and any(label not in mapping for label in class_labels):
                raise ValueError(
                    f"class_weight: expected labels among {class_labels}, got {others} instead"
                )
            numbers = [
                check_real("class_weight", mapping.get(label, 1.0))
                for label in class_labels
            ]
            return np.array(numbers)[positions]
        sizes = np.bincount(positions, weights).astype(np.float64)
        with np.errstate(divide="ignore"):  # of a class all of whose rows weigh nothing
            balanced = self._balanced_weights(sizes)
        return np.where(sizes > 0, balanced, 0.0)[positions]

    @staticmethod
    def _balanced_weights(sizes: Array) -> Array:
        """Return the "balanced" weights of classes, of shape (n_classes,): the same sum over the
        rows of each class, and 1 for a row on average.

        `sizes`: the rows of each class, or the sums of their weights; the weight of an empty class
        is infinite.
        """
        return sizes.sum() / ((sizes > 0).sum() * sizes)


class WeightedRegressor(FamilyRegressor):
    """A regressor whose `fit` takes weights of rows."""

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit the model to inputs `X`, of shape (n_samples, n_features), and target values `y`, of
        shape (n_samples,) or (n_samples, n_targets), forgetting any earlier fit.

        The squared error of a row counts `sample_weight` times, 1 by default: a weight of 2 repeats
        it, a weight of 0 leaves it out. A ValueError is raised for a negative weight, and if all
        are zero.
        """
        rows, targets = self._rows_and_columns(X, y)
        rows, targets, weights = _select_weighted(self, rows, targets, sample_weight)
        scale = None if weights is None else np.sqrt(weights)
        self._fit(rows, targets, scale)
        return self

    def _scale(self, values: NDArray[Any], weights: Array | None = None) -> None:
        """Return None, for no weights: a path over a grid, which calls this, takes none.

        `fit`, which takes `sample_weight`, does not call it.
        """

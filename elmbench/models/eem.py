"""The extreme entropy machine: a Gaussian for each class on the direction of the largest
Cauchy-Schwarz divergence.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_expit, softmax
from sklearn.utils.validation import check_is_fitted

from elmbench.models.base.family import check_real, estimator
from elmbench.models.base.paths import CandidateGrid, PathMixin, grid_path
from elmbench.models.base.sklearn_private import StrOptions
from elmbench.models.base.weights import RowWeightedClassifier
from elmbench.models.elm import CONSTANT_LAYER, HiddenNodesMixin, node_folds
from elmbench.numerics.arrays import Array, Rows
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
from elmbench.numerics.entropy.row_products import discriminants_of_few_rows
from elmbench.numerics.nodes.hidden_layer import NODES, node_outputs

COINCIDING = (
    "the means of the two classes coincide in the features, so no direction keeps them apart and "
    "one class is "
    "predicted for all rows"
)
ONE_ROW = (
    "there is one row only of a class, so its Gaussian is a point and next to nothing is "
    "recognised as this class: "
    "expected two rows or more of every class"
)


def discriminants(
    features: Callable[[NDArray[np.intp]], Array],
    T: Array,
    sizes: Iterable[int],
    constant_warning: str,
    dimension: int | None = None,
    weights: Array | None = None,
    from_products: bool = False,
) -> dict[int, list[Discriminant]]:
    """Return {number of leading features: [discriminant of each column of targets -1/+1]}.

    `features`: takes row numbers, and returns a new array of the features of these rows, a column
    for each. `T`: of shape (n, n_columns). `sizes`: these numbers of leading features, the keys of
    the result. `constant_warning`: the message if all features are constant. `dimension`: the
    number of features if further ones are zero in all rows; None if there are none. `weights`: of
    the rows, (n,), not their roots, may be 0; None if all are 1. `from_products`: True to compute
    sizes above n from the products of the rows, only without weights; these discriminants agree
    within round-off, and their condition is a bound. A class of a single row leads to a warning; so
    do coinciding means. A column without rows of one sign has a direction of zero.
    """
    result: dict[int, list[Discriminant]] = {size: [] for size in sizes}
    wide = [size for size in result if from_products and size > len(T)]

    def moments_of(side: NDArray[np.intp], sizes_left: list[int]) -> Moments:
        """Return the moments of the rows with the numbers `side` for some numbers of leading
        features.
        """
        largest = max(sizes_left)
        return moments(
            lambda rows: features(side[rows])[:, :largest],
            len(side),
            sizes_left,
            None if weights is None else weights[side],
        )

    has_weight = np.ones(len(T), dtype=bool) if weights is None else weights > 0
    for t in T.T:
        negative_rows = np.flatnonzero((t < 0) & has_weight)
        positive_rows = np.flatnonzero((t > 0) & has_weight)
        fewest = min(len(negative_rows), len(positive_rows))
        if fewest == 0:
            for size, columns in result.items():
                columns.append(no_direction(size))
            continue
        if fewest == 1:
            warnings.warn(ONE_ROW, UserWarning, stacklevel=2)
        few_rows = {}
        if wide:
            few_rows = discriminants_of_few_rows(
                features(negative_rows), features(positive_rows), wide
            )
        for size, column in few_rows.items():
            result[size].append(column)
        sizes_left = [size for size in result if size not in few_rows]
        if not sizes_left:
            continue
        negative = moments_of(negative_rows, sizes_left)
        positive = moments_of(positive_rows, sizes_left)
        for size in sizes_left:
            column = discriminant(negative, positive, size, dimension)
            result[size].append(column)
            has_direction = column.beta.any()
            if not has_direction:
                are_constant = _are_constant(negative, positive, size)
                message = constant_warning if are_constant else COINCIDING
                warnings.warn(message, UserWarning, stacklevel=2)
    return result


def _are_constant(negative: Moments, positive: Moments, size: int) -> bool:
    """Return True if the leading features, `size` in number, are constant over the rows of both
    classes, but for round-off; also True if a spread is NaN.
    """
    between = positive.first - negative.first
    spreads = [*negative.spread[:size], *positive.spread[:size], *between[:size]]
    largest = np.abs(spreads).max()
    # Not `<=`: a spread that is NaN counts as none.
    return not largest > LEAST_SPREAD


def class_odds(
    projections: Array, by_output: list[Discriminant], log_weights: Array
) -> Array:
    """Return the log-odds of every class, of shape (n, k): positive if it is likelier than the
    rest.

    `projections`: of shape (n, k), a column for each of the k discriminants of `by_output`.
    `log_weights`: for each, ln of the prior odds (times the costs) of its class, of shape (k,). Two
    classes have k = 1, for the second of them.
    """
    columns = []
    for k, gaussians in enumerate(by_output):
        log_weight = float(log_weights[k])
        odds = log_odds(
            projections[:, k], gaussians.means, gaussians.variances, log_weight
        )
        columns.append(odds)
    return np.column_stack(columns)


@estimator
class EntropyClassifier(RowWeightedClassifier):
    """Densities, decisions and probabilities of an extreme entropy machine.

    A subclass finds the discriminants in `_fit`, passes them to `_set_discriminants`, and returns
    beta'phi(x), of shape (n, n_outputs), from `_projections(X)`.
    """

    model_version = 2

    priors: ArrayLike | Mapping[Any, float] | None = None
    costs: ArrayLike | Mapping[Any, float] | None = None

    def _set_discriminants(self, by_output: list[Discriminant]) -> None:
        """Set `means_`, `variances_`, `condition_` and `thresholds_` from the discriminants of all
        outputs, and keep these and the log-weights of the classes for `_outputs`.

        `by_output`: one discriminant for two classes or one, else one for each class, in the order
        of `classes_`, which must be set. Invalid `priors` or `costs` raise a ValueError or a
        TypeError.
        """
        log_weights = self._log_weights(self.classes_)
        self._log_priors = log_weights
        self._discriminants = by_output
        means = [column.means for column in by_output]
        variances = [column.variances for column in by_output]
        self.means_ = np.array(means)
        self.variances_ = np.array(variances)
        conditions = []
        thresholds = []
        for column, log_weight in zip(by_output, log_weights.tolist(), strict=True):
            condition = max(column.condition, column.cancellation)
            points = crossing_points(column.means, column.variances, log_weight)
            conditions.append(condition)
            thresholds.append(points)
        self.condition_ = max(conditions)
        has_one_output = len(thresholds) == 1
        self.thresholds_ = thresholds[0] if has_one_output else thresholds

    def _log_weights(self, classes: NDArray[Any]) -> Array:
        """Return ln of the prior times the cost of a class over the mean of that product for the
        other classes.

        `classes`: the sorted labels. The result is of shape (n_outputs,): one number for two
        classes, that of the second, or for a single class, 0; otherwise, one for each class.
        Invalid `priors` or `costs` raise a ValueError or a TypeError.
        """
        n_classes = len(classes)
        # Section 6: the weight of a class is its prior probability times its cost.
        priors = _class_values("priors", self.priors, classes)
        costs = _class_values("costs", self.costs, classes)
        if n_classes == 1:
            return np.zeros(1)
        weights = priors * costs
        others = (weights.sum() - weights) / (n_classes - 1)
        log_weights = np.log(weights / others)
        # Two classes have one column, for the second one.
        return log_weights[1:] if n_classes == 2 else log_weights

    def _outputs(self, X: Array) -> Array:
        """Return the log-odds of every output for the rows of `X`, of shape (n, n_outputs): of the
        second of two classes, else of each class against the rest.
        """
        return class_odds(self._projections(X), self._discriminants, self._log_priors)

    def _projections(self, X: Array) -> Array:
        """Return the projections beta'phi(x) of the rows' features phi(x) on the directions beta,
        of shape (n, n_outputs).

        A subclass implements it; here, it raises NotImplementedError.
        """
        raise NotImplementedError

    def project(self, X: ArrayLike) -> Array:
        """Return the projections beta'phi(x) on which the decision is based, of shape (n_samples,).

        phi(x) are the features of a row, outputs of hidden nodes or of a kernel, and beta is the
        direction of the classes. For more than two classes, they have shape (n_samples, n_classes),
        and the positive Gaussian of a column is that of its class. They are zero for a single
        class.
        """
        check_is_fitted(self)
        projections = self._projections(self._validate_rows(X, reset=False))
        return projections[:, 0] if len(self.classes_) <= 2 else projections

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return the probabilities of the classes, of shape (n_samples, n_classes), in the order of
        `classes_`.

        They follow from the two Gaussians, the priors and the costs: p(t | beta'h) is proportional
        to p(t) C_t p(beta'h | t) (section 6). For more than two classes, they are those of each
        class against the rest, divided by their sum; for a single class, 1. `predict` returns a
        class of the largest probability.
        """
        odds = self.decision_function(X)
        n_rows = len(odds)
        odds = odds.reshape(n_rows, -1)
        if len(self.classes_) == 2:
            odds = np.hstack([-odds, odds])
        log_probabilities = log_expit(odds)
        probabilities = softmax(log_probabilities, axis=1)
        return np.asarray(probabilities)


def _class_values(name: str, values: Any, classes: NDArray[Any]) -> Array:
    """Return a positive number for each class, of shape (n_classes,), from `values`: a mapping by
    label or a sequence in the order of `classes`; ones for None.

    `classes`: the sorted labels; a mapping may have further ones. Raise a ValueError or a TypeError
    that names the parameter `name` if a mapping lacks a class, a sequence has a different length,
    or a number is not positive and finite.
    """
    if values is None:
        return np.ones(len(classes))
    if isinstance(values, Mapping):
        labels = classes.tolist()
        if any(label not in values for label in labels):
            raise ValueError(
                f"{name}: expected a number for each of the labels {labels}, got {dict(values)} "
                "instead"
            )
        values = [values[label] for label in labels]
    values = list(values)
    if len(values) != len(classes):
        raise ValueError(
            f"{name}: expected {len(classes)} numbers, one a class, got {len(values)} instead"
        )
    return np.array([check_real(name, value) for value in values])


@estimator
class EEMClassifier(EntropyClassifier, HiddenNodesMixin, PathMixin):
    """Extreme entropy machine.

    The rows of each class, in the space of the outputs h(x) of random hidden nodes, are modelled as
    a Gaussian with their mean and their Ledoit-Wolf covariance. The direction beta = 2 (S+ + S-)^-1
    (m+ - m-) / ||m+ - m-||^2, in the Mahalanobis norm of S+ + S-, projects them to two Gaussians on
    a line, with means at a distance of 2, that maximise the leading term of the Cauchy-Schwarz
    divergence. A row belongs to the class whose Gaussian has the higher density at beta'h(x). More
    than two classes are learnt one against the rest.

    Parameters
    ----------
    n_hidden, random_state
        As in `ELMClassifier`; the paper's h is `n_hidden`.
    activation : {"sigmoid", "nsig", "rbf"}, default="sigmoid"
        1 / (1 + exp(-<w, x> + b)), 1 / (1 + exp(-<w, x> / d + b)) for d features, or exp(-b ||w -
        x||^2), with w and b uniform on [0, 1].
    priors : array-like of shape (n_classes,) or dict, default=None
        Prior probability of each class, in the order of the sorted labels or by label; only their
        ratios count. By default, all classes have the same, regardless of their sizes, as in the
        paper. In a cross-validation, some rows may lack a class: use a dictionary.
    costs : array-like of shape (n_classes,) or dict, default=None
        Cost of an error on each class, in the same form; by default, the same for all.

    Attributes
    ----------
    beta_ : ndarray of shape (n_hidden, n_outputs)
        The direction, one column for two classes, else one for each class; zero if the means of the
        classes coincide.
    means_, variances_ : ndarray of shape (n_outputs, 2)
        m-, m+ and S-, S+ of the projections beta'h. The variances are at least their own round-off.
    thresholds_ : ndarray, or list of ndarray for more than two classes
        The projections at which the decision changes, ascending: two, or one if the variances are
        equal, or none if one class is likelier everywhere.
    condition_ : float
        Estimated condition number of S+ + S-, or of the smaller variance if larger; the largest
        over the outputs.
    weights_, biases_, classes_, n_units_, n_features_in_
        As in `ELMClassifier`.

    See Also
    --------
    EEKMClassifier : A kernel instead of hidden nodes.
    WELMClassifier : Least squares on the same hidden nodes.

    Notes
    -----
    Rows may be sparse, as for `ELMClassifier`. A row counts `sample_weight` times in the mean and
    the covariance of its class; `priors` and `costs` weight the classes.

    References
    ----------
    Czarnecki and Tabor, Extreme Entropy Machines: Robust information theoretic classification,
    sections 3 and 6, eqs. (2) and (4), Algorithms 1 and 2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from elmbench.models import EEMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(EEMClassifier(n_hidden=20, random_state=0).fit(X, y).score(X, y), 2)
    0.92
    """

    _interval = (0.0, 1.0)
    _node_function = staticmethod(node_outputs)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "activation": [StrOptions(set(NODES))]
    }

    def _fit(self, X: Rows, T: Array, weights: Array | None) -> None:
        """Draw the hidden nodes and find the discriminant of each output on them.

        `T`: targets -1/+1, (n, n_outputs), one column for two classes. `weights`: of the rows,
        (n,), not their roots, above 0; None if all are 1. A warning is issued for a class of one
        row, and for classes with the same mean.
        """
        self._draw_nodes(X.shape[1])
        (result,) = self._by_size(X, T, [self.n_units_], weights).values()
        self.beta_ = np.column_stack([d.beta for d in result])
        self._set_discriminants(result)

    def _by_size(
        self,
        X: Rows,
        T: Array,
        sizes: list[int],
        weights: Array | None = None,
        from_products: bool = False,
    ) -> dict[int, list[Discriminant]]:
        """Return {number of leading nodes: discriminants of all outputs} for some of these numbers.

        `T`: targets -1/+1, (n, n_outputs). `sizes`: the numbers. `weights`: of the rows, (n,), not
        their roots; None if all are 1. `from_products`: True to compute more nodes than rows from
        products of the rows, which is faster, but equal within round-off only. The nodes must be
        drawn.
        """
        return discriminants(
            lambda rows: self._hidden(X[rows]),
            T,
            sizes,
            CONSTANT_LAYER,
            weights=weights,
            from_products=from_products,
        )

    def _projections(self, X: Rows) -> Array:
        """Return beta'h(x) for the rows x of `X`, h(x) being the outputs of the hidden nodes, of
        shape (n, n_outputs).
        """
        return HiddenNodesMixin._outputs(self, X)

    project_grid = grid_path(
        "project", "Yield the projections by every candidate on every fold."
    )

    @classmethod
    def _path(cls, grid: CandidateGrid) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Yield (candidate, fold, outputs) from the moments of the largest network only.

        These hold those of smaller networks in their leading blocks. Networks with more nodes than
        rows are computed from products of rows. `outputs`: the values of the method `grid.output`
        for the test rows.
        """
        for fold in node_folds(grid):
            rows = grid.X[fold.train]
            classes = np.unique(grid.y[fold.train])
            by_size = fold.largest._by_size(
                rows, fold.T, fold.sizes, from_products=True
            )
            for size, result in by_size.items():
                directions = [gaussians.beta for gaussians in result]
                beta = np.column_stack(directions)
                projections = fold.outputs(beta)
                for i, model in fold.members:
                    if model.n_hidden != size:
                        continue
                    log_weights = model._log_weights(classes)
                    outputs = projections
                    if grid.output != "project":
                        outputs = class_odds(projections, result, log_weights)
                    yield from grid.results([[i]], fold.number, outputs, fold.decode)

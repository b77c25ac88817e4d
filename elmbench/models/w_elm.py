"""The weighted extreme learning machine: random hidden nodes, output weights by the pseudo-inverse
of weighted rows.
"""

import warnings
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from elmbench.models.base.family import estimator
from elmbench.models.base.paths import CandidateGrid, PathMixin
from elmbench.models.base.sklearn_private import StrOptions
from elmbench.models.base.weights import WeightedClassifier
from elmbench.models.elm import CONSTANT_LAYER, HiddenNodesMixin, node_folds
from elmbench.numerics.arrays import Array, Rows
from elmbench.numerics.nodes.hidden_layer import NODES, node_outputs
from elmbench.numerics.nodes.output_weights import leading_solutions
from elmbench.numerics.solve import scaled_rows

# share of the largest singular value that counts as zero: numpy's `pinv` of the paper's time
CUTOFF = 1e-15


def weighted_solutions(
    H: Array, T: Array, B: Array | None, sizes: list[int], balanced: bool
) -> Iterator[tuple[int, Array, float]]:
    """Yield each size, beta = (B . H)^+ (B . T) for that many leading columns of H, and the
    condition of B . H.

    This is section 2.1 of Czarnecki and Tabor, Extreme Entropy Machines. B . H are the rows of H
    times the numbers B, and ^+ is the pseudo-inverse; beta has the shape (size, n_outputs). If all
    columns of H are constant, a warning is issued.

    `H`: the hidden outputs from `node_outputs`, (n, L), which are overwritten. `T`: targets -1/+1,
    (n, n_outputs), one column for two classes, else one for each class. `B`: the square roots of
    the weights of the rows, (n,); None if all are 1. `sizes`: ascending; those above n are yielded
    first. `balanced`: True if the rows of every class have the same total weight; if all columns of
    H are constant, beta is then zero, and the condition 1.
    """
    if not np.ptp(H, axis=0).any():
        warnings.warn(CONSTANT_LAYER, UserWarning, stacklevel=2)
        if balanced:
            # The balanced targets cancel along the only direction, so the exact solution is beta =
            # 0.
            yield from ((size, np.zeros((size, T.shape[1])), 1.0) for size in sizes)
            return
    if B is not None:
        H *= B[:, np.newaxis]
    yield from leading_solutions(H, scaled_rows(T, B), sizes, CUTOFF)


@estimator
class WELMClassifier(WeightedClassifier, HiddenNodesMixin, PathMixin):
    """Weighted extreme learning machine.

    A network f(x) = h(x)' beta with random hidden nodes h_i(x) = G(x, w_i, b_i), w_i and b_i
    uniform on [0, 1], and beta = (B . H)^+ (B . T). This is least squares on targets -1/+1 in which
    every class has the same weight: by default, B_i is the square root of the inverse of the size
    of row i's class. The `sample_weight` of `fit` multiplies these weights and counts in the sizes
    of the classes. The only regularisation is the cutoff of the pseudo-inverse. More than two
    classes are learnt one against the rest.

    Parameters
    ----------
    n_hidden, random_state
        As in `ELMClassifier`; the paper's h is `n_hidden`.
    activation : {"sigmoid", "nsig", "rbf"}, default="sigmoid"
        1 / (1 + exp(-<w, x> + b)), 1 / (1 + exp(-<w, x> / d + b)) for d features, or exp(-b ||w -
        x||^2).
    class_weight : "balanced", dict or None, default="balanced"
        Weight of the squared errors on each class: the inverse of its size, numbers by label, or 1
        for all.

    Attributes
    ----------
    beta_ : ndarray of shape (n_hidden, n_outputs)
        Output weights; zero if the hidden layer is constant on the training rows.
    condition_ : float
        Condition number of the weighted hidden outputs, without the directions below the cutoff.
    weights_, biases_, classes_, n_units_, n_features_in_
        As in `ELMClassifier`.

    See Also
    --------
    ELMClassifier : A ridge instead of a pseudo-inverse.
    EEMClassifier : Densities on the same hidden nodes.
    CalibratedClassifierCV : Of scikit-learn; ``CalibratedClassifierCV(model, ensemble=False)`` has
    `predict_proba`.

    Notes
    -----
    The pseudo-inverse is that of the weighted hidden outputs themselves: their Gram matrix has the
    square of their condition number and leads to visibly different weights. With nearly as many
    nodes as rows, the model overfits, as in the paper. Rows may be sparse, as for `ELMClassifier`.

    References
    ----------
    Zong, Huang, Chen, Weighted extreme learning machine for imbalance learning, Neurocomputing 101,
    2013; Czarnecki and Tabor, Extreme Entropy Machines, sections 2.1 and 7.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from elmbench.models import WELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(WELMClassifier(n_hidden=20, random_state=0).fit(X, y).score(X, y), 2)
    0.99
    """

    _local = True
    _interval = (0.0, 1.0)
    _node_function = staticmethod(node_outputs)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "activation": [StrOptions(set(NODES))]
    }

    class_weight: str | Mapping[Any, float] | None = "balanced"

    def _fit(self, X: Rows, T: Array, scale: Array | None) -> None:
        """Draw the nodes and solve for their output weights by the pseudo-inverse; warn if the
        outputs of all nodes are constant.

        `T`: targets -1/+1, (n, n_outputs), not scaled. `scale`: the square roots of the weights of
        rows times those of their classes, (n,); None if all are 1.
        """
        n_features = X.shape[1]
        self._draw_nodes(n_features)
        H = self._hidden(X)
        sizes = [self.n_hidden]
        is_balanced = self.class_weight == "balanced"
        ((_, beta, condition),) = weighted_solutions(H, T, scale, sizes, is_balanced)
        self.beta_ = beta
        self.condition_ = condition

    @staticmethod
    def _balanced_weights(sizes: Array) -> Array:
        """Return the "balanced" weights of classes: the inverse of the size of each.

        `sizes`: the rows of each class, or the sums of their weights, (n_classes,).
        """
        return 1.0 / sizes

    @classmethod
    def _path(cls, grid: CandidateGrid) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Yield (candidate, fold, outputs) from the hidden outputs of the largest network only.

        One QR decomposition of these serves all sizes up to the number of rows. `outputs`: the
        values of the method `grid.output` for the test rows.
        """
        for fold in node_folds(grid):
            largest = fold.largest
            rows = grid.X[fold.train]
            labels = grid.y[fold.train]
            H = largest._hidden(rows)
            scale = largest._scale(labels)
            is_balanced = largest.class_weight == "balanced"
            solutions = weighted_solutions(H, fold.T, scale, fold.sizes, is_balanced)
            # The members of each size have the same outputs.
            for size, beta, _ in solutions:
                members = [i for i, model in fold.members if model.n_hidden == size]
                groups = [members]
                outputs = fold.outputs(beta)
                yield from grid.results(groups, fold.number, outputs, fold.decode)

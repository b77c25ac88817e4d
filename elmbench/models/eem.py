"""The extreme entropy machine: random hidden nodes and the direction of the largest Cauchy-Schwarz divergence."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions

from elmbench.models.base.entropy import EntropyClassifier, class_odds, discriminants
from elmbench.models.base.nodes import CONSTANT_LAYER, HiddenNodesMixin, node_folds
from elmbench.models.base.parameters import estimator
from elmbench.models.base.paths import Grid, PathMixin
from elmbench.models.protocols import Evaluated, Folds
from elmbench.numerics.arrays import Array, Rows
from elmbench.numerics.entropy.discriminant import Discriminant
from elmbench.numerics.nodes.hidden_layer import NODES, node_outputs


@estimator
class EEMClassifier(EntropyClassifier, HiddenNodesMixin, PathMixin):
    """Extreme entropy machine.

    The rows of each class, in the space of the outputs h(x) of random hidden nodes, are modelled as a Gaussian with
    their mean and their Ledoit-Wolf covariance. The direction beta = 2 (S+ + S-)^-1 (m+ - m-) / ||m+ - m-||^2, in the
    Mahalanobis norm of S+ + S-, projects them to two Gaussians on a line, with means at a distance of 2, that maximise
    the leading term of the Cauchy-Schwarz divergence. A row belongs to the class whose Gaussian has the higher density
    at beta'h(x). More than two classes are learnt one against the rest.

    Parameters
    ----------
    n_hidden, random_state
        As in `ELMClassifier`; the paper's h is `n_hidden`.
    activation : {"sigmoid", "nsig", "rbf"}, default="sigmoid"
        1 / (1 + exp(-<w, x> + b)), 1 / (1 + exp(-<w, x> / d + b)) for d features, or exp(-b ||w - x||^2), with w and b
        uniform on [0, 1].
    priors : array-like of shape (n_classes,) or dict, default=None
        Prior probability of each class, in the order of the sorted labels or by label; only their ratios count. By
        default, all classes have the same, regardless of their sizes, as in the paper. In a cross-validation, some rows
        may lack a class: use a dictionary.
    costs : array-like of shape (n_classes,) or dict, default=None
        Cost of an error on each class, in the same form; by default, the same for all.

    Attributes
    ----------
    beta_ : ndarray of shape (n_hidden, n_outputs)
        The direction, one column for two classes, else one for each class; zero if the means of the classes coincide.
    means_, variances_ : ndarray of shape (n_outputs, 2)
        m-, m+ and S-, S+ of the projections beta'h. The variances are at least their own round-off.
    thresholds_ : ndarray, or list of ndarray for more than two classes
        The projections at which the decision changes, ascending: two, or one if the variances are equal, or none if one
        class is likelier everywhere.
    condition_ : float
        Estimated condition number of S+ + S-, or of the smaller variance if larger; the largest over the outputs.
    weights_, biases_, classes_, n_units_, n_features_in_
        As in `ELMClassifier`.

    See Also
    --------
    EEKMClassifier : A kernel instead of hidden nodes.
    WELMClassifier : Least squares on the same hidden nodes.

    Notes
    -----
    Rows may be sparse, as for `ELMClassifier`. A row counts `sample_weight` times in the mean and the covariance of its
    class; `priors` and `costs` weight the classes.

    References
    ----------
    Czarnecki and Tabor, Extreme Entropy Machines: Robust information theoretic classification, sections 3 and 6, eqs.
    (2) and (4), Algorithms 1 and 2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from elmbench.models import EEMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(EEMClassifier(n_hidden=20, random_state=0).fit(X, y).score(X, y), 2)
    0.92
    """

    _interval, _layer = (0.0, 1.0), staticmethod(node_outputs)
    _parameter_constraints: ClassVar[dict[str, Any]] = {"activation": [StrOptions(set(NODES))]}

    def _fit(self, X: Rows, T: Array, weights: Array | None) -> None:
        self._draw_nodes(X.shape[1])
        (result,) = self._by_size(X, T, [self.n_units_], weights).values()
        self.beta_ = np.column_stack([d.beta for d in result])
        self._set_discriminants(result)

    def _by_size(
        self, X: Rows, T: Array, sizes: list[int], weights: Array | None = None
    ) -> dict[int, list[Discriminant]]:
        """Return the discriminants for some numbers of leading nodes."""
        return discriminants(lambda rows: self._hidden(X[rows]), T, sizes, CONSTANT_LAYER, weights=weights)

    def _projections(self, X: Rows) -> Array:
        return HiddenNodesMixin._outputs(self, X)

    @classmethod
    def project_grid(
        cls, X: Array, y: NDArray[Any], folds: Folds, candidates: list[dict[str, Any]], **fixed: Any
    ) -> Iterator[Evaluated]:
        """Yield the projections by every candidate, see `elmbench.models.protocols.ProjectionPath`."""
        return cls._evaluate(Grid(X, y, folds, cls._valid_models(candidates, fixed), "project"))

    @classmethod
    def _path(cls, grid: Grid) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Compute the moments of the largest network only, which hold those of the others in their leading blocks."""
        for fold in node_folds(grid):
            classes = np.unique(grid.y[fold.train])
            for size, result in fold.largest._by_size(grid.X[fold.train], fold.T, fold.sizes).items():
                projections = fold.outputs(np.column_stack([d.beta for d in result]))
                for i, model in (member for member in fold.members if member[1].n_hidden == size):
                    odds = class_odds(projections, result, model._log_weights(classes))
                    yield i, fold.number, fold.decode(projections if grid.output == "project" else odds)

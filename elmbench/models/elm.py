"""Random hidden nodes, and the extreme learning machine: their output weights by ridge
regression.
"""

from collections.abc import Callable, Iterator
from dataclasses import field
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from elmbench.models.base.family import check_condition, estimator
from elmbench.models.base.paths import CandidateGrid, PathMixin
from elmbench.models.base.weights import (
    WeightedClassifier,
    WeightedRegressor,
    weight_key,
)
from elmbench.numerics.arrays import EPS, Array, Indices, Rows
from elmbench.numerics.nodes.hidden_layer import (
    draw_hidden_nodes,
    hidden_layer,
    layer_blocks,
)
from elmbench.numerics.nodes.output_weights import (
    Network,
    many_weights,
    output_weights,
)

CONSTANT_LAYER = (
    "the hidden layer yields the same values for every training row, so there is nothing to tell "
    "the classes apart by and one class is predicted for all rows; with activation='sigmoid' this "
    "happens when <w, x> is large, as it is for many features: use 'nsig', which divides it by "
    "their number, or 'rbf'"
)


@estimator
class HiddenNodesMixin:
    """Random hidden nodes, uniform on `_interval`, with the outputs of `_node_function`."""

    _interval: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    _node_function: ClassVar[Any] = staticmethod(hidden_layer)

    beta_: Array = field(init=False)
    n_hidden: int = 100
    activation: str = "sigmoid"
    random_state: int | np.random.RandomState | None = None

    def _draw_nodes(self, n_features: int) -> None:
        """Draw `n_hidden` nodes, by `random_state`, for rows of `n_features` columns.

        It sets `weights_`, (n_hidden, n_features), `biases_`, (n_hidden,), `n_units_`, and
        `_layer`, the function of rows, weights and biases that returns the outputs of the nodes.
        """
        random_state = check_random_state(self.random_state)
        self.weights_, self.biases_ = draw_hidden_nodes(
            self.n_hidden, n_features, random_state, *self._interval
        )
        self.n_units_ = self.n_hidden
        self._layer: Callable[..., Array] = partial(
            self._node_function, activation=self.activation
        )

    def _nodes_key(self) -> tuple[Any, ...]:
        """Return a key that is equal for models with the same nodes, apart from their number, and
        the same class weights.

        For models with an integer `random_state`, so that equal seeds draw equal nodes.
        """
        return self.activation, self.random_state, weight_key(self)

    def _hidden(self, X: Rows) -> Array:
        """Return the outputs of the hidden nodes, which are drawn before, for the rows of `X`, of
        shape (n, n_hidden).
        """
        return np.asarray(self._layer(X, self.weights_, self.biases_))

    def _outputs(self, X: Rows) -> Array:
        """Return h(x)' beta for every row x of `X`, h(x) being the outputs of the hidden nodes, of
        shape (n, n_outputs).
        """
        return np.concatenate(
            [self._hidden(X[rows]) @ self.beta_ for rows in layer_blocks(X.shape[0])]
        )


class NodesFold(NamedTuple):
    """Candidates with the same hidden nodes on a fold.

    Attributes
    ----------
    number : int
        Number of the fold.
    train : ndarray of shape (n_train,)
        Numbers of the training rows.
    members : list of (int, model)
        The candidates with their numbers.
    sizes : list of int
        Their numbers of nodes, ascending.
    largest : model
        The candidate with the most nodes; the first ones are the nodes of the others.
    T : ndarray of shape (n_train, n_outputs)
        Targets of the training rows, -1/+1 for classes.
    decode : callable
        Returns the values of the grid's method from outputs, of shape (n, n_outputs).
    probes : list of ndarray
        Outputs of all nodes for successive blocks of the test rows.
    """

    number: int
    train: Indices
    members: list[tuple[int, Any]]
    sizes: list[int]
    largest: Any
    T: Array
    decode: Callable[[Array], NDArray[Any]]
    probes: list[Array]

    def outputs(self, beta: Array) -> Array:
        """Return the outputs H beta of a network for the test rows, of shape (n_test, n_outputs).

        H are the outputs of the leading hidden nodes. `beta`: the output weights, (number of these
        nodes, n_outputs).
        """
        # H beta as the transpose of beta' H': a third of the time, as the columns of H are
        # contiguous.
        size = len(beta)
        parts = [beta.T @ H[:, :size].T for H in self.probes]
        return np.hstack(parts).T


def node_folds(grid: CandidateGrid) -> Iterator[NodesFold]:
    """Yield a `NodesFold` for every group of candidates with the same nodes and every fold, group
    by group.

    The nodes of the largest candidate of a group are drawn once, which changes this model in place;
    they serve the others.
    """
    for members in grid.group(lambda model: model._nodes_key()):
        models = [model for _, model in members]
        largest = max(models, key=lambda model: model.n_hidden)
        largest._draw_nodes(grid.X.shape[1])
        sizes = sorted({model.n_hidden for model in models})
        for j, (train, test) in enumerate(grid.folds):
            T, decode = grid.encode(train)
            blocks = [test[rows] for rows in layer_blocks(len(test))]
            probes = [largest._hidden(grid.X[block]) for block in blocks]
            yield NodesFold(
                number=j,
                train=train,
                members=members,
                sizes=sizes,
                largest=largest,
                T=T,
                decode=decode,
                probes=probes,
            )


@estimator
class _ELM(HiddenNodesMixin, PathMixin):
    """Base class of `ELMClassifier` and `ELMRegressor`: fit and path, for targets of shape (n,
    n_outputs).
    """

    C: float = 1.0
    slope: float = 1.0

    def _fit(self, X: Rows, T: Array, scale: Array | None) -> None:
        """Draw the hidden nodes and solve for their output weights with the ridge 1/C; warn if the
        ridge is lost in round-off and the system singular.

        `T`: targets, (n, n_outputs), -1/+1 for classes, not yet scaled. `scale`: roots of the
        weights of the rows, (n,); None if all are 1.
        """
        self._draw_nodes(X.shape[1])
        self.beta_, system = output_weights(
            X,
            T,
            layer=self._hidden,
            size=self.n_hidden,
            ridge=1.0 / self.C,
            scale=scale,
        )
        # The condition of H is the root of that of its products.
        self.condition_ = check_condition(self, system, EPS**2)

    def _draw_nodes(self, n_features: int) -> None:
        """Draw `n_hidden` nodes, and set `weights_`, `biases_`, `n_units_`, and `_layer`, which
        multiplies their inputs by `slope`.

        `n_features`: the number of columns of the rows.
        """
        super()._draw_nodes(n_features)
        self._layer = partial(self._layer, slope=self.slope)

    def _nodes_key(self) -> tuple[Any, ...]:
        """Return a key that is equal for models with the same nodes, apart from their number, and
        the same class weights: activation, seed, class weights and slope.
        """
        return *super()._nodes_key(), self.slope

    @classmethod
    def _path(cls, grid: CandidateGrid) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Yield (candidate, fold, outputs) from one Cholesky factor of each `C`, which serves every
        `n_hidden` up to the number of training rows.

        For larger networks, one reduction for each `n_hidden` serves every `C`; see `many_weights`.
        `outputs`: the values of the method `grid.output` for the test rows.
        """
        for fold in node_folds(grid):
            numbers = [number for number, _ in fold.members]
            networks = [
                Network(size=int(model.n_hidden), ridge=1.0 / model.C)
                for _, model in fold.members
            ]
            solutions = many_weights(
                grid.X[fold.train],
                fold.T,
                layer=fold.largest._hidden,
                networks=networks,
                solvers=grid.solvers,
                scale=fold.largest._scale(grid.y[fold.train]),
            )
            for positions, weights in solutions:
                candidates = [[numbers[position]] for position in positions]
                outputs = fold.outputs(weights)
                yield from grid.results(candidates, fold.number, outputs, fold.decode)


@estimator
class ELMClassifier(WeightedClassifier, _ELM):
    """Extreme learning machine for classification.

    A network f(x) = h(x)' beta with random hidden nodes h_i(x) = g(slope (a_i.x + b_i)), a_i and
    b_i uniform on [-1, 1]. Its output weights minimise ||beta||^2 / 2 + C/2 ||H beta - T||^2 for
    targets -1/+1. More than two classes are learnt one against the rest.

    Parameters
    ----------
    n_hidden : int, default=100
        Number of hidden nodes, L in the paper. The nodes of a smaller network are the first ones of
        a larger network with the same integer `random_state`.
    C : float, default=1.0
        Weight of the errors; 1/C is the ridge.
    activation : {"sigmoid", "tanh", "relu"}, default="sigmoid"
        The function g.
    slope : float, default=1.0
        Factor of a_i.x + b_i: lambda in Deng et al.
    random_state : int, RandomState or None, default=None
        Draws the hidden nodes.
    class_weight : "balanced", dict or None, default=None
        As in `KELMClassifier`.

    Attributes
    ----------
    weights_ : ndarray of shape (n_hidden, n_features)
    biases_ : ndarray of shape (n_hidden,)
    beta_ : ndarray of shape (n_hidden, n_outputs)
        Output weights.
    classes_ : ndarray of shape (n_classes,)
    n_units_ : int
        Number of hidden nodes.
    condition_ : float
        Estimated condition number of the system that was solved.
    n_features_in_ : int

    See Also
    --------
    KELMClassifier : A kernel instead of hidden nodes.
    OSELMClassifier : The same network, learnt block by block.
    WELMClassifier : Classes of the same weight.
    CalibratedClassifierCV : Of scikit-learn; ``CalibratedClassifierCV(model, ensemble=False)`` has
    `predict_proba`.

    Notes
    -----
    Rows may be sparse and are converted to CSR, never to dense ones; the weights of the hidden
    nodes are dense. With weights w_i, the squared error of row i counts w_i times, so a weight of 2
    repeats the row. `fit` warns, like that of `KELMClassifier`, if the ridge is below the square of
    the machine precision times the largest eigenvalue of H'H, which means that H itself is singular
    to working precision.

    References
    ----------
    Huang, Zhou, Ding, Zhang, Extreme learning machine for regression and multiclass classification,
    IEEE Trans. SMC B 42(2), 2012; Scardapane et al., Online Sequential Extreme Learning Machine
    With Kernels, IEEE TNNLS 26(9), 2015, eqs. (1)-(3) and (13); Deng, Ong, Zheng, A fast reduced
    kernel extreme learning machine, Neural Networks 76, 2016, section 5.2; for weights Zong, Huang,
    Chen, Weighted extreme learning machine for imbalance learning, Neurocomputing 101, 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from elmbench.models import ELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(ELMClassifier(n_hidden=50, C=100, random_state=0).fit(X, y).score(X, y), 2)
    0.99
    """


class ELMRegressor(WeightedRegressor, _ELM):
    """Extreme learning machine for regression: `ELMClassifier` with `y`, one column or several, as
    targets.

    See Also
    --------
    ELMClassifier : For classification.
    KELMRegressor : A kernel instead of hidden nodes.
    OSELMRegressor : The same network, learnt block by block.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from elmbench.models import ELMRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ELMRegressor(n_hidden=50, C=100, random_state=0)
    >>> round(model.fit(20 * X, y / 100).score(20 * X, y / 100), 2)
    0.58
    """

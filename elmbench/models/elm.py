"""The extreme learning machine: random hidden nodes, output weights by ridge regression."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from elmbench.models._base import Array, FamilyClassifier, FamilyRegressor
from elmbench.models._parameters import check_choice, check_count, check_real
from elmbench.numerics.nodes import (
    ACTIVATIONS,
    ROW_BLOCK,
    TILE,
    draw_hidden_nodes,
    gram_of_nodes,
    hidden_layer,
    outer_gram,
    outer_grams,
    padded,
    row_blocks,
    transposed_product,
)
from elmbench.numerics.solve import RidgeSystem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray


class HiddenNodesMixin:
    """Random hidden nodes and the outputs of the network that has them."""

    n_hidden: int
    activation: str
    random_state: int | np.random.RandomState | None
    beta_: Array

    def _draw_nodes(self, n_features: int) -> None:
        """Set `weights_` and `biases_`."""
        n_hidden = check_count("n_hidden", self.n_hidden)
        check_choice("activation", self.activation, ACTIVATIONS)
        random_state = check_random_state(self.random_state)
        self.weights_, self.biases_ = draw_hidden_nodes(n_hidden, n_features, random_state)

    def _hidden(self, X: Array) -> Array:
        """Return the outputs of the hidden nodes, of shape (n, n_hidden)."""
        return hidden_layer(X, self.weights_, self.biases_, self.activation)[:, : len(self.weights_)]

    def _outputs(self, X: Array) -> Array:
        """Eq. (1): f(x) = h(x)' beta."""
        outputs = np.empty((len(X), self.beta_.shape[1]))
        for rows in row_blocks(len(X)):
            outputs[rows] = self._hidden(X[rows]) @ self.beta_
        return outputs

    @property
    def n_units_(self) -> int:
        """The number of hidden nodes."""
        return len(self.weights_)


def solve_output_weights(
    X: Array, T: Array, weights: Array, biases: Array, activation: str, C: float
) -> tuple[Array, float]:
    """Return the output weights of eq. (3), from the smaller of the two systems that give them, and its condition.

    With n rows and L nodes: beta = (H'H + I/C)^-1 H'T if L <= n, else H' (HH' + I/C)^-1 T.
    """
    n_nodes = len(weights)
    if n_nodes <= len(X):
        gram, moments = gram_of_nodes(X, T, weights, biases, activation)
        system = RidgeSystem(gram[:n_nodes, :n_nodes], 1.0 / C)
        return system.solve(moments[:n_nodes]), system.condition
    H = hidden_layer(X, weights, biases, activation)
    system = RidgeSystem(outer_gram(H), 1.0 / C)
    return transposed_product(H, system.solve(T))[:n_nodes], system.condition


class _ELM(HiddenNodesMixin, BaseEstimator):
    """What the classifier and the regressor share."""

    model_version: int = 1

    def __init__(
        self,
        n_hidden: int = 100,
        C: float = 1.0,
        activation: str = "sigmoid",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_hidden = n_hidden
        self.C = C
        self.activation = activation
        self.random_state = random_state

    def _fit(self, X: Array, T: Array) -> None:
        C = check_real("C", self.C)
        self._draw_nodes(X.shape[1])
        self.beta_, self.condition_ = solve_output_weights(X, T, self.weights_, self.biases_, self.activation, C)

    @classmethod
    def memory_estimate(
        cls, n_samples: int, n_features: int, n_outputs: int = 1, *, n_hidden: int = 100, **params: Any
    ) -> int:
        """Return the peak memory of `fit` in bytes, the rows it is given left aside.

        Parameters
        ----------
        n_samples, n_features, n_outputs : int
            The shape of the problem.
        n_hidden : int, default=100
        **params
            The other parameters of the constructor, which make no difference.

        Returns
        -------
        int
        """
        width = padded(n_hidden)
        nodes = 2 * n_hidden * (n_features + 1)
        if n_hidden <= n_samples:
            # H'H, the leading block that is factored, and a block of hidden outputs
            return 8 * (nodes + 2 * width**2 + (width + 2 * TILE) * min(n_samples, ROW_BLOCK) + 3 * width * n_outputs)
        # H, HH' and the product that is being added to it
        return 8 * (nodes + n_samples * (width + 2 * TILE) + 2 * n_samples**2 + 3 * width * n_outputs)

    @classmethod
    def evaluate_grid(
        cls,
        X: Array,
        y: NDArray[Any],
        folds: list[tuple[NDArray[np.intp], NDArray[np.intp]]],
        candidates: list[dict[str, Any]],
        **fixed: Any,
    ) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Evaluate a grid of parameters on folds, drawing the hidden nodes of the largest network only.

        Their products H'H and HH' are grown tile by tile, so that each `n_hidden` finds its own in a leading block or
        on the way; what is left for each pair of `n_hidden` and `C` is one factorisation.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
        folds : list of (train, test)
            Row numbers.
        candidates : list of dict
            Parameters of the constructor, any of them.
        **fixed
            The others; `random_state` is an int.

        Yields
        ------
        candidate, fold : int
        predictions : ndarray
            What ``cls(**fixed, **candidates[candidate])``, fitted to the training rows, predicts for the test rows.
        """
        groups: dict[tuple[str, Any], list[tuple[int, _ELM]]] = {}
        for i, candidate in enumerate(candidates):
            model = cls(**fixed, **candidate)
            groups.setdefault((model.activation, model.random_state), []).append((i, model))
        for members in groups.values():
            largest = max((model for _, model in members), key=lambda model: model.n_hidden)
            largest._draw_nodes(X.shape[1])
            sizes = sorted({check_count("n_hidden", model.n_hidden) for _, model in members})
            for j, (train, test) in enumerate(folds):
                T, decoded = cls._coded(y[train])
                probes = [largest._hidden(X[test[rows]]) for rows in row_blocks(len(test))]
                for n_hidden, solve in _solvers(X[train], T, largest, sizes):
                    for i, model in members:
                        if model.n_hidden == n_hidden:
                            beta = solve(1.0 / check_real("C", model.C))
                            outputs = np.concatenate([H[:, :n_hidden] @ beta for H in probes])
                            yield i, j, decoded(outputs)


def _solvers(X: Array, T: Array, nodes: _ELM, sizes: list[int]) -> Iterator[tuple[int, Callable[[float], Array]]]:
    """Yield each of the ascending sizes with the function from a ridge to the output weights of so many nodes.

    The same systems, to the last bit, as `solve_output_weights` sets up for each size by itself. A function is valid
    until the next one is asked for.
    """
    weights, biases, activation = nodes.weights_, nodes.biases_, nodes.activation
    primal = [size for size in sizes if size <= len(X)]
    dual = [size for size in sizes if size > len(X)]
    if primal:
        gram, moments = gram_of_nodes(X, T, weights[: primal[-1]], biases[: primal[-1]], activation)
        for size in primal:
            yield size, partial(_solve_primal, gram[:size, :size], moments[:size])
    if dual:
        H = hidden_layer(X, weights, biases, activation)
        for size, outer in outer_grams(H, dual):
            yield size, partial(_solve_dual, outer, H[:, : padded(size)], T, size)


def _solve_primal(gram: Array, moments: Array, ridge: float) -> Array:
    return RidgeSystem(gram.copy(order="F"), ridge).solve(moments)


def _solve_dual(outer: Array, H: Array, T: Array, size: int, ridge: float) -> Array:
    return transposed_product(H, RidgeSystem(outer.copy(order="F"), ridge).solve(T))[:size]


class ELMClassifier(FamilyClassifier, _ELM):
    """Extreme learning machine for classification.

    A network f(x) = h(x)' beta whose hidden nodes h_i(x) = g(a_i.x + b_i) are drawn at random, a_i and b_i uniformly
    from [-1, 1], and whose output weights minimise ||beta||^2 / 2 + C/2 ||H beta - T||^2, with targets -1/+1, for more
    than two classes one against the rest.

    Parameters
    ----------
    n_hidden : int, default=100
        Number of hidden nodes, L in the paper. The nodes of a smaller network are the first ones of a larger network
        with the same integer `random_state`.
    C : float, default=1.0
        Weight of the errors; 1/C is the ridge.
    activation : {"sigmoid", "tanh", "relu"}, default="sigmoid"
        The function g.
    random_state : int, RandomState or None, default=None
        Draws the hidden nodes.

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

    References
    ----------
    Huang, Zhou, Ding, Zhang, Extreme learning machine for regression and multiclass classification, IEEE Trans. SMC B
    42(2), 2012; Scardapane et al., Online Sequential Extreme Learning Machine With Kernels, IEEE TNNLS 26(9), 2015,
    eqs. (1)-(3) and (13).
    """


class ELMRegressor(FamilyRegressor, _ELM):
    """Extreme learning machine for regression, with one target or several.

    As `ELMClassifier`, with the values of `y` as targets.

    Parameters
    ----------
    n_hidden : int, default=100
        Number of hidden nodes.
    C : float, default=1.0
        Weight of the errors; 1/C is the ridge.
    activation : {"sigmoid", "tanh", "relu"}, default="sigmoid"
        The function of the hidden nodes.
    random_state : int, RandomState or None, default=None
        Draws the hidden nodes.

    Attributes
    ----------
    weights_ : ndarray of shape (n_hidden, n_features)
    biases_ : ndarray of shape (n_hidden,)
    beta_ : ndarray of shape (n_hidden, n_outputs)
        Output weights.
    n_units_ : int
        Number of hidden nodes.
    condition_ : float
        Estimated condition number of the system that was solved.
    n_features_in_ : int

    References
    ----------
    Those of `ELMClassifier`.
    """

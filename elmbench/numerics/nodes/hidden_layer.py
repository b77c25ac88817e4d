"""Random hidden nodes and their activations."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from sklearn.utils import gen_batches

from elmbench.numerics.arrays import Array
from elmbench.numerics.rows import Rows

ROW_BLOCK = 2048  # rows that are passed through the hidden layer at a time where their outputs need not be kept


def _sigmoid(Z: Array) -> Array:
    """1 / (1 + exp(-z)): by `numpy.exp`, which is faster than `scipy.special.expit`, with the same rounding."""
    np.negative(Z, out=Z)
    with np.errstate(over="ignore"):  # infinite where the result is zero
        np.exp(Z, out=Z)
    Z += 1.0
    return np.reciprocal(Z, out=Z)


ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "sigmoid": _sigmoid,
    "tanh": lambda Z: np.tanh(Z, out=Z),
    "relu": lambda Z: np.maximum(Z, 0.0, out=Z),
}
"""Activations by name: each overwrites an array with its values."""


def draw_hidden_nodes(
    n_nodes: int, n_features: int, random_state: np.random.RandomState, low: float = -1.0, high: float = 1.0
) -> tuple[Array, Array]:
    """Draw the weights, of shape (n_nodes, n_features), and biases of hidden nodes uniformly from [low, high].

    Each node's weights are drawn before its bias and the next node, so the nodes of a smaller network are the first
    nodes of a larger one from the same random state. [-1, 1] is the interval of Scardapane et al., section V.A.
    """
    nodes = random_state.uniform(low, high, size=(n_nodes, n_features + 1))
    return np.ascontiguousarray(nodes[:, :-1]), np.ascontiguousarray(nodes[:, -1])


def layer_blocks(n_rows: int) -> Iterator[slice]:
    """Return the slices that cut `n_rows` rows into blocks of `ROW_BLOCK`."""
    return gen_batches(n_rows, ROW_BLOCK)


def hidden_layer(X: Rows, weights: Array, biases: Array, activation: str = "sigmoid", slope: float = 1.0) -> Array:
    """Return the outputs g(slope (a.x + b)) of the hidden nodes, of shape (n, L).

    For X of shape (n, d), dense or CSR, weights (L, d) and biases (L,). The activation is a key of `ACTIVATIONS`;
    "sigmoid" is eq. (13) of Scardapane et al. with the slope 1; section 5.2 of Deng et al. has the slope lambda. For
    dense rows, the outputs are in Fortran order.
    """
    inputs = np.asarray(X @ weights.T) if sp.issparse(X) else (weights @ X.T).T
    inputs += biases
    if slope != 1.0:
        inputs *= slope
    return ACTIVATIONS[activation](inputs)


@dataclass(frozen=True)
class Nodes:
    """L hidden nodes, with weights (L, d), biases (L,), a key of `ACTIVATIONS` and a slope."""

    weights: Array
    biases: Array
    activation: str = "sigmoid"
    slope: float = 1.0

    def __len__(self) -> int:
        return len(self.weights)

    def first(self, size: int) -> "Nodes":
        """Return the nodes of a smaller network."""
        return replace(self, weights=self.weights[:size], biases=self.biases[:size])

    def outputs(self, X: Rows) -> Array:
        """Return their outputs, see `hidden_layer`."""
        return hidden_layer(X, self.weights, self.biases, self.activation, self.slope)

"""Random hidden nodes and the activations they are passed through."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from elmbench.numerics.arrays import Array
from elmbench.numerics.centres import Rows

TILE = 64
"""Hidden nodes are worked on this many at a time, the last tile filled up, see `hidden_layer`."""

ROW_BLOCK = 2048
"""Rows that are passed through the hidden layer at a time where their outputs need not be kept."""

ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "sigmoid": lambda Z: expit(Z, out=Z),  # 1 / (1 + exp(-z)), without overflow
    "tanh": lambda Z: np.tanh(Z, out=Z),
    "relu": lambda Z: np.maximum(Z, 0.0, out=Z),
}
"""Activations by name: each overwrites an array with its values."""


def draw_hidden_nodes(
    n_nodes: int, n_features: int, random_state: np.random.RandomState, low: float = -1.0, high: float = 1.0
) -> tuple[Array, Array]:
    """Draw the weights, of shape (n_nodes, n_features), and biases of hidden nodes uniformly from [low, high].

    They are drawn node by node, its weights and then its bias, so the nodes of a smaller network are the first nodes of
    a larger one from the same random state. [-1, 1] is the interval of Scardapane et al., section V.A.
    """
    nodes = random_state.uniform(low, high, size=(n_nodes, n_features + 1))
    return np.ascontiguousarray(nodes[:, :-1]), np.ascontiguousarray(nodes[:, -1])


def layer_blocks(n_rows: int) -> Iterator[slice]:
    """Yield the slices that cut `n_rows` rows into blocks of `ROW_BLOCK`."""
    for start in range(0, n_rows, ROW_BLOCK):
        yield slice(start, min(start + ROW_BLOCK, n_rows))


def padded(n_nodes: int) -> int:
    """Return `n_nodes` rounded up to whole tiles."""
    return -(-n_nodes // TILE) * TILE


def hidden_layer(X: Rows, weights: Array, biases: Array, activation: str = "sigmoid", slope: float = 1.0) -> Array:
    """Return the outputs g(slope (a.x + b)) of the hidden nodes, filled up with columns of zeros to whole tiles.

    All products are between whole tiles, so what a node yields is the same to the last bit in a network of any size.
    For X of shape (n, d), dense or CSR, weights (L, d) and biases (L,) the outputs are of shape (n, padded(L)), in
    Fortran order, and zero from column L on. The activation is a key of `ACTIVATIONS`; "sigmoid" is eq. (13) of
    Scardapane et al., where the slope is 1, and has the slope lambda in section 5.2 of Deng et al.
    """
    function = ACTIVATIONS[activation]
    n_nodes = len(weights)
    H = np.empty((X.shape[0], padded(n_nodes)), order="F")
    for start in range(0, n_nodes, TILE):
        stop = min(start + TILE, n_nodes)
        tile = np.zeros((X.shape[1], TILE))
        tile[:, : stop - start] = weights[start:stop].T
        block = X @ tile
        del tile  # before the next one is allocated: as long as rows are wide
        block[:, : stop - start] += biases[start:stop]
        if slope != 1.0:
            block *= slope
        H[:, start : start + TILE] = function(block)
        H[:, stop : start + TILE] = 0.0
    return H


@dataclass(frozen=True)
class Nodes:
    """Hidden nodes that were drawn: L of them, with weights (L, d), biases (L,), a key of `ACTIVATIONS` and a slope."""

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

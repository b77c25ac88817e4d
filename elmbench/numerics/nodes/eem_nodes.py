"""The random hidden nodes of the EEM paper (Czarnecki & Tabor), with weights and biases from [0, 1], signs as printed.

Each function returns what `hidden_layer` does: a matrix in Fortran order whose columns are filled up with zeros to
whole tiles, where what a node yields is the same to the last bit in a network of any size.
"""

from collections.abc import Callable

import numpy as np

from elmbench.numerics.arrays import Array
from elmbench.numerics.nodes.hidden_layer import TILE, hidden_layer, padded


def _radial(X: Array, weights: Array, biases: Array) -> Array:
    """exp(-b ||w - x||^2), from ||w||^2 + ||x||^2 - 2 <w, x>."""
    n_nodes = len(weights)
    x_norms = np.einsum("ij,ij->i", X, X)[:, np.newaxis]
    H = np.empty((len(X), padded(n_nodes)), order="F")
    for start in range(0, n_nodes, TILE):
        stop = min(start + TILE, n_nodes)
        tile = np.zeros((TILE, X.shape[1] + 1))
        tile[: stop - start, :-1] = weights[start:stop]
        tile[: stop - start, -1] = biases[start:stop]
        distances = X @ tile[:, :-1].T
        distances *= -2.0
        distances += x_norms
        distances += np.einsum("ij,ij->i", tile[:, :-1], tile[:, :-1])
        np.maximum(distances, 0.0, out=distances)
        distances *= -tile[:, -1]
        H[:, start : start + TILE] = np.exp(distances, out=distances)
        H[:, stop : start + TILE] = 0.0
    return H


NODES: dict[str, Callable[[Array, Array, Array], Array]] = {
    "sigmoid": lambda X, w, b: hidden_layer(X, w, -b),  # 1 / (1 + exp(-<w, x> + b)): the bias is taken off, not added
    "nsig": lambda X, w, b: hidden_layer(X, w / X.shape[1], -b),  # 1 / (1 + exp(-<w, x> / d + b))
    "rbf": _radial,
}
"""Generalised activations G(x, w, b) by name, of inputs (n, d), weights (L, d) and biases (L,)."""


def node_outputs(X: Array, weights: Array, biases: Array, activation: str) -> Array:
    """Return the outputs of hidden nodes for X (n, d), weights (L, d), biases (L,) and a key of `NODES` (section 7)."""
    return NODES[activation](X, weights, biases)

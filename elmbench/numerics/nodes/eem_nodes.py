"""The random hidden nodes of the EEM paper (Czarnecki & Tabor): weights and biases from [0, 1], signs as printed."""

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from elmbench.numerics.arrays import Array
from elmbench.numerics.kernels import squared_distances
from elmbench.numerics.nodes.hidden_layer import hidden_layer, layer_blocks
from elmbench.numerics.rows import Rows, sparse_distances


def _radial(X: Rows, weights: Array, biases: Array) -> Array:
    """exp(-b ||w - x||^2)."""
    if sp.issparse(X):
        distances = sparse_distances(X, weights)
    else:
        distances = squared_distances(X, weights, out=np.empty((len(X), len(weights)), order="F"))
    distances *= -biases
    return np.exp(distances, out=distances)


NODES: dict[str, Callable[[Rows, Array, Array], Array]] = {
    "sigmoid": lambda X, w, b: hidden_layer(X, w, -b),  # 1 / (1 + exp(-<w, x> + b)): the bias is taken off, not added
    "nsig": lambda X, w, b: hidden_layer(X, w / X.shape[1], -b),  # 1 / (1 + exp(-<w, x> / d + b))
    "rbf": _radial,
}
"""Generalised activations G(x, w, b) by name, of inputs (n, d), dense or CSR, weights (L, d) and biases (L,)."""


def node_outputs(X: Rows, weights: Array, biases: Array, activation: str) -> Array:
    """Return the outputs of hidden nodes, of shape (n, L) and in Fortran order, for a key of `NODES` (section 7)."""
    if not sp.issparse(X):
        return NODES[activation](X, weights, biases)
    outputs = np.empty((X.shape[0], len(weights)), order="F")
    for rows in layer_blocks(X.shape[0]):  # products of sparse rows are in C order
        outputs[rows] = NODES[activation](X[rows], weights, biases)
    return outputs

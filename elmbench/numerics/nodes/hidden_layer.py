"""Random hidden nodes and their activations, also those of the EEM paper, and classes projected
from them to a line.
"""

from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from elmbench.numerics.arrays import Array, Rows
from elmbench.numerics.kernels import (
    rbf_from_distances,
    sparse_distances,
    squared_distances,
)

# rows that are passed through the hidden layer at a time where their outputs need not be kept
ROW_BLOCK = 384


def _sigmoid(Z: Array) -> Array:
    """Replace each entry z by 1 / (1 + exp(-z)), in place, and return the array.

    `numpy.exp` is faster than `scipy.special.expit`.
    """
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
    n_nodes: int,
    n_features: int,
    random_state: np.random.RandomState,
    low: float = -1.0,
    high: float = 1.0,
) -> tuple[Array, Array]:
    """Draw the weights and biases of hidden nodes uniformly from [low, high].

    They are of shape (n_nodes, n_features) and (n_nodes,). Each node's weights are drawn before its
    bias and the next node, so the nodes of a smaller network are the first nodes of a larger one
    from the same random state. [-1, 1] is the interval of Scardapane et al., section V.A.
    """
    nodes = random_state.uniform(low, high, size=(n_nodes, n_features + 1))
    return np.ascontiguousarray(nodes[:, :-1]), np.ascontiguousarray(nodes[:, -1])


def layer_blocks(n_rows: int) -> Iterator[slice]:
    """Yield the slices that cut `n_rows` rows into blocks of `ROW_BLOCK`."""
    return gen_batches(n_rows, ROW_BLOCK)


def hidden_layer(
    X: Rows,
    weights: Array,
    biases: Array,
    activation: str = "sigmoid",
    slope: float = 1.0,
) -> Array:
    """Return the outputs g(slope (a.x + b)) of the hidden nodes, of shape (n, L).

    X is of shape (n, d), dense or CSR, the `weights` a (L, d) and the `biases` b (L,). The
    activation g is a key of `ACTIVATIONS`; "sigmoid" is eq. (13) of Scardapane et al. with the
    slope 1; section 5.2 of Deng et al. has the slope lambda. The outputs are in Fortran order for
    dense rows, in C order for sparse ones.
    """
    inputs = np.asarray(X @ weights.T) if sp.issparse(X) else (weights @ X.T).T
    inputs += biases
    if slope != 1.0:
        inputs *= slope
    activate = ACTIVATIONS[activation]
    return activate(inputs)


# --- The nodes of the EEM paper (Czarnecki & Tabor): weights and biases from [0, 1], signs as
# printed


def _radial(X: Rows, weights: Array, biases: Array) -> Array:
    """Return exp(-b ||w - x||^2) for all rows x and nodes (w, b), of shape (n, L).

    X is of shape (n, d), dense or CSR, the `weights` w (L, d) and the `biases` b (L,). The result
    is in Fortran order for dense rows, in C order for sparse ones.
    """
    if sp.issparse(X):
        distances = sparse_distances(X, weights)
    else:
        memory = np.empty((len(X), len(weights)), order="F")
        distances = squared_distances(X, weights, out=memory)
    return rbf_from_distances(distances, biases)


NODES: dict[str, Callable[[Rows, Array, Array], Array]] = {
    "sigmoid": lambda X, w, b: hidden_layer(
        X, w, -b
    ),  # 1 / (1 + exp(-<w, x> + b)): the bias is taken off, not added
    "nsig": lambda X, w, b: hidden_layer(
        X, w / X.shape[1], -b
    ),  # 1 / (1 + exp(-<w, x> / d + b))
    "rbf": _radial,
}
"""Generalised activations G(x, w, b) by name, of inputs (n, d), dense or CSR, weights (L, d) and
biases (L,).
"""


def node_outputs(X: Rows, weights: Array, biases: Array, activation: str) -> Array:
    """Return the outputs of hidden nodes of the EEM paper, of shape (n, L) and in Fortran order.

    X is of shape (n, d), dense or CSR, the `weights` (L, d) and the `biases` (L,). `activation`: a
    key of `NODES` (section 7).
    """
    outputs_of = NODES[activation]
    if not sp.issparse(X):
        return outputs_of(X, weights, biases)
    n_rows = X.shape[0]
    n_nodes = len(weights)
    # Products of sparse rows are in C order.
    outputs = np.empty((n_rows, n_nodes), order="F")
    for rows in layer_blocks(n_rows):
        outputs[rows] = outputs_of(X[rows], weights, biases)
    return outputs


def unit_columns(operators: Array, size: int) -> Array:
    """Return the first `size` rows of a matrix, with columns scaled to length one.

    `operators`: linear operators beta as columns, of shape (size or more, k). The scale of an
    operator changes no divergence.
    """
    return operators[:size] / np.linalg.norm(operators[:size], axis=0)


def projected_classes(
    X: Rows,
    positive: NDArray[np.bool_],
    weights: Array,
    biases: Array,
    activation: str,
    operators: list[Array],
) -> tuple[list[Array], list[Array]]:
    """Return means and variances of the projections beta'h(x) of two classes, for sets of beta.

    h(x) are the outputs of hidden nodes with these `weights`, (L, d), and `biases`, (L,);
    `activation` is a key of `NODES`. `positive`, of shape (n,), marks the rows of that class. A set
    of `operators` beta, of shape (size, k), applies to the first nodes. The results are two lists
    with an array of shape (k, 2) for each set: the means and the variances, those of the negative
    class first.

    The projection of the first row is subtracted from the means; the variances divide by the number
    of rows. Both are exactly zero if no node varies.
    """
    outputs = node_outputs(X, weights, biases, activation)
    first_outputs = node_outputs(X[:1], weights, biases, activation)
    # The first row is subtracted, so that round-off of a common part does not count as variance.
    H = outputs - first_outputs
    negative_outputs = H[~positive]
    positive_outputs = H[positive]
    sides = [negative_outputs, positive_outputs]
    means = []
    variances = []
    for B in operators:
        # The operators of a set have a row for each of the first nodes.
        size = len(B)
        projections = [side[:, :size] @ B for side in sides]
        side_means = [Z.mean(axis=0) for Z in projections]
        side_variances = [Z.var(axis=0) for Z in projections]
        means.append(np.column_stack(side_means))
        variances.append(np.column_stack(side_variances))
    return means, variances

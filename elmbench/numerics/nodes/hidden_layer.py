"""Random hidden nodes and the activations they are passed through."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from elmbench.numerics.lapack import call, leading_dimension
from elmbench.numerics.solve import mirror

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Array = NDArray[np.float64]

TILE = 64
"""Hidden nodes are worked on this many at a time, the last tile filled up, see `hidden_layer`."""

ROW_BLOCK = 2048
"""Rows that are passed through the hidden layer at a time where their outputs need not be kept."""


def _sigmoid(Z: Array) -> Array:
    """1 / (1 + exp(-z)), in place, without overflow."""
    return expit(Z, out=Z)


def _tanh(Z: Array) -> Array:
    return np.tanh(Z, out=Z)


def _relu(Z: Array) -> Array:
    return np.maximum(Z, 0.0, out=Z)


ACTIVATIONS: dict[str, Callable[[Array], Array]] = {"sigmoid": _sigmoid, "tanh": _tanh, "relu": _relu}
"""Activations by name: each overwrites an array with its values."""


def draw_hidden_nodes(
    n_nodes: int, n_features: int, random_state: np.random.RandomState, low: float = -1.0, high: float = 1.0
) -> tuple[Array, Array]:
    """Draw the weights and biases of hidden nodes uniformly from [low, high].

    They are drawn node by node, its weights and then its bias, so the nodes of a smaller network are the first nodes
    of a larger one from the same random state.

    Parameters
    ----------
    n_nodes : int
    n_features : int
    random_state : RandomState
    low, high : float, default=-1 and 1
        The interval; [-1, 1] is that of Scardapane et al., section V.A.

    Returns
    -------
    weights : ndarray of shape (n_nodes, n_features)
    biases : ndarray of shape (n_nodes,)
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


def factor_block(start: int) -> int:
    """Return by how many rows a factor of H'H is extended that already has `start`, see `gram_of_nodes`.

    It comes to 128, 384, 512, 768, 1024, ... rows. The more at once the faster, but what a small network is filled up
    with has to be factored too.
    """
    return 2 * TILE if start in (0, 6 * TILE) else 4 * TILE


def factor_width(n_nodes: int) -> int:
    """Return `n_nodes` rounded up to whole blocks of a factor."""
    width = 0
    while width < n_nodes:
        width += factor_block(width)
    return width


def hidden_layer(X: Array, weights: Array, biases: Array, activation: str = "sigmoid") -> Array:
    """Return the outputs g(a.x + b) of the hidden nodes, filled up with columns of zeros to whole tiles.

    All products are between whole tiles, so what a node yields is the same to the last bit in a network of any size.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    weights : ndarray of shape (L, d)
    biases : ndarray of shape (L,)
    activation : str, default="sigmoid"
        A key of `ACTIVATIONS`; "sigmoid" is eq. (13) of Scardapane et al.

    Returns
    -------
    ndarray of shape (n, padded(L)), in Fortran order
        The columns from L on are zero.
    """
    function = ACTIVATIONS[activation]
    n_nodes = len(weights)
    H = np.empty((len(X), padded(n_nodes)), order="F")
    for start in range(0, n_nodes, TILE):
        stop = min(start + TILE, n_nodes)
        tile = np.zeros((X.shape[1], TILE))
        tile[:, : stop - start] = weights[start:stop].T
        block = X @ tile
        block[:, : stop - start] += biases[start:stop]
        H[:, start : start + TILE] = function(block)
        H[:, stop : start + TILE] = 0.0
    return H


def gram_of_nodes(
    X: Array, T: Array, weights: Array, biases: Array, activation: str = "sigmoid"
) -> tuple[Array, Array]:
    """Return H'H and H'T for the hidden outputs H of `X`, which are never held for more than `ROW_BLOCK` rows.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    T : ndarray of shape (n, k)
        Targets.
    weights, biases, activation
        As in `hidden_layer`.

    Returns
    -------
    gram : ndarray of shape (w, w), in Fortran order, with w = factor_width(L)
    moments : ndarray of shape (w, k)
        The leading l rows and columns of both are, to the last bit, those of the first l nodes alone; zero from L on.
    """
    return gram_of_outputs(lambda rows: hidden_layer(X[rows], weights, biases, activation), T, len(weights))


def gram_of_outputs(hidden: Callable[[slice], Array], T: Array, n_nodes: int) -> tuple[Array, Array]:
    """Return H'H and H'T as `gram_of_nodes`, for hidden outputs from anywhere.

    Parameters
    ----------
    hidden : callable
        From up to `ROW_BLOCK` rows to their hidden outputs, of shape (n_rows, padded(n_nodes) or more).
    T : ndarray of shape (n, k)
    n_nodes : int
    """
    width = factor_width(n_nodes)
    gram = np.zeros((width, width), order="F")
    moments = np.zeros((width, T.shape[1]))
    for rows in layer_blocks(len(T)):
        H = hidden(rows)
        for start in range(0, n_nodes, TILE):
            stop = start + TILE
            gram[:stop, start:stop] += H[:, :stop].T @ H[:, start:stop]
            moments[start:stop] += H[:, start:stop].T @ T[rows]
        del H  # before the next block is allocated
    mirror(gram.T)
    return gram, moments


def outer_gram(H: Array) -> Array:
    """Return HH', summed tile by tile.

    Parameters
    ----------
    H : ndarray of shape (n, w)
        Hidden outputs as `hidden_layer` returns them.

    Returns
    -------
    ndarray of shape (n, n), in Fortran order
    """
    gram = next(outer_grams(H, [H.shape[1]]))[1]
    mirror(gram)
    return gram


def outer_grams(H: Array, sizes: list[int]) -> Iterator[tuple[int, Array]]:
    """Yield HH' of the first nodes, for each of the ascending `sizes`, from sums that are carried on.

    Its lower triangle only: above it stand zeros. To the last bit what `outer_gram` returns for so many nodes alone.

    Parameters
    ----------
    H : ndarray of shape (n, w)
        Hidden outputs as `hidden_layer` returns them.
    sizes : list of int

    Yields
    ------
    size : int
    gram : ndarray of shape (n, n), in Fortran order
        Valid until the next one is asked for.
    """
    n = len(H)
    gram = np.zeros((n, n), order="F")
    done = 0
    for size in sizes:
        for start in range(done, size // TILE * TILE, TILE):
            _add_outer(gram, H[:, start : start + TILE])
            done = start + TILE
        if size == done:
            yield size, gram
        else:
            tile = H[:, done : done + TILE].copy(order="F")
            tile[:, size - done :] = 0.0
            own = gram.copy(order="F")
            _add_outer(own, tile)
            yield size, own


def _add_outer(gram: Array, tile: Array) -> None:
    """Add the product of a tile with its transpose to the lower triangle of `gram`."""
    n = len(gram)
    call("dsyrk", "L", "N", n, TILE, 1.0, tile, leading_dimension(tile), 1.0, gram, n)


def transposed_product(H: Array, A: Array) -> Array:
    """Return H'A, tile by tile, for H of shape (n, w) as `hidden_layer` returns it and A of shape (n, k)."""
    tiles = H.T.reshape(-1, TILE, len(H))
    return (tiles @ A).reshape(H.shape[1], A.shape[1])

"""Products of hidden outputs with themselves and with targets, from sums over tiles of nodes and blocks of rows."""

from collections.abc import Callable, Iterator

import numpy as np

from elmbench.numerics.arrays import Array
from elmbench.numerics.lapack import call, leading_dimension
from elmbench.numerics.nodes.cholesky import factor_width
from elmbench.numerics.nodes.hidden_layer import TILE, layer_blocks
from elmbench.numerics.solve import mirror


def gram_of_outputs(hidden: Callable[[slice], Array], T: Array, n_nodes: int) -> tuple[Array, Array]:
    """Return H'H and H'T for hidden outputs H of n rows, which are never held for more than `ROW_BLOCK` of them.

    `hidden` returns the outputs of a slice of up to `ROW_BLOCK` rows, of shape (rows, padded(n_nodes) or more); the
    targets T are of shape (n, k). With w = factor_width(n_nodes), H'H is of shape (w, w), in Fortran order, and H'T of
    shape (w, k). The leading l rows and columns of both are, to the last bit, those of the first l nodes alone; they
    are zero from `n_nodes` on.
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
    """Return HH', summed tile by tile, in Fortran order, for hidden outputs as `hidden_layer` returns them."""
    gram = next(outer_grams(H, [H.shape[1]]))[1]
    mirror(gram)
    return gram


def outer_grams(H: Array, sizes: list[int]) -> Iterator[tuple[int, Array]]:
    """Yield each of the ascending `sizes` and HH' of so many first nodes, from sums that are carried on.

    Its lower triangle only, in Fortran order: above it stand zeros. It is to the last bit what `outer_gram` returns for
    so many nodes alone, and valid until the next one is asked for.
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

"""Means and Ledoit-Wolf covariances of features, for many numbers of leading features at once."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from elmbench.numerics.arrays import Array
from elmbench.numerics.nodes.hidden_layer import TILE, layer_blocks
from elmbench.numerics.solve import mirror

HELD_BYTES = 256 * 2**20
"""Features of so many bytes are kept between the two passes over them; those of more rows are computed twice."""


@dataclass(frozen=True)
class Moments:
    """What the Gaussian of a set of rows is made of, for some numbers of leading features, w at most.

    Attributes
    ----------
    n_rows, first : int, ndarray of shape (w,)
        Number of rows; the first one.
    mean : ndarray of shape (w,)
        Mean of the rows less the first: exactly zero for a feature that has one value in all rows.
    spread : ndarray of shape (w,)
        Largest distance of a value from that of the first row.
    scatter : ndarray of shape (w, w)
        Sum of the outer products of the centred rows.
    fourth : dict of int to float
        For each number of leading features, the sum of the fourth powers of the norms of the centred rows.
    """

    n_rows: int
    first: Array
    mean: Array
    spread: Array
    scatter: Array
    fourth: dict[int, float]

    def covariance(self, size: int, dimension: int | None = None) -> tuple[Array, float]:
        """Return the Ledoit-Wolf covariance of the leading features, in Fortran order, and the shrinkage.

        What `sklearn.covariance.ledoit_wolf` returns, from products that were summed before: (1 - e) S + e tr(S) / h I
        with the empirical covariance S (Ledoit and Wolf, J. Multivariate Analysis 88(2), 2004). `size` is one of the
        numbers of features that the moments were made for; `dimension` is h where further features are zero in all
        rows.
        """
        h = dimension or size
        covariance = np.array(self.scatter[:size, :size], order="F")
        covariance /= self.n_rows
        diagonal = np.einsum("ii->i", covariance)
        trace = diagonal.sum()
        squared = np.vdot(covariance, covariance)
        distance = squared - trace**2 / h  # of S from its multiple of the identity
        noise = (self.fourth[size] / self.n_rows - squared) / self.n_rows
        shrinkage = min(max(noise, 0.0) / distance, 1.0) if h > 1 and distance > 0 else 0.0
        covariance *= 1.0 - shrinkage
        diagonal += shrinkage * trace / h
        return covariance, float(shrinkage)


def moments(features: Callable[[slice], Array], n_rows: int, sizes: Iterable[int]) -> Moments:
    """Return the moments of rows, one or more, for some numbers of leading features, in two passes over blocks of rows.

    `features` returns those of a slice of the rows, of shape (rows, w), a fresh array in Fortran order; w is a multiple
    of `TILE`, and no size exceeds it. The moments of a size are the same to the last bit whatever other sizes are asked
    for.
    """
    kept: list[Array] = []
    blocks = list(layer_blocks(n_rows))
    block = features(blocks[0])
    first = block[0].copy()
    total, spread = np.zeros(len(first)), np.zeros(len(first))
    hold = 8 * n_rows * len(first) <= HELD_BYTES
    for i, rows in enumerate(blocks):
        if i > 0:
            block = features(rows)
        block -= first
        total += block.sum(axis=0)
        np.maximum(spread, np.abs(block).max(axis=0), out=spread)
        if hold:
            kept.append(block)
    mean = total / n_rows
    scatter = np.zeros((len(first), len(first)), order="F")
    fourth = dict.fromkeys(sizes, 0.0)
    for i, rows in enumerate(blocks):
        if hold:
            block = kept[i]
        else:
            block = features(rows)
            block -= first
        block -= mean
        _add_products(scatter, block)
        _add_fourth_powers(fourth, block)
    mirror(scatter.T)
    return Moments(n_rows, first, mean, spread, scatter, fourth)


def _add_products(scatter: Array, block: Array) -> None:
    """Add the upper triangle of block' block, tile by tile."""
    for start in range(0, len(scatter), TILE):
        stop = start + TILE
        scatter[:stop, start:stop] += block[:, :stop].T @ block[:, start:stop]


def _add_fourth_powers(fourth: dict[int, float], block: Array) -> None:
    """Add the sums of squared squared norms; whole tiles are carried on, the rest of a size is added apart."""
    norms = np.zeros(len(block))
    done = 0
    for size in sorted(fourth):
        while done + TILE <= size:
            norms += _squared_norms(block[:, done : done + TILE])
            done += TILE
        whole = norms + _squared_norms(block[:, done:size]) if done < size else norms
        fourth[size] += float(whole @ whole)


def _squared_norms(block: Array) -> Array:
    return np.add.reduce(np.square(block), axis=1)

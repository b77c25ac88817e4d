"""Means and Ledoit-Wolf covariances of features, for many numbers of leading features at once."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from elmbench.numerics.arrays import Array
from elmbench.numerics.lapack import add_gram
from elmbench.numerics.nodes.hidden_layer import layer_blocks
from elmbench.numerics.solve import mirror

HELD_BYTES = 256 * 2**20
"""Features of so many bytes are kept between the two passes over them; those of more rows are computed twice."""


@dataclass(frozen=True)
class Moments:
    """Sums over a set of rows that determine its Gaussian, for some numbers of leading features, w at most.

    `first` is the first row; `mean` the mean less the first row, exactly zero for a constant feature; `spread` the
    largest distance of a value from that of the first row, all of shape (w,). `scatter`, (w, w), is the sum of the
    outer products of the centred rows; `fourth` maps each number of leading features to the sum of the fourth powers of
    their norms. A row of weight w counts w times: `n_rows` is then the sum of the weights.
    """

    n_rows: float
    first: Array
    mean: Array
    spread: Array
    scatter: Array
    fourth: dict[int, float]

    def covariance(self, size: int, dimension: int | None = None) -> tuple[Array, float]:
        """Return the Ledoit-Wolf covariance of the leading features, in Fortran order, and the shrinkage.

        It is that of `sklearn.covariance.ledoit_wolf`, from the sums of products: (1 - e) S + e tr(S) / h I with the
        empirical covariance S (Ledoit and Wolf, J. Multivariate Analysis 88(2), 2004). `size` is one of the numbers of
        features of the moments; `dimension` is h if further features are zero in all rows.
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


def moments(
    features: Callable[[slice], Array], n_rows: int, sizes: Iterable[int], weights: Array | None = None
) -> Moments:
    """Return the moments of rows, one or more, for some numbers of leading features, in two passes over blocks of rows.

    `features` returns those of a slice of the rows as a new array of shape (rows, w); no size exceeds w. The weights of
    the rows are greater than 0, and 1 by default.
    """
    held: list[Array] = []
    blocks = list(layer_blocks(n_rows))
    block = features(blocks[0])
    first = block[0].copy()
    total, spread = np.zeros(len(first)), np.zeros(len(first))
    hold = 8 * n_rows * len(first) <= HELD_BYTES
    for i, rows in enumerate(blocks):
        if i > 0:
            block = features(rows)
        block -= first
        total += block.sum(axis=0) if weights is None else weights[rows] @ block
        np.maximum(spread, np.abs(block).max(axis=0), out=spread)
        if hold:
            held.append(block)
    n_counted = n_rows if weights is None else float(weights.sum())
    mean = total / n_counted
    scatter = np.zeros((len(first), len(first)), order="F")
    ascending = sorted(set(sizes))
    fourth = np.zeros(len(ascending))
    for i, rows in enumerate(blocks):
        if hold:
            block = held[i]
        else:
            block = features(rows)
            block -= first
        block -= mean
        if weights is not None:
            block *= np.sqrt(weights[rows])[:, np.newaxis]
        add_gram(scatter, block)
        np.square(block, out=block)
        # Squared norms in the leading features: cumulative sums over the features between the sizes.
        norms = np.add.reduceat(block, [0, *ascending[:-1]], axis=1).cumsum(axis=1)
        # The squares of weighted rows include the weight.
        once = norms if weights is None else norms / weights[rows][:, np.newaxis]
        fourth += np.einsum("ij,ij->j", norms, once)
    mirror(scatter)
    return Moments(n_counted, first, mean, spread, scatter, dict(zip(ascending, fourth.tolist(), strict=True)))

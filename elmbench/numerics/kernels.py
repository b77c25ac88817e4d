"""Squared distances and kernel matrices, in row blocks that need no temporary of the size of the result."""

import math
from collections.abc import Callable, Iterator

import numpy as np
from sklearn.utils import gen_batches

from elmbench.numerics.arrays import EPS, Array
from elmbench.numerics.rows import squared_norms
from elmbench.numerics.solve import mirror

SQUARINGS = 3  # most times in a row that a Gaussian kernel is squared instead of computed, see `kernel_ladder`
DISTANCES_UP_TO = 2048  # most rows whose distances are kept, to compute further kernels from them: 32 MB
_ZERO_BELOW = -746.0  # exponents whose exponential is zero in double precision
BLOCK_BYTES = 8 * 2**20  # size of the temporaries of this module, in bytes (one row is the least)


def row_blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Return the slices that cut `n_rows` rows of `n_columns` floats into blocks of about `BLOCK_BYTES`."""
    return gen_batches(n_rows, max(1, BLOCK_BYTES // (8 * max(1, n_columns))))


def rbf_from_distances(distances: Array, gamma: float | Array, out: Array | None = None) -> Array:
    """Return the Gaussian kernel exp(-gamma d^2) of squared distances, of any shape, in `out` or over the distances."""
    out = np.multiply(distances, -gamma, out=distances if out is None else out)
    if not out.min(initial=0.0) < _ZERO_BELOW:
        return np.exp(out, out=out)
    zero = out < _ZERO_BELOW
    np.exp(out, out=out, where=~zero)  # exp takes five times as long for a zero as for other results
    np.copyto(out, 0.0, where=zero)
    return out


def squared_distances(X: Array, Y: Array | None = None, *, out: Array | None = None) -> Array:
    """Return the squared Euclidean distances between the rows of `X` and those of `Y`, of shape (n, m), none negative.

    The mean of `Y` is subtracted from both, so that a common offset of the data costs no digits: the error is of the
    order of the machine precision times the largest centred norm. Without `Y`, which then is `X` itself, the result is
    exactly symmetric, with a zero diagonal. It is written to `out`, in C or Fortran order, if given.
    """
    return _fill(X, Y, out, lambda block: block)


def kernel_matrix(X: Array, Y: Array | None = None, *, gamma: float, out: Array | None = None) -> Array:
    """Return the Gaussian kernel exp(-gamma d^2) between the rows of `X` and those of `Y`, of shape (n, m).

    The arguments are those of `squared_distances`; no other array of the size of `out` is allocated.
    """
    return _fill(X, Y, out, lambda block: rbf_from_distances(block, gamma))


def kernel_round_off(X: Array, gamma: float) -> float:
    """Bound the relative difference between two computations of an entry of the Gaussian kernel of some rows.

    A computation that centres the rows, of d columns and of length R at most, has d^2 within (d + 4) (2 R)^2 eps / 2;
    with the mean of a part of the rows, within four times that. The kernel multiplies the error by gamma; `exp` and
    `kernel_ladder` add 16 eps.
    """
    centred = X - X.mean(axis=0)
    longest = float(np.einsum("ij,ij->i", centred, centred).max(initial=0.0))
    return EPS * (10 * gamma * (X.shape[1] + 4) * longest + 16)


def kernel_ladder(X: Array, gammas: list[float]) -> Iterator[tuple[float, Array]]:
    """Yield each gamma, ascending, and the Gaussian kernel matrix of the rows of `X` for it.

    The kernel of twice a gamma is its square, entry by entry: a tenth of the work. Squaring doubles the relative error
    of an entry, so after `SQUARINGS` times in a row, with an error below 2e-15, the kernel is recomputed. The matrix,
    in Fortran order and exactly symmetric, is overwritten by the next one and must not be changed.
    """
    matrix = np.empty((len(X), len(X)), order="F")
    ascending = sorted(set(gammas))
    holds_distances = len(X) <= DISTANCES_UP_TO and len(ascending) > 1 + SQUARINGS
    distances = squared_distances(X, out=np.empty_like(matrix)) if holds_distances else None
    last, squarings = 0.0, 0
    for gamma in ascending:
        times = round(math.log2(gamma) - math.log2(last)) if last > 0 else 0
        if 0 < times <= SQUARINGS - squarings and gamma == 2.0**times * last:
            for columns in row_blocks(len(X), len(X)):
                block = matrix[:, columns]
                for _ in range(times):
                    np.multiply(block, block, out=block)
            squarings += times
        else:
            if distances is None:
                kernel_matrix(X, gamma=gamma, out=matrix)
            else:
                rbf_from_distances(distances, gamma, out=matrix)
            squarings = 0
        last = gamma
        yield gamma, matrix


def _fill(X: Array, Y: Array | None, out: Array | None, transform: Callable[[Array], Array]) -> Array:
    """Write `transform` of the squared distances block by block; against itself, each pair is computed once."""
    symmetric = Y is None
    Y = X if Y is None else Y
    out = np.empty((len(X), len(Y))) if out is None else out
    centre = Y.mean(axis=0)
    Y = Y - centre
    y_norms = squared_norms(Y)
    for rows in row_blocks(len(X), len(Y)):
        block_x = Y[rows] if symmetric else X[rows] - centre
        stop = rows.stop if symmetric else len(Y)
        block = (-2.0 * block_x) @ Y[:stop].T
        block += squared_norms(block_x)[:, np.newaxis]
        block += y_norms[:stop]
        np.maximum(block, 0.0, out=block)
        if symmetric:
            square = block[:, rows.start :]
            np.fill_diagonal(square, 0.0)
            mirror(square)  # the product of a block with itself need not be symmetric to the last bit
            transform(block)
            out[: rows.start, rows] = block[:, : rows.start].T
        else:
            transform(block)
        out[rows, :stop] = block
    return out

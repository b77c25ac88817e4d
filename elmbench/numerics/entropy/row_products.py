"""Discriminants of fewer rows than features, from the products of the rows.

The sum of two Ledoit-Wolf covariances is a I + V V', where the n columns of V are scaled rows. By
the Woodbury identity, a system of n equations replaces one of as many equations as features.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from elmbench.numerics.arrays import EPS, Array
from elmbench.numerics.entropy.discriminant import (
    LEAST_VARIANCE,
    Discriminant,
    Location,
    mean_difference,
    shrinkage_of,
)

#: The least a, as a share of the trace of V'V, for which the identity is accurate enough.
LEAST_RIDGE = 1e-5


@dataclass(frozen=True)
class _Covariance:
    """The Ledoit-Wolf covariance `scale` X'X + `ridge` I of centred rows X."""

    scale: float
    ridge: float


def discriminants_of_few_rows(
    negative: Array, positive: Array, sizes: Iterable[int]
) -> dict[int, Discriminant]:
    """Return the discriminants of two sets of rows in the numbers `sizes` of leading features.

    They are those of `discriminant`, as {number of features: discriminant}. The two sets of rows,
    each of shape (number of rows, d), are overwritten. A number of features is left out if its
    discriminant needs the covariances themselves: if the means nearly coincide, if the sum of the
    covariances is nearly singular, or if round-off may decide which variance is smaller.
    `condition` is at most the trace of the sum of the covariances over its least eigenvalue.
    """
    n_negative = len(negative)
    n_rows = n_negative + len(positive)
    below = _centre(negative)
    above = _centre(positive)
    rows = np.vstack([negative, positive])
    sides = (slice(0, n_negative), slice(n_negative, n_rows))
    products = np.zeros((n_rows, n_rows))
    start = 0
    result = {}
    for size in sorted(sizes):
        columns = rows[:, start:size]
        products += columns @ columns.T
        start = size
        difference = mean_difference(below, above, size)
        if difference is None:
            continue
        discriminant = _discriminant(rows[:, :size], products, sides, difference, below)
        if discriminant is not None:
            result[size] = discriminant
    return result


def _centre(rows: Array) -> Location:
    """Subtract the mean from rows of shape (n, d), in place; return their earlier `Location`."""
    first = rows[0].copy()
    rows -= first
    spread = np.abs(rows).max(axis=0)
    mean = rows.mean(axis=0)
    rows -= mean
    return Location(n_rows=len(rows), first=first, mean=mean, spread=spread)


def _discriminant(
    rows: Array,
    products: Array,
    sides: tuple[slice, slice],
    difference: Array,
    negative: Location,
) -> Discriminant | None:
    """Return the discriminant of the negative and positive rows, or None if it needs covariances.

    `rows`, of shape (n, size), are the centred negative ones, then the centred positive ones;
    `sides` are the slices of both. `products`, of shape (n, n), are the inner products of all rows,
    and `difference` is that of the means, m+ - m-. `negative` locates the negative rows before they
    were centred.
    """
    size = rows.shape[1]
    covariances = [_covariance(products[side, side], size) for side in sides]
    ridge = sum(covariance.ridge for covariance in covariances)
    scales = np.empty(len(rows))
    for side, covariance in zip(sides, covariances, strict=True):
        scales[side] = covariance.scale
    roots = np.sqrt(scales)
    # V'V + a I.
    system = roots[:, np.newaxis] * products * roots
    trace = system.trace()
    if not ridge > LEAST_RIDGE * trace:
        return None
    system[np.diag_indices_from(system)] += ridge
    factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
    # (a I + V V')^-1 d = (d - V (V'V + a I)^-1 V'd) / a.
    inner = cho_solve(factor, roots * (rows @ difference), check_finite=False)
    solution = (difference - (roots * inner) @ rows) / ridge
    beta = 2.0 / (difference @ solution) * solution
    first_row = beta @ negative.first[:size]
    rest = beta @ negative.mean[:size]
    mean = float(first_row + rest)
    squares = (rows @ beta) ** 2
    lengths = np.abs(beta)
    largest_squares = (np.abs(rows) @ lengths) ** 2
    squared_norm = beta @ beta
    variances = []
    round_off = 0.0
    for side, covariance in zip(sides, covariances, strict=True):
        shrunk = covariance.ridge * squared_norm
        variances.append(float(covariance.scale * squares[side].sum() + shrunk))
        round_off += float(covariance.scale * largest_squares[side].sum() + shrunk)
    # As in `discriminant`, whose bound of the round-off is smaller.
    floor = max(LEAST_VARIANCE, size * EPS * round_off)
    negative_variance, positive_variance = variances
    smaller_variance = min(variances)
    if not smaller_variance > floor:
        return None
    return Discriminant(
        beta=beta,
        means=(mean, mean + 2.0),
        variances=(negative_variance, positive_variance),
        condition=float((trace + ridge) / ridge),
        cancellation=round_off / smaller_variance,
    )


def _covariance(products: Array, size: int) -> _Covariance:
    """Return the Ledoit-Wolf covariance of n centred rows of `size` features, in factors.

    `products`: the inner products of the rows, of shape (n, n).
    """
    n_rows = len(products)
    squared_norms = products.diagonal()
    # tr(S) and |S|^2 of the empirical covariance S = X'X / n are those of X X' / n.
    trace = float(squared_norms.sum()) / n_rows
    shrinkage = shrinkage_of(
        trace=trace,
        squared=float(np.vdot(products, products)) / n_rows**2,
        mean_fourth=float(np.vdot(squared_norms, squared_norms)) / n_rows,
        weight=n_rows,
        dimension=size,
    )
    return _Covariance(scale=(1.0 - shrinkage) / n_rows, ridge=shrinkage * trace / size)

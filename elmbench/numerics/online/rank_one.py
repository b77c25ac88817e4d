"""Kernel rows and passes over an inverse, written for numba; `elmbench.numerics.online.jit.run` runs them.

All functions are plain Python and change float64 arrays of the caller in place. They import no compiled code, so that
they also run uncompiled. Inverses are full symmetric squares: the updates of entries (i, j) and (j, i) are the same
operations on the same numbers, so they stay symmetric to the last bit, and every inner loop runs along a row. An update
is applied in the pass that multiplies the inverse with the next kernel row, so learning a row takes one pass over the
inverse.

Dictionaries have columns, of shape (n_features, capacity), as have targets and weights, (n_outputs, capacity); square
matrices have shape (capacity, capacity). The leading `m` columns (and rows) are in use, the rest are zero. For kernels
other than the Gaussian one, the only feature of a row is its number in the kernel matrix.
"""

import math

from elmbench.numerics.arrays import Array

DONE, GROW, DRIFT = 0, 1, 2
"""Why a loop returned: all rows were used; no room for the next one; round-off has taken over."""

CHECK_EVERY = 64
"""Rows between two looks at the residual, and the least number of rows between two factorisations."""

DRIFT_TOLERANCE = 1e-6
"""Largest residual of the inverse and of the weights that counts as sound."""


def kernel_row(point: Array, dictionary: Array, m: int, gamma: float, gram: Array, out: Array) -> None:
    """Write the kernel exp(-gamma d^2) of `point` with the first `m` dictionary rows (paper, eq. (12)).

    If `gram` is not empty, points are numbers of its rows, and it contains the kernel between all of them.
    """
    if len(gram) > 0:
        row = gram[int(point[0])]
        numbers = dictionary[0]
        for s in range(m):
            out[s] = row[int(numbers[s])]
        return
    for s in range(m):
        out[s] = 0.0
    for f in range(len(dictionary)):
        x = point[f]
        column = dictionary[f]
        for s in range(m):
            difference = x - column[s]
            out[s] += difference * difference
    for s in range(m):
        out[s] = math.exp(-gamma * out[s])


def with_itself(number: float, gram: Array) -> float:
    """Return the kernel of a point with itself, which is 1 for the Gaussian kernel, with an empty `gram`."""
    return gram[int(number), int(number)] if len(gram) > 0 else 1.0


def inner(a: Array, b: Array, m: int) -> float:
    """Return the inner product of the first `m` entries."""
    total = 0.0
    for s in range(m):
        total += a[s] * b[s]
    return total


def settle(inverse: Array, m: int, pending: bool, u: Array, v: Array, k: Array, z: Array) -> None:
    """Apply a pending update Q += u u' - v v', and write z = Q k, in one pass over Q."""
    for j in range(m):
        z[j] = 0.0
    for i in range(m):
        row = inverse[i]
        k_i = k[i]
        if pending:
            u_i = u[i]
            v_i = v[i]
            for j in range(m):
                q = row[j] + (u_i * u[j] - v_i * v[j])
                row[j] = q
                z[j] += q * k_i
        else:
            for j in range(m):
                z[j] += row[j] * k_i

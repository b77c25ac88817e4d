"""Kernel rows and passes over an inverse, written for numba; `elmbench.numerics.online.jit.run` runs them.

Everything here is plain Python on float64 arrays that the caller allocated, changed in place; it imports nothing that
is compiled, so that the same functions also run uncompiled. Inverses are kept as full symmetric squares: the update
of entry (i, j) and that of entry (j, i) are the same operations on the same numbers, so they stay symmetric to the
last bit, and every inner loop runs along a row. Updates are applied in the pass that multiplies the inverse with the
next kernel row, so that a row costs one pass over the inverse.

Shapes: a dictionary is held as columns, (n_features, capacity), and so are targets and weights, (n_outputs,
capacity); square matrices as (capacity, capacity). The leading `m` columns (and rows) are in use and the rest are zero.
Of another kernel than the Gaussian one a row is its number in the matrix of this kernel, as its only feature.
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

    Where `gram` is not empty, points are numbers of its rows, and it holds the kernel between all of them.
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
    """Return the kernel of a point with itself: 1 where `gram` is empty, and this not the number of its row."""
    return gram[int(number), int(number)] if len(gram) > 0 else 1.0


def inner(a: Array, b: Array, m: int) -> float:
    """Return the inner product of the first `m` entries."""
    total = 0.0
    for s in range(m):
        total += a[s] * b[s]
    return total


def settle(inverse: Array, m: int, pending: bool, u: Array, v: Array, k: Array, z: Array) -> None:
    """Update Q += u u' - v v', if that is still to be done, and write z = Q k, in one pass over Q."""
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

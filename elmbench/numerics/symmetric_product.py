"""Products of a symmetric matrix with a vector, which read one half of it, also while they update
the matrix.

`multiply` takes the time to read half of the matrix from memory; BLAS's dsymv takes a fifth more
beyond the caches.
"""

from typing import NamedTuple

from elmbench.numerics.arrays import Array

FASTMATH = {"reassoc", "contract", "nsz"}
"""Let the compiler reorder sums, so that they are vectorised."""

WIDTH = 8  # rows that one pass over the vectors serves; fewer are slower


def multiply(A: Array, v: Array, w: Array) -> None:
    """Write A v over w, both of shape (n,), for a symmetric A in C order.

    Only the upper triangle of A is read.
    """
    w[:] = 0.0
    whole = len(v) - len(v) % WIDTH
    for start in range(0, whole, WIDTH):
        stop = start + WIDTH
        # The block of the rows on the diagonal.
        for r in range(start, stop):
            _add_row(A[r, r:stop], v[r:stop], w[r:stop])
        # The rest of the rows: `a0` to `a7` have an entry for each entry of `v_below`.
        v_below = v[stop:]
        w_below = w[stop:]
        a0 = A[start, stop:]
        a1 = A[start + 1, stop:]
        a2 = A[start + 2, stop:]
        a3 = A[start + 3, stop:]
        a4 = A[start + 4, stop:]
        a5 = A[start + 5, stop:]
        a6 = A[start + 6, stop:]
        a7 = A[start + 7, stop:]
        x0, x1, x2, x3, x4, x5, x6, x7 = v[start:stop]
        s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
        for i in range(len(v_below)):
            x = v_below[i]
            # The products of the columns, as A is symmetric.
            first = a0[i] * x0 + a1[i] * x1
            second = a2[i] * x2 + a3[i] * x3
            third = a4[i] * x4 + a5[i] * x5
            fourth = a6[i] * x6 + a7[i] * x7
            w_below[i] += (first + second) + (third + fourth)
            # The products of the rows.
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
    # Fewer than `WIDTH` rows are left.
    for r in range(whole, len(v)):
        _add_row(A[r, r:], v[r:], w[r:])


def _add_row(row: Array, v: Array, w: Array) -> None:
    """Add the products of row i of a symmetric matrix, and of its column i, to w, in place.

    `row`, `v` and `w` begin at entry i: `row` is a row of the upper triangle from the diagonal on,
    and stands for the same column of the lower one.
    """
    w[0] += row[0] * v[0]
    for i in range(1, len(row)):
        w[i] += row[i] * v[0]
        w[0] += row[i] * v[i]


class Update(NamedTuple):
    """The change u u' - v v' of a symmetric matrix.

    Attributes
    ----------
    u, v : ndarrays of shape (n,)
    """

    u: Array
    v: Array


def update_and_multiply(
    A: Array, m: int, pending: bool, update: Update, x: Array, y: Array
) -> None:
    """Add u u' - v v' to a symmetric A if it is `pending`, and write A x over y, in one pass.

    `update` holds u and v. A is in C order; its leading m rows and columns count, of which only the
    lower triangle is read and written. Two rows at a time are faster within the caches than the
    eight of `multiply`. The order of the sums depends on m and `pending` only.
    """
    u = update.u
    v = update.v
    # A row without a partner comes first.
    if m % 2 == 1:
        if pending:
            A[0, 0] += u[0] * u[0] - v[0] * v[0]
        y[0] = A[0, 0] * x[0]
    for i in range(m % 2, m, 2):
        row = A[i]
        following = A[i + 1]
        x_0 = x[i]
        x_1 = x[i + 1]
        y_0 = y_1 = 0.0
        if pending:
            u_0 = u[i]
            u_1 = u[i + 1]
            v_0 = v[i]
            v_1 = v[i + 1]
            for j in range(i):
                # The changed entries of the two rows.
                a = row[j] + (u_0 * u[j] - v_0 * v[j])
                b = following[j] + (u_1 * u[j] - v_1 * v[j])
                row[j] = a
                following[j] = b
                # Their part of the product, and that of the same entries of the two columns.
                y[j] += a * x_0 + b * x_1
                y_0 += a * x[j]
                y_1 += b * x[j]
            # The changed entries on the diagonal.
            row[i] += u_0 * u_0 - v_0 * v_0
            following[i] += u_1 * u_0 - v_1 * v_0
            following[i + 1] += u_1 * u_1 - v_1 * v_1
        else:
            for j in range(i):
                y[j] += row[j] * x_0 + following[j] * x_1
                y_0 += row[j] * x[j]
                y_1 += following[j] * x[j]
        # The block of the two rows on the diagonal.
        y[i] = y_0 + row[i] * x_0 + following[i] * x_1
        y[i + 1] = y_1 + following[i] * x_0 + following[i + 1] * x_1

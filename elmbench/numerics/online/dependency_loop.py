"""The loop over rows with approximate linear dependency; its conventions are those of `online.rank_one`."""

import math

import numpy as np

from elmbench.numerics.arrays import Array
from elmbench.numerics.online.rank_one import DONE, GROW, inner, kernel_row, multiply, subtract_multiply

LEAST_DISTANCE = 1e-9
"""Least squared distance of a row that may join, where k(x, x) = 1; below it, round-off decides what is dependent."""


def solve_lower(factor: Array, m: int, w: Array) -> None:
    """Replace w by the solution of L w = w; see `absorb_ald` for how L is held.

    Four rows at a time, which is four times less often that w is read and written; each entry of w still sees the same
    operations in the same order.
    """
    whole = m - m % 4
    for j in range(0, whole, 4):
        for i in range(j, j + 4):
            w_i = w[i] / factor[i, i]
            w[i] = w_i
            for s in range(i + 1, j + 4):
                w[s] -= factor[i, s] * w_i
        w0, w1, w2, w3 = w[j], w[j + 1], w[j + 2], w[j + 3]
        # Slices, for a loop from 0 is what numba turns into vector instructions.
        row0, row1 = factor[j, j + 4 : m], factor[j + 1, j + 4 : m]
        row2, row3 = factor[j + 2, j + 4 : m], factor[j + 3, j + 4 : m]
        rest = w[j + 4 : m]
        for s in range(m - j - 4):
            rest[s] = (((rest[s] - row0[s] * w0) - row1[s] * w1) - row2[s] * w2) - row3[s] * w3
    for j in range(whole, m):
        w_j = w[j] / factor[j, j]
        w[j] = w_j
        for s in range(j + 1, m):
            w[s] -= factor[j, s] * w_j


def solve_upper(factor: Array, m: int, a: Array) -> None:
    """Replace a by the solution of L' a = a, four rows at a time as `solve_lower`."""
    first = m % 4
    for i in range(m - 4, first - 1, -4):
        for j in range(i + 3, i - 1, -1):
            a_j = a[j] / factor[j, j]
            a[j] = a_j
            for s in range(i, j):
                a[s] -= factor[j, s] * a_j
        a0, a1, a2, a3 = a[i + 3], a[i + 2], a[i + 1], a[i]
        row0, row1, row2, row3 = factor[i + 3], factor[i + 2], factor[i + 1], factor[i]
        for s in range(i):
            a[s] = (((a[s] - row0[s] * a0) - row1[s] * a1) - row2[s] * a2) - row3[s] * a3
    for i in range(first - 1, -1, -1):
        a_i = a[i] / factor[i, i]
        a[i] = a_i
        for s in range(i):
            a[s] -= factor[i, s] * a_i


def absorb_ald(
    position: int,
    rows: Array,
    values: Array,
    gram: Array,
    gamma: float,
    threshold: float,
    max_atoms: int,
    m: int,
    bracket: Array,
    dictionary: Array,
    fitted: Array,
    factor: Array,
    covariance: Array,
) -> tuple[int, int, int]:
    """Learn `rows` from `position` on by kernel recursive least squares (Engel et al., 2004, Table 1).

    Row t is h(x_t) = sum_j a_j h(x_j) + a part of squared length dis^2 outside the span of the dictionary. Where that
    is more than `threshold`, the row joins the dictionary and a becomes a unit vector. With A the matrix of the vectors
    a of all rows so far, the outputs at the dictionary rows are c = argmin |A c - y|^2; they are what is carried from
    row to row, with P = (A'A)^-1. The weights K^-1 c follow at the end.

    K = L L' is carried by its Cholesky factor rather than by its inverse as in the paper: rows only ever join, a row
    costs the same, and dis^2 = k(x, x) - |L^-1 k|^2 keeps its digits where K is nearly singular.

    Parameters
    ----------
    position, rows, values, gram, gamma, m
        As in `elmbench.numerics.online.inverse_loop.absorb`; `max_atoms` is the largest m.
    bracket : ndarray of shape (2,)
        Largest squared distance that was within the threshold and least that was beyond, so far: any threshold from the
        first up to, not including, the second leads to the same model.
    dictionary, fitted, factor, covariance : ndarray
        The state (x_j, c, L + L' with its diagonal once, P), changed in place. The factor stands in both triangles so
        that both solves run along rows.

    Returns
    -------
    position, m, status : int
        `status` is `GROW` when there is no room for row `position`.
    """
    n_rows, n_features = rows.shape
    n_outputs = values.shape[1]
    capacity = len(factor)
    k, w, a = np.zeros(capacity), np.zeros(capacity), np.zeros(capacity)
    v, h = np.zeros(capacity), np.zeros(capacity)
    point = np.zeros(n_features)
    pending = False  # whether P -= v v' is still to be done
    status = DONE
    t = position
    while t < n_rows:
        for f in range(n_features):
            point[f] = rows[t, f]
        kernel_row(point, dictionary, m, gamma, gram, k)
        for s in range(m):
            w[s] = k[s]
        solve_lower(factor, m, w)
        distance = 1.0 - inner(w, w, m)  # eq. (11) of the online paper, with k(x, x) = 1
        if distance <= threshold or distance <= LEAST_DISTANCE or m >= max_atoms:
            if distance <= threshold:
                bracket[0] = max(bracket[0], distance)
            for s in range(m):
                a[s] = w[s]
            solve_upper(factor, m, a)
            if pending:
                subtract_multiply(covariance, m, v, a, h)
            else:
                multiply(covariance, m, a, h)
            # At least 1, as P is positive semi-definite; less is round-off.
            scale = max(1.0, 1.0 + inner(a, h, m))
            root = math.sqrt(scale)
            for o in range(n_outputs):
                row = fitted[o]
                step = (values[t, o] - inner(a, row, m)) / scale
                for s in range(m):
                    row[s] += h[s] * step
            for s in range(m):
                v[s] = h[s] / root
            pending = True
        elif m == capacity:
            status = GROW
            break
        else:
            bracket[1] = min(bracket[1], distance)
            for s in range(m):
                factor[m, s] = w[s]
                factor[s, m] = w[s]
            factor[m, m] = math.sqrt(distance)
            covariance[m, m] = 1.0
            for o in range(n_outputs):
                fitted[o, m] = values[t, o]
            for f in range(n_features):
                dictionary[f, m] = point[f]
            m += 1
        t += 1
    if pending:
        subtract_multiply(covariance, m, v, a, h)
    return t, m, status

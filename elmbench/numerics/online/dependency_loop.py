"""The loop over rows with approximate linear dependency; its conventions are those of `online.rank_one`."""

import math

import numpy as np

from elmbench.numerics.arrays import Array
from elmbench.numerics.online.rank_one import DONE, GROW, inner, kernel_row, settle, with_itself

LEAST_DISTANCE = 1e-9
"""Least squared distance of a row that may join, over k(x, x); below it, round-off decides what is dependent."""


def solve_lower(factor: Array, m: int, w: Array) -> None:
    """Replace w by the solution of L w = w; see `absorb_ald` for the storage of L."""
    for j in range(m):
        w_j = w[j] / factor[j, j]
        w[j] = w_j
        # Slices, because numba vectorises loops from 0.
        row, rest = factor[j, j + 1 : m], w[j + 1 : m]
        for s in range(len(rest)):
            rest[s] -= row[s] * w_j


def solve_upper(factor: Array, m: int, a: Array) -> None:
    """Replace a by the solution of L' a = a."""
    for j in range(m - 1, -1, -1):
        a_j = a[j] / factor[j, j]
        a[j] = a_j
        row = factor[j]
        for s in range(j):
            a[s] -= row[s] * a_j


def absorb_ald(
    position: int,
    rows: Array,
    values: Array,
    gamma: float,
    gram: Array,
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

    Row t is h(x_t) = sum_j a_j h(x_j) + a part of squared length dis^2 outside the span of the dictionary. If that
    exceeds `threshold`, the row joins the dictionary and a becomes a unit vector. With A the matrix of the vectors a of
    all rows so far, the loop updates the outputs at the dictionary rows, c = argmin |A c - y|^2, and P = (A'A)^-1. The
    weights K^-1 c follow at the end.

    Instead of the paper's inverse of K, the loop updates its Cholesky factor L: rows only join, the cost is the same,
    and dis^2 = k(x, x) - |L^-1 k|^2 keeps its digits if K is nearly singular.

    `bracket` holds the largest squared distance within the threshold and the least one beyond it: all thresholds from
    the first up to the second lead to the same model. `dictionary`, `fitted` (c), `factor` (L + L' with its diagonal
    once, so that both solves run along rows) and `covariance` (P) are changed in place. The others are as in
    `elmbench.numerics.online.inverse_loop.absorb`; `max_atoms` is the largest m.

    Returns position, m and a status: `GROW` if the capacity does not suffice for row `position`.
    """
    n_rows, n_outputs = values.shape
    capacity = len(factor)
    w, a = np.zeros(capacity), np.zeros(capacity)
    h, v, nothing = np.zeros(capacity), np.zeros(capacity), np.zeros(capacity)
    pending = False  # whether P -= v v' is still to be done
    status = DONE
    t = position
    while t < n_rows:
        kernel_row(rows[t], dictionary, m, gamma, gram, w)
        solve_lower(factor, m, w)
        itself = with_itself(rows[t, 0], gram)
        distance = itself - inner(w, w, m)  # eq. (11) of the online paper
        if distance <= threshold or distance <= LEAST_DISTANCE * itself or m >= max_atoms:
            if distance <= threshold:
                bracket[0] = max(bracket[0], distance)
            for s in range(m):
                a[s] = w[s]
            solve_upper(factor, m, a)
            settle(covariance, m, pending, nothing, v, a, h)
            # At least 1, because P is positive semi-definite; less is round-off.
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
            dictionary[:, m] = rows[t]
            m += 1
        t += 1
    if pending:
        settle(covariance, m, pending, nothing, v, a, h)
    return t, m, status

"""The loop over rows with approximate linear dependency; see `online_passes` for the conventions."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from elmbench.numerics.online_loops import unit_residual
from elmbench.numerics.online_passes import (
    CHECK_EVERY,
    DONE,
    DRIFT,
    DRIFT_TOLERANCE,
    EPS,
    GROW,
    add_multiply,
    inner,
    kernel_row,
    multiply,
    subtract_multiply,
)

Array = NDArray[np.float64]

LEAST_DISTANCE = 1e-8
"""Least squared distance of a row that is worth adding, where k(x, x) = 1."""


def noise_floor(inverse: Array, m: int) -> float:
    """Return the squared distance under which a row is taken for a combination of the dictionary.

    `LEAST_DISTANCE`, or the round-off of the squared distance if that is more: it grows with the inverse, and a zero
    distance comes out as anything within it, of either sign.
    """
    entry = 0.0
    for s in range(m):
        entry = max(entry, inverse[s, s])
    return max(LEAST_DISTANCE, 8.0 * EPS * entry)


def absorb_ald(
    position: int,
    rows: Array,
    values: Array,
    gram: Array,
    gamma: float,
    threshold: float,
    max_atoms: int,
    m: int,
    age: int,
    bracket: Array,
    dictionary: Array,
    fitted: Array,
    inverse: Array,
    covariance: Array,
) -> tuple[int, int, int, int]:
    """Learn `rows` from `position` on by kernel recursive least squares (Engel et al., 2004, Table 1).

    Row t is h(x_t) = sum_j a_j h(x_j) + a part of squared length dis^2 outside the span of the dictionary. Where that
    is more than `threshold`, the row joins the dictionary and a becomes a unit vector. With A the matrix of the
    vectors a of all rows so far, the outputs at the dictionary rows are c = argmin |A c - y|^2; they are what is
    carried from row to row, with P = (A'A)^-1. The weights K^-1 c follow at the end, so that a row costs one product
    with K^-1 instead of the two of the paper.

    Parameters
    ----------
    position : int
        First row to use.
    rows, values : ndarray of shape (n, n_features), (n, n_outputs)
    gram : ndarray of shape (0, 0) or (n_all, n_all)
    gamma, threshold : float
        Kernel parameter; what the squared distance has to exceed.
    max_atoms, m, age : int
        Largest and present size of the dictionary; rows added since K^-1 was last computed from scratch.
    bracket : ndarray of shape (2,)
        Largest squared distance that was within the threshold and least that was beyond, so far: any threshold from
        the first up to, not including, the second leads to the same model.
    dictionary, fitted, inverse, covariance : ndarray
        The state (x_j, c, K^-1, P), changed in place.

    Returns
    -------
    position, m, age, status : int
        `status` is `GROW` when there is no room for row `position`, `DRIFT` when K^-1 has to be computed from scratch.
    """
    n_rows, n_features = rows.shape
    n_outputs = values.shape[1]
    capacity = len(inverse)
    k, a, u, v, h = (
        np.zeros(capacity),
        np.zeros(capacity),
        np.zeros(capacity),
        np.zeros(capacity),
        np.zeros(capacity),
    )
    point, errors = np.zeros(n_features), np.zeros(n_outputs)
    grown, moved = False, False  # pending updates: K^-1 += u u', P -= v v'
    floor = noise_floor(inverse, m)
    status = DONE
    t = position
    while t < n_rows and status == DONE:
        for f in range(n_features):
            point[f] = rows[t, f]
        kernel_row(point, dictionary, m, gamma, gram, k)
        if grown:
            add_multiply(inverse, m, u, k, a)
            floor = noise_floor(inverse, m)
            grown = False
        else:
            multiply(inverse, m, k, a)
        distance = 1.0 - inner(k, a, m)  # eq. (11) of the online paper, with k(x, x) = 1
        for o in range(n_outputs):
            errors[o] = values[t, o]
        for s in range(m):
            for o in range(n_outputs):
                errors[o] -= a[s] * fitted[s, o]
        if distance <= threshold or distance <= floor or m >= max_atoms:
            if distance <= threshold:
                bracket[0] = max(bracket[0], distance)
            if moved:
                subtract_multiply(covariance, m, v, a, h)
            else:
                multiply(covariance, m, a, h)
            # At least 1, as P is positive semi-definite; less is round-off.
            scale = max(1.0, 1.0 + inner(a, h, m))
            root = math.sqrt(scale)
            for o in range(n_outputs):
                step = errors[o] / scale
                for s in range(m):
                    fitted[s, o] += h[s] * step
            for s in range(m):
                v[s] = h[s] / root
            moved = True
        elif m == capacity:
            status = GROW
            break
        else:
            bracket[1] = min(bracket[1], distance)
            root = math.sqrt(distance)
            for s in range(m):
                u[s] = a[s] / root
            u[m] = -1.0 / root
            v[m] = 0.0
            covariance[m, m] = 1.0
            for o in range(n_outputs):
                fitted[m, o] = values[t, o]
            for f in range(n_features):
                dictionary[f, m] = point[f]
            m += 1
            age += 1
            grown = True
            if age >= max(m, CHECK_EVERY) and age % CHECK_EVERY == 0:
                j = (age // CHECK_EVERY) % m
                for f in range(n_features):
                    point[f] = dictionary[f, j]
                kernel_row(point, dictionary, m, gamma, gram, k)
                add_multiply(inverse, m, u, k, a)
                floor = noise_floor(inverse, m)
                grown = False
                if not unit_residual(j, m, a) <= DRIFT_TOLERANCE:
                    status = DRIFT
        t += 1
    if grown:
        add_multiply(inverse, m, u, k, a)
    if moved:
        subtract_multiply(covariance, m, v, a, h)
    return t, m, age, status

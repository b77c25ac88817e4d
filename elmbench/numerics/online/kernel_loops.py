"""The loops over rows of kernel recursive least squares: with all rows or a budget, and with
approximate dependency.

Scardapane et al., Online Sequential Extreme Learning Machine With Kernels, IEEE TNNLS 26(9), 2015;
Van Vaerenbergh et al., Fixed-budget kernel recursive least-squares, ICASSP 2010; Engel et al., The
kernel recursive least-squares algorithm, IEEE Trans. Signal Process. 52(8), 2004.

Of an inverse, only the lower triangle counts. An update is applied in the pass that multiplies the
inverse with the next kernel row, so learning a row takes one pass over the inverse.

Dictionaries have columns, of shape (n_features, capacity), as have targets and weights, (n_outputs,
capacity); square matrices have shape (capacity, capacity). The leading `m` columns (and rows) are
in use, the rest are zero. For kernels other than the Gaussian one, the only feature of a row is its
number in the kernel matrix `gram`, which else is empty.
"""

import math
from typing import NamedTuple

import numpy as np

from elmbench.numerics.arrays import EPS, Array
from elmbench.numerics.online.loops import DONE, DRIFT, GROW, inner, solve_lower, solve_upper
from elmbench.numerics.symmetric_product import update_and_multiply

# rows between two looks at the residual, and the least number of rows between two factorisations
CHECK_EVERY = 64
DRIFT_TOLERANCE = 1e-6  # largest residual of the inverse and of the weights that counts as sound

LEAST_DISTANCE = 1e-9  # of a row that may join, squared, over k(x, x); below it, round-off decides


def kernel_row(
    point: Array, dictionary: Array, m: int, gamma: float, gram: Array, out: Array
) -> None:
    """Write the kernel exp(-gamma d^2) of `point` with the first `m` dictionary rows (Scardapane et
    al., eq. (12)).
    """
    if len(gram) > 0:
        row = gram[int(point[0])]
        for s in range(m):
            out[s] = row[int(dictionary[0, s])]
        return
    out[:m] = 0.0
    for f in range(len(dictionary)):
        x = point[f]
        column = dictionary[f]
        for s in range(m):
            difference = x - column[s]
            out[s] += difference * difference
    for s in range(m):
        out[s] = math.exp(-gamma * out[s])


def self_kernel(number: float, gram: Array) -> float:
    """Return the kernel of a point with itself, which is 1 for the Gaussian kernel."""
    return gram[int(number), int(number)] if len(gram) > 0 else 1.0


def worst_residual(j: int, m: int, z: Array, k: Array, weights: Array, targets: Array) -> float:
    """Return the larger error of `z`, the inverse times row `k` of its matrix, and of the weights
    in equation `j`.
    """
    z[j] -= 1.0
    worst = np.abs(z[:m]).max()
    for o in range(len(weights)):
        largest = np.abs(targets[o, :m]).max()
        if largest > 0.0:
            worst = max(worst, abs(targets[o, j] - inner(k, weights[o], m)) / largest)
    return worst


def least_significant(
    m: int, z: Array, r: float, inverse: Array, weights: Array, errors: Array
) -> int:
    """Return the dictionary row with the least cost of removal; `m` stands for the new one.

    The cost is |a_i| / Q_ii after the new row was added (Van Vaerenbergh et al., 2010), the
    leave-one-out error of row i, or its 2-norm for several outputs. The first of equal ones is
    taken; the new row is the last.
    """
    costs = np.zeros(m)
    for o in range(len(weights)):
        row = weights[o]
        step = errors[o] / r
        for s in range(m):
            weight = row[s] - z[s] * step
            costs[s] += weight * weight
    for s in range(m):
        costs[s] = math.sqrt(costs[s]) / (inverse[s, s] + z[s] * z[s] / r)
    weakest = int(np.argmin(costs))
    # The weight of the new row is error / r, its diagonal entry 1 / r.
    return m if math.sqrt(inner(errors, errors, len(errors))) < costs[weakest] else weakest


class InverseSettings(NamedTuple):
    """The parameters of a state with an inverse.

    Attributes
    ----------
    gamma : float
        Inverse squared width of the Gaussian kernel.
    ridge : float
        1/C.
    budget : int
        Largest size of the dictionary.
    """

    gamma: float
    ridge: float
    budget: int


class InverseCounters(NamedTuple):
    """The numbers that a state with an inverse changes.

    Attributes
    ----------
    size : int
        Size of the dictionary.
    seen : int
        Number of rows so far.
    age : int
        Number of rows since the inverse was computed from scratch.
    doubtful : int
        Number of rows up to which the state is doubtful: `CHECK_EVERY` after the last check that
        round-off failed.
    joined : bool
        True if the last row joined the dictionary: the order of the next sums depends on it, but
        not on the division of the rows into calls.
    """

    size: int
    seen: int
    age: int
    doubtful: int
    joined: bool


class InverseArrays(NamedTuple):
    """The arrays of a state with an inverse, with the capacity for all rows or for the budget."""

    gram: Array
    dictionary: Array
    targets: Array
    weights: Array
    inverse: Array


def absorb(
    position: int,
    rows: Array,
    values: Array,
    settings: InverseSettings,
    counters: InverseCounters,
    arrays: InverseArrays,
) -> tuple[int, InverseCounters, int]:
    """Learn `rows` from `position` on by Table I of Scardapane et al., pruning to the budget after
    each.

    The arrays are changed in place. Return the next position, the counters and the status, which is
    `DRIFT` if the inverse must be computed from scratch before the row at that position is learnt.
    """
    gamma, ridge, budget = settings
    m, seen, age, doubtful, joined = counters
    gram, dictionary, targets, weights, inverse = arrays
    n_rows, n_outputs = values.shape
    capacity = len(inverse)
    k = np.zeros(capacity)
    z = np.zeros(capacity)
    u = np.zeros(capacity)
    v = np.zeros(capacity)
    errors = np.zeros(n_outputs)
    column = np.zeros(capacity)
    status = DONE
    t = position
    while t < n_rows:
        if seen % CHECK_EVERY == 0 and m > 0 and age > 0:
            j = (seen // CHECK_EVERY) % m
            kernel_row(dictionary[:, j].copy(), dictionary, m, gamma, gram, k)
            k[j] += ridge
            update_and_multiply(inverse, m, joined, u, v, k, z)
            joined = False
            if not worst_residual(j, m, z, k, weights, targets) <= DRIFT_TOLERANCE:
                doubtful = seen + CHECK_EVERY
                if age >= max(CHECK_EVERY, m // 4):
                    status = DRIFT
                    break
        kernel_row(rows[t], dictionary, m, gamma, gram, k)  # Table I, line 4
        update_and_multiply(inverse, m, joined, u, v, k, z)  # line 5
        joined = False
        # Line 6. In exact arithmetic r >= 1/C, as K without I/C is positive semi-definite.
        itself = self_kernel(rows[t, 0], gram)
        r = ridge + itself - inner(k, z, m)
        floor = max(ridge, 8.0 * EPS * itself)
        if not 0.99 * floor <= r <= 1.01 * (itself + ridge):
            doubtful = seen + CHECK_EVERY
            if age >= max(16, m // 8):
                status = DRIFT
                break
        if r < floor:
            # The error is at least the difference. Adding it to the ridge of this row keeps the
            # error from growing.
            r = floor + (floor - r)
        for o in range(n_outputs):  # line 8
            errors[o] = values[t, o] - inner(k, weights[o], m)
        slot = m
        if m == budget:
            slot = least_significant(m, z, r, inverse, weights, errors)
            if slot < m:
                pivot = inverse[slot, slot]
                # A diagonal entry of the inverse is at least that of the matrix, inverted.
                if not pivot * (ridge + self_kernel(dictionary[0, slot], gram)) >= 0.5 and age > 0:
                    status = DRIFT
                    break
                # Adding row t and then removing row `slot` equals the reverse order, in which
                # nothing cancels. Inversion lemma: Q_rest = Q - q q' / q_slot, a_rest = a - q
                # a_slot / q_slot, which turns z, r and the error of row t into those below.
                root = math.sqrt(pivot)
                shift = z[slot] / pivot
                column[:slot] = inverse[slot, :slot]
                column[slot:m] = inverse[slot:m, slot]
                r += z[slot] * shift
                for s in range(m):
                    z[s] -= column[s] * shift
                    v[s] = column[s] / root
                for o in range(n_outputs):
                    row = weights[o]
                    errors[o] += shift * row[slot]
                    share = row[slot] / pivot
                    for s in range(m):
                        row[s] -= column[s] * share
                inverse[slot, :slot] = 0.0
                inverse[slot:m, slot] = 0.0
                v[slot] = 0.0
        else:
            v[:] = 0.0
            m += 1
        if slot < m:
            joined = True
            root = math.sqrt(r)
            for s in range(m):  # line 7: Q grows by w w' with w = [z; -1] / sqrt(r)
                u[s] = z[s] / root
            u[slot] = -1.0 / root
            for o in range(n_outputs):  # line 9
                row = weights[o]
                step = errors[o] / r
                for s in range(m):
                    row[s] -= z[s] * step
                row[slot] = step
                targets[o, slot] = values[t, o]
            dictionary[:, slot] = rows[t]
        # Otherwise the new row was the least significant one, and its removal restores the state.
        seen += 1
        age += 1
        t += 1
    if joined:  # the next call adds zeros instead, in the same order of sums
        update_and_multiply(inverse, m, joined, u, v, k, z)
    return t, InverseCounters(m, seen, age, doubtful, joined), status


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
    """Learn `rows` from `position` on by kernel recursive least squares (Engel et al., 2004, Table
    1).

    Row t is h(x_t) = sum_j a_j h(x_j) + a part of squared length dis^2 outside the span of the
    dictionary. If that exceeds `threshold`, the row joins the dictionary and a becomes a unit
    vector. With A the matrix of the vectors a of all rows so far, the loop updates the outputs at
    the dictionary rows, c = argmin |A c - y|^2, and P = (A'A)^-1. The weights K^-1 c follow at the
    end. Instead of the paper's inverse of K, the loop updates its Cholesky factor L: rows only
    join, the cost is the same, and dis^2 = k(x, x) - |L^-1 k|^2 keeps its digits if K is nearly
    singular.

    `bracket` holds the largest squared distance within the threshold and the least one beyond it:
    thresholds between them lead to the same model. `dictionary`, `fitted` (c), `factor` (see
    `solve_lower`) and `covariance` (P) are changed in place. The others are as in `absorb`. The
    status is `GROW` if the capacity does not suffice.
    """
    n_rows, n_outputs = values.shape
    capacity = len(factor)
    w = np.zeros(capacity)
    a = np.zeros(capacity)
    h = np.zeros(capacity)
    v = np.zeros(capacity)  # P -= v v' is still to be done
    zeros = np.zeros(capacity)
    status = DONE
    t = position
    while t < n_rows:
        kernel_row(rows[t], dictionary, m, gamma, gram, w)
        solve_lower(factor, m, w)
        itself = self_kernel(rows[t, 0], gram)
        distance = itself - inner(w, w, m)  # eq. (11) of Scardapane et al.
        if distance <= threshold or distance <= LEAST_DISTANCE * itself or m >= max_atoms:
            if distance <= threshold:
                bracket[0] = max(bracket[0], distance)
            a[:m] = w[:m]
            solve_upper(factor, m, a)
            update_and_multiply(covariance, m, True, zeros, v, a, h)
            # At least 1, because P is positive semi-definite; less is round-off.
            scale = max(1.0, 1.0 + inner(a, h, m))
            for o in range(n_outputs):
                row = fitted[o]
                step = (values[t, o] - inner(a, row, m)) / scale
                for s in range(m):
                    row[s] += h[s] * step
            root = math.sqrt(scale)
            for s in range(m):
                v[s] = h[s] / root
        elif m == capacity:
            status = GROW
            break
        else:
            bracket[1] = min(bracket[1], distance)
            factor[m, :m] = w[:m]
            factor[:m, m] = w[:m]
            factor[m, m] = math.sqrt(distance)
            covariance[m, m] = 1.0
            fitted[:, m] = values[t]
            dictionary[:, m] = rows[t]
            m += 1
        t += 1
    update_and_multiply(covariance, m, True, zeros, v, a, h)
    return t, m, status

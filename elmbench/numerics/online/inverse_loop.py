"""The loop over rows with a dictionary of all rows or a fixed budget; for its conventions see `online.rank_one`."""

import math

import numpy as np

from elmbench.numerics.arrays import EPS, Array
from elmbench.numerics.online.rank_one import (
    CHECK_EVERY,
    DONE,
    DRIFT,
    DRIFT_TOLERANCE,
    inner,
    kernel_row,
    settle,
    with_itself,
)


def unit_residual(j: int, m: int, z: Array) -> float:
    """Return the distance of `z`, the inverse times row `j` of its matrix, from unit vector `j`."""
    worst = 0.0
    for s in range(m):
        worst = max(worst, abs(z[s] - 1.0) if s == j else abs(z[s]))
    return worst


def weight_residual(j: int, m: int, k: Array, weights: Array, targets: Array) -> float:
    """Return the residual of the weights in equation `j`, with row `k`, in units of the largest target."""
    worst = 0.0
    for o in range(len(weights)):
        largest = 0.0
        for s in range(m):
            largest = max(largest, abs(targets[o, s]))
        if largest > 0.0:
            worst = max(worst, abs(targets[o, j] - inner(k, weights[o], m)) / largest)
    return worst


def least_significant(m: int, z: Array, r: float, inverse: Array, weights: Array, errors: Array) -> int:
    """Return the dictionary row with the least cost of removal; `m` stands for the new one.

    The cost is |a_i| / Q_ii after the new row was added (Van Vaerenbergh et al., 2010), the leave-one-out error of row
    i, or its 2-norm for several outputs. The first of equal ones is taken; the new row is the last.
    """
    least = math.inf
    chosen = m
    for s in range(m):
        length = 0.0
        for o in range(len(weights)):
            weight = weights[o, s] - z[s] * (errors[o] / r)
            length += weight * weight
        cost = math.sqrt(length) / (inverse[s, s] + z[s] * z[s] / r)
        if cost < least:
            least = cost
            chosen = s
    # The weight of the new row is error / r, its diagonal entry 1 / r.
    return m if math.sqrt(inner(errors, errors, len(errors))) < least else chosen


def absorb(
    position: int,
    rows: Array,
    values: Array,
    gamma: float,
    gram: Array,
    ridge: float,
    budget: int,
    m: int,
    seen: int,
    age: int,
    doubtful: int,
    dictionary: Array,
    targets: Array,
    weights: Array,
    inverse: Array,
) -> tuple[int, int, int, int, int, int]:
    """Learn `rows` from `position` on by Table I of the paper, pruning to `budget` rows after each.

    `rows` and `values` are of shape (n, n_features) and (n, n_outputs), `gamma` and `gram` as in
    `elmbench.numerics.online.rank_one.kernel_row`. `m` is the size of the dictionary, `seen` the number of rows so far,
    `age` the number of rows since the inverse was computed from scratch, and `doubtful` the number of rows up to which
    the state is doubtful, `CHECK_EVERY` after the last check that round-off failed. The arrays of the state are changed
    in place; they have the capacity for all rows or for the budget.

    Returns position, m, seen, age, doubtful and a status: `DRIFT` if the inverse must be computed from scratch before
    row `position` is learnt.
    """
    n_rows, n_outputs = values.shape
    capacity = len(inverse)
    k, z, u, v = np.zeros(capacity), np.zeros(capacity), np.zeros(capacity), np.zeros(capacity)
    errors = np.zeros(n_outputs)
    pending = False  # whether Q += u u' - v v' is still to be done
    status = DONE
    t = position
    while t < n_rows:
        if seen % CHECK_EVERY == 0 and m > 0 and age > 0:
            j = (seen // CHECK_EVERY) % m
            kernel_row(dictionary[:, j].copy(), dictionary, m, gamma, gram, k)
            k[j] += ridge
            settle(inverse, m, pending, u, v, k, z)
            pending = False
            worst = max(unit_residual(j, m, z), weight_residual(j, m, k, weights, targets))
            if not worst <= DRIFT_TOLERANCE:
                doubtful = seen + CHECK_EVERY
                if age >= max(CHECK_EVERY, m // 4):
                    status = DRIFT
                    break
        kernel_row(rows[t], dictionary, m, gamma, gram, k)  # Table I, line 4
        settle(inverse, m, pending, u, v, k, z)  # line 5
        pending = False
        # Line 6. In exact arithmetic r >= 1/C, as K without I/C is positive semi-definite.
        itself = with_itself(rows[t, 0], gram)
        r = ridge + itself - inner(k, z, m)
        floor = max(ridge, 8.0 * EPS * itself)
        if not 0.99 * floor <= r <= 1.01 * (itself + ridge):
            doubtful = seen + CHECK_EVERY
            if age >= max(16, m // 8):
                status = DRIFT
                break
        if r < floor:
            # The error is at least the difference. Adding it to the ridge of this row keeps the error from growing.
            r = floor + (floor - r)
        for o in range(n_outputs):  # line 8
            errors[o] = values[t, o] - inner(k, weights[o], m)
        slot = m
        if m == budget:
            slot = least_significant(m, z, r, inverse, weights, errors)
            if slot < m:
                removed = inverse[slot, slot]
                # A diagonal entry of the inverse is at least that of the matrix, inverted.
                if not removed * (ridge + with_itself(dictionary[0, slot], gram)) >= 0.5 and age > 0:
                    status = DRIFT
                    break
                # Adding row t and then removing row `slot` equals the reverse order, in which nothing cancels.
                # Inversion lemma: Q_rest = Q - q q' / q_slot, a_rest = a - q a_slot / q_slot, which turns z, r and the
                # error of row t into those below.
                root = math.sqrt(removed)
                column = inverse[slot]
                shift = z[slot] / removed
                r += z[slot] * shift
                for o in range(n_outputs):
                    errors[o] += shift * weights[o, slot]
                for s in range(m):
                    z[s] -= column[s] * shift
                    v[s] = column[s] / root
                for o in range(n_outputs):
                    row = weights[o]
                    share = row[slot] / removed
                    for s in range(m):
                        row[s] -= column[s] * share
                for s in range(m):
                    inverse[slot, s] = 0.0
                    inverse[s, slot] = 0.0
                v[slot] = 0.0
        else:
            v[:] = 0.0
            m += 1
        if slot < m:
            pending = True
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
    if pending:
        settle(inverse, m, pending, u, v, k, z)
    return t, m, seen, age, doubtful, status

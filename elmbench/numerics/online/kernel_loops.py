"""Compiled loops of kernel recursive least squares: with all rows, a budget, or independent rows.

Scardapane et al., Online Sequential Extreme Learning Machine With Kernels, IEEE TNNLS 26(9), 2015;
Van Vaerenbergh et al., Fixed-budget kernel recursive least-squares, ICASSP 2010; Engel et al., The
kernel recursive least-squares algorithm, IEEE Trans. Signal Process. 52(8), 2004.

Only the lower triangle of an inverse is read and written. An update is applied in the pass that
multiplies the inverse by the next kernel row, so learning a row takes one pass over the inverse.

The rows of a dictionary are the columns of an array. The leading `m` columns (and rows) of all
arrays are in use; the rest are zero. With a kernel that is not Gaussian, the only feature of a row
is its number in the kernel matrix `gram`; with the Gaussian kernel, `gram` is empty.
"""

import math
from typing import NamedTuple

import numpy as np

from elmbench.numerics.arrays import EPS, Array
from elmbench.numerics.online.loops import (
    DONE,
    DRIFT,
    GROW,
    inner,
    solve_lower,
    solve_upper,
)
from elmbench.numerics.symmetric_product import Update, update_and_multiply

#: Rows between two checks of the residual, and the least number between two factorisations.
CHECK_EVERY = 64

#: Largest residual of the inverse and of the weights that counts as sound.
DRIFT_TOLERANCE = 1e-6

#: Least squared distance of a row that may join, over k(x, x); below it, round-off decides.
LEAST_DISTANCE = 1e-9


def kernel_row(
    point: Array, dictionary: Array, m: int, gamma: float, gram: Array, out: Array
) -> None:
    """Write the kernel of a row with the first `m` dictionary rows to `out[:m]`.

    `point`: the row, of shape (n_features,). `dictionary`: rows as columns, of shape (n_features,
    capacity). If `gram` is empty, the kernel is exp(-gamma d^2). Otherwise it is read from `gram`,
    and the only feature of a row is its number there.
    """
    # Scardapane et al., eq. (12): exp(-gamma d^2).
    if len(gram) > 0:
        number = int(point[0])
        row = gram[number]
        for s in range(m):
            other = int(dictionary[0, s])
            out[s] = row[other]
        return
    out[:m] = 0.0
    for f in range(len(dictionary)):
        x = point[f]
        column = dictionary[f]
        for s in range(m):
            difference = x - column[s]
            out[s] += difference * difference
    for s in range(m):
        exponent = -gamma * out[s]
        out[s] = math.exp(exponent)


def self_kernel(number: float, gram: Array) -> float:
    """Return the kernel of a row with itself: a diagonal entry of `gram`, or 1 if `gram` is empty.

    `number` is the row's number in `gram`. An empty `gram` stands for the Gaussian kernel, which
    ignores it.
    """
    return gram[int(number), int(number)] if len(gram) > 0 else 1.0


class Samples(NamedTuple):
    """Rows with their targets.

    Attributes
    ----------
    rows : ndarray of shape (n, n_features)
    values : ndarray of shape (n, n_outputs)
    """

    rows: Array
    values: Array


# --- All rows or a fixed budget: the inverse of K + I/C


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
    """The arrays of a state with an inverse.

    The capacity suffices for all rows or for the budget.

    Attributes
    ----------
    gram : ndarray
        Kernel matrix of all rows, or empty for the Gaussian kernel.
    dictionary : ndarray of shape (n_features, capacity)
    targets, weights : ndarrays of shape (n_outputs, capacity)
    inverse : ndarray of shape (capacity, capacity)
        Lower triangle of Q = (K + I/C)^-1.
    """

    gram: Array
    dictionary: Array
    targets: Array
    weights: Array
    inverse: Array


class InverseVectors(NamedTuple):
    """Vectors that `absorb` reuses for each row, in the notation of Table I of Scardapane et al.

    Attributes
    ----------
    k : ndarray of shape (capacity,)
        Kernel of the row with the dictionary.
    z : ndarray of shape (capacity,)
        Q k.
    column : ndarray of shape (capacity,)
        Column of Q whose row leaves the dictionary.
    errors : ndarray of shape (n_outputs,)
        Errors of the model at the row.
    update : Update
        Change of Q that is applied with its next product.
    """

    k: Array
    z: Array
    column: Array
    errors: Array
    update: Update


def new_vectors(capacity: int, n_outputs: int) -> InverseVectors:
    """Return vectors of zeros for a dictionary of `capacity` rows, to be reused for each row.

    `n_outputs`: the number of outputs of a row.
    """
    update = Update(np.zeros(capacity), np.zeros(capacity))
    return InverseVectors(
        np.zeros(capacity),
        np.zeros(capacity),
        np.zeros(capacity),
        np.zeros(n_outputs),
        update,
    )


def worst_residual(
    j: int, m: int, arrays: InverseArrays, vectors: InverseVectors
) -> float:
    """Return the larger residual of the inverse Q and of the weights in one equation.

    `j`: the dictionary row of the equation, of the leading `m`. `vectors` have k, row j of K + I/C,
    and z = Q k for the stored Q = (K + I/C)^-1, from which this call subtracts e_j in place. The
    residual of the inverse is the largest entry of Q k - e_j; that of the weights is relative to
    the largest target of the output, without outputs whose targets are all zero.
    """
    # Q k - e_j.
    z = vectors.z
    z[j] -= 1.0
    residuals = np.abs(z[:m])
    worst = residuals.max()
    for o in range(len(arrays.weights)):
        # t_j - k'a, over the largest target.
        targets = arrays.targets[o, :m]
        largest = np.abs(targets).max()
        if largest > 0.0:
            weights = arrays.weights[o]
            output = inner(vectors.k, weights, m)
            residual = abs(targets[j] - output)
            worst = max(worst, residual / largest)
    return worst


def output_errors(
    values: Array, m: int, weights: Array, vectors: InverseVectors
) -> None:
    """Write the errors of all outputs at a row, targets less predictions, to `vectors.errors`.

    `values` are the targets of the row, of shape (n_outputs,); `vectors.k` is its kernel with the
    leading `m` dictionary rows, and `weights`, of shape (n_outputs, capacity), are those of these
    dictionary rows.
    """
    # Table I, line 8: e = t - k'a.
    for o in range(len(weights)):
        output = inner(vectors.k, weights[o], m)
        vectors.errors[o] = values[o] - output


def least_significant_row(
    m: int, r: float, arrays: InverseArrays, vectors: InverseVectors
) -> int:
    """Return the index of the dictionary row whose removal costs least, or `m` for the new row.

    The leading `m` dictionary rows are in use. `vectors` must hold z = Q k and the errors of the
    new row, and `r` is its pivot, k(x, x) + 1/C - k'z; nothing is changed. The cost of row i, after
    the new row has joined, is |a_i| / Q_ii for the weights a and Q = (K + I/C)^-1: the
    leave-one-out error of the row, or the norm of its errors of all outputs. Of rows of equal
    costs, the first is taken; the new row counts as the last.
    """
    # Van Vaerenbergh et al. (2010): the cost is |a_i| / Q_ii after the new row was added, the
    # leave-one-out error of row i, or its 2-norm for several outputs.
    z = vectors.z
    errors = vectors.errors
    inverse = arrays.inverse
    # The sums of |a_i|^2 over the outputs.
    costs = np.zeros(m)
    for o in range(len(arrays.weights)):
        row = arrays.weights[o]
        step = errors[o] / r
        for s in range(m):
            weight = row[s] - z[s] * step
            costs[s] += weight * weight
    # |a_i| / Q_ii, where the new row adds z_i^2 / r to Q_ii.
    for s in range(m):
        z_s = z[s]
        growth = z_s * z_s / r
        entry = inverse[s, s] + growth
        length = math.sqrt(costs[s])
        costs[s] = length / entry
    weakest = int(np.argmin(costs))
    # The weight of the new row is error / r, its diagonal entry 1 / r.
    squared_cost = inner(errors, errors, len(errors))
    cost_of_new = math.sqrt(squared_cost)
    return m if cost_of_new < costs[weakest] else weakest


def leave_dictionary(
    slot: int, m: int, r: float, arrays: InverseArrays, vectors: InverseVectors
) -> float:
    """Remove dictionary row `slot` from the model; return the pivot of the new row without it.

    The leading `m` rows are in use. `r`: the pivot of the new row with the removed one, k(x, x) +
    1/C - k'z. The weights are changed in place; so are z = Q k and the errors of the new row in
    `vectors`, which become those without the removed row. The inverse loses the row and the column
    `slot`; the change of its rest, -v v', is left pending in `vectors.update`. An earlier pending
    change must have been applied, since v is overwritten.
    """
    # Inversion lemma: Q_rest = Q - q q' / q_slot, a_rest = a - q a_slot / q_slot. Adding a row and
    # then removing row `slot` equals the reverse order, in which nothing cancels.
    z = vectors.z
    q = vectors.column
    v = vectors.update.v
    inverse = arrays.inverse
    pivot = inverse[slot, slot]
    root = math.sqrt(pivot)
    # The lower triangle has the column q in two parts.
    q[:slot] = inverse[slot, :slot]
    q[slot:m] = inverse[slot:m, slot]
    # r and z of the new row.
    shift = z[slot] / pivot
    r += z[slot] * shift
    for s in range(m):
        z[s] -= q[s] * shift
        v[s] = q[s] / root
    # Its errors, and the weights.
    for o in range(len(arrays.weights)):
        row = arrays.weights[o]
        weight = row[slot]
        vectors.errors[o] += shift * weight
        share = weight / pivot
        for s in range(m):
            row[s] -= q[s] * share
    inverse[slot, :slot] = 0.0
    inverse[slot:m, slot] = 0.0
    v[slot] = 0.0
    return r


def join_dictionary(
    slot: int, m: int, r: float, arrays: InverseArrays, vectors: InverseVectors
) -> None:
    """Extend the weights by a new row at position `slot` of the dictionary, in place.

    `m`: the number of dictionary rows, with the new one. `r`: the pivot of the new row, k(x, x) +
    1/C - k'z. `vectors` must hold z = Q k of the new row, for the inverse Q, and its errors. The
    change of the inverse, u u', is left pending in `vectors.update`; the caller stores the row
    itself. u is overwritten, so an earlier u u' must have been applied.
    """
    # Table I, line 7: Q grows by u u' with u = [z; -1] / sqrt(r).
    z = vectors.z
    u = vectors.update.u
    root = math.sqrt(r)
    for s in range(m):
        u[s] = z[s] / root
    u[slot] = -1.0 / root
    # Table I, line 9: a becomes [a - z e / r; e / r].
    n_outputs = len(arrays.weights)
    for o in range(n_outputs):
        row = arrays.weights[o]
        error = vectors.errors[o]
        step = error / r
        for s in range(m):
            row[s] -= z[s] * step
        row[slot] = step


def store_row(slot: int, t: int, samples: Samples, arrays: InverseArrays) -> None:
    """Write row `t` of the samples and its targets to position `slot` of the dictionary."""
    for o in range(len(arrays.targets)):
        arrays.targets[o, slot] = samples.values[t, o]
    arrays.dictionary[:, slot] = samples.rows[t]


def absorb(
    samples: Samples,
    settings: InverseSettings,
    counters: InverseCounters,
    arrays: InverseArrays,
) -> tuple[int, InverseCounters, int]:
    """Learn samples in their order, and prune the dictionary to the budget after each.

    The arrays are changed in place. At `DRIFT`, the caller computes the inverse and the weights
    from scratch, sets the age to 0 and continues with the samples that were not learnt.

    Returns
    -------
    n_learnt : int
        Number of samples that were learnt.
    counters : InverseCounters
        The new values of the counters, for the next call.
    status : int
        `DONE`, or `DRIFT` if the inverse must be computed from scratch before the next sample.
    """
    # Scardapane et al., Table I.
    m, seen, age, doubtful, joined = counters
    gram = arrays.gram
    gamma = settings.gamma
    ridge = settings.ridge
    dictionary = arrays.dictionary
    inverse = arrays.inverse
    vectors = new_vectors(len(inverse), samples.values.shape[1])
    k = vectors.k
    z = vectors.z
    update = vectors.update
    status = DONE
    t = 0
    while t < len(samples.values):
        if seen % CHECK_EVERY == 0 and m > 0 and age > 0:
            j = (seen // CHECK_EVERY) % m
            point = dictionary[:, j].copy()
            kernel_row(point, dictionary, m, gamma=gamma, gram=gram, out=k)
            k[j] += ridge
            update_and_multiply(inverse, m, joined, update, x=k, y=z)
            joined = False
            if not worst_residual(j, m, arrays, vectors) <= DRIFT_TOLERANCE:
                doubtful = seen + CHECK_EVERY
                if age >= max(CHECK_EVERY, m // 4):
                    status = DRIFT
                    break
        # Line 4.
        kernel_row(samples.rows[t], dictionary, m, gamma=gamma, gram=gram, out=k)
        update_and_multiply(inverse, m, joined, update, x=k, y=z)  # line 5
        joined = False
        # Line 6. In exact arithmetic r >= 1/C, as K without I/C is positive semi-definite.
        itself = self_kernel(samples.rows[t, 0], gram)
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
        output_errors(samples.values[t], m, arrays.weights, vectors)  # line 8
        slot = m
        if m == settings.budget:
            slot = least_significant_row(m, r, arrays, vectors)
            if slot < m:
                # A diagonal entry of the inverse is at least that of the matrix, inverted.
                entry = ridge + self_kernel(dictionary[0, slot], gram)
                if not inverse[slot, slot] * entry >= 0.5 and age > 0:
                    status = DRIFT
                    break
                r = leave_dictionary(slot, m, r, arrays, vectors)
        else:
            update.v[:] = 0.0
            m += 1
        # If slot is m, the new row was the least significant one: its removal restores the state.
        if slot < m:
            joined = True
            join_dictionary(slot, m, r, arrays, vectors)  # lines 7 and 9
            store_row(slot, t, samples, arrays)
        seen += 1
        age += 1
        t += 1
    if joined:  # the next call adds zeros instead, in the same order of sums
        update_and_multiply(inverse, m, joined, update, x=k, y=z)
    return t, InverseCounters(m, seen, age, doubtful, joined), status


# --- Approximate linear dependency: a Cholesky factor of K


class DependencySettings(NamedTuple):
    """The parameters of a state with a dictionary of approximately independent rows.

    Attributes
    ----------
    gamma : float
        Inverse squared width of the Gaussian kernel.
    threshold : float
        Squared distance from the span of the dictionary beyond which a row joins.
    max_atoms : int
        Largest size of the dictionary.
    """

    gamma: float
    threshold: float
    max_atoms: int


class DependencyArrays(NamedTuple):
    """The arrays of a state with a dictionary of approximately independent rows.

    Attributes
    ----------
    gram : ndarray
        Kernel matrix of all rows, or empty for the Gaussian kernel.
    bracket : ndarray of shape (2,)
        Largest squared distance within the threshold and the least one beyond it: thresholds
        between them lead to the same model.
    dictionary : ndarray of shape (n_features, capacity)
    fitted : ndarray of shape (n_outputs, capacity)
        Outputs c at the dictionary rows.
    factor : ndarray of shape (capacity, capacity)
        Cholesky factor of K, see `solve_lower`.
    covariance : ndarray of shape (capacity, capacity)
        Lower triangle of P = (A'A)^-1.
    """

    gram: Array
    bracket: Array
    dictionary: Array
    fitted: Array
    factor: Array
    covariance: Array


def update_fit(values: Array, m: int, a: Array, h: Array, fitted: Array) -> float:
    """Update the outputs at the dictionary rows by a row that does not join; return 1 + a'h.

    `values`: the row's targets, of shape (n_outputs,). `a`: its coefficients in the `m` dictionary
    rows. `h`: P a, for the P of `absorb_ald`. `fitted`, of shape (n_outputs, capacity), is changed
    in place; the change of P, -v v' with v = h / sqrt(1 + a'h), is left to the caller. The result
    is at least 1.
    """
    # Engel et al., Table 1: q = P a / (1 + a'P a), here for c = K times the weights.
    # The scale is at least 1, because P is positive semi-definite; less is round-off.
    scale = max(1.0, 1.0 + inner(a, h, m))
    n_outputs = len(fitted)
    for o in range(n_outputs):
        row = fitted[o]
        # c grows by q (y - a'c).
        output = inner(a, row, m)
        error = values[o] - output
        step = error / scale
        for s in range(m):
            row[s] += h[s] * step
    return scale


def append_atom(m: int, distance: float, w: Array, arrays: DependencyArrays) -> None:
    """Append a row and a column to the factor of K and to P, in place, for a row that joins.

    P is `arrays.covariance`, which gets a 1 on its diagonal. The factor L of K is stored with its
    transpose, as L + L' with the diagonal once. `m`: the number of dictionary rows before; the
    arrays must have room for row `m`. `w`: L^-1 k for the new row. `distance`: its squared distance
    from the span of the `m` rows, which must be positive. The caller stores the row itself.
    """
    # Engel et al., eqs. of the second case of Table 1: K grows by a row and a column, P by a 1.
    factor = arrays.factor
    covariance = arrays.covariance
    row = w[:m]
    # The factor is stored with its transpose.
    factor[m, :m] = row
    factor[:m, m] = row
    factor[m, m] = math.sqrt(distance)
    covariance[m, m] = 1.0


def absorb_ald(
    samples: Samples, m: int, settings: DependencySettings, arrays: DependencyArrays
) -> tuple[int, int, int]:
    """Learn samples in their order with a dictionary of `m` approximately independent rows.

    Row t is h(x_t) = sum_j a_j h(x_j) + a part of squared length dis^2 outside the span of the
    dictionary. If that exceeds the threshold and round-off, and the dictionary has fewer than
    `settings.max_atoms` rows, the row joins it and a becomes a unit vector; otherwise the row only
    updates the fit. With A the matrix of the vectors a of all rows so far, the loop updates the
    outputs at the dictionary rows, c = argmin |A c - y|^2, and P = (A'A)^-1. The weights are K^-1
    c, which the caller computes. Instead of the paper's inverse of K, the loop updates its Cholesky
    factor L: rows only join, the cost is the same, and dis^2 = k(x, x) - |L^-1 k|^2 keeps its
    digits if K is nearly singular. The arrays are changed in place. At `GROW`, the caller enlarges
    them and continues with the samples that were not learnt.

    Returns
    -------
    n_learnt : int
        Number of samples that were learnt.
    m : int
        Size of the dictionary.
    status : int
        `DONE`, or `GROW` if the capacity does not suffice for the next sample.
    """
    # Engel et al. (2004), Table 1.
    capacity = len(arrays.factor)
    w = np.zeros(capacity)
    a = np.zeros(capacity)
    h = np.zeros(capacity)
    # P -= v v' is still to be done.
    update = Update(np.zeros(capacity), np.zeros(capacity))
    dictionary = arrays.dictionary
    bracket = arrays.bracket
    status = DONE
    t = 0
    while t < len(samples.values):
        point = samples.rows[t]
        kernel_row(point, dictionary, m, gamma=settings.gamma, gram=arrays.gram, out=w)
        solve_lower(arrays.factor, m, w)
        itself = self_kernel(point[0], arrays.gram)
        distance = itself - inner(w, w, m)  # eq. (11) of Scardapane et al.
        is_near = distance <= settings.threshold
        is_round_off = distance <= LEAST_DISTANCE * itself
        is_full = m >= settings.max_atoms
        if is_near or is_round_off or is_full:
            if is_near:
                bracket[0] = max(bracket[0], distance)
            # a = K^-1 k and h = P a.
            a[:m] = w[:m]
            solve_upper(arrays.factor, m, a)
            update_and_multiply(arrays.covariance, m, True, update, x=a, y=h)
            scale = update_fit(samples.values[t], m, a, h, arrays.fitted)
            root = math.sqrt(scale)
            for s in range(m):
                update.v[s] = h[s] / root
        elif m == capacity:
            status = GROW
            break
        else:
            bracket[1] = min(bracket[1], distance)
            append_atom(m, distance, w, arrays)
            arrays.fitted[:, m] = samples.values[t]
            dictionary[:, m] = point
            m += 1
        t += 1
    update_and_multiply(arrays.covariance, m, True, update, x=a, y=h)
    return t, m, status

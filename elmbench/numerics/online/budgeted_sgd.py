"""Kernel Pegasos with a budget: the support vector with the least weight is removed or merged.

Support vectors are the columns of a dense matrix, so the product with a sparse row is a sum of rows
of that matrix. All arrays have the support vectors along their last or only axis; the leading `m`
are in use. (Wang, Crammer, Vucetic, Breaking the curse of kernelization: Budgeted stochastic
gradient descent for large-scale SVM training, JMLR 13, 2012.)
"""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from elmbench.numerics.arrays import Array, Rows
from elmbench.numerics.compiled import run_compiled
from elmbench.numerics.online.loops import (
    DONE,
    GROW,
    Numbers,
    SparseRow,
    SparseRows,
    enlarge,
    inner,
    loop_array,
    row_of,
    sparse_rows,
)

#: Steps of the golden section search, which locates a merged support vector to 1e-5 of the way.
GOLDEN_STEPS = 24

#: Share of the interval that is left after a step of the golden section search.
GOLDEN = 0.6180339887498949

#: Numbers are equal if they differ by at most this share of their size, which is round-off.
TIED = 1e-13


class SupportVectors(NamedTuple):
    """Support vectors and their properties.

    Attributes
    ----------
    columns : ndarray of shape (n_features, capacity)
        The support vectors.
    norms : ndarray of shape (capacity,)
        Their squared norms.
    weights : ndarray of shape (n_outputs, capacity)
        Their weights, times the ridge and the number of steps.
    born : ndarray of shape (capacity,)
        The steps at which they joined.
    distances : ndarray of shape (capacity, capacity)
        The squared distances between them.
    """

    columns: Array
    norms: Array
    weights: Array
    born: Numbers
    distances: Array


class LabelledRows(NamedTuple):
    """Sparse rows with their classes.

    Attributes
    ----------
    rows : SparseRows
    labels : ndarray of shape (n,)
        Class numbers, 0 and 1 for a single output.
    """

    rows: SparseRows
    labels: Numbers


class BudgetedSettings(NamedTuple):
    """The parameters of budgeted stochastic gradient descent.

    Attributes
    ----------
    gamma : float
        Inverse squared width of the Gaussian kernel.
    budget : int
        Largest number of support vectors.
    merges : bool
        True if a support vector beyond the budget is merged, False if it is removed.
    ridge : float
        lambda in the paper.
    """

    gamma: float
    budget: int
    merges: bool
    ridge: float


class BudgetedCounters(NamedTuple):
    """The numbers that the loop changes.

    Attributes
    ----------
    position : int
        Row of the current call that is learnt next.
    step : int
        Number of rows so far.
    size : int
        Number of support vectors.
    """

    position: int
    step: int
    size: int


def least_weight(m: int, support: SupportVectors) -> int:
    """Return the index of the support vector with the shortest vector of weights.

    The leading `m` support vectors are in use. The oldest of equally short ones is taken, see
    `TIED`.
    """
    weights = support.weights
    born = support.born
    lightest = 0
    min_length = math.inf
    for s in range(m):
        length = inner(weights[:, s], weights[:, s], len(weights))
        is_tied = abs(length - min_length) <= TIED * length
        is_shorter = length < min_length and not is_tied
        is_older = is_tied and born[s] < born[lightest]
        if is_shorter or is_older:
            min_length = length
            lightest = s
    return lightest


class Pair(NamedTuple):
    """The properties of two support vectors a and b that decide how they are merged.

    Attributes
    ----------
    exponent : float
        Logarithm of the kernel between a and b.
    aa, ab, bb : float
        Inner products of their weights.
    """

    exponent: float
    aa: float
    ab: float
    bb: float


def pair_of(a: int, b: int, gamma: float, support: SupportVectors) -> Pair:
    """Return the properties by which the support vectors with indices `a` and `b` are merged.

    `gamma`: of the kernel exp(-gamma d^2).
    """
    n_outputs = len(support.weights)
    weights_a = support.weights[:, a]
    weights_b = support.weights[:, b]
    return Pair(
        exponent=-gamma * support.distances[a, b],
        aa=inner(weights_a, weights_a, n_outputs),
        ab=inner(weights_a, weights_b, n_outputs),
        bb=inner(weights_b, weights_b, n_outputs),
    )


def tied_within(pair: Pair) -> float:
    """Return the difference up to which two squared lengths of a merged pair are equal."""
    return TIED * (pair.aa + 2.0 * abs(pair.ab) + pair.bb)


def kernels_with_merged(h: float, exponent: float) -> tuple[float, float]:
    """Return the kernels k(a, z) and k(b, z) of two points and the merged one, z = h a + (1 - h) b.

    `exponent` is the logarithm of k(a, b).
    """
    # Wang et al. (2012), section 5.2: k(a, z) = k^((1-h)^2) and k(b, z) = k^(h^2) with k = k(a, b).
    rest = 1.0 - h
    return math.exp(exponent * rest * rest), math.exp(exponent * h * h)


def squared_merged_length(h: float, pair: Pair) -> float:
    """Return the squared length of two weighted support vectors that are merged into one.

    It is that of the projection of w_a f_a + w_b f_b onto f_z, z = h x_a + (1 - h) x_b, where f_x
    is the image of x in the space of the kernel. Squared lengths are summed over the outputs.
    `pair`: from `pair_of`.
    """
    u, v = kernels_with_merged(h, pair.exponent)
    return pair.aa * u * u + 2.0 * pair.ab * u * v + pair.bb * v * v


def golden_section(pair: Pair) -> tuple[float, float]:
    """Return an h in [0, 1] that maximises `squared_merged_length` of a pair, and this maximum.

    The search never tries the ends 0 and 1. Of values equal within `tied_within`, it takes the
    smaller h. With two maxima, it may end at the lower one. `pair`: from `pair_of`.
    """
    within = tied_within(pair)
    low = 0.0
    high = 1.0
    left = high - GOLDEN * (high - low)
    right = low + GOLDEN * (high - low)
    at_left = squared_merged_length(left, pair)
    at_right = squared_merged_length(right, pair)
    for _ in range(GOLDEN_STEPS):
        if at_left >= at_right - within:
            high = right
            right = left
            at_right = at_left
            left = high - GOLDEN * (high - low)
            at_left = squared_merged_length(left, pair)
        else:
            low = left
            left = right
            at_left = at_right
            right = low + GOLDEN * (high - low)
            at_right = squared_merged_length(right, pair)
    if at_right > at_left + within:
        return right, at_right
    return left, at_left


def best_merge(pair: Pair) -> tuple[float, float]:
    """Return the best h in [0, 1] for the merged vector h x_a + (1 - h) x_b and its squared length.

    The latter is `squared_merged_length`. Both ends are tried after a golden section search, so
    merging never loses more than the removal of either support vector. An end is taken if the
    search finds no longer projection; if both ends are equally good, it is h = 1. Of equally long
    ones, see `TIED`, the search takes the one with the smaller h: two equal weights have maxima at
    h and 1 - h, and round-off would choose. `pair`: the kernel and the weights of the support
    vectors a and b, from `pair_of`.
    """
    within = tied_within(pair)
    h, length = golden_section(pair)
    at_a = squared_merged_length(1.0, pair)
    at_b = squared_merged_length(0.0, pair)
    if not max(at_a, at_b) >= length - within:
        return h, length
    if at_a >= at_b - within:
        return 1.0, at_a
    return 0.0, at_b


def best_partner(
    a: int, m: int, gamma: float, support: SupportVectors
) -> tuple[int, float]:
    """Return the index of the support vector with which `a` is merged at the least loss, and the h.

    The merged vector is h x_a + (1 - h) x_b. The leading `m` support vectors are in use. The first
    of equal ones is taken, see `TIED`. Without another one, the index is -1 and h is 0.
    """
    # Wang et al. (2012), section 5.2: the loss is |w_a f_a + w_b f_b|^2 minus the squared length of
    # the projection, summed over the outputs.
    partner = -1
    best_h = 0.0
    min_loss = math.inf
    for b in range(m):
        if b == a:
            continue
        pair = pair_of(a, b, gamma, support)
        h, length = best_merge(pair)
        kernel = math.exp(pair.exponent)
        whole = pair.aa + 2.0 * pair.ab * kernel + pair.bb
        loss = whole - length
        if loss < min_loss - tied_within(pair):
            partner = b
            best_h = h
            min_loss = loss
    return partner, best_h


def write_distances(s: int, distances: Array, matrix: Array) -> None:
    """Write squared distances to the row and the column `s` of a matrix of distances, in place.

    `distances`: of support vector `s` from the leading ones, of shape (m,). The diagonal entry
    becomes zero.
    """
    m = len(distances)
    matrix[s, :m] = distances
    matrix[:m, s] = distances
    matrix[s, s] = 0.0


def merge_weights(a: int, b: int, h: float, exponent: float, weights: Array) -> None:
    """Replace the weights of support vector `b` by those of `a` and `b` merged, in place.

    `h` is that of `best_merge`, and `exponent` the logarithm of the kernel between a and b.
    `weights`, of shape (n_outputs, capacity), has the support vectors as columns; that of `a`
    stays.
    """
    # Wang et al. (2012), section 5.2: the projection of w_a f_a + w_b f_b onto f_z has the weights
    # w_a k(a, z) + w_b k(b, z).
    to_a, to_b = kernels_with_merged(h, exponent)
    weights[:, b] = weights[:, a] * to_a + weights[:, b] * to_b


def merge_points(a: int, b: int, h: float, m: int, support: SupportVectors) -> None:
    """Replace support vector `b` by z = h x_a + (1 - h) x_b, in place.

    Its norm and its distances from the leading `m` are those of z. Support vector `a` stays as it
    is.
    """
    # |z - s|^2 = h |a - s|^2 + (1 - h) |b - s|^2 - h (1 - h) |a - b|^2, and |z|^2 likewise.
    columns = support.columns
    norms = support.norms
    distances = support.distances
    rest = 1.0 - h
    reduction = h * rest * distances[a, b]
    columns[:, b] = h * columns[:, a] + rest * columns[:, b]
    norm = h * norms[a] + rest * norms[b] - reduction
    norms[b] = max(0.0, norm)
    # Round-off may make a zero negative.
    merged = h * distances[a, :m] + rest * distances[b, :m] - reduction
    write_distances(b, np.maximum(merged, 0.0), distances)


def merge_with_partner(a: int, m: int, gamma: float, support: SupportVectors) -> int:
    """Merge support vector `a` into its best partner, in place, and return the partner's index.

    The partner then holds the merged vector with its weights, norm and distances. Support vector
    `a` is unchanged: the caller removes it. The leading `m` support vectors are in use, two or
    more.
    """
    b, h = best_partner(a, m, gamma, support)
    exponent = -gamma * support.distances[a, b]
    merge_weights(a, b, h, exponent, support.weights)
    merge_points(a, b, h, m, support)
    return b


def remove_vector(a: int, m: int, support: SupportVectors) -> None:
    """Remove support vector `a` of the leading `m` in place.

    The last of these takes its position.
    """
    last = m - 1
    support.norms[a] = support.norms[last]
    support.born[a] = support.born[last]
    for array in (support.columns, support.weights):
        array[:, a] = array[:, last]
        array[:, last] = 0.0
    distances = support.distances
    write_distances(a, distances[last, :last], distances)


def shrink_to_budget(
    m: int, step: int, settings: BudgetedSettings, support: SupportVectors
) -> None:
    """Merge the support vector with the least weight with its best partner, or remove it, in place.

    It is merged if `settings.merges`; the merged one counts as born at `step`. The leading `m`
    support vectors are in use; afterwards the leading m - 1 are.
    """
    # Wang et al. (2012), Algorithm 1, lines of the budget maintenance.
    lightest = least_weight(m, support)
    if settings.merges:
        merged = merge_with_partner(lightest, m, settings.gamma, support)
        support.born[merged] = step
    remove_vector(lightest, m, support)


def distance_row(row: SparseRow, m: int, support: SupportVectors, out: Array) -> None:
    """Write the squared distances of a row from the leading `m` support vectors to `out[:m]`."""
    # The sum of (x_f - s_f)^2 over the features of the row, and |s|^2 over those that it lacks.
    columns = support.columns
    inside = np.zeros(m)
    out[:m] = 0.0
    n_features = len(row.features)
    for p in range(n_features):
        x = row.values[p]
        column = columns[row.features[p]]
        for s in range(m):
            difference = x - column[s]
            out[s] += difference * difference
            inside[s] += column[s] * column[s]
    if n_features < len(columns):
        for s in range(m):
            outside = support.norms[s] - inside[s]
            out[s] += max(0.0, outside)


def opponent_of(label: int, scores: Array) -> int:
    """Return the class with the largest score except `label`, the first of equal ones.

    `scores`: of shape (n_outputs,). It is -1 for a single output, which stands for two classes.
    """
    best = -1
    if len(scores) > 1:
        for o in range(len(scores)):
            if o != label and (best < 0 or scores[o] > scores[best]):
                best = o
    return best


def margin_of(label: int, opponent: int, scores: Array) -> float:
    """Return the score of the class `label` less that of its opponent.

    `scores`: of shape (n_outputs,). For a single output, `opponent` is -1: return the score, with
    its sign changed for the class 0.
    """
    if opponent >= 0:
        return scores[label] - scores[opponent]
    if label == 1:
        return scores[0]
    return -scores[0]


def find_equal(m: int, distances: Array) -> int:
    """Return the index of the first of the leading `m` support vectors at distance zero, or `m`.

    `distances`: from a row, of shape (m,) or longer.
    """
    for s in range(m):
        if distances[s] == 0.0:
            return s
    return m


def append_vector(
    row: SparseRow, m: int, distances: Array, support: SupportVectors
) -> None:
    """Append a row as support vector `m`, with zero weights, in place.

    `distances` are its squared distances from the leading `m`. The capacity must suffice. The
    caller sets `born`.
    """
    features = row.features
    values = row.values
    n_features = len(features)
    for p in range(n_features):
        support.columns[features[p], m] = values[p]
    support.norms[m] = inner(values, values, n_features)
    support.weights[:, m] = 0.0
    write_distances(m, distances[:m], support.distances)


def add_weight(slot: int, label: int, opponent: int, weights: Array) -> None:
    """Add the step of a row that violates its margin to the weights of a support vector, in place.

    `slot`: its index. `weights` are of shape (n_outputs, capacity). That of the class `label` grows
    by 1, that of the class `opponent` falls by 1. An `opponent` of -1 stands for a single output,
    whose weight grows by 1 for the class 1 and falls by 1 for the class 0.
    """
    # The subgradient of the loss of Crammer and Singer, or of the hinge loss for a single output.
    if opponent >= 0:
        weights[label, slot] += 1.0
        weights[opponent, slot] -= 1.0
    elif label == 1:
        weights[0, slot] += 1.0
    else:
        weights[0, slot] -= 1.0


def absorb_budgeted(
    counters: BudgetedCounters,
    samples: LabelledRows,
    settings: BudgetedSettings,
    support: SupportVectors,
) -> tuple[BudgetedCounters, int]:
    """Learn the rows from `counters.position` on, in their order, and keep the budget after each.

    After t steps the model is sum_s w_s k(x_s, .) / (ridge t), so shrinking all weights by 1 - 1/t
    does not change w. The first row of all, and every row that violates the margin, joins the
    support vectors, or is added to an equal one: its weight is 1 for its class and -1 for the
    opponent, see `add_weight`. `support` is changed in place.

    Returns
    -------
    counters : BudgetedCounters
        The new position, step and size.
    status : int
        `DONE`, or `GROW` if the capacity does not suffice for the next row.
    """
    # Wang, Crammer and Vucetic (2012), Algorithm 1.
    t, step, m = counters
    weights = support.weights
    n_outputs, capacity = weights.shape
    k = np.zeros(capacity)
    gaps = np.zeros(capacity)
    scores = np.zeros(n_outputs)
    status = DONE
    while True:
        if m > settings.budget:
            shrink_to_budget(m, step, settings, support)
            m -= 1
        if t == len(samples.labels):
            break
        row = row_of(t, samples.rows)
        distance_row(row, m, support, gaps)
        for s in range(m):
            k[s] = math.exp(-settings.gamma * gaps[s])
        for o in range(n_outputs):
            scores[o] = inner(weights[o], k, m)
        label = samples.labels[t]
        opponent = opponent_of(label, scores)
        margin = margin_of(label, opponent, scores)
        if step == 0 or margin < settings.ridge * step:
            slot = find_equal(m, gaps)
            if slot == m:
                if m == capacity:
                    status = GROW
                    break
                append_vector(row, m, gaps, support)
                support.born[m] = step
                m += 1
            add_weight(slot, label, opponent, weights)
        step += 1
        t += 1
    return BudgetedCounters(t, step, m), status


@dataclass
class BudgetedState:
    """At most `budget` support vectors and their weights, in the leading `size` entries.

    The outputs, one for two classes, are sum_s w_s k(x_s, x) / (ridge t) after t steps, with the
    kernel exp(-gamma d^2).
    """

    n_features: int
    n_outputs: int
    gamma: float
    budget: int
    merges: bool = True
    size: int = 0
    step: int = 0
    support: SupportVectors = field(init=False)

    def __post_init__(self) -> None:
        self.support = SupportVectors(
            columns=np.zeros((self.n_features, 0)),
            norms=np.zeros(0),
            weights=np.zeros((self.n_outputs, 0)),
            born=np.zeros(0, np.int64),
            distances=np.zeros((0, 0)),
        )

    def extend(self, X: Rows, labels: Numbers, ridge: float) -> None:
        """Learn rows `X`, dense or CSR of shape (n, n_features), in their order.

        Only the first row of all and rows that violate their margin join the support vectors;
        beyond the budget, one is merged or removed. `labels`: class numbers, of shape (n,), 0 and 1
        for a single output. `ridge` is the lambda of the objective ridge |w|^2 / 2 + the mean hinge
        loss.
        """
        samples = LabelledRows(rows=sparse_rows(X), labels=loop_array(labels, np.int64))
        self.support = SupportVectors(
            *(loop_array(array, None) for array in self.support)
        )
        settings = BudgetedSettings(
            gamma=float(self.gamma),
            budget=self.budget,
            merges=self.merges,
            ridge=float(ridge),
        )
        position = 0
        status = GROW
        while status == GROW:
            self._reserve()
            counters = BudgetedCounters(
                position=position, step=self.step, size=self.size
            )
            counters, status = run_compiled(
                absorb_budgeted, counters, samples, settings, self.support
            )
            position = counters.position
            self.step = counters.step
            self.size = counters.size

    def solution(self, ridge: float) -> Array:
        """Return the weights of the support vectors, of shape (size, n_outputs).

        `ridge`: the lambda with which the rows were learnt.
        """
        return self.support.weights[:, : self.size].T / (ridge * max(1, self.step))

    def vectors(self) -> Array:
        """Return the support vectors, of shape (size, n_features)."""
        return np.ascontiguousarray(self.support.columns[:, : self.size].T)

    def _reserve(self) -> None:
        """Enlarge the arrays of the support vectors if they are full.

        Their capacity doubles, up to one support vector beyond the budget.
        """
        support = self.support
        if self.size < len(support.norms):
            return
        doubled = max(16, 2 * self.size)
        capacity = min(self.budget + 1, doubled)
        self.support = SupportVectors(
            columns=enlarge(support.columns, (self.n_features, capacity)),
            norms=enlarge(support.norms, (capacity,)),
            weights=enlarge(support.weights, (self.n_outputs, capacity)),
            born=enlarge(support.born, (capacity,)),
            distances=enlarge(support.distances, (capacity, capacity)),
        )

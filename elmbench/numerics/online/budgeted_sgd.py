"""Kernel Pegasos with a budget of support vectors, of which those with the least weight are removed
or merged.

Support vectors are the columns of a dense matrix, so products with a sparse row are sums of its
rows. All arrays have the support vectors along their last or only axis, of which the leading `m`
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
    SparseRows,
    enlarge,
    inner,
    loop_array,
    sparse_rows,
)

# of the golden section search for a merged support vector: its place is known to 1e-5 of the way
GOLDEN_STEPS = 24
GOLDEN = 0.6180339887498949  # share of the interval that a step leaves
TIED = 1e-13
"""Differences up to this share of the numbers' size are round-off: such numbers count as equal."""


class SupportVectors(NamedTuple):
    """Support vectors as `columns`, of shape (n_features, capacity), and their properties.

    `norms` are squared norms; `weights` has shape (n_outputs, capacity); `born` are the steps at
    which they joined; `distances`, of shape (capacity, capacity), are squared.
    """

    columns: Array
    norms: Array
    weights: Array
    born: Numbers
    distances: Array


def least_weight(m: int, weights: Array, born: Numbers) -> int:
    """Return the support vector with the shortest vector of weights, the oldest of equal ones, see
    `TIED`.
    """
    lightest = 0
    min_length = math.inf
    for s in range(m):
        length = inner(weights[:, s], weights[:, s], len(weights))
        is_tied = abs(length - min_length) <= TIED * length
        if (length < min_length and not is_tied) or (is_tied and born[s] < born[lightest]):
            min_length = length
            lightest = s
    return lightest


def merged_length(h: float, exponent: float, aa: float, ab: float, bb: float) -> float:
    """Return the squared length of the projection of two weighted support vectors onto one at h of
    the way from b to a.

    Their kernel is exp(`exponent`); aa, ab and bb are the inner products of their weights. The
    kernel of the merged one is k^((1-h)^2) with a and k^(h^2) with b.
    """
    u = math.exp(exponent * (1.0 - h) * (1.0 - h))
    v = math.exp(exponent * h * h)
    return aa * u * u + 2.0 * ab * u * v + bb * v * v


def best_merge(exponent: float, aa: float, ab: float, bb: float) -> tuple[float, float]:
    """Return the h in [0, 1] of the longest projection (see `merged_length`), and its length, by
    golden section search.

    With two maxima, the search may end at the lower one; but both ends are tried as well, so
    merging never loses more than the removal of either support vector. Of equally long projections,
    see `TIED`, the search takes the one with the smaller h: two equal weights have maxima at h and
    1 - h, and round-off would choose. An end is taken if the search finds no longer one.
    """
    within = TIED * (aa + 2.0 * abs(ab) + bb)
    low = 0.0
    high = 1.0
    left = high - GOLDEN * (high - low)
    right = low + GOLDEN * (high - low)
    at_left = merged_length(left, exponent, aa, ab, bb)
    at_right = merged_length(right, exponent, aa, ab, bb)
    for _ in range(GOLDEN_STEPS):
        if at_left >= at_right - within:
            high = right
            right = left
            at_right = at_left
            left = high - GOLDEN * (high - low)
            at_left = merged_length(left, exponent, aa, ab, bb)
        else:
            low = left
            left = right
            at_left = at_right
            right = low + GOLDEN * (high - low)
            at_right = merged_length(right, exponent, aa, ab, bb)
    h = left
    length = at_left
    if at_right > length + within:
        h = right
        length = at_right
    at_a = merged_length(1.0, exponent, aa, ab, bb)
    at_b = merged_length(0.0, exponent, aa, ab, bb)
    if max(at_a, at_b) >= length - within:
        return (1.0, at_a) if at_a >= at_b - within else (0.0, at_b)
    return h, length


def best_partner(
    a: int, m: int, gamma: float, weights: Array, distances: Array
) -> tuple[int, float]:
    """Return the support vector with which merging `a` loses least, the first of equal ones (see
    `TIED`), and the h of `best_merge`.

    The loss is |w_a f_a + w_b f_b|^2 minus the squared length of the projection, summed over the
    outputs.
    """
    aa = inner(weights[:, a], weights[:, a], len(weights))
    partner = -1
    best_h = 0.0
    min_loss = math.inf
    for b in range(m):
        if b != a:
            ab = inner(weights[:, a], weights[:, b], len(weights))
            bb = inner(weights[:, b], weights[:, b], len(weights))
            exponent = -gamma * distances[a, b]
            h, length = best_merge(exponent, aa, ab, bb)
            loss = aa + 2.0 * ab * math.exp(exponent) + bb - length
            if loss < min_loss - TIED * (aa + 2.0 * abs(ab) + bb):
                partner = b
                best_h = h
                min_loss = loss
    return partner, best_h


def merge_into(a: int, b: int, h: float, m: int, gamma: float, support: SupportVectors) -> None:
    """Replace support vector `b` by z = h x_a + (1 - h) x_b, with the weights of the least loss.

    The squared distances of z follow from those of a and b: |z - s|^2 = h |a - s|^2 + (1-h) |b -
    s|^2 - h (1-h) |a - b|^2, and so does its norm.
    """
    columns, norms, weights, _, distances = support
    gap = distances[a, b]
    to_a = math.exp(-gamma * gap * (1.0 - h) * (1.0 - h))
    to_b = math.exp(-gamma * gap * h * h)
    for o in range(len(weights)):
        weights[o, b] = weights[o, a] * to_a + weights[o, b] * to_b
    for f in range(len(columns)):
        columns[f, b] = (1.0 - h) * columns[f, b] + h * columns[f, a]
    reduction = h * (1.0 - h) * gap
    norms[b] = max(0.0, h * norms[a] + (1.0 - h) * norms[b] - reduction)
    for s in range(m):
        distance = max(0.0, h * distances[a, s] + (1.0 - h) * distances[b, s] - reduction)
        distances[b, s] = distances[s, b] = distance
    distances[b, b] = 0.0


def remove_vector(a: int, m: int, support: SupportVectors) -> None:
    """Remove support vector `a` and move the last one to its position."""
    columns, norms, weights, born, distances = support
    last = m - 1
    norms[a] = norms[last]
    born[a] = born[last]
    for array in (columns, weights):
        array[:, a] = array[:, last]
        array[:, last] = 0.0
    distances[a, :last] = distances[last, :last]
    distances[:last, a] = distances[last, :last]
    distances[a, a] = 0.0


def distance_row(
    t: int, rows: SparseRows, m: int, norms: Array, columns: Array, out: Array
) -> None:
    """Write the squared distances between a sparse row and the support vectors.

    They are sums of squared differences; for features that the row lacks, these come from the
    squared norms.
    """
    inside = np.zeros(m)
    out[:m] = 0.0
    first = rows.indptr[t]
    last = rows.indptr[t + 1]
    for p in range(first, last):
        x = rows.data[p]
        row = columns[rows.indices[p]]
        for s in range(m):
            difference = x - row[s]
            out[s] += difference * difference
            inside[s] += row[s] * row[s]
    if last - first < len(columns):
        for s in range(m):
            out[s] += max(0.0, norms[s] - inside[s])


def rival(label: int, scores: Array) -> int:
    """Return the class with the largest score except `label`, the first of equal ones."""
    best = -1
    for o in range(len(scores)):
        if o != label and (best < 0 or scores[o] > scores[best]):
            best = o
    return best


def absorb_budgeted(
    position: int,
    step: int,
    m: int,
    rows: SparseRows,
    labels: Numbers,
    ridge: float,
    gamma: float,
    budget: int,
    merges: bool,
    support: SupportVectors,
) -> tuple[int, int, int, int]:
    """Learn sparse rows from `position` on by Algorithm 1 of Wang, Crammer and Vucetic (2012).

    After t steps the model is sum_s w_s k(x_s, .) / (ridge t), so shrinking all weights by 1 - 1/t
    does not change w, and a row that violates the margin joins with a weight of 1. `ridge` is
    lambda in the paper; labels are class numbers, 0 and 1 for a single output; `support` is changed
    in place. A support vector too many is merged with another one or, unless it `merges`, dropped.
    The status is `GROW` if the capacity does not suffice.
    """
    columns, norms, weights, born, distances = support
    n_outputs, capacity = weights.shape
    k = np.zeros(capacity)
    gaps = np.zeros(capacity)
    scores = np.zeros(n_outputs)
    t = position
    while True:
        if m > budget:
            a = least_weight(m, weights, born)
            if merges:
                b, h = best_partner(a, m, gamma, weights, distances)
                merge_into(a, b, h, m, gamma, support)
                born[b] = step
            remove_vector(a, m, support)
            m -= 1
        if t == len(labels):
            return t, step, m, DONE
        distance_row(t, rows, m, norms, columns, gaps)
        for s in range(m):
            k[s] = math.exp(-gamma * gaps[s])
        for o in range(n_outputs):
            scores[o] = inner(weights[o], k, m)
        label = labels[t]
        opponent = -1
        if n_outputs == 1:
            margin = scores[0] if label == 1 else -scores[0]
        else:
            opponent = rival(label, scores)
            margin = scores[label] - scores[opponent]
        if step == 0 or margin < ridge * step:
            slot = m
            for s in range(m):
                if gaps[s] == 0.0:
                    slot = s
                    break
            if slot == m:
                if m == capacity:
                    return t, step, m, GROW
                norm = 0.0
                for p in range(rows.indptr[t], rows.indptr[t + 1]):
                    columns[rows.indices[p], slot] = rows.data[p]
                    norm += rows.data[p] * rows.data[p]
                norms[slot] = norm
                born[slot] = step
                weights[:, slot] = 0.0
                distances[slot, :m] = gaps[:m]
                distances[:m, slot] = gaps[:m]
                distances[slot, slot] = 0.0
                m += 1
            if n_outputs == 1:
                weights[0, slot] += 1.0 if label == 1 else -1.0
            else:
                weights[label, slot] += 1.0
                weights[opponent, slot] -= 1.0
        step += 1
        t += 1


@dataclass
class BudgetedState:
    """Support vectors and their weights; the leading `size` entries are in use, at most `budget`.

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
        empty = np.zeros(0)
        weights = np.zeros((self.n_outputs, 0))
        columns = np.zeros((self.n_features, 0))
        born = np.zeros(0, np.int64)
        distances = np.zeros((0, 0))
        self.support = SupportVectors(columns, empty, weights, born, distances)

    def extend(self, X: Rows, labels: Numbers, ridge: float) -> None:
        """Learn rows `X`, dense or CSR, with the numbers of their classes, in their order.

        `ridge` is the lambda of the objective ridge |w|^2 / 2 + the mean hinge loss.
        """
        rows = sparse_rows(X)
        labels = loop_array(labels, np.int64)
        self.support = SupportVectors(*(loop_array(array, None) for array in self.support))
        position = 0
        status = GROW
        while status == GROW:
            self._reserve()
            position, self.step, self.size, status = run_compiled(
                absorb_budgeted, position, self.step, self.size, rows, labels,
                float(ridge), float(self.gamma), self.budget, self.merges, self.support,
            )  # fmt: skip

    def solution(self, ridge: float) -> Array:
        """Return the weights of the support vectors, of shape (size, n_outputs)."""
        return self.support.weights[:, : self.size].T / (ridge * max(1, self.step))

    def vectors(self) -> Array:
        """Return the support vectors, of shape (size, n_features)."""
        return np.ascontiguousarray(self.support.columns[:, : self.size].T)

    def _reserve(self) -> None:
        """Make room for one more support vector."""
        if self.size == len(self.support.norms):
            n = min(self.budget + 1, max(16, 2 * self.size))
            shapes = (self.n_features, n), (n,), (self.n_outputs, n), (n,), (n, n)
            self.support = SupportVectors(*map(enlarge, self.support, shapes))

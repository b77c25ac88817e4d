"""Budgeted stochastic gradient descent for support vector machines: kernel Pegasos with a budget of support vectors.

References
----------
Wang, Crammer, Vucetic, Breaking the curse of kernelization: Budgeted stochastic gradient descent for large-scale SVM
training, JMLR 13, 2012.
Shalev-Shwartz, Singer, Srebro, Pegasos: Primal estimated sub-gradient solver for SVM, ICML 2007.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from elmbench.numerics.arrays import Array
from elmbench.numerics.online.algebra import inner
from elmbench.numerics.online.loops import DONE, GROW, Numbers, SparseRows, enlarge, loop_array, run, sparse_rows
from elmbench.numerics.online.support_vectors import SupportVectors, best_partner, least_weight, merge_into, take_out
from elmbench.numerics.rows import Rows


def distance_row(t: int, rows: SparseRows, m: int, norms: Array, columns: Array, out: Array) -> None:
    """Write the squared distances between a sparse row and the support vectors.

    They are sums of squared differences; for features that the row lacks, these come from the squared norms.
    """
    inside = np.zeros(m)
    out[:m] = 0.0
    first, last = rows.indptr[t], rows.indptr[t + 1]
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
    held: SupportVectors,
) -> tuple[int, int, int, int]:
    """Learn sparse rows from `position` on by Algorithm 1 of Wang, Crammer and Vucetic (2012).

    After t steps the model is sum_s w_s k(x_s, .) / (ridge t), so shrinking all weights by 1 - 1/t does not change w,
    and a row that violates the margin joins with a weight of 1. `ridge` is lambda in the paper; labels are class
    numbers, 0 and 1 for a single output; `held` is changed in place. A support vector too many is merged with another
    one or, unless it `merges`, dropped. The status is `GROW` if the capacity does not
    suffice.
    """
    columns, norms, weights, born, distances = held
    n_outputs, capacity = weights.shape
    k, gaps, scores = np.zeros(capacity), np.zeros(capacity), np.zeros(n_outputs)
    t = position
    while True:
        if m > budget:
            a = least_weight(m, weights, born)
            if merges:
                b, h = best_partner(a, m, gamma, weights, distances)
                merge_into(a, b, h, m, gamma, held)
                born[b] = step
            take_out(a, m, held)
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
                norms[slot], born[slot] = norm, step
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

    The outputs are sum_s w_s k(x_s, x) / (ridge t) after t steps, with the kernel exp(-gamma d^2): one output for two
    classes, else one for each class.
    """

    n_features: int
    n_outputs: int
    gamma: float
    budget: int
    merges: bool = True
    size: int = 0
    step: int = 0
    held: SupportVectors = field(init=False)

    def __post_init__(self) -> None:
        empty, weights = np.zeros(0), np.zeros((self.n_outputs, 0))
        columns, born, distances = np.zeros((self.n_features, 0)), np.zeros(0, np.int64), np.zeros((0, 0))
        self.held = SupportVectors(columns, empty, weights, born, distances)

    def extend(self, X: Rows, labels: Numbers, ridge: float) -> None:
        """Learn rows `X`, dense or CSR, with the numbers of their classes, in their order.

        `ridge` is the lambda of the objective ridge |w|^2 / 2 + the mean hinge loss.
        """
        rows, labels = sparse_rows(X), loop_array(labels, np.int64)
        position, status = 0, GROW
        while status == GROW:
            self._reserve()
            position, self.step, self.size, status = run(
                absorb_budgeted, position, self.step, self.size, rows, labels,
                float(ridge), float(self.gamma), self.budget, self.merges, self.held,
            )  # fmt: skip

    def solution(self, ridge: float) -> Array:
        """Return the weights of the support vectors, of shape (size, n_outputs)."""
        return self.held.weights[:, : self.size].T / (ridge * max(1, self.step))

    def vectors(self) -> Array:
        """Return the support vectors, of shape (size, n_features)."""
        return np.ascontiguousarray(self.held.columns[:, : self.size].T)

    def _reserve(self) -> None:
        """Make room for one more support vector."""
        if self.size == len(self.held.norms):
            n = min(self.budget + 1, max(16, 2 * self.size))
            shapes = (self.n_features, n), (n,), (self.n_outputs, n), (n,), (n, n)
            self.held = SupportVectors(*map(enlarge, self.held, shapes))

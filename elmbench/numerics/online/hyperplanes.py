"""Stochastic gradient descent for linear support vector machines with one or several weights for each class.

Weights are the columns of a matrix, so products with a sparse row are sums of its rows. The last row has the
intercepts. All arrays have the weights along their last or only axis, of which the leading `m` are in use and the
others zero.

References
----------
Shalev-Shwartz, Singer, Srebro, Cotter, Pegasos: Primal estimated sub-gradient solver for SVM, Mathematical Programming
127(1), 2011.
Wang, Djuric, Crammer, Vucetic, Trading representability for scalability: adaptive multi-hyperplane machine for
nonlinear classification, KDD 2011.
"""

from dataclasses import dataclass, field

import numpy as np

from elmbench.numerics.arrays import Array
from elmbench.numerics.online.loops import DONE, GROW, Numbers, SparseRows, enlarged, loop_array, run, sparse_rows
from elmbench.numerics.rows import Rows


def add_row(sign: float, t: int, rows: SparseRows, constant: float, s: int, columns: Array) -> None:
    """Add a sparse row, with `constant` as the feature of the intercept, `sign` times to weight `s`."""
    for p in range(rows.indptr[t], rows.indptr[t + 1]):
        columns[rows.indices[p], s] += sign * rows.data[p]
    columns[len(columns) - 1, s] += sign * constant


def absorb_hyperplanes(
    position: int,
    step: int,
    m: int,
    rows: SparseRows,
    labels: Numbers,
    ridge: float,
    constant: float,
    limit: int,
    columns: Array,
    owners: Numbers,
    counts: Numbers,
) -> tuple[int, int, int, int]:
    """Learn sparse rows from `position` on by the online algorithm of Wang, Djuric, Crammer and Vucetic (2011).

    After t steps the weights are the columns divided by ridge t, so shrinking all weights by 1 - 1/t does not change
    the columns. A row that violates its margin is subtracted from the largest weight of the other classes, and added to
    the weight of its class with the largest output, or becomes a new weight if that is not positive. With one weight
    for each class, `limit` 1, this is Pegasos with the loss of Crammer and Singer.

    `labels`, of shape (n,), are class numbers, `constant` is the feature of the intercepts, and `limit` the largest
    number of weights of a class. `columns`, of shape (n_features + 1, capacity), holds the weights, `owners` their
    classes, and `counts` the number of weights of each class, at least one. The status is `GROW` if the capacity does
    not suffice.
    """
    capacity = len(owners)
    scores = np.zeros(capacity)
    for t in range(position, len(labels)):
        for s in range(m):
            scores[s] = constant * columns[len(columns) - 1, s]
        for p in range(rows.indptr[t], rows.indptr[t + 1]):
            x = rows.data[p]
            row = columns[rows.indices[p]]
            for s in range(m):
                scores[s] += x * row[s]
        label = labels[t]
        right = other = -1
        for s in range(m):
            if owners[s] != label:
                if other < 0 or scores[s] > scores[other]:
                    other = s
            elif right < 0 or scores[s] > scores[right]:
                right = s
        grows = scores[right] <= 0.0 and counts[label] < limit
        if step == 0 or scores[right] - scores[other] < ridge * step:
            if grows:
                if m == capacity:
                    return t, step, m, GROW
                right = m
                owners[right] = label
                counts[label] += 1
                m += 1
            add_row(1.0, t, rows, constant, right, columns)
            add_row(-1.0, t, rows, constant, other, columns)
        step += 1
    return len(labels), step, m, DONE


@dataclass
class HyperplaneState:
    """Weights of classes; their leading `size` columns are in use. Each class starts with one weight of zero.

    The output of a weight is (column . (x, constant)) / (ridge t) after t steps; that of a class is the largest of its
    weights. A class has at most `limit` weights. After every `prune_every` steps, the weights with the smallest norms
    are dropped, as long as their squared norms add up to at most (pruning / (ridge t))^2, but never the last one of a
    class. The arrays are those of `absorb_hyperplanes`.
    """

    n_features: int
    n_classes: int
    constant: float = 1.0
    limit: int = 1
    pruning: float = 0.0
    prune_every: int = 10_000
    size: int = 0
    step: int = 0
    columns: Array = field(init=False)
    owners: Numbers = field(init=False)
    counts: Numbers = field(init=False)

    def __post_init__(self) -> None:
        self.columns = np.zeros((self.n_features + 1, self.n_classes))
        self.owners, self.counts = np.arange(self.n_classes), np.ones(self.n_classes, np.int64)
        self.size = self.n_classes

    def extend(self, X: Rows, labels: Numbers, ridge: float) -> None:
        """Learn rows `X`, dense or CSR, with the numbers of their classes, in their order.

        `ridge` is the lambda of the objective ridge |W|^2 / 2 + the mean hinge loss of all weights W.
        """
        rows, labels, position = sparse_rows(X), loop_array(labels, np.int64), 0
        while position < len(labels):
            stop = min(len(labels), position + self.prune_every - self.step % self.prune_every)
            position, self.step, self.size, status = run(
                absorb_hyperplanes, position, self.step, self.size, rows, labels[:stop],
                float(ridge), float(self.constant), self.limit, self.columns, self.owners, self.counts,
            )  # fmt: skip
            if status == GROW:
                self._reserve()
            elif self.step % self.prune_every == 0:
                self._prune()

    def solution(self, ridge: float) -> tuple[Array, Array, Numbers]:
        """Return the weights, of shape (size, n_features), their intercepts and their classes, in ascending order."""
        order = np.argsort(self.owners[: self.size], kind="stable")
        weights = self.columns[:, order].T / (ridge * max(1, self.step))
        return np.ascontiguousarray(weights[:, :-1]), self.constant * weights[:, -1], self.owners[order]

    def _reserve(self) -> None:
        capacity = min(self.limit * self.n_classes, max(16, 2 * len(self.owners)))
        self.columns = enlarged(self.columns, (self.n_features + 1, capacity))
        self.owners = enlarged(self.owners, (capacity,))

    def _prune(self) -> None:
        """Drop small weights; the others keep their order."""
        norms = np.einsum("ij,ij->j", self.columns[:, : self.size], self.columns[:, : self.size])
        order = np.argsort(norms, kind="stable")
        selected = np.ones(self.size, bool)
        for s in order[np.cumsum(norms[order]) <= self.pruning**2]:
            if self.counts[self.owners[s]] > 1:
                self.counts[self.owners[s]] -= 1
                selected[s] = False
        left = np.flatnonzero(selected)
        for array in (self.columns, self.owners):
            array[..., : len(left)] = array[..., left]
        self.columns[:, len(left) : self.size] = 0.0
        self.size = len(left)

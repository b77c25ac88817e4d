"""Stochastic gradient descent for linear support vector machines with one or several weights for
each class.

Weights are the columns of a matrix, so products with a sparse row are sums of its rows. The last
row has the intercepts. All arrays have the weights along their last or only axis, of which the
leading `m` are in use and the others zero. (Wang, Djuric, Crammer, Vucetic, Trading
representability for scalability, KDD 2011.)
"""

from dataclasses import dataclass, field

import numpy as np

from elmbench.numerics.arrays import Array, Rows
from elmbench.numerics.compiled import run_compiled
from elmbench.numerics.online.loops import (
    DONE,
    GROW,
    Numbers,
    SparseRows,
    enlarge,
    loop_array,
    sparse_rows,
)

NOT_ASSIGNED = -1  # stands for the name of a weight where a row is assigned to none


def add_row(sign: float, t: int, rows: SparseRows, constant: float, s: int, columns: Array) -> None:
    """Add a sparse row, with `constant` as the feature of the intercept, `sign` times to weight
    `s`.
    """
    for p in range(rows.indptr[t], rows.indptr[t + 1]):
        columns[rows.indices[p], s] += sign * rows.data[p]
    columns[len(columns) - 1, s] += sign * constant


def absorb_hyperplanes(
    position: int,
    step: int,
    m: int,
    born: int,
    rows: SparseRows,
    labels: Numbers,
    assigned: Numbers,
    ridge: float,
    constant: float,
    limit: int,
    columns: Array,
    owners: Numbers,
    names: Numbers,
    counts: Numbers,
) -> tuple[int, int, int, int, int]:
    """Learn sparse rows from `position` on by the online algorithm of Wang, Djuric, Crammer and
    Vucetic (2011).

    After t steps the weights are the columns divided by ridge t, so shrinking all weights by 1 -
    1/t does not change the columns. A row that violates its margin is added to a weight of its
    class and subtracted from the largest weight of the others. With one weight for each class,
    `limit` 1, this is Pegasos with the loss of Crammer and Singer.

    `assigned` are names of weights: a row is added to that weight if it still exists, else to the
    weight of its class with the largest output, or it becomes a new weight if that is not positive.
    `constant` is the feature of the intercepts, `limit` the most weights of a class. `columns`
    holds the weights, `owners` and `names` their classes and names, `born` the name of the next
    one, and `counts` the number of weights of each class. The status is `GROW` if the capacity does
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
        right = opponent = target = -1
        for s in range(m):
            if owners[s] != label:
                if opponent < 0 or scores[s] > scores[opponent]:
                    opponent = s
            else:
                if right < 0 or scores[s] > scores[right]:
                    right = s
                if names[s] == assigned[t]:
                    target = s
        grows = target < 0 and scores[right] <= 0.0 and counts[label] < limit
        if target >= 0:
            right = target
        if step == 0 or scores[right] - scores[opponent] < ridge * step:
            if grows:
                if m == capacity:
                    return t, step, m, born, GROW
                right = m
                owners[right] = label
                names[right] = born
                counts[label] += 1
                born += 1
                m += 1
            add_row(1.0, t, rows, constant, right, columns)
            add_row(-1.0, t, rows, constant, opponent, columns)
        step += 1
    return len(labels), step, m, born, DONE


@dataclass
class HyperplaneState:
    """Weights of classes; their leading `size` columns are in use. Each class starts with one
    weight of zero.

    The output of a weight is (column . (x, constant)) / (ridge t) after t steps; that of a class is
    the largest of its weights. A class has at most `limit` weights. After every `prune_every`
    steps, the weights with the smallest norms are dropped, as long as their squared norms add up to
    at most (pruning / (ridge t))^2, but never the last one of a class. The arrays are those of
    `absorb_hyperplanes`.
    """

    n_features: int
    n_classes: int
    constant: float = 1.0
    limit: int = 1
    pruning: float = 0.0
    prune_every: int = 10_000
    size: int = 0
    step: int = 0
    born: int = 0
    columns: Array = field(init=False)
    owners: Numbers = field(init=False)
    names: Numbers = field(init=False)
    counts: Numbers = field(init=False)

    def __post_init__(self) -> None:
        self.columns = np.zeros((self.n_features + 1, self.n_classes))
        self.owners, self.names = np.arange(self.n_classes), np.arange(self.n_classes)
        self.counts = np.ones(self.n_classes, np.int64)
        self.size = self.born = self.n_classes

    def extend(
        self, X: Rows, labels: Numbers, ridge: float, assigned: Numbers | None = None
    ) -> None:
        """Learn rows `X`, dense or CSR, with the numbers of their classes, in their order.

        `ridge` is the lambda of the objective ridge |W|^2 / 2 + the mean hinge loss of all weights
        W. `assigned` is the result of `assign` for the rows; without it, each row is added to the
        weight of the largest output.
        """
        rows = sparse_rows(X)
        if assigned is None:
            assigned = np.full(len(labels), NOT_ASSIGNED)
        labels, assigned = (loop_array(a, np.int64) for a in (labels, assigned))
        for name in ("columns", "owners", "names", "counts"):
            setattr(self, name, loop_array(getattr(self, name), None))
        position = 0
        while position < len(labels):
            stop = min(len(labels), position + self.prune_every - self.step % self.prune_every)
            position, self.step, self.size, self.born, status = run_compiled(
                absorb_hyperplanes, position, self.step, self.size, self.born, rows, labels[:stop],
                assigned, float(ridge), float(self.constant), self.limit,
                self.columns, self.owners, self.names, self.counts,
            )  # fmt: skip
            if status == GROW:
                self._reserve()
            elif self.step % self.prune_every == 0:
                self._prune()

    def assign(self, X: Rows, labels: Numbers) -> Numbers:
        """Return, for each row, the name of the weight of its class with the largest output.

        If that is negative and the class has fewer than `limit` weights, the class gets a weight of
        zero, which is then the largest for all such rows.
        """
        mine = self.owners[np.newaxis, : self.size] == labels[:, np.newaxis]
        scores = np.where(mine, self.outputs(X), -np.inf)
        result = self.names[np.argmax(scores, axis=1)]
        negative = scores.max(axis=1) < 0
        for label in np.unique(labels[negative]):
            if self.counts[label] < self.limit:
                if self.size == len(self.owners):
                    self._reserve()
                self.owners[self.size], self.names[self.size] = label, self.born
                result[negative & (labels == label)] = self.born
                self.counts[label] += 1
                self.size += 1
                self.born += 1
        return result

    def outputs(self, X: Rows) -> Array:
        """Return the output of each weight for each row, of shape (n, size), times the ridge and
        number of steps.
        """
        outputs: Array = X @ self.columns[:-1, : self.size]
        outputs += self.constant * self.columns[-1, : self.size]
        return outputs

    def solution(self, ridge: float) -> tuple[Array, Array, Numbers]:
        """Return the weights, of shape (size, n_features), their intercepts and their classes, in
        ascending order.
        """
        order = np.argsort(self.owners[: self.size], kind="stable")
        weights = self.columns[:, order].T / (ridge * max(1, self.step))
        return (
            np.ascontiguousarray(weights[:, :-1]),
            self.constant * weights[:, -1],
            self.owners[order],
        )

    def _reserve(self) -> None:
        capacity = min(self.limit * self.n_classes, max(16, 2 * len(self.owners)))
        self.columns = enlarge(self.columns, (self.n_features + 1, capacity))
        self.owners, self.names = (enlarge(a, (capacity,)) for a in (self.owners, self.names))

    def _prune(self) -> None:
        """Drop small weights; the others keep their order and their names."""
        norms = np.einsum("ij,ij->j", self.columns[:, : self.size], self.columns[:, : self.size])
        order = np.argsort(norms, kind="stable")
        selected = np.ones(self.size, bool)
        for s in order[np.cumsum(norms[order]) <= self.pruning**2]:
            if self.counts[self.owners[s]] > 1:
                self.counts[self.owners[s]] -= 1
                selected[s] = False
        survivors = np.flatnonzero(selected)
        for array in (self.columns, self.owners, self.names):
            array[..., : len(survivors)] = array[..., survivors]
        self.columns[:, len(survivors) : self.size] = 0.0
        self.size = len(survivors)

"""Stochastic gradient descent for linear support vector machines with several weights for a class.

Weights are the columns of a matrix, so the product with a sparse row is a sum of rows of that
matrix. The last row has the intercepts. All arrays have the weights along their last or only axis;
the leading `m` are in use and the rest are zero. (Wang, Djuric, Crammer, Vucetic, Trading
representability for scalability, KDD 2011.)
"""

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
    loop_array,
    row_of,
    sparse_rows,
)

#: Stands for the name of a weight if a row is assigned to none.
NOT_ASSIGNED = -1


class HyperplaneRows(NamedTuple):
    """Sparse rows with their classes.

    Attributes
    ----------
    rows : SparseRows
    labels : ndarray of shape (n,)
        Class numbers.
    assigned : ndarray of shape (n,) or more
        Names of weights: a row is added to that weight if it still exists. Otherwise it is added to
        the weight of its class with the largest output, or becomes a new weight if that output is
        not positive.
    """

    rows: SparseRows
    labels: Numbers
    assigned: Numbers


class HyperplaneSettings(NamedTuple):
    """The parameters of stochastic gradient descent with several weights for each class.

    Attributes
    ----------
    ridge : float
        lambda in the paper.
    constant : float
        Feature of the intercepts.
    limit : int
        Largest number of weights of a class.
    """

    ridge: float
    constant: float
    limit: int


class HyperplaneCounters(NamedTuple):
    """The numbers that the loop changes.

    Attributes
    ----------
    position : int
        Row of the current call that is learnt next.
    step : int
        Number of rows so far.
    size : int
        Number of weights.
    born : int
        Name of the next new weight.
    """

    position: int
    step: int
    size: int
    born: int


class Hyperplanes(NamedTuple):
    """The weights of all classes.

    Attributes
    ----------
    columns : ndarray of shape (n_features + 1, capacity)
        The weights with their intercepts, times the ridge and the number of steps.
    owners, names : ndarrays of shape (capacity,)
        Their classes and names.
    counts : ndarray of shape (n_classes,)
        Number of weights of each class.
    """

    columns: Array
    owners: Numbers
    names: Numbers
    counts: Numbers


class ChosenWeights(NamedTuple):
    """The weights that a row is compared with; -1 for none.

    Attributes
    ----------
    right : int
        Weight of the row's class with the largest output.
    opponent : int
        Weight of a different class with the largest output.
    target : int
        Weight that the row is assigned to.
    """

    right: int
    opponent: int
    target: int


def add_row(sign: float, row: SparseRow, constant: float, column: Array) -> None:
    """Add a row, with the constant feature, times `sign` to a weight, in place.

    `column`: the weight, of shape (n_features + 1,), whose last entry is the intercept.
    """
    for p in range(len(row.features)):
        column[row.features[p]] += sign * row.values[p]
    column[len(column) - 1] += sign * constant


def write_scores(
    row: SparseRow, m: int, constant: float, columns: Array, scores: Array
) -> None:
    """Write the output of each of the leading `m` weights for a row to `scores[:m]`.

    `columns`: the weights, of shape (n_features + 1, capacity), the intercepts in the last row.
    `constant`: the feature of the intercepts. The outputs are times the ridge and the number of
    steps, as the columns are.
    """
    last = len(columns) - 1
    intercepts = columns[last]
    for s in range(m):
        scores[s] = constant * intercepts[s]
    for p in range(len(row.features)):
        x = row.values[p]
        weights = columns[row.features[p]]
        for s in range(m):
            scores[s] += x * weights[s]


def choose_weights(
    label: int, name: int, m: int, scores: Array, planes: Hyperplanes
) -> ChosenWeights:
    """Return the indices of the weights that a row of the class `label` is compared with.

    These are the weights with the largest output of its class and of the other classes, and the one
    of its class that is called `name`, each -1 if there is none. `scores`: the outputs of the
    leading `m` weights for the row. The first of equal outputs is taken.
    """
    right = -1
    opponent = -1
    target = -1
    for s in range(m):
        if planes.owners[s] != label:
            if opponent < 0 or scores[s] > scores[opponent]:
                opponent = s
        else:
            if right < 0 or scores[s] > scores[right]:
                right = s
            if planes.names[s] == name:
                target = s
    return ChosenWeights(right=right, opponent=opponent, target=target)


def absorb_hyperplanes(
    counters: HyperplaneCounters,
    batch: HyperplaneRows,
    settings: HyperplaneSettings,
    planes: Hyperplanes,
) -> tuple[HyperplaneCounters, int]:
    """Learn the rows from `counters.position` on, in their order; change `planes` in place.

    Only the first row of all and rows that violate their margin change weights. Such a row is added
    to the weight of its class that `batch.assigned` names, if there is one. Otherwise it is added
    to the weight of its class with the largest output, or becomes a new weight if that output is
    not positive and the class has fewer than `limit`. It is subtracted from the weight of the other
    classes with the largest output. After t steps the weights are the columns divided by ridge t,
    so shrinking all weights by 1 - 1/t does not change the columns. With one weight for each class,
    `limit` 1, this is Pegasos with the loss of Crammer and Singer.

    Returns
    -------
    counters : HyperplaneCounters
        The new position, step, size and name of the next weight.
    status : int
        `DONE`, or `GROW` if the capacity does not suffice for the next row.
    """
    # Wang, Djuric, Crammer and Vucetic (2011), the online algorithm.
    position, step, m, born = counters
    rows = batch.rows
    constant = settings.constant
    columns = planes.columns
    capacity = len(planes.owners)
    scores = np.zeros(capacity)
    status = DONE
    t = position
    while t < len(batch.labels):
        row = row_of(t, rows)
        write_scores(row, m, constant, columns, scores)
        label = batch.labels[t]
        right, opponent, target = choose_weights(
            label, batch.assigned[t], m, scores, planes
        )
        may_grow = planes.counts[label] < settings.limit
        grows = target < 0 and scores[right] <= 0.0 and may_grow
        if target >= 0:
            right = target
        # The margin 1 of the weights, times the ridge and the number of steps.
        difference = scores[right] - scores[opponent]
        margin = settings.ridge * step
        if step == 0 or difference < margin:
            if grows:
                if m == capacity:
                    status = GROW
                    break
                right = m
                planes.owners[right] = label
                planes.names[right] = born
                planes.counts[label] += 1
                born += 1
                m += 1
            add_row(1.0, row, constant, columns[:, right])
            add_row(-1.0, row, constant, columns[:, opponent])
        step += 1
        t += 1
    return HyperplaneCounters(t, step, m, born), status


@dataclass
class HyperplaneState:
    """Weights of classes, in the leading `size` columns.

    Each class starts with one weight of zero. After t steps, the output of a weight is
    (column . (x, constant)) / (ridge t); that of a class is the largest of its weights. A class has
    at most `limit` weights. After every `prune_every` steps, the weights with the smallest norms
    are dropped, as long as their squared norms add up to at most (pruning / (ridge t))^2, but never
    the last one of a class. The arrays are those of `Hyperplanes`.
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
        """Give each class one weight of zero, with the number of the class as its name."""
        n_classes = self.n_classes
        n_rows = self.n_features + 1
        # One weight of zero for each class, with the number of the class as its name.
        self.columns = np.zeros((n_rows, n_classes))
        self.owners = np.arange(n_classes)
        self.names = np.arange(n_classes)
        self.counts = np.ones(n_classes, np.int64)
        self.size = n_classes
        self.born = n_classes

    def extend(
        self, X: Rows, labels: Numbers, ridge: float, assigned: Numbers | None = None
    ) -> None:
        """Learn rows `X`, dense or CSR of shape (n, n_features), in their order.

        Only the first row of all and rows within their margin change weights: the output of a
        weight of their class exceeds the largest output of the other classes by less than 1. Such a
        row is added to that weight and subtracted from the weight with the largest output of the
        other classes. The weight of its class is the one that `assigned` names, if it still exists.
        Otherwise it is the one with the largest output; if this output is not positive and the
        class has fewer than `limit` weights, the row becomes a new weight instead. After every
        `prune_every` rows, small weights are dropped.

        `labels`: class numbers, of shape (n,). `ridge`: the lambda of the objective ridge |W|^2 / 2
        + the mean hinge loss of all weights W. `assigned`: the names that `assign` returned for the
        rows, of shape (n,); None for none.
        """
        rows = sparse_rows(X)
        if assigned is None:
            assigned = np.full(len(labels), NOT_ASSIGNED)
        labels = loop_array(labels, np.int64)
        assigned = loop_array(assigned, np.int64)
        for name in ("columns", "owners", "names", "counts"):
            setattr(self, name, loop_array(getattr(self, name), None))
        settings = HyperplaneSettings(
            ridge=float(ridge), constant=float(self.constant), limit=self.limit
        )
        position = 0
        while position < len(labels):
            until_pruning = self.prune_every - self.step % self.prune_every
            stop = min(len(labels), position + until_pruning)
            counters = HyperplaneCounters(
                position=position, step=self.step, size=self.size, born=self.born
            )
            batch = HyperplaneRows(rows=rows, labels=labels[:stop], assigned=assigned)
            planes = Hyperplanes(
                columns=self.columns,
                owners=self.owners,
                names=self.names,
                counts=self.counts,
            )
            counters, status = run_compiled(
                absorb_hyperplanes, counters, batch, settings, planes
            )
            position = counters.position
            self.step = counters.step
            self.size = counters.size
            self.born = counters.born
            if status == GROW:
                self._reserve()
            elif self.step % self.prune_every == 0:
                self._prune()

    def assign(self, X: Rows, labels: Numbers) -> Numbers:
        """Return, for each row, the name of the weight of its class with the largest output, (n,).

        `labels`: class numbers, of shape (n,). If the largest output is negative and the class has
        fewer than `limit` weights, the state gets a weight of zero for this class, and all such
        rows of the class get its name.
        """
        owners = self.owners[: self.size]
        is_own_class = owners[np.newaxis] == labels[:, np.newaxis]
        # Weights of other classes are never the largest.
        outputs = self.outputs(X)
        scores = np.where(is_own_class, outputs, -np.inf)
        best = np.argmax(scores, axis=1)
        names = self.names[best]
        # Rows whose largest output is negative.
        largest = scores.max(axis=1)
        negative = largest < 0
        for label in np.unique(labels[negative]):
            if self.counts[label] < self.limit:
                is_of_label = labels == label
                needs_weight = negative & is_of_label
                names[needs_weight] = self._new_weight(label)
        return names

    def _new_weight(self, label: int) -> int:
        """Add a weight of zero to the class with the number `label`; return the weight's name."""
        if self.size == len(self.owners):
            self._reserve()
        name = self.born
        self.owners[self.size] = label
        self.names[self.size] = name
        self.counts[label] += 1
        self.size += 1
        self.born += 1
        return name

    def outputs(self, X: Rows) -> Array:
        """Return the output of each weight for each row, of shape (n, size).

        The outputs are times the ridge and the number of steps. `X`: dense or CSR, of shape (n,
        n_features).
        """
        outputs: Array = X @ self.columns[:-1, : self.size]
        outputs += self.constant * self.columns[-1, : self.size]
        return outputs

    def solution(self, ridge: float) -> tuple[Array, Array, Numbers]:
        """Return the weights, their intercepts and the numbers of their classes.

        They are of shape (size, n_features), (size,) and (size,), in the order of the classes.
        `ridge` is lambda.
        """
        owners = self.owners[: self.size]
        order = np.argsort(owners, kind="stable")
        # A weight is its column over ridge t.
        n_steps = max(1, self.step)
        scale = ridge * n_steps
        by_class = self.columns[:, order].T
        scaled = by_class / scale
        # The last feature of each is that of the intercepts.
        features = scaled[:, :-1]
        last = scaled[:, -1]
        weights = np.ascontiguousarray(features)
        intercepts = self.constant * last
        return weights, intercepts, owners[order]

    def _reserve(self) -> None:
        """Enlarge the arrays for twice as many weights, or 16 if that is more.

        Their capacity is at most `limit` times the number of classes.
        """
        n_rows = self.n_features + 1
        # Twice as many weights, up to the limit of all classes.
        most = self.limit * self.n_classes
        present = len(self.owners)
        doubled = max(16, 2 * present)
        capacity = min(most, doubled)
        shape = (capacity,)
        self.columns = enlarge(self.columns, (n_rows, capacity))
        self.owners = enlarge(self.owners, shape)
        self.names = enlarge(self.names, shape)

    def _prune(self) -> None:
        """Drop the smallest weights: their squared norms add up to at most `pruning`^2.

        The norms are those of the columns. The last weight of a class stays. The others keep their
        order and their names.
        """
        columns = self.columns[:, : self.size]
        squared_norms = np.einsum("ij,ij->j", columns, columns)
        ascending = np.argsort(squared_norms, kind="stable")
        # The smallest weights as long as their squared norms add up to the threshold.
        sums = np.cumsum(squared_norms[ascending])
        is_small = sums <= self.pruning**2
        small = ascending[is_small]
        survives = np.ones(self.size, bool)
        for s in small:
            owner = self.owners[s]
            if self.counts[owner] > 1:
                self.counts[owner] -= 1
                survives[s] = False
        # The survivors move to the front.
        survivors = np.flatnonzero(survives)
        size = len(survivors)
        for array in (self.columns, self.owners, self.names):
            array[..., :size] = array[..., survivors]
        columns[:, size:] = 0.0
        self.size = size

"""The loop over rows of stochastic gradient descent for linear weights, one or several for each class.

Weights are the columns of a matrix, so products with a sparse row are sums of its rows. The last row has the
intercepts. All arrays have the weights along their last or only axis, of which the leading `m` are in use and the
others zero.
"""

import numpy as np

from elmbench.numerics.arrays import Array
from elmbench.numerics.online.budget_loop import Numbers, SparseRows
from elmbench.numerics.online.rank_one import DONE, GROW

NOT_ASSIGNED = -1
"""Stands for the name of a weight where a row is assigned to none."""


def add_row(sign: float, t: int, rows: SparseRows, constant: float, s: int, columns: Array) -> None:
    """Add a sparse row, with `constant` as the feature of the intercept, `sign` times to weight `s`."""
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
    """Learn sparse rows from `position` on by the online algorithm of Wang, Djuric, Crammer and Vucetic (2011).

    After t steps the weights are the columns divided by ridge t, so shrinking all weights by 1 - 1/t does not change
    the columns. A row that violates its margin is added to a weight of its class and subtracted from the largest weight
    of the others. With one weight for each class, `limit` 1, this is Pegasos with the loss of Crammer and Singer.

    `labels` and `assigned`, of shape (n,), are class numbers and names of weights. An assigned row is added to that
    weight if it still exists. Any other row is added to the weight of its class with the largest output, or becomes a
    new weight if that is not positive. `constant` is the feature of the intercepts, `limit` the largest number of
    weights of a class. `columns`, of shape (n_features + 1, capacity), holds the weights, `owners` and `names` their
    classes and names, and `counts` the number of weights of each class, at least one.

    Returns position, step, m, born (the name of the next weight) and a status: `GROW` if the capacity does not suffice.
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
        right = other = held = -1
        for s in range(m):
            if owners[s] != label:
                if other < 0 or scores[s] > scores[other]:
                    other = s
            else:
                if right < 0 or scores[s] > scores[right]:
                    right = s
                if names[s] == assigned[t]:
                    held = s
        grows = held < 0 and scores[right] <= 0.0 and counts[label] < limit
        if held >= 0:
            right = held
        if step == 0 or scores[right] - scores[other] < ridge * step:
            if grows:
                if m == capacity:
                    return t, step, m, born, GROW
                right = m
                owners[right], names[right] = label, born
                counts[label] += 1
                born += 1
                m += 1
            add_row(1.0, t, rows, constant, right, columns)
            add_row(-1.0, t, rows, constant, other, columns)
        step += 1
    return len(labels), step, m, born, DONE

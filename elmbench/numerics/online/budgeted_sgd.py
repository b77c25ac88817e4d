"""Budgeted stochastic gradient descent for support vector machines: kernel Pegasos with a budget of support vectors.

References
----------
Wang, Crammer, Vucetic, Breaking the curse of kernelization: Budgeted stochastic gradient descent for large-scale SVM
training, JMLR 13, 2012.
Shalev-Shwartz, Singer, Srebro, Pegasos: Primal estimated sub-gradient solver for SVM, ICML 2007.
"""

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from elmbench.numerics.arrays import Array
from elmbench.numerics.centres import Rows
from elmbench.numerics.online.budget_loop import MERGING, PROJECTION, REMOVAL, Numbers, SupportVectors
from elmbench.numerics.online.buffers import enlarged, loop_array, sparse_rows
from elmbench.numerics.online.jit import run
from elmbench.numerics.online.rank_one import GROW

MAINTENANCE = {"merging": MERGING, "projection": PROJECTION, "removal": REMOVAL}
"""Ways to treat a support vector that is one too many, by name."""


@dataclass
class BudgetedState:
    """Support vectors and their weights; the leading `size` entries are in use, never more than `budget`.

    The outputs are sum_s w_s k(x_s, x) / (ridge t) after t steps, with the kernel exp(-gamma d^2): one output for two
    classes, else one a class. The arrays are those of `elmbench.numerics.online.budget_loop.absorb_budgeted`.
    """

    n_features: int
    n_outputs: int
    gamma: float
    budget: int
    maintenance: str = "merging"
    size: int = 0
    step: int = 0
    columns: Array = field(init=False)
    features: Numbers = field(init=False)
    filled: Numbers = field(init=False)
    norms: Array = field(init=False)
    weights: Array = field(init=False)
    born: Numbers = field(init=False)
    distances: Array = field(init=False)

    def __post_init__(self) -> None:
        self.columns, self.distances = np.zeros((self.n_features, 0)), np.zeros((0, 0))
        self.features, self.filled = np.zeros((0, 0), np.int64), np.zeros(0, np.int64)
        self.norms, self.weights, self.born = np.zeros(0), np.zeros((self.n_outputs, 0)), np.zeros(0, np.int64)

    def extend(self, X: Rows, labels: Numbers, ridge: float) -> None:
        """Learn rows `X`, dense or CSR, with the numbers of their classes, in the order in which they stand.

        The numbers are 0 and 1 for a single output. `ridge` is the lambda of the objective ridge |w|^2 / 2 + the mean
        hinge loss.
        """
        rows, labels = sparse_rows(X), loop_array(labels, np.int64)
        marks = np.zeros(self.n_features, np.int64)
        position, status = 0, GROW
        while status == GROW:
            self._reserve(int(np.diff(rows.indptr).max(initial=1)))
            held = SupportVectors(
                self.columns, self.features, self.filled, marks, self.norms, self.weights, self.born, self.distances
            )
            position, self.step, self.size, status = run(
                "absorb_budgeted", position, self.step, self.size, rows, labels,
                float(ridge), float(self.gamma), self.budget, MAINTENANCE[self.maintenance], held,
            )  # fmt: skip

    def solution(self, ridge: float) -> Array:
        """Return the weights of the support vectors, of shape (size, n_outputs)."""
        return self.weights[:, : self.size].T / (ridge * max(1, self.step))

    def dense_vectors(self) -> Array:
        """Return the support vectors, of shape (size, n_features)."""
        return np.ascontiguousarray(self.columns[:, : self.size].T)

    def sparse_vectors(self) -> sp.csr_matrix:
        """Return the support vectors as a CSR matrix."""
        counts = self.filled[: self.size]
        slots = np.repeat(np.arange(self.size), counts)
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        features = self.features[slots, within]
        shape = (self.size, self.n_features)
        vectors = sp.csr_matrix((self.columns[features, slots], features, np.r_[0, np.cumsum(counts)]), shape=shape)
        vectors.sort_indices()
        return vectors

    def _reserve(self, longest: int) -> None:
        """Make room for one more support vector, and for the features of a row and of any two that are merged."""
        capacity = len(self.norms)
        if self.size == capacity:
            capacity = min(self.budget + 1, max(16, 2 * capacity))
        width = max(self.features.shape[1], longest, 2 * int(self.filled.max(initial=0)))
        width = min(width, self.n_features)
        if (capacity, width) == self.features.shape:
            return
        self.columns = enlarged(self.columns, (self.n_features, capacity))
        self.features = enlarged(self.features, (capacity, width))
        self.weights = enlarged(self.weights, (self.n_outputs, capacity))
        self.distances = enlarged(self.distances, (capacity, capacity))
        self.filled, self.norms, self.born = (enlarged(a, (capacity,)) for a in (self.filled, self.norms, self.born))

"""Budgeted stochastic gradient descent for support vector machines: kernel Pegasos with a budget of support vectors.

References
----------
Wang, Crammer, Vucetic, Breaking the curse of kernelization: Budgeted stochastic gradient descent for large-scale SVM
training, JMLR 13, 2012.
Shalev-Shwartz, Singer, Srebro, Pegasos: Primal estimated sub-gradient solver for SVM, ICML 2007.
"""

from dataclasses import dataclass, field

import numpy as np

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
    """Support vectors and their weights; the leading `size` entries are in use, at most `budget`.

    The outputs are sum_s w_s k(x_s, x) / (ridge t) after t steps, with the kernel exp(-gamma d^2): one output for two
    classes, else one for each class. The arrays are those of `elmbench.numerics.online.budget_loop.absorb_budgeted`.
    """

    n_features: int
    n_outputs: int
    gamma: float
    budget: int
    maintenance: str = "merging"
    size: int = 0
    step: int = 0
    columns: Array = field(init=False)
    norms: Array = field(init=False)
    weights: Array = field(init=False)
    born: Numbers = field(init=False)
    distances: Array = field(init=False)

    def __post_init__(self) -> None:
        self.columns, self.distances = np.zeros((self.n_features, 0)), np.zeros((0, 0))
        self.norms, self.weights, self.born = np.zeros(0), np.zeros((self.n_outputs, 0)), np.zeros(0, np.int64)

    def extend(self, X: Rows, labels: Numbers, ridge: float) -> None:
        """Learn rows `X`, dense or CSR, with the numbers of their classes, in their order.

        The numbers are 0 and 1 for a single output. `ridge` is the lambda of the objective ridge |w|^2 / 2 + the mean
        hinge loss.
        """
        rows, labels = sparse_rows(X), loop_array(labels, np.int64)
        position, status = 0, GROW
        while status == GROW:
            self._reserve()
            held = SupportVectors(self.columns, self.norms, self.weights, self.born, self.distances)
            position, self.step, self.size, status = run(
                "absorb_budgeted", position, self.step, self.size, rows, labels,
                float(ridge), float(self.gamma), self.budget, MAINTENANCE[self.maintenance], held,
            )  # fmt: skip

    def solution(self, ridge: float) -> Array:
        """Return the weights of the support vectors, of shape (size, n_outputs)."""
        return self.weights[:, : self.size].T / (ridge * max(1, self.step))

    def vectors(self) -> Array:
        """Return the support vectors, of shape (size, n_features)."""
        return np.ascontiguousarray(self.columns[:, : self.size].T)

    def _reserve(self) -> None:
        """Make room for one more support vector."""
        if self.size < len(self.norms):
            return
        capacity = min(self.budget + 1, max(16, 2 * self.size))
        self.columns = enlarged(self.columns, (self.n_features, capacity))
        self.weights = enlarged(self.weights, (self.n_outputs, capacity))
        self.distances = enlarged(self.distances, (capacity, capacity))
        self.norms, self.born = (enlarged(a, (capacity,)) for a in (self.norms, self.born))

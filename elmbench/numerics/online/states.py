"""Kernel recursive least squares, learnt row by row: with all rows, a fixed budget, or approximate dependency.

Each is a state that grows by `extend`. The state is a pure function of the rows and their order: it does not depend
on how they were cut into calls.

References
----------
Scardapane et al., Online Sequential Extreme Learning Machine With Kernels, Table I and section IV.
Van Vaerenbergh, Santamaria, Liu, Principe, Fixed-budget kernel recursive least-squares, ICASSP 2010.
Engel, Mannor, Meir, The kernel recursive least-squares algorithm, IEEE Trans. Signal Process. 52 (2004), Table 1.
"""

import sys
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import lapack

from elmbench.numerics.arrays import EPS, Array
from elmbench.numerics.online.jit import run
from elmbench.numerics.online.rank_one import DONE, DRIFT, GROW
from elmbench.numerics.solve import mirror

NO_GRAM: Array = np.empty((0, 0))
"""Stands for: compute the kernel from the rows."""

UNLIMITED = sys.maxsize
"""The budget, or the number of atoms, that no dictionary reaches."""

KERNELS = ("rbf",)
"""Kernels that the loops compute."""


@dataclass
class InverseState:
    """The dictionary, weights and inverse of K + ridge I, of which the leading `size` entries are in use.

    The ridge is 1/C, the kernel exp(-gamma d^2), and no more rows than `budget` are kept. `gram` is a kernel matrix of
    shape (n_all, n_all) computed before, by `kernel_square`, if any; rows are then their numbers in it, in one column.
    """

    n_features: int
    n_outputs: int
    ridge: float
    gamma: float
    budget: int = UNLIMITED
    gram: Array = field(default_factory=lambda: NO_GRAM, repr=False)
    size: int = 0
    seen: int = 0
    age: int = UNLIMITED // 2  # rows since the inverse was computed from scratch; that is allowed at once
    doubtful: int = -1  # number of rows up to which the inverse is not to be trusted
    dictionary: Array = field(init=False, default_factory=lambda: NO_GRAM)
    targets: Array = field(init=False, default_factory=lambda: NO_GRAM)
    weights: Array = field(init=False, default_factory=lambda: NO_GRAM)
    inverse: Array = field(init=False, default_factory=lambda: NO_GRAM)

    def __post_init__(self) -> None:
        self._reserve(0)

    def extend(self, X: Array, T: Array) -> None:
        """Learn rows X, of shape (n, n_features), and T, of shape (n, n_outputs), in the order in which they stand."""
        X, T = _writable(X), _writable(T)
        wanted = min(self.budget, self.size + len(X))
        if wanted > len(self.inverse):
            self._reserve(max(wanted, min(self.budget, 2 * len(self.inverse))))
        position = 0
        while position < len(X):
            position, self.size, self.seen, self.age, self.doubtful, status = run(
                "absorb", position, X, T, self.gram, self.gamma, self.ridge, self.budget,
                self.size, self.seen, self.age, self.doubtful,
                self.dictionary, self.targets, self.weights, self.inverse,
            )  # fmt: skip
            if status == DRIFT:
                m = self.size
                self.inverse[:m, :m], weights = self._from_scratch()
                self.weights[:, :m] = weights.T
                self.age = 0

    def solution(self) -> Array:
        """Return the weights, of shape (size, n_outputs).

        Those of the state itself, unless round-off was seen to matter in the last rows. Then they are computed from
        scratch, and the state stays as it is: what is learnt next must not depend on who looked.
        """
        return self._from_scratch()[1] if self._spoilt else self.weights[:, : self.size].T.copy()

    def inverse_matrix(self) -> Array:
        """Return the inverse of K + ridge I on the dictionary, with the care that `solution` takes."""
        return self._from_scratch()[0] if self._spoilt else self.inverse[: self.size, : self.size]

    def serves(self, other: "InverseState") -> bool:
        """Return whether `other`, which has learnt nothing yet, would learn the same from the same rows."""
        return self.ridge == other.ridge and min(self.budget, self.seen) == min(other.budget, self.seen)

    @property
    def _spoilt(self) -> bool:
        return self.seen <= self.doubtful

    def _reserve(self, capacity: int) -> None:
        self.dictionary = _enlarged(self.dictionary, (self.n_features, capacity))
        self.targets = _enlarged(self.targets, (self.n_outputs, capacity))
        self.weights = _enlarged(self.weights, (self.n_outputs, capacity))
        self.inverse = _enlarged(self.inverse, (capacity, capacity))

    def _from_scratch(self) -> tuple[Array, Array]:
        targets = self.targets[:, : self.size].T
        return solve_from_scratch(self.dictionary[:, : self.size], targets, self.gamma, self.ridge, self.gram)


@dataclass
class DependencyState:
    """The dictionary of approximately independent rows, a factor of its K, and the least-squares fit on it.

    A row joins the dictionary, as long as that has less than `max_atoms`, where its squared distance from the span of
    the dictionary exceeds `threshold`. The kernel and `gram` are as in `InverseState`.
    """

    n_features: int
    n_outputs: int
    threshold: float
    gamma: float
    max_atoms: int = UNLIMITED
    gram: Array = field(default_factory=lambda: NO_GRAM, repr=False)
    size: int = 0
    bracket: Array = field(default_factory=lambda: np.array([0.0, np.inf]))
    dictionary: Array = field(init=False, default_factory=lambda: NO_GRAM)
    fitted: Array = field(init=False, default_factory=lambda: NO_GRAM)
    factor: Array = field(init=False, default_factory=lambda: NO_GRAM)
    covariance: Array = field(init=False, default_factory=lambda: NO_GRAM)

    def __post_init__(self) -> None:
        self._reserve(0)

    @property
    def ridge(self) -> float:
        """What is added to the diagonal of K: nothing."""
        return 0.0

    def extend(self, X: Array, T: Array) -> None:
        """Learn rows in the order in which they stand; see `InverseState.extend`."""
        X, T = _writable(X), _writable(T)
        position, status = 0, GROW if len(self.factor) == 0 else DONE
        while position < len(X):
            if status == GROW:
                self._reserve(min(self.max_atoms, max(64, 2 * len(self.factor))))
            position, self.size, status = run(
                "absorb_ald", position, X, T, self.gram, self.gamma, self.threshold, self.max_atoms,
                self.size, self.bracket, self.dictionary, self.fitted, self.factor, self.covariance,
            )  # fmt: skip

    def solution(self) -> Array:
        """Return the weights K^-1 c, of shape (size, n_outputs)."""
        if self.size == 0:
            return np.zeros((0, self.n_outputs))
        weights, _ = lapack.dpotrs(self._lower(), self.fitted[:, : self.size].T, lower=1)
        return weights

    def inverse_matrix(self) -> Array:
        """Return the inverse of K on the dictionary, of shape (size, size)."""
        inverse, _ = lapack.dpotri(self._lower(), lower=1)
        mirror(inverse)
        return inverse

    def serves(self, other: "DependencyState") -> bool:
        """Return whether `other`, which has learnt nothing yet, would learn the same from the same rows."""
        return self.max_atoms == other.max_atoms and self.bracket[0] <= other.threshold < self.bracket[1]

    def _lower(self) -> Array:
        return np.asfortranarray(self.factor[: self.size, : self.size])

    def _reserve(self, capacity: int) -> None:
        self.dictionary = _enlarged(self.dictionary, (self.n_features, capacity))
        self.fitted = _enlarged(self.fitted, (self.n_outputs, capacity))
        self.factor = _enlarged(self.factor, (capacity, capacity))
        self.covariance = _enlarged(self.covariance, (capacity, capacity))


def kernel_square(X: Array, gamma: float, gram: Array = NO_GRAM) -> Array:
    """Return the kernel of the rows of `X`, or of those that they number in `gram`, to the last bit as in the loops."""
    out = np.empty((len(X), len(X)))
    run("kernel_square", np.array(X.T, order="C"), len(X), float(gamma), gram, np.empty(X.shape[1]), out)
    return out


def solve_from_scratch(
    dictionary: Array, targets: Array, gamma: float, ridge: float, gram: Array = NO_GRAM
) -> tuple[Array, Array]:
    """Return the inverse of K + ridge I, exactly symmetric, and its product with the targets, by Cholesky.

    Where that matrix is not positive definite in floating point, n times the machine precision is added to its
    diagonal, and ten times more until it is. The dictionary, of shape (n_features, n), holds rows as columns; targets
    are of shape (n, n_outputs); for `gram` see `kernel_square`.
    """
    regularised = kernel_square(dictionary.T, gamma, gram)
    diagonal = np.einsum("ii->i", regularised)
    diagonal += ridge
    jitter = len(regularised) * EPS
    factor, info = lapack.dpotrf(regularised, lower=1)
    while info != 0:
        diagonal += jitter
        jitter *= 10.0
        factor, info = lapack.dpotrf(regularised, lower=1)
    weights, _ = lapack.dpotrs(factor, targets, lower=1)
    inverse, _ = lapack.dpotri(factor, lower=1)
    mirror(inverse)
    return inverse, weights


def _writable(array: Array) -> Array:
    """Return the array as the loops were compiled for it: C-ordered, float64 and writable, a copy only if needed."""
    return np.require(array, dtype=np.float64, requirements=["C", "W"])


def _enlarged(array: Array, shape: tuple[int, int]) -> Array:
    larger = np.zeros(shape)
    larger[: array.shape[0], : array.shape[1]] = array
    return larger

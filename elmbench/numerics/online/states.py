"""Kernel recursive least squares, row by row: with all rows, a fixed budget, or approximate
dependency.

Each is a state that grows by `extend`. It depends on the rows and their order only, not on their
division into calls. The papers are those of the loops, see `elmbench.numerics.online.kernel_loops`.
"""

import sys
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack
from scipy.spatial.distance import cdist

from elmbench.numerics.arrays import EPS, Array, Rows
from elmbench.numerics.compiled import run_compiled
from elmbench.numerics.kernels import kernel_matrix, rbf_from_distances
from elmbench.numerics.online.kernel_loops import (
    DependencyArrays,
    DependencySettings,
    InverseArrays,
    InverseCounters,
    InverseSettings,
    Samples,
    absorb,
    absorb_ald,
)
from elmbench.numerics.online.loops import DONE, DRIFT, GROW, enlarge, loop_array
from elmbench.numerics.pairwise import Kernel
from elmbench.numerics.solve import mirror

PIECE = 256  # rows that are learnt from a kernel matrix at a time, or as many as the dictionary has
# The budget, or the number of atoms, that no dictionary reaches.
UNLIMITED = sys.maxsize

# On the diagonal, over its largest entry, before a kernel matrix counts as indefinite.
LARGEST_JITTER = EPS**0.5

INDEFINITE = (
    "kernel: expected one that is positive semi-definite, got a kernel matrix with negative "
    "eigenvalues instead"
)


@dataclass
class _OnlineState:
    """Base class of the online learners: a growing dictionary of rows, the leading `size` columns
    of an array.

    Without `kernel`, the kernel is exp(-gamma d^2), `dictionary` holds the rows, and `gram` is
    empty. With any other `kernel`, `stored` holds the rows (for a precomputed one, their numbers
    among the training rows), `gram` is their kernel matrix, and `dictionary` has one feature: the
    numbers of rows of `gram`.
    """

    n_features: int
    n_outputs: int
    gamma: float
    kernel: Kernel | None = field(default=None, kw_only=True)
    size: int = field(default=0, init=False)
    stored: Any = field(default=None, init=False)
    gram: Array = field(default_factory=lambda: np.zeros((0, 0)), init=False)
    dictionary: Array = field(init=False)

    #: The arrays by name, each with the attribute that is its number of rows; squares have none.
    _row_counts: ClassVar[dict[str, str]]

    @abstractmethod
    def _absorb(self, X: Array, T: Array) -> None:
        """Learn rows one by one, in their order: extend the dictionary and all arrays of the state.

        `X`: writable, of shape (n, n_features), or (n, 1) with the numbers of rows of `gram` for a
        kernel that is not Gaussian. `T`: targets, of shape (n, n_outputs), writable. Both are in C
        order.
        """

    @abstractmethod
    def solution(self) -> Array:
        """Return the weights, of shape (size, n_outputs)."""

    def extend(self, X: Rows, T: Array) -> None:
        """Learn rows `X`, of shape (n, n_features), dense or CSR, in their order.

        `T`: targets, of shape (n, n_outputs). For a precomputed kernel, X holds the values with all
        training rows, of shape (n, n), and must come in one call. Raises ValueError for a further
        call with a precomputed kernel, and if the kernel matrix is seen to be indefinite: an entry
        exceeds the largest one on its diagonal, or the system of the dictionary cannot be factored.
        An indefinite matrix may pass unnoticed. After an error, the state must not be used.
        """
        for name in ("gram", *self._row_counts):
            setattr(self, name, loop_array(getattr(self, name), None))
        if self.kernel is None:
            self._absorb(
                loop_array(X.toarray() if sp.issparse(X) else X), loop_array(T)
            )
            return
        if self.kernel.is_precomputed and self.stored is not None:
            raise ValueError(
                "X: expected all rows in one call, as kernel is 'precomputed' and holds no values "
                "between the rows of several calls, got further rows instead"
            )
        position = 0
        while position < len(T):
            length = len(T) if self.kernel.is_precomputed else max(PIECE, self.size)
            piece = slice(position, position + length)
            self._absorb_numbers(self.kernel, X[piece], T[piece])
            position = piece.stop
        if not self.kernel.is_definite:
            self.solution()  # raises ValueError if its system cannot be factored

    def _absorb_numbers(self, kernel: Kernel, X: Rows, T: Array) -> None:
        """Learn rows from the matrix of a kernel that is not Gaussian, by their numbers in it.

        `X`: of shape (n, n_features); for a precomputed kernel, the whole kernel matrix. `T`:
        targets, of shape (n, n_outputs). Afterwards `stored` and `gram` are those of the new
        dictionary. Raises ValueError if the kernel matrix is seen to be indefinite (see `extend`);
        the state must not be used then.
        """
        rows = self._append_to_stored(kernel, X)
        gram = kernel.matrix(X if kernel.is_precomputed else rows)
        if not kernel.is_definite:
            # No entry of a positive semi-definite matrix exceeds the largest one on the diagonal.
            largest = np.abs(gram).max()
            largest_square = gram.diagonal().max()
            allowed = (1 + EPS**0.5) * largest_square
            if largest > allowed:
                raise ValueError(INDEFINITE)
        self.gram = loop_array(gram)
        targets = loop_array(T)
        # The numbers of the new rows are their only feature.
        stop = rows.shape[0]
        start = stop - len(T)
        further = np.arange(start, stop, dtype=np.float64)
        self._absorb(further[:, np.newaxis], targets)
        # The rows of the dictionary get new numbers.
        numbers = self.dictionary[0, : self.size]
        indices = numbers.astype(np.intp)
        between = np.ix_(indices, indices)
        self.stored = rows[indices]
        self.gram = gram[between]
        numbers[:] = np.arange(self.size)

    def _append_to_stored(self, kernel: Kernel, X: Rows) -> Any:
        """Return the stored rows followed by the rows `X`; the state is not changed.

        The result is sparse if the stored rows are, else dense. If no rows are stored, it is the
        rows X in the form of `Kernel.select_rows`: their numbers for a precomputed kernel.
        """
        if self.stored is None:
            return kernel.select_rows(X)
        if sp.issparse(self.stored):
            blocks = [self.stored, X]
            return sp.vstack(blocks, format="csr")
        # Dense rows may be followed by sparse ones.
        dense = X.toarray() if sp.issparse(X) else X
        return np.vstack([self.stored, dense])

    @property
    def rows(self) -> Any:
        """The rows of the dictionary, of shape (size, n_features); their numbers if precomputed.

        Rows of the Gaussian kernel are in C order; those of a different kernel are as they are
        stored, such as CSR, and None before any row is learnt.
        """
        return (
            np.ascontiguousarray(self.dictionary[:, : self.size].T)
            if self.kernel is None
            else self.stored
        )

    def dictionary_kernel(self) -> Array:
        """Return the kernel matrix of the dictionary, of shape (size, size)."""
        return (
            kernel_matrix(self.rows, gamma=self.gamma)
            if self.kernel is None
            else self.gram
        )

    def __post_init__(self) -> None:
        self._reserve(0)

    def _reserve(self, capacity: int) -> None:
        """Enlarge all arrays for a dictionary of `capacity` rows; new entries are zero."""
        for name, height in self._row_counts.items():
            shape = (getattr(self, height) if height else capacity, capacity)
            setattr(self, name, enlarge(getattr(self, name, np.zeros((0, 0))), shape))


@dataclass
class InverseState(_OnlineState):
    """The dictionary, of at most `budget` rows, and the weights and the inverse of K + ridge I,
    where ridge is 1/C.
    """

    _row_counts: ClassVar = {
        "dictionary": "n_features",
        "targets": "n_outputs",
        "weights": "n_outputs",
        "inverse": "",
    }

    ridge: float
    budget: int = UNLIMITED
    seen: int = 0
    # Rows since the inverse was computed from scratch; that is allowed at once.
    age: int = UNLIMITED // 2
    doubtful: int = -1  # number of rows up to which the inverse is not to be trusted
    joined: bool = False  # whether the last row joined the dictionary
    targets: Array = field(init=False)
    weights: Array = field(init=False)
    inverse: Array = field(init=False)

    def _absorb(self, X: Array, T: Array) -> None:
        """Learn rows one by one in compiled code: extend the dictionary, weights and the inverse.

        `X`: writable, of shape (n, n_features), or (n, 1) with the numbers of rows of `gram` for a
        kernel that is not Gaussian. `T`: targets, of shape (n, n_outputs). If round-off is too
        large, the inverse is computed from scratch between two rows.
        """
        capacity = min(self.budget, self.size + len(X))
        if capacity > len(self.inverse):
            self._reserve(max(capacity, min(self.budget, 2 * len(self.inverse))))
        settings = InverseSettings(
            gamma=self.gamma, ridge=self.ridge, budget=self.budget
        )
        counters = InverseCounters(
            size=self.size,
            seen=self.seen,
            age=self.age,
            doubtful=self.doubtful,
            joined=self.joined,
        )
        arrays = InverseArrays(
            gram=self.gram,
            dictionary=self.dictionary,
            targets=self.targets,
            weights=self.weights,
            inverse=self.inverse,
        )
        position = 0
        while position < len(X):
            samples = Samples(rows=X[position:], values=T[position:])
            n_learnt, counters, status = run_compiled(
                absorb, samples, settings, counters, arrays
            )
            position += n_learnt
            for name, value in counters._asdict().items():
                setattr(self, name, value)
            if status == DRIFT:
                m = self.size
                self.inverse[:m, :m], weights = self._from_scratch()
                self.weights[:, :m] = weights.T
                self.age = 0
                counters = counters._replace(age=0)

    def solution(self) -> Array:
        """Return the weights of the dictionary rows, of shape (size, n_outputs), as a new array.

        They are those of the state, unless a check of round-off failed in the last rows. Then they
        are computed from scratch, but the state is unchanged, so that reading it does not affect
        further learning.
        """
        if self._is_doubtful:
            _, weights = self._from_scratch()
            return weights
        by_output = self.weights[:, : self.size]
        return by_output.T.copy()

    def inverse_matrix(self) -> Array:
        """Return the inverse of K + ridge I on the dictionary, (size, size), as a new array.

        If a check of round-off failed in the last rows, it is computed from scratch, but the state
        is unchanged.
        """
        if self._is_doubtful:
            return self._from_scratch()[0]
        inverse = self.inverse[: self.size, : self.size].copy()
        mirror(inverse)
        return inverse

    def learns_like(self, other: "InverseState") -> bool:
        """Return True if `other`, a new state, would learn the same from the rows learnt here.

        Only the ridge and the budget are compared; all else must be equal. A budget beyond the
        number of learnt rows does not matter.
        """
        return self.ridge == other.ridge and min(self.budget, self.seen) == min(
            other.budget, self.seen
        )

    @property
    def _is_doubtful(self) -> bool:
        """True if a check of round-off failed in the last rows."""
        return self.seen <= self.doubtful

    def _from_scratch(self) -> tuple[Array, Array]:
        """Return the inverse of K + ridge I on the dictionary and the weights, by Cholesky.

        The inverse, of shape (size, size), is exactly symmetric; the weights are of shape (size,
        n_outputs). The state is not changed. A Gaussian kernel is computed from differences, as in
        the loop. If K + ridge I is not positive definite in floating point, `size` times the
        machine precision of the largest diagonal entry of K is added to its diagonal, then ten
        times as much, and so on, until it is. Raises ValueError if more than round-off would have
        to be added.
        """
        rows = self.dictionary[:, : self.size]
        if len(self.gram):
            numbers = rows[0].astype(np.intp)
            regularised = self.gram[np.ix_(numbers, numbers)]
        else:
            points = rows.T
            distances = cdist(points, points, "sqeuclidean")
            regularised = rbf_from_distances(distances, self.gamma)
        # K + ridge I.
        diagonal = np.einsum("ii->i", regularised)
        largest = diagonal.max(initial=0.0)
        diagonal += self.ridge
        jitter = self.size * EPS * largest
        # The least jitter with which the matrix is positive definite.
        factor, info = lapack.dpotrf(regularised, lower=1)
        while info != 0:
            if not 0 < jitter <= LARGEST_JITTER * largest:
                raise ValueError(INDEFINITE)
            diagonal += jitter
            jitter *= 10.0
            factor, info = lapack.dpotrf(regularised, lower=1)
        targets = self.targets[:, : self.size]
        weights, _ = lapack.dpotrs(factor, targets.T, lower=1)
        inverse, _ = lapack.dpotri(factor, lower=1)
        mirror(inverse)
        return inverse, weights


@dataclass
class DependencyState(_OnlineState):
    """The dictionary of approximately independent rows, a factor of its K, and the least-squares
    fit on it.

    A row joins the dictionary if its squared distance from the span of the dictionary exceeds
    `threshold`, up to `max_atoms` rows.
    """

    _row_counts: ClassVar = {
        "dictionary": "n_features",
        "fitted": "n_outputs",
        "factor": "",
        "covariance": "",
    }
    ridge: ClassVar[float] = 0.0  # nothing is added to the diagonal of K

    threshold: float
    max_atoms: int = UNLIMITED
    bracket: Array = field(default_factory=lambda: np.array([0.0, np.inf]))
    fitted: Array = field(init=False)
    factor: Array = field(init=False)
    covariance: Array = field(init=False)

    def _absorb(self, X: Array, T: Array) -> None:
        """Learn rows one by one, in compiled code; rows beyond the threshold join the dictionary.

        `X`: writable, of shape (n, n_features), or (n, 1) with the numbers of rows of `gram` for a
        kernel that is not Gaussian. `T`: targets, of shape (n, n_outputs). Rows within the
        threshold only update the fit on the dictionary. The arrays grow as needed, up to
        `max_atoms`.
        """
        self.bracket = loop_array(self.bracket)
        settings = DependencySettings(
            gamma=self.gamma, threshold=self.threshold, max_atoms=self.max_atoms
        )
        position = 0
        status = GROW if len(self.factor) == 0 else DONE
        while position < len(X):
            if status == GROW:
                self._reserve(min(self.max_atoms, max(64, 2 * len(self.factor))))
            arrays = DependencyArrays(
                gram=self.gram,
                bracket=self.bracket,
                dictionary=self.dictionary,
                fitted=self.fitted,
                factor=self.factor,
                covariance=self.covariance,
            )
            samples = Samples(rows=X[position:], values=T[position:])
            n_learnt, self.size, status = run_compiled(
                absorb_ald, samples, self.size, settings, arrays
            )
            position += n_learnt

    def solution(self) -> Array:
        """Return the weights K^-1 c of the dictionary rows, of shape (size, n_outputs).

        c are the fitted outputs at the dictionary rows. Without rows, the result is empty.
        """
        if self.size == 0:
            return np.zeros((0, self.n_outputs))
        lower = self._lower()
        fitted = self.fitted[:, : self.size]
        weights, _ = lapack.dpotrs(lower, fitted.T, lower=1)
        return weights

    def inverse_matrix(self) -> Array:
        """Return the inverse of K on the dictionary, of shape (size, size)."""
        inverse, _ = lapack.dpotri(self._lower(), lower=1)
        mirror(inverse)
        return inverse

    def learns_like(self, other: "DependencyState") -> bool:
        """Return True if `other`, a new state, would learn the same from the rows learnt here.

        Only `max_atoms` and the threshold are compared; all else must be equal. A different
        threshold is as good if no squared distance of a learnt row lies between the two thresholds.
        """
        return (
            self.max_atoms == other.max_atoms
            and self.bracket[0] <= other.threshold < self.bracket[1]
        )

    def _lower(self) -> Array:
        """Return the Cholesky factor of K on the dictionary, (size, size) in Fortran order.

        It is in the lower triangle; the upper one holds its transpose.
        """
        return np.asfortranarray(self.factor[: self.size, : self.size])

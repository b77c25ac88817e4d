"""The training and test parts of folds in a symmetric matrix of all rows, mostly as views."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from elmbench.numerics.arrays import Array, Indices
from elmbench.numerics.lapack import call, leading_dimension, symmetric_product


class FoldView:
    """One fold of a matrix whose rows have the order of `FoldViews`.

    `rows` are the original numbers of the training rows, in the order of the matrix. `training` are their positions in
    the matrix, and `test` those of the test rows, in the fold's order.
    """

    def __init__(self, positions: Indices, rows: Indices, test: Indices) -> None:
        self.training = positions
        self.rows = rows
        self.test = test
        ends = np.flatnonzero(np.diff(positions) != 1) + 1
        #: Pairs of slices: some of the training rows, and their positions in the matrix.
        self._runs = [
            (slice(int(a), int(b)), slice(int(positions[a]), int(positions[a]) + int(b - a)))
            for a, b in zip([0, *ends], [*ends, len(positions)], strict=True)
        ]

    def copy(self, K: Array, work: NDArray[np.floating]) -> None:
        """Write K between the training rows over `work`, of shape (n_train, n_train) and of any precision.

        Both are in Fortran order.
        """
        for part, position in self._runs:
            for other, there in self._runs:
                work[part, other] = K[position, there]

    def within(self, K: Array) -> Callable[[Array, Array], None]:
        """Return the function of v and w that writes K v over w, with K between the training rows, without a copy.

        Both are vectors of n_train doubles in the order of `rows`.
        """
        if len(self._runs) == 1:
            position = self._runs[0][1]
            return symmetric_product(K[position, position])
        squares = [(part, symmetric_product(K[position, position])) for part, position in self._runs]
        between = [
            (part, other, K[position, there])
            for i, (part, position) in enumerate(self._runs)
            for other, there in self._runs[:i]
        ]

        def product(v: Array, w: Array) -> None:
            for part, square in squares:
                square(v[part], w[part])
            for part, other, block in between:
                w[part] += block @ v[other]
                w[other] += block.T @ v[part]

        return product

    def product(self, K: Array, Z: Array) -> Array:
        """Return the product of all rows of K with Z, of shape (n_train, m), which has the order of `rows`."""
        Z = np.asfortranarray(Z)
        total = np.empty((len(K), Z.shape[1]), order="F")
        sizes = len(K), Z.shape[1]
        for i, (part, position) in enumerate(self._runs):
            columns, rows = K[:, position], Z[part]
            call(
                "dgemm", "N", "N", *sizes, len(rows), 1.0, columns, leading_dimension(columns),
                rows, leading_dimension(rows), float(i > 0), total, leading_dimension(total),
            )  # fmt: skip
        return total


class FoldViews:
    """An order of rows in which the training part of a fold consists of few contiguous parts, and often of one.

    Rows with the same roles in all folds, pairs of training and test rows, are adjacent. In a k-fold cross-validation,
    the training part of the first and the last fold is contiguous, and that of the others has two parts. `order` has
    the rows of all folds, each once.
    """

    def __init__(self, folds: list[tuple[Indices, Indices]]) -> None:
        n = 1 + max((int(part.max()) for fold in folds for part in fold if len(part)), default=-1)
        roles = np.zeros((len(folds), n), dtype=np.int8)
        for role, (train, test) in zip(roles, folds, strict=True):
            role[test] += 1
            role[train] += 2
        used = np.flatnonzero(roles.any(axis=0))
        self.order: Indices = used[np.lexsort(roles[::-1, used])]
        position = np.empty(n, dtype=np.intp)
        position[self.order] = np.arange(len(self.order))
        self.folds = []
        for train, test in folds:
            positions = np.sort(position[train])
            self.folds.append(FoldView(positions, self.order[positions], position[test]))

"""scikit-learn's support vector machine with the Gaussian kernel, and a path over its grid from precomputed kernels."""

import warnings
from collections.abc import Iterator, Mapping
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from elmbench.models.base.paths import Grid, ProjectionPathMixin
from elmbench.numerics.arrays import Array
from elmbench.numerics.kernels import squared_distances
from elmbench.numerics.libsvm_kernel import libsvm_kernel

SHARED_BYTES = 2**29
"""Largest kernel matrix that a grid is evaluated from; more rows are trained on as they are."""

SHARED_FROM = 4
"""So many values of C pay for a kernel matrix of which LIBSVM may need a small part: many rows with few support
vectors take up to twice as long by one for two values, as long for four, and 0.6 of the time for twelve."""


class SVMClassifier(ProjectionPathMixin, SVC):
    """Support vector machine with the Gaussian kernel: scikit-learn's `SVC`, which is LIBSVM.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the errors.
    gamma : float, default=1.0
        Inverse squared width of the kernel, exp(-gamma d^2).
    class_weight : "balanced", dict or None, default=None
        What multiplies C for the rows of each class, by label; "balanced" is inversely proportional to their number.
    max_iter : int, default=-1
        Steps after which LIBSVM is stopped, in each problem of two classes; -1 for no limit.

    Attributes
    ----------
    support_vectors_ : ndarray of shape (n_units_, n_features)
    classes_ : ndarray of shape (n_classes,)
    n_units_ : int
        Number of support vectors.
    capped_ : float
        Share of the problems of two classes that were stopped at `max_iter`, not solved.
    solvers_ : dict of str to int
        ``{"capped": 1}`` where any was stopped, else empty.
    n_features_in_ : int

    References
    ----------
    Chang and Lin, LIBSVM: a library for support vector machines, ACM TIST 2(3), 2011.
    """

    def __init__(
        self,
        C: float = 1.0,
        gamma: float = 1.0,
        class_weight: str | Mapping[Any, float] | None = None,
        max_iter: int = -1,
    ) -> None:
        super().__init__(C=C, gamma=gamma, kernel="rbf", class_weight=class_weight, max_iter=max_iter)

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit to rows `X`, dense or sparse, and labels `y`; a `ConvergenceWarning` says where LIBSVM was stopped."""
        super().fit(X, y)
        self.capped_ = float(np.mean(self.n_iter_ == self.max_iter))
        self.solvers_ = {"capped": 1} if self.capped_ > 0 else {}
        return self

    def _fit_kernel(self, K: Array, X: Array, y: NDArray[Any]) -> Self:
        """Fit to rows whose kernel matrix is known: to the last bit what `fit` does."""
        try:
            self.kernel = "precomputed"
            self.fit(K, y)
        finally:
            self.kernel = "rbf"
        # From here on rows are what is looked at.
        self.support_vectors_, self._gamma = X[self.support_], self.gamma
        self.shape_fit_, self.n_features_in_ = X.shape, X.shape[1]
        return self

    @property
    def n_units_(self) -> int:
        """The number of support vectors."""
        return len(self.support_)

    @classmethod
    def _path(cls, grid: Grid) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Make one matrix of distances a fold and, for several `C`, one kernel matrix a `gamma`.

        That a fit was stopped is counted, and no warning given. Needs two matrices of 8 m^2 bytes for m rows in a
        training part, up to `SHARED_BYTES` each.
        """
        groups: dict[Any, list[int]] = {}
        for i, model in enumerate(grid.models):
            groups.setdefault(model.gamma, []).append(i)
        for j, (train, test) in enumerate(grid.folds):
            rows, labels, probes = np.ascontiguousarray(grid.X[train]), grid.y[train], grid.X[test]
            held = 8 * len(rows) ** 2 <= SHARED_BYTES
            distances = squared_distances(rows) if held else np.empty((0, 0))
            work = np.empty_like(distances)
            for gamma, members in groups.items():
                shared = held and len(members) >= SHARED_FROM and isinstance(gamma, Real)
                K = libsvm_kernel(rows, distances, float(gamma), work) if shared else work
                for i in members:
                    model = clone(grid.models[i])
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", ConvergenceWarning)
                        _ = model._fit_kernel(K, rows, labels) if shared else model.fit(rows, labels)
                    grid.solvers.update(model.solvers_)
                    yield i, j, model.decision_function(probes) if grid.project else model.predict(probes)

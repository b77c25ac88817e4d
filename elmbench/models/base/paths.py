"""Paths over grids: what the estimators that offer one share, see `elmbench.models.protocols`."""

import warnings
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray
from scipy.linalg import LinAlgWarning
from sklearn.base import clone

from elmbench.models.protocols import Evaluated, Folds
from elmbench.numerics.arrays import Array
from elmbench.numerics.pairwise import Kernel
from elmbench.numerics.rows import Rows


@dataclass(frozen=True)
class Grid:
    """A grid of candidates on folds: X, y and folds as in `GridPath.evaluate_grid`, and an unfitted model a candidate.

    `project` says whether projections are asked for, not predictions; a path counts in `solvers` the ways of solving
    that it takes.
    """

    X: Rows
    y: NDArray[Any]
    folds: Folds
    models: list[Any]
    project: bool = False
    solvers: Counter[str] = field(default_factory=Counter)

    def asked(self, predictions: NDArray[Any], projections: Array) -> NDArray[Any]:
        """Return the predictions, or the projections of shape (n, k), a single column of them as a vector."""
        if not self.project:
            return predictions
        return projections[:, 0] if projections.shape[1] == 1 else projections

    def rows(self, fold: int, kernel: Kernel) -> tuple[Rows, Rows]:
        """Return the training rows and the test rows of a fold, as a model with such a kernel takes them."""
        train, test = self.folds[fold]
        return kernel.part(self.X, train, train), kernel.part(self.X, test, train)

    def fitted_outputs(self, candidate: int, fold: int, kernel: Kernel) -> NDArray[Any]:
        """Return what a candidate with such a kernel predicts, learnt by itself."""
        train, test = self.rows(fold, kernel)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LinAlgWarning)  # a search meets such candidates by the hundred
            learnt = clone(self.models[candidate]).fit(train, self.y[self.folds[fold][0]])
        predicted: NDArray[Any] = learnt.predict(test)
        return predicted


class GridPathMixin:
    """`evaluate_grid` of an estimator that implements `_path`, which yields (candidate, fold, outputs)."""

    @classmethod
    @abstractmethod
    def _path(cls, grid: Grid) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Yield the outputs of every candidate on every fold, in any order."""

    @classmethod
    def _evaluated(cls, grid: Grid) -> Iterator[Evaluated]:
        for i, j, outputs in cls._path(grid):
            yield Evaluated(i, j, outputs, Counter(grid.solvers))
            grid.solvers.clear()

    @classmethod
    def evaluate_grid(
        cls, X: Array, y: NDArray[Any], folds: Folds, candidates: list[dict[str, Any]], **fixed: Any
    ) -> Iterator[Evaluated]:
        """Yield the predictions of every candidate on every fold, see `elmbench.models.protocols.GridPath`."""
        return cls._evaluated(Grid(X, y, folds, [cls(**fixed, **candidate) for candidate in candidates]))


class ProjectionPathMixin(GridPathMixin):
    """`evaluate_grid` and `project_grid` of an estimator whose `_path` heeds `Grid.project`."""

    @classmethod
    def project_grid(
        cls, X: Array, y: NDArray[Any], folds: Folds, candidates: list[dict[str, Any]], **fixed: Any
    ) -> Iterator[Evaluated]:
        """Yield the projections by every candidate, see `elmbench.models.protocols.ProjectionPath`."""
        return cls._evaluated(Grid(X, y, folds, [cls(**fixed, **candidate) for candidate in candidates], project=True))

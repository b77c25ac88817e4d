"""Paths over grids: what the estimators that offer one share, see `elmbench.models.protocols`."""

import warnings
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from numpy.typing import NDArray
from scipy.linalg import LinAlgWarning
from sklearn.base import clone
from sklearn.utils._param_validation import validate_parameter_constraints

from elmbench.models.base.family import named_width
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


def _valid_models(cls: Any, candidates: list[dict[str, Any]], fixed: dict[str, Any]) -> list[Any]:
    """Return a model for each candidate, with the errors of `fit` for parameters out of range."""
    cls(**fixed)._validate_params()
    # The values of a grid are the same objects in many candidates.
    values = {(name, id(value)): value for candidate in candidates for name, value in candidate.items()}
    for (name, _), value in values.items():
        validate_parameter_constraints(cls._parameter_constraints, {name: value}, caller_name=cls.__name__)
    return [cls(**fixed, **candidate) for candidate in candidates]


class GridPathMixin:
    """`evaluate_grid` of an estimator that implements `_path`, which yields (candidate, fold, outputs)."""

    @classmethod
    @abstractmethod
    def _path(cls, grid: Grid) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Yield the outputs of every candidate on every fold, in any order."""

    @classmethod
    def _evaluated(cls, grid: Grid) -> Iterator[Evaluated]:
        if any(isinstance(getattr(model, "gamma", None), str) for model in grid.models):
            yield from cls._with_named_widths(grid)
            return
        for i, j, outputs in cls._path(grid):
            yield Evaluated(i, j, outputs, Counter(grid.solvers))
            grid.solvers.clear()

    @classmethod
    def _with_named_widths(cls, grid: Grid) -> Iterator[Evaluated]:
        """Evaluate one fold after the other, as gamma="scale" stands for another number in each."""
        for j, fold in enumerate(grid.folds):
            X = grid.X[fold[0]]
            models = [
                clone(m).set_params(gamma=named_width(m.gamma, X)) if isinstance(m.gamma, str) else m
                for m in grid.models
            ]
            for item in cls._evaluated(replace(grid, folds=[fold], models=models)):
                yield item._replace(fold=j)

    @classmethod
    def evaluate_grid(
        cls, X: Array, y: NDArray[Any], folds: Folds, candidates: list[dict[str, Any]], **fixed: Any
    ) -> Iterator[Evaluated]:
        """Yield the predictions of every candidate on every fold, see `elmbench.models.protocols.GridPath`."""
        return cls._evaluated(Grid(X, y, folds, _valid_models(cls, candidates, fixed)))


class ProjectionPathMixin(GridPathMixin):
    """`evaluate_grid` and `project_grid` of an estimator whose `_path` heeds `Grid.project`."""

    @classmethod
    def project_grid(
        cls, X: Array, y: NDArray[Any], folds: Folds, candidates: list[dict[str, Any]], **fixed: Any
    ) -> Iterator[Evaluated]:
        """Yield the projections by every candidate, see `elmbench.models.protocols.ProjectionPath`."""
        return cls._evaluated(Grid(X, y, folds, _valid_models(cls, candidates, fixed), project=True))

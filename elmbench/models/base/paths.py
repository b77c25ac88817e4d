"""Paths over grids of the estimators, see `elmbench.models.protocols`."""

import warnings
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgWarning
from sklearn.base import clone, is_classifier

from elmbench.models.base.family import check_magnitudes, named_gamma
from elmbench.models.base.sklearn_private import validate_parameter_constraints
from elmbench.models.protocols import Evaluated, Folds
from elmbench.numerics.arrays import Array, Indices, Rows

#: The outputs of a path and of a fit agree to this share of their size, see `GridPath`.
ROUND_OFF = 1e-10


def _drop_single_column(outputs: Array) -> Array:
    """Return outputs of shape (n, k) unchanged, but a single column (k = 1) in shape (n,)."""
    return outputs[:, 0] if outputs.shape[1] == 1 else outputs


@dataclass(frozen=True)
class CandidateGrid:
    """A grid of candidates of one model, and the folds on which a path evaluates them.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Rows; a ValueError is raised for entries whose squares may overflow.
    y : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Labels or target values.
    folds : list of (train, test)
        Numbers of rows.
    models : list of estimators
        An unfitted model for each candidate, all of the same class.
    output : {"predict", "decision_function", "project"}
        The method of a fitted model whose values for the test rows a path yields.
    solvers : Counter
        The uses of each solver, by its name, which a path adds to.
    """

    X: Rows
    y: NDArray[Any]
    folds: Folds
    models: list[Any]
    output: str = "predict"
    solvers: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        check_magnitudes("X", self.X)

    @cached_property
    def decides_labels(self) -> bool:
        """True if the outputs are labels, or decision values from which these follow."""
        return self.output != "project" and is_classifier(self.models[0])

    def encode(self, train: Indices) -> tuple[Array, Callable[[Array], NDArray[Any]]]:
        """Return the targets of training rows, (n_train, k), and the function that decodes real
        outputs of the models, (n, k), to values of the method `output`.

        `train`: the numbers of these rows. Targets of labels are -1/+1. Values are labels or
        predictions for "predict", else the real outputs, of shape (n,) if k is 1.
        """
        family = type(self.models[0])
        targets = self.y[train]
        T, decode = family._code_targets(targets)
        if self.output == "predict":
            return T, decode
        return T, _drop_single_column

    def group(self, key: Callable[[Any], Hashable]) -> list[list[tuple[int, Any]]]:
        """Return the models in lists with the same key, each model as (its number, the model).

        `key`: the function that returns the key of a model. The lists have the order of their first
        models.
        """
        groups: dict[Hashable, list[tuple[int, Any]]] = {}
        for i, model in enumerate(self.models):
            groups.setdefault(key(model), []).append((i, model))
        return list(groups.values())

    def fitted_outputs(self, candidate: int, fold: int) -> NDArray[Any]:
        """Fit a single candidate to the training rows of a fold; return its values of the method
        `output` for the test rows.

        `candidate`, `fold`: their numbers in the grid. `solvers` counts the fit under "fit".
        """
        train, test = self.folds[fold]
        fitted = self._fit(candidate, train)
        output_of = getattr(fitted, self.output)
        outputs = output_of(self.X[test])
        return np.asarray(outputs)

    def _fit(self, candidate: int, train: Indices) -> Any:
        """Return a clone of a candidate that is fitted to some rows, without a LinAlgWarning.

        `candidate`: its number. `train`: the numbers of the rows, whose copies are freed at the end
        of this call. `solvers` counts the fit.
        """
        self.solvers["fit"] += 1
        unfitted = clone(self.models[candidate])
        with warnings.catch_warnings():
            # A search meets such candidates by the hundred.
            warnings.simplefilter("ignore", LinAlgWarning)
            return unfitted.fit(self.X[train], self.y[train])

    def holds(
        self,
        outputs: Array,
        n_models: int,
        bounds: Array | float = np.inf,
        least: Array | float = 0.0,
    ) -> NDArray[np.bool_]:
        """Return, for each of p models, False if round-off may change a label; True for all if the
        outputs decide no labels.

        `outputs`: of shape (n, p * k), the k columns of a model side by side; NaN gives False.
        `n_models`: p. The assumed round-off is `ROUND_OFF` times the largest output of a model, but
        at most `bounds`, (n, p), and at least `least`, (p,), even if that is above `bounds`.
        """
        if not self.decides_labels:
            return np.ones(n_models, dtype=bool)
        model = self.models[0]
        n = len(outputs)
        # The round-off of a model is relative to its largest output.
        by_model = np.abs(outputs).reshape(n, n_models, -1)
        sizes = by_model.max(axis=(0, 2), initial=0.0)
        largest = ROUND_OFF * sizes
        round_off = np.broadcast_to(largest, (n, n_models))
        limited = np.minimum(bounds, round_off)
        errors = np.maximum(limited, least)
        holds: NDArray[np.bool_] = model._each_holds(outputs, errors)
        return holds

    def results(
        self,
        groups: Collection[list[int]],
        fold: int,
        outputs: Array,
        decode: Callable[[Array], NDArray[Any]],
        accepted: NDArray[np.bool_] | None = None,
    ) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Yield (candidate, fold, values) for every candidate of p groups of equal models.

        `groups`: lists of numbers of candidates. `fold`: number of the fold. `outputs`: real ones
        for the test rows, (n_test, p * k), the k columns of a group side by side. `decode`: the
        function that turns them into the values, from `encode`. `accepted`: of shape (p,); False
        for a group whose first model is fitted instead. None: False for the groups with a label
        that round-off may change.
        """
        n_groups = len(groups)
        if accepted is None:
            accepted = self.holds(outputs, n_groups)
        parts = np.hsplit(outputs, n_groups)
        for group, part, is_accepted in zip(groups, parts, accepted, strict=True):
            if is_accepted:
                values = decode(part)
            else:
                first = group[0]
                values = self.fitted_outputs(first, fold)
            for candidate in group:
                yield candidate, fold, values


def grid_path(
    output: str, summary: str
) -> "classmethod[Any, ..., Iterator[Evaluated]]":
    """Return a classmethod that yields an `Evaluated` for every candidate on every fold.

    Its arguments are those of `GridPath.evaluate_grid`; its class has the methods of `PathMixin`.

    Parameters
    ----------
    output : {"predict", "decision_function", "project"}
        The method of a fitted model whose values are yielded.
    summary : str
        First line of its docstring.
    """

    def evaluate(
        cls: Any,
        X: Array,
        y: NDArray[Any],
        folds: Folds,
        candidates: list[dict[str, Any]],
        **fixed: Any,
    ) -> Iterator[Evaluated]:
        models = cls._valid_models(candidates, fixed)
        grid = CandidateGrid(X, y, folds, models, output)
        return cls._evaluate(grid)

    evaluate.__doc__ = f"{summary}\n\nSee `elmbench.models.protocols.GridPath`."
    return classmethod(evaluate)


class PathMixin:
    """Classmethods of a model that evaluate a whole grid from shared work, for predictions and
    decision values.

    A subclass does the work in `_path`.
    """

    evaluate_grid = grid_path(
        "predict", "Yield the predictions of every candidate on every fold."
    )
    decision_grid = grid_path(
        "decision_function",
        "Yield the decision values of every candidate on every fold.",
    )

    @classmethod
    @abstractmethod
    def _path(cls, grid: CandidateGrid) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Yield (candidate, fold, outputs) for every pair, in any order, by their numbers in the
        grid.

        `outputs`: what the method `grid.output` of the fitted model returns for the test rows.
        """

    @classmethod
    def _valid_models(
        cls: Any, candidates: list[dict[str, Any]], fixed: dict[str, Any]
    ) -> list[Any]:
        """Return an unfitted model for each candidate; raise the errors of `fit` for parameters out
        of range.

        `candidates`: {parameter: value} of each. `fixed`: {parameter: value} that all of them
        share; it and a candidate have no name in common.
        """
        cls(**fixed)._validate_params()
        # The values of a grid are the same objects in many candidates.
        values = {
            (name, id(value)): value
            for candidate in candidates
            for name, value in candidate.items()
        }
        for (name, _), value in values.items():
            validate_parameter_constraints(
                cls._parameter_constraints, {name: value}, caller_name=cls.__name__
            )
        return [cls(**fixed, **candidate) for candidate in candidates]

    @classmethod
    def _evaluate(cls, grid: CandidateGrid) -> Iterator[Evaluated]:
        """Yield an `Evaluated` for each output of `_path`, with the uses of solvers since the
        previous one; `grid.solvers` is emptied.

        If at least one model has a named `gamma`, the path runs once for each fold, with the number
        that it stands for on the training rows.
        """
        gammas = [getattr(model, "gamma", None) for model in grid.models]
        has_named_gamma = any(isinstance(gamma, str) for gamma in gammas)
        if not has_named_gamma:
            for i, j, outputs in cls._path(grid):
                yield Evaluated(i, j, outputs, dict(grid.solvers))
                grid.solvers.clear()
            return
        # `gamma="scale"` is a different number in each fold.
        for j, fold in enumerate(grid.folds):
            train, _ = fold
            rows = grid.X[train]
            models = [_with_numeric_gamma(model, rows) for model in grid.models]
            grid_of_fold = replace(grid, folds=[fold], models=models)
            for item in cls._evaluate(grid_of_fold):
                yield item._replace(fold=j)


def _with_numeric_gamma(model: Any, rows: Rows) -> Any:
    """Return a clone of a model whose named `gamma` is replaced by the number that it stands for on
    the training rows `rows`; the model itself if its `gamma` is a number.
    """
    if not isinstance(model.gamma, str):
        return model
    gamma = named_gamma(model.gamma, rows)
    return clone(model).set_params(gamma=gamma)

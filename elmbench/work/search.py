"""The search for hyperparameters on inner folds of the training part of one outer fold (`nested` selection)."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from numpy.typing import NDArray

from elmbench.numerics.arrays import Array
from elmbench.numerics.seeds import integer_seed
from elmbench.protocol.content import FLAT, OPTIONAL
from elmbench.protocol.folds import FoldData, fold_data
from elmbench.protocol.scaling import prepared_inputs
from elmbench.protocol.splits import Indices, splitter, stratified_rows
from elmbench.registry import find_model
from elmbench.specs.protocol import Split
from elmbench.work.base import OVERHEAD, Context, FoldWork, Grid, Result, chosen_for, finished
from elmbench.work.scoring import GridProblem, best, grid_scores

INNER = Split("kfold", 3)
Folds = list[tuple[Indices, Indices]]


@dataclass(frozen=True)
class GridWork(FoldWork):
    """Work that goes through a grid of hyperparameters of one model on one outer fold.

    `given`: key of the choice whose hyperparameters are taken over. `paths`: False fits each candidate separately, even
    if the model can share work between candidates.
    """

    verb: ClassVar[str] = "search"

    grid: Grid = field(metadata=FLAT)
    given: str | None
    paths: bool = field(default=True, metadata=OPTIONAL)

    @property
    def needs(self) -> tuple[str, ...]:
        return (self.given,) if self.given else ()

    @property
    def number_of_fits(self) -> int:
        return len(self.grid)

    @property
    def estimated_params(self) -> dict[str, Any]:
        return self.params | {name: values[len(values) // 2] for name, values in self.grid.values.items()}

    def seconds(self) -> float:
        return self.seconds_of(self.outer_fold.n_train)

    def seconds_of(self, n_rows: int) -> float:
        """Return the rough duration of all fits with this number of rows."""
        shared = find_model(self.model.name).sharing if self.paths else 1.0
        return self.number_of_fits * (OVERHEAD + shared * (self.fit_seconds(n_rows) - OVERHEAD))

    def run(self, inputs: Mapping[str, Result], context: Context) -> Result:
        given = chosen_for(self.given, inputs)
        return finished(self.evaluated(fold_data(self.outer_fold, context.data_dir), given, context), given)

    @abstractmethod
    def evaluated(self, data: FoldData, given: Result, context: Context) -> Result:
        """Return the result of the grid on the rows of the outer fold, with `given` hyperparameters, and `seconds`."""

    def problem(
        self,
        X: Any,
        y: NDArray[Any],
        folds: Folds,
        data: FoldData,
        given: Result,
        context: Context,
        weights: Array | None = None,
    ) -> GridProblem:
        """Return the problem of the grid on some rows and their folds; searched parameters replace `given` ones."""
        factory, fixed = self.factory_with(given["params"] | self.params)
        fixed = {name: value for name, value in fixed.items() if name not in self.grid.values}
        candidates = self.grid.candidates()
        return GridProblem(factory, X, y, folds, candidates, fixed, data.labels, self.paths, context, weights)


@dataclass(frozen=True)
class Search(GridWork):
    """A search on inner folds.

    `inner`: the inner folds. `metric`: compares the candidates. `tune_rows`: the number of random training rows to
    search on; None for all.
    """

    kind = "search"

    inner: Split = INNER
    metric: str = ""
    tune_rows: int | None = None

    @property
    def number_of_fits(self) -> int:
        return self.inner.folds * len(self.grid)

    def seconds(self) -> float:
        n = min(self.outer_fold.n_train, self.tune_rows or self.outer_fold.n_train)
        return self.seconds_of(n * (self.inner.folds - 1) // self.inner.folds)

    def evaluated(self, data: FoldData, given: Result, context: Context) -> Result:
        """Search; the result has `params` (the inherited and the chosen ones), `scores` (means) and `seconds`."""
        scores, seconds = grid_scores(self.problems(given, data, context), self.metric)
        params = given["params"] | self.grid.candidates()[best(scores)]
        return {"params": params, "scores": scores.mean(axis=1).tolist(), "seconds": seconds}

    def problems(self, given: Result, data: FoldData, context: Context) -> Iterator[GridProblem]:
        """Yield the grid on all inner folds at once, or on one fold at a time if each prepares its own inputs."""
        X, y, folds = self.inner_folds(data)
        weights = None if data.weights is None else data.weights[tuning_rows(self, data)]
        scale = self.outer_fold.protocol.scale
        if data.raw is None and (scale is None or scale.fit_on == "all"):
            yield self.problem(X, y, folds, data, given, context, weights)
            return
        for train, test in folds:
            prepared = prepared_inputs(X, train, scale, None if data.raw is None else data.nominal)
            yield self.problem(prepared, y, [(train, test)], data, given, context, weights)

    def inner_folds(self, data: FoldData) -> tuple[Any, NDArray[Any], Folds]:
        """Return the rows of the search, and their inner folds."""
        rows = tuning_rows(self, data)
        X, y = (data.X_train if data.raw is None else data.raw)[rows], data.y_train[rows]
        groups = None if data.groups is None else data.groups[rows]
        seed = integer_seed("inner", self.data.name, self.outer_fold.run, self.outer_fold.fold)
        return X, y, list(splitter(self.inner, seed).split(X, y, groups))


def tuning_rows(work: Any, data: FoldData) -> Indices | slice:
    """Return the training rows of the search: all, or `work.tune_rows` random ones."""
    rows, outer_fold = work.tune_rows, work.outer_fold
    if rows is None or rows >= len(data.y_train):
        return slice(None)
    key = ("tune", outer_fold.dataset.name, outer_fold.run, outer_fold.fold)
    return stratified_rows(data.y_train, rows, data.labels is not None, *key)

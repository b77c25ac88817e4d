"""The search for hyperparameters on inner folds of the training part of one outer fold (`nested` selection)."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.numerics.seeds import integer_seed
from elmbench.protocol.encoding import prepared_inputs
from elmbench.protocol.folds import FoldData, fold_data
from elmbench.protocol.scaling import scale_columns
from elmbench.protocol.splits import Indices, splitter, stratified_rows
from elmbench.specs.protocol import Scale, Split
from elmbench.work.base import Context, GridWork, Result, chosen_for
from elmbench.work.scoring import GridProblem, Spent, best, grid_scores

INNER = Split("kfold", 3)
Folds = list[tuple[Indices, Indices]]


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

    def run(self, inputs: Mapping[str, Result], context: Context) -> Result:
        """Search; the result has `params` (the inherited and the chosen ones), `scores` (means) and `seconds`."""
        given = chosen_for(self.given, inputs)
        data = fold_data(self.outer_fold, context.data_dir)
        scores, spent = grid_scores(self.problems(given, data, context), self.metric)
        params = given["params"] | self.grid.candidates()[best(scores)]
        return finished({"params": params, "scores": scores.mean(axis=1).tolist(), **total(spent)}, given)

    def problems(self, given: Result, data: FoldData, context: Context) -> Iterator[GridProblem]:
        """Yield the grid on all inner folds at once, or on one fold at a time if each prepares its own inputs."""
        X, y, folds = self.inner_folds(data)
        weights = None if data.weights is None else data.weights[tuning_rows(self, data)]
        scale = self.outer_fold.protocol.scale
        if data.raw is None and (scale is None or scale.fit_on == "all"):
            yield grid_problem(self, given, (X, y, folds), data.labels, context, weights)
            return
        for train, test in folds:
            inputs_here = _inputs(X, train, scale, data)
            yield grid_problem(self, given, (inputs_here, y, [(train, test)]), data.labels, context, weights)

    def inner_folds(self, data: FoldData) -> tuple[Any, NDArray[Any], Folds]:
        """Return the rows of the search, and their inner folds."""
        rows = tuning_rows(self, data)
        X, y = (data.X_train if data.raw is None else data.raw)[rows], data.y_train[rows]
        groups = None if data.groups is None else data.groups[rows]
        seed = integer_seed("inner", self.outer_fold.dataset.name, self.outer_fold.run, self.outer_fold.fold)
        return X, y, list(splitter(self.inner, seed).split(X, y, groups))


def tuning_rows(work: Any, data: FoldData) -> Indices | slice:
    """Return the training rows of the search: all, or `work.tune_rows` random ones."""
    rows, outer_fold = work.tune_rows, work.outer_fold
    if rows is None or rows >= len(data.y_train):
        return slice(None)
    key = ("tune", outer_fold.dataset.name, outer_fold.run, outer_fold.fold)
    return stratified_rows(data.y_train, rows, data.labels is not None, *key)


def _inputs(X: Any, train: Indices, scale: Scale | None, data: FoldData) -> Any:
    """Return all rows of the search, prepared by the training rows of an inner fold."""
    if data.raw is not None:
        return prepared_inputs(X, train, scale, data.nominal)
    return X if scale is None else scale_columns(X, train, scale)


def grid_problem(
    work: GridWork,
    given: Result,
    rows: tuple[Any, NDArray[Any], Folds],
    labels: list[int] | None,
    context: Context,
    weights: NDArray[np.float64] | None = None,
) -> GridProblem:
    """Return the problem of a grid on some rows and their folds; searched parameters replace `given` ones."""
    X, y, folds = rows
    factory, fixed = work.factory_with(given["params"] | work.params)
    fixed = {name: value for name, value in fixed.items() if name not in work.grid.values}
    candidates = work.grid.candidates()
    return GridProblem(factory, X, y, folds, candidates, fixed, labels, work.paths, context, weights)


def total(spent: list[Spent]) -> Result:
    """Return the `seconds` of all folds and, if any were counted, the `solvers`."""
    solvers = sum((fold.solvers for fold in spent), Counter[str]())
    return {"seconds": sum(fold.seconds for fold in spent)} | ({"solvers": dict(solvers)} if solvers else {})


def finished(result: Result, given: Result) -> Result:
    """Return a result that ended ok; its time includes the search for inherited hyperparameters."""
    return {"status": "ok", "reason": "", **result, "seconds": result["seconds"] + given["seconds"]}

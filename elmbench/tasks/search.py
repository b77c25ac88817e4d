"""The search for hyperparameters on inner folds of the training part of one outer fold (`nested`
selection).
"""

from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elmbench.evaluation.content import FLAT, OPTIONAL
from elmbench.evaluation.folds import FoldData, fold_data
from elmbench.evaluation.given_splits import given_inner_parts
from elmbench.evaluation.splits import (
    Indices,
    folds_of,
    n_training_rows,
    stratified_rows,
)
from elmbench.lazy import LazyModule
from elmbench.metrics import registered_metric
from elmbench.numerics.seeds import integer_seed
from elmbench.registry import find_model
from elmbench.specs.grids import SearchGrid
from elmbench.specs.protocol import GIVEN, Split
from elmbench.tasks.base import (
    OVERHEAD,
    Context,
    FoldWork,
    Result,
    choice_result,
    finish_result,
)
from elmbench.tasks.scoring import GridProblem, best, grid_scores

if TYPE_CHECKING:
    from elmbench.evaluation import preprocessing
else:
    preprocessing = LazyModule("elmbench.evaluation.preprocessing")

INNER = Split("kfold", 3)


class PreparedInputs:
    """The inputs of the last inner folds, which the models of an outer fold share.

    Inputs of many values are not kept.
    """

    #: The most inner folds and values of each: together 200 MB.
    MOST_FOLDS = 24
    MOST_VALUES = 1_000_000

    def __init__(self) -> None:
        self._inputs: OrderedDict[Hashable, Any] = OrderedDict()

    def get(self, key: Hashable, prepare: Callable[[], Any]) -> Any:
        """Return the inputs of a key, which `prepare` makes if they are not kept."""
        if key in self._inputs:
            return self._inputs[key]
        inputs = prepare()
        if inputs.size <= self.MOST_VALUES:
            self._inputs[key] = inputs
            if len(self._inputs) > self.MOST_FOLDS:
                self._inputs.popitem(last=False)
        return inputs

    def cache_clear(self) -> None:
        """Forget all inputs."""
        self._inputs.clear()


PREPARED = PreparedInputs()


@dataclass(frozen=True)
class GridWork(FoldWork):
    """Work that goes through a grid of hyperparameters of one model on one outer fold.

    `given`: key of the choice whose hyperparameters are inherited. `paths`: False fits each
    candidate separately, even if the model can share work between candidates.
    """

    grid: SearchGrid = field(metadata=FLAT)
    given: str | None
    paths: bool = field(default=True, metadata=OPTIONAL)

    def content(self) -> dict[str, Any]:
        """Return the JSON content of the work; that of a plug-in's metric has its version."""
        metric = registered_metric(getattr(self, "metric", ""))
        version = (
            {"metric_version": metric.version} if metric and metric.version else {}
        )
        return super().content() | version

    @property
    def needs(self) -> tuple[str, ...]:
        return (self.given,) if self.given else ()

    @property
    def number_of_fits(self) -> int:
        return self.grid.n_candidates

    @property
    def typical_candidate(self) -> dict[str, Any]:
        return self.grid.middle

    @property
    def n_rows(self) -> int:
        """The number of rows of each fit, according to the spec."""
        return self.outer_fold.n_train

    def seconds(self) -> float:
        share = find_model(self.model.name).sharing if self.paths else 1.0
        return self.number_of_fits * (
            OVERHEAD + share * (self.fit_seconds(self.n_rows) - OVERHEAD)
        )

    def run(self, inputs: Mapping[str, Result], context: Context) -> Result:
        parent = choice_result(self.given, inputs)
        data = fold_data(self.outer_fold, context.data_dir)
        problem = self.problem(data, parent["params"], context)
        return finish_result(self.evaluate(data, problem), parent)

    def problem(
        self, data: FoldData, inherited_params: dict[str, Any], context: Context
    ) -> GridProblem:
        """Return the problem of the grid, which replaces inherited parameters, without its rows and
        folds.
        """
        factory, params = self.factory_with(chosen=inherited_params)
        fixed = {
            name: value
            for name, value in params.items()
            if name not in self.grid.values
        }
        return GridProblem(
            factory=factory,
            X=np.empty((0, 0)),
            y=data.y_train[:0],
            folds=[],
            candidates=self.grid.candidates(),
            fixed=fixed,
            weights=data.weights,
            labels=data.labels,
            paths=self.paths,
            context=context,
        )

    @abstractmethod
    def evaluate(self, data: FoldData, problem: GridProblem) -> Result:
        """Return the result of the grid on the rows of the outer fold, and `seconds`."""


@dataclass(frozen=True)
class TrainingWork(GridWork):
    """Work that goes through a grid on the training rows alone.

    `tune_rows`: the number of random training rows to use; None for all.
    """

    tune_rows: int | None = None

    @property
    def n_rows(self) -> int:
        return min(self.outer_fold.n_train, self.tune_rows or self.outer_fold.n_train)

    def rows_of(self, data: FoldData) -> Indices | slice:
        """Return the training rows to use."""
        n_used = self.tune_rows
        if n_used is None or n_used >= len(data.y_train):
            return slice(None)
        is_classification = data.labels is not None
        key = ("tune", *self.outer_fold.seed_key)
        return stratified_rows(data.y_train, n_used, is_classification, *key)


@dataclass(frozen=True)
class Search(TrainingWork):
    """A search on inner folds; `metric` compares the candidates."""

    kind = "search"

    inner: Split = INNER
    metric: str = ""

    @property
    def number_of_fits(self) -> int:
        return self.inner.folds * self.grid.n_candidates if self._has_choice else 0

    @property
    def n_rows(self) -> int:
        return n_training_rows(self.inner, super().n_rows)

    def evaluate(self, data: FoldData, problem: GridProblem) -> Result:
        """Search; the result has `params`, the chosen ones, `scores` (means) and `seconds`.

        A single candidate is chosen without a fit, and has no score.
        """
        if not self._has_choice:
            return {"params": self.grid.candidates()[0], "scores": [], "seconds": 0.0}
        scores, seconds = grid_scores(self.problems(data, problem), self.metric)
        params = self.grid.candidates()[best(scores)]
        return {
            "params": params,
            "scores": scores.mean(axis=1).tolist(),
            "seconds": seconds,
        }

    @property
    def _has_choice(self) -> bool:
        """True if the grid has several candidates."""
        return self.grid.n_candidates > 1

    def problems(self, data: FoldData, problem: GridProblem) -> Iterator[GridProblem]:
        """Yield the grid on all inner folds at once, or on one fold at a time if each prepares its
        own inputs.
        """
        X, y, folds = self.inner_folds(data)
        problem = replace(
            problem,
            X=X,
            y=y,
            folds=folds,
            weights=_rows_of_column(data.weights, self.rows_of(data)),
        )
        scale = self.outer_fold.protocol.scale
        needs_no_folds = scale is None or scale.fit_on == "all"
        if data.raw is None and needs_no_folds:
            yield problem
            return
        for number, fold in enumerate(folds):
            train, _ = fold
            prepare = partial(
                preprocessing.prepared_inputs, X, train, scale, data.columns
            )
            key = (data.identity, self.inner, self.tune_rows, number)
            inputs = prepare() if data.identity is None else PREPARED.get(key, prepare)
            yield replace(problem, X=inputs, folds=[fold])

    def inner_folds(
        self, data: FoldData
    ) -> tuple[Any, NDArray[Any], list[tuple[Indices, Indices]]]:
        """Return the rows of the search, and their inner folds."""
        rows = self.rows_of(data)
        inputs = data.X_train if data.raw is None else data.raw
        X = preprocessing.take_rows(inputs, rows)
        y = data.y_train[rows]
        if self.inner.kind == GIVEN:
            assert data.rows is not None
            run = self.outer_fold.run
            fold = self.outer_fold.fold
            return X, y, given_inner_parts(self.inner, run, fold, data.rows[rows])
        folds = folds_of(
            self.inner,
            integer_seed("inner", *self.outer_fold.seed_key),
            X,
            y,
            groups=_rows_of_column(data.groups, rows),
            times=_rows_of_column(data.times, rows),
        )
        return X, y, folds


def _rows_of_column(
    column: NDArray[Any] | None, rows: Indices | slice
) -> NDArray[Any] | None:
    return None if column is None else column[rows]

"""Base classes of the tasks that go through a grid of hyperparameters."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from elmbench.evaluation.content import FLAT, OPTIONAL
from elmbench.evaluation.folds import FoldData, fold_data
from elmbench.evaluation.splits import Indices, sample_rows
from elmbench.metrics import registered_metric
from elmbench.registry import find_model
from elmbench.specs.grids import SearchGrid
from elmbench.tasks.base import (
    OVERHEAD,
    Context,
    FoldTask,
    Result,
    choice_result,
    finish_result,
)
from elmbench.tasks.scoring import GridProblem


@dataclass(frozen=True)
class GridTask(FoldTask):
    """A task that goes through a grid of hyperparameters of one model on one outer fold.

    `given`: key of the choice whose hyperparameters are inherited. `paths`: False fits each
    candidate separately, even if the model can share work between candidates.
    """

    grid: SearchGrid = field(metadata=FLAT)
    given: str | None
    paths: bool = field(default=True, metadata=OPTIONAL)

    def content(self) -> dict[str, Any]:
        """Return the JSON content of the task, with the version of the code of a
        plug-in's metric.
        """
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
        """Return the rough duration: the fits of all candidates, less what the model's
        path saves.
        """
        share = find_model(self.model.name).sharing if self.paths else 1.0
        return self.number_of_fits * (
            OVERHEAD + share * (self.fit_seconds(self.n_rows) - OVERHEAD)
        )

    def run(self, inputs: Mapping[str, Result], context: Context) -> Result:
        """Evaluate the grid on the fold; see `evaluate` for the result. Seconds and parameters of
        an earlier choice are added.
        """
        parent = choice_result(self.given, inputs)
        data = fold_data(self.outer_fold, context.data_dir)
        problem = self.problem(data, parent["params"], context)
        return finish_result(self.evaluate(data, problem), parent)

    def problem(
        self, data: FoldData, inherited_params: dict[str, Any], context: Context
    ) -> GridProblem:
        """Return the problem of the grid, still without rows and folds. `inherited_params`:
        parameters of an earlier choice; those that the grid searches are dropped.
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
        """Return the result of the grid on the rows of the outer fold. It has `seconds`, and
        `params` if the task chooses a candidate.
        """


@dataclass(frozen=True)
class TrainingTask(GridTask):
    """A task that goes through a grid on the training rows alone.

    `tune_rows`: the number of random training rows to use; None for all.
    """

    tune_rows: int | None = None

    @property
    def n_rows(self) -> int:
        return min(self.outer_fold.n_train, self.tune_rows or self.outer_fold.n_train)

    def rows_of(self, data: FoldData) -> Indices | slice:
        """Return the positions of the training rows to use, a stratified sample of `tune_rows`, or
        a slice if all are used.
        """
        y = data.y_train
        n_used = self.tune_rows
        if n_used is None or n_used >= len(y):
            return slice(None)
        is_classification = data.labels is not None
        seed_key = self.outer_fold.seed_key
        return sample_rows(y, n_used, is_classification, "tune", *seed_key)

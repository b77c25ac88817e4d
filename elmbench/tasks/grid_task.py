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

    `given`: key of the choice whose hyperparameters are inherited; None if none are. `paths`: False
    fits each candidate separately, even if the model can share work between candidates.
    """

    grid: SearchGrid = field(metadata=FLAT)
    given: str | None
    paths: bool = field(default=True, metadata=OPTIONAL)

    def content(self) -> dict[str, Any]:
        """Return the JSON content that determines the value of the result: the fields and `kind`.

        For a plug-in's metric, also the version of its code, `metric_version`.
        """
        metric = registered_metric(getattr(self, "metric", ""))
        version = (
            {"metric_version": metric.version} if metric and metric.version else {}
        )
        return super().content() | version

    @property
    def needs(self) -> tuple[str, ...]:
        """The key of the choice that is inherited, as a tuple; empty if none is."""
        return (self.given,) if self.given else ()

    @property
    def number_of_fits(self) -> int:
        """The number of models that the task fits: the candidates of the grid."""
        return self.grid.n_candidates

    @property
    def typical_candidate(self) -> dict[str, Any]:
        """The middle candidate of the grid, {name: value}, for estimates of duration and memory."""
        return self.grid.middle

    @property
    def n_rows(self) -> int:
        """The number of rows of each fit, by the counts of the spec."""
        return self.outer_fold.n_train

    def seconds(self) -> float:
        """Return the rough duration on one core: the fits of all candidates.

        A model that shares work between candidates takes less.
        """
        share = find_model(self.model.name).sharing if self.paths else 1.0
        return self.number_of_fits * (
            OVERHEAD + share * (self.fit_seconds(self.n_rows) - OVERHEAD)
        )

    def run(self, inputs: Mapping[str, Result], context: Context) -> Result:
        """Evaluate every candidate of the grid on the fold.

        The result: `seconds`, with those of an earlier choice; `params`, the inherited and the
        chosen ones, if the task chooses a candidate; and the kind's own keys, such as `scores` (see
        `evaluate`). `inputs`: {key: result} of the earlier choice.
        """
        parent = choice_result(self.given, inputs)
        data = fold_data(self.outer_fold, context.data_dir)
        problem = self.problem(data, parent["params"], context)
        return finish_result(self.evaluate(data, problem), parent)

    def problem(
        self, data: FoldData, inherited_params: dict[str, Any], context: Context
    ) -> GridProblem:
        """Return the problem of the grid, still without rows (`X`, `y`) and folds.

        It has the weights of all training rows, None if they have none. `inherited_params`: {name:
        value} of an earlier choice. Parameters that the grid searches are not among its `fixed`.
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
        """Return the result of the grid on the rows of the outer fold.

        It has `seconds`, and `params` if the task chooses a candidate. `data`: the rows. `problem`:
        the grid, still without rows and folds.
        """


@dataclass(frozen=True)
class TrainingTask(GridTask):
    """A task that goes through a grid on the training rows alone.

    `tune_rows`: the number of random training rows to use; None for all.
    """

    tune_rows: int | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows of each fit: the training rows, or `tune_rows` if they are fewer."""
        return min(self.outer_fold.n_train, self.tune_rows or self.outer_fold.n_train)

    def rows_of(self, data: FoldData) -> Indices | slice:
        """Return the positions of the training rows to use, ascending; a slice if all are used.

        They are a random sample of `tune_rows`, the same at each call, which keeps the shares of
        the classes; that of a regression is a plain one.
        """
        y = data.y_train
        n_used = self.tune_rows
        if n_used is None or n_used >= len(y):
            return slice(None)
        is_classification = data.labels is not None
        seed_key = self.outer_fold.seed_key
        return sample_rows(y, n_used, is_classification, "tune", *seed_key)

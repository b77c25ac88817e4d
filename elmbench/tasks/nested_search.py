"""The search for hyperparameters on inner folds: of the training part of one outer fold (`nested`
selection, or nested cross-validation), or of all rows (`once` selection).
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from elmbench.evaluation.folds import FoldData
from elmbench.evaluation.given_splits import given_inner_parts
from elmbench.evaluation.splits import Indices, folds_of, n_training_rows
from elmbench.lazy import LazyModule
from elmbench.numerics.seeds import integer_seed
from elmbench.specs.splits import GIVEN, Split
from elmbench.tasks.base import Result
from elmbench.tasks.grid_task import TrainingTask
from elmbench.tasks.scoring import GridProblem, best, grid_scores

if TYPE_CHECKING:
    from elmbench.evaluation import preprocessing
else:
    preprocessing = LazyModule("elmbench.evaluation.preprocessing")

INNER = Split("kfold", 3)


class PreparedInputs:
    """A cache of the inputs of the last inner folds, which the models of an outer fold share.

    Inputs of more than a million values are not kept.
    """

    #: The most inner folds and values of each: together 200 MB.
    MOST_FOLDS = 24
    MOST_VALUES = 1_000_000

    def __init__(self) -> None:
        self._inputs: OrderedDict[Hashable, Any] = OrderedDict()

    def get(self, key: Hashable, prepare: Callable[[], Any]) -> Any:
        """Return the inputs of a key, which `prepare` makes if they are not in the cache.

        They are kept unless they have more than a million values. Of more than 24 inputs, those
        that were made first are dropped.
        """
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
class Search(TrainingTask):
    """A search for the best candidate of a grid on inner folds.

    `inner`: the split of the training rows. `metric`: the name of the metric that compares the
    candidates.
    """

    kind = "search"

    inner: Split = INNER
    metric: str = ""

    @property
    def number_of_fits(self) -> int:
        """The number of fits: one for each candidate and inner fold; 0 for a single candidate."""
        return self.inner.folds * self.grid.n_candidates if self._has_choice else 0

    @property
    def n_rows(self) -> int:
        """The number of rows of each fit: the training rows of an inner fold."""
        return n_training_rows(self.inner, super().n_rows)

    def evaluate(self, data: FoldData, problem: GridProblem) -> Result:
        """Search on the inner folds of the training rows.

        The result: `params`, {name: value} of the chosen candidate; `scores`, the mean over folds
        of each candidate, larger is better, NaN if a fold lacks a score; and `seconds`. The first
        of equally good candidates is chosen. A single candidate is chosen without a fit, and
        `scores` is empty. `problem`: the grid, whose rows and folds are replaced.
        """
        if not self._has_choice:
            return {"params": problem.candidates[0], "scores": [], "seconds": 0.0}
        scores, seconds = grid_scores(self.problems(data, problem), self.metric)
        params = problem.candidates[best(scores)]
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
        """Yield the grid with its rows: on all inner folds at once, or on one fold at a time.

        The latter if each fold prepares its own inputs: it encodes, imputes or scales them by its
        training part. `problem`: the grid, whose rows, folds and weights are replaced.
        """
        X, y, folds = self.rows_and_inner_folds(data)
        problem = replace(
            problem,
            X=X,
            y=y,
            folds=folds,
            weights=_rows_of_column(data.weights, self.rows_of(data)),
        )
        scale = self.outer_fold.protocol.scale
        needs_no_folds = scale is None or scale.fit_on == "all"
        if data.columns is None and needs_no_folds:
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

    def rows_and_inner_folds(
        self, data: FoldData
    ) -> tuple[Any, NDArray[Any], list[tuple[Indices, Indices]]]:
        """Return X, y and the inner folds, pairs of positions of training and test rows in X.

        X holds the training rows that the search uses, a sample if `tune_rows` is set: neither
        encoded nor imputed if each fold does so, else inputs of models.
        """
        rows = self.rows_of(data)
        X = data.rows_to_prepare(rows)
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
    """Return the values of some rows of a column; None if there is no column.

    `column`: of shape (n,), or None. `rows`: positions or a slice.
    """
    return None if column is None else column[rows]

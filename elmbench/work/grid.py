"""Every candidate of a grid on the test rows of one outer fold: a part of what `oracle` selection looks at."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from elmbench.protocol.folds import FoldData, fold_data, fold_targets
from elmbench.work.base import Context, GridWork, Result, chosen_for
from elmbench.work.scoring import scores_of
from elmbench.work.search import Folds, finished, grid_problem, in_all


@dataclass(frozen=True)
class GridEvaluation(GridWork):
    """The scores of a grid on the test rows; nothing is chosen."""

    kind = "grid"

    metric: str = ""

    def run(self, inputs: Mapping[str, Result], context: Context) -> Result:
        """Evaluate the grid.

        Returns
        -------
        dict
            `scores`, one a candidate; `seconds` and, where any was counted, `solvers`.
        """
        return self.judge(self.produce(inputs, context), context)

    def produce(self, inputs: Mapping[str, Result], context: Context) -> Result:
        """Evaluate the grid; with a model from outside, only predict: `predicted` in place of `scores`."""
        given = chosen_for(self.given, inputs)
        return finished(on_test_rows(self, given, context), given)

    def judge(self, produced: Result, context: Context) -> Result:
        """Score what was predicted."""
        return scored(self, produced, context)


def on_test_rows(work: Any, given: Result, context: Context) -> Result:
    """Return the scores of a grid on the test rows of its outer fold, or its predictions, and what they took."""
    data = fold_data(work.place, context.data_dir)
    problem = grid_problem(work, given, outer_rows(data), data.labels, context)
    if work.is_scored_apart:
        predicted, spent = problem.predictions()
        return {"predicted": predicted, **in_all(spent)}
    scores, spent = problem.scores(work.metric)
    return {"scores": scores[:, 0].tolist(), **in_all(spent)}


def scored(work: Any, found: Result, context: Context) -> Result:
    """Return what `on_test_rows` has returned with `scores` in any case."""
    if not work.is_scored_apart:
        return found
    targets = fold_targets(work.place, context.data_dir)
    scores = scores_of(found.get("predicted"), [targets.y_test], len(work.grid), work.metric, targets.labels)
    return {name: value for name, value in found.items() if name != "predicted"} | {"scores": scores[:, 0].tolist()}


def outer_rows(data: FoldData) -> tuple[Any, NDArray[Any], Folds]:
    """Return all rows of an outer fold, the training rows first, and the numbers of the two parts."""
    parts = [data.X_train, data.X_test]
    X = sp.vstack(parts, format="csr") if sp.issparse(data.X_train) else np.vstack(parts)
    y = np.concatenate([data.y_train, data.y_test])
    n = len(data.y_train)
    return X, y, [(np.arange(n), np.arange(n, len(y)))]

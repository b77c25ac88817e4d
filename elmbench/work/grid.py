"""The scores of all candidates of a grid on the test rows of one outer fold, for `oracle` selection."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from elmbench.protocol.folds import FoldData, fold_data
from elmbench.work.base import Context, GridWork, Result, chosen_for
from elmbench.work.scoring import grid_scores
from elmbench.work.search import Folds, finished, grid_problem, total


@dataclass(frozen=True)
class GridEvaluation(GridWork):
    """The scores of a grid on the test rows; nothing is chosen."""

    kind = "grid"

    metric: str = ""

    def run(self, inputs: Mapping[str, Result], context: Context) -> Result:
        """Evaluate the grid.

        The result: `scores`, one a candidate; `seconds` and, where any was counted, `solvers`.
        """
        given = chosen_for(self.given, inputs)
        return finished(scores_on_test_rows(self, given, context), given)


def scores_on_test_rows(work: Any, given: Result, context: Context) -> Result:
    """Return the scores of a grid on the test rows of its outer fold, with their time and solvers."""
    data = fold_data(work.outer_fold, context.data_dir)
    weights = None if data.weights is None else np.append(data.weights, np.zeros(len(data.y_test)))
    problem = grid_problem(work, given, outer_rows(data), data.labels, context, weights)
    scores, spent = grid_scores([problem], work.metric)
    return {"scores": scores[:, 0].tolist(), **total(spent)}


def outer_rows(data: FoldData) -> tuple[Any, NDArray[Any], Folds]:
    """Return all rows of an outer fold, the training rows first, and the numbers of the two parts."""
    parts = [data.X_train, data.X_test]
    X = sp.vstack(parts, format="csr") if sp.issparse(data.X_train) else np.vstack(parts)
    y = np.concatenate([data.y_train, data.y_test])
    n = len(data.y_train)
    return X, y, [(np.arange(n), np.arange(n, len(y)))]

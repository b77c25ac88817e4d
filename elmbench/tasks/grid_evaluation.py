"""The scores of all candidates of a grid on the test rows of one outer fold, for `oracle`
selection.
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from elmbench.evaluation.folds import FoldData
from elmbench.tasks.base import Result
from elmbench.tasks.grid_task import GridTask
from elmbench.tasks.scoring import GridProblem, grid_scores


@dataclass(frozen=True)
class GridEvaluation(GridTask):
    """A task that scores every candidate of a grid on the test rows, and chooses none.

    `metric`: the name of the metric of the scores.
    """

    kind = "grid"

    metric: str = ""

    def evaluate(self, data: FoldData, problem: GridProblem) -> Result:
        """Fit each candidate to the training rows, and score it on the test rows.

        The result: `scores`, one for each candidate (larger is better, -inf for outputs that are
        not finite, NaN if its fit fails or a path yields none), and `seconds`. `problem`: the grid,
        whose rows and folds are replaced by those of `data`.
        """
        n = len(data.y_train)
        parts = [data.X_train, data.X_test]
        X = (
            sp.vstack(parts, format="csr")
            if sp.issparse(data.X_train)
            else np.vstack(parts)
        )
        y = np.concatenate([data.y_train, data.y_test])
        weights = (
            None
            if data.weights is None
            else np.append(data.weights, np.zeros(len(data.y_test)))
        )
        folds = [(np.arange(n), np.arange(n, len(y)))]
        scores, seconds = grid_scores(
            [replace(problem, X=X, y=y, folds=folds, weights=weights)], self.metric
        )
        return {"scores": scores[:, 0].tolist(), "seconds": seconds}

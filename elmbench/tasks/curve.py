"""A metric at every value of one hyperparameter on the test rows of one outer fold, without a
choice.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from elmbench.evaluation.content import OPTIONAL
from elmbench.metrics import less_is_better
from elmbench.specs.measures import Measure
from elmbench.tasks.base import Context, Result
from elmbench.tasks.grid_evaluation import GridEvaluation


@dataclass(frozen=True)
class Curve(GridEvaluation):
    """A grid of one hyperparameter, with the metric at each of its values on the test rows.

    `given`: always None, as no hyperparameters are inherited. Nothing is chosen.
    """

    kind = "curve"

    given: None = field(default=None, metadata=OPTIONAL)

    def run(self, inputs: Mapping[str, Result], context: Context) -> Result:
        """Fit each value of the grid to the training rows, and return its metric on the test rows.

        The result: `params`, the fixed ones; `measured`, {`gmean@h=5`: metric} for each value; and
        `search_seconds`. The metric is NaN if predictions are not finite. `inputs` are not used.
        """
        evaluation = super().run(inputs, context)
        scores = np.array(evaluation["scores"])
        values = np.where(
            np.isfinite(scores),
            -scores if less_is_better(self.metric) else scores,
            np.nan,
        )
        ((name, grid),) = self.grid.values.items()
        columns = [Measure.create(self.metric, name, value).column for value in grid]
        values_by_column = dict(zip(columns, values.tolist(), strict=True))
        return {
            "params": self.params,
            "measured": values_by_column,
            "search_seconds": evaluation["seconds"],
        }

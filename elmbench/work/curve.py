"""A metric at every value of one hyperparameter on the test rows of one outer fold: nothing is chosen."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from elmbench.protocol.content import UNSAID
from elmbench.protocol.metrics import LESS_IS_BETTER, metric_at
from elmbench.work.base import Context, GridWork, Result
from elmbench.work.grid import test_scores


@dataclass(frozen=True)
class Curve(GridWork):
    """The values of a grid of one name, each measured."""

    kind = "curve"

    given: None = field(default=None, metadata=UNSAID)
    metric: str = ""

    def run(self, inputs: Mapping[str, Result], context: Context) -> Result:
        """Measure.

        Returns
        -------
        dict
            In the form of a fit's result; `metrics` are `gmean@h=5` and so on, not a number where predictions are not
            finite.
        """
        found = test_scores(self, {"params": {}, "seconds": 0.0}, context)
        ((name, values),) = self.grid.values.items()
        scores = np.where(np.isfinite(found["scores"]), found["scores"], np.nan)
        if self.metric in LESS_IS_BETTER:
            scores = -scores
        metrics = {metric_at(self.metric, name, value): s for value, s in zip(values, scores.tolist(), strict=True)}
        seconds = {"search_seconds": found["seconds"]}
        return {"status": "ok", "reason": "", "params": self.params, "metrics": metrics, **seconds}

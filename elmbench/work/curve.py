"""A metric at every value of one hyperparameter on the test rows of one outer fold: nothing is chosen."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from elmbench.protocol.content import UNSAID
from elmbench.protocol.metrics import LESS_IS_BETTER, metric_at
from elmbench.work.base import Context, GridWork, Result
from elmbench.work.grid import on_test_rows, scored


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
        return self.judge(self.produce(inputs, context), context)

    def produce(self, inputs: Mapping[str, Result], context: Context) -> Result:
        """Return the scores at the values, or with a model from outside the predictions."""
        return {"status": "ok", "reason": "", **on_test_rows(self, {"params": {}, "seconds": 0.0}, context)}

    def judge(self, produced: Result, context: Context) -> Result:
        """Score what was predicted, and name the scores."""
        found = scored(self, produced, context)
        ((name, values),) = self.grid.values.items()
        scores = np.where(np.isfinite(found["scores"]), found["scores"], np.nan)
        if self.metric in LESS_IS_BETTER:
            scores = -scores
        metrics = {metric_at(self.metric, name, value): s for value, s in zip(values, scores.tolist(), strict=True)}
        seconds = {"search_seconds": found["seconds"]}
        rest = {name: value for name, value in found.items() if name not in ("scores", "seconds")}
        return rest | {"params": self.params, "metrics": metrics, **seconds}

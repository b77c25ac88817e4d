"""A metric at every value of one hyperparameter on the test rows of one outer fold, without a choice."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from elmbench.metrics import less_is_better
from elmbench.protocol.content import OMITTED
from elmbench.specs.measures import Measure
from elmbench.work.base import Context, GridWork, Result
from elmbench.work.grid import scores_on_test_rows


@dataclass(frozen=True)
class Curve(GridWork):
    """The values of a grid of one name, each measured."""

    kind = "curve"

    given: None = field(default=None, metadata=OMITTED)
    metric: str = ""

    def run(self, inputs: Mapping[str, Result], context: Context) -> Result:
        """Measure.

        The result: in the form of a fit's result; `measured` are `gmean@h=5` and so on, not a number where predictions
        are not finite.
        """
        evaluated = scores_on_test_rows(self, {"params": {}, "seconds": 0.0}, context)
        scores, seconds = np.array(evaluated.pop("scores")), evaluated.pop("seconds")
        if less_is_better(self.metric):
            scores = -scores
        scores = np.where(np.isfinite(scores), scores, np.nan)
        ((name, values),) = self.grid.values.items()
        names = [Measure.at(self.metric, name, value).column for value in values]
        measured = dict(zip(names, scores.tolist(), strict=True))
        result = {"status": "ok", "reason": "", "params": self.params, "measured": measured, "search_seconds": seconds}
        return result | evaluated

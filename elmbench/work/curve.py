"""A metric at every value of one hyperparameter on the test rows of one outer fold: nothing is chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from elmbench.protocol.metrics import LESS_IS_BETTER, metric_at
from elmbench.specs.datasets import DatasetSpec
from elmbench.work.base import Context, GridWork, Result
from elmbench.work.grid import test_scores


@dataclass(frozen=True)
class Curve(GridWork):
    """The values of a grid of one name, each measured.

    Attributes
    ----------
    metric : str
    """

    kind = "curve"

    metric: str = ""

    def content(self) -> dict[str, Any]:
        """Return what determines the metrics."""
        return self.grid_content() | {"metric": self.metric}

    @classmethod
    def from_content(cls, content: dict[str, Any], spec: DatasetSpec | None = None) -> Curve:
        """Return the curve that `content` was made from."""
        return cls(**cls.grid_fields(content, spec), metric=content["metric"])

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

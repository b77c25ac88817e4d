"""A fit with learnt kernel weights: the number of kernels, of iterations, and the paths of the
weights.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from elmbench.evaluation.folds import FoldData
from elmbench.tasks.base import Result
from elmbench.tasks.fit import Fit

#: A kernel counts if its weight is at least this share of the largest one.
LEAST_SHARE = 0.01


@dataclass(frozen=True)
class KernelWeights(Fit):
    """A fit that also counts kernels and iterations, and keeps the paths of weights and objective.

    A model without kernel weights is fitted as well, without counts and paths.
    """

    kind = "kernel-weights"

    def extra_values(self, estimator: Any, data: FoldData) -> Result:
        """Return further values of a fitted model for the store: counts and paths of its weights.

        `estimator`: the fitted model. The result: `measured`, {name: value} with those of
        `Fit.extra_values`, `kernels`, the number of those with a weight of at least 1 % of the
        largest, and `iterations`; `paths`, with `kernels`, as the model's parameter has them,
        `weights`, a list of weights for the start and for every iteration, and `objective`, as many
        numbers. A model without kernel weights has neither counts nor `paths`.
        """
        result = super().extra_values(estimator, data)
        weights = getattr(estimator, "weights_", None)
        if weights is None:
            return result
        n_kernels = float(np.count_nonzero(weights >= LEAST_SHARE * weights.max()))
        values = result["measured"] | {
            "kernels": n_kernels,
            "iterations": float(estimator.n_iter_),
        }
        curves = {
            "weights": estimator.weights_path_.tolist(),
            "objective": estimator.objective_.tolist(),
        }
        return {"measured": values, "paths": {"kernels": estimator.kernels, **curves}}

"""A fit whose kernel weights are learnt: how many kernels are left, after how many iterations, and on which way."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from elmbench.protocol.folds import FoldData
from elmbench.work.fit import Fit

#: A kernel counts if its weight is at least this share of the largest one.
LEAST_SHARE = 0.01


@dataclass(frozen=True)
class KernelWeights(Fit):
    """A fit that also counts kernels and iterations, and whose outputs are the paths of the weights and the objective.

    A model that learns no kernel weights is fitted and measured all the same, and has neither counts nor paths.
    """

    kind = "kernel-weights"

    def outputs(self, estimator: Any, data: FoldData) -> dict[str, Any]:
        """Return the paths.

        Returns
        -------
        dict
            `kernels`, as the model's parameter has them; `weights`, a list of weights for the start and for every
            iteration, and `objective`, as many numbers. Empty for a model without kernel weights.
        """
        if not hasattr(estimator, "weights_path_"):
            return {}
        paths = {"weights": estimator.weights_path_.tolist(), "objective": estimator.objective_.tolist()}
        return {"kernels": estimator.kernels, **paths}

    def counts(self, estimator: Any) -> dict[str, float]:
        """Return `kernels`, those with a weight of at least `LEAST_SHARE` of the largest, and `iterations`."""
        weights = getattr(estimator, "weights_", None)
        if weights is None:
            return {}
        kept = np.count_nonzero(weights >= LEAST_SHARE * weights.max())
        return {"kernels": float(kept), "iterations": float(estimator.n_iter_)}

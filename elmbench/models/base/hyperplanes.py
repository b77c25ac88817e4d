"""What the linear machines that are learnt by stochastic gradient descent share."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from elmbench.models.base.stochastic import BLOCK_BYTES, StochasticClassifier
from elmbench.numerics.arrays import Array
from elmbench.numerics.centres import Rows
from elmbench.numerics.nodes.hidden_layer import ROW_BLOCK, layer_blocks
from elmbench.numerics.online.hyperplanes import HyperplaneState

CONSTANT = 1.0
"""The feature that an intercept is the weight of."""


class HyperplaneClassifier(StochasticClassifier):
    """Weights of classes with an intercept or none, the output of a class being that of its largest weight.

    Two classes have weights each, w_1 and w_0, and lambda is twice 1/(n C): the weights are then as long as makes their
    difference the w of |w|^2 / 2 + C sum of the losses, as if it had been learnt with a single output.
    """

    fit_intercept: bool
    _state: HyperplaneState

    def _new_state(self, n_features: int, n_outputs: int) -> HyperplaneState:
        constant = CONSTANT if self.fit_intercept else 0.0
        return HyperplaneState(n_features, max(2, n_outputs), constant, **self._limits())

    def _limits(self) -> dict[str, Any]:
        """Return how many weights the state may have, and when it drops some."""
        return {}

    @property
    def _ridge(self) -> float:
        return (2.0 if self._state.n_classes == 2 else 1.0) * super()._ridge

    def _outputs(self, X: Rows) -> Array:
        weights, intercepts, owners = self._solution()
        starts = np.searchsorted(owners, np.arange(self._state.n_classes))
        outputs = np.empty((X.shape[0], len(starts)))
        for rows in layer_blocks(X.shape[0]):
            outputs[rows] = np.maximum.reduceat(X[rows] @ weights.T + intercepts, starts, axis=1)
        return outputs[:, 1:] - outputs[:, :1] if len(starts) == 2 else outputs

    def _solution(self) -> tuple[Array, Array, np.ndarray]:
        """Return the weights, their intercepts and the numbers of their classes, in ascending order."""
        check_is_fitted(self, "classes_")
        return self._state.solution(self._ridge)

    @staticmethod
    def _memory(n_samples: int, n_features: int, n_classes: int, n_weights: int) -> int:
        """Count the weights, twice while they grow and when they are handed out, and the outputs of a block of rows."""
        most = n_weights * n_classes
        floats = 4 * most * (n_features + 4) + 2 * min(n_samples, ROW_BLOCK) * most + n_samples * (n_classes + 4)
        return 8 * floats + 6 * BLOCK_BYTES

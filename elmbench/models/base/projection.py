"""What the projection vector machines share: hidden nodes from a singular value decomposition, and what they yield."""

from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval, StrOptions

from elmbench.models.base.parameters import COUNT
from elmbench.numerics.arrays import EPS, Array
from elmbench.numerics.nodes.hidden_layer import ACTIVATIONS
from elmbench.numerics.nodes.least_squares import leading_solutions
from elmbench.numerics.projection.spectrum import RATIOS, Spectrum

Rows = Any
"""An ndarray of shape (n, d), or a CSR matrix of that shape."""

PROJECTION_CONSTRAINTS = {
    "n_hidden": [COUNT, None],
    "theta": [Interval(Real, 0, 1, closed="right")],
    "ratio": [StrOptions(set(RATIOS))],
}
"""Constraints of parameters that the projection vector machines share."""

BLOCK_BYTES = 32 * 2**20
"""Size of the block of centred rows that is held at a time, in bytes (one row is the least)."""


def hidden_outputs(inputs: Array, activation: str) -> Array:
    """Return the outputs of hidden nodes for their inputs, of shape (n, L) and in Fortran order."""
    return ACTIVATIONS[activation](np.array(inputs, order="F"))


def cutoff(n_samples: int) -> float:
    """Return which part of the largest singular value of the hidden outputs counts as zero, as in MATLAB's pinv."""
    return n_samples * EPS


def projected(X: Rows, mean: Array, weights: Array, biases: Array) -> Array:
    """Return (x - mean)' w + b for all rows and nodes, of shape (n, L).

    Dense rows are centred a block at a time; sparse ones stay as they are.
    """
    if sp.issparse(X):
        return np.asarray(X @ weights.T) + (biases - weights @ mean)
    inputs = np.empty((len(X), len(weights)))
    step = max(1, BLOCK_BYTES // (8 * X.shape[1]))
    for start in range(0, len(X), step):
        inputs[start : start + step] = (X[start : start + step] - mean) @ weights.T
    inputs += biases
    return inputs


class ProjectionNodesMixin:
    """Hidden nodes g((x - mean)' w + b) along singular directions, and least squares on what they yield."""

    n_hidden: int | None
    theta: float
    ratio: str
    activation: str
    beta_: Array
    mean_: Array
    weights_: Array
    biases_: Array
    singular_values_: Array
    condition_: float

    def _size(self, spectrum: Spectrum) -> int:
        """Return the number of hidden nodes: the given one, as far as there are directions, or that of theta."""
        if self.n_hidden is None:
            return spectrum.node_count(self.theta, self.ratio)
        return min(self.n_hidden, len(spectrum.values))

    def _solve(self, inputs: Array, T: Array) -> None:
        """Eqs. (10) and (29): the output weights, from what goes into the nodes, of shape (n, L), and all targets."""
        n, size = inputs.shape
        H = hidden_outputs(inputs, self.activation)
        ((_, self.beta_, self.condition_),) = leading_solutions(H, T, [size], cutoff(n))

    def _outputs(self, X: Rows) -> Array:
        """Return g(W (x - mean) + b)' beta for every row."""
        H = projected(X, self.mean_, self.weights_, self.biases_)
        return ACTIVATIONS[self.activation](H) @ self.beta_

    @property
    def n_units_(self) -> int:
        """The number of hidden nodes."""
        return len(self.weights_)

"""The output weights of the first nodes of a hidden layer."""

import numpy as np
import pytest

from elmbench.numerics.nodes.output_weights import output_weights


@pytest.mark.parametrize("size", [4, 8])
def test_output_weights_use_the_first_nodes_of_a_larger_layer(size):
    """With fewer nodes than the 6 rows, and with more."""
    random = np.random.default_rng(0)
    X = random.normal(size=(6, 3))
    targets = random.normal(size=(6, 2))
    nodes = random.normal(size=(3, 10))

    def layer(rows):
        return np.tanh(rows @ nodes)

    weights, _ = output_weights(X, targets, layer, size, ridge=0.1)

    H = layer(X)[:, :size]
    expected = np.linalg.solve(H.T @ H + 0.1 * np.eye(size), H.T @ targets)
    np.testing.assert_allclose(weights, expected, atol=1e-9)

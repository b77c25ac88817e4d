"""The random nodes of Czarnecki & Tabor against their formulas as printed."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from elmbench.numerics.nodes.eem_nodes import NODES, node_outputs
from elmbench.numerics.nodes.hidden_layer import draw_hidden_nodes

FORMULAS = {
    "sigmoid": lambda x, w, b: 1 / (1 + np.exp(-(w @ x) + b)),
    "nsig": lambda x, w, b: 1 / (1 + np.exp(-(w @ x) / len(x) + b)),
    "rbf": lambda x, w, b: np.exp(-b * ((w - x) ** 2).sum()),
}


def drawn(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    return draw_hidden_nodes(n, d, np.random.RandomState(5), 0.0, 1.0)


@pytest.mark.parametrize("activation", sorted(NODES))
@pytest.mark.parametrize(("n_nodes", "d"), [(1, 1), (64, 3), (70, 12)])
def test_formulas_as_printed(activation, n_nodes, d, seed):
    X = np.random.RandomState(seed + 1).rand(9, d)
    weights, biases = drawn(n_nodes, d)
    H = node_outputs(X, weights, biases, activation)
    assert H.shape == (9, n_nodes)
    assert H.flags.f_contiguous
    expected = [[FORMULAS[activation](x, w, b) for w, b in zip(weights, biases, strict=True)] for x in X]
    np.testing.assert_allclose(H, expected, rtol=1e-13)
    X[X < 0.5] = 0.0
    X = np.vstack([X, np.zeros((1, d)), X])
    H = node_outputs(sp.csr_array(X), weights, biases, activation)
    assert H.flags.f_contiguous
    expected = [[FORMULAS[activation](x, w, b) for w, b in zip(weights, biases, strict=True)] for x in X]
    np.testing.assert_allclose(H, expected, rtol=1e-13)


def test_nodes_are_drawn_from_zero_to_one():
    weights, biases = drawn(4000, 3)
    for values in (weights, biases):
        assert 0 <= values.min() < 0.01
        assert 0.99 < values.max() <= 1
        assert abs(values.mean() - 0.5) < 0.02


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("activation", sorted(NODES))
def test_far_inputs_saturate_without_a_warning(activation, seed):
    X = 1e5 * (np.random.RandomState(seed).rand(20, 4) - 0.5)
    H = node_outputs(X, *drawn(30, 4), activation)
    assert np.isfinite(H).all()

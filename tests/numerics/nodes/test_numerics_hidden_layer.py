"""The hidden layer against its formula."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples
from scipy.special import expit

from elmbench.numerics.nodes.hidden_layer import ACTIVATIONS, Nodes, draw_hidden_nodes, hidden_layer

FORMULAS = {"sigmoid": expit, "tanh": np.tanh, "relu": lambda Z: np.maximum(Z, 0.0)}


@examples(60)
@given(
    n=st.integers(1, 20),
    d=st.integers(1, 5),
    L=st.integers(1, 200),
    seed=st.integers(0, 2**31 - 1),
    activation=st.sampled_from(sorted(ACTIVATIONS)),
)
def test_the_formula(n, d, L, seed, activation):
    random = np.random.RandomState(seed)
    X = random.randn(n, d)
    weights, biases = draw_hidden_nodes(L, d, random)
    expected = FORMULAS[activation](X @ weights.T + biases)
    H = hidden_layer(X, weights, biases, activation)
    assert H.flags.f_contiguous
    np.testing.assert_allclose(H, expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose(hidden_layer(sp.csr_matrix(X), weights, biases, activation), expected, atol=1e-14)


@pytest.mark.parametrize("activation", sorted(ACTIVATIONS))
def test_slope(activation, seed):
    random = np.random.RandomState(seed)
    X = random.randn(20, 4)
    weights, biases = draw_hidden_nodes(100, 4, random)
    nodes = Nodes(weights, biases, activation, 4.0)
    expected = FORMULAS[activation](4.0 * (X @ weights.T + biases))
    # A power of two: no product but that with the weights has round-off.
    np.testing.assert_allclose(nodes.outputs(X), expected, rtol=0, atol=1e-13)
    np.testing.assert_allclose(nodes.first(70).outputs(X), expected[:, :70], rtol=0, atol=1e-13)


@pytest.mark.filterwarnings("error")
def test_the_sigmoid_saturates_without_a_warning():
    Z = np.array([-1e4, -800.0, -700.0, -30.0, 0.0, 30.0, 800.0])
    np.testing.assert_allclose(ACTIVATIONS["sigmoid"](Z.copy()), expit(Z), rtol=1e-15, atol=1e-300)

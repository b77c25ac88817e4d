"""The tiles of the hidden layer and its products against dense numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples
from scipy.special import expit

from elmbench.numerics.nodes.gram import gram_of_outputs, outer_gram, transposed_product
from elmbench.numerics.nodes.hidden_layer import ACTIVATIONS, TILE, Nodes, draw_hidden_nodes, hidden_layer

SETTINGS = examples(60)
SEEDS = st.integers(0, 2**31 - 1)


def gram_of_nodes(X, T, nodes):
    return gram_of_outputs(lambda rows: nodes.outputs(X[rows]), T, len(nodes))


@SETTINGS
@given(n=st.integers(1, 20), d=st.integers(1, 5), L=st.integers(1, 200), seed=SEEDS)
def test_hidden_layer_and_its_products(n, d, L, seed):
    random = np.random.RandomState(seed)
    X, T = random.randn(n, d), random.randn(n, 2)
    weights, biases = draw_hidden_nodes(L, d, random)
    expected = expit(X @ weights.T + biases)
    H = hidden_layer(X, weights, biases)
    np.testing.assert_array_equal(hidden_layer(X, weights, biases, slope=1.0), H)
    assert H.shape[1] % TILE == 0
    np.testing.assert_allclose(H[:, :L], expected, atol=1e-14)
    assert not H[:, L:].any()
    sums, moments = gram_of_nodes(X, T, Nodes(weights, biases))
    np.testing.assert_allclose(sums[:L, :L], expected.T @ expected, atol=1e-12)
    np.testing.assert_allclose(moments[:L], expected.T @ T, atol=1e-12)
    np.testing.assert_array_equal(sums, sums.T)
    np.testing.assert_allclose(outer_gram(H), expected @ expected.T, atol=1e-12)
    np.testing.assert_allclose(transposed_product(H, T)[:L], expected.T @ T, atol=1e-12)


@pytest.mark.parametrize("activation", sorted(ACTIVATIONS))
def test_slope(activation, seed):
    random = np.random.RandomState(seed)
    X = random.randn(20, 4)
    weights, biases = draw_hidden_nodes(100, 4, random)
    nodes = Nodes(weights, biases, activation, 4.0)
    expected = ACTIVATIONS[activation](4.0 * (X @ weights.T + biases))
    # A power of two: no product but that with the weights has round-off.
    np.testing.assert_allclose(nodes.outputs(X)[:, :100], expected, rtol=0, atol=1e-13)
    assert not nodes.outputs(X)[:, 100:].any()
    np.testing.assert_allclose(nodes.first(70).outputs(X)[:, :70], expected[:, :70], rtol=0, atol=1e-13)


def test_leading_blocks_are_those_of_a_smaller_network_to_the_last_bit():
    random = np.random.RandomState(0)
    X, T = random.rand(2500, 7), random.rand(2500, 3)
    weights, biases = draw_hidden_nodes(300, 7, random)
    H = hidden_layer(X, weights, biases)
    sums, moments = gram_of_nodes(X, T, Nodes(weights, biases))
    for L in (1, 63, 64, 65, 150, 299):
        np.testing.assert_array_equal(hidden_layer(X, weights[:L], biases[:L])[:, :L], H[:, :L])
        few, few_moments = gram_of_nodes(X, T, Nodes(weights, biases).first(L))
        np.testing.assert_array_equal(few[:L, :L], sums[:L, :L])
        np.testing.assert_array_equal(few_moments[:L], moments[:L])

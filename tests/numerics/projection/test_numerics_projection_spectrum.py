"""The triplet of the row of ones, the accumulation ratio and the signs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples

from elmbench.numerics.arrays import EPS
from elmbench.numerics.projection.batch import singular_directions
from elmbench.numerics.projection.spectrum import Spectrum, fix_signs, with_ones


@examples(80)
@given(
    n=st.integers(1, 60), d=st.integers(1, 60), scale=st.sampled_from([0.01, 1.0, 30.0]), seed=st.integers(0, 2**31 - 1)
)
def test_equals_the_decomposition_of_the_extended_matrix(n, d, scale, seed):
    X = scale * np.random.RandomState(seed).randn(n, d)
    C = X - X.mean(axis=0)
    values, directions = singular_directions(C)
    spectrum = with_ones(values, n, X.mean(axis=0))
    U, expected, _ = np.linalg.svd(np.vstack([C.T, np.ones(n)]), full_matrices=False)
    rank = len(spectrum.values)
    atol = 20 * (n + d) * EPS * expected[0]
    np.testing.assert_allclose(spectrum.values, expected[:rank], rtol=0, atol=atol)
    np.testing.assert_allclose(expected[rank:], 0, atol=atol)
    assert spectrum.values[spectrum.constant] == np.sqrt(n)
    size = 1 + seed % rank
    weights, biases = spectrum.nodes(directions, size)
    inputs = spectrum.node_inputs(C @ directions.T, size)
    np.testing.assert_allclose(C @ weights.T + biases, inputs, atol=atol)
    # The nodes are the leading left singular vectors, eq. (7), but for their signs and turns between equal values.
    nodes = np.column_stack([weights, biases])
    np.testing.assert_allclose(nodes @ nodes.T, np.eye(size), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(inputs, axis=0), expected[:size], atol=atol)
    gap = expected[size - 1] - (expected[size] if size < len(expected) else 0.0)
    if gap > 1e-3 * expected[0]:
        np.testing.assert_allclose(nodes - nodes @ U[:, :size] @ U[:, :size].T, 0, atol=20 * atol / gap)


def test_ones_within_round_off_of_the_data_are_no_node():
    X = 1e16 * np.random.RandomState(0).randn(30, 4)
    centred = X - X.mean(axis=0)
    values, directions = singular_directions(centred)
    spectrum = with_ones(values, 30, X.mean(axis=0))
    assert spectrum.constant is None
    assert len(spectrum.values) == 4
    np.testing.assert_array_equal(spectrum.nodes(directions, 4)[1], 0)
    assert spectrum.node_inputs(centred @ directions.T, 4).shape == (30, 4)


@pytest.mark.parametrize(
    ("theta", "linear", "squared"), [(0.5, 1, 1), (0.51, 2, 1), (0.74, 2, 2), (0.76, 3, 2), (0.94, 4, 3), (1.0, 4, 4)]
)
def test_accumulation_ratio(theta, linear, squared):
    """8 + 4 + 2 + 2 of 16; of their squares 64 + 16 + 4 + 4 of 88."""
    spectrum = Spectrum(np.array([8.0, 4.0, 2.0, 2.0]))
    assert spectrum.node_count(theta, "linear") == linear
    assert spectrum.node_count(theta, "squared") == squared


def test_accumulation_ratio_of_values_whose_squares_are_out_of_range():
    assert Spectrum(np.array([1e-200, 1e-200])).node_count(0.9, "squared") == 2
    assert Spectrum(np.array([1e200, 1e200])).node_count(0.9, "squared") == 2


def test_first_values_with_the_constant_and_without():
    spectrum = Spectrum(np.array([5.0, 3.0, 1.0]), 1)
    assert [spectrum.directions(size) for size in (1, 2, 3)] == [1, 1, 2]
    assert [spectrum.first(size).constant for size in (1, 2, 3)] == [None, 1, 1]
    np.testing.assert_array_equal(spectrum.first(2).values, [5.0, 3.0])


def test_signs_make_the_first_of_the_largest_entries_positive():
    W = np.array([[0.1, -0.9, 0.3], [0.5, -0.5, 0.1], [-0.5, 0.5 + 1e-12, 0.2], [-0.2, 0.9, -0.8]])
    np.testing.assert_array_equal(fix_signs(W), [-1, 1, -1, 1])
    np.testing.assert_array_equal(fix_signs(-W), [1, -1, 1, -1])
    assert fix_signs(np.empty((0, 3))).shape == (0,)

"""Least squares in leading columns against the pseudo-inverse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples

from elmbench.numerics.nodes.least_squares import leading_solutions

SETTINGS = examples(100)


def layer(n: int, width: int, seed: int, rank: int | None = None) -> np.ndarray:
    """Return columns of a rank, if one is given."""
    random = np.random.RandomState(seed)
    H = random.randn(n, width) if rank is None else random.randn(n, rank) @ random.randn(rank, width)
    return np.asfortranarray(H)


@SETTINGS
@given(
    n=st.integers(1, 200),
    sizes=st.lists(st.integers(1, 220), min_size=1, max_size=5, unique=True).map(sorted),
    k=st.integers(1, 3),
    rank=st.none() | st.integers(1, 30),
    seed=st.integers(0, 2**31 - 1),
)
def test_equals_the_pseudo_inverse(n, sizes, k, rank, seed):
    H = layer(n, sizes[-1], seed, rank)
    T = np.random.RandomState(seed + 1).randn(n, k)
    cutoff = 1e-12
    found = {size: (Z, condition) for size, Z, condition in leading_solutions(H.copy(order="F"), T, sizes, cutoff)}
    assert sorted(found) == sizes
    for size, (Z, condition) in found.items():
        inverse = np.linalg.pinv(H[:, :size], rcond=cutoff)
        expected = inverse @ T
        true = np.linalg.norm(H[:, :size], 2) * np.linalg.norm(inverse, 2)
        scale = np.abs(expected).max() * true
        np.testing.assert_allclose(Z, expected, rtol=0, atol=1e-13 * (n + size) * max(scale, 1.0))
        assert true / (3 * (n + size)) < condition < 3 * (n + size) * true


@pytest.mark.parametrize("shape", [(40, 30), (30, 40), (30, 30)])
@pytest.mark.parametrize("small", [1e-12, 1e-17])
def test_the_cutoff_is_relative_to_the_largest_singular_value(shape, small, seed):
    n, h = shape
    random = np.random.RandomState(seed)
    U, _ = np.linalg.qr(random.randn(n, min(shape)))
    V, _ = np.linalg.qr(random.randn(h, min(shape)))
    values = np.r_[np.linspace(1, 2, min(shape) - 1), small] * 1e-5
    ((_, Z, condition),) = leading_solutions((U * values) @ V.T, U[:, -1:], [h], 1e-14)
    # The direction that is nearly lost is solved for with a cutoff below it, and left out with one above; between the
    # cutoff and the round-off that H is made with there is a factor of ten.
    assert (np.abs(Z).max() > 1e14) == (small > 1e-14)
    assert (condition > 1e11) == (small > 1e-14)


def test_columns_of_zeros():
    ((_, Z, condition),) = leading_solutions(np.zeros((5, 64), order="F"), np.ones((5, 1)), [3], 1e-15)
    np.testing.assert_array_equal(Z, 0)
    assert condition == np.inf

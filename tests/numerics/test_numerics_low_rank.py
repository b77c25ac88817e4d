"""Factors of few columns of the Gaussian kernel."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmbench.numerics.arrays import EPS
from elmbench.numerics.kernels import ALLOWED, kernel_factor, kernel_matrix


@given(
    n=st.integers(1, 150),
    d=st.integers(1, 4),
    exponent=st.integers(-30, 6),
    copies=st.integers(1, 4),
    offset=st.sampled_from([0.0, 1e3]),
    seed=st.integers(0, 2**16),
)
def test_a_factor_is_of_the_kernel_within_round_off(
    n: int, d: int, exponent: int, copies: int, offset: float, seed: int
) -> None:
    X = offset + np.repeat(np.random.default_rng(seed).uniform(size=(n, d)), copies, axis=0)
    K = kernel_matrix(X, gamma=2.0**exponent)
    most = len(X) // 2
    L = kernel_factor(X, 2.0**exponent, most)
    if L is None:  # which costs time only
        return
    assert L.shape[0] == len(X)
    assert L.shape[1] <= most
    error = np.linalg.norm(L @ L.T - K, 2)
    assert error <= (ALLOWED + len(X)) * EPS * np.linalg.norm(K, 2)


def test_equal_rows_take_one_column_and_far_ones_all() -> None:
    L = kernel_factor(np.ones((40, 3)), 2.0, 20)
    assert L is not None
    np.testing.assert_array_equal(L, np.ones((40, 1)))
    assert kernel_factor(np.arange(40.0)[:, np.newaxis], 9.0, 39) is None


@pytest.mark.parametrize(("gamma", "most"), [(1e-6, 6), (1e-3, 30), (1e-1, 90)])
def test_a_smooth_kernel_has_few_columns(gamma: float, most: int) -> None:
    X = np.random.default_rng(0).uniform(size=(900, 2))
    L = kernel_factor(X, gamma, 300)
    assert L is not None
    assert L.shape[1] <= most
    # No entry of a positive semi-definite matrix exceeds its trace.
    np.testing.assert_allclose(L @ L.T, kernel_matrix(X, gamma=gamma), rtol=0, atol=ALLOWED * EPS * len(X))

"""Recursive least squares in blocks against dense numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples

from elmbench.numerics.online.recursive_least_squares import pseudo_inverse_of_gram, update_as_printed, update_symmetric

SETTINGS = examples(60)
SEEDS = st.integers(0, 2**31 - 1)


def gram(n: int, rank: int, seed: int) -> np.ndarray:
    A = np.random.RandomState(seed).randn(n, rank)
    return A @ A.T


@SETTINGS
@given(n=st.integers(1, 25), L=st.integers(1, 25), seed=SEEDS)
def test_pseudo_inverse_of_gram(n, L, seed):
    H = np.random.RandomState(seed).randn(n, L)
    P = pseudo_inverse_of_gram(H)
    condition = np.linalg.cond(H) ** 2
    np.testing.assert_array_equal(P, P.T)
    np.testing.assert_allclose(P @ (H.T @ H) @ P, P, atol=1e-12 * condition * np.abs(P).max())
    assert np.linalg.matrix_rank(P) <= min(n, L)


@SETTINGS
@given(b=st.integers(1, 12), L=st.integers(1, 20), seed=SEEDS)
@pytest.mark.parametrize("update", [update_as_printed, update_symmetric])
def test_updates_equal_the_dense_inverse(update, b, L, seed):
    random = np.random.RandomState(seed)
    H, T, beta = random.randn(b, L), random.randn(b, 2), random.randn(L, 2)
    before = gram(L, L, seed) + np.eye(L)
    P, new = update(np.linalg.inv(before), beta, H, T)
    after = before + H.T @ H
    np.testing.assert_allclose(P, np.linalg.inv(after), atol=1e-10)
    np.testing.assert_allclose(new, np.linalg.solve(after, before @ beta + H.T @ T), atol=1e-8)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("update", [update_as_printed, update_symmetric])
@pytest.mark.parametrize("P", [-np.eye(3), np.full((3, 3), np.nan), np.full((3, 3), 1e200)])
def test_updates_survive_a_lost_inverse(update, P):
    """P = -I makes I + HPH' singular for H = I."""
    new_P, beta = update(P, np.ones((3, 1)), np.eye(3), np.ones((3, 1)))
    assert new_P.shape == (3, 3)
    assert not np.isfinite(beta).all() or np.abs(beta).max() > 1e6

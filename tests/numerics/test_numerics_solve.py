"""Ridge systems against dense numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples

from elmbench.numerics.solve import RidgeSystem, mirror

SETTINGS = examples(60)
SEEDS = st.integers(0, 2**31 - 1)


def gram(n: int, rank: int, seed: int) -> np.ndarray:
    A = np.random.RandomState(seed).randn(n, rank)
    return A @ A.T


@SETTINGS
@given(n=st.integers(1, 30), rank=st.integers(0, 30), seed=SEEDS, e=st.integers(-10, 10), order=st.sampled_from("CF"))
def test_ridge_system(n, rank, seed, e, order):
    A, ridge = gram(n, rank, seed), 2.0**e
    B = np.random.RandomState(seed + 1).randn(n, 3)
    full = A + ridge * np.eye(n)
    system = RidgeSystem(np.array(A, order=order), ridge)
    condition = np.linalg.cond(full, 1)
    np.testing.assert_allclose(full @ system.solve(B), B, atol=1e-12 * condition)
    assert 0.2 < system.condition / condition < 1.001
    inverse = system.inverse()
    np.testing.assert_allclose(full @ inverse, np.eye(n), atol=1e-12 * condition)
    np.testing.assert_array_equal(inverse, inverse.T)


def test_factors_in_place():
    A = np.asfortranarray(gram(50, 50, 0))
    kept = A.copy()
    RidgeSystem(A, 1.0)
    np.testing.assert_allclose(np.tril(A) @ np.tril(A).T, kept + np.eye(50), atol=1e-11)
    np.testing.assert_array_equal(np.triu(A, 1), np.triu(kept, 1))


@pytest.mark.parametrize("rank", [0, 1, 7])
def test_singular_system_gives_the_least_norm_solution(rank, seed):
    A = gram(20, rank, 3)
    B = np.random.RandomState(seed + 1).randn(20, 2)
    system = RidgeSystem(np.asfortranarray(A), 1e-30)
    if rank:
        expected = np.linalg.pinv(A, rcond=1e-12, hermitian=True)
        np.testing.assert_allclose(system.solve(B), expected @ B, atol=1e-10)
        np.testing.assert_allclose(system.inverse(), expected, atol=1e-10)
        assert system.condition > 1e14
    else:
        assert np.isfinite(system.condition)


def test_mirror(seed):
    A = np.random.RandomState(seed).rand(600, 600)
    expected = np.tril(A) + np.tril(A, -1).T
    mirror(A)
    np.testing.assert_array_equal(A, expected)


@pytest.mark.parametrize("size", [1, 17, 40])
def test_a_leading_system_by_the_same_factor(size, seed):
    A = gram(40, 40, seed)
    B = np.random.RandomState(seed + 1).randn(size, 2)
    found = RidgeSystem(np.asfortranarray(A), 0.5).solve_leading(B)
    np.testing.assert_allclose((A[:size, :size] + 0.5 * np.eye(size)) @ found, B, atol=1e-10)

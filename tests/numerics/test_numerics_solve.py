"""Ridge systems and the tiles of the hidden layer against dense numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples
from scipy.special import expit

from elmbench.numerics.nodes import TILE, draw_hidden_nodes, gram_of_nodes, hidden_layer, outer_gram, transposed_product
from elmbench.numerics.recursive import pseudo_inverse_of_gram, update_as_printed, update_symmetric
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


@SETTINGS
@given(n=st.integers(1, 20), d=st.integers(1, 5), L=st.integers(1, 200), seed=SEEDS)
def test_hidden_layer_and_its_products(n, d, L, seed):
    random = np.random.RandomState(seed)
    X, T = random.randn(n, d), random.randn(n, 2)
    weights, biases = draw_hidden_nodes(L, d, random)
    expected = expit(X @ weights.T + biases)
    H = hidden_layer(X, weights, biases)
    assert H.shape[1] % TILE == 0
    np.testing.assert_allclose(H[:, :L], expected, atol=1e-14)
    assert not H[:, L:].any()
    sums, moments = gram_of_nodes(X, T, weights, biases)
    np.testing.assert_allclose(sums[:L, :L], expected.T @ expected, atol=1e-12)
    np.testing.assert_allclose(moments[:L], expected.T @ T, atol=1e-12)
    np.testing.assert_array_equal(sums, sums.T)
    np.testing.assert_allclose(outer_gram(H), expected @ expected.T, atol=1e-12)
    np.testing.assert_allclose(transposed_product(H, T)[:L], expected.T @ T, atol=1e-12)


def test_leading_blocks_are_those_of_a_smaller_network_to_the_last_bit(seed):
    random = np.random.RandomState(seed)
    X, T = random.rand(2500, 7), random.rand(2500, 3)
    weights, biases = draw_hidden_nodes(300, 7, random)
    H = hidden_layer(X, weights, biases)
    sums, moments = gram_of_nodes(X, T, weights, biases)
    for L in (1, 63, 64, 65, 150, 299):
        np.testing.assert_array_equal(hidden_layer(X, weights[:L], biases[:L])[:, :L], H[:, :L])
        few, few_moments = gram_of_nodes(X, T, weights[:L], biases[:L])
        np.testing.assert_array_equal(few[:L, :L], sums[:L, :L])
        np.testing.assert_array_equal(few_moments[:L], moments[:L])


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

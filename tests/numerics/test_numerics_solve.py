"""Ridge systems against dense numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples
from sklearn.metrics.pairwise import rbf_kernel

from elmbench.numerics.arrays import EPS
from elmbench.numerics.solve import RidgeSystem, add_gram, mirror

SETTINGS = examples(60)
SEEDS = st.integers(0, 2**31 - 1)


def gram(n: int, rank: int, seed: int) -> np.ndarray:
    A = np.random.RandomState(seed).randn(n, rank)
    return A @ A.T


@SETTINGS
@given(
    n=st.integers(1, 30),
    rank=st.integers(0, 30),
    seed=SEEDS,
    e=st.integers(-10, 10),
    order=st.sampled_from("CF"),
)
def test_a_ridge_system_solves_inverts_and_estimates_its_condition(
    n, rank, seed, e, order
):
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


def test_a_ridge_system_overwrites_the_lower_half_only():
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


def test_mirror_copies_the_lower_half_to_the_upper(seed):
    A = np.random.RandomState(seed).rand(600, 600)
    expected = np.tril(A) + np.tril(A, -1).T
    mirror(A)
    np.testing.assert_array_equal(A, expected)


def test_leading_systems_by_the_same_factor(seed):
    A = gram(40, 40, seed)
    B = np.random.RandomState(seed + 1).randn(40, 2)
    sizes = [40, 17, 1]
    solutions = RidgeSystem(np.asfortranarray(A), 0.5).solve_leading(B, sizes)
    for size, solution in zip(sizes, np.hsplit(solutions, 3), strict=True):
        np.testing.assert_allclose(
            (A[:size, :size] + 0.5 * np.eye(size)) @ solution[:size],
            B[:size],
            atol=1e-10,
        )
        assert not solution[size:].any()


@pytest.mark.parametrize("n", [1, 2, 30])
def test_an_indefinite_system_is_solved_without_cholesky(n, seed):
    A = np.random.RandomState(seed).randn(n, n)
    A += A.T - 5 * np.eye(n)
    B = np.random.RandomState(seed + 1).rand(n, 2)
    system = RidgeSystem(np.asfortranarray(A), 0.1, definite=False)
    full = A + 0.1 * np.eye(n)
    condition = np.linalg.cond(full)
    assert not system.by_cholesky
    np.testing.assert_allclose(
        full @ system.solve(B), B, rtol=0, atol=100 * n * EPS * condition
    )
    np.testing.assert_allclose(
        system.inverse() @ B, system.solve(B), rtol=0, atol=1e-10 * condition
    )
    np.testing.assert_allclose(
        system.condition, condition, rtol=100 * n * EPS * condition
    )


@pytest.mark.parametrize("row", range(1, 18))
def test_the_condition_of_two_equal_rows(row, seed):
    """Their difference alone is what makes it large; LAPACK's estimate is short by a factor of up
    to a hundred.
    """
    X = np.random.RandomState(seed).rand(18, 8)
    X[row] = X[0]
    full = np.asfortranarray(rbf_kernel(X, gamma=1.0))
    system = RidgeSystem(full.copy(order="F"), 1e-6)
    assert 0.2 < system.condition / np.linalg.cond(full + 1e-6 * np.eye(18), 1) < 1.001


def test_a_system_without_correct_digits_is_marked_as_lost():
    ones = np.ones((20, 20), order="F")
    assert RidgeSystem(ones.copy(order="F"), 1e-300).is_lost(EPS)
    # Left out as well, but the ridge has a digit.
    assert not RidgeSystem(ones.copy(order="F"), 21 * EPS).is_lost(EPS)
    assert not RidgeSystem(ones.copy(order="F"), 1e-3).is_lost(EPS)
    assert not RidgeSystem(np.eye(20, order="F"), 1e-300).is_lost(EPS)


def test_what_is_within_round_off_is_left_out_though_it_has_a_factor():
    # The limit for two rows is 2 EPS. The first matrix has half of it, the second four times as
    # much.
    left_out, kept = (
        RidgeSystem(np.diag([1.0, least]), EPS / 8) for least in (EPS, 8 * EPS)
    )
    assert not left_out.by_cholesky
    np.testing.assert_allclose(
        left_out.inverse(), np.diag([1.0, 0.0]), rtol=4 * EPS, atol=0
    )
    assert kept.by_cholesky
    np.testing.assert_allclose(
        kept.inverse(), np.diag([1.0, 8 / 65 / EPS]), rtol=8 * EPS, atol=0
    )


@pytest.mark.parametrize("order", ["C", "F", "strided"])
def test_grams_are_added_to_the_lower_triangle(order, seed):
    A = np.random.RandomState(seed).randn(20, 12)
    given = (
        np.random.RandomState(seed + 1).randn(20, 24)[:, ::2]
        if order == "strided"
        else np.array(A, order=order)
    )
    expected = 1.0 + given.T @ given
    gram = np.ones((12, 12), order="F")
    add_gram(gram, given)
    np.testing.assert_allclose(np.tril(gram), np.tril(expected), atol=1e-12)

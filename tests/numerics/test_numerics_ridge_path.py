"""Solutions of one matrix and many ridges, and the reduction to a band, against dense solves."""

from collections import Counter

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples

import elmbench.numerics.ridge_path as module
from elmbench.numerics.ridge_path import reduced_solutions, ridge_solutions
from elmbench.numerics.solve import RidgeSystem

EPS = np.finfo(float).eps
SEEDS = st.integers(0, 2**31 - 1)


def system(n: int, rank: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.RandomState(seed)
    K = random.randn(2 * n, rank) @ random.randn(rank, n)
    T = random.randn(2 * n, 2)
    return np.asfortranarray(K.T @ K), K.T @ T


def assert_solves(gram, ridges, moments, solutions):
    """The backward error of each is that of a stable method: some units of round-off of the
    matrix.
    """
    n, k = moments.shape
    norm = np.abs(gram).sum(axis=0).max(initial=0)
    for i, ridge in enumerate(ridges):
        Z = solutions[:, i * k : (i + 1) * k]
        left = moments - gram @ Z - ridge * Z
        allowed = (
            20
            * n
            * EPS
            * ((norm + ridge) * np.linalg.norm(Z) + np.linalg.norm(moments))
        )
        assert np.linalg.norm(left) <= allowed


@examples(100)
@given(
    n=st.integers(1, 40),
    rank=st.integers(1, 40),
    seed=SEEDS,
    exponents=st.lists(st.integers(-25, 10), min_size=1, max_size=6),
    part=st.integers(0, 3),
    reduce=st.booleans(),
)
def test_solutions_for_all_ridges(n, rank, seed, exponents, part, reduce):
    gram, moments = system(n + part, rank, seed)
    before = gram.copy()
    gram, moments = gram[:n, :n], moments[:n]
    ridges = np.abs(gram).sum(axis=0).max() * 2.0 ** np.array(exponents)
    solvers = Counter()
    with pytest.MonkeyPatch.context() as patch:
        if reduce:
            patch.setattr(module, "factor_seconds", lambda n, columns: np.inf)
        solutions = ridge_solutions(gram, moments, ridges, solvers)
    assert sum(solvers.values()) == len(ridges)
    assert not reduce or set(solvers) == {"reduction"}
    assert_solves(gram, ridges, moments, solutions)
    np.testing.assert_array_equal(gram, before[:n, :n])


def test_ridges_within_round_off_are_solved_as_a_single_one_is(seed):
    gram, moments = system(60, 20, seed)
    norm = np.abs(gram).sum(axis=0).max()
    ridges = norm * EPS * np.array([1e-6, 1e12, 1e-3, 1e-4])
    solvers = Counter()
    solutions = ridge_solutions(gram, moments, ridges, solvers)
    assert solvers["eigenvalues"] == 3
    assert sum(solvers.values()) == 4
    for i, ridge in enumerate(ridges):
        one = RidgeSystem(gram.copy(order="F"), ridge)
        assert one.by_cholesky == (i == 1)
        expected = one.solve(moments)
        np.testing.assert_allclose(
            solutions[:, 2 * i : 2 * i + 2],
            expected,
            atol=1e-8 * np.abs(expected).max(),
        )
    pinv = scipy.linalg.pinvh(gram, rtol=1e-12) @ moments
    np.testing.assert_allclose(solutions[:, :2], pinv, atol=1e-8 * np.abs(pinv).max())


def test_a_ridge_above_round_off_shares_a_reduction_and_one_within_is_factored(seed):
    gram, moments = system(300, 300, seed)
    # Nearer to the round-off, what an orthogonal reduction leaves of a ridge may be nothing.
    unit = 16 * EPS * gram.trace()
    solvers = Counter()
    ridges = np.r_[unit / 2, unit * 2.0 ** np.arange(1, 40)]
    assert_solves(
        gram, ridges, moments, ridge_solutions(gram, moments, ridges, solvers)
    )
    assert solvers == {"reduction": 39, "cholesky": 1}


def semi_definite(n: int, rank: int, seed: int) -> np.ndarray:
    A = np.random.RandomState(seed).randn(n, rank)
    return np.asfortranarray(A @ A.T)


@examples(60)
@given(
    n=st.one_of(st.integers(1, 140), st.sampled_from([2, 97, 98, 193, 200])),
    rank=st.integers(0, 140),
    k=st.integers(1, 3),
    seed=st.integers(0, 2**31 - 1),
    exponents=st.lists(st.integers(-8, 8), min_size=1, max_size=4),
    blocked=st.booleans(),
)
def test_solves_for_every_ridge(n, rank, k, seed, exponents, blocked):
    A = semi_definite(n, rank, seed)
    B = np.random.RandomState(seed + 1).randn(n, k)
    ridges = np.array([2.0**e for e in exponents])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCKED_FROM", 1 if blocked else 10**6)
        solutions = reduced_solutions(A.copy(order="F"), B, ridges)
    assert solutions.shape == (n, len(ridges) * k)
    for i, ridge in enumerate(ridges):
        full = A + ridge * np.eye(n)
        Z = solutions[:, i * k : (i + 1) * k]
        np.testing.assert_allclose(full @ Z, B, atol=1e-12 * np.linalg.cond(full))


@pytest.mark.parametrize("blocked", [False, True])
def test_ridges_that_leave_the_matrix_indefinite_give_nan(monkeypatch, blocked):
    monkeypatch.setattr(module, "BLOCKED_FROM", 1 if blocked else 10**6)
    A = np.asfortranarray(semi_definite(60, 60, 1) - 5 * np.eye(60))
    solutions = reduced_solutions(A, np.ones((60, 2)), np.array([1.0, 1e4]))
    assert np.isnan(solutions[:, :2]).all()
    assert np.isfinite(solutions[:, 2:]).all()

"""The reduction to a band against dense solves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples

import elmbench.numerics.band_reduction as reduction
from elmbench.numerics.band_reduction import BandReduction

SETTINGS = examples(60)


def semi_definite(n: int, rank: int, seed: int) -> np.ndarray:
    A = np.random.RandomState(seed).randn(n, rank)
    return np.asfortranarray(A @ A.T)


@SETTINGS
@given(
    n=st.integers(1, 140),
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
        patch.setattr(reduction, "BLOCKED_FROM", 1 if blocked else 1000)
        solutions = BandReduction(A.copy(order="F")).solve(ridges, B)
    assert solutions.shape == (n, len(ridges) * k)
    for i, ridge in enumerate(ridges):
        full = A + ridge * np.eye(n)
        Z = solutions[:, i * k : (i + 1) * k]
        np.testing.assert_allclose(full @ Z, B, atol=1e-12 * np.linalg.cond(full))


@pytest.mark.parametrize("blocked", [False, True])
@pytest.mark.parametrize("n", [2, 65, 66, 129, 200])
def test_is_an_orthogonal_similarity(monkeypatch, n, blocked):
    """Q Q' = I, and Q B Q' = A with B the band that is kept."""
    monkeypatch.setattr(reduction, "BLOCKED_FROM", 1 if blocked else 1000)
    A = semi_definite(n, n, 3)
    reduced = BandReduction(A.copy(order="F"))
    Q = reduced._apply(np.eye(n), transposed=False)
    np.testing.assert_allclose(reduced._apply(Q, transposed=True), np.eye(n), atol=1e-13)
    band = np.zeros((n, n))
    for i, diagonal in enumerate(reduced.band[: min(n, reduced.width + 1)]):
        band += np.diag(diagonal[: n - i], -i)
    band += np.tril(band, -1).T
    np.testing.assert_allclose(Q @ band @ Q.T, A, atol=1e-12 * n)
    assert reduced.width == (64 if blocked else 1)


@pytest.mark.parametrize("blocked", [False, True])
def test_only_the_lower_triangle_of_a_part_is_touched(monkeypatch, blocked):
    monkeypatch.setattr(reduction, "BLOCKED_FROM", 1 if blocked else 1000)
    whole = np.asfortranarray(np.random.RandomState(0).randn(90, 90))
    part = whole[5:85, 7:87]
    part[:] = semi_definite(80, 80, 1)
    expected = np.linalg.solve(part + np.eye(80), np.ones((80, 1)))
    kept = whole.copy()
    solutions = BandReduction(part).solve(np.array([1.0]), np.ones((80, 1)))
    np.testing.assert_allclose(solutions, expected, atol=1e-11)
    changed = np.argwhere(whole != kept) - [5, 7]
    assert (changed >= 0).all()
    assert (changed[:, 0] >= changed[:, 1]).all()
    assert (changed < 80).all()


@pytest.mark.parametrize("blocked", [False, True])
def test_not_positive_definite(monkeypatch, blocked):
    monkeypatch.setattr(reduction, "BLOCKED_FROM", 1 if blocked else 1000)
    A = np.asfortranarray(semi_definite(60, 60, 1) - 5 * np.eye(60))
    solutions = BandReduction(A).solve(np.array([1.0, 1e4]), np.ones((60, 2)))
    assert np.isnan(solutions[:, :2]).all()
    assert np.isfinite(solutions[:, 2:]).all()

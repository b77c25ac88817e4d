"""Leading blocks of one Cholesky factor against systems that are factored alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples

from elmbench.numerics.nodes.cholesky import LeadingCholesky, factor_block, factor_width, leading_norm
from elmbench.numerics.solve import RidgeSystem

SIZES = st.lists(st.integers(1, 600), min_size=1, max_size=4, unique=True).map(sorted)


def a_system(width: int, k: int, seed: int, rank: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return a semi-definite matrix and right-hand sides in its range, filled up with zeros."""
    random = np.random.RandomState(seed)
    H = random.rand(rank or width + 5, width)
    full = factor_width(width)
    A, B = np.zeros((full, full), order="F"), np.zeros((full, k))
    A[:width, :width] = H.T @ H
    B[:width] = H.T @ random.randn(len(H), k)
    return A, B


@examples(60)
@given(sizes=SIZES, k=st.integers(1, 3), e=st.integers(-8, 13), seed=st.integers(0, 2**31 - 1))
def test_each_leading_system_is_solved_and_not_a_bit_hangs_on_the_others(sizes, k, e, seed):
    A, B = a_system(sizes[-1], k, seed)
    ridge = 2.0**-e
    factor = LeadingCholesky(A.copy(order="F"), ridge, B)
    for size in sizes:
        assert factor.grow(size)
        found = factor.solution(size)
        full = A[:size, :size] + ridge * np.eye(size)
        error = np.linalg.norm(full @ found - B[:size]) / (np.linalg.norm(full) * np.linalg.norm(found))
        assert error < 1e-14
        width = factor_width(size)
        alone, rows = np.zeros((width, width), order="F"), np.zeros((width, k))
        alone[:size, :size], rows[:size] = A[:size, :size], B[:size]
        single = LeadingCholesky(alone, ridge, rows)
        assert single.grow(size)
        np.testing.assert_array_equal(found, single.solution(size))


def test_the_condition_is_that_of_lapack():
    A, B = a_system(200, 1, 0)
    for size in (1, 70, 128, 200):
        factor = LeadingCholesky(A.copy(order="F"), 0.5, B)
        assert factor.grow(200)
        system = RidgeSystem(A[:size, :size].copy(order="F"), 0.5)
        norm = leading_norm(A, size, 0.5)
        full = A[:size, :size] + 0.5 * np.eye(size)
        assert norm == pytest.approx(np.linalg.norm(full, 1))
        assert factor.condition(size, norm) == pytest.approx(system.condition, rel=1e-6)


@pytest.mark.parametrize("rank", [40, 130])
def test_blocks_below_round_off_are_told_and_solved_apart(rank):
    """Of a matrix of low rank the leading blocks are sound up to the rank; the others have solutions of least norm."""
    A, B = a_system(300, 2, 1, rank)
    ridge = 1e-18
    factor = LeadingCholesky(A.copy(order="F"), ridge, B)
    assert [factor.grow(size) for size in (rank // 2, rank + 20, 300)] == [True, False, False]
    for size in (rank + 20, 300):
        system, rows = factor.system(size)
        np.testing.assert_array_equal(rows, B[:size])
        expected = RidgeSystem(A[:size, :size].copy(order="F"), ridge)
        np.testing.assert_array_equal(system.solve(rows), expected.solve(B[:size]))
        assert np.abs(A[:size, :size] @ system.solve(rows) - B[:size]).max() < 1e-6 * np.abs(B).max()


def test_the_first_bad_pivot_ends_the_factor():
    A, B = a_system(200, 1, 0)
    A[150, 150] = -1.0
    factor = LeadingCholesky(A, 1.0, B)
    assert factor.grow(150)
    assert not factor.grow(151)
    assert factor.sound == 150
    assert factor.grow(150)


def test_widths_are_whole_blocks():
    assert [factor_width(size) for size in (1, 128, 129, 384, 385, 512, 513, 1000, 1025)] == [
        128, 128, 384, 384, 512, 512, 768, 1024, 1280
    ]  # fmt: skip
    width = 0
    while width < 5000:
        width += factor_block(width)
        assert factor_width(width) == width

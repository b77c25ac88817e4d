"""The inverse of low rank against dense ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples

from elmbench.numerics.kernels import kernel_matrix
from elmbench.numerics.shifted import low_rank
from elmbench.numerics.shifted.fold_views import FoldViews
from elmbench.numerics.shifted.low_rank import LowRankInverse


@examples(40)
@given(
    rank=st.integers(1, 30),
    e=st.integers(-8, 8),
    ridge=st.sampled_from([2.0**-13, 1.0, 2.0**8]),
    seed=st.integers(0, 2**31 - 1),
)
def test_it_is_the_inverse_of_nystrom_s_approximation(rank, e, ridge, seed):
    """Of the rows of each fold, which stand in several stretches of the matrix."""
    random = np.random.RandomState(seed)
    parts = FoldViews([(np.flatnonzero(np.arange(60) % 3 != i), np.arange(i, 60, 3)) for i in range(3)])
    K = kernel_matrix(random.rand(60, 3)[parts.order], gamma=2.0**e, out=np.empty((60, 60), order="F"))
    for part in parts.folds:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(low_rank, "RANK", rank)
            inverse = LowRankInverse(K, part)
        inverse.factor(ridge)
        chosen = np.random.default_rng(0).choice(40, rank, replace=False)
        square = K[np.ix_(part.training, part.training)]
        jitter = rank * np.finfo(float).eps
        approximate = square[:, chosen] @ np.linalg.solve(
            square[np.ix_(chosen, chosen)] + jitter * np.eye(rank), square[chosen]
        )
        v = random.randn(40)
        # What round-off may do to the inverse of the chosen square, of condition 1 / jitter at most, is of size `off`.
        off = 1e-6 * np.linalg.norm(v) / min(ridge, 1.0)
        np.testing.assert_allclose(approximate @ inverse(v) / ridge + inverse(v), v, atol=off)


def test_of_all_rows_it_is_the_inverse(monkeypatch, seed):
    monkeypatch.setattr(low_rank, "RANK", 50)
    parts = FoldViews([(np.arange(50), np.arange(0))])
    K = kernel_matrix(np.random.RandomState(seed).rand(50, 3), gamma=8.0, out=np.empty((50, 50), order="F"))
    inverse, v = LowRankInverse(K, parts.folds[0]), np.random.RandomState(seed).randn(50)
    for ridge in (0.1, 10.0):
        inverse.factor(ridge)
        np.testing.assert_allclose(inverse(v) / ridge, np.linalg.solve(K + ridge * np.eye(50), v), rtol=1e-8)
        assert inverse.ridge == ridge


def test_rows_that_repeat(monkeypatch):
    """The square of the chosen columns is singular: something is added to its diagonal."""
    monkeypatch.setattr(low_rank, "RANK", 20)
    parts = FoldViews([(np.arange(40), np.arange(0))])
    inverse = LowRankInverse(np.ones((40, 40), order="F"), parts.folds[0])
    inverse.factor(1.0)
    v = np.arange(40.0)
    np.testing.assert_allclose(inverse(v), v - v.sum() / 41, atol=1e-8 * v.sum())

"""Moments and Ledoit-Wolf covariances of leading features against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples
from sklearn.covariance import ledoit_wolf

from elmbench.numerics.entropy import covariance
from elmbench.numerics.entropy.covariance import moments

SETTINGS = examples(100)


def features(n: int, width: int, seed: int, offset: float = 0.0) -> np.ndarray:
    random = np.random.RandomState(seed)
    return offset + random.randn(n, width) @ np.diag(10.0 ** random.uniform(-3, 1, width))


def moments_of(F: np.ndarray, sizes: list[int]) -> covariance.Moments:
    return moments(lambda rows: np.array(F[rows], order="F"), len(F), sizes)


@SETTINGS
@given(
    n=st.integers(2, 120),
    sizes=st.lists(st.integers(1, 150), min_size=1, max_size=4, unique=True),
    seed=st.integers(0, 2**31 - 1),
    offset=st.sampled_from([0.0, 50.0]),
)
def test_equals_scikit_learn(n, sizes, seed, offset):
    F = features(n, max(sizes), seed, offset)
    found = moments_of(F, sizes)
    np.testing.assert_allclose(found.first + found.mean, F.mean(axis=0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.spread, np.abs(F - F[0]).max(axis=0), atol=1e-12)
    for size in sizes:
        expected, shrinkage = ledoit_wolf(F[:, :size])
        got, own = found.covariance(size)
        assert own == pytest.approx(shrinkage, abs=1e-8)
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-8 * np.abs(expected).max())


def test_further_features_of_zeros_count_in_the_dimension():
    F = features(40, 30, 1)
    expected, shrinkage = ledoit_wolf(np.hstack([F[:, :30], np.zeros((40, 50))]))
    got, own = moments_of(F, [30]).covariance(30, dimension=80)
    assert own == pytest.approx(shrinkage)
    np.testing.assert_allclose(got, expected[:30, :30], atol=1e-12)


def test_features_that_are_computed_twice(monkeypatch):
    """Of more rows than a block has, kept or not."""
    F = features(5000, 70, 0, offset=3.0)
    sizes = [70, 1, 64]
    kept = moments_of(F, sizes)
    monkeypatch.setattr(covariance, "HELD_BYTES", 0)
    again = moments_of(F, sizes)
    for size in sizes:
        np.testing.assert_allclose(again.covariance(size)[0], ledoit_wolf(F[:, :size])[0], atol=1e-8)
        np.testing.assert_allclose(again.covariance(size)[0], kept.covariance(size)[0], rtol=1e-12)


def test_a_constant_feature_has_no_mean_and_no_variance_at_all():
    F = features(30, 3, 0)
    F[:, 1] = 0.1
    found = moments_of(F, [3])
    assert found.mean[1] == 0
    assert found.spread[1] == 0
    assert not found.scatter[1].any()


@pytest.mark.parametrize("n", [1, 2])
def test_the_fewest_rows(n):
    F = features(n, 4, 2)
    got, shrinkage = moments_of(F, [4]).covariance(4)
    np.testing.assert_allclose(got, np.cov(F[:, :4].T, bias=True) if n > 1 else 0, atol=1e-14)
    assert shrinkage == pytest.approx(0, abs=1e-12)

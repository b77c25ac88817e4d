"""Distances and kernels in blocks against scipy."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples
from scipy.spatial.distance import cdist

import elmbench.numerics.kernels as kernels
from elmbench.numerics.kernels import (
    kernel_ladder,
    kernel_matrix,
    kernel_round_off,
    squared_distances,
)

SETTINGS = examples(80)
SIZES = st.integers(1, 40)


@SETTINGS
@given(n=SIZES, m=SIZES, d=st.integers(1, 6), seed=st.integers(0, 2**31 - 1), block=st.integers(1, 50))
def test_distances_equal_scipy(n, m, d, seed, block):
    random = np.random.RandomState(seed)
    X, Y = random.rand(n, d), random.rand(m, d)
    Y[0] = X[0]
    before = kernels.BLOCK_BYTES
    kernels.BLOCK_BYTES = 8 * m * block
    try:
        between, itself = squared_distances(X, Y), squared_distances(X)
        kernel = kernel_matrix(X, gamma=3.0)
    finally:
        kernels.BLOCK_BYTES = before
    np.testing.assert_allclose(between, cdist(X, Y, "sqeuclidean"), atol=1e-13)
    np.testing.assert_allclose(itself, cdist(X, X, "sqeuclidean"), atol=1e-13)
    for square in (itself, kernel):
        np.testing.assert_array_equal(square, square.T)
    assert not itself.diagonal().any()
    assert (kernel.diagonal() == 1).all()
    assert between.min() >= 0


def test_offset_costs_no_digits(seed):
    X = np.random.RandomState(seed).rand(30, 3)
    shifted = X + 2.0**20
    expected = cdist(shifted, shifted, "sqeuclidean")
    np.testing.assert_allclose(squared_distances(shifted), expected, atol=1e-13)
    np.testing.assert_allclose(squared_distances(shifted[:9], shifted), expected[:9], atol=1e-13)


@pytest.mark.parametrize("symmetric", [True, False])
def test_allocates_no_second_matrix(symmetric):
    X = np.random.RandomState(0).rand(2500, 3)
    out = np.empty((2500, 2500), order="F")
    tracemalloc.start()
    kernel_matrix(X, None if symmetric else X, gamma=1.0, out=out)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.5 * out.nbytes


@SETTINGS
@given(
    n=SIZES,
    d=st.integers(1, 6),
    seed=st.integers(0, 2**31 - 1),
    exponents=st.lists(st.integers(-8, 13), min_size=1, max_size=22),
    kept=st.sampled_from([0, 2048]),
)
def test_ladder(n, d, seed, exponents, kept):
    """Each gamma once, from the smallest; entries to 2e-15 relative of a kernel that is computed for itself."""
    X = np.random.RandomState(seed).rand(n, d)
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "DISTANCES_UP_TO", kept)
        for gamma, K in kernel_ladder(X, [2.0**e for e in exponents]):
            seen.append(gamma)
            np.testing.assert_allclose(K, kernel_matrix(X, gamma=gamma), rtol=2e-15, atol=1e-300)
            np.testing.assert_array_equal(K, K.T)
            assert (np.diag(K) == 1.0).all()
    assert seen == sorted({2.0**e for e in exponents})


@SETTINGS
@given(
    n=st.integers(2, 60),
    d=st.integers(1, 40),
    seed=st.integers(0, 2**31 - 1),
    e=st.integers(-8, 13),
    spread=st.sampled_from([1e-3, 1.0, 10.0]),
)
def test_round_off_of_a_kernel(n, d, seed, e, spread):
    """Against differences taken in long double, of all rows and of a part that another centre is taken off."""
    X = spread * np.random.RandomState(seed).rand(n, d)
    X[n // 2 :] = X[: n - n // 2]
    long = X.astype(np.longdouble)
    exact = np.exp(-(np.longdouble(2.0) ** e) * ((long[:, np.newaxis] - long) ** 2).sum(axis=2))
    off = kernel_round_off(X, 2.0**e)
    part = kernel_matrix(X, X[: n // 2], gamma=2.0**e)
    for K, expected in ((kernel_matrix(X, gamma=2.0**e), exact), (part, exact[:, : n // 2])):
        seen = expected > 1e-290
        assert (np.abs(K - expected)[seen] <= np.expm1(off) * expected[seen]).all()


@pytest.mark.parametrize("kept", [True, False])
def test_ladder_computes_anew_where_it_cannot_square(monkeypatch, kept):
    anew = []
    original = kernels.rbf_from_distances
    monkeypatch.setattr(
        kernels, "rbf_from_distances", lambda matrix, gamma: anew.append(gamma) or original(matrix, gamma)
    )
    monkeypatch.setattr(kernels, "DISTANCES_UP_TO", 5 if kept else 4)
    X = np.random.RandomState(0).rand(5, 2)
    for _ in kernel_ladder(X, [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 48.0, 96.0]):
        pass
    assert anew == [0.5, 8.0, 48.0]

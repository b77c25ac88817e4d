"""Normal equations of kernels at centres against dense products."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples

import elmbench.numerics.centres as centres
import elmbench.numerics.kernels as kernels
from elmbench.numerics.centres import KERNELS, CentreKernel
from elmbench.numerics.normal_equations import normal_equations

SEEDS = st.integers(0, 2**31 - 1)
EPS = np.finfo(float).eps


@examples(100)
@given(
    n=st.integers(1, 60),
    L=st.integers(1, 30),
    k=st.integers(1, 3),
    seed=SEEDS,
    kernel=st.sampled_from(KERNELS),
    sparse=st.booleans(),
    block=st.integers(1, 70),
    gammas=st.lists(st.sampled_from([0.1, 1.0, 4.0]), min_size=1, max_size=3),
)
def test_equal_the_products_whatever_the_blocks(n, L, k, seed, kernel, sparse, block, gammas):
    random = np.random.RandomState(seed)
    X, C, T = random.uniform(-1, 1, (n, 3)), random.uniform(-1, 1, (L, 3)), random.randn(n, k)
    rows = sp.csr_matrix(X) if sparse else X
    at = CentreKernel(C, kernel)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(centres, "BLOCK_BYTES", 8 * max(L, 3) * block)
        found = normal_equations(at, gammas, rows, T)
    assert len(found) == len(gammas)
    for gamma, (gram, moments) in zip(gammas, found, strict=True):
        K = at.with_gamma(gamma).values(X)
        size = np.abs(K).max()
        # Entries of K by two ways differ by some units of the terms that they are made of, see the kernels' test.
        off = 400 * (1.5 * gamma * 12 + 2) ** 3 * EPS if kernel == "polynomial" else 100 * (1.5 * gamma * 12 + 2) * EPS
        np.testing.assert_allclose(gram, K.T @ K, rtol=0, atol=n * size * (2 * off + 2 * n * EPS * size))
        np.testing.assert_allclose(moments, K.T @ T, rtol=0, atol=n * np.abs(T).max() * (off + 2 * n * EPS * size))
        np.testing.assert_array_equal(gram, gram.T)
        assert gram.flags.f_contiguous


def test_memory_is_that_of_the_sums_and_of_some_blocks(seed):
    """All values would take 320 MB, for each gamma."""
    X = np.random.RandomState(seed).rand(200_000, 4)
    T = np.ones((len(X), 1))
    kernel = CentreKernel(X[:200], "rbf")
    for gammas, blocks in (([1.0], 2), ([1.0, 2.0, 4.0], 3)):
        tracemalloc.start()
        normal_equations(kernel, gammas, X, T)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < blocks * centres.BLOCK_BYTES + 2.5 * kernels.BLOCK_BYTES + len(gammas) * 8 * 200**2

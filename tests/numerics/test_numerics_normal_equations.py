"""Normal equations of kernels at centres against dense products, and their solutions for many ridges."""

from __future__ import annotations

import tracemalloc
from collections import Counter

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples

import elmbench.numerics.centres as centres
import elmbench.numerics.kernels as kernels
import elmbench.numerics.normal_equations as module
import elmbench.numerics.shifted.all_ridges as shifted
from elmbench.numerics.centres import KERNELS, CentreKernel
from elmbench.numerics.normal_equations import normal_equations, ridge_solutions
from elmbench.numerics.solve import RidgeSystem

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


def system(n: int, rank: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.RandomState(seed)
    K = random.randn(2 * n, rank) @ random.randn(rank, n)
    T = random.randn(2 * n, 2)
    return np.asfortranarray(K.T @ K), K.T @ T, T


def assert_solves(gram, ridges, moments, found):
    """The backward error of each is that of a stable method: some units of round-off of the matrix."""
    n, k = moments.shape
    norm = np.abs(gram).sum(axis=0).max(initial=0)
    for i, ridge in enumerate(ridges):
        Z = found[:, i * k : (i + 1) * k]
        left = moments - gram @ Z - ridge * Z
        allowed = 20 * n * EPS * ((norm + ridge) * np.linalg.norm(Z) + np.linalg.norm(moments))
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
    gram, moments, _ = system(n + part, rank, seed)
    before = gram.copy()
    gram, moments = gram[:n, :n], moments[:n]
    ridges = np.abs(gram).sum(axis=0).max() * 2.0 ** np.array(exponents)
    solvers = Counter()
    with pytest.MonkeyPatch.context() as patch:
        if reduce:
            patch.setattr(shifted, "factor_seconds", lambda n, columns: np.inf)
        found = ridge_solutions(gram, moments, ridges, solvers)
    assert sum(solvers.values()) == len(ridges)
    assert not reduce or set(solvers) == {"reduction"}
    assert_solves(gram, ridges, moments, found)
    np.testing.assert_array_equal(gram, before[:n, :n])


def test_ridges_within_round_off_are_solved_as_a_single_one_is_from_one_set_of_eigenvectors(monkeypatch, seed):
    gram, moments, _ = system(60, 20, seed)
    norm = np.abs(gram).sum(axis=0).max()
    ridges = norm * EPS * np.array([1e-6, 1e12, 1e-3, 1e-4])
    calls = []
    original = module.eigh
    monkeypatch.setattr(module, "eigh", lambda *given, **options: calls.append(1) or original(*given, **options))
    solvers = Counter()
    found = ridge_solutions(gram, moments, ridges, solvers)
    assert solvers["eigenvalues"] == 3
    assert sum(solvers.values()) == 4
    assert len(calls) == 1
    for i, ridge in enumerate(ridges):
        one = RidgeSystem(gram.copy(order="F"), ridge)
        assert one.by_cholesky == (i == 1)
        expected = one.solve(moments)
        np.testing.assert_allclose(found[:, 2 * i : 2 * i + 2], expected, atol=1e-8 * np.abs(expected).max())
    pinv = scipy.linalg.pinvh(gram, rtol=1e-12) @ moments
    np.testing.assert_allclose(found[:, :2], pinv, atol=1e-8 * np.abs(pinv).max())


def test_a_ridge_above_round_off_shares_a_reduction_and_one_within_is_factored(seed):
    gram, moments, _ = system(300, 300, seed)
    norm = np.abs(gram).sum(axis=0).max()
    unit = module.WITHIN_ROUND_OFF * EPS * norm
    solvers = Counter()
    ridges = np.r_[unit / 2, unit * 2.0 ** np.arange(1, 40)]
    assert_solves(gram, ridges, moments, ridge_solutions(gram, moments, ridges, solvers))
    assert solvers == {"reduction": 39, "cholesky": 1}

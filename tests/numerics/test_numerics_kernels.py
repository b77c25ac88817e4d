"""Distances and kernels in blocks against scipy, any kernel against scikit-learn's, and factors of
few columns.
"""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples
from scipy.spatial.distance import cdist
from sklearn.gaussian_process.kernels import RBF
from sklearn.metrics.pairwise import KERNEL_PARAMS, pairwise_kernels

import elmbench.numerics.kernels as kernels
from elmbench.numerics.arrays import EPS
from elmbench.numerics.error_bounds import kernel_round_off
from elmbench.numerics.kernels import (
    ALLOWED,
    kernel_factor,
    kernel_ladder,
    kernel_matrix,
    rbf_from_distances,
    squared_distances,
)
from elmbench.numerics.pairwise import NAMES, Kernel

SETTINGS = examples(80)
SIZES = st.integers(1, 40)


@SETTINGS
@given(
    n=SIZES,
    m=SIZES,
    d=st.integers(1, 6),
    seed=st.integers(0, 2**31 - 1),
    block=st.integers(1, 50),
)
def test_distances_equal_scipy(n, m, d, seed, block):
    random = np.random.RandomState(seed)
    X, Y = random.rand(n, d), random.rand(m, d)
    Y[0] = X[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "BLOCK_BYTES", 8 * m * block)
        between, itself = squared_distances(X, Y), squared_distances(X)
        kernel = kernel_matrix(X, gamma=3.0)
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
    np.testing.assert_allclose(
        squared_distances(shifted[:9], shifted), expected[:9], atol=1e-13
    )


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
def test_the_kernels_of_a_ladder_equal_single_kernels(n, d, seed, exponents, kept):
    """Each gamma once, from the smallest; entries to 2e-15 relative of a kernel that is computed
    for itself.
    """
    X = np.random.RandomState(seed).rand(n, d)
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "DISTANCES_UP_TO", kept)
        for gamma, K in kernel_ladder(X, [2.0**e for e in exponents]):
            seen.append(gamma)
            np.testing.assert_allclose(
                K, kernel_matrix(X, gamma=gamma), rtol=2e-15, atol=1e-300
            )
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
    """Against differences taken in long double, of all rows and of a part that another centre is
    taken off.
    """
    X = spread * np.random.RandomState(seed).rand(n, d)
    X[n // 2 :] = X[: n - n // 2]
    long = X.astype(np.longdouble)
    exact = np.exp(
        -(np.longdouble(2.0) ** e) * ((long[:, np.newaxis] - long) ** 2).sum(axis=2)
    )
    off = kernel_round_off(X, 2.0**e)
    part = kernel_matrix(X, X[: n // 2], gamma=2.0**e)
    for K, expected in (
        (kernel_matrix(X, gamma=2.0**e), exact),
        (part, exact[:, : n // 2]),
    ):
        seen = expected > 1e-290
        assert (np.abs(K - expected)[seen] <= np.expm1(off) * expected[seen]).all()


@examples(100)
@given(
    name=st.sampled_from(sorted(KERNEL_PARAMS)),
    n=st.integers(1, 40),
    m=st.integers(1, 20),
    d=st.integers(1, 6),
    sparse=st.booleans(),
    order=st.sampled_from("CF"),
    seed=st.integers(0, 2**31 - 1),
)
def test_named_kernels_are_those_of_scikit_learn(name, n, m, d, sparse, order, seed):
    """In blocks of a few rows, written to arrays in either order."""
    random = np.random.RandomState(seed)
    X, Y, Z = random.rand(n, d), random.rand(m, d), random.rand(m, 2)
    params = {"gamma": 0.7, "degree": 2, "coef0": 0.5}
    expected = [
        pairwise_kernels(X, other, metric=name, filter_params=True, **params)
        for other in (Y, X)
    ]
    sparse = sparse and "chi2" not in name
    rows, others = (sp.csr_matrix(X), sp.csr_matrix(Y)) if sparse else (X, Y)
    kernel = Kernel(name, **params)
    # Sums of d products of numbers up to 1; of a power the relative error is as many times that of
    # its base.
    within = (
        100 * d * EPS * max(1.0, np.abs(expected[0]).max(), np.abs(expected[1]).max())
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "BLOCK_BYTES", 8 * 7 * m)
        across = kernel.matrix(rows, others, out=np.empty((n, m), order=order))
        among = kernel.matrix(rows, out=np.empty((n, n), order=order))
        product = kernel.product(rows, others, Z)
    np.testing.assert_allclose(across, expected[0], rtol=0, atol=within)
    np.testing.assert_allclose(among, expected[1], rtol=0, atol=within)
    np.testing.assert_array_equal(among, among.T)
    np.testing.assert_allclose(product, expected[0] @ Z, rtol=0, atol=m * within)


def test_the_gaussian_kernel_of_dense_rows_is_our_own_to_the_bit(seed):
    X = np.random.RandomState(seed).rand(30, 3)
    np.testing.assert_array_equal(
        Kernel(gamma=0.3).matrix(X), kernel_matrix(X, gamma=0.3)
    )
    np.testing.assert_array_equal(
        Kernel(gamma=0.3).matrix(X, X[:4]), kernel_matrix(X, X[:4], gamma=0.3)
    )


def test_exponentials_of_large_distances():
    distances = np.concatenate([np.linspace(0, 800, 4001), [1e308, np.inf, np.nan]])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(
            rbf_from_distances(distances.copy(), 1.0), np.exp(-distances)
        )


def test_a_matrix_is_cut_by_numbers(seed):
    K = np.random.RandomState(seed).rand(12, 12)
    K += K.T
    given = Kernel("precomputed")
    train, test = np.array([7, 0, 3]), np.array([5, 1])
    np.testing.assert_array_equal(given.matrix(K), K)
    np.testing.assert_array_equal(
        given.matrix(K[test], given.select_rows(K, train)), K[test][:, train]
    )
    np.testing.assert_array_equal(given.select_rows(K), np.arange(12))
    with pytest.raises(
        ValueError, match=r"expected the square matrix .* got shape \(2, 12\) instead"
    ):
        given.select_rows(K[test])


def test_keys_leave_out_what_a_kernel_does_not_have():
    assert Kernel("linear", gamma=1.0).key == Kernel("linear", gamma=2.0, degree=7).key
    assert Kernel("laplacian", gamma=1.0).key != Kernel("laplacian", gamma=2.0).key
    assert Kernel("rbf").key != Kernel("laplacian").key
    assert Kernel(np.dot).key != Kernel(np.inner).key
    assert len({Kernel(name).key for name in NAMES}) == len(NAMES)


@pytest.mark.parametrize(
    "kernel",
    [*map(Kernel, NAMES), Kernel("poly", coef0=-1.0), Kernel(RBF(0.5)), Kernel(np.dot)],
)
def test_kernels_declared_definite_have_no_negative_eigenvalue(kernel, seed):
    if kernel.is_definite:
        values = np.linalg.eigvalsh(
            kernel.matrix(np.random.RandomState(seed).rand(40, 3))
        )
        assert values[0] > -40 * EPS * values[-1]
    else:
        assert (
            kernel.name in ("additive_chi2", "sigmoid", "precomputed", "poly")
            or kernel.name is np.dot
        )


@given(
    n=st.integers(1, 150),
    d=st.integers(1, 4),
    exponent=st.integers(-30, 6),
    copies=st.integers(1, 4),
    offset=st.sampled_from([0.0, 1e3]),
    seed=st.integers(0, 2**16),
)
def test_a_factor_is_of_the_kernel_within_round_off(
    n: int, d: int, exponent: int, copies: int, offset: float, seed: int
) -> None:
    X = offset + np.repeat(
        np.random.default_rng(seed).uniform(size=(n, d)), copies, axis=0
    )
    K = kernel_matrix(X, gamma=2.0**exponent)
    most = len(X) // 2
    L = kernel_factor(X, 2.0**exponent, most)
    if L is None:  # which costs time only
        return
    assert L.shape[0] == len(X)
    assert L.shape[1] <= most
    error = np.linalg.norm(L @ L.T - K, 2)
    assert error <= (ALLOWED + len(X)) * EPS * np.linalg.norm(K, 2)


def test_equal_rows_take_one_column_and_far_ones_all() -> None:
    L = kernel_factor(np.ones((40, 3)), 2.0, 20)
    assert L is not None
    np.testing.assert_array_equal(L, np.ones((40, 1)))
    assert kernel_factor(np.arange(40.0)[:, np.newaxis], 9.0, 39) is None


@pytest.mark.parametrize(("gamma", "most"), [(1e-6, 6), (1e-3, 30), (1e-1, 90)])
def test_a_smooth_kernel_has_few_columns(gamma: float, most: int) -> None:
    X = np.random.default_rng(0).uniform(size=(900, 2))
    L = kernel_factor(X, gamma, 300)
    assert L is not None
    assert L.shape[1] <= most
    # No entry of a positive semi-definite matrix exceeds its trace.
    np.testing.assert_allclose(
        L @ L.T, kernel_matrix(X, gamma=gamma), rtol=0, atol=ALLOWED * EPS * len(X)
    )

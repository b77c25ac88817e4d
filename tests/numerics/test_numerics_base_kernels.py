"""Lists of kernels against scikit-learn's, and sums and forms of their blocks against full matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples
from sklearn.metrics.pairwise import pairwise_kernels

from elmbench.numerics import multiple_kernels
from elmbench.numerics.multiple_kernels import KERNELS, BaseKernel, ComputedKernels, GivenKernels, KernelBlocks

LIST = [
    BaseKernel("rbf", 0.5),
    BaseKernel("rbf", 8.0, columns=(1, 3)),
    BaseKernel("inverse-multiquadric", 2.0),
    BaseKernel("rational-quadratic", 2.0),
    BaseKernel("laplacian", 0.3),
    BaseKernel("laplacian", 3.0),
    BaseKernel("chi2", 0.7),
    BaseKernel("polynomial", 0.5, degree=2, coef0=0.25),
    BaseKernel("polynomial", 0.5, degree=3, coef0=0.0, columns=(0, 1)),
    BaseKernel("linear", columns=(0, 3)),
    BaseKernel("cosine"),
]


def reference(kernel: BaseKernel, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    if kernel.columns is not None:
        X, Y = X[:, slice(*kernel.columns)], Y[:, slice(*kernel.columns)]
    parameters = {name: getattr(kernel, name) for name in KERNELS[kernel.name][1]}
    squares = ((X[:, None] - Y[None]) ** 2).sum(axis=2)
    if kernel.name == "inverse-multiquadric":
        return (1 + kernel.gamma * squares) ** -0.5
    if kernel.name == "rational-quadratic":
        return 1 - squares / (squares + 1 / kernel.gamma)
    return pairwise_kernels(X, Y, metric=kernel.name, **parameters)


def test_the_list_of_this_test_is_complete():
    assert {kernel.name for kernel in LIST} == set(KERNELS)


@examples(30)
@given(n=st.integers(1, 20), seed=st.integers(0, 2**31 - 1), which=st.permutations(range(len(LIST))))
def test_values(n, seed, which):
    random = np.random.RandomState(seed)
    X, Y = random.rand(n, 4), random.rand(9, 4)
    some = np.array(which[:6])
    computed = ComputedKernels(X, LIST)
    expected = np.array([reference(LIST[p], Y, X) for p in some])
    np.testing.assert_allclose(computed.cross(Y, some), expected, rtol=1e-12, atol=1e-14)
    rows = slice(n // 2, n)
    expected = np.array([reference(LIST[p], X[rows], X) for p in some])
    np.testing.assert_allclose(computed.pairwise(rows, some), expected, rtol=1e-12, atol=1e-14)


def test_a_row_and_itself_are_at_no_distance():
    """Round-off of the distances is not to show, however large gamma is."""
    X = 1e3 + np.random.RandomState(0).rand(30, 4)
    values = ComputedKernels(X, [BaseKernel("rbf", 2.0**40), BaseKernel("laplacian", 2.0**40)])
    for block in values.pairwise(slice(10, 30), np.arange(2)):
        np.testing.assert_array_equal(block[:, 10:].diagonal(), 1.0)


@pytest.mark.parametrize("held", [0, 2**30])
@pytest.mark.parametrize("block", [1, 8 * 11 * 40 * 7, 2**24])
def test_sums_and_forms(monkeypatch, seed, held, block):
    monkeypatch.setattr(multiple_kernels, "HELD_BYTES", held)
    monkeypatch.setattr(multiple_kernels, "BLOCK_BYTES", block)
    random = np.random.RandomState(seed)
    X, A, weights = random.rand(40, 4), random.randn(40, 3), random.rand(len(LIST))
    weights[[2, 5]] = 0.0
    full = np.array([reference(kernel, X, X) for kernel in LIST])
    computed = KernelBlocks(ComputedKernels(X, LIST))
    K = computed.weighted_sum(weights, np.full((40, 40), np.nan))
    np.testing.assert_allclose(K, np.tensordot(weights, full, 1), rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(K, K.T)
    used = np.flatnonzero(weights)
    forms = computed.forms(A, used)
    expected = np.einsum("ik,pij,jk->p", A, full, A)
    np.testing.assert_allclose(forms[used], expected[used], rtol=1e-10, atol=1e-10)
    given_ones = KernelBlocks(GivenKernels(np.hstack(list(full))))
    assert given_ones.shape == computed.shape
    np.testing.assert_allclose(given_ones.weighted_sum(weights, np.empty((40, 40))), K, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(given_ones.forms(A, used)[used], expected[used], rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(computed.weighted_sum(np.zeros(len(LIST)), np.full((40, 40), np.nan)), 0.0)

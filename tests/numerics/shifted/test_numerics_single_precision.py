"""Systems factored in single precision against dense algebra in double."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples

import elmbench.numerics.shifted.single_precision as single_precision
from elmbench.numerics.kernels import kernel_matrix
from elmbench.numerics.pairwise import Kernel
from elmbench.numerics.shifted.single_precision import ERROR, SingleFactor, solve_kernel_in_single


def factored(X, gamma, ridge):
    room = np.empty((len(X), len(X)), dtype=np.float32, order="F")
    return SingleFactor(room, lambda out: kernel_matrix(X, gamma=gamma, out=out), ridge)


@examples(100)
@given(
    n=st.integers(1, 120),
    k=st.integers(1, 3),
    c=st.integers(-8, 13),
    g=st.integers(-8, 13),
    seed=st.integers(0, 2**31 - 1),
    repeated=st.booleans(),
    scale=st.sampled_from([1e-6, 1.0, 1e6]),
)
def test_refined_to_double_precision(n, k, c, g, seed, repeated, scale):
    """Also where gamma is 2^-8 and C is 2^13, and of each row there are two."""
    random = np.random.RandomState(seed)
    X = random.rand(n, 3)
    if repeated:
        X[n // 2 :] = X[: n - n // 2]
    T = scale * random.randn(n, k)
    T[:, 0] *= seed % 2
    ridge = 2.0**-c
    Z, error, condition = solve_kernel_in_single(X, T, kernel=Kernel(gamma=2.0**g), ridge=ridge)
    K = kernel_matrix(X, gamma=2.0**g)
    full = K + ridge * np.eye(n)
    size = np.maximum(np.linalg.norm(T, axis=0), 1e-300)
    assert error < 100 * ERROR
    # The refinement computes K anew. Of two squared distances between centred rows each is off by (d + 2) (|x| + |y|)^2
    # eps / 2, which the kernel takes gamma times; exp and a sum of n terms add n + 4 eps.
    reach = np.linalg.norm(X - X.mean(axis=0), axis=1).max()
    apart = (2.0**g * (X.shape[1] + 2) * (2 * reach) ** 2 + n + 4) * np.finfo(float).eps
    apart *= (np.linalg.norm(full @ np.abs(Z), axis=0) / size).max()
    np.testing.assert_allclose((np.linalg.norm(T - full @ Z, axis=0) / size).max(), error, rtol=1e-9, atol=apart)
    expected = K @ np.linalg.solve(full, T)
    assert (np.linalg.norm(K @ Z - expected, axis=0) <= 1e-8 * size).all()
    assert condition < 100 * np.linalg.cond(full, 1) + 1


def test_without_refinement_the_error_is_that_of_single_precision(monkeypatch, seed):
    monkeypatch.setattr(single_precision, "MAX_STEPS", 0)
    random = np.random.RandomState(seed)
    X, T = random.rand(100, 3), random.randn(100, 1)
    Z, error, _ = solve_kernel_in_single(X, T, kernel=Kernel(gamma=1.0), ridge=2.0**-5)
    left = T - kernel_matrix(X, gamma=1.0) @ Z - 2.0**-5 * Z
    assert 1e-7 < error < 1e-3
    assert error == pytest.approx(np.linalg.norm(left) / np.linalg.norm(T))


def test_a_ridge_below_single_precision(seed):
    """The factor breaks down as it is; with something added to the diagonal it is one to start from."""
    random = np.random.RandomState(seed)
    X, T = np.repeat(random.rand(40, 2), 2, axis=0), random.randn(80, 1)
    factor = factored(X, 0.1, 1e-9)
    assert np.isfinite(factor.solve(T)).all()
    _, error, _ = solve_kernel_in_single(X, T, kernel=Kernel(gamma=0.1), ridge=1e-5)
    assert error < 1e-9


def test_the_factor_is_to_single_precision(seed):
    random = np.random.RandomState(seed)
    X, B = random.rand(50, 3), random.randn(50, 2)
    factor = factored(X, 8.0, 1.0)
    full = kernel_matrix(X, gamma=8.0) + np.eye(50)
    scales = np.array([1e-60, 1e60])  # beyond what single precision can hold
    expected = np.linalg.solve(full, B)
    np.testing.assert_allclose(factor.solve(B * scales) / scales, expected, atol=1e-5)
    np.testing.assert_allclose(factor.solve(B[:, :1]), expected[:, :1], atol=1e-5)
    assert 0.5 < factor.condition / np.linalg.cond(full, 1) < 1.01

"""The features of landmarks against the inverse root from all eigenvalues."""

from __future__ import annotations

import numpy as np
import pytest

from elmbench.numerics.entropy.landmarks import FLOOR, LandmarkFeatures
from elmbench.numerics.kernels import kernel_matrix


def by_eigenvalues(K: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(K)
    return (vectors / np.sqrt(np.maximum(values, FLOOR))) @ vectors.T


@pytest.mark.parametrize("repeated", [False, True])
@pytest.mark.parametrize("gamma", [1e-17, 1e-10, 1e-6, 1e-3, 0.1, 1.0, 30.0])
@pytest.mark.parametrize(("h", "d"), [(1, 3), (60, 2), (60, 20), (300, 8)])
def test_inner_products_are_those_of_the_floored_root(h, d, gamma, repeated, seed):
    random = np.random.RandomState(seed + h)
    X, probe = random.rand(h, d), random.rand(50, d)
    if repeated:
        X[h // 2 :] = X[: h - h // 2]
    K, across = kernel_matrix(X, gamma=gamma), kernel_matrix(probe, X, gamma=gamma)
    features = across @ LandmarkFeatures(K.copy()).map
    expected = across @ by_eigenvalues(K)
    np.testing.assert_allclose(features @ features.T, expected @ expected.T, atol=1e-8)
    # Where K is well conditioned, these are the kernel itself at the landmarks.
    if np.linalg.cond(K) < 1e8:
        own = K @ LandmarkFeatures(K.copy()).map
        np.testing.assert_allclose(own @ own.T, K, atol=1e-8)


def test_the_rank_is_the_numerical_one(seed):
    X = np.random.RandomState(seed).rand(100, 3)
    assert LandmarkFeatures(kernel_matrix(X, gamma=1e-20)).map.shape == (100, 1)
    assert LandmarkFeatures(kernel_matrix(np.repeat(X, 2, axis=0), gamma=10.0)).map.shape == (200, 100)
    assert LandmarkFeatures(kernel_matrix(X, gamma=1e3)).map.shape == (100, 100)

"""The kernel matrix that LIBSVM is given against the one that it computes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg.blas import ddot
from sklearn.svm import SVC

from elmbench.numerics.kernels import squared_distances
from elmbench.numerics.libsvm_kernel import libsvm_kernel


def by_libsvm(X: np.ndarray, gamma: float) -> np.ndarray:
    """The kernel as LIBSVM's source has it, pair by pair."""
    squares = [ddot(row, row) for row in X]
    n = range(len(X))
    values = [[math.exp(-gamma * (squares[i] + squares[j] - 2 * ddot(X[i], X[j]))) for j in n] for i in n]
    return np.array(values).astype(np.float32)


def between_two_single_numbers(n: int, seed: int) -> np.ndarray:
    """Return one column of which the first row has kernel values with the others next to where rounding changes."""
    random = np.random.RandomState(seed)
    singles = random.uniform(0.05, 0.99, n).astype(np.float32)
    middles = (singles.astype(np.float64) + np.nextafter(singles, np.float32(2)).astype(np.float64)) / 2
    shift = random.uniform(0, 3)
    return np.r_[shift, shift + np.sqrt(-np.log(middles))][:, np.newaxis]


@pytest.mark.parametrize("seed", range(5))
def test_rounds_as_libsvm_does_where_rounding_changes(seed):
    X = between_two_single_numbers(150, seed)
    distances = squared_distances(X)
    K = libsvm_kernel(X, distances, 1.0, np.empty_like(distances))
    expected = by_libsvm(X, 1.0)
    np.testing.assert_array_equal(K.astype(np.float32), expected)
    np.testing.assert_array_equal(K, K.T)
    # Not every one of these values does so by itself: the test bites.
    assert (np.exp(-distances).astype(np.float32) != expected).any()


@pytest.mark.parametrize("gamma", [1e-10, 1e-3, 1.0, 30.0])
@pytest.mark.parametrize("d", [1, 7, 300])
def test_rounds_as_libsvm_does(d, gamma, seed):
    X = np.random.RandomState(seed + d).rand(60, d)
    X[30:40] = X[20:30]
    distances = squared_distances(X)
    kept = distances.copy()
    out = np.empty_like(distances)
    K = libsvm_kernel(X, distances, gamma, out)
    assert K is out
    np.testing.assert_array_equal(distances, kept)
    np.testing.assert_array_equal(K.astype(np.float32), by_libsvm(X, gamma))
    np.testing.assert_array_equal(np.diag(K), 1.0)


@pytest.mark.parametrize("seed", range(10))
def test_machines_trained_on_it_are_those_trained_on_the_rows(seed):
    """To the last bit, and that where LIBSVM is stopped on its way."""
    X = between_two_single_numbers(80, seed)
    y = np.random.RandomState(seed).randint(0, 2, len(X))
    distances = squared_distances(X)
    K = libsvm_kernel(X, distances, 1.0, np.empty_like(distances))
    for C in (1.0, 1e5, 1e10):
        of_rows = SVC(C=C, gamma=1.0, max_iter=3000).fit(X, y)
        of_kernel = SVC(C=C, kernel="precomputed", max_iter=3000).fit(K, y)
        np.testing.assert_array_equal(of_kernel.dual_coef_, of_rows.dual_coef_)
        np.testing.assert_array_equal(of_kernel.intercept_, of_rows.intercept_)

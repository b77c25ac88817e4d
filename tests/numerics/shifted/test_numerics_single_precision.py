"""Systems factored in single precision against dense algebra in double."""

from __future__ import annotations

import numpy as np
import pytest

from elmbench.numerics.kernels import kernel_matrix
from elmbench.numerics.shifted.single_precision import SingleFactor


def factored(X, gamma, ridge):
    room = np.empty((len(X), len(X)), dtype=np.float32, order="F")
    return SingleFactor(room, lambda out: kernel_matrix(X, gamma=gamma, out=out), ridge)


def test_a_ridge_below_single_precision(seed):
    """The factor breaks down as it is; with something added to the diagonal it is one to start from."""
    random = np.random.RandomState(seed)
    factor = factored(np.repeat(random.rand(40, 2), 2, axis=0), 0.1, 1e-9)
    assert np.isfinite(factor.solve(random.randn(80))).all()


@pytest.mark.parametrize("scale", [0.0, 1e-60, 1.0, 1e60])  # also beyond what single precision can hold
def test_the_factor_is_to_single_precision(seed, scale):
    random = np.random.RandomState(seed)
    X, b = random.rand(50, 3), random.randn(50)
    expected = np.linalg.solve(kernel_matrix(X, gamma=8.0) + np.eye(50), b)
    np.testing.assert_allclose(factored(X, 8.0, 1.0).solve(b * scale), expected * scale, atol=1e-5 * scale)

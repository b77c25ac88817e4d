"""The theorems of RK-ELM: where they do not hold as printed (docs/errata.md)."""

from __future__ import annotations

import numpy as np
from elm_problems import problem
from scipy.optimize import brentq

from elmbench.models import RKELMRegressor
from elmbench.numerics.centres import CentreKernel


def test_theorem_1_needs_the_ridge_to_vanish(seed):
    X, y = problem(30, 2, seed, "regression")
    model = RKELMRegressor(n_landmarks=30, C=1.0, gamma=64.0, random_state=seed).fit(X, y)
    assert np.linalg.norm(model.predict(X) - y) > 0.01 * np.linalg.norm(y)


def test_theorem_2_is_false_where_widths_differ():
    """Three distinct rows on a line and unequal widths for which the kernel matrix is singular."""
    X = np.array([[0.0], [1.0], [3.0]])

    def matrix(sigma):
        return CentreKernel(X, "rbf", 1 / np.array([40.0, sigma, 20.0])).values(X)

    assert np.linalg.det(matrix(1.0)) > 0.1
    assert np.linalg.det(matrix(150.0)) < -0.01
    sigma = brentq(lambda sigma: np.linalg.det(matrix(sigma)), 1.0, 150.0, xtol=1e-14)
    assert 1.5 < sigma < 149
    assert np.linalg.svd(matrix(sigma), compute_uv=False)[-1] < 1e-14
    equal = CentreKernel(X, "rbf", 1 / 3.0).values(X)
    assert np.linalg.svd(equal, compute_uv=False)[-1] > 0.05

"""The choice between Lanczos' method, a reduction and factorisations, and the residuals that judge what comes out."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples

import elmbench.numerics.shifted.all_ridges as shifted
from elmbench.numerics.kernels import kernel_matrix
from elmbench.numerics.shifted.all_ridges import (
    RESIDUAL,
    factor_seconds,
    lanczos_seconds,
    reduction_seconds,
    residuals,
    solve_shifted,
)

SETTINGS = examples(100)
RIDGES = 2.0 ** -np.arange(-8.0, 14.0)


def a_kernel(n: int, gamma: float, seed: int = 0, d: int = 3) -> np.ndarray:
    return kernel_matrix(np.random.RandomState(seed).rand(n, d), gamma=gamma, out=np.empty((n, n), order="F"))


@SETTINGS
@given(
    n=st.integers(1, 100),
    k=st.integers(1, 4),
    p=st.integers(1, 22),
    e=st.integers(-8, 13),
    seed=st.integers(0, 2**31 - 1),
    way=st.sampled_from(["lanczos", "reduction", None]),
)
def test_every_way_solves_every_system(n, k, p, e, seed, way):
    K = a_kernel(n, 2.0**e, seed)
    random = np.random.RandomState(seed)
    B, ridges = random.randn(n, k), random.permutation(RIDGES)[:p]
    kept = K.copy()
    solvers = Counter()
    with pytest.MonkeyPatch.context() as patch:
        if way:
            patch.setattr(shifted, "factor_seconds", lambda n, columns: np.inf)
            patch.setattr(shifted, "lanczos_seconds", lambda n, steps: 0.0 if way == "lanczos" else np.inf)
        Z = solve_shifted(K, B, ridges, np.empty((n, n), order="F"), solvers)
    np.testing.assert_array_equal(K, kept)
    if way:
        assert solvers == {way: p}
    if Z is None:
        assert way is None
        return
    assert Z.shape == (n, p * k)
    assert residuals(K @ Z, Z, B, ridges).max() <= RESIDUAL
    for i, ridge in enumerate(ridges):
        full = K + ridge * np.eye(n)
        np.testing.assert_allclose(
            Z[:, i * k : (i + 1) * k], np.linalg.solve(full, B), atol=1e-13 * np.linalg.cond(full) / ridge + 1e-8
        )


def test_a_view_of_a_larger_matrix():
    whole = a_kernel(80, 1.0)
    kept = whole.copy()
    B = np.ones((50, 1))
    Z = solve_shifted(whole[20:70, 20:70], B, RIDGES, np.empty((50, 50), order="F"), Counter())
    assert residuals(whole[20:70, 20:70] @ Z, Z, B, RIDGES).max() <= RESIDUAL
    np.testing.assert_array_equal(whole, kept)


def test_lanczos_where_it_is_short_and_a_reduction_where_it_is_long(seed):
    B = np.random.RandomState(seed + 1).randn(300, 1)
    work = np.empty((300, 300), order="F")
    solvers = Counter()
    solve_shifted(a_kernel(300, 2.0**-8), B, RIDGES, work, solvers)
    assert solvers == {"lanczos": 22}
    solvers = Counter()
    solve_shifted(a_kernel(300, 64.0, d=2), B, RIDGES, work, solvers)
    assert solvers == {"lanczos given up": 1, "reduction": 22}


def test_few_ridges_are_left_to_factorisations():
    solvers, K = Counter(), a_kernel(900, 64.0, d=2)
    assert solve_shifted(K, np.ones((900, 1)), RIDGES[-2:], np.empty((900, 900)), solvers) is None
    assert solvers == {"lanczos given up": 1}


def test_several_columns_share_one_reduction(seed):
    """What Lanczos' method takes is taken by every column that is still to come."""
    K, work = a_kernel(300, 2.0**-2), np.empty((300, 300), order="F")
    B = np.random.RandomState(seed).randn(300, 40)
    solvers = Counter()
    solve_shifted(K, B[:, :1], RIDGES, work, solvers)
    assert solvers == {"lanczos": 22}
    solvers = Counter()
    solve_shifted(K, B, RIDGES, work, solvers)
    assert solvers == {"lanczos given up": 1, "reduction": 22}


def test_what_a_way_costs():
    assert lanczos_seconds(3000, 200) > 1.9 * lanczos_seconds(3000, 100)
    assert 3 < reduction_seconds(4000, 1, 1) / factor_seconds(4000, 1) < 6
    assert reduction_seconds(1000, 22, 3) < 22 * factor_seconds(1000, 3)


def test_residuals_are_those_of_numpy(seed):
    random = np.random.RandomState(seed)
    K, Z, B = random.rand(9, 9), random.rand(9, 6), random.rand(9, 2)
    B[:, 1] = 0.0
    ridges = np.array([0.5, 2.0, 8.0])
    found = residuals(K @ Z, Z, B, ridges)
    assert found.shape == (3, 2)
    for i, ridge in enumerate(ridges):
        left = B - (K + ridge * np.eye(9)) @ Z[:, 2 * i : 2 * i + 2]
        np.testing.assert_allclose(found[i], np.linalg.norm(left, axis=0) / [np.linalg.norm(B[:, 0]), 1.0])
    Z[0, 3] = np.nan
    assert np.isinf(residuals(K @ Z, Z, B, ridges)[1, 1])
    assert residuals(np.zeros((9, 6)), np.zeros((9, 6)), np.zeros((9, 2)), ridges).max() == 0


def test_the_bound_holds_for_the_fitted_values(seed):
    """K (K + r I)^-1 has norm below 1, so that the residual bounds what the outputs for the training rows are off."""
    random = np.random.RandomState(seed)
    K, B = a_kernel(200, 0.5), random.randn(200, 1)
    for ridge in (2.0**-13, 1.0):
        exact = np.linalg.solve(K + ridge * np.eye(200), B)
        Z = exact + 1e-3 * random.randn(200, 1)
        bound = residuals(K @ Z, Z, B, np.array([ridge])).max()
        assert np.linalg.norm(K @ (Z - exact)) <= bound * np.linalg.norm(B)

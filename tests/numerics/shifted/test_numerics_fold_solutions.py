"""All ridges on the training rows of a fold, by every way, against dense solves."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples

import elmbench.numerics.shifted.fold_solutions as module
from elmbench.numerics.arrays import EPS
from elmbench.numerics.kernels import kernel_matrix
from elmbench.numerics.shifted import low_rank
from elmbench.numerics.shifted.fold_solutions import fold_solutions, residuals, steps_left
from elmbench.numerics.shifted.fold_views import FoldViews
from elmbench.numerics.shifted.prices import factor_seconds, inverse_seconds, krylov_seconds, reduction_seconds

RIDGES = 2.0 ** -np.arange(-8.0, 14.0)


def folds_of(n: int):
    """Return a fold whose training rows are one stretch, one of two stretches, one of all rows."""
    third = np.arange(n) % 3
    parts = [(np.flatnonzero(third != i), np.flatnonzero(third == i)) for i in range(3)]
    return FoldViews([*parts, (np.arange(n), np.arange(0))])


def force(patch: pytest.MonkeyPatch, way: str) -> None:
    patch.setattr(module, "_affordable", lambda *given: way == "krylov")
    patch.setattr(module, "RANK", 1)
    patch.setattr(low_rank, "RANK", 1)
    patch.setattr(module, "low_rank_seconds", lambda n, rank, steps: 0.0 if way == "low rank" else np.inf)
    patch.setattr(module, "factor_seconds", lambda n, columns: np.inf)
    patch.setattr(module, "reduction_seconds", lambda n, ridges, columns: 1.0)
    patch.setattr(module, "inverse_seconds", lambda n: 0.0 if way == "inverse" else np.inf)
    patch.setattr(module, "preconditioned_seconds", lambda n, steps: 0.0)


def awkward_rows(n: int, seed: int, kind: str) -> np.ndarray:
    X = np.random.RandomState(seed).rand(n, 3)
    if kind == "repeated":
        X[n // 2 :] = X[: n - n // 2]
    elif kind == "constant":
        X[:, 1:] = 0.5
    elif kind == "far":
        X[::5] += 1e3 * (1 + np.arange(len(X[::5])))[:, np.newaxis]
    return X


@examples(120)
@given(
    n=st.integers(4, 90),
    k=st.integers(1, 3),
    p=st.integers(1, 22),
    e=st.integers(-8, 13),
    seed=st.integers(0, 2**31 - 1),
    way=st.sampled_from(["krylov", "low rank", "inverse", "reduction"]),
    kind=st.sampled_from(["random", "repeated", "constant", "far"]),
)
def test_every_way_solves_every_system(n, k, p, e, seed, way, kind):
    X = awkward_rows(n, seed, kind)
    random = np.random.RandomState(seed)
    ridges = random.permutation(RIDGES)[:p]
    parts = folds_of(n)
    K = kernel_matrix(X[parts.order], gamma=2.0**e, out=np.empty((n, n), order="F"))
    kept = K.copy()
    for part in parts.folds:
        m = len(part.rows)
        B = random.randn(m, k)
        B[:, 0] *= seed % 2
        solvers = Counter()
        with pytest.MonkeyPatch.context() as patch:
            force(patch, way)
            Z = fold_solutions(K, part, B, ridges, np.empty(n * n), solvers)
        np.testing.assert_array_equal(K, kept)
        # One column of a matrix may bring nothing.
        assert solvers[way] == p or (way == "low rank" and solvers["low rank given up"] == 1)
        assert Z.shape == (m, p * k)
        square = K[np.ix_(part.training, part.training)]
        for i, ridge in enumerate(ridges):
            found = Z[:, i * k : (i + 1) * k]
            left = np.linalg.norm(B - square @ found - ridge * found, axis=0)
            assert (left <= 1e-11 * np.linalg.norm(B, axis=0) + 50 * m * EPS * m * np.linalg.norm(found, axis=0)).all()


def test_an_inverse_that_single_precision_does_not_hold(monkeypatch, seed):
    """Ridges below its round-off: something is added to the diagonal of the inverse, and the solutions stay exact."""
    force(monkeypatch, "inverse")
    X = awkward_rows(80, seed, "repeated")
    parts = FoldViews([(np.arange(80), np.arange(0))])
    K = kernel_matrix(X[parts.order], gamma=0.1, out=np.empty((80, 80), order="F"))
    B, ridges = np.random.RandomState(seed).randn(80, 1), np.array([1e-8, 1e-9])
    Z = fold_solutions(K, parts.folds[0], B, ridges, np.empty(80 * 80), Counter())
    left = np.linalg.norm(B - K @ Z - Z * ridges, axis=0)
    assert (left <= 80 * 80 * 8 * EPS * np.linalg.norm(Z, axis=0)).all()


def test_low_rank_where_a_trial_promises_and_else_as_if_it_had_not_been_tried(seed):
    n = 1200
    parts = FoldViews([(np.arange(n), np.arange(0))])
    X = np.random.RandomState(seed).rand(n, 4)[parts.order]
    B = np.random.RandomState(seed + 1).randn(n, 1)
    ways, found = {}, {}
    for gamma in (1.5, 8.0):
        K = kernel_matrix(X, gamma=gamma, out=np.empty((n, n), order="F"))
        ways[gamma] = Counter()
        found[gamma] = fold_solutions(K, parts.folds[0], B, RIDGES, np.empty(n * n), ways[gamma])
    assert ways[1.5] == {"krylov given up": 1, "low rank": 22}
    assert ways[8.0]["low rank given up"] == 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "RANK", n)
        alone = fold_solutions(K, parts.folds[0], B, RIDGES, np.empty(n * n), Counter())
    # As the spaces are, so are the outputs; coefficients of small ridges may differ by the condition.
    np.testing.assert_allclose(K @ alone, K @ found[8.0], atol=1e-7 * np.abs(B).max())


def test_krylov_where_it_is_short_and_else_the_cheapest(seed):
    parts = FoldViews([(np.arange(300), np.arange(0))])
    X = np.random.RandomState(seed).rand(300, 2)[parts.order]
    B = np.random.RandomState(seed + 1).randn(300, 1)
    ways = {}
    for gamma in (2.0**-8, 64.0):
        K = kernel_matrix(X, gamma=gamma, out=np.empty((300, 300), order="F"))
        ways[gamma] = Counter()
        fold_solutions(K, parts.folds[0], B, RIDGES, np.empty(300 * 300), ways[gamma])
    assert ways[2.0**-8] == {"krylov": 22}
    assert ways[64.0] == {"krylov given up": 1, "reduction": 22}


def test_it_ends_in_time_though_not_all_is_solved(monkeypatch, seed):
    force(monkeypatch, "inverse")
    # Steps that were made are whole numbers, those that are to be expected are not.
    monkeypatch.setattr(module, "preconditioned_seconds", lambda n, steps: 9.0 if steps in (3, 4) else 0.0)
    monkeypatch.setattr(module, "factor_seconds", lambda n, columns: 2.0)
    parts = FoldViews([(np.arange(60), np.arange(0))])
    K = kernel_matrix(np.random.RandomState(seed).rand(60, 3), gamma=8.0, out=np.empty((60, 60), order="F"))
    B = np.random.RandomState(seed).randn(60, 1)
    Z = fold_solutions(K, parts.folds[0], B, np.array([2.0**-13, 2.0**-5]), np.empty(3600), Counter())
    left = np.linalg.norm(B - K @ Z - Z * [2.0**-13, 2.0**-5], axis=0)
    assert not (left <= 1e-8).any()


def test_one_inverse_is_cheaper_than_other_ways_on_many_rows():
    assert 4 * inverse_seconds(10_000) < reduction_seconds(10_000, 8, 1)
    assert inverse_seconds(10_000) < factor_seconds(10_000, 1)


def test_what_a_way_costs():
    assert krylov_seconds(3000, 200) > 1.9 * krylov_seconds(3000, 100)
    assert 3 < reduction_seconds(4000, 1, 1) / factor_seconds(4000, 1) < 6
    assert reduction_seconds(1000, 22, 3) < 22 * factor_seconds(1000, 3)


@pytest.mark.parametrize(
    ("values", "expected"), [([8, 6, 4, 2], 1), ([16, 15, 12, 7], 1), ([4, 4, 4], np.inf), ([1, 2, 3], np.inf)]
)
def test_steps_left(values, expected):
    assert steps_left([float(v) for v in values]) == pytest.approx(expected)


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
    K, B = kernel_matrix(np.random.RandomState(0).rand(200, 3), gamma=0.5), random.randn(200, 1)
    for ridge in (2.0**-13, 1.0):
        exact = np.linalg.solve(K + ridge * np.eye(200), B)
        Z = exact + 1e-3 * random.randn(200, 1)
        bound = residuals(K @ Z, Z, B, np.array([ridge])).max()
        assert np.linalg.norm(K @ (Z - exact)) <= bound * np.linalg.norm(B)

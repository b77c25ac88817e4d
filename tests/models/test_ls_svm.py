"""LS-SVM against its bordered system, for classes and for values."""

from __future__ import annotations

import numpy as np
import pytest
from elm_problems import FACTORS, problem, rows, targets
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples
from scipy.linalg import solve
from sklearn.metrics.pairwise import rbf_kernel
from test_paths import GAMMAS

from elmbench.models import LSSVMClassifier, LSSVMRegressor
from elmbench.numerics.arrays import EPS


def system(X: np.ndarray, y: np.ndarray, model: LSSVMClassifier) -> tuple[np.ndarray, np.ndarray]:
    """[0 1'; 1 K + Q/C] and [0; T], written down from the paper for two classes labelled -1 and 1."""
    n = len(X)
    sizes = np.array([(y == label).sum() for label in y])
    weights = max(sizes) / sizes if model.class_weight else np.ones(n)
    Q = weights if model.weighting == "as-printed" else 1 / weights
    A = np.zeros((n + 1, n + 1))
    A[0, 1:] = A[1:, 0] = 1
    A[1:, 1:] = rbf_kernel(X, gamma=model.gamma) + np.diag(Q) / model.C
    return A, np.r_[0, y]


@examples(100)
@given(
    n=st.integers(2, 60),
    d=st.integers(1, 8),
    seed=st.integers(0, 2**31 - 1),
    C=FACTORS,
    gamma=GAMMAS,
    class_weight=st.sampled_from(["balanced", None]),
    weighting=st.sampled_from(["corrected", "as-printed"]),
    awkward=st.booleans(),
)
def test_satisfies_its_bordered_system(n, d, seed, C, gamma, class_weight, weighting, awkward):
    X = rows(n, d, seed, awkward)
    y = np.where(np.random.RandomState(seed).rand(n) > 0.3, 1, -1)
    y[:2] = -1, 1
    model = LSSVMClassifier(C=C, gamma=gamma, class_weight=class_weight, weighting=weighting).fit(X, y)
    A, right = system(X, y, model)
    solution = np.r_[model.intercept_, model.beta_[:, 0]]
    np.testing.assert_allclose(A @ solution, right, rtol=0, atol=1e-10)
    probe = rows(15, d, seed + 1)
    expected = rbf_kernel(probe, X, gamma=gamma) @ model.beta_[:, 0] + model.intercept_
    np.testing.assert_allclose(model.decision_function(probe), expected, atol=1e-9)
    scale = np.diag(A)[1:] - 1
    weighted = A[1:, 1:] / np.sqrt(np.outer(scale, scale)) / model.C
    assert 0.1 < model.condition_ / np.linalg.cond(weighted, 1) < 1.01


@pytest.mark.parametrize("exponent", range(-1, 11))
@pytest.mark.parametrize("gamma", [1e-10, 1e-5, 1.0])
def test_satisfies_its_system_over_the_whole_grid_of_the_paper(exponent, gamma, seed):
    """With coefficients of up to 1e10 the residual is that of rounding them."""
    X, y = problem(120, 5, seed + 1, "binary")
    model = LSSVMClassifier(C=10.0**exponent, gamma=gamma, class_weight="balanced").fit(X, y)
    A, right = system(X, y, model)
    solution = np.r_[model.intercept_, model.beta_[:, 0]]
    scale = np.abs(A) @ np.abs(solution) + np.abs(right)
    assert (np.abs(A @ solution - right) <= 1e-13 * scale).all()
    if exponent <= 5:
        np.testing.assert_allclose(A @ solution, right, rtol=0, atol=1e-10 * max(1, 10.0 ** (exponent - 3)))


def test_a_weight_is_so_many_copies_of_a_row(seed):
    X = rows(40, 3, seed)
    y = np.r_[np.ones(10), -np.ones(30)]
    copies = np.r_[np.repeat(np.arange(10), 3), np.arange(10, 40)]
    plain = LSSVMClassifier(C=5.0, gamma=1.0).fit(X[copies], y[copies])
    probe = rows(20, 3, seed + 1)
    for weights in ("balanced", {1.0: 3}, {1.0: 3.0, -1.0: 1.0}):
        model = LSSVMClassifier(C=5.0, gamma=1.0, class_weight=weights).fit(X, y)
        np.testing.assert_allclose(model.decision_function(probe), plain.decision_function(probe), atol=1e-10)


def test_as_printed_the_smaller_class_is_lost():
    X = rows(300, 4, 3)
    y = np.where(X[:, 0] + 0.3 * np.random.RandomState(0).randn(300) > 1.0, 1, -1)
    recalls = [
        (LSSVMClassifier(class_weight="balanced", weighting=weighting).fit(X, y).predict(X)[y == 1] == 1).mean()
        for weighting in ("corrected", "as-printed")
    ]
    assert recalls[0] > 0.8
    assert recalls[1] < 0.1


@pytest.mark.parametrize("kind", ["binary", "one"])
def test_gamma_so_small_that_k_has_rank_one(kind, seed):
    X = rows(30, 3, seed)
    model = LSSVMClassifier(C=1e10, gamma=1e-30, class_weight="balanced").fit(X, targets(X, seed, kind))
    assert np.isfinite(model.decision_function(X)).all()


def test_the_sum_of_the_coefficients_vanishes_to_the_last_digits(seed):
    X, y = problem(200, 3, seed, "binary")
    for exponent in (0, 5, 10):
        for class_weight in (None, "balanced"):
            beta = LSSVMClassifier(C=10.0**exponent, gamma=1e-3, class_weight=class_weight).fit(X, y).beta_
            assert abs(beta.sum()) <= 4e-16 * np.abs(beta).sum()


def dense_outputs(X: np.ndarray, T: np.ndarray, C: float, gamma: float, probe: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the outputs for the rows of `probe` from [0 1'; 1 K + I/C], and what they may be off.

    A backward stable solution leaves a residual of up to n eps |A| |z|, which an output k'z shows as far as |A^-1 k|
    goes. There are two solutions to be compared, this one and the model's, whose border is eliminated.
    """
    n = len(X)
    A = np.ones((n + 1, n + 1))
    A[0, 0] = 0.0
    A[1:, 1:] = rbf_kernel(X, gamma=gamma) + np.eye(n) / C
    z = solve(A, np.vstack([np.zeros(T.shape[1]), T]), assume_a="sym")
    across = np.hstack([np.ones((len(probe), 1)), rbf_kernel(probe, X, gamma=gamma)])
    reach = np.linalg.norm(solve(A, across.T, assume_a="sym"), axis=0).max()
    sizes = np.linalg.norm(A, 2) * np.linalg.norm(z, axis=0).max()
    return across @ z, 4 * (n + 1) * EPS * sizes * (1 + reach)


@examples(120)
@given(
    n=st.integers(1, 60),
    d=st.integers(1, 8),
    seed=st.integers(0, 2**31 - 1),
    C=st.one_of(FACTORS, st.integers(3, 9).map(lambda e: 10.0**e)),
    gamma=GAMMAS,
    kind=st.sampled_from(["regression", "two-targets", "multi"]),
    awkward=st.booleans(),
    shift=st.sampled_from([0.0, 1e3]),
)
def test_equals_the_dense_solution(n, d, seed, C, gamma, kind, awkward, shift):
    """Repeated rows, a constant column, systems of a condition up to 1e11, targets far from zero."""
    X, probe = rows(n, d, seed, awkward), rows(15, d, seed + 1)
    y = targets(X, seed, kind)
    if kind == "multi":
        classes = np.unique(y)
        if len(classes) < 3:
            return
        T = np.where(y[:, None] == classes, 1.0, -1.0)
        model = LSSVMClassifier(C=C, gamma=gamma).fit(X, y).decision_function(probe)
    else:
        y += shift
        T = y.reshape(n, -1)
        model = LSSVMRegressor(C=C, gamma=gamma).fit(X, y).predict(probe).reshape(15, -1)
    expected, allowed = dense_outputs(X, T, C, gamma, probe)
    np.testing.assert_allclose(model, expected, rtol=0, atol=allowed)


@pytest.mark.parametrize("gamma", [1e-6, 1.0, 100.0])
def test_a_constant_is_left_to_the_intercept(gamma, seed):
    """Other than K-ELM, which shrinks to zero: far from all rows the outputs are the mean that is not explained."""
    X = rows(30, 3, seed)
    model = LSSVMRegressor(C=8.0, gamma=gamma).fit(X, np.full(30, 7.5))
    np.testing.assert_allclose(model.predict(rows(10, 3, seed + 1)), 7.5, rtol=1e-9)
    y = targets(X, seed, "regression")
    near, moved = (LSSVMRegressor(C=8.0, gamma=gamma).fit(X, y + shift) for shift in (0.0, 100.0))
    np.testing.assert_allclose(moved.predict(X), near.predict(X) + 100.0, rtol=1e-9)
    np.testing.assert_allclose(near.predict(X + 1e9), near.intercept_[0], rtol=1e-12)

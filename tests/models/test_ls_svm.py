"""LS-SVM against its bordered system, and its grid against single fits."""

from __future__ import annotations

import numpy as np
import pytest
from elm_problems import FACTORS, problem, rows, targets
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples
from sklearn.metrics.pairwise import rbf_kernel
from test_paths import GAMMAS

from elmbench.models import LSSVMClassifier

SETTINGS = examples(100)
WEIGHTS = st.sampled_from(["balanced", None])
WEIGHTINGS = st.sampled_from(["corrected", "as-printed"])


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


@SETTINGS
@given(
    n=st.integers(2, 60),
    d=st.integers(1, 8),
    seed=st.integers(0, 2**31 - 1),
    C=FACTORS,
    gamma=GAMMAS,
    class_weight=WEIGHTS,
    weighting=WEIGHTINGS,
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


# --- The grid --------------------------------------------------------------------------------------------------------


def test_the_sum_of_the_coefficients_vanishes_to_the_last_digits(seed):
    X, y = problem(200, 3, seed, "binary")
    for exponent in (0, 5, 10):
        for class_weight in (None, "balanced"):
            beta = LSSVMClassifier(C=10.0**exponent, gamma=1e-3, class_weight=class_weight).fit(X, y).beta_
            assert abs(beta.sum()) <= 4e-16 * np.abs(beta).sum()

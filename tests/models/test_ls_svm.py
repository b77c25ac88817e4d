"""LS-SVM against its bordered system, and its grid against single fits."""

from __future__ import annotations

import numpy as np
import pytest
from elm_problems import FACTORS, rows, targets
from hypothesis import given
from hypothesis import strategies as st
from path_rule import assert_path_follows_fits, assert_projections_follow_fits
from random_examples import examples
from sklearn.metrics.pairwise import rbf_kernel
from test_eem_grids import GAMMAS, PROBLEMS, a_problem

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
    X = rows(120, 5, seed + 1)
    y = targets(X, seed + 1, "binary")
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


def test_more_classes_are_each_against_the_rest(seed):
    X = rows(60, 3, seed + 2)
    y = targets(X, seed + 2, "multi")
    model = LSSVMClassifier(C=8.0, gamma=2.0).fit(X, y)
    for k, label in enumerate(model.classes_):
        single = LSSVMClassifier(C=8.0, gamma=2.0).fit(X, y == label)
        np.testing.assert_allclose(model.decision_function(X)[:, k], single.decision_function(X), atol=1e-10)


@pytest.mark.parametrize("kind", ["binary", "one"])
def test_gamma_so_small_that_k_has_rank_one(kind, seed):
    X = rows(30, 3, seed)
    model = LSSVMClassifier(C=1e10, gamma=1e-30, class_weight="balanced").fit(X, targets(X, seed, kind))
    assert np.isfinite(model.decision_function(X)).all()


# --- The grid --------------------------------------------------------------------------------------------------------


@examples(220)
@given(
    problem=PROBLEMS,
    pairs=st.lists(st.tuples(st.integers(-1, 10).map(lambda e: 10.0**e), GAMMAS), min_size=1, max_size=12),
    names=st.sampled_from([("C", "gamma"), ("gamma",), ("C",), ()]),
    class_weight=WEIGHTS,
    weighting=WEIGHTINGS,
)
def test_grid_equals_fits(problem, pairs, names, class_weight, weighting):
    X, y, folds = a_problem(**problem)
    given_all = [dict(zip(("C", "gamma"), pair, strict=True)) for pair in pairs]
    candidates = [{name: pair[name] for name in names} for pair in given_all]
    fixed = {name: value for name, value in {"C": 100.0, "gamma": 0.1}.items() if name not in names}
    fixed |= {"class_weight": class_weight, "weighting": weighting}
    assert_path_follows_fits(LSSVMClassifier, X, y, folds, candidates, **fixed)
    assert_projections_follow_fits(LSSVMClassifier, X, y, folds, candidates, **fixed)


@pytest.mark.parametrize("kind", ["binary", "multi"])
def test_whole_grid_of_the_paper(kind, seed):
    """Systems of conditions up to 3e12, a reduction a gamma."""
    X = rows(330, 5, seed + 1)
    y = targets(X, seed + 1, kind)
    folds = [(np.arange(300), np.arange(300, 330)), (np.arange(30, 330), np.arange(30))]
    candidates = [{"C": 10.0**c, "gamma": 10.0**g} for g in range(-10, 1) for c in range(-1, 11)]
    ways = assert_path_follows_fits(LSSVMClassifier, X, y, folds, candidates, class_weight="balanced")
    assert ways == {"reduction": 2 * len(candidates)}


def test_weights_are_kept_apart():
    X, y, folds = a_problem(60, 3, 0, "binary", False, 2)
    candidates = [
        {"C": C, "class_weight": weights, "weighting": weighting}
        for C in (1.0, 100.0)
        for weights in (None, "balanced", {1: 5.0})
        for weighting in ("corrected", "as-printed")
    ]
    assert_path_follows_fits(LSSVMClassifier, X, y, folds, candidates)


def test_the_sum_of_the_coefficients_vanishes_to_the_last_digits(seed):
    X = rows(200, 3, seed)
    y = targets(X, seed, "binary")
    for exponent in (0, 5, 10):
        for class_weight in (None, "balanced"):
            beta = LSSVMClassifier(C=10.0**exponent, gamma=1e-3, class_weight=class_weight).fit(X, y).beta_
            assert abs(beta.sum()) <= 4e-16 * np.abs(beta).sum()

"""LS-SVM against its bordered system, for classes and for values."""

import numpy as np
import pytest
from elm_problems import (
    FACTORS,
    class_of,
    coded,
    is_classification,
    problem,
    real_outputs,
    rows,
    targets,
)
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples
from sklearn.metrics.pairwise import rbf_kernel
from test_paths import GAMMAS

from elmbench.models import LSSVMClassifier, LSSVMRegressor


def assert_solved(model, X, y, kind):
    """Assert [0 1'; 1 K + Q/C] [b; beta] = [0; T], as the paper has it, within round-off; return Q
    and K.
    """
    sizes = (
        np.array([(y == label).sum() for label in y])
        if is_classification(kind)
        else np.ones(len(X))
    )
    weights = max(sizes) / sizes if getattr(model, "class_weight", None) else np.ones(len(X))
    Q = weights if getattr(model, "weighting", "") == "as-printed" else 1 / weights
    K, T = rbf_kernel(X, gamma=model.gamma), coded(y, kind)
    A = np.block(
        [[np.zeros((1, 1)), np.ones((1, len(X)))], [np.ones((len(X), 1)), K + np.diag(Q) / model.C]]
    )
    right, solution = np.vstack([0 * T[:1], T]), np.vstack([model.intercept_, model.beta_])
    # With coefficients of up to 1e10 the residual is that of rounding them.
    within = 1e-13 * (A @ np.abs(solution) + np.abs(right))
    # The coefficients are what two solutions of this size differ by, and their sum has n terms.
    within[0] += 4 * (len(X) + 8) * np.finfo(float).eps * model.C * np.abs(T).max()
    assert (np.abs(A @ solution - right) <= within).all()
    return Q, K


@examples(220)
@given(
    n=st.integers(2, 60),
    d=st.integers(1, 8),
    seed=st.integers(0, 2**31 - 1),
    C=FACTORS,
    gamma=GAMMAS,
    kind=st.sampled_from(["binary", "multi", "regression", "two-targets"]),
    options=st.fixed_dictionaries(
        {
            "class_weight": st.sampled_from(["balanced", None]),
            "weighting": st.sampled_from(["corrected", "as-printed"]),
        }
    ),
    awkward=st.booleans(),
    shift=st.sampled_from([0.0, 1e3]),
)
def test_satisfies_its_bordered_system(n, d, seed, C, gamma, kind, options, awkward, shift):
    """Repeated rows, a constant column, classes of any sizes, targets far from zero."""
    X, probe = rows(n, d, seed, awkward), rows(15, d, seed + 1)
    y = targets(X, seed, kind)
    if kind == "binary":
        y = np.where(np.random.RandomState(seed).rand(n) > 0.3, 1, -1)
        y[:2] = -1, 1
    y = y if is_classification(kind) else y + shift
    model = class_of("LSSVM", kind)(
        C=C, gamma=gamma, **options if is_classification(kind) else {}
    ).fit(X, y)
    Q, K = assert_solved(model, X, y, kind)
    expected = rbf_kernel(probe, X, gamma=gamma) @ model.beta_ + model.intercept_
    atol = 1e-13 * np.abs(model.beta_).sum() + 1e-12 * np.abs(expected).max()
    np.testing.assert_allclose(
        real_outputs(model, probe).reshape(15, -1), expected, rtol=0, atol=atol
    )
    weighted = K / np.sqrt(np.outer(Q, Q)) + np.eye(n) / C
    assert 0.1 < model.condition_ / np.linalg.cond(weighted, 1) < 1.01


@pytest.mark.parametrize("exponent", range(-1, 11))
@pytest.mark.parametrize("gamma", [1e-10, 1e-5, 1.0])
@pytest.mark.parametrize("kind", ["binary", "two-targets"])
def test_satisfies_its_system_over_the_whole_grid_of_the_paper(exponent, gamma, kind, seed):
    X, y = problem(120, 5, seed + 1, kind)
    options = {"class_weight": "balanced"} if kind == "binary" else {}
    model = class_of("LSSVM", kind)(C=10.0**exponent, gamma=gamma, **options).fit(X, y)
    assert_solved(model, X, y, kind)
    assert (np.abs(model.beta_.sum(axis=0)) <= 4e-16 * np.abs(model.beta_).sum(axis=0)).all()


def test_as_printed_the_smaller_class_is_lost():
    X = rows(300, 4, 3)
    y = np.where(X[:, 0] + 0.3 * np.random.RandomState(0).randn(300) > 1.0, 1, -1)
    recalls = [
        (
            LSSVMClassifier(class_weight="balanced", weighting=weighting)
            .fit(X, y)
            .predict(X)[y == 1]
            == 1
        ).mean()
        for weighting in ("corrected", "as-printed")
    ]
    assert recalls[0] > 0.8
    assert recalls[1] < 0.1


@pytest.mark.parametrize("kind", ["binary", "one"])
def test_gamma_so_small_that_k_has_rank_one(kind, seed):
    X = rows(30, 3, seed)
    model = LSSVMClassifier(C=1e10, gamma=1e-30, class_weight="balanced").fit(
        X, targets(X, seed, kind)
    )
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("gamma", [1e-6, 1.0, 100.0])
def test_a_constant_is_left_to_the_intercept(gamma, seed):
    """Other than K-ELM, which shrinks to zero: far from all rows the outputs are the mean that is
    not explained.
    """
    X = rows(30, 3, seed)
    model = LSSVMRegressor(C=8.0, gamma=gamma).fit(X, np.full(30, 7.5))
    np.testing.assert_allclose(model.predict(rows(10, 3, seed + 1)), 7.5, rtol=1e-9)
    y = targets(X, seed, "regression")
    near, moved = (LSSVMRegressor(C=8.0, gamma=gamma).fit(X, y + shift) for shift in (0.0, 100.0))
    np.testing.assert_allclose(moved.predict(X), near.predict(X) + 100.0, rtol=1e-9)
    np.testing.assert_allclose(near.predict(X + 1e9), near.intercept_[0], rtol=1e-12)

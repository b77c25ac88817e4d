"""K-ELM against scikit-learn's kernel ridge regression, and its memory."""

from __future__ import annotations

import numpy as np
from elm_problems import FACTORS, SHAPES, problem, rows
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples
from sklearn.kernel_ridge import KernelRidge

from elmbench.models import KELMClassifier, KELMRegressor

SETTINGS = examples(100)


@SETTINGS
@given(shape=SHAPES, C=FACTORS, gamma=FACTORS, awkward=st.booleans(), two=st.booleans())
def test_equals_kernel_ridge(shape, C, gamma, awkward, two):
    n, d, seed = shape
    X, y = problem(n, d, seed, "two-targets" if two else "regression", awkward)
    model = KELMRegressor(C=C, gamma=gamma).fit(X, y)
    reference = KernelRidge(alpha=1 / C, kernel="rbf", gamma=gamma).fit(X, y)
    probe = np.vstack([X, rows(12, d, seed + 1)])
    np.testing.assert_allclose(model.predict(probe), reference.predict(probe), atol=1e-8)
    assert model.n_units_ == n


@SETTINGS
@given(shape=SHAPES, C=FACTORS, gamma=FACTORS, kind=st.sampled_from(["binary", "multi"]))
def test_classifier_is_regression_on_signs(shape, C, gamma, kind):
    n, d, seed = shape
    X, y = problem(n, d, seed, kind)
    classes = np.unique(y)
    signs = np.where(y == classes[-1], 1.0, -1.0) if len(classes) <= 2 else np.where(y[:, None] == classes, 1.0, -1.0)
    model = KELMClassifier(C=C, gamma=gamma).fit(X, y)
    reference = KernelRidge(alpha=1 / C, kernel="rbf", gamma=gamma).fit(X, signs).predict(X)
    np.testing.assert_allclose(model.decision_function(X), reference, atol=1e-8)
    if len(classes) == 1:
        expected = y
    else:
        expected = classes[(reference > 0).astype(int)] if len(classes) == 2 else classes[reference.argmax(axis=1)]
    clear = np.abs(reference) > 1e-7 if reference.ndim == 1 else np.ptp(reference, axis=1) > 1e-7
    np.testing.assert_array_equal(model.predict(X)[clear], expected[clear])


def test_an_offset_of_the_inputs_costs_no_digits():
    X, y = problem(60, 3, 0, "regression")
    near = KELMRegressor(C=100.0, gamma=4.0).fit(X, y).predict(X)
    far = KELMRegressor(C=100.0, gamma=4.0).fit(X + 2.0**20, y).predict(X + 2.0**20)
    np.testing.assert_allclose(far, near, atol=1e-7)


def test_predicts_by_row_blocks(monkeypatch):
    import elmbench.numerics.kernels as kernels

    X, y = problem(50, 3, 0, "two-targets")
    model = KELMRegressor(C=10.0, gamma=2.0).fit(X, y)
    whole = model.predict(X)
    monkeypatch.setattr(kernels, "BLOCK_BYTES", 8 * 50 * 7)
    np.testing.assert_allclose(model.predict(X), whole, atol=1e-12)
    np.testing.assert_allclose(KELMRegressor(C=10.0, gamma=2.0).fit(X, y).predict(X), whole, atol=1e-12)


def test_ridge_below_round_off_gives_the_least_norm_solution():
    """Repeated rows make the kernel matrix singular; without a ridge to speak of, their mean is predicted."""
    X = np.repeat(rows(8, 3, 0), 3, axis=0)
    y = np.arange(24.0)
    model = KELMRegressor(C=1e30, gamma=8.0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), np.repeat(y.reshape(8, 3).mean(axis=1), 3), atol=1e-6)
    assert np.abs(model.beta_).max() < 1e6
    assert model.condition_ > 1e12

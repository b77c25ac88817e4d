"""K-ELM against scikit-learn's kernel ridge regression, and its memory."""

from __future__ import annotations

import numpy as np
from elm_problems import FACTORS, SHAPES, coded, problem, rows
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples
from sklearn.kernel_ridge import KernelRidge

from elmbench.models import KELMClassifier, KELMRegressor
from elmbench.numerics import kernels

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
    model = KELMClassifier(C=C, gamma=gamma).fit(X, y)
    reference = KernelRidge(alpha=1 / C, kernel="rbf", gamma=gamma).fit(X, coded(y, kind)).predict(X)
    np.testing.assert_allclose(model.decision_function(X).reshape(n, -1), reference, atol=1e-8)
    scores = np.hstack([-reference, reference]) if len(model.classes_) == 2 else reference
    clear = np.ptp(scores, axis=1) > 1e-7
    np.testing.assert_array_equal(model.predict(X)[clear], model.classes_[scores.argmax(axis=1)][clear])


def test_predicts_by_row_blocks(monkeypatch):
    X, y = problem(50, 3, 0, "two-targets")
    model = KELMRegressor(C=10.0, gamma=2.0).fit(X, y)
    whole = model.predict(X)
    monkeypatch.setattr(kernels, "BLOCK_BYTES", 8 * 50 * 7)
    np.testing.assert_allclose(model.predict(X), whole, atol=1e-12)
    np.testing.assert_allclose(KELMRegressor(C=10.0, gamma=2.0).fit(X, y).predict(X), whole, atol=1e-12)

"""Pegasos and the adaptive multi-hyperplane machine as estimators; their loop is tested in `oracles/`."""

from __future__ import annotations

import numpy as np
import pytest
from elm_problems import problem, rows, targets
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.svm import LinearSVC

from elmbench.models import AMMClassifier, PegasosClassifier
from elmbench.numerics.online.hyperplanes import HyperplaneState

MODELS = [PegasosClassifier(), AMMClassifier(), AMMClassifier(mode="batch")]
each_model = pytest.mark.parametrize("model", MODELS, ids=["pegasos", "amm-online", "amm-batch"])
each_kind = pytest.mark.parametrize("kind", ["binary", "multi", "one"])


def test_lambda_is_that_of_the_support_vector_machine_with_the_same_c():
    """Many passes come near the minimum of |w|^2 / 2 + C sum of the losses, with the intercept a part of w."""
    X, y = problem(60, 2, 0, "binary")
    whole = np.column_stack([X, np.ones(60)])
    reference = LinearSVC(C=2.0, loss="hinge", fit_intercept=False, tol=1e-8, max_iter=10**6).fit(whole, y)

    def objective(w):
        return w @ w / 2 + 2.0 * np.maximum(0, 1 - y * (whole @ w)).sum()

    model = PegasosClassifier(C=2.0, n_epochs=2000, random_state=0).fit(X, y)
    least = objective(reference.coef_[0])
    assert least * (1 - 1e-6) <= objective(np.r_[model.coef_[0], model.intercept_]) < 1.02 * least
    np.testing.assert_array_equal(model.predict(X), np.where(model.decision_function(X) > 0, 1, -1))


@each_kind
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_with_one_weight_a_class_the_machine_is_pegasos(kind, fit_intercept, seed):
    X = rows(90, 4, seed) - 0.5
    y = targets(X, seed, kind)
    common = {"C": 4.0, "n_epochs": 3, "fit_intercept": fit_intercept, "random_state": seed}
    expected = PegasosClassifier(**common).fit(X, y)
    for mode in ("online", "batch"):
        model = AMMClassifier(**common, n_weights=1, mode=mode).fit(X, y)
        outputs = expected.decision_function(X)
        np.testing.assert_allclose(model.decision_function(X), outputs, atol=1e-12 * (1 + np.abs(outputs).max()))
        assert model.n_units_ == max(2, len(model.classes_))
    assert expected.n_units_ == (4 if kind == "multi" else 1) == len(expected.coef_)


@each_kind
def test_outputs_are_those_of_the_weights_that_are_shown(kind, seed):
    X, probe = rows(90, 4, seed) - 0.5, rows(30, 4, seed + 1) - 0.5
    y = targets(X, seed, kind)
    pegasos = PegasosClassifier(C=8.0, random_state=0).fit(X, y)
    outputs = probe @ pegasos.coef_.T + pegasos.intercept_
    np.testing.assert_allclose(pegasos.decision_function(probe).reshape(30, -1), outputs, atol=1e-10)
    if kind != "one":
        model = AMMClassifier(C=8.0, random_state=0).fit(X, y)
        scores = probe @ model.weights_.T + model.intercepts_
        by_class = np.array([scores[:, model.weight_classes_ == label].max(axis=1) for label in model.classes_]).T
        np.testing.assert_array_equal(model.predict(probe), model.classes_[by_class.argmax(axis=1)])
        expected = by_class[:, 1] - by_class[:, 0] if kind == "binary" else by_class
        np.testing.assert_allclose(model.decision_function(probe), expected, atol=1e-10)
        assert model.n_units_ == len(model.weights_) > len(model.classes_)


@pytest.mark.parametrize("mode", ["online", "batch"])
def test_several_weights_learn_what_one_cannot(mode, seed):
    """The four corners of a square, opposite ones of a class."""
    X, corner = make_blobs(400, centers=4.0 * np.array([[1, 1], [-1, -1], [1, -1], [-1, 1]]), random_state=seed)
    y = corner // 2
    several = AMMClassifier(C=100.0, mode=mode, n_weights=5, n_epochs=10, random_state=0).fit(X, y)
    one = AMMClassifier(C=100.0, n_weights=1, n_epochs=10, random_state=0).fit(X, y)
    assert several.score(X, y) > 0.97
    assert one.score(X, y) < 0.85
    assert np.bincount(several.weight_classes_).max() <= 5


def test_the_modes_are_the_same_for_one_pass_and_differ_after_it(seed):
    X = rows(90, 4, seed) - 0.5
    y = targets(X, seed, "multi")

    def outputs(n_epochs, mode):
        return AMMClassifier(C=8.0, n_epochs=n_epochs, mode=mode, random_state=0).fit(X, y).decision_function(X)

    np.testing.assert_array_equal(outputs(1, "online"), outputs(1, "batch"))
    assert (outputs(4, "online") != outputs(4, "batch")).any()


def test_small_weights_are_dropped(seed):
    X = rows(200, 4, seed) - 0.5
    y = targets(X, seed, "multi")
    whole = AMMClassifier(C=8.0, random_state=0).fit(X, y)
    pruned = AMMClassifier(C=8.0, prune_every=100, pruning=1.0, random_state=0).fit(X, y)
    barest = AMMClassifier(C=8.0, prune_every=1000, pruning=1e6, random_state=0).fit(X, y)
    assert barest.n_units_ == 4 < whole.n_units_
    assert pruned.n_units_ < whole.n_units_


@each_model
def test_one_pass_in_order_is_partial_fit_and_the_steps_go_on(model):
    X, y = problem(90, 3, 1, "multi")
    model = clone(model).set_params(C=4.0, n_epochs=1, shuffle=False)
    fitted = clone(model).fit(X, y)
    once = clone(model).partial_fit(X, y)
    np.testing.assert_array_equal(once.decision_function(X), fitted.decision_function(X))
    limit = getattr(model, "n_weights", 1)
    state, streamed = HyperplaneState(3, 4, 1.0, limit), clone(model)
    labels = np.searchsorted(fitted.classes_, y)
    for start in (0, 30, 60):
        part = slice(start, start + 30)
        streamed.partial_fit(X[part], y[part], classes=fitted.classes_)
        state.extend(X[part], labels[part], 1 / (4.0 * (start + 30)))
    weights, intercepts, owners = state.solution(1 / (4.0 * 90))
    expected = np.array([(X @ weights.T + intercepts)[:, owners == label].max(axis=1) for label in range(4)]).T
    np.testing.assert_allclose(streamed.decision_function(X), expected, atol=1e-10)
    assert streamed.n_steps_ == 90

"""The six online kernel estimators, as a user meets them."""

import numpy as np
import pytest
from elm_problems import class_of
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.kernel_ridge import KernelRidge

from elmbench.models import (
    ALDKOSELMClassifier,
    ALDKOSELMRegressor,
    FBKOSELMRegressor,
    KOSELMRegressor,
)
from elmbench.numerics.online.states import DependencyState, InverseState

PARAMS = {"KOSELM": {}, "FBKOSELM": {"budget": 15}, "ALDKOSELM": {"delta": 0.05}}
CLASSIFIERS = [class_of(name, "binary")(**params) for name, params in PARAMS.items()]
REGRESSORS = [class_of(name, "regression")(**params) for name, params in PARAMS.items()]
MODELS = CLASSIFIERS + REGRESSORS


def name_of(model):
    return type(model).__name__


def problem_for(model, n=80, seed=0, **options):
    if name_of(model).endswith("Classifier"):
        return make_classification(
            n, 4, n_informative=3, n_redundant=0, random_state=seed, **options
        )
    X, y = make_regression(n, 4, noise=5.0, random_state=seed, **options)
    return X, y / 100.0


@pytest.mark.parametrize("targets", [1, 3])
def test_complete_model_is_kernel_ridge_regression_after_any_number_of_rows(targets):
    X, y = make_regression(70, 4, n_targets=targets, random_state=1)
    model = KOSELMRegressor(C=50.0, gamma=0.3)
    for start in range(0, 70, 7):
        model.partial_fit(X[start : start + 7], y[start : start + 7])
        seen = slice(0, start + 7)
        reference = KernelRidge(alpha=1 / 50.0, kernel="rbf", gamma=0.3).fit(
            X[seen], y[seen]
        )
        assert_allclose(
            model.predict(X), reference.predict(X), rtol=0, atol=1e-9 * np.abs(y).max()
        )
    assert model.predict(X).shape == y.shape
    assert model.n_units_ == 70
    assert_allclose(
        model.beta_.reshape(y.shape), reference.dual_coef_, atol=1e-8 * np.abs(y).max()
    )


def test_two_classes_are_learnt_as_minus_and_plus_one():
    X, y = problem_for(CLASSIFIERS[0])
    reference = (
        KernelRidge(alpha=0.1, kernel="rbf", gamma=0.5).fit(X, 2.0 * y - 1).predict(X)
    )
    model = class_of("KOSELM", "binary")(C=10.0, gamma=0.5).fit(X, y)
    assert_allclose(model.decision_function(X), reference, atol=1e-10)
    assert np.array_equal(model.predict(X), reference > 0)


def test_equal_rows_with_both_labels_leave_a_dictionary_of_one_row():
    assert (
        ALDKOSELMClassifier(delta=0.0).fit(np.ones((30, 2)), np.arange(30) % 2).n_units_
        == 1
    )


def test_a_budget_that_is_never_reached_leaves_the_complete_model():
    X, y = problem_for(REGRESSORS[0])
    complete = KOSELMRegressor(C=10.0).fit(X, y)
    for budget in (80, 10**9):
        assert np.array_equal(
            FBKOSELMRegressor(C=10.0, budget=budget).fit(X, y).beta_, complete.beta_
        )
    assert FBKOSELMRegressor(C=10.0, budget=79).fit(X, y).n_units_ == 79


def test_threshold_as_printed_compares_the_distance_itself():
    X, y = problem_for(REGRESSORS[0])
    printed = ALDKOSELMRegressor(gamma=0.1, delta=0.2, threshold="as-printed").fit(X, y)
    squared = ALDKOSELMRegressor(gamma=0.1, delta=0.2**2, threshold="squared").fit(X, y)
    other = ALDKOSELMRegressor(gamma=0.1, delta=0.2).fit(X, y)
    assert np.array_equal(printed.beta_, squared.beta_)
    assert printed.n_units_ > other.n_units_ > 1


def test_max_atoms_caps_the_dictionary_but_not_the_learning():
    X, y = problem_for(REGRESSORS[0])
    capped = ALDKOSELMRegressor(delta=1e-3, max_atoms=10).fit(X, y)
    assert np.array_equal(capped.dictionary_, X[:10])
    assert not np.allclose(
        capped.beta_, ALDKOSELMRegressor(delta=1e-3).fit(X[:10], y[:10]).beta_
    )


def test_dependency_has_no_ridge():
    X, y = problem_for(REGRESSORS[0])
    one, other = (ALDKOSELMRegressor(C=C, delta=0.05).fit(X, y) for C in (1e-3, 1e6))
    assert np.array_equal(one.beta_, other.beta_)


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_condition_is_that_of_the_matrix_whose_inverse_is_kept(model):
    X, y = problem_for(model)
    fitted = clone(model).set_params(gamma=1.0).fit(X, y)
    assert fitted.inverse_.shape == (fitted.n_units_, fitted.n_units_)
    assert fitted.dictionary_.shape == (fitted.n_units_, 4)
    distances = ((fitted.dictionary_[:, None] - fitted.dictionary_[None]) ** 2).sum(
        axis=2
    )
    ridge = 0.0 if "ALD" in name_of(model) else 1.0
    assert_allclose(
        fitted.condition_,
        np.linalg.cond(np.exp(-distances) + ridge * np.eye(len(distances)), 1),
        rtol=1e-8,
    )


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_looking_at_a_model_does_not_change_what_it_learns(model):
    X, y = problem_for(model, n=100)
    # The complete and the pruned inverse are spoilt by round-off.
    model = clone(model).set_params(C=1e14, gamma=0.01)
    looked_at, alone = (
        clone(model).partial_fit(X[:50], y[:50]),
        clone(model).partial_fit(X[:50], y[:50]),
    )
    looked_at.predict(X)
    _ = looked_at.beta_, looked_at.inverse_, looked_at.condition_
    beta = looked_at.beta_
    beta[:] = np.nan
    assert np.array_equal(
        looked_at.partial_fit(X[50:], y[50:]).beta_,
        alone.partial_fit(X[50:], y[50:]).beta_,
    )


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_attributes_need_a_fit(model):
    for name in ("beta_", "dictionary_", "inverse_", "condition_"):
        assert not hasattr(clone(model), name)


def count_of_models_learnt(monkeypatch, state, model, candidates, **fixed):
    learnt = []
    extend = state.extend
    monkeypatch.setattr(
        state, "extend", lambda self, *rows: (learnt.append(self), extend(self, *rows))
    )
    rng = np.random.default_rng(0)
    X = rng.random((60, 3))
    folds = [(np.arange(40), np.arange(40, 60))]
    assert len(
        list(model.evaluate_grid(X, X[:, 0], folds, candidates, **fixed))
    ) == len(candidates)
    return len(learnt)


def test_budgets_that_are_not_reached_and_ridges_that_are_none_are_learnt_once(
    monkeypatch,
):
    candidates = [{"budget": budget} for budget in (10, 39, 40, 41, 400)]
    assert (
        count_of_models_learnt(monkeypatch, InverseState, FBKOSELMRegressor, candidates)
        == 3
    )
    candidates = [
        {"C": C, "delta": delta}
        for C in (1.0, 2.0, 4.0)
        for delta in (0.02, 0.02000001)
    ]
    assert (
        count_of_models_learnt(
            monkeypatch, DependencyState, ALDKOSELMRegressor, candidates
        )
        == 1
    )

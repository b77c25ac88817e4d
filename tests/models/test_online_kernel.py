"""The six online kernel estimators, as a user meets them."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from elmbench.models import (
    ALDKOSELMClassifier,
    ALDKOSELMRegressor,
    FBKOSELMClassifier,
    FBKOSELMRegressor,
    KOSELMClassifier,
    KOSELMRegressor,
)

CLASSIFIERS = [KOSELMClassifier(), FBKOSELMClassifier(budget=15), ALDKOSELMClassifier(delta=0.05)]
REGRESSORS = [KOSELMRegressor(), FBKOSELMRegressor(budget=15), ALDKOSELMRegressor(delta=0.05)]
MODELS = CLASSIFIERS + REGRESSORS


def name_of(model):
    return type(model).__name__


def problem_for(model, n=80, seed=0, **options):
    if name_of(model).endswith("Classifier"):
        return make_classification(n, 4, n_informative=3, n_redundant=0, random_state=seed, **options)
    X, y = make_regression(n, 4, noise=5.0, random_state=seed, **options)
    return X, y / 100.0


@parametrize_with_checks([type(model)() for model in MODELS])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("targets", [1, 3])
def test_complete_model_is_kernel_ridge_regression_after_any_number_of_rows(targets):
    X, y = make_regression(70, 4, n_targets=targets, random_state=1)
    model = KOSELMRegressor(C=50.0, gamma=0.3)
    for start in range(0, 70, 7):
        model.partial_fit(X[start : start + 7], y[start : start + 7])
        seen = slice(0, start + 7)
        reference = KernelRidge(alpha=1 / 50.0, kernel="rbf", gamma=0.3).fit(X[seen], y[seen])
        assert_allclose(model.predict(X), reference.predict(X), rtol=0, atol=1e-9 * np.abs(y).max())
    assert model.predict(X).shape == y.shape
    assert model.n_units_ == 70
    assert_allclose(model.beta_.reshape(y.shape), reference.dual_coef_, atol=1e-8 * np.abs(y).max())


def test_two_classes_are_learnt_as_minus_and_plus_one_and_cut_at_zero():
    X, y = problem_for(CLASSIFIERS[0])
    labels = np.array(["no", "yes"])[y]
    model = KOSELMClassifier(C=10.0, gamma=0.5).fit(X, labels)
    reference = KernelRidge(alpha=0.1, kernel="rbf", gamma=0.5).fit(X, np.where(y == 1, 1.0, -1.0))
    assert_allclose(model.decision_function(X), reference.predict(X), atol=1e-10)
    assert np.array_equal(model.predict(X), np.where(reference.predict(X) > 0, "yes", "no"))


def test_more_classes_are_learnt_one_against_the_rest():
    X, y = problem_for(CLASSIFIERS[0], n_classes=4, n_clusters_per_class=1)
    for model in (KOSELMClassifier(gamma=0.5), ALDKOSELMClassifier(gamma=0.5, delta=0.02)):
        outputs = model.fit(X, y).decision_function(X)
        assert outputs.shape == (80, 4)
        for label in range(4):
            assert_allclose(outputs[:, label], clone(model).fit(X, y == label).decision_function(X), atol=1e-8)


def test_pruning_weighs_all_outputs():
    X, y = problem_for(CLASSIFIERS[0], n_classes=3, n_clusters_per_class=1)
    model = FBKOSELMClassifier(gamma=0.5, budget=20).fit(X, y)
    assert model.beta_.shape == (20, 3)
    assert model.dictionary_.shape == (20, 4)
    rows = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in model.dictionary_]
    refit = KOSELMClassifier(gamma=0.5).fit(X[rows], y[rows])
    assert_allclose(model.decision_function(X), refit.decision_function(X), atol=1e-8)


def test_a_budget_that_is_never_reached_leaves_the_complete_model():
    X, y = problem_for(REGRESSORS[0])
    complete = KOSELMRegressor(C=10.0).fit(X, y)
    for budget in (80, 10**9):
        assert np.array_equal(FBKOSELMRegressor(C=10.0, budget=budget).fit(X, y).beta_, complete.beta_)
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
    assert not np.allclose(capped.beta_, ALDKOSELMRegressor(delta=1e-3).fit(X[:10], y[:10]).beta_)


def test_dependency_has_no_ridge():
    X, y = problem_for(REGRESSORS[0])
    one, other = (ALDKOSELMRegressor(C=C, delta=0.05).fit(X, y) for C in (1e-3, 1e6))
    assert np.array_equal(one.beta_, other.beta_)


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_rows_and_blocks_and_the_whole_give_exactly_the_same(model):
    X, y = problem_for(model, n=150)
    extra = {"classes": np.unique(y)} if name_of(model).endswith("Classifier") else {}
    whole = clone(model).fit(X, y)
    for step in (1, 13):
        cut = clone(model)
        for start in range(0, len(X), step):
            cut.partial_fit(X[start : start + step], y[start : start + step], **extra)
        assert np.array_equal(cut.beta_, whole.beta_)
        assert np.array_equal(cut.dictionary_, whole.dictionary_)
        assert np.array_equal(cut.inverse_, whole.inverse_)


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_a_second_fit_forgets_the_first(model):
    X, y = problem_for(model)
    other_X, other_y = problem_for(model, n=60, seed=5)
    used = clone(model).fit(other_X, other_y).fit(X, y)
    assert np.array_equal(used.beta_, clone(model).fit(X, y).beta_)


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_any_array_like_gives_the_same(model):
    X, y = problem_for(model)
    X = X.astype(np.float32)
    y = y.astype(np.float32) if name_of(model).endswith("Regressor") else y
    expected = clone(model).fit(X.astype(np.float64), y).predict(X)
    frozen = X.astype(np.float64)
    frozen.flags.writeable = False
    for given in (X, X.tolist(), pd.DataFrame(X, columns=list("abcd")), np.asfortranarray(X), frozen, X[::-1][::-1]):
        assert_allclose(clone(model).fit(given, list(y)).predict(given), expected, rtol=1e-12)
    assert not frozen.flags.writeable


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_degenerate_data_leave_finite_predictions(model, seed):
    rng = np.random.default_rng(seed + 2)
    n = 40
    two = np.arange(n) % 2
    cases = {
        "single row": (np.ones((1, 3)), np.ones(1)),
        "equal rows": (np.ones((n, 3)), two),
        "constant column": (np.column_stack([np.ones(n), rng.random((n, 2))]), two),
        "fewer rows than columns": (rng.random((5, 30)), np.array([0, 1, 0, 1, 1])),
        "huge values": (1e100 * rng.standard_normal((n, 3)), two),
        "one label": (rng.random((n, 3)), np.ones(n)),
    }
    for label, (X, y) in cases.items():
        fitted = clone(model).fit(X, y)
        predictions = np.asarray(fitted.predict(X), dtype=float)
        assert np.isfinite(predictions).all(), label
        assert np.isfinite(fitted.condition_), label
        assert fitted.condition_ >= 1.0 - 1e-12, label


def test_equal_rows_with_both_labels_leave_a_dictionary_of_one_row():
    model = ALDKOSELMClassifier(delta=0.0).fit(np.ones((30, 2)), np.arange(30) % 2)
    assert model.n_units_ == 1


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_condition_is_that_of_the_matrix_whose_inverse_is_kept(model):
    X, y = problem_for(model)
    fitted = clone(model).set_params(gamma=1.0).fit(X, y)
    assert fitted.inverse_.shape == (fitted.n_units_, fitted.n_units_)
    assert fitted.dictionary_.shape == (fitted.n_units_, 4)
    distances = ((fitted.dictionary_[:, None] - fitted.dictionary_[None]) ** 2).sum(axis=2)
    ridge = 0.0 if "ALD" in name_of(model) else 1.0
    assert_allclose(
        fitted.condition_, np.linalg.cond(np.exp(-distances) + ridge * np.eye(len(distances)), 1), rtol=1e-8
    )


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_a_pickled_model_goes_on_learning(model):
    X, y = problem_for(model, n=120)
    stopped = clone(model).partial_fit(X[:60], y[:60])
    resumed = pickle.loads(pickle.dumps(stopped)).partial_fit(X[60:], y[60:])
    assert np.array_equal(resumed.beta_, clone(model).fit(X, y).beta_)


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_looking_at_a_model_does_not_change_what_it_learns(model):
    X, y = problem_for(model, n=100)
    model = clone(model).set_params(C=1e14, gamma=0.01)  # the complete and the pruned inverse are spoilt by round-off
    looked_at, alone = clone(model).partial_fit(X[:50], y[:50]), clone(model).partial_fit(X[:50], y[:50])
    looked_at.predict(X)
    _ = looked_at.beta_, looked_at.inverse_, looked_at.condition_
    beta = looked_at.beta_
    beta[:] = np.nan
    assert np.array_equal(looked_at.partial_fit(X[50:], y[50:]).beta_, alone.partial_fit(X[50:], y[50:]).beta_)


@pytest.mark.parametrize(
    ("model", "parameters", "message"),
    [
        (KOSELMClassifier(), {"C": 0.0}, "The 'C' parameter of"),
        (KOSELMClassifier(), {"gamma": -1.0}, "The 'gamma' parameter of"),
        (KOSELMRegressor(), {"kernel": "cubic"}, "The 'kernel' parameter of"),
        (FBKOSELMClassifier(), {"budget": 0}, "The 'budget' parameter of"),
        (ALDKOSELMRegressor(), {"delta": -0.1}, "The 'delta' parameter of"),
        (ALDKOSELMRegressor(), {"threshold": "cubed"}, "The 'threshold' parameter of"),
        (ALDKOSELMRegressor(), {"max_atoms": 0}, "The 'max_atoms' parameter of"),
        (ALDKOSELMClassifier(), {"C": -1.0}, "The 'C' parameter of"),
    ],
)
def test_parameters_out_of_range_are_named(model, parameters, message):
    X, y = problem_for(model)
    with pytest.raises(ValueError, match=message):
        clone(model).set_params(**parameters).fit(X, y)


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_attributes_need_a_fit(model):
    for name in ("beta_", "dictionary_", "inverse_", "condition_"):
        assert not hasattr(clone(model), name)


@pytest.mark.parametrize(
    ("model", "n"),
    [(KOSELMRegressor(), 700), (FBKOSELMRegressor(budget=500), 1500), (ALDKOSELMRegressor(delta=1e-8), 700)],
    ids=["complete", "fixed budget", "dependency"],
)
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "precomputed"])
def test_memory_estimate_is_met(model, n, kernel):
    X = np.random.default_rng(0).random((n, 4))
    y = X.sum(axis=1)
    if kernel == "precomputed":
        X = laplacian_kernel(X, gamma=50.0)
    model.set_params(gamma=50.0, kernel=kernel)
    clone(model).fit(X[:100, :100] if kernel == "precomputed" else X[:100], y[:100])
    tracemalloc.start()
    try:
        model.fit(X, y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    estimate = model.memory_estimate(n, X.shape[1], 1, **model.get_params())
    fixed = model.memory_estimate(1, 1, 1)
    assert peak <= estimate
    assert estimate - fixed <= 6 * peak

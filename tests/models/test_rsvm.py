"""The reduced support vector machine: what it minimises, its landmarks, its kinds of rows."""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from elm_problems import FACTORS, SHAPES, class_of, real_outputs, rows, targets
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import LinearSVR
from sklearn.utils.estimator_checks import parametrize_with_checks

from elmbench.models import RSVMClassifier, RSVMRegressor
from elmbench.numerics import centres

KINDS = ("binary", "multi", "one", "regression", "two-targets")
each_kind = pytest.mark.parametrize("kind", KINDS)


@parametrize_with_checks([RSVMClassifier(), RSVMRegressor()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def plus(x):
    return x + np.log(1 + np.exp(-5 * x)) / 5


def objective(kernel, output, target, C, u, b, epsilon):
    """C/2 |p(...)|^2 + (|u|^2 + b^2) / 2 as printed; a target of -1/+1 where `epsilon` is None."""
    f = kernel @ u + b
    errors = [1 - target * f] if epsilon is None else [target - f - epsilon, f - target - epsilon]
    return C / 2 * sum((plus(error) ** 2).sum() for error in errors) + (u @ u + b**2) / 2


@examples(60)
@given(shape=SHAPES, kind=st.sampled_from(KINDS), C=FACTORS, gamma=FACTORS, awkward=st.booleans())
def test_no_point_nearby_is_lower(shape, kind, C, gamma, awkward):
    n, d, seed = shape
    X = rows(n, d, seed, awkward)
    y = targets(X, seed, kind)
    options = {"epsilon": 0.05} if kind in ("regression", "two-targets") else {}
    model = class_of("RSVM", kind)(n_landmarks=10, C=C, gamma=gamma, random_state=seed, **options).fit(X, y)
    kernel = rbf_kernel(X, model.landmarks_, gamma=gamma)
    if kind in ("regression", "two-targets"):
        columns = y.reshape(n, -1).T
    elif kind == "multi" and len(model.classes_) > 2:
        columns = [np.where(y == label, 1, -1) for label in model.classes_]
    else:
        columns = [np.where(y == model.classes_[-1], 1, -1)]
    random = np.random.RandomState(seed)
    for output, target in enumerate(columns):
        u, b = model.beta_[:, output], model.intercept_[output]
        least = objective(kernel, output, target, C, u, b, options.get("epsilon"))
        for length in (1e-1, 1e-3):
            move = length * random.randn(len(u) + 1)
            moved = objective(kernel, output, target, C, u + move[:-1], b + move[-1], options.get("epsilon"))
            # Half the squared length of the move is what the second term alone has it grow by.
            assert moved - least >= move @ move / 2 - 1e-9 * (least + moved)


def test_without_smoothing_it_is_the_squared_loss_outside_of_the_tube():
    """scikit-learn's linear machine on the kernel's values has the same objective, and a regularised intercept."""
    X = rows(120, 3, 0, False)
    y = 0.3 * targets(X, 0, "regression")
    model = RSVMRegressor(n_landmarks=10, C=50.0, gamma=0.5, epsilon=0.1, smoothing=1e4, random_state=0).fit(X, y)
    features = rbf_kernel(X, model.landmarks_, gamma=0.5)
    loss = "squared_epsilon_insensitive"
    linear = LinearSVR(epsilon=0.1, C=25.0, loss=loss, dual=False, tol=1e-12, max_iter=100_000).fit(features, y)
    np.testing.assert_allclose(model.predict(X), linear.predict(features), atol=1e-3)
    rounded = RSVMRegressor(n_landmarks=10, C=50.0, gamma=0.5, epsilon=0.1, random_state=0).fit(X, y)
    assert np.abs(rounded.predict(X) - linear.predict(features)).max() > 1e-2


def test_landmarks_are_the_first_rows_of_a_permutation():
    X = rows(30, 3, 0)
    y = targets(X, 0, "binary")
    order = np.random.RandomState(4).permutation(30)
    for size in (1, 7, 30, 99):
        model = RSVMClassifier(n_landmarks=size, random_state=4).fit(X, y)
        np.testing.assert_array_equal(model.landmarks_, X[order[:size]])
        assert model.n_units_ == min(size, 30) == len(model.beta_)


def test_more_classes_are_each_against_the_rest(seed):
    X = rows(80, 3, seed + 2)
    y = targets(X, seed + 2, "multi")
    model = RSVMClassifier(n_landmarks=20, C=8.0, gamma=2.0, random_state=0).fit(X, y)
    assert model.beta_.shape == (20, len(model.classes_))
    for k, label in enumerate(model.classes_):
        single = RSVMClassifier(n_landmarks=20, C=8.0, gamma=2.0, random_state=0).fit(X, y == label)
        np.testing.assert_allclose(model.decision_function(X)[:, k], single.decision_function(X), atol=1e-10)
        assert model.n_iter_[k] == single.n_iter_[0]
    predicted = model.classes_[model.decision_function(X).argmax(axis=1)]
    np.testing.assert_array_equal(model.predict(X), predicted)
    assert (predicted == y).mean() > 0.6


def test_a_curve_is_learnt_and_the_tube_is_as_wide_as_it_says():
    X = rows(300, 1, 1)
    y = np.sin(6 * X[:, 0])
    errors = [
        np.abs(RSVMRegressor(n_landmarks=30, C=2.0**20, gamma=8.0, epsilon=epsilon).fit(X, y).predict(X) - y).max()
        for epsilon in (0, 0.01, 3.0)
    ]
    assert errors[0] < 0.01
    assert errors[1] < 0.02
    assert errors[2] > 0.1


@each_kind
@pytest.mark.parametrize("C", [1.0, 2.0**20])
def test_sparse_rows_give_what_dense_ones_do_and_stay_sparse(kind, C, monkeypatch):
    monkeypatch.setattr(centres, "BLOCK_BYTES", 1000)
    X = rows(60, 8, 3)
    X[X < 0.6] = 0
    y = targets(X, 3, kind)
    model = class_of("RSVM", kind)(n_landmarks=12, C=C, gamma=0.5, random_state=1)
    dense = clone(model).fit(X, y)
    sparse = model.fit(sp.csr_matrix(X), y)
    assert sp.issparse(sparse.landmarks_)
    np.testing.assert_array_equal(sparse.landmarks_.toarray(), dense.landmarks_)
    expected = real_outputs(dense, X)
    for probe in (X, sp.csr_matrix(X)):
        np.testing.assert_allclose(real_outputs(sparse, probe), expected, rtol=0, atol=1e-6 * np.abs(expected).max())
        np.testing.assert_allclose(real_outputs(dense, probe), expected, rtol=0, atol=1e-10 * np.abs(expected).max())


@each_kind
@pytest.mark.parametrize(("n", "d"), [(1, 3), (4, 9), (30, 1), (40, 6)])
@pytest.mark.parametrize(("C", "gamma"), [(1.0, 1.0), (2.0**20, 2.0**-20), (2.0**-20, 2.0**20)])
def test_awkward_rows(kind, n, d, C, gamma):
    """Repeated rows, a constant column, fewer rows than columns, one row, one class."""
    X = rows(n, d, 5, awkward=True)
    y = targets(X, 5, kind)
    model = class_of("RSVM", kind)(n_landmarks=20, C=C, gamma=gamma).fit(X, y)
    assert model.predict(X).shape == y.shape
    assert np.isfinite(real_outputs(model, X)).all()
    assert model.solvers_ == {}
    if kind in ("binary", "multi", "one"):
        assert set(model.predict(X)) <= set(y)


def test_a_fit_that_is_stopped_says_so_and_is_counted():
    X = rows(100, 2, 0)
    y = targets(X, 0, "multi")
    with pytest.warns(ConvergenceWarning, match=r"for 4 of 4 outputs \(max_iter=2\)") as caught:
        model = RSVMClassifier(C=100.0, max_iter=2).fit(X, y)
    assert caught[0].filename == __file__
    assert model.solvers_ == {"capped": 1}
    np.testing.assert_array_equal(model.n_iter_, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = RSVMClassifier(C=100.0).fit(X, y)
    assert model.solvers_ == {}
    assert (model.n_iter_ < 100).all()


@each_kind
def test_second_fit_equals_a_fresh_one(kind):
    model = class_of("RSVM", kind)(n_landmarks=10, random_state=3)
    first, second = rows(30, 5, 0), rows(23, 4, 1)
    model.fit(first, targets(first, 0, "multi" if kind == "binary" else kind))
    model.fit(second, targets(second, 1, kind))
    fresh = clone(model).fit(second, targets(second, 1, kind))
    np.testing.assert_array_equal(real_outputs(model, second), real_outputs(fresh, second))


@pytest.mark.parametrize("kind", ["binary", "regression"])
@pytest.mark.parametrize(
    ("bad", "error", "message"),
    [
        ({"n_landmarks": 0}, ValueError, "The 'n_landmarks' parameter of"),
        ({"C": 0.0}, ValueError, "The 'C' parameter of"),
        ({"gamma": np.inf}, ValueError, "The 'gamma' parameter of"),
        ({"tol": -1.0}, ValueError, "The 'tol' parameter of"),
        ({"max_iter": 2.5}, TypeError, "The 'max_iter' parameter of"),
    ],
)
def test_bad_parameters(kind, bad, error, message):
    X = rows(10, 2, 0)
    with pytest.raises(error, match=message):
        class_of("RSVM", kind)(**bad).fit(X, targets(X, 0, kind))


@pytest.mark.parametrize(("epsilon", "error"), [(-0.1, ValueError), ("wide", TypeError), (np.nan, ValueError)])
def test_bad_epsilon(epsilon, error):
    X = rows(10, 2, 0)
    with pytest.raises(error, match="'epsilon' parameter"):
        RSVMRegressor(epsilon=epsilon).fit(X, X[:, 0])


@pytest.mark.parametrize(("n", "n_landmarks"), [(20_000, 50), (3000, 700)])
def test_memory_estimate_is_met(n, n_landmarks, monkeypatch):
    X = np.random.default_rng(0).random((n, 4))
    y = X.sum(axis=1) > 2
    model = RSVMClassifier(n_landmarks=n_landmarks, gamma=5.0, max_iter=3, random_state=0)
    tracemalloc.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    estimate = model.memory_estimate(n, 4, 1, **model.get_params())
    assert peak <= estimate
    assert estimate - model.memory_estimate(1, 1, 1) <= 3 * peak

"""The support vector machine against scikit-learn's own, and its grid against single fits."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
import pytest
from elm_problems import counting, rows, targets
from hypothesis import assume, given
from hypothesis import strategies as st
from random_examples import examples
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks
from test_eem_grids import GAMMAS, PROBLEMS, a_problem, assert_grid_equals_fits, assert_projections_equal_fits

from elmbench.models import SVMClassifier, svm
from elmbench.numerics.libsvm_kernel import libsvm_kernel

FACTORS = st.integers(-1, 10).map(lambda e: 10.0**e)
pytestmark = pytest.mark.usefixtures("_share_early")
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture
def _share_early(monkeypatch):
    """One value of C is enough for a kernel matrix."""
    monkeypatch.setattr(svm, "SHARED_FROM", 1)


@parametrize_with_checks([SVMClassifier(), SVMClassifier(class_weight="balanced", max_iter=1000)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("class_weight", [None, "balanced", {1: 3.0}])
@pytest.mark.parametrize("kind", ["binary", "multi"])
def test_is_scikit_learn_s_own(kind, class_weight):
    X = rows(60, 4, 0)
    y = targets(X, 0, kind)
    class_weight = {"a": 3.0} if kind == "multi" and class_weight == {1: 3.0} else class_weight
    model = SVMClassifier(C=8.0, gamma=0.7, class_weight=class_weight).fit(X, y)
    expected = SVC(C=8.0, gamma=0.7, class_weight=class_weight).fit(X, y)
    probe = rows(25, 4, 1)
    np.testing.assert_array_equal(model.decision_function(probe), expected.decision_function(probe))
    np.testing.assert_array_equal(model.predict(probe), expected.predict(probe))
    assert model.n_units_ == len(expected.support_)
    assert model.capped_ == 0


def test_parameters_are_those_of_the_field():
    model = SVMClassifier(C=2.0, gamma=0.5, class_weight="balanced", max_iter=9)
    assert model.get_params() == {"C": 2.0, "gamma": 0.5, "class_weight": "balanced", "max_iter": 9}
    assert clone(model).get_params() == model.get_params()
    assert repr(model) == "SVMClassifier(C=2.0, class_weight='balanced', gamma=0.5, max_iter=9)"


# --- Fits that are stopped -------------------------------------------------------------------------------------------


def test_a_fit_that_is_stopped_says_so_and_is_counted():
    X = rows(200, 2, 0)
    y = targets(X, 0, "binary")
    with pytest.warns(ConvergenceWarning, match="max_iter=50"):
        model = SVMClassifier(C=1e10, gamma=1.0, max_iter=50).fit(X, y)
    assert (model.capped_, model.solvers_) == (1.0, {"capped": 1})
    model = SVMClassifier(C=1.0, gamma=1e-3, max_iter=100_000).fit(X, y)
    assert (model.capped_, model.solvers_) == (0.0, {})


@quiet
def test_the_share_of_the_problems_that_were_stopped():
    X = rows(200, 3, 2)
    y = targets(X, 2, "multi")
    steps = SVC(C=10.0, gamma=1.0).fit(X, y).n_iter_
    limit = int(np.sort(steps)[-2])
    model = SVMClassifier(C=10.0, gamma=1.0, max_iter=limit).fit(X, y)
    assert model.capped_ == (steps >= limit).mean() == 1 / 3
    assert model.solvers_ == {"capped": 1}


@pytest.mark.parametrize("limit", [0, 2**29])
def test_stopped_fits_of_a_grid_are_counted_and_not_printed(limit, monkeypatch):
    monkeypatch.setattr(svm, "SHARED_BYTES", limit)
    X = rows(120, 2, 0)
    y = targets(X, 0, "binary")
    folds = [(np.arange(100), np.arange(100, 120)), (np.arange(20, 120), np.arange(20))]
    candidates = [{"C": C, "gamma": gamma} for gamma in (1e-8, 1.0) for C in (1.0, 1e9, 1e10)]
    ways = Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(counting(SVMClassifier.evaluate_grid(X, y, folds, candidates, max_iter=100), ways))
    single = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for candidate in candidates:
            for train, _ in folds:
                single += SVMClassifier(**candidate, max_iter=100).fit(X[train], y[train]).capped_ > 0
    assert 0 < single < 12
    assert ways == {"capped": single}


# --- The grid --------------------------------------------------------------------------------------------------------


@quiet
@examples(220)
@given(
    problem=PROBLEMS,
    pairs=st.lists(st.tuples(FACTORS, GAMMAS), min_size=1, max_size=8),
    names=st.sampled_from([("C", "gamma"), ("C",), ("gamma",)]),
    class_weight=st.sampled_from(["balanced", None]),
    max_iter=st.sampled_from([30, 1000]),
)
def test_grid_equals_fits(problem, pairs, names, class_weight, max_iter):
    X, y, folds = a_problem(**problem)
    assume(all(len(set(y[train])) > 1 for train, _ in folds))
    candidates = [{name: dict(zip(("C", "gamma"), pair, strict=True))[name] for name in names} for pair in pairs]
    fixed = {name: value for name, value in {"C": 100.0, "gamma": 0.1}.items() if name not in names}
    fixed |= {"class_weight": class_weight, "max_iter": max_iter}
    assert_grid_equals_fits(SVMClassifier, X, y, folds, candidates, **fixed)
    assert_projections_equal_fits(SVMClassifier, X, y, folds, candidates, **fixed)


@quiet
@pytest.mark.parametrize("limit", [0, 2**29])
@pytest.mark.parametrize("kind", ["binary", "multi"])
def test_whole_grid_of_the_paper(kind, limit, monkeypatch):
    monkeypatch.setattr(svm, "SHARED_BYTES", limit)
    X = rows(130, 5, 1)
    y = targets(X, 1, kind)
    folds = [(np.arange(100), np.arange(100, 130)), (np.arange(30, 130), np.arange(30))]
    candidates = [{"C": 10.0**c, "gamma": 10.0**g} for g in range(-10, 1) for c in range(-1, 11)]
    fixed = {"class_weight": "balanced", "max_iter": 500}
    assert_projections_equal_fits(SVMClassifier, X, y, folds, candidates, **fixed)


@pytest.mark.parametrize(("n_values", "matrices"), [(3, 0), (4, 2)])
def test_a_few_values_of_C_do_not_pay_for_a_kernel_matrix(n_values, matrices, monkeypatch):
    monkeypatch.undo()
    made = []
    monkeypatch.setattr(svm, "libsvm_kernel", lambda *given: made.append(1) or libsvm_kernel(*given))
    X, y, folds = a_problem(40, 3, 0, "binary", False, 1)
    candidates = [{"C": 2.0**c, "gamma": gamma} for c in range(n_values) for gamma in (1.0, 2.0)]
    assert_grid_equals_fits(SVMClassifier, X, y, folds, candidates)
    assert len(made) == matrices


def test_one_class_cannot_be_learnt():
    X = rows(20, 2, 0)
    folds = [(np.arange(10), np.arange(10, 20))]
    with pytest.raises(ValueError, match="number of classes has to be greater than one"):
        list(SVMClassifier.evaluate_grid(X, np.ones(20), folds, [{"C": 1.0}, {"C": 2.0}]))

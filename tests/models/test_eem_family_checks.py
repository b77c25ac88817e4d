"""What holds for the models of Czarnecki & Tabor alike."""

from __future__ import annotations

import tracemalloc
import warnings
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from elm_problems import rows, targets
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from elmbench.models import EEKMClassifier, EEMClassifier, LSSVMClassifier, WELMClassifier
from elmbench.models.protocols import GridPath

MODELS = {
    "WELM": WELMClassifier(n_hidden=20, random_state=3),
    "WELM nsig": WELMClassifier(n_hidden=9, activation="nsig", random_state=3),
    "WELM rbf": WELMClassifier(n_hidden=20, activation="rbf", random_state=3),
    "EEM": EEMClassifier(n_hidden=20, random_state=3),
    "EEM nsig": EEMClassifier(n_hidden=20, activation="nsig", random_state=3),
    "EEM rbf": EEMClassifier(n_hidden=20, activation="rbf", random_state=3),
    "EEKM": EEKMClassifier(n_landmarks=12, gamma=0.5, random_state=3),
    "LSSVM": LSSVMClassifier(C=8.0, gamma=0.5),
    "LSSVM weighted": LSSVMClassifier(C=1e10, gamma=0.5, class_weight="balanced"),
}
PROBABILITIES = sorted(name for name in MODELS if name.startswith("EE"))
KINDS = ("binary", "multi", "one")
each_model = pytest.mark.parametrize("name", sorted(MODELS))
each_model_of_a_size = pytest.mark.parametrize("name", sorted(name for name in MODELS if "SVM" not in name))
each_kind = pytest.mark.parametrize("kind", KINDS)


@parametrize_with_checks(
    [
        WELMClassifier(),
        EEMClassifier(),
        EEMClassifier(activation="rbf"),
        EEKMClassifier(),
        LSSVMClassifier(),
        LSSVMClassifier(class_weight="balanced"),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore:there is one row only")
@each_model
@each_kind
def test_second_fit_equals_a_fresh_one(name, kind):
    model = clone(MODELS[name])
    first, second = rows(30, 5, 0), rows(23, 4, 1)
    model.fit(first, targets(first, 0, "multi" if kind == "binary" else kind))
    y = targets(second, 1, kind)
    model.fit(second, y)
    fresh = clone(model).fit(second, y)
    np.testing.assert_array_equal(model.decision_function(second), fresh.decision_function(second))
    assert vars(model).keys() == vars(fresh).keys()
    assert model.n_units_ == fresh.n_units_
    assert model.condition_ == fresh.condition_


@pytest.mark.filterwarnings("ignore:there is one row only", "ignore:.*one class is predicted")
@each_model
@each_kind
@pytest.mark.parametrize(("n", "d"), [(1, 3), (2, 2), (4, 9), (30, 1), (40, 6)])
def test_awkward_rows(name, kind, n, d):
    """Repeated rows, a constant column, fewer rows than columns and than nodes, one row, one class."""
    X = rows(n, d, 5, awkward=True)
    y = targets(X, 5, kind)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = clone(MODELS[name]).fit(X, y)
        outputs = model.decision_function(X)
    assert np.isfinite(outputs).all()
    assert model.condition_ > 0.999
    assert set(model.predict(X)) <= set(y)
    if name in PROBABILITIES:
        assert np.isfinite(model.predict_proba(X)).all()


@each_model
@pytest.mark.parametrize("d", [1, 4])
def test_constant_features_alone(name, d):
    X = np.full((20, d), 0.7)
    y = np.repeat([1, 2], [12, 8])
    model = clone(MODELS[name])
    expected = nullcontext() if "SVM" in name else pytest.warns(UserWarning, match="one class is predicted")
    with expected:
        model.fit(X, y)
    assert len(set(model.predict(X))) == 1
    assert np.isfinite(model.decision_function(X)).all()


@each_model
def test_a_class_of_one_row(name):
    X = rows(30, 3, 8)
    y = np.r_[np.zeros(29), 1]
    X[-1] += 2
    model = clone(MODELS[name])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "there is one row only")
        model.fit(X, y)
        assert model.predict(X)[-1] == 1
    assert np.isfinite(model.decision_function(X)).all()


@each_model
@each_kind
def test_other_containers(name, kind):
    X = rows(30, 4, 2).astype(np.float32)
    y = targets(X, 2, kind)
    model = clone(MODELS[name])
    expected = clone(model).fit(X.astype(np.float64), y).decision_function(X)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for other in (X, X.tolist(), frame, np.asfortranarray(X)):
            labels = y.tolist() if isinstance(other, list) else y
            found = clone(model).fit(other, labels)
            np.testing.assert_allclose(found.decision_function(other), expected, rtol=1e-6, atol=1e-6)
            if name in PROBABILITIES:
                assert found.predict_proba(other).shape == (30, len(set(y)))
                assert found.project(other).shape == expected.shape


@pytest.mark.parametrize("name", PROBABILITIES)
@each_kind
@pytest.mark.parametrize("far", [1.0, 50.0])
def test_probabilities_sum_to_one_and_agree_with_the_prediction(name, kind, far):
    X = rows(60, 3, 4)
    y = targets(X, 4, kind)
    model = clone(MODELS[name]).fit(X, y)
    probe = far * rows(200, 3, 5)
    probabilities = model.predict_proba(probe)
    assert probabilities.shape == (200, len(model.classes_))
    assert (probabilities >= 0).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-14)
    chosen = np.searchsorted(model.classes_, model.predict(probe))
    np.testing.assert_array_equal(probabilities[np.arange(200), chosen], probabilities.max(axis=1))


def test_what_has_no_probabilities_of_its_own_has_no_such_method():
    assert not hasattr(WELMClassifier(), "predict_proba")


@each_model_of_a_size
def test_more_nodes_or_landmarks_than_rows(name):
    X = rows(15, 3, 3)
    y = targets(X, 3, "binary")
    size = "n_landmarks" if name == "EEKM" else "n_hidden"
    model = clone(MODELS[name]).set_params(**{size: 90}).fit(X, y)
    assert model.n_units_ == (15 if name == "EEKM" else 90)
    assert np.isfinite(model.decision_function(rows(40, 3, 4))).all()
    assert (model.predict(X) == y).mean() > 0.7


@pytest.mark.parametrize(
    ("name", "bad", "error", "message"),
    [
        ("WELM", {"n_hidden": 0}, ValueError, "The 'n_hidden' parameter of"),
        (
            "WELM",
            {"activation": "tanh"},
            ValueError,
            "The 'activation' parameter of",
        ),
        ("EEM", {"n_hidden": 2.5}, TypeError, "The 'n_hidden' parameter of"),
        ("EEM", {"priors": [1.0]}, ValueError, "priors: expected 2 numbers, one a class, got 1 instead"),
        ("EEM", {"priors": [1.0, 0.0]}, ValueError, "priors: expected a finite number greater than 0, got 0.0"),
        (
            "EEM",
            {"costs": {1: 2.0}},
            ValueError,
            r"expected a number for each of the labels \[-1, 1\], got {1: 2",
        ),
        ("EEM", {"costs": ["a", 1]}, TypeError, "costs: expected a number greater than 0, got 'a' instead"),
        ("EEKM", {"n_landmarks": 0}, ValueError, "The 'n_landmarks' parameter of"),
        ("EEKM", {"gamma": -1.0}, ValueError, "The 'gamma' parameter of"),
        ("LSSVM", {"C": 0.0}, ValueError, "The 'C' parameter of"),
        ("LSSVM", {"class_weight": "even"}, ValueError, "The 'class_weight' parameter of"),
        ("LSSVM", {"class_weight": {1: 0}}, ValueError, "class_weight: expected a finite number greater than 0, got 0"),
        ("LSSVM", {"weighting": "printed"}, ValueError, "The 'weighting' parameter of"),
        ("EEKM", {"kernel": "cubic"}, ValueError, "The 'kernel' parameter of"),
    ],
)
def test_bad_parameters(name, bad, error, message):
    X = rows(10, 2, 0)
    y = targets(X, 0, "binary")
    model = clone(MODELS[name]).set_params(**bad)
    with pytest.raises(error, match=message):
        model.fit(X, y)
    if not isinstance(type(model), GridPath):
        return
    with pytest.raises(error, match=message):
        list(type(model).evaluate_grid(X, y, [(np.arange(10), np.arange(3))], [{}], **model.get_params()))


@pytest.mark.parametrize("name", ["WELM", "EEM", "EEKM", "LSSVM"])
@pytest.mark.parametrize(("n", "size"), [(6000, 200), (300, 900)])
def test_memory_estimate_bounds_the_peak(name, n, size):
    n = 2500 if name == "LSSVM" else n
    X = rows(n, 5, 0)
    y = targets(X, 0, "binary")
    params = {} if name == "LSSVM" else {"n_landmarks" if name == "EEKM" else "n_hidden": size}
    model = clone(MODELS[name]).set_params(**params).fit(X[:50], y[:50])
    tracemalloc.start()
    model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    estimate = type(model).memory_estimate(n, 5, 1, **params)
    assert 0.3 * estimate < peak < estimate


@pytest.mark.parametrize("activation", ["nsig", "rbf"])
@pytest.mark.parametrize("cls", [WELMClassifier, EEMClassifier])
def test_wide_sparse_rows_are_never_made_dense(cls, activation, seed):
    """The nodes are: 8 bytes for each feature of each."""
    n, d = 2200, 4000
    X = sp.random(n, d, density=2e-3, format="csr", random_state=np.random.RandomState(seed))
    y = np.where(np.asarray(X.sum(axis=1)).ravel() > X.sum() / n, 1, -1)
    model = cls(n_hidden=20, activation=activation, random_state=0).fit(X[:50, :9], y[:50])
    peaks = []
    for step in (lambda: model.fit(X, y), lambda: model.predict(X)):
        tracemalloc.start()
        step()
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    rows_as_given = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    estimate = cls.memory_estimate(n, d, 1, n_hidden=20)
    assert max(peaks) < min(estimate + 2 * rows_as_given, 8 * n * d / 10)

"""What holds for the models of Czarnecki & Tabor alike."""

from __future__ import annotations

import warnings
from contextlib import nullcontext

import numpy as np
import pytest
from elm_problems import rows, targets
from sklearn.base import clone

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

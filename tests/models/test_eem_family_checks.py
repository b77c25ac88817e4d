"""Properties that all models of Czarnecki & Tabor share."""

from __future__ import annotations

import warnings
from contextlib import nullcontext

import numpy as np
import pytest
from elm_problems import rows
from sklearn.base import clone

from elmbench.models import EEKMClassifier, EEMClassifier, LSSVMClassifier, WELMClassifier

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
each_model = pytest.mark.parametrize("name", sorted(MODELS))


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

"""`predict_proba` of every classifier: its own, or the recipe of its docstring."""

import re

import numpy as np
import pytest
from elm_problems import rows
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import log_loss

from elmbench import models

CLASSIFIERS = [name for name in models.__all__ if name.endswith("Classifier")]
ONLINE = [
    name for name in CLASSIFIERS if hasattr(getattr(models, name)(), "partial_fit")
]
SMALL = {"random_state": 0, "n_hidden": 10}
WORDS = np.array(["b", "a", "c"])


def problem(n_classes, seed=0, n=90):
    X = rows(n, 3, seed)
    return X, WORDS[np.argsort(np.argsort(X[:, 0] + 0.3 * X[:, 1])) * n_classes // n]


def made(name):
    """Return the classifier itself or, if it has no probabilities, what its docstring makes of
    it.
    """
    cls = getattr(models, name)
    model = cls(
        **{key: value for key, value in SMALL.items() if key in cls().get_params()}
    )
    if hasattr(model, "predict_proba"):
        return model
    (recipe,) = re.findall(r"; ``(.+)`` has\s+`predict_proba`", cls.__doc__)
    return eval(
        recipe, {"CalibratedClassifierCV": CalibratedClassifierCV, "model": model}
    )


@pytest.mark.filterwarnings("ignore:the kernel weights still change")
@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_classifier_has_probabilities(name, n_classes):
    X, y = problem(n_classes)
    model = made(name).fit(X, y)
    shares = model.predict_proba(X)
    assert shares.shape == (len(X), n_classes)
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-12)
    assert (shares >= 0).all()
    np.testing.assert_array_equal(
        model.classes_[shares.argmax(axis=1)], model.predict(X)
    )
    assert log_loss(y, shares, labels=model.classes_) < 0.95 * np.log(n_classes)


@pytest.mark.parametrize("name", ONLINE)
def test_a_model_that_learns_on_is_calibrated_on_rows_it_has_not_learnt(name):
    X, y = problem(2, n=120)
    model = getattr(models, name)().partial_fit(X[::3], y[::3], classes=WORDS[:2])
    before = model.decision_function(X)
    calibrated = CalibratedClassifierCV(FrozenEstimator(model)).fit(X[1::3], y[1::3])
    shares = calibrated.predict_proba(X[2::3])
    np.testing.assert_array_equal(model.decision_function(X), before)
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-12)
    order = np.argsort(before[2::3])
    assert (np.diff(shares[order, 1]) >= 0).all()
    model.partial_fit(X[1::3], y[1::3])
    assert not np.array_equal(calibrated.predict_proba(X[2::3]), shares)

"""ELM, K-ELM, LS-SVM and SVM by their names: labels of three classes, and one target."""

from __future__ import annotations

import numpy as np
import pytest
from elm_problems import rows

from elmbench.models.protocols import GridPath
from elmbench.registry import find_model, make_model

PARAMETERS = {
    "elm": {"n_hidden": 80, "C": 2.0**13, "slope": 2.0, "random_state": 0},
    "k-elm": {"C": 64.0, "gamma": 2.0},
    "ls-svm": {"C": 64.0, "gamma": 2.0},
    "svm": {"C": 64.0, "gamma": 2.0},
}
each_model = pytest.mark.parametrize("name", sorted(PARAMETERS))


def three_classes(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows in the unit square and which of three bands they are in, with gaps half as wide between these."""
    random = np.random.RandomState(seed)
    bands = np.arange(n) % 3
    return np.column_stack([(bands + random.rand(n) * 2 / 3) / 3, random.rand(n)]), bands


@each_model
@pytest.mark.parametrize("names", [["a", "b", "c"], ["z", "a", "m"], [7, -2, 0]])
def test_three_classes_whatever_they_are_called(name, names, seed):
    """The middle one is no half-space, so all three outputs count."""
    X, bands = three_classes(240, seed)
    y = np.array(names)[bands]
    train, test = np.arange(180), np.arange(180, 240)
    model = make_model(name, **PARAMETERS[name]).fit(X[train], y[train])
    predicted = model.predict(X[test])
    assert np.mean(predicted == y[test]) > 0.9
    assert predicted.dtype == y.dtype
    assert model.classes_.tolist() == sorted(names)
    outputs = model.decision_function(X[test])
    assert outputs.shape == (60, 3)
    np.testing.assert_array_equal(model.classes_[np.argmax(outputs, axis=1)], predicted)


@pytest.mark.parametrize("name", [name for name in PARAMETERS if name != "svm"])
def test_three_classes_by_the_path(name, seed):
    X, bands = three_classes(150, seed)
    bands[::10] = (bands[::10] + 1) % 3  # nothing fits all of them
    folds = [(np.arange(100), np.arange(100, 150)), (np.arange(50, 150), np.arange(50))]
    fixed = {key: value for key, value in PARAMETERS[name].items() if key != "C"}
    candidates = [{"C": 2.0**c} for c in range(-2, 14, 3)]
    factory = find_model(name).factory("classification")
    assert isinstance(factory, GridPath)
    seen = 0
    for i, j, predicted, _ in factory.evaluate_grid(X, bands, folds, candidates, **fixed):
        train, test = folds[j]
        expected = factory(**fixed, **candidates[i]).fit(X[train], bands[train]).predict(X[test])
        np.testing.assert_array_equal(predicted, expected)
        assert np.mean(predicted == bands[test]) > 0.5
        seen += 1
    assert seen == len(folds) * len(candidates)


@each_model
def test_one_target(name, seed):
    """A smooth surface far from zero, of which each model explains nearly all."""
    X = rows(260, 2, seed)
    y = 3.0 + np.sin(3 * X[:, 0]) * X[:, 1]
    model = make_model(name, task="regression", **PARAMETERS[name]).fit(X[:200], y[:200])
    predicted = model.predict(X[200:])
    assert predicted.shape == (60,)
    assert np.sqrt(np.mean((predicted - y[200:]) ** 2)) < 0.3 * np.std(y[200:])


@pytest.mark.parametrize("name", ["elm", "k-elm", "ls-svm"])
def test_one_target_in_a_column(name, seed):
    X = rows(60, 3, seed)
    y = X.sum(axis=1)
    flat, column = (make_model(name, task="regression", **PARAMETERS[name]).fit(X, t) for t in (y, y[:, None]))
    assert column.predict(X).shape == (60, 1)
    np.testing.assert_array_equal(column.predict(X)[:, 0], flat.predict(X))

"""What holds for ELM, OS-ELM, K-ELM and LS-SVM alike."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from elm_problems import class_of, real_outputs, rows, targets
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from elmbench.models import (
    ELMClassifier,
    ELMRegressor,
    KELMClassifier,
    KELMRegressor,
    LSSVMRegressor,
    OSELMClassifier,
    OSELMRegressor,
)

SMALL = {
    "ELM": {"n_hidden": 20, "C": 8.0, "random_state": 3},
    "OSELM": {"n_hidden": 20, "C": 8.0, "initial_batch": 7, "batch_size": 5, "start": "ridge", "random_state": 3},
    "KELM": {"C": 8.0, "gamma": 0.5},
    "LSSVM": {"C": 8.0, "gamma": 0.5},
}
KINDS = ("binary", "multi", "one", "regression", "two-targets")
each_model = pytest.mark.parametrize("name", sorted(SMALL))
each_kind = pytest.mark.parametrize("kind", KINDS)


@parametrize_with_checks(
    [
        ELMClassifier(),
        ELMRegressor(),
        OSELMClassifier(),
        OSELMRegressor(),
        OSELMClassifier(start="ridge"),
        OSELMRegressor(start="ridge"),
        KELMClassifier(),
        KELMRegressor(),
        LSSVMRegressor(),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@each_model
@each_kind
def test_second_fit_equals_a_fresh_one(name, kind):
    model = class_of(name, kind)(**SMALL[name])
    first, second = rows(30, 5, 0), rows(23, 4, 1)
    model.fit(first, targets(first, 0, "multi" if kind == "binary" else kind))
    model.fit(second, targets(second, 1, kind))
    fresh = clone(model).fit(second, targets(second, 1, kind))
    np.testing.assert_array_equal(real_outputs(model, second), real_outputs(fresh, second))
    assert model.n_units_ == fresh.n_units_
    assert model.condition_ == fresh.condition_


@each_model
@each_kind
@pytest.mark.parametrize(("n", "d"), [(1, 3), (4, 9), (30, 1), (40, 6)])
def test_awkward_rows(name, kind, n, d):
    """Repeated rows, a constant column, fewer rows than columns, one row, one class."""
    X = rows(n, d, 5, awkward=True)
    y = targets(X, 5, kind)
    model = class_of(name, kind)(**SMALL[name]).fit(X, y)
    predicted = model.predict(X)
    assert predicted.shape == y.shape
    assert np.isfinite(real_outputs(model, X)).all()
    assert model.condition_ > 0.999
    if kind in ("binary", "multi", "one"):
        assert set(predicted) <= set(y)


@each_model
@each_kind
def test_other_containers(name, kind):
    X = rows(30, 4, 2).astype(np.float32)
    y = targets(X, 2, kind)
    model = class_of(name, kind)(**SMALL[name])
    expected = real_outputs(clone(model).fit(X.astype(np.float64), y), X)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for other in (X, X.tolist(), frame, np.asfortranarray(X)):
            labels = y.tolist() if isinstance(other, list) else y
            np.testing.assert_allclose(real_outputs(clone(model).fit(other, labels), other), expected, atol=1e-11)


@each_model
def test_repeated_rows_weigh_double(name):
    """Every row twice at half the C is the same problem."""
    X = rows(20, 3, 4)
    y = targets(X, 4, "regression")
    params = SMALL[name]
    model = class_of(name, "regression")
    once = model(**params).fit(X, y)
    twice = model(**(params | {"C": params["C"] / 2})).fit(np.vstack([X, X]), np.concatenate([y, y]))
    probe = rows(15, 3, 9)
    np.testing.assert_allclose(twice.predict(probe), once.predict(probe), atol=1e-9)


@pytest.mark.parametrize("kind", ["binary", "regression"])
@pytest.mark.parametrize(
    ("name", "bad", "error", "message"),
    [
        ("ELM", {"C": 0.0}, ValueError, "The 'C' parameter of"),
        ("ELM", {"C": "1"}, TypeError, "The 'C' parameter of"),
        ("ELM", {"n_hidden": 0}, ValueError, "The 'n_hidden' parameter of"),
        ("ELM", {"n_hidden": 2.5}, TypeError, "The 'n_hidden' parameter of"),
        ("ELM", {"activation": "sine"}, ValueError, "The 'activation' parameter of"),
        ("ELM", {"slope": -1.0}, ValueError, "The 'slope' parameter of"),
        ("OSELM", {"start": "zero"}, ValueError, "The 'start' parameter of"),
        ("OSELM", {"batch_size": 0}, ValueError, "The 'batch_size' parameter of"),
        ("OSELM", {"C": np.nan}, ValueError, "The 'C' parameter of"),
        ("KELM", {"C": -1.0}, ValueError, "The 'C' parameter of"),
        ("KELM", {"gamma": np.inf}, ValueError, "The 'gamma' parameter of"),
        ("LSSVM", {"C": -1.0}, ValueError, "The 'C' parameter of"),
        ("LSSVM", {"kernel": "cubic"}, ValueError, "The 'kernel' parameter of"),
        ("KELM", {"kernel": "cubic"}, ValueError, "The 'kernel' parameter of"),
        ("KELM", {"kernel": 3}, ValueError, "The 'kernel' parameter of"),
        ("KELM", {"degree": 0}, ValueError, "The 'degree' parameter of"),
        ("LSSVM", {"coef0": np.nan}, ValueError, "The 'coef0' parameter of"),
        ("KELM", {"kernel_params": [1]}, TypeError, "The 'kernel_params' parameter of"),
    ],
)
def test_bad_parameters(name, bad, error, message, kind):
    X = rows(10, 2, 0)
    with pytest.raises(error, match=message):
        class_of(name, kind)(**(SMALL[name] | bad)).fit(X, targets(X, 0, kind))

"""One cell: fitted with the right parameters, measured on the test rows, diverged where it is,
carried over.
"""

from __future__ import annotations

import re
import time
import warnings
from typing import Any

import numpy as np
import pytest
from made_work import attempted, default_metrics, fold_data, metrics_of, model_seed
from made_work import fit as cell
from sklearn.base import BaseEstimator, ClassifierMixin
from toy_data import AddModel, MakeUnit

from elmbench import make_model
from elmbench.evaluation.stored_predictions import StoredPredictions
from elmbench.models import (
    ELMClassifier,
    FBKOSELMRegressor,
    KELMClassifier,
    KELMRegressor,
)
from elmbench.models.baselines import KNNClassifier
from elmbench.registry.built_in import BUILT_IN


@pytest.mark.parametrize("dataset", ["two", "three", "redrawn"])
def test_a_fit_on_its_test_rows(make_unit: MakeUnit, dataset: str) -> None:
    unit = make_unit(dataset=dataset, run=2, fold=1)
    result = cell(unit, C=10.0, gamma=2.0)
    data = fold_data(unit)
    factory = KELMClassifier if data.labels else KELMRegressor
    model = factory(C=10.0, gamma=2.0).fit(data.X_train, data.y_train)
    assert metrics_of(result) == pytest.approx(
        default_metrics(data.y_test, model.predict(data.X_test), data.labels)
    )
    assert result["status"] == "ok"
    assert result["params"] == {"C": 10.0, "gamma": 2.0}
    assert (result["n_units"], result["n_train"], result["n_test"]) == (60, 60, 30)
    assert result["condition"] == float(f"{model.condition_:.6g}")
    assert result["search_seconds"] == 0.25
    assert result["fit_seconds"] > 0
    assert result["predict_seconds"] > 0


@pytest.mark.parametrize("dataset", ["two", "three"])
def test_the_rows_learnt_are_predicted_where_a_table_asks_for_it(
    make_unit: MakeUnit, dataset: str
) -> None:
    unit = make_unit(dataset=dataset, model="elm", params={"n_hidden": 3})
    plain, result = cell(unit), cell(unit | {"train_accuracy": True})
    data = fold_data(unit)
    model = ELMClassifier(n_hidden=3, random_state=model_seed(unit)).fit(
        data.X_train, data.y_train
    )
    right = float(np.mean(model.predict(data.X_train) == data.y_train))
    assert metrics_of(result) == metrics_of(plain) | {
        "train_accuracy": pytest.approx(right)
    }
    assert "train_accuracy" not in metrics_of(plain)


LIKELIEST = [name for name, entry in BUILT_IN.items() if entry.predicts_likeliest]


@pytest.mark.parametrize("model", LIKELIEST)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_declared_models_predict_the_likeliest_class_also_at_ties(
    model: str, n_classes: int
) -> None:
    random = np.random.default_rng(0)
    X, X_new = random.normal(size=(2, 120, 2))
    y = 2 * random.integers(0, n_classes, size=120) - 3
    params = {"n_neighbors": 4} if model == "knn" else {"n_estimators": 4}
    classifier = make_model(model, **params).fit(X, y)
    probabilities = classifier.predict_proba(X_new)
    largest = probabilities.max(axis=1, keepdims=True)
    assert ((probabilities == largest).sum(axis=1) > 1).any()
    likeliest = classifier.classes_[probabilities.argmax(axis=1)]
    np.testing.assert_array_equal(classifier.predict(X_new), likeliest)


def test_the_likeliest_class_follows_from_the_only_probabilities_that_are_computed(
    make_unit: MakeUnit, monkeypatch: pytest.MonkeyPatch
) -> None:
    unit = make_unit(dataset="three", model="knn", params={"n_neighbors": 4})
    data = fold_data(unit)
    model = KNNClassifier(4).fit(data.X_train, data.y_train)
    expected = model.predict(data.X_test)
    probabilities = model.predict_proba(data.X_test)
    numbers_of_rows = []
    compute = KNNClassifier.kneighbors

    def count(self: KNNClassifier, X: Any, *arguments: Any, **options: Any) -> Any:
        numbers_of_rows.append(len(X))
        return compute(self, X, *arguments, **options)

    monkeypatch.setattr(KNNClassifier, "kneighbors", count)
    stored = StoredPredictions(cell(unit)["predictions"])
    assert numbers_of_rows.count(len(data.X_test)) == 1
    assert data.labels is not None
    np.testing.assert_array_equal(np.take(data.labels, stored.predicted), expected)
    np.testing.assert_allclose(stored.probabilities, probabilities, rtol=1e-6)


def test_what_the_column_fixes_comes_before_what_was_chosen(
    make_unit: MakeUnit,
) -> None:
    result = cell(make_unit(params={"C": 3.0}), C=10.0, gamma=2.0, n_hidden=5)
    assert result["params"] == {"C": 3.0, "gamma": 2.0}


def test_os_elm_shares_the_nodes_of_elm(make_unit: MakeUnit) -> None:
    """Started with the ridge it is ELM exactly, if it draws the same nodes."""
    chosen = {"n_hidden": 12, "C": 8.0}
    start = {"start": "ridge", "initial_batch": 20, "batch_size": 7}
    online = {"dataset": "real", "model": "os-elm", "params": start}
    for fold in range(3):
        elm = metrics_of(
            cell(make_unit(dataset="real", model="elm", fold=fold), **chosen)
        )
        shared, separate = (
            metrics_of(cell(make_unit(**online, stream=stream, fold=fold), **chosen))
            for stream in ("elm", "os-elm")
        )
        assert shared == pytest.approx(elm, abs=1e-7)
        assert separate != pytest.approx(elm, abs=1e-4)


class Simple(ClassifierMixin, BaseEstimator):
    """Predicts by its first column."""

    n_units_ = 1

    def fit(self, X: np.ndarray, y: np.ndarray) -> Simple:
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.where(X[:, 0] > 0.5, 1, -1)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_outputs_that_are_not_finite(
    make_unit: MakeUnit, add_model: AddModel, bad: float
) -> None:
    class Diverging(Simple):
        def decision_function(self, X: np.ndarray) -> np.ndarray:
            outputs = X[:, 0] - 0.5
            outputs[-1] = bad
            return outputs

    class DivergingRegressor(Simple):
        def predict(self, X: np.ndarray) -> np.ndarray:
            outputs = X[:, 0].copy()
            outputs[0] = bad
            return outputs

    add_model("diverging", Diverging, DivergingRegressor)
    huge = type(
        "Huge",
        (DivergingRegressor,),
        {"predict": lambda self, X: np.full(len(X), 1e200)},
    )
    add_model("huge", Diverging, huge)  # its squared errors are infinite
    for dataset, model in (
        ("two", "diverging"),
        ("real", "diverging"),
        ("real", "huge"),
    ):
        result = cell(make_unit(dataset=dataset, model=model))
        assert result["status"] == "diverged"
        assert result["reason"]
        assert metrics_of(result) == {}


@pytest.mark.parametrize("outputs", [1.0, np.ones(3), np.ones((3, 2))])
def test_decision_values_that_are_not_one_for_each_row(
    make_unit: MakeUnit, add_model: AddModel, outputs: Any
) -> None:
    add_model(
        "short",
        type("Short", (Simple,), {"decision_function": lambda self, X: outputs}),
    )
    result = attempted(make_unit(model="short"), {})
    assert result["status"] == "failed"
    assert re.match(
        r"ValueError: expected decision_function to return \d+ rows, got shape \(.*\) instead",
        result["reason"],
    )


@pytest.mark.parametrize(
    ("condition", "stored"),
    [(1234567.89, 1234570.0), (np.nan, np.inf), (np.inf, np.inf), (None, None)],
)
def test_the_condition_is_kept_to_six_digits(
    make_unit: MakeUnit,
    add_model: AddModel,
    condition: float | None,
    stored: float | None,
) -> None:
    class Conditioned(Simple):
        condition_ = condition

    add_model("conditioned", Conditioned)
    assert cell(make_unit(model="conditioned"))["condition"] == stored


def test_the_warm_up_is_neither_timed_nor_printed(
    make_unit: MakeUnit, add_model: AddModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    monkeypatch.setattr(time, "perf_counter", lambda: float(len(calls)))

    class Slow(Simple):
        def fit(self, X: np.ndarray, y: np.ndarray) -> Slow:
            calls.append(len(X))
            assert set(y.tolist()) == {-1, 1}
            if len(X) < 50:
                warnings.warn("so few rows", UserWarning, stacklevel=1)
                raise ValueError("so few rows")
            return self

    add_model("slow", Slow)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        first = cell(make_unit(model="slow"))
        second = cell(make_unit(model="slow", fold=1))
    assert first["status"] == second["status"] == "ok"
    assert first["fit_seconds"] == 1
    assert len(calls) == 3
    assert calls[1:] == [60, 60]
    assert calls[0] <= 40
    assert not caught


def test_carry_over_learns_the_training_rows_of_each_fold_up_to_this_one(
    make_unit: MakeUnit,
) -> None:
    chosen = {"C": 10.0, "gamma": 1.0, "budget": 25}
    for fold in range(3):
        unit = make_unit(dataset="real", model="fb-kos-elm", fold=fold)
        model = FBKOSELMRegressor(**chosen)
        for before in range(fold + 1):
            data = fold_data(unit | {"fold": before})
            model.partial_fit(data.X_train, data.y_train)
        data = fold_data(unit)
        expected = default_metrics(data.y_test, model.predict(data.X_test), None)
        assert metrics_of(
            cell(unit | {"carry_over": "folds"}, **chosen)
        ) == pytest.approx(expected)
        assert (metrics_of(cell(unit, **chosen)) == pytest.approx(expected)) == (
            fold == 0
        )

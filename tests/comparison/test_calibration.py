"""Comparisons by a metric of probabilities: models with decision values only are calibrated on the
inner folds.
"""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import elmbench
from elmbench.comparison.defaults import DEFAULT_MODELS
from elmbench.evaluation.calibration import sigmoids
from elmbench.evaluation.folds import fold_data
from elmbench.numerics.seeds import generator
from elmbench.specs.grids import SearchGrid
from elmbench.tasks.fit import Fit
from elmbench.tasks.nested_search import Search

pytestmark = pytest.mark.usefixtures("alone")

GRID = [0.001, 10.0]


def frame(n_classes: int, n: int = 150) -> tuple[pd.DataFrame, Any]:
    options = {
        "n_informative": 4,
        "flip_y": 0.1,
        "weights": [0.6] + [0.4 / (n_classes - 1)] * (n_classes - 1),
    }
    X, y = make_classification(n, 6, n_classes=n_classes, random_state=3, **options)
    return pd.DataFrame(X, columns=list("abcdef")), np.array(["no", "yes", "maybe"])[y]


def compared(n_classes: int, models: list[str], *metrics: str, **options: Any) -> Any:
    X, y = frame(n_classes)
    grids = {"ridge": {"C": GRID}} | options.pop("grids", {})
    return elmbench.compare(
        X, y, models, metric=metrics, grids=grids, folds=3, name="mine", **options
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_sigmoids_are_those_of_scikit_learn(n_classes: int, weighted: bool) -> None:
    X, words = frame(n_classes)
    y = np.unique(words, return_inverse=True)[1]
    model, parts = (
        RidgeClassifier(),
        [(np.arange(50, 150), np.arange(50)), (np.arange(50), np.arange(50, 150))],
    )
    weights = (
        {"sample_weight": np.random.default_rng(1).uniform(0, 3, 150)}
        if weighted
        else {}
    )
    expected = (
        CalibratedClassifierCV(model, cv=parts, ensemble=False)
        .fit(X, y, **weights)
        .predict_proba(X)
    )
    scores = cross_val_predict(
        model, X, y, cv=parts, method="decision_function", params=weights
    )
    shares = sigmoids(scores, y, weights.get("sample_weight"))(
        model.fit(X, y, **weights).decision_function(X)
    )
    np.testing.assert_allclose(shares, expected, atol=1e-12)
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-12)


def test_a_class_without_rows_keeps_a_small_probability() -> None:
    scores = np.random.default_rng(0).normal(size=(40, 3))
    shares = sigmoids(scores, scores[:, :2].argmax(axis=1))(scores)
    assert ((shares[:, 2] > 0) & (shares[:, 2] < 0.1)).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_comparison_is_of_the_classifier_that_scikit_learn_calibrates(
    n_classes: int,
) -> None:
    results = compared(
        n_classes, ["ridge", "knn"], "log_loss", "neg_brier_score", "accuracy"
    )
    fits = {
        task.outer_fold.fold: task
        for task in results.run.tasks.values()
        if isinstance(task, Fit) and task.calibrate
    }
    assert {task.model.name for task in fits.values()} == {"ridge"}
    cells = results.cells[results.cells["model"] == "ridge"].set_index("fold")
    for fold, task in fits.items():
        data = fold_data(task.outer_fold, None)
        search = results.run.tasks[task.chosen]
        assert isinstance(search, Search)
        rows, y, parts = search.rows_and_inner_folds(data)
        losses = []
        for C in GRID:
            model = make_pipeline(StandardScaler(), RidgeClassifier(alpha=1 / C))
            values = cross_val_predict(
                model, rows, y, cv=parts, method="decision_function"
            )
            shares = sigmoids(values, np.searchsorted(data.labels, y))(values)
            losses.append(
                np.mean(
                    [
                        log_loss(y[test], shares[test], labels=data.labels)
                        for _, test in parts
                    ]
                )
            )
        C = GRID[int(np.argmin(losses))]
        assert f'"C": {C}' in cells["params"][fold]
        model = make_pipeline(StandardScaler(), RidgeClassifier(alpha=1 / C))
        model = CalibratedClassifierCV(model, cv=parts, ensemble=False).fit(rows, y)
        loss = log_loss(
            data.y_test, model.predict_proba(data.X_test), labels=data.labels
        )
        assert cells["log_loss"][fold] == pytest.approx(loss, rel=1e-5)
        assert cells["accuracy"][fold] == np.mean(
            model.predict(data.X_test) == data.y_test
        )
    best = results.best_estimator("ridge")
    X, y = frame(n_classes)
    np.testing.assert_allclose(best.predict_proba(X).sum(axis=1), 1, atol=1e-12)
    assert best.classes_.tolist() == sorted(set(y))
    columns = [f"probability_{name}" for name in best.classes_]
    counts = (
        pd.read_csv(results.folder / "predictions.csv")
        .groupby("model")[columns]
        .count()
    )
    assert counts.loc[["ridge", "knn"]].all(axis=None)


def test_weights_and_groups_count_in_the_calibration() -> None:
    X, y = frame(2)
    weights, groups = np.random.default_rng(1).uniform(0, 3, 150), np.arange(150) // 5
    results = compared(
        2,
        ["ridge"],
        "log_loss",
        weights=weights,
        groups=groups,
        grids={"ridge": {"C": [1.0]}},
    )
    for task in (
        task
        for task in results.run.tasks.values()
        if isinstance(task, Fit) and task.calibrate
    ):
        data = fold_data(task.outer_fold, None)
        search = Search(
            task.outer_fold,
            task.model,
            task.params,
            SearchGrid({}),
            task.chosen,
            inner=task.calibrate,
        )
        rows, labels, parts = search.rows_and_inner_folds(data)
        model = make_pipeline(StandardScaler(), RidgeClassifier(alpha=1))
        params = {"ridgeclassifier__sample_weight": data.weights}
        values = cross_val_predict(
            model, rows, labels, cv=parts, method="decision_function", params=params
        )
        outputs = model.fit(rows, labels, **params).decision_function(data.X_test)
        shares = sigmoids(values, np.searchsorted(data.labels, labels), data.weights)(
            outputs
        )
        cell = results.cells[
            (results.cells["model"] == "ridge")
            & (results.cells["fold"] == task.outer_fold.fold)
        ]
        assert cell["log_loss"].item() == pytest.approx(
            log_loss(data.y_test, shares, labels=data.labels), rel=1e-5
        )
    best = results.best_estimator("ridge")
    parts, order = best["model"].cv, generator("order", "mine", 0, 0).permutation(150)
    assert all(
        set(groups[order][train]).isdisjoint(groups[order][test])
        for train, test in parts
    )
    by_hand, rows = (
        CalibratedClassifierCV(RidgeClassifier(alpha=1), cv=parts, ensemble=False),
        best[:-1].transform(X),
    )
    by_hand.fit(rows[order], y[order], sample_weight=weights[order])
    np.testing.assert_allclose(
        best.predict_proba(X), by_hand.predict_proba(rows), atol=1e-10
    )


def test_who_does_not_ask_for_probabilities_pays_nothing() -> None:
    results = compared(2, ["ridge"], "roc_auc")
    tasks = [task for task in results.run.tasks.values() if isinstance(task, Fit)]
    assert all(task.calibrate is None and task.number_of_fits == 1 for task in tasks)
    assert all("calibrate" not in task.content() for task in tasks)


def test_a_calibrated_pipeline_keeps_its_weights_and_rows_in_time_order_are_calibrated() -> (
    None
):
    X, y = frame(2)
    weights = np.random.default_rng(0).integers(0, 5, 150).astype(float)
    models = [("pipe", make_pipeline(StandardScaler(), RidgeClassifier(alpha=10)))]
    best = elmbench.compare(
        X, y, models, metric="log_loss", folds=3, weights=weights
    ).best_estimator("pipe")
    rows = best[:-1].transform(X)
    fitted = best["model"].calibrated_classifiers_[0].estimator
    expected = make_pipeline(StandardScaler(), RidgeClassifier(alpha=10))
    expected.fit(rows, y, ridgeclassifier__sample_weight=weights)
    np.testing.assert_allclose(fitted[-1].coef_, expected[-1].coef_)
    results = elmbench.compare(
        X, y, models, metric="log_loss", folds=3, time_order=np.arange(150)
    )
    np.testing.assert_allclose(
        results.best_estimator("pipe").predict_proba(X).sum(axis=1), 1
    )


def test_every_default_model_is_compared() -> None:
    small = {
        "C": [1.0],
        "gamma": [0.1],
        "budget": [20],
        "n_landmarks": [20],
        "n_hidden": [20],
        "n_estimators": [5],
    }
    grids: dict[str, Any] = {}
    for name in DEFAULT_MODELS:
        searched = elmbench.registry.find_model(name).grid
        grids[name] = {
            key: small.get(key, list(values)[:1]) for key, values in searched.items()
        }
    results = compared(3, [], "log_loss", grids=grids)
    assert set(results.cells["model"]) == {*DEFAULT_MODELS, "dummy"}
    assert set(results.cells["status"]) == {"ok"}
    assert np.isfinite(results.cells["log_loss"]).all()
    # The dummy predicts the shares of the classes, which is better than to be sure of three equally
    # likely ones.
    assert (
        results.cells.loc[results.cells["model"] == "dummy", "log_loss"] < 1.1
    ).all()

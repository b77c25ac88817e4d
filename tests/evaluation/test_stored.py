"""Stored predictions: what a record has, and the metrics that are computed from it."""

import base64
import json
import zlib
from typing import Any

import numpy as np
import pytest
from sentences import pattern
from sklearn import metrics as sk
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from elmbench.errors import ElmbenchError
from elmbench.evaluation.predictions import metric_value
from elmbench.evaluation.stored_predictions import (
    Predictions,
    StoredPredictions,
    add_outputs,
    metric_columns,
    packed_rows,
)
from elmbench.metrics import REGISTRY
from elmbench.registry.scorers import find_metric

LABELS = {2: [-1, 1], 3: [0, 1, 2], 300: list(range(300))}


def data(n_classes: int, seed: int, n: int = 600) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    y = np.array(LABELS[n_classes])[
        np.append(np.arange(n_classes), random.integers(n_classes, size=n - n_classes))
    ]
    return random.normal(size=(n, 3)) + y[:, np.newaxis] / n_classes, y


def stored(model: Any, X: Any, y: Any, labels: list[int] | None) -> StoredPredictions:
    predictions = Predictions(y, np.asarray(model.predict(X)), labels)
    content = add_outputs(predictions, model, X).content()
    return StoredPredictions(json.loads(json.dumps(content)))


@pytest.mark.parametrize(
    "model", [LogisticRegression(), LinearSVC(), KNeighborsClassifier(7)]
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_metrics_of_stored_predictions_are_those_of_the_model(
    model: Any, n_classes: int, seed: int
) -> None:
    """Rankings and probabilities to the precision of single floats; None if the model lacks
    them.
    """
    (X, y), labels = data(n_classes, seed), LABELS[n_classes]
    one = stored(model.fit(X, y), X, y, labels)
    for metric in (metric for metric in REGISTRY.values() if metric.takes == "counts"):
        expected = metric_value(metric.name, y, model.predict(X), labels)
        assert one.value(metric) == pytest.approx(expected, nan_ok=True, abs=1e-15)
    if n_classes == 2 or hasattr(model, "predict_proba"):
        scorer = sk.get_scorer("roc_auc" if n_classes == 2 else "roc_auc_ovr")
        assert one.value(find_metric("roc_auc")) == pytest.approx(
            scorer(model, X, y), abs=1e-5
        )
    loss = one.value(find_metric("log_loss"))
    if isinstance(model, LogisticRegression):
        assert loss == pytest.approx(sk.log_loss(y, model.predict_proba(X)), rel=1e-6)
    else:
        assert (loss is None) == isinstance(model, LinearSVC)
    assert one.value(find_metric("rmse")) is None


@pytest.mark.parametrize("rows", [[], [7], [0, 1, 5, 9], [9, 0, 2**30, 3]])
def test_rows_in_any_order_are_read_as_they_were(rows: list[int]) -> None:
    values = np.zeros(len(rows))
    content = Predictions(values, values, labels=None).content()
    assert StoredPredictions(content).rows is None
    content["rows"] = packed_rows(np.array(rows, dtype=np.intp))
    assert StoredPredictions(content).rows.tolist() == rows


def test_values_are_stored_as_they_are(seed: int) -> None:
    random = np.random.default_rng(seed)
    X, y = random.normal(size=(50, 3)), random.normal(size=50)
    model = Ridge().fit(X, y)
    one = stored(model, X, y, None)
    assert one.predicted.tolist() == model.predict(X).tolist()
    assert one.value(find_metric("nrmse")) == metric_value(
        "nrmse", y, model.predict(X), None
    )
    assert one.value(
        find_metric("neg_median_absolute_error")
    ) == -sk.median_absolute_error(y, model.predict(X))
    assert (one.value(find_metric("mcc")), one.scores, one.probabilities) == (
        None,
        None,
        None,
    )


class Sure:
    """A model whose probabilities are close to 0 and 1."""

    classes_ = np.array([-1, 1])

    def __init__(self, shares: Any) -> None:
        self.shares = np.asarray(shares)

    def predict(self, X: Any) -> Any:
        return np.where(self.shares > 0.5, 1, -1)

    def predict_proba(self, X: Any) -> Any:
        return np.column_stack([1 - self.shares, self.shares])


def test_probabilities_close_to_0_and_1_keep_their_digits() -> None:
    shares = np.array([0.0, 1e-12, 0.3, 1 - 1e-12, 1.0])
    one = stored(Sure(shares), np.zeros((5, 1)), np.array([-1, 1, 1, -1, 1]), [-1, 1])
    np.testing.assert_allclose(
        one.probabilities, Sure(shares).predict_proba(None), rtol=2e-4
    )
    assert np.argsort(one.scores).tolist() == [0, 1, 2, 3, 4]
    assert np.isfinite(one.scores).all()
    assert one.value(find_metric("log_loss")) == pytest.approx(
        sk.log_loss([0, 1, 1, 0, 1], Sure(shares).predict_proba(None)), rel=1e-5
    )


def test_a_failing_predict_proba_costs_the_probabilities_alone() -> None:
    class Failing(Sure):
        def predict_proba(self, X: Any) -> Any:
            raise RuntimeError("no probabilities")

    one = stored(Failing([0.2, 0.8]), np.zeros((2, 1)), np.array([-1, 1]), [-1, 1])
    assert (one.scores, one.probabilities) == (None, None)
    assert one.value(find_metric("accuracy")) == 1


def test_many_classes_and_sizes() -> None:
    """A label takes a byte or two before compression, a decision value of a class 4."""
    X, y = data(300, 0, n=5000)
    predictions = Predictions(y, y[::-1].copy(), LABELS[300])
    content = add_outputs(predictions, Ridge().fit(X, y), X).content()
    one = StoredPredictions(content)
    assert (one.true.tolist(), one.predicted.tolist()) == (y.tolist(), y[::-1].tolist())
    assert len(json.dumps(content)) < 5000 * 6


@pytest.mark.parametrize("labels", [None, [-1, 1]])
def test_predictions_that_are_not_finite_are_not_stored(
    labels: list[int] | None,
) -> None:
    y = np.array([1.0, -1.0])
    predictions = Predictions(y, np.array([1.0, np.nan]), labels)
    assert predictions.have_diverged
    assert add_outputs(predictions, None, None) is predictions


def test_metrics_of_many_cells_at_once(seed: int) -> None:
    cells: list[StoredPredictions | None] = [None]
    for n_classes in (2, 3, 2, 3):
        X, y = data(n_classes, seed + len(cells), n=40)
        cells.append(stored(LogisticRegression().fit(X, y), X, y, LABELS[n_classes]))
    X = np.random.default_rng(seed).normal(size=(40, 2))
    cells.append(stored(Ridge().fit(X, X[:, 0]), X, X[:, 1], None))
    metrics = [
        find_metric(name)
        for name in ("mcc", "tp", "roc_auc", "nrmse", "neg_log_loss", "jaccard_macro")
    ]
    columns = metric_columns(iter(cells), metrics)
    for metric in metrics:
        expected = [None if one is None else one.value(metric) for one in cells]
        assert repr(columns[metric.name]) == repr(expected)  # NaN equals itself
    assert metric_columns([], metrics)["mcc"] == []


@pytest.mark.parametrize(
    "change",
    [
        {"predicted": "abc"},
        {"predicted": "|u1:!"},
        {"predicted": "|u1:eJw="},
        {"predicted": "O:" + packed_rows(np.arange(4)).partition(":")[2]},
        {"predicted": packed_rows(np.zeros(4, dtype=int))},
        {"predicted": "|u1:" + base64.b64encode(zlib.compress(b"\0" * 3)).decode()},
        {"predicted": "|u1:" + base64.b64encode(zlib.compress(b"\2" * 4)).decode()},
        {"scores": "<f4:" + base64.b64encode(zlib.compress(b"\0" * 12)).decode()},
        {"rows": packed_rows(np.array([-1, 0, 1, 2]))},
        {"rows": packed_rows(np.arange(8))},
    ],
)
def test_predictions_of_another_program_are_named(change: dict[str, str]) -> None:
    y = np.array([1, -1, 1, -1])
    X = y[:, np.newaxis] + 0.0
    predictions = Predictions(y, y, [-1, 1])
    content = add_outputs(predictions, Ridge().fit(X, y), X).content()
    content |= change
    with pytest.raises(
        ElmbenchError, match=pattern("evaluation.stored.predictions-unusable")
    ):
        getattr(StoredPredictions(content), next(iter(change)))


@pytest.mark.parametrize(
    "change",
    [
        {"classes": 3},
        {"log_odds": "<f4:" + base64.b64encode(zlib.compress(b"\xff" * 16)).decode()},
    ],
)
def test_learnt_rows_of_another_program_are_named(change: dict[str, Any]) -> None:
    y = np.array([1, -1, 1, -1])
    content = Predictions(y, y, [-1, 1]).content()
    StoredPredictions(content | {"learnt": content}).check()
    damaged = StoredPredictions(content | {"learnt": content | change})
    with pytest.raises(ElmbenchError, match="predictions that cannot be used"):
        damaged.check()

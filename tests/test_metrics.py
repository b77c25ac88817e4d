"""The registry of metrics against scikit-learn and closed forms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sentences import sentence
from sklearn import metrics as sk
from sklearn.base import BaseEstimator, ClassifierMixin

from elmbench.errors import ElmbenchError
from elmbench.evaluation.predictions import (
    FoldScores,
    check_predictions,
    class_outputs,
    metric_value,
)
from elmbench.metrics import COUNTS, REGISTRY, columns, less_is_better, metric_names
from elmbench.numerics.scores import (
    accuracy,
    balanced_accuracy,
    confusion_counts,
    error_rate,
    f1_scores,
    geometric_mean,
    macro_mean,
    matthews_correlation,
    positive_score,
    precisions,
    recalls,
)
from elmbench.registry.scorers import find_metric, is_metric

BINARY = [-1, 1]
SIZES = st.integers(0, 40)


def values_of(
    names: Sequence[str], true: Any, predicted: Any, labels: list[int] | None
) -> dict[str, float]:
    return {
        name: metric_value(name, np.asarray(true), np.asarray(predicted), labels)
        for name in names
    }


def search_scores(
    metric: str, true: Any, predicted: Any, labels: list[int] | None
) -> list[float]:
    """Return the scores of candidates as a search computes them, for predictions of shape (p,
    n).
    """
    fold = FoldScores(find_metric(metric), np.asarray(true), labels, len(predicted))
    for candidate, outputs in enumerate(predicted):
        fold.add(candidate, outputs)
    fold.finish()
    return fold.scores.tolist()


def ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else 0.0


@given(SIZES, SIZES, SIZES, SIZES)
def test_metrics_of_two_classes_equal_their_definitions(
    tn: int, fp: int, fn: int, tp: int
) -> None:
    """0/0 is 0; precision, recall and F1 are of +1."""
    assume(tn + fp + fn + tp)
    true, predicted = (
        np.repeat(column, [tn, fp, fn, tp])
        for column in ([-1, -1, 1, 1], [-1, 1, -1, 1])
    )
    root = math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    recall, specificity = ratio(tp, tp + fn), ratio(tn, tn + fp)
    expected = {
        "mcc": ratio(tp * tn - fp * fn, root),
        "gmean": math.sqrt(recall * specificity),
        "accuracy": (tp + tn) / len(true),
        "error_rate": (fp + fn) / len(true),
        "precision": ratio(tp, tp + fp),
        "recall": recall,
        "f1": ratio(2 * tp, 2 * tp + fp + fn),
        "balanced_accuracy": ratio(recall + specificity, (tn + fp > 0) + (tp + fn > 0)),
        **dict(zip(COUNTS, (tn, fp, fn, tp), strict=True)),
    }
    assert values_of(list(expected), true, predicted, BINARY) == pytest.approx(
        expected, abs=1e-14
    )


@given(
    pairs=st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=120
    ),
    labels=st.sampled_from([[0, 1, 2, 3, 4], [-7, -1, 0, 5, 1000]]),
    dtype=st.sampled_from([np.int64, np.int32, np.float64]),
)
def test_metrics_of_more_classes_equal_scikit_learn(
    pairs: list[tuple[int, int]], labels: list[int], dtype: Any
) -> None:
    """Precision, recall and F1 are means over the classes, one that does not occur counting 0;
    there are no counts.
    """
    true, predicted = (
        np.array([labels[i] for i in column]) for column in zip(*pairs, strict=True)
    )
    means = sk.precision_recall_fscore_support(
        true, predicted, labels=labels, average="macro", zero_division=0
    )
    recalls = sk.recall_score(
        true, predicted, labels=labels, average=None, zero_division=0
    )
    expected = {
        "mcc": sk.matthews_corrcoef(true, predicted),
        "gmean": np.prod(recalls) ** (1 / 5),
        "accuracy": sk.accuracy_score(true, predicted),
        "error_rate": sk.zero_one_loss(true, predicted),
        **dict(zip(("precision", "recall", "f1"), means, strict=False)),
        **dict.fromkeys(COUNTS, math.nan),
    }
    values = values_of(list(expected), true, predicted.astype(dtype), labels)
    assert values == pytest.approx(expected, abs=1e-12, nan_ok=True)
    for name in expected:
        (score,) = search_scores(name, true, [predicted.astype(dtype)], labels)
        sign = -1 if name == "error_rate" else 1
        assert score == (-math.inf if name in COUNTS else sign * values[name])


@pytest.mark.parametrize(
    "function",
    [
        accuracy,
        error_rate,
        matthews_correlation,
        precisions,
        recalls,
        f1_scores,
        positive_score(recalls),
        macro_mean(f1_scores),
        geometric_mean,
        balanced_accuracy,
    ],
)
def test_integer_counts_have_the_scores_of_float_counts(
    function: Callable[[Any], Any],
) -> None:
    """Products of the counts exceed 64 bits; the last class has no rows."""
    integers = np.array(
        [[400_000, 100_000, 30_000], [200_000, 300_000, 0], [0, 0, 0]],
        dtype=np.int64,
    )
    floats = integers.astype(np.float64)
    np.testing.assert_array_equal(function(integers), function(floats))


def test_balanced_accuracy_of_integer_counts() -> None:
    true = [0, 0, 0, 1, 1]
    predicted = [0, 0, 1, 1, 0]
    counts = sk.confusion_matrix(true, predicted)
    expected = sk.balanced_accuracy_score(true, predicted)
    assert balanced_accuracy(counts) == pytest.approx(expected)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n_classes", [2, 5])
def test_metrics_with_a_scorer_equal_the_scorer(n_classes: int, seed: int) -> None:
    """Metrics of labels and values take many predictions at once; those of rankings and
    probabilities take one.
    """
    random = np.random.default_rng(seed)
    for n in (1, 7, 130):
        y, predicted = (
            random.integers(n_classes, size=n),
            random.integers(n_classes, size=(9, n)),
        )
        predicted[0], predicted[1] = y, 0
        numbers, estimates = random.normal(size=n), random.normal(size=(6, n))
        counts = confusion_counts(y, predicted, n_classes)
        for metric in (metric for metric in REGISTRY.values() if metric.scorer):
            scorer: Any = sk.get_scorer(metric.scorer)
            assert scorer._sign == (-1 if metric.less_is_better else 1)
            if metric.takes == "counts" and (
                n_classes == 2 or scorer._kwargs.get("average") != "binary"
            ):
                expected = [
                    scorer._score_func(y, some, **scorer._kwargs) for some in predicted
                ]
                np.testing.assert_allclose(
                    metric.function(counts), expected, atol=1e-13, err_msg=metric.name
                )
            elif metric.takes == "values" and n > 1:
                expected = [scorer._score_func(numbers, some) for some in estimates]
                np.testing.assert_allclose(
                    metric.function(numbers, estimates), expected, rtol=1e-12
                )


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("roc_auc", partial(sk.roc_auc_score, multi_class="ovr")),
        ("roc_auc_ovr", partial(sk.roc_auc_score, multi_class="ovr")),
        ("average_precision", sk.average_precision_score),
        ("log_loss", sk.log_loss),
    ],
)
def test_rankings_and_probabilities_of_more_classes(
    name: str, function: Callable[..., float], seed: int
) -> None:
    """With ties; the mean of each class against the rest."""
    random = np.random.default_rng(seed)
    classes = np.append(random.integers(3, size=60), [0, 1, 2])
    shares = random.dirichlet(np.ones(3), size=63).round(2) + 1e-3
    shares /= shares.sum(axis=1, keepdims=True)
    assert find_metric(name).function(classes, shares) == pytest.approx(
        function(classes, shares)
    )


@pytest.mark.parametrize("name", ["roc_auc", "average_precision", "top_k_accuracy"])
def test_a_ranking_of_one_class_has_no_score(name: str) -> None:
    assert math.isnan(
        find_metric(name).function(np.zeros(4, dtype=int), np.arange(4.0))
    )


def test_nrmse_divides_by_the_variance_of_the_test_targets_with_n_minus_1() -> None:
    true, predicted = [1.0, 2.0, 4.0, 9.0], [1.5, 2.0, 3.0, 9.0]
    outputs = values_of(["nrmse", "rmse"], true, predicted, None)
    variance = sum((value - 4.0) ** 2 for value in true) / 3
    assert outputs == pytest.approx(
        {"nrmse": math.sqrt(1.25 / 4 / variance), "rmse": math.sqrt(1.25 / 4)}
    )


@pytest.mark.parametrize("true", [[3.0], [2.0, 2.0, 2.0]])
def test_targets_that_do_not_vary(true: list[float]) -> None:
    values = values_of(["nrmse", "r2", "rmse"], true, np.array(true) + 1, None)
    assert values == pytest.approx(
        {"nrmse": math.nan, "r2": math.nan, "rmse": 1.0}, nan_ok=True
    )


@pytest.mark.parametrize("metric", metric_names("regression"))
def test_a_search_takes_the_best_of_candidates_on_either_side_of_a_block(
    metric: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error is negated; the scores are those of one candidate after the other, to the last
    bit.
    """
    monkeypatch.setattr("elmbench.evaluation.predictions._BLOCK", 7)
    true = np.array([0.0, 1.0, 2.0])
    predicted = [true + error for error in (0.5, 0.1, 0.9, 0.2, 0.7)]
    scores = search_scores(metric, true, predicted, None)
    assert np.argmax(scores) == 1
    sign = -1 if less_is_better(metric) else 1
    assert scores == [
        sign * metric_value(metric, true, some, None) for some in predicted
    ]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_scores_that_are_not_finite_never_win(bad: float) -> None:
    true = np.array([0.0, 1.0, 2.0])
    assert (
        search_scores("nrmse", true, [np.array([0.0, bad, 2.0]), true + 1], None)[0]
        == -np.inf
    )
    assert search_scores("nrmse", np.ones(2), [np.ones(2)], None) == [-np.inf]
    assert search_scores("rmse", true, [np.full(3, 1e200)], None) == [
        -np.inf
    ]  # its square overflows
    assert search_scores(
        "mcc", [-1, 1, 1], [np.array([-1, bad, 1]), np.array([-1, 1, 1])], BINARY
    ) == [-np.inf, 1]
    assert search_scores("roc_auc", [-1, 1, 1], [np.array([0, bad, 1])], BINARY) == [
        -np.inf
    ]


class Recorded(ClassifierMixin, BaseEstimator):
    """A fitted classifier of two classes with these probabilities of the second one."""

    def __init__(self, shares: Any = None) -> None:
        self.shares = shares
        self.classes_ = np.arange(2)

    def fit(self, X: Any, y: Any) -> Recorded:
        return self

    def predict_proba(self, X: Any) -> Any:
        return np.column_stack([1 - self.shares, self.shares])

    def predict(self, X: Any) -> Any:
        return (self.shares > 0.5).astype(int)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sk.get_scorer_names())
def test_every_scorer_is_a_metric_with_its_sign(name: str) -> None:
    random = np.random.default_rng(0)
    # With ties.
    y, model = (
        np.repeat([0, 1], [12, 8]),
        Recorded(random.random(20).round(1).clip(0.05, 0.95)),
    )
    metric = find_metric(name)
    if metric.task == "regression":
        true, predicted = random.random((2, 20)) + 0.1
        scorer: Any = sk.get_scorer(name)
        expected = scorer._sign * scorer._score_func(true, predicted, **scorer._kwargs)
        assert metric_value(name, true, predicted, None) == pytest.approx(expected)
        return
    try:
        expected = sk.get_scorer(name)(model, np.zeros((20, 1)), y)
    except ValueError:  # for several labels a row
        expected = math.nan
    if metric.takes == "counts":
        value = metric_value(name, y, model.predict(y), [0, 1])
    else:
        shares = model.predict_proba(y)
        value = metric.function(y, shares[:, 1] if metric.takes == "scores" else shares)
    assert value == pytest.approx(expected, nan_ok=True)
    assert not metric.less_is_better


def test_names_columns_and_directions_of_metrics() -> None:
    """Committed files have these columns."""
    counts = ("tn", "fp", "fn", "tp")
    assert columns("classification") == [
        "mcc",
        "gmean",
        "accuracy",
        "precision",
        "recall",
        "f1",
        *counts,
    ]
    assert columns("regression") == ["nrmse", "rmse"]
    assert counts == COUNTS
    assert {
        "balanced_accuracy",
        "f1_macro",
        "roc_auc",
        "average_precision",
        "log_loss",
    } < set(metric_names("classification"))
    assert [less_is_better(name) for name in ("log_loss", "mae", "prequential_error", "r2",
    "n_units")] == [
        True, True, True, False, False,
    ]  # fmt: skip
    assert [is_metric(name) for name in ("neg_log_loss", "mmc")] == [True, False]
    with pytest.raises(
        ElmbenchError, match=r"unknown metric 'mmc' \(did you mean 'mcc'\?\)"
    ) as caught:
        find_metric("mmc")
    assert caught.value.next_step == sentence("registry.metrics.list-or-scorer")


@pytest.mark.parametrize(
    "predicted", [np.zeros((3, 1)), np.zeros(2), np.zeros((1, 3)), 0.0]
)
def test_predictions_of_another_shape_are_refused(predicted: Any) -> None:
    with pytest.raises(ValueError, match=r"expected predictions of shape \(3,\), got"):
        check_predictions(np.zeros(3), predicted, None)


@pytest.mark.parametrize(
    ("labels", "bad"), [([-1, 1], 0.0), ([-1, 1], 2), ([0, 1, 2], 1.5), ([0, 1, 2], -1)]
)
def test_predictions_that_are_not_labels_are_refused(
    labels: list[int], bad: float
) -> None:
    true = np.array([labels[0], labels[-1], labels[0]])
    with pytest.raises(ValueError, match=f"got {bad} instead"):
        check_predictions(true, np.where([True, False, False], bad, true), labels)
    assert (
        check_predictions(true, list(true[::-1]), labels).tolist()
        == true[::-1].tolist()
    )
    # What is not finite is not a label either, but a model that has diverged.
    assert np.isnan(check_predictions(true, np.array([np.nan, 1, 1]), labels)[0])


@pytest.mark.parametrize(
    "bad", [["a", "b"], [None, 1.0], [1j, 1.0], np.ma.masked_equal([1.0, 2.0], 2.0)]
)
def test_predictions_that_are_not_numbers_are_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match=r"real numbers|masked"):
        check_predictions(np.zeros(2), np.asanyarray(bad), None)


@pytest.mark.parametrize(
    ("outputs", "learnt", "labels", "expected"),
    [
        ([1.0, -2.0], [-1, 1], [-1, 1], [1.0, -2.0]),
        ([[1.0], [-2.0]], [-1, 1], [-1, 1], [1.0, -2.0]),
        ([[0.0, 3.0], [1.0, -1.0]], [-1, 1], [-1, 1], [3.0, -2.0]),
        ([1.0, -2.0], [0, 2], [0, 1, 2], [[-1.0, -3.0, 1.0], [2.0, -3.0, -2.0]]),
        ([1.0, -2.0], [0], [0, 1, 2], [[1.0, -3.0, -3.0], [-2.0, -3.0, -3.0]]),
        ([[1.0, 2.0, 3.0]], [0, 1, 2], [0, 1, 2], [[1.0, 2.0, 3.0]]),
        ([[1.0, 2.0, 3.0]], [0, 1], [0, 1], None),
    ],
)
def test_decision_values_by_class(
    outputs: Any, learnt: list[int], labels: list[int], expected: Any
) -> None:
    """A class that was not learnt has a value below all others; values of another shape are not
    used.
    """

    class Model:
        classes_ = np.array(learnt)

        def decision_function(self, X: Any) -> Any:
            return np.array(outputs)

    X = np.zeros((len(outputs), 1))
    values = class_outputs(Model(), "decision_function", X, labels)
    assert (values is None) == (expected is None)
    assert values is None or values.tolist() == expected
    assert class_outputs(Model(), "predict_proba", X, labels) is None

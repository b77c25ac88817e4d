"""Metrics against scikit-learn, imbalanced-learn and their definitions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from imblearn.metrics import geometric_mean_score
from sklearn import metrics as sk

from elmbench.protocol.metrics import (
    CLASSIFICATION,
    REGRESSION,
    classification_metrics,
    nrmse,
    regression_metrics,
    score,
)
from elmbench.protocol.predictions import check_predictions

COUNTS = st.integers(0, 40)
BINARY = [-1, 1]


def labels_of(tn: int, fp: int, fn: int, tp: int) -> tuple[np.ndarray, np.ndarray]:
    true = np.repeat([-1, -1, 1, 1], [tn, fp, fn, tp])
    predicted = np.repeat([-1, 1, -1, 1], [tn, fp, fn, tp])
    return true, predicted


def ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else 0.0


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_two_classes_by_their_definitions(tn: int, fp: int, fn: int, tp: int) -> None:
    """Each metric from its definition; 0/0 is 0. The quick way that a search takes gives the same."""
    assume(tn + fp + fn + tp)
    true, predicted = labels_of(tn, fp, fn, tp)
    root = math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    recall, specificity, precision = ratio(tp, tp + fn), ratio(tn, tn + fp), ratio(tp, tp + fp)
    expected = {
        "mcc": ratio(tp * tn - fp * fn, root),
        "gmean": math.sqrt(recall * specificity),
        "accuracy": (tp + tn) / len(true),
        "precision": precision,
        "recall": recall,
        "f1": ratio(2 * tp, 2 * tp + fp + fn),
    }
    found = classification_metrics(true, predicted, BINARY)
    assert {name: found.pop(name) for name in ("tn", "fp", "fn", "tp")} == {"tn": tn, "fp": fp, "fn": fn, "tp": tp}
    assert found == pytest.approx(expected, abs=1e-12)
    quick = {name: score(name, true, predicted, BINARY) for name in expected}
    assert quick == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.tuples(st.integers(-1, 1), st.integers(-1, 1)), min_size=2, max_size=60))
def test_two_classes_against_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    true, predicted = (np.array(column) * 2 - 1 for column in zip(*[(a > 0, b > 0) for a, b in pairs], strict=True))
    expected = {
        "mcc": sk.matthews_corrcoef(true, predicted),
        "gmean": geometric_mean_score(true, predicted, labels=BINARY, average="multiclass"),
        "accuracy": sk.accuracy_score(true, predicted),
        "precision": sk.precision_score(true, predicted, pos_label=1, zero_division=0),
        "recall": sk.recall_score(true, predicted, pos_label=1, zero_division=0),
        "f1": sk.f1_score(true, predicted, pos_label=1, zero_division=0),
    }
    assert {name: score(name, true, predicted, BINARY) for name in expected} == pytest.approx(expected, abs=1e-12)


def test_counts_are_of_plus_one() -> None:
    true, predicted = labels_of(tn=4, fp=3, fn=2, tp=1)
    found = classification_metrics(true, predicted, BINARY)
    assert (found["tn"], found["fp"], found["fn"], found["tp"]) == (4, 3, 2, 1)
    assert found["recall"] == pytest.approx(1 / 3)
    assert found["precision"] == pytest.approx(1 / 4)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=3, max_size=80))
def test_more_classes(pairs: list[tuple[int, int]]) -> None:
    """Means over the classes, one that does not occur counting 0; no counts; G-mean is the root of the recalls."""
    true, predicted = (np.array(column) for column in zip(*pairs, strict=True))
    labels = [0, 1, 2, 3]
    recalls = [ratio(np.sum((true == c) & (predicted == c)), np.sum(true == c)) for c in labels]
    precisions = [ratio(np.sum((true == c) & (predicted == c)), np.sum(predicted == c)) for c in labels]
    f1 = [ratio(2 * p * r, p + r) for p, r in zip(precisions, recalls, strict=True)]
    found = classification_metrics(true, predicted, labels)
    assert set(found) == set(CLASSIFICATION) - {"tn", "fp", "fn", "tp"}
    assert found["mcc"] == pytest.approx(sk.matthews_corrcoef(true, predicted), abs=1e-12)
    assert found["accuracy"] == pytest.approx(np.mean(true == predicted))
    assert found["recall"] == pytest.approx(np.mean(recalls))
    assert found["precision"] == pytest.approx(np.mean(precisions))
    assert found["f1"] == pytest.approx(np.mean(f1))
    assert found["gmean"] == pytest.approx(np.prod(recalls) ** (1 / 4), abs=1e-12)
    assert score("gmean", true, predicted, labels) == found["gmean"]


@given(
    pairs=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=120),
    labels=st.sampled_from([[0, 1, 2, 3, 4], [-7, -1, 0, 5, 1000]]),
    missing=st.sets(st.integers(0, 4), max_size=3),
    dtype=st.sampled_from([np.int64, np.int32, np.float64]),
)
def test_the_quick_way_of_a_search_for_more_classes(
    pairs: list[tuple[int, int]], labels: list[int], missing: set[int], dtype: Any
) -> None:
    """To the last bit as the libraries have it; some classes are neither true nor predicted, or one."""
    kept = [(a, b) for a, b in pairs if not {a, b} & missing]
    assume(kept)
    true, predicted = (np.array([labels[i] for i in column]) for column in zip(*kept, strict=True))
    predicted = predicted.astype(dtype)
    expected = by_libraries(true, predicted, labels)
    assert classification_metrics(true, predicted, labels) == expected
    assert {name: score(name, true, predicted, labels) for name in expected} == expected


def by_libraries(true: np.ndarray, predicted: np.ndarray, labels: list[int]) -> dict[str, float]:
    """Every metric by scikit-learn and imbalanced-learn; of two classes precision, recall and F1 are of the last."""
    of = labels[-1:] if len(labels) == 2 else labels
    means = sk.precision_recall_fscore_support(true, predicted, labels=of, average="macro", zero_division=0)
    return {
        "mcc": sk.matthews_corrcoef(true, predicted),
        "gmean": geometric_mean_score(true, predicted, labels=labels, average="multiclass"),
        "accuracy": sk.accuracy_score(true, predicted),
        **dict(zip(("precision", "recall", "f1"), means, strict=False)),
    }


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_two_classes_to_the_last_bit(tn: int, fp: int, fn: int, tp: int) -> None:
    assume(tn + fp + fn + tp)
    true, predicted = labels_of(tn, fp, fn, tp)
    found = classification_metrics(true, predicted, BINARY)
    expected = by_libraries(true, predicted, BINARY)
    assert {name: found[name] for name in expected} == expected
    assert sk.confusion_matrix(true, predicted, labels=BINARY).ravel().tolist() == [
        found[name] for name in ("tn", "fp", "fn", "tp")
    ]


@pytest.mark.parametrize(
    ("counts", "mcc"),
    [((5, 0, 3, 0), 0.0), ((0, 5, 0, 3), 0.0), ((5, 0, 0, 0), 0.0), ((0, 0, 0, 5), 0.0), ((0, 4, 4, 0), -1.0)],
)
def test_one_class_only(counts: tuple[int, int, int, int], mcc: float) -> None:
    true, predicted = labels_of(*counts)
    found = classification_metrics(true, predicted, BINARY)
    assert found["mcc"] == mcc
    assert score("mcc", true, predicted, BINARY) == mcc
    assert all(np.isfinite(list(found.values())))


# --- Regression ------------------------------------------------------------------------------------------------------


def test_nrmse_divides_by_the_variance_of_the_test_targets_with_n_minus_1() -> None:
    true = np.array([1.0, 2.0, 4.0, 9.0])
    predicted = np.array([1.5, 2.0, 3.0, 9.0])
    variance = np.sum((true - 4.0) ** 2) / 3
    assert nrmse(true, predicted) == pytest.approx(math.sqrt((0.25 + 1.0) / 4 / variance))
    assert regression_metrics(true, predicted)["rmse"] == pytest.approx(math.sqrt(1.25 / 4))


@given(
    st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=40), st.floats(0.1, 100), st.floats(-100, 100),
)  # fmt: skip
def test_nrmse_of_the_mean_and_under_scaling(values: list[float], factor: float, shift: float) -> None:
    true = np.array(values)
    assume(np.std(true) > 1e-3)
    n = len(true)
    assert nrmse(true, np.full(n, true.mean())) == pytest.approx(math.sqrt((n - 1) / n))
    predicted = true + np.linspace(-1, 1, n)
    moved = nrmse(true * factor + shift, predicted * factor + shift)
    assert moved == pytest.approx(nrmse(true, predicted), rel=1e-6)


@pytest.mark.parametrize("true", [[3.0], [2.0, 2.0, 2.0]])
def test_nrmse_of_targets_that_do_not_vary(true: list[float]) -> None:
    targets = np.array(true)
    assert math.isnan(nrmse(targets, targets + 1))
    assert set(regression_metrics(targets, targets)) == set(REGRESSION)


@pytest.mark.parametrize("metric", REGRESSION)
def test_a_search_takes_the_smallest_error(metric: str) -> None:
    true = np.array([0.0, 1.0, 2.0])
    close, far = (score(metric, true, true + e, None) for e in (0.1, 0.5))
    assert far < close < 0
    assert close == -regression_metrics(true, true + 0.1)[metric]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_never_wins(bad: float) -> None:
    true = np.array([0.0, 1.0, 2.0])
    assert score("nrmse", true, np.array([0.0, bad, 2.0]), None) == -np.inf
    assert score("nrmse", np.array([1.0, 1.0]), np.array([1.0, 1.0]), None) == -np.inf
    assert score("rmse", true, np.full(3, 1e200), None) == -np.inf  # its square overflows


# --- Shapes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("predicted", [np.zeros((3, 1)), np.zeros(2), np.zeros((1, 3)), 0.0])
def test_predictions_of_another_shape_are_refused(predicted: Any) -> None:
    with pytest.raises(ValueError, match=r"expected predictions of shape \(3,\), got"):
        check_predictions(np.zeros(3), predicted, None)


def test_a_list_of_predictions_will_do() -> None:
    assert check_predictions(np.zeros(2), [1.0, 2.0], None).tolist() == [1.0, 2.0]


@pytest.mark.parametrize(("labels", "bad"), [([-1, 1], 0.0), ([-1, 1], 2), ([0, 1, 2], 1.5), ([0, 1, 2], -1)])
def test_predictions_that_are_no_label_are_refused(labels: list[int], bad: float) -> None:
    true = np.array([labels[0], labels[-1], labels[0]])
    with pytest.raises(ValueError, match=f"got {bad} instead"):
        check_predictions(true, np.where([True, False, False], bad, true), labels)
    assert check_predictions(true, true[::-1], labels).tolist() == true[::-1].tolist()
    # What is not finite is no label either, but a model that has diverged.
    assert np.isnan(check_predictions(true, np.array([np.nan, 1, 1]), labels)[0])


@pytest.mark.parametrize("bad", [["a", "b"], [None, 1.0], [1j, 1.0]])
def test_predictions_that_are_no_numbers_are_refused(bad: list[Any]) -> None:
    with pytest.raises(ValueError, match="real numbers"):
        check_predictions(np.zeros(2), np.array(bad), None)

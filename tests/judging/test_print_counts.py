"""Printed counts and the metrics that follow from them: silent on true confusion matrices, and not
on impossible ones.
"""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_prints import a_table, findings, parts, published, rounded, roundings, seeds
from random_examples import examples

from elmbench.judging.print_checks import check_print
from elmbench.metrics import REGISTRY
from elmbench.specs.published import PublishedValue


def confusion(
    random: np.random.Generator, positives: int, negatives: int, skill: float
) -> dict:
    fn = int(random.binomial(positives, skill))
    fp = int(random.binomial(negatives, skill / 4))
    return {"tn": negatives - fp, "fp": fp, "fn": fn, "tp": positives - fn}


def metric_of(name: str, counts: dict[str, int]) -> float:
    matrix = np.array(
        [[counts["tn"], counts["fp"]], [counts["fn"], counts["tp"]]], float
    )
    return float(REGISTRY[name].function(matrix))


METRICS = ("mcc", "accuracy", "precision", "recall", "f1")


def printed_metrics(
    model: str, matrices: list[dict[str, int]], places: int, rounding: str
) -> list[PublishedValue]:
    """Return the mean of each metric over some confusion matrices as a paper prints it; a mean that
    is not finite is left out.
    """
    values = []
    for name in METRICS:
        mean = math.fsum(metric_of(name, one) for one in matrices) / len(matrices)
        if math.isfinite(mean):
            number = rounded(mean, places, rounding)
            values.append(published("iris", model, name, number))
    return values


@given(
    positives=st.integers(20, 200),
    negatives=st.integers(20, 400),
    folds=st.integers(2, 6),
    runs=st.integers(1, 6),
    places=st.integers(0, 2),
    rounding=roundings,
    seed=seeds,
)
@examples(300)
def test_true_confusion_matrices_are_never_accused(
    positives: int,
    negatives: int,
    folds: int,
    runs: int,
    places: int,
    rounding: str,
    seed: int,
) -> None:
    """Mean counts, and means of metrics over folds, of several models on the same folds."""
    random = np.random.default_rng(seed)
    values = []
    for model in ("elm", "svm", "nn"):
        skill = random.uniform(0.02, 0.3)
        matrices = [
            confusion(random, positives, negatives, skill) for _ in range(runs * folds)
        ]
        for name in ("tn", "fp", "fn", "tp"):
            mean = Fraction(sum(one[name] for one in matrices), len(matrices))
            values.append(
                published("iris", model, name, rounded(mean, places, rounding))
            )
        values += printed_metrics(model, matrices, 4, rounding)
    rows = parts((positives + negatives) * folds, folds, runs, known_folds=False)
    assert not findings(a_table(*values, parts=rows))


@given(seed=seeds, rounding=roundings, n_test=st.integers(60, 2000))
@examples(200)
def test_precision_and_recall_of_random_parts_are_never_accused(
    seed: int, rounding: str, n_test: int
) -> None:
    """Each model has its own random test parts, and one of them fails on every part."""
    random = np.random.default_rng(seed)
    share = random.uniform(0.05, 0.6)
    values = []
    for model, skill in (("elm", 0.001), ("svm", 0.02), ("nn", 0.3), ("broken", 1.0)):
        matrices = []
        for _ in range(20):
            drawn = int(random.hypergeometric(int(10_000 * share), 10_000, n_test))
            positives = max(drawn, 1)
            matrices.append(confusion(random, positives, n_test - positives, skill))
        values += printed_metrics(model, matrices, 4, rounding)
    assert not findings(a_table(*values, parts=parts(n_test, runs=20)))


@given(
    positives=st.integers(1, 200),
    negatives=st.integers(1, 400),
    places=st.integers(1, 4),
    rounding=roundings,
    seed=seeds,
)
@examples(300)
def test_the_counts_and_metrics_of_a_single_test_part_are_never_accused(
    positives: int, negatives: int, places: int, rounding: str, seed: int
) -> None:
    random = np.random.default_rng(seed)
    values = []
    for model in ("elm", "svm", "nn"):
        matrix = confusion(random, positives, negatives, random.uniform(0.0, 1.0))
        values += counts_of(model, **matrix)
        values += printed_metrics(model, [matrix], places, rounding)
    assert not findings(a_table(*values, parts=parts(positives + negatives)))


def counts_of(model: str, tn: int, fp: int, fn: int, tp: int) -> list[PublishedValue]:
    numbers = {"tn": tn, "fp": fp, "fn": fn, "tp": tp}
    return [
        published("iris", model, name, Decimal(number))
        for name, number in numbers.items()
    ]


def test_classes_of_different_sizes_are_found_with_the_exchange_of_axes() -> None:
    table = a_table(
        *counts_of("elm", 1345, 12, 6, 77), *counts_of("svm", 1346, 5, 5, 84)
    )
    classes = [one for one in check_print(table, [table]) if "rows differ" in one.says]
    assert [one.metric for one in classes] == ["tp + fn", "tn + fp"]
    assert all("exchanged" in one.says for one in classes)
    table = a_table(
        *counts_of("elm", 1345, 12, 6, 77), *counts_of("svm", 1340, 5, 5, 90)
    )
    assert all("exchanged" not in one.says for one in check_print(table, [table]))


def test_the_counts_of_a_single_test_part_are_not_rounded() -> None:
    one_off = a_table(
        *counts_of("elm", 60, 7, 5, 28),
        *counts_of("svm", 59, 7, 6, 28),
        parts=parts(100),
    )
    classes = [finding.metric for finding in check_print(one_off, [one_off])]
    assert classes == ["tp + fn", "tn + fp"]
    several_runs = a_table(
        *counts_of("elm", 60, 7, 5, 28),
        *counts_of("svm", 59, 7, 6, 28),
        parts=parts(100, runs=2),
    )
    assert not findings(several_runs)


@pytest.mark.parametrize(("text", "expected"), [("0.73", []), ("0.74", ["counts"])])
def test_a_metric_of_a_single_test_part_follows_from_its_counts(
    text: str, expected: list[str]
) -> None:
    value = published("iris", "elm", "mcc", Decimal(text))
    table = a_table(*counts_of("elm", 60, 7, 5, 28), value, parts=parts(100))
    assert findings(table) == expected


def test_counts_that_do_not_add_up_to_the_rows_are_found() -> None:
    table = a_table(*counts_of("elm", 80, 5, 5, 60), parts=parts(200))
    (finding,) = check_print(table, [table])
    assert "add up to 150, the test rows to 200" in finding.says


def test_a_metric_of_another_table_that_does_not_follow_from_counts_is_found() -> None:
    same = {("iris", "elm"): "one measurement"}
    counts = a_table(*counts_of("elm", 90, 10, 5, 95), measurements=same)
    for text, expected in (("0.92", []), ("0.925", []), ("0.97", ["counts"])):
        value = published("iris", "elm", "accuracy", Decimal(text))
        other = a_table(value, id="toy/two", measurements=same)
        assert findings(counts, other) == expected
        unrelated = a_table(
            value, id="toy/two", measurements={("iris", "elm"): "another one"}
        )
        assert not findings(counts, unrelated)


@pytest.mark.parametrize(
    ("f1", "expected"), [("0.857", []), ("0.870", ["counts"]), ("0.4", ["counts"])]
)
def test_f1_lies_between_the_bounds_of_precision_and_recall(
    f1: str, expected: list[str]
) -> None:
    numbers = {"precision": "0.90", "recall": "0.80", "f1": f1}
    values = [
        published("iris", "elm", name, Decimal(text)) for name, text in numbers.items()
    ]
    assert findings(a_table(*values)) == expected


def test_f1_of_a_single_test_part_is_the_harmonic_mean() -> None:
    numbers = {"precision": "0.90", "recall": "0.80", "f1": "0.83"}
    values = [
        published("iris", "elm", name, Decimal(text)) for name, text in numbers.items()
    ]
    assert not findings(a_table(*values))
    assert findings(a_table(*values, parts=parts(1000))) == ["counts"]


def test_models_on_a_single_test_part_have_one_share_of_positives() -> None:
    values = [
        published("iris", model, name, Decimal(text))
        for model, accuracy, recall in (
            ("one", "0.90", "0.90"),
            ("two", "0.60", "0.50"),
        )
        for name, text in (
            ("accuracy", accuracy),
            ("precision", "0.90"),
            ("recall", recall),
        )
    ]
    assert findings(a_table(*values, parts=parts(100))) == ["counts"]
    assert not findings(a_table(*values, parts=parts(100, runs=2)))


def test_models_with_different_shares_of_positives_are_found() -> None:
    values = [
        published("iris", model, name, Decimal(text))
        for model, numbers in (
            ("one", {"accuracy": "0.9984", "precision": "0.9689", "recall": "0.9999"}),
            ("two", {"accuracy": "0.9930", "precision": "0.9677", "recall": "0.9988"}),
        )
        for name, text in numbers.items()
    ]
    assert findings(a_table(*values, parts=parts(100_000, runs=20))) == ["counts"]

"""Printed shares: silent on rounded means of true shares, and not on impossible ones."""

from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_prints import a_table, findings, parts, published, rounded, roundings, seeds
from random_examples import examples

from elmbench.judging.print_checks.granularity import Shares
from elmbench.judging.print_checks.printed_table import Parts
from elmbench.judging.print_checks.read_tables import read_printed_tables
from elmbench.judging.print_checks.rounding import NumberRange
from elmbench.specs.catalogue import read_own_table


def is_accused(accuracy: Decimal, rows: int, folds: int = 1, runs: int = 1) -> bool:
    """Return True if the checks object to an accuracy on so many rows, folds and runs."""
    value = published("iris", "elm", "accuracy", accuracy)
    return bool(findings(a_table(value, parts=parts(rows, folds, runs))))


@pytest.mark.parametrize(
    ("outer", "tested"),
    [("{kind: official}", {2000}), ("{kind: bootstrap-632, runs: 50}", set())],
)
def test_a_bootstrap_does_not_test_the_official_part(
    tmp_path: Path, outer: str, tested: set[int]
) -> None:
    (tmp_path / "mine.csv").write_text(
        "dataset,model,metric,value,std,note\nsatimage,ridge,test_accuracy,0.8125,,\n"
    )
    (tmp_path / "mine.yaml").write_text(
        f"""
datasets: [satimage]
protocol: {{scale: null, outer: {outer}, metrics: [accuracy]}}
models: {{ridge: {{model: ridge}}}}
published: {{values: mine.csv}}
"""
    )
    (table,) = read_printed_tables([read_own_table(tmp_path / "mine.yaml")])
    assert table.parts["satimage"].tested == tested


@given(
    rows=st.integers(2, 400),
    runs=st.integers(1, 30),
    places=st.integers(1, 6),
    rounding=roundings,
    seed=seeds,
)
@examples(400)
def test_a_mean_of_true_shares_is_never_accused(
    rows: int, runs: int, places: int, rounding: str, seed: int
) -> None:
    correct = np.random.default_rng(seed).integers(0, rows + 1, runs)
    mean = Fraction(int(correct.sum()), rows * runs)
    accuracy = rounded(mean, places, rounding)
    assert not is_accused(accuracy, rows, runs=runs)


@given(
    rows=st.integers(10, 200),
    folds=st.integers(2, 10),
    runs=st.integers(1, 3),
    places=st.integers(2, 5),
    rounding=roundings,
    seed=seeds,
)
@examples(200)
def test_a_mean_over_unequal_folds_is_never_accused(
    rows: int, folds: int, runs: int, places: int, rounding: str, seed: int
) -> None:
    random = np.random.default_rng(seed)
    sizes = [len(part) for part in np.array_split(np.arange(rows), folds)]
    shares = [
        Fraction(int(random.integers(0, size + 1)), size)
        for _ in range(runs)
        for size in sizes
    ]
    mean = sum(shares, Fraction(0)) / len(shares)
    accuracy = rounded(mean, places, rounding)
    assert not is_accused(accuracy, rows, folds, runs)


@pytest.mark.parametrize(
    ("text", "rows", "folds", "runs"),
    [
        ("0.95", 30, 1, 1),  # 28/30 is .933, 29/30 is .967
        ("0.9345", 50, 1, 4),  # multiples of .005
        ("0.9981", 200, 1, 20),
        ("0.9511", 150, 10, 1),
        ("0.111", 7, 2, 1),  # folds of 4 and 3 rows: the smallest mean above 0 is .125
    ],
)
def test_an_impossible_share_is_found(
    text: str, rows: int, folds: int, runs: int
) -> None:
    value = published("iris", "elm", "accuracy", Decimal(text))
    assert findings(a_table(value, parts=parts(rows, folds, runs))) == ["granularity"]


def test_any_allowed_number_of_runs_excuses_a_share() -> None:
    value = published("iris", "elm", "accuracy", Decimal("0.9345"))
    allowed = Parts(tested=frozenset((50,)), runs=frozenset((4, 40)))
    assert not findings(a_table(value, parts={"iris": allowed}))


def test_no_check_without_the_number_of_rows_or_the_sizes_of_folds() -> None:
    value = published("iris", "elm", "accuracy", Decimal("0.95"))
    assert not findings(a_table(value))
    assert not findings(a_table(value, parts=parts(30, 3, known_folds=False)))


@given(positives=st.integers(1, 500), negatives=st.integers(1, 500), rounding=roundings)
@examples(200)
def test_a_true_ratio_of_classes_is_never_accused(
    positives: int, negatives: int, rounding: str
) -> None:
    ratio = rounded(Fraction(positives, negatives), 4, rounding)
    value = published("iris", "data", "positives_per_negative", ratio)
    rows = parts(all_rows=frozenset((positives + negatives,)))
    assert not findings(a_table(value, parts=rows))


def test_a_ratio_that_no_counts_have_is_found() -> None:
    value = published("iris", "data", "positives_per_negative", Decimal("0.6738"))
    rows = parts(all_rows=frozenset((5000,)))
    assert findings(a_table(value, parts=rows)) == ["granularity"]


def test_shares_of_folds_are_enumerated_by_both_sizes() -> None:
    """Folds of 4 and 3 rows, one correct row in the first: 1/8."""
    exactly = NumberRange(Fraction(1, 8), Fraction(1, 8))
    assert Shares(rows=7, folds=2).may_be_in(exactly)
    assert not Shares(rows=7).may_be_in(exactly)

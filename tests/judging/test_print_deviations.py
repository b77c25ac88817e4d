"""Printed deviations and ranges of metrics: silent on true results, and not on impossible ones."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_prints import a_table, findings, parts, published, rounded, roundings, seeds
from random_examples import examples

from elmbench.judging.print_checks import check_print
from elmbench.judging.print_checks.deviations import may_have_deviation
from elmbench.judging.print_checks.rounding import NumberRange, interval_of


@pytest.mark.parametrize(
    ("metric", "text", "expected"),
    [
        ("roc_auc", "1.000", []),
        ("roc_auc", "1.001", ["range"]),
        ("mcc", "-1.0", []),
        ("mcc", "-1.2", ["range"]),
        ("rmse", "12.0", []),
        ("rmse", "-0.1", ["range"]),
        ("r2", "-3.0", []),
        ("r2", "1.3", ["range"]),
        ("fit_seconds", "0.0", []),
        ("fit_seconds", "-1.0", ["range"]),
    ],
)
def test_a_value_outside_of_the_range_of_its_metric_is_found(
    metric: str, text: str, expected: list[str]
) -> None:
    value = published("iris", "elm", metric, Decimal(text))
    assert findings(a_table(value)) == expected


@given(
    rows=st.integers(2, 60),
    runs=st.integers(2, 12),
    places=st.integers(2, 5),
    rounding=roundings,
    ddof=st.integers(0, 1),
    seed=seeds,
)
@examples(400)
def test_a_true_deviation_is_never_accused(
    rows: int, runs: int, places: int, rounding: str, ddof: int, seed: int
) -> None:
    correct = np.random.default_rng(seed).integers(0, rows + 1, runs)
    shares = [Fraction(int(count), rows) for count in correct]
    mean = sum(shares, Fraction(0)) / runs
    variance = sum(((share - mean) ** 2 for share in shares), Fraction(0)) / (
        runs - ddof
    )
    # math.sqrt may round a decimal number that the digits end in.
    deviation = Decimal(variance.numerator) / Decimal(variance.denominator)
    printed = deviation.sqrt().quantize(Decimal(1).scaleb(-places), rounding=rounding)
    value = published(
        "iris", "elm", "accuracy", rounded(mean, places, rounding), printed
    )
    assert not findings(a_table(value, parts=parts(rows, runs=runs)))


@pytest.mark.parametrize(
    ("mean", "deviation", "reason"),
    [
        ("0.99", "0.20", "at most"),  # ten values of at most 1 have .105
        ("1.000", "0.050", "at most"),
        ("0.900", "-0.010", "negative"),
        ("0.500", "0.020", "10 shares of 10 rows"),  # one of ten differs by .1: .0316
    ],
)
def test_an_impossible_deviation_is_found(
    mean: str, deviation: str, reason: str
) -> None:
    value = published("iris", "elm", "accuracy", Decimal(mean), Decimal(deviation))
    table = a_table(value, parts=parts(10, runs=10))
    (finding,) = check_print(table, [table])
    assert finding.check == "deviations"
    assert reason in finding.says


@pytest.mark.parametrize(
    ("share", "percentage"), [("0.995", "99.5"), ("0.000", "0.0"), ("1.000", "100.0")]
)
def test_a_deviation_of_a_percentage_is_in_percent(share: str, percentage: str) -> None:
    value = published("iris", "elm", "accuracy", Decimal(share), Decimal("0.12"))
    table = a_table(replace(value, text=percentage), parts=parts(200, runs=3))
    (finding,) = check_print(table, [table])
    says = f"{percentage} cannot have the deviation 12.00: values from 0 to 100"
    assert says in finding.says


def test_a_deviation_of_a_share_of_zero_is_a_share() -> None:
    value = published("iris", "elm", "accuracy", Decimal("0.000"), Decimal("0.12"))
    table = a_table(value, parts=parts(200, runs=3))
    (finding,) = check_print(table, [table])
    assert "0.000 cannot have the deviation 0.12: values from 0 to 1 " in finding.says


def test_shares_that_cannot_exceed_their_rows_are_known_to_grimmer() -> None:
    """Ten folds of 20 rows with one error in all have the deviation .0158 and no larger one."""
    for text, expected in (("0.0158", []), ("0.0500", ["deviations"])):
        value = published("iris", "elm", "accuracy", Decimal("0.995"), Decimal(text))
        table = a_table(value, parts=parts(200, folds=10), std="of-folds")
        assert findings(table) == expected


def test_grimmer_uses_the_parity_of_the_sum() -> None:
    """Two whole numbers with the sum 1 have the squares 0 and 1, or 1 and 4, never an even sum."""
    mean = NumberRange(Fraction(1, 2), Fraction(1, 2))
    assert may_have_deviation(mean, interval_of(Decimal("0.5"), "nearest"), rows=1, n=2)
    two_apart = interval_of(Decimal("1.00"), "nearest")
    assert not may_have_deviation(mean, two_apart, rows=1, n=2)

"""Printed averages, ranks, t statistics and ratios: silent on true ones, and not on wrong ones."""

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_prints import a_row, a_table, findings, published, rounded, roundings, seeds
from random_examples import examples

from elmbench.judging.print_checks import check_print
from elmbench.judging.print_checks.averages import t_bounds
from elmbench.specs.published import ALL


@given(seed=seeds, rounding=roundings, places=st.integers(1, 4), n=st.integers(2, 12))
@examples(200)
def test_true_averages_ranks_and_ratios_are_never_accused(
    seed: int, rounding: str, places: int, n: int
) -> None:
    random = np.random.default_rng(seed)
    names = [f"data{i}" for i in range(n)]
    scores = {model: random.uniform(0.5, 1, n) for model in ("elm", "svm", "nn")}
    times = {model: random.uniform(1, 100, n) for model in scores}
    values = []
    for model, row in scores.items():
        ranks = [
            1 + sum(other[i] > row[i] for other in scores.values()) for i in range(n)
        ]
        values.append(
            published(
                ALL, model, "accuracy", rounded(float(row.mean()), places, rounding)
            )
        )
        mean_rank = rounded(Fraction(sum(map(int, ranks)), n), 2, rounding)
        values.append(published(ALL, model, "mean_rank", mean_rank))
        for i, name in enumerate(names):
            values.append(
                published(name, model, "accuracy", rounded(row[i], places, rounding))
            )
            values.append(published(name, model, "rank", Decimal(int(ranks[i]))))
            time = rounded(times[model][i], 2, rounding)
            values.append(published(name, model, "fit_seconds", time))
            speed_up = times[model][i] / times["elm"][i]
            printed = Decimal(1) if model == "elm" else rounded(speed_up, 3, rounding)
            values.append(published(name, model, "speed_up", printed))
    ranked_by = dict.fromkeys(names, "accuracy")
    assert not findings(a_table(*values, ranked_by=ranked_by))


@pytest.mark.parametrize(("text", "expected"), [("0.85", []), ("0.87", ["averages"])])
def test_a_wrong_average_is_found(text: str, expected: list[str]) -> None:
    values = [
        *a_row("elm", "0.80", "0.90"),
        published(ALL, "elm", "accuracy", Decimal(text)),
    ]
    assert findings(a_table(*values)) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("1.5", []), ("1.3", []), ("2.0", ["averages"])]
)
def test_a_wrong_rank_is_found(text: str, expected: list[str]) -> None:
    """The two models have the same number on one of three data sets."""
    values = [
        *a_row("elm", "0.80", "0.90", "0.70"),
        *a_row("svm", "0.80", "0.80", "0.80"),
        published(ALL, "elm", "mean_rank", Decimal(text)),
    ]
    ranked_by = {f"data{i}": "accuracy" for i in range(3)}
    assert findings(a_table(*values, ranked_by=ranked_by)) == expected


def test_a_rank_in_a_table_of_average_ranks_alone_is_not_checked() -> None:
    assert not findings(a_table(published(ALL, "elm", "mean_rank", Decimal("1.5"))))


def test_ranks_may_count_cited_values() -> None:
    cited = replace(published("data0", "nn", "accuracy", Decimal("0.95")), cited=True)
    rows = [*a_row("elm", "0.80"), *a_row("svm", "0.90"), cited]
    for text, expected in (("2", []), ("3", []), ("1", ["averages"])):
        rank = published("data0", "elm", "rank", Decimal(text))
        assert findings(a_table(*rows, rank, ranked_by={"data0": "accuracy"})) == (
            expected
        )


def test_a_rank_on_one_data_set_is_not_cut_off() -> None:
    rows = [*a_row("elm", "0.70"), *a_row("svm", "0.90"), *a_row("nn", "0.80")]
    for text, expected in (("3", []), ("2", ["averages"])):
        rank = published("data0", "elm", "rank", Decimal(text))
        assert findings(a_table(*rows, rank, ranked_by={"data0": "accuracy"})) == (
            expected
        )


@given(seed=seeds, rounding=roundings, n=st.integers(3, 10), places=st.integers(2, 4))
@examples(200)
def test_a_true_t_is_in_its_bounds(
    seed: int, rounding: str, n: int, places: int
) -> None:
    random = np.random.default_rng(seed)
    one = random.uniform(0.6, 1, n)
    other = one - random.uniform(-0.05, 0.1, n)
    bounds = t_bounds(
        [rounded(x, places, rounding) for x in one],
        [rounded(x, places, rounding) for x in other],
    )
    for ddof in (0, 1):
        error = math.sqrt((one.var(ddof=ddof) + other.var(ddof=ddof)) / n)
        paired_error = (one - other).std(ddof=ddof) / math.sqrt(n)
        distance = abs(one.mean() - other.mean())
        for name, t in (
            ("independent", distance / error),
            ("paired", distance / paired_error),
        ):
            low, high = bounds[name]
            assert low * (1 - 1e-9) <= t <= high * (1 + 1e-9)


def test_a_wrong_speed_up_is_found() -> None:
    values = []
    for model, time, speed_up in (
        ("elm", "33", "1"),
        ("svm", "84", "1.4"),
        ("nn", "90", "2.7"),
    ):
        values.append(published("iris", model, "fit_seconds", Decimal(time)))
        values.append(published("iris", model, "speed_up", Decimal(speed_up)))
    table = a_table(*values)
    (finding,) = check_print(table, [table])
    assert (finding.check, finding.model) == ("ratios", "svm")

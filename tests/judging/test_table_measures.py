"""The three measures of a table, against numbers by hand, other code and draws whose truth is
known.
"""

from dataclasses import replace

import numpy as np
import pytest
from made_rows import made_row, made_table, made_value
from scipy.stats import linregress, t

from elmbench.judging.judged_rows import rows_of
from elmbench.judging.strict_test import strict_tests
from elmbench.judging.table_measures import (
    compare_differences,
    compare_order,
    compare_proposed,
    compare_values,
)
from elmbench.judging.table_verdicts import judge_measures
from elmbench.judging.value_verdicts import draws_of_means
from elmbench.metrics import unit_of


@pytest.mark.parametrize(
    ("metric", "margin", "limits"),
    [
        ("accuracy", 0.01, (0, 1)),
        ("gmean", 0.01, (0, 1)),
        ("f1", 0.01, (0, 1)),
        ("mcc", 0.02, (-1, 1)),
        ("spearman", 0.02, (-1, 1)),
        ("rmse", 0.03 * 0.8, (0, np.inf)),
        ("nrmse", 0.03 * 0.8, (0, np.inf)),
        ("fp", 2.0, (0, np.inf)),
    ],
)
def test_the_margin_and_the_range_of_a_metric(
    metric: str, margin: float, limits: tuple[float, float]
) -> None:
    unit = unit_of(metric)
    assert unit.margin_of(0.8) == pytest.approx(margin)
    assert (unit.least, unit.greatest) == limits


def test_the_distance_of_values_equals_a_calculation_by_hand() -> None:
    rows = [
        made_row("a", {"x": (0.80, 0.803), "y": (0.90, 0.90), "z": (0.70, 0.75)}),
        made_row("b", {"x": (0.60, 0.616), "y": (0.50, 0.51)}),
    ]
    values = compare_values(rows)
    # The distances are .003, .000, .05, .016 and .01; the last is the margin itself.
    assert (values.n, values.within) == (5, 3)
    assert values.median.estimate == pytest.approx(0.01)
    assert values.margins.estimate == pytest.approx(1.0)
    assert values.largest == pytest.approx(0.05)
    assert values.largest_at == ("a", "z")


def test_half_of_the_last_printed_digit_is_within_the_margin() -> None:
    row = made_row("a", {"x": (0.8, 0.814)}, rounding=0.005)
    assert compare_values([row]).within == 1
    assert (
        compare_values([made_row("a", {"x": (0.8, 0.816)}, rounding=0.005)]).within == 0
    )


def test_the_order_of_models_equals_a_calculation_by_hand() -> None:
    rows = [
        # x and y are separated in print, and ours are in the same order; y and z are not separated.
        made_row("a", {"x": (0.80, 0.81), "y": (0.90, 0.92), "z": (0.905, 0.7)}),
        # The opposite order.
        made_row("b", {"x": (0.60, 0.70), "y": (0.65, 0.60)}),
        # The same order, which our runs do not separate.
        made_row("c", {"x": (0.60, 0.60), "y": (0.65, 0.601)}, deviation=0.05),
    ]
    order = compare_order(rows)
    counts = {
        pair.models: (pair.same, pair.opposite, pair.unseparated)
        for pair in order.pairs
    }
    assert counts == {("x", "y"): (1, 1, 1), ("x", "z"): (0, 1, 0)}
    assert (order.same, order.opposite, order.unseparated, order.n) == (1, 2, 1, 4)
    assert order.share.estimate == pytest.approx(2 / 4)


def test_the_order_of_the_proposed_models_against_the_rest_by_hand() -> None:
    proposed = ("p", "q")
    rows = [
        # p and q are both proposed, x and y are not: 4 of 6 pairs, of which q and y are reversed.
        made_row(
            "a",
            {"p": (0.9, 0.9), "x": (0.8, 0.8), "q": (0.7, 0.5), "y": (0.6, 0.6)},
            proposed=proposed,
        ),
        # The print does not separate p and x.
        made_row("b", {"p": (0.805, 0.7), "x": (0.80, 0.8)}, proposed=proposed),
        # Our runs do not separate p and y.
        made_row(
            "c", {"p": (0.9, 0.61), "y": (0.8, 0.6)}, deviation=0.05, proposed=proposed
        ),
    ]
    order = compare_proposed(rows)
    counts = {
        pair.models: (pair.same, pair.opposite, pair.unseparated)
        for pair in order.pairs
    }
    assert counts == {
        ("p", "x"): (1, 0, 0),
        ("p", "y"): (1, 0, 1),
        ("x", "q"): (1, 0, 0),
        ("q", "y"): (0, 1, 0),
    }
    assert (order.same, order.opposite, order.unseparated) == (3, 1, 1)
    assert order.share.estimate == pytest.approx(4 / 5)
    assert compare_order(rows).n == order.n + 2
    record = judge_measures("accuracy", rows).to_json_dict()["order"][
        "proposed_against_rest"
    ]
    assert (record["pairs"], record["same"], record["opposite"]) == (5, 3, 1)
    assert record["not_separated"] == 1


def test_without_proposed_models_or_without_a_rest_there_is_no_order_of_them() -> None:
    models = {"x": (0.9, 0.9), "y": (0.8, 0.8)}
    for proposed in ((), ("x", "y")):
        order = compare_proposed([made_row("a", models, proposed=proposed)])
        assert order.n == 0
        assert np.isnan(order.share.estimate)


def test_the_margin_of_a_paper_counts_in_every_measure() -> None:
    models = {"x": (0.80, 0.815), "y": (0.83, 0.845)}
    wide = unit_of("accuracy")._replace(margin=0.05)
    row = made_row("a", models)
    wider = made_row("a", models, unit=wide)
    assert compare_values([row]).within == 0
    assert compare_values([wider]).within == 2
    assert compare_values([wider]).margins.estimate == pytest.approx(0.015 / 0.05)
    assert (compare_order([row]).n, compare_order([wider]).n) == (1, 0)
    assert np.isnan(compare_differences([wider]).estimate)
    # A distorted print has the same margin.
    assert wider.with_published(wider.published + 0.1).margins == pytest.approx(
        [0.05, 0.05]
    )
    assert judge_measures("accuracy", [wider]).unit == wide


def test_the_margin_of_an_error_follows_the_published_value() -> None:
    unit = unit_of("rmse")._replace(margin=0.1)
    row = made_row("a", {"x": (2.0, 2.1), "y": (4.0, 4.1)}, metric="rmse", unit=unit)
    assert row.margins == pytest.approx([0.2, 0.4])
    assert row.with_published(2 * row.published).margins == pytest.approx([0.4, 0.8])


def test_a_distance_of_one_margin_separates_no_models() -> None:
    row = made_row("a", {"x": (0.80, 0.8), "y": (0.81, 0.9), "z": (0.8201, 0.9)})
    assert [pair.models for pair in compare_order([row]).pairs] == [
        ("x", "z"),
        ("y", "z"),
    ]


def test_models_are_separated_by_the_paired_interval(seed: int) -> None:
    rng = np.random.default_rng(seed)
    common = rng.normal(0, 0.05, (6, 1))
    runs = np.array([0.8, 0.81]) + common + rng.normal(0, 0.004, (6, 2))
    row = made_row("a", {"x": (0.7, runs[:, 0]), "y": (0.8, runs[:, 1])})
    difference = runs[:, 1] - runs[:, 0]
    half_width = t.ppf(0.975, 5) * difference.std(ddof=1) / np.sqrt(6)
    assert row.differences.are_separated(0, 1) == (abs(difference.mean()) > half_width)
    # Without the pairing, the models would never be told apart.
    assert half_width < t.ppf(0.975, 5) * runs[:, 0].std(ddof=1) / np.sqrt(6)


def test_two_models_are_compared_on_their_common_runs() -> None:
    """The model with more runs has a lower mean only because of its other runs."""
    hard = [0.70, 0.71, 0.70, 0.69, 0.70, 0.71, 0.70]
    x = [0.80, 0.81, 0.79, *hard]
    y = [0.79, 0.80, 0.78]
    row = made_row("a", {"x": (0.80, x), "y": (0.78, y)})
    assert row.means[0] < row.means[1]
    assert row.differences.n_runs[0, 1] == 3
    assert row.differences.means[0, 1] == pytest.approx(0.01)
    (pair,) = compare_order([row]).pairs
    assert (pair.same, pair.opposite) == (1, 0)
    assert compare_order([row]).share.estimate == 1


def test_models_without_two_common_runs_are_not_separated() -> None:
    values = [
        made_value("x", 0.9, np.array([0.9, 0.9, 0.9]), runs=[0, 1, 2]),
        made_value("y", 0.8, np.array([0.7, 0.7, 0.7]), runs=[2, 3, 4]),
        made_value("z", 0.7, np.array([0.5, 0.5, 0.5]), runs=[5, 6, 7]),
    ]
    (row,) = rows_of(values)
    order = compare_order([row])
    assert (order.n, order.unseparated) == (3, 3)
    # The order of means without a common run is still that of the means.
    assert order.share.estimate == 1


def test_a_model_in_which_nothing_is_random_is_compared_on_all_runs() -> None:
    fixed = np.array([0.8])
    draws = replace(draws_of_means(fixed, 0.0), is_fixed=True)
    values = [
        replace(made_value("x", 0.8, fixed, runs=[0]), draws=draws),
        made_value("y", 0.9, np.array([0.90, 0.91, 0.92]), runs=[3, 4, 5]),
    ]
    (row,) = rows_of(values)
    assert row.differences.n_runs[0, 1] == 3
    assert row.differences.means[0, 1] == pytest.approx(-0.11)
    assert row.differences.are_separated(0, 1)


def test_the_errors_of_our_means_are_those_of_the_t_interval(seed: int) -> None:
    rng = np.random.default_rng(seed)
    runs = rng.normal(0.8, 0.02, 8)
    row = made_row("a", {"x": (0.8, runs)})
    low, high = np.quantile(row.errors[:, 0], [0.025, 0.975])
    half_width = t.ppf(0.975, 7) * runs.std(ddof=1) / np.sqrt(8)
    # A quantile of a thousand simulations is off by some 6 %.
    assert (high - low) / 2 == pytest.approx(half_width, rel=0.25)


def test_the_slope_is_that_of_a_regression_without_noise() -> None:
    printed = np.array([0.70, 0.80, 0.95])
    ours = np.array([0.72, 0.78, 0.90])
    row = made_row("a", dict(zip("xyz", zip(printed, ours, strict=True), strict=True)))
    slope = compare_differences([row])
    assert slope.estimate == pytest.approx(linregress(printed, ours).slope, rel=1e-3)


@pytest.mark.parametrize("factor", [1.0, 0.5, 2.0])
def test_the_slope_of_noisy_prints_is_not_flattened(seed: int, factor: float) -> None:
    rng = np.random.default_rng(seed)
    true = rng.normal(0.8, 0.03, (40, 5))
    noise = 0.02
    rows = []
    for i, values in enumerate(true):
        # A published value is one draw. Ours are the means of ten, and `factor` times as far apart.
        printed = values + rng.normal(0, noise, 5)
        centre = values.mean()
        runs = centre + factor * (values - centre) + rng.normal(0, noise, (10, 5))
        models = {f"m{k}": (printed[k], runs[:, k]) for k in range(5)}
        rows.append(made_row(f"d{i}", models, mean_of=1))
    slope = compare_differences(rows)
    assert slope.low <= factor <= slope.high
    pooled = np.concatenate([row.published - row.published.mean() for row in rows])
    ours = np.concatenate([row.means - row.means.mean() for row in rows])
    assert abs(float(pooled @ ours / (pooled @ pooled)) / factor - 1) > 0.15


def test_differences_within_the_noise_are_not_compared(seed: int) -> None:
    rng = np.random.default_rng(seed)
    models = {f"m{k}": (0.8 + k / 1e4, rng.normal(0.8, 0.02, 5)) for k in range(5)}
    assert np.isnan(compare_differences([made_row("a", models, mean_of=1)]).estimate)


def test_single_runs_give_no_interval_and_no_verdict() -> None:
    rows = [made_row("a", {"x": (0.8, [0.8]), "y": (0.9, [0.9]), "z": (0.7, [0.7])})]
    assert compare_values(rows).median.estimate == pytest.approx(0)
    assert np.isnan(compare_values(rows).median.low)
    assert compare_order(rows).unseparated == 3
    assert judge_measures("accuracy", rows).state == "undecided"


def test_intervals_contain_the_estimate_and_shrink_with_runs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    widths = []
    for n_runs in (3, 30):
        rows = made_table(rng, n_datasets=6, n_runs=n_runs)
        values = compare_values(rows)
        assert values.median.low <= values.median.estimate <= values.median.high
        widths.append(values.median.high - values.median.low)
    assert widths[1] < widths[0]


# --- the strict test


@pytest.mark.parametrize(("n_runs", "mean_of"), [(3, 1), (10, 1), (20, 20)])
def test_a_rerun_fails_the_strict_test_at_most_once_in_twenty(
    seed: int, n_runs: int, mean_of: int
) -> None:
    rng = np.random.default_rng(seed)
    trials = 60
    failures = 0
    for _ in range(trials):
        rows = made_table(
            rng, n_datasets=4, n_runs=n_runs, mean_of=mean_of, correlated=True
        )
        (test,) = strict_tests(rows, (mean_of,))
        failures += test.p <= 0.05
    # More than nine of sixty have a probability below 1e-3 at a level of .05.
    assert failures <= 9


def test_a_shifted_print_fails_the_strict_test(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = made_table(rng, n_datasets=4, n_runs=10, mean_of=10, shift=0.05)
    (test,) = strict_tests(rows, (10,))
    assert test.p < 0.01
    assert test.outside > test.n / 2


def test_more_runs_behind_the_print_make_the_strict_test_stricter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = made_table(rng, n_datasets=6, n_runs=10, mean_of=1)
    outside = [test.outside for test in strict_tests(rows, (1, 3, 30))]
    assert len(outside) == 3
    assert outside == sorted(outside)


def test_the_strict_test_needs_three_runs() -> None:
    assert strict_tests([made_row("a", {"x": (0.8, [0.8, 0.9])})], (1,)) == ()

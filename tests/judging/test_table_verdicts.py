"""The verdict on a table: against enumeration, other code, and prints whose truth is known."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations, product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_cells import committed
from scipy.stats import binom, binomtest, spearmanr

from elmbench.judging.measured_cells import ComparedValue, MeasuredCells
from elmbench.judging.published_values import compared_values, mean_rank_correlation, missing_runs
from elmbench.judging.rank_statistics import compare_models
from elmbench.judging.table_verdicts import (
    ALPHA,
    TABLE_VERDICTS,
    joint_record,
    judge_metric,
    judge_table,
    pattern_test,
    rows_of,
    self_test,
)
from elmbench.judging.value_verdicts import Printed, draws_of_means
from elmbench.report.papers import TableResults
from elmbench.specs.measures import Measure


def figure(
    dataset: str, model: str, means: Sequence[float], print_: float, metric: str = "mcc"
) -> ComparedValue:
    """A figure with these run means; the print is a single draw without rounding."""
    array, printed = np.array(means), Printed(print_, 0.0)
    draws, runs = draws_of_means(array, 0.0), np.arange(len(array))
    return ComparedValue("paper", dataset, model, Measure(metric), runs, array, draws, printed)


def table(
    rng: np.random.Generator, truth: Any, runs: int = 10, noise: float = 0.01
) -> list[ComparedValue]:
    """A table of data sets by models with these true means, the print drawn like our runs."""
    return [
        figure(
            f"set {i}",
            f"model {j}",
            rng.normal(mean, noise, runs).tolist(),
            float(rng.normal(mean, noise)),
        )
        for (i, j), mean in np.ndenumerate(truth)
    ]


def test_a_row_is_of_the_models_of_a_data_set_or_of_the_values_of_its_only_one() -> None:
    curve = [figure("one", "EEM", [0.9], 0.9, f"gmean@h={size}") for size in (5, 50, 500)]
    assert rows_of(curve) == [curve]
    models = [
        figure("two", model, [0.9], 0.9, f"gmean@h={size}")
        for size in (5, 50)
        for model in ("EEM", "ELM")
    ]
    assert rows_of([*curve, *models]) == [curve, models[:2], models[2:]]


def test_few_permutations_are_all_computed() -> None:
    rng = np.random.default_rng(1)
    costs = [rng.random((size, size)) for size in (3, 1, 4)]
    sums = [
        sum(
            cost[np.arange(len(cost)), list(order)].sum()
            for cost, order in zip(costs, orders, strict=True)
        )
        for orders in product(*(permutations(range(len(cost))) for cost in costs))
    ]
    observed = sum(np.trace(cost) for cost in costs)
    assert len(sums) == 144
    assert pattern_test(costs) == pytest.approx(
        np.mean([total <= observed + 1e-9 for total in sums])
    )


def test_many_permutations_are_drawn_from_the_seed() -> None:
    rng = np.random.default_rng(2)
    costs = [rng.random((6, 6)) for _ in range(3)]
    first = pattern_test(costs, "eem/table4")
    assert first == pattern_test(costs, "eem/table4")
    assert first != pattern_test(costs, "eem/table9")
    # The right order is the smallest of all: only itself is as small.
    perfect = [1.0 - np.eye(6)] * 3
    assert pattern_test(perfect, "x") == pytest.approx(1 / 10_001)
    # Equal models show no pattern.
    assert pattern_test([np.full((5, 5), 0.1)] * 2) == 1.0


@pytest.mark.parametrize(("sizes", "tested"), [((), False), ((1, 1), False), ((3,), False), ((2,
) * 4, False),
                                              ((2,) * 5, True), ((4,), True)])  # fmt: skip
def test_a_pattern_needs_twenty_permutations(sizes: tuple[int, ...], tested: bool) -> None:
    assert (pattern_test([1.0 - np.eye(size) for size in sizes]) is not None) == tested


def test_rank_correlation_is_that_of_scipy() -> None:
    rows = [([1, 2, 3, 5], [1, 3, 2, 9]), ([1, 2], [1, 2]), ([1, 1, 1], [1, 2, 3])]
    assert mean_rank_correlation(rows) == pytest.approx(spearmanr(*rows[0])[0])
    assert mean_rank_correlation(rows[1:]) is None


#: Two data sets by four models that differ by far more than the noise.
TRUTH = np.array([[0.5, 0.6, 0.7, 0.8], [0.9, 0.7, 0.8, 0.6]])


def verdict(figures: Sequence[ComparedValue]) -> str:
    return judge_metric(figures, "test").verdict


def test_the_five_verdicts() -> None:
    rng = np.random.default_rng(3)
    right = table(rng, TRUTH)
    assert verdict(right) == "reproduced"
    moved = [
        figure(one.dataset, one.model, (one.means + 0.04).tolist(), one.printed.value)
        for one in right
    ]
    assert verdict(moved) == "pattern only"
    assert verdict(table(rng, np.full((2, 4), 0.7))) == "level only"
    rotated = [
        figure(one.dataset, one.model, one.means.tolist(), other.printed.value)
        for row in (right[:4], right[4:])
        for one, other in zip(row, row[1:] + row[:1], strict=True)
    ]
    assert verdict(rotated) == "not reproduced"
    assert verdict(right[:2]) == "too small to judge"
    # One run tells the pattern only.
    single = [
        figure(one.dataset, one.model, one.means[:1].tolist(), one.printed.value) for one in right
    ]
    result = judge_metric(single)
    assert (result.n_values, result.inside, result.judged, result.coverage_p) == (8, 0, 0, None)
    assert result.verdict == "pattern only"


def test_a_table_is_judged_by_each_of_its_metrics() -> None:
    rng = np.random.default_rng(5)
    more = [figure("set 0", "model 0", [0.1, 0.2, 0.3], 0.2, "gmean")]
    verdicts = judge_table([*more, *table(rng, TRUTH)], "toy/one")
    assert [(one.metric, one.n_values, one.datasets) for one in verdicts] == [
        ("gmean", 1, 1),
        ("mcc", 8, 2),
    ]
    record = joint_record(verdicts)
    # The metric with the most figures speaks for the table.
    assert {name: record[name] for name in ("metric", "inside", "of", "expected")} == {
        "metric": "mcc", "inside": verdicts[1].inside, "of": 8, "expected": 7.6,
    }  # fmt: skip
    assert record["verdict"] == "reproduced"
    assert [one["metric"] for one in record["metrics"]] == ["gmean", "mcc"]
    assert joint_record([]) | {"metrics": []} == joint_record([])
    assert (joint_record([])["verdict"], joint_record([])["of"]) == ("too small to judge", 0)


def test_a_stand_in_counts_only_without_its_original() -> None:
    both = committed("paper/rkelm/table12")
    alone = replace(both, cells=both.cells[both.cells["dataset"] != "waveform"])
    for results, dataset in ((both, "waveform"), (alone, "waveform-drawn")):
        sources = [{*one.datasets} for one in compare_models(results.summary, results.resolved)]
        counted = {*results.published_values["dataset"]}
        assert (
            counted
            == sources[0]
            == {*both.cells["dataset"]} - ({"waveform", "waveform-drawn"} - {dataset})
        )
        assert len(sources[1]) == results.agreements[0].rows == results.verdicts[0].datasets == 7
        # Another profile has the data set itself.
        assert {*TableResults(both.resolved.file, (results, both)).published_values["dataset"]} == {
            *both.published_values["dataset"]
        }


def test_models_that_share_their_splits_count_for_fewer() -> None:
    rng = np.random.default_rng(7)
    runs = rng.normal(0, 0.01, (4, 12))
    alike = [
        figure(
            f"set {i}",
            f"model {j}",
            (0.5 + 0.1 * j + runs[i]).tolist(),
            0.5 + 0.1 * j + (0.1 if i == 0 else 0),
        )
        for i in range(4)
        for j in range(5)
    ]
    # Five of twenty outside would be far too many, one of four independent data sets is not.
    assert judge_metric(alike).inside == 15
    assert binomtest(15, 20, 0.95, alternative="less").pvalue < ALPHA
    assert judge_metric(alike).coverage_p is None
    # If all are inside, fewer independent figures show as much, but not those of two data sets.
    inside = [
        replace(one, printed=replace(one.printed, value=float(one.means.mean()))) for one in alike
    ]
    assert judge_metric(inside).coverage_p == judge_metric(inside[:15]).coverage_p == 1
    assert judge_metric(inside[:10]).coverage_p is None
    single = [
        figure(f"set {i}", "model", runs[i % 4].tolist(), 0.1 if i < 5 else 0.0) for i in range(20)
    ]
    result = judge_metric(single)
    assert result.coverage_p == pytest.approx(binomtest(15, 20, 0.95, alternative="less").pvalue)


@pytest.mark.exhaustive
def test_own_runs_are_reproduced_19_times_in_20_and_wrong_prints_are_not(seed: int) -> None:
    rng, trials = np.random.default_rng(seed), 120
    truth = rng.uniform(0.5, 0.95, (6, 5))
    yes = sum(verdict(table(rng, truth, runs=5)) == "reproduced" for _ in range(trials))
    assert yes >= binom.ppf(1e-6, trials, 0.93)
    shuffled = 0
    for _ in range(trials):
        figures = table(rng, truth, runs=5)
        order = [rng.permutation(5) for _ in range(6)]
        prints = [figures[5 * i + j].printed.value for i in range(6) for j in order[i]]
        wrong = [figure(one.dataset, one.model, one.means.tolist(), value)
                 for one, value in zip(figures, prints, strict=True)]  # fmt: skip
        shuffled += verdict(wrong) == "reproduced"
    assert shuffled <= binom.ppf(1 - 1e-6, trials, ALPHA)


@pytest.mark.parametrize("name", ["eem/table4", "rkelm/table3", "rkelm/table12"])
def test_committed_tables_by_other_code(name: str) -> None:
    """The pattern's p-value is that of a loop over the committed means, and k is counted in
    summary.csv.
    """
    results = committed(f"paper/{name}")
    (joint,) = results.verdicts
    lines = results.published_values[
        results.published_values["metric"].eq(joint.metric)
        & results.published_values["mean"].notna()
    ]
    assert joint.inside == lines["verdict"].isin(["reproduced", "consistent"]).sum()
    assert joint.judged == lines["low"].notna().sum()
    rng = np.random.default_rng(0)
    rows = [
        (row["published"].to_numpy(), row["mean"].to_numpy()) for _, row in lines.groupby("dataset")
    ]
    observed = sum(np.abs(p - m).sum() for p, m in rows)
    draws = [sum(np.abs(p - rng.permutation(m)).sum() for p, m in rows) for _ in range(2000)]
    share = np.mean([total <= observed for total in draws])
    assert joint.pattern_p == pytest.approx(share, abs=5 * np.sqrt((share + 0.001) / 2000))


def test_wrong_prints_of_committed_tables_are_never_reproduced() -> None:
    for name in ("eem/table4", "rkelm/table3", "rkelm/table11", "rkelm/table12"):
        result = self_test(committed(f"paper/{name}").compared_values, name)
        assert (result["wrong_models"] > 1, result["wrong_sets"] > 1) == (True, True)
        assert (result["wrong_reproduced"], result["wrong_sets_reproduced"]) == (0, 0), name


def test_own_runs_of_a_committed_table_are_reproduced() -> None:
    result = self_test(committed("paper/eem/table4").compared_values, "eem/table4")
    assert (result["own_runs"], result["own_reproduced"]) == (10, 10)
    assert result["own_verdicts"] == dict.fromkeys(TABLE_VERDICTS, 0) | {"reproduced": 10}


def test_the_time_of_missing_runs_is_that_of_all_folds_and_selections() -> None:
    entry = {"dataset": "wdbc", "model": "ELM", "select": "oracle", "reading": ""}
    cell = entry | {"fit_seconds": 1.0, "predict_seconds": 0.5, "search_seconds": 57.0}
    figures = pd.DataFrame([entry | {"verdict": "too few runs", "runs": 1}])
    missing = missing_runs(figures, pd.DataFrame([cell, cell, cell | {"select": "nested"}]))
    assert missing["minutes"].tolist() == [pytest.approx(2 * 3 * 58.5 / 60)]


def test_facts_and_tests_over_data_sets_are_not_compared() -> None:
    for name in ("fast/eem/table3", "paper/ospvm/table3"):
        results = committed(name)
        assert (
            list(
                compared_values(
                    results.published_values, MeasuredCells(results.cells, results.resolved)
                )
            )
            == []
        )
        assert results.verdicts == []

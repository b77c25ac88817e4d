"""The arithmetic of the benchmark: rounds, medians, subsets and what is extrapolated from them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from benchmarks import measure
from benchmarks.measure import CPU, WALL, in_turn, make_record, record
from benchmarks.problems import Problem
from benchmarks.searches import least_operations

pytestmark = pytest.mark.exhaustive


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], Callable[[], float]]:
    """Make works that take so many seconds of a clock of the test's own: wall time is twice the processor's."""
    now = [100.0]
    monkeypatch.setattr(measure, "cpu_seconds", lambda: now[0])
    monkeypatch.setattr(measure.time, "perf_counter", lambda: 2 * now[0])

    def work(*seconds: float) -> Callable[[], float]:
        takes: Iterator[float] = iter([*seconds, *[seconds[-1]] * 10])

        def run() -> float:
            spent = next(takes)
            now[0] += spent
            return spent

        return run

    return work


def test_sides_are_measured_in_turn_five_times(clock: Callable[..., Any]) -> None:
    result = in_turn(clock(1.0, 2.0, 4.0, 1.0, 1.0), clock(6.0, 6.0, 6.0, 5.0, 5.0))
    assert result.ours[:, CPU].tolist() == [1, 2, 4, 1, 1]
    assert result.theirs[:, WALL].tolist() == [12, 12, 12, 10, 10]
    assert result.ratios == [6, 3, 1.5, 5, 5]
    assert (result.our_result, result.their_result) == (1.0, 6.0)


@pytest.mark.parametrize(("ours", "rounds"), [(7.0, 5), (7.5, 5), (7.6, 2)])
def test_rows_of_over_thirty_seconds_are_measured_twice(clock: Callable[..., Any], ours: float, rounds: int) -> None:
    # With the other side's 7.5, doubled by the clock on the wall.
    assert len(in_turn(clock(ours), clock(7.5)).ours) == rounds


def test_what_a_subset_takes_is_scaled(clock: Callable[..., Any]) -> None:
    actual = in_turn(clock(1.0), clock(2.0), scale=484 / 22)
    one = make_record(actual, "x", "y", subset="22 of 484")
    assert one["ratio"] == pytest.approx(44.0)
    assert (one["against_cpu_seconds"], one["against_wall_seconds"]) == (pytest.approx(44.0), pytest.approx(88.0))
    assert (one["extrapolated"], one["cpu_seconds"], one["wall_seconds"]) == (True, 1.0, 2.0)


def test_a_target_is_met_by_ratio_choice_and_scores_together() -> None:
    def met(*ratios: float, **facts: Any) -> bool | None:
        return record("x", "", ratios, **({"target": 10.0} | facts))["met"]

    assert met(10.0) is True
    assert met(9.99) is False
    assert met(20.0, same_choice=False) is False
    assert met(20.0, same_choice=True, largest_difference=1e-8) is True
    assert met(20.0, largest_difference=2e-8) is False
    assert met(20.0, largest_difference=math.nan) is False
    assert met(20.0, target=None) is None
    assert met(skipped="no data") is None


def test_the_share_of_the_bound_is_that_of_the_least_operations(
    clock: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "dgemm_rate", lambda: 1e9)
    assert make_record(in_turn(clock(4.0), clock(8.0)), "x", "y", operations=2e9)["share"] == 0.5
    rows = Problem(np.ones((9, 2)), np.ones(9), [(np.arange(6), np.arange(6, 9))] * 3, "nrmse", None)
    # Of a fold: a third of the kernel matrix of all rows, a factor, two solutions and predictions.
    assert least_operations(rows, {"gamma": [1.0], "C": [1.0, 2.0]}) == 3 * (54 + 6**3 / 3 + 4 * (6**2 + 3 * 6))
    # Eight nodes of six rows: the Gram matrix of the rows.
    nodes = 2 * 9 * 8 * 2 + 6 * 8 * 6 + 6**3 / 3 + 4 * (6**2 + 3 * 8) + 4**3 / 3 + 4 * (4**2 + 3 * 4)
    assert least_operations(rows, {"n_hidden": [4, 8], "C": [1.0, 2.0]}) == pytest.approx(3 * nodes)


def test_a_record_is_json_whatever_was_found() -> None:
    names = {"name", "ratio", "target", "cpu_seconds", "wall_seconds", "against", "extrapolated"}
    for one in (record("x", "", skipped="no data"), record("x", "", [2.0], np.ones(2), largest_difference=math.inf)):
        read = json.loads(json.dumps(one, allow_nan=False))
        assert names <= set(read)
    assert read["largest_difference"] > 1e300

"""The arithmetic of the benchmark: rounds, medians, subsets and what is extrapolated from them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from benchmarks import measure
from benchmarks.measure import Rounds, in_turn, make_record
from benchmarks.problems import Problem
from benchmarks.searches import least_operations

pytestmark = pytest.mark.exhaustive


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], Callable[[], float]]:
    """Make works that take so many seconds of a clock of the test's own."""
    now = [100.0]
    monkeypatch.setattr(measure, "cpu_seconds", lambda: now[0])

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
    assert result == Rounds([1, 2, 4, 1, 1], [6, 6, 6, 5, 5], 1.0, 6.0)
    one = make_record("x", "y", result)
    assert (one["ratio"], one["spread"], one["cpu_seconds"]) == (5, [1.5, 6], 1)


@pytest.mark.parametrize(("ours", "rounds"), [(15.0, 5), (15.1, 2)])
def test_rows_of_over_thirty_seconds_are_measured_twice(clock: Callable[..., Any], ours: float, rounds: int) -> None:
    assert len(in_turn(clock(ours), clock(15.0)).ours) == rounds


def test_what_a_subset_takes_is_scaled(clock: Callable[..., Any]) -> None:
    one = make_record("x", "y", in_turn(clock(1.0), clock(2.0), scale=484 / 22), subset="22 of 484")
    assert one["ratio"] == one["against_cpu_seconds"] == pytest.approx(44.0)


def test_a_target_is_met_by_ratio_choice_and_scores_together() -> None:
    def met(ratio: float, **facts: Any) -> bool | None:
        return make_record("x", "", Rounds([1.0], [ratio]), **({"target": 10.0} | facts))["met"]

    assert met(10.0) is True
    assert met(9.99) is False
    assert met(20.0, same_choice=False) is False
    assert met(20.0, same_choice=True, largest_difference=1e-8) is True
    assert met(20.0, largest_difference=2e-8) is False
    assert met(20.0, largest_difference=math.nan) is False
    assert met(20.0, target=None) is None
    assert make_record("x", "", target=10.0, skipped="no data")["met"] is None


def test_the_share_of_the_bound_is_that_of_the_least_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "dgemm_rate", lambda: 1e9)
    assert make_record("x", "y", Rounds([4.0], [8.0]), operations=2e9)["share"] == 0.5
    rows = Problem(np.ones((9, 2)), np.ones(9), [(np.arange(6), np.arange(6, 9))] * 3, "nrmse", None)
    # Of a fold: a third of the kernel matrix of all rows, a factor, two solutions and predictions.
    assert least_operations(rows, {"gamma": [1.0], "C": [1.0, 2.0]}) == 3 * (54 + 6**3 / 3 + 4 * (6**2 + 3 * 6))
    # Eight nodes of six rows: the Gram matrix of the rows.
    nodes = 2 * 9 * 8 * 2 + 6 * 8 * 6 + 6**3 / 3 + 4 * (6**2 + 3 * 8) + 4**3 / 3 + 4 * (4**2 + 3 * 4)
    assert least_operations(rows, {"n_hidden": [4, 8], "C": [1.0, 2.0]}) == pytest.approx(3 * nodes)


def test_a_record_is_json_whatever_was_found() -> None:
    skipped, other = make_record("x", "", skipped="no data"), make_record("x", "", Rounds([1.0], [2.0]))
    infinite = make_record("x", "", Rounds([1.0], [2.0]), largest_difference=math.inf)
    assert skipped.keys() == other.keys() == infinite.keys()
    assert json.loads(json.dumps([skipped, infinite], allow_nan=False))[1]["largest_difference"] > 1e300

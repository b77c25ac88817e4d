"""The arithmetic of the benchmark: rounds, medians, subsets and what is extrapolated from them."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from benchmarks import measure
from benchmarks.measure import Measurement, Result, Seconds, in_turn, measured, median_seconds
from benchmarks.searches import slope, spread_order, subset_size

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
    found = in_turn(clock(1.0, 2.0, 4.0, 1.0, 1.0), clock(6.0, 6.0, 6.0, 5.0, 5.0))
    assert [s.cpu for s in found.ours] == [1, 2, 4, 1, 1]
    assert [s.wall for s in found.theirs] == [12, 12, 12, 10, 10]
    assert found.ratios == [6, 3, 1.5, 5, 5]
    assert (found.our_result, found.their_result) == (1.0, 6.0)


@pytest.mark.parametrize(("ours", "rounds"), [(7.0, 5), (7.5, 5), (7.6, 2)])
def test_rows_of_over_thirty_seconds_are_measured_twice(clock: Callable[..., Any], ours: float, rounds: int) -> None:
    # With the other side's 7.5, doubled by the clock on the wall.
    assert len(in_turn(clock(ours), clock(7.5)).ours) == rounds


def test_what_a_subset_takes_is_scaled(clock: Callable[..., Any]) -> None:
    found = in_turn(clock(1.0), clock(2.0), scale=484 / 22)
    result = measured(found, name="x", against="y", subset="22 of 484")
    assert result.ratio == pytest.approx(44.0)
    assert result.theirs is not None
    assert result.theirs.cpu == pytest.approx(44.0)
    assert result.theirs.wall == pytest.approx(88.0)
    record = result.record("here")
    assert (record["extrapolated"], record["cpu_seconds"], record["wall_seconds"]) == (True, 1.0, 2.0)


def test_the_median_is_of_the_ratios_and_of_each_time_by_itself() -> None:
    ours = [Seconds(1.0, 9.0), Seconds(2.0, 1.0), Seconds(3.0, 2.0)]
    theirs = [Seconds(30.0, 1.0), Seconds(20.0, 1.0), Seconds(15.0, 1.0)]
    assert median_seconds(ours) == Seconds(2.0, 2.0)
    result = measured(Measurement(1.0, ours, theirs), name="x")
    assert result.ratio == 10.0  # of 30, 10 and 5; the medians' own quotient is 10 too, but not their mean
    assert result.record("")["spread"] == [5.0, 30.0]


@pytest.mark.parametrize(
    ("total", "each", "strata", "expected"),
    [
        (484, 0.01, 22, 484),  # 5 s in all
        (484, 60 / 484, 22, 484),
        (484, 0.13, 22, 220),  # 30 s are 230 candidates
        (484, 1.4, 22, 22),
        (484, 10.0, 22, 22),  # one of each at least
        (418, 0.2, 19, 133),
        (3, 100.0, 1, 1),
        (2, 100.0, 5, 2),
    ],
)
def test_a_side_of_over_a_minute_is_measured_on_a_subset(total: int, each: float, strata: int, expected: int) -> None:
    assert subset_size(total, each, strata) == expected


def test_a_subset_has_the_same_share_of_each_stratum() -> None:
    strata = [gamma for gamma in range(6) for _ in range(5)]
    order = spread_order(strata)
    assert sorted(order) == list(range(30))
    for size in (6, 12, 24):
        assert set(Counter(strata[i] for i in order[:size]).values()) == {size // 6}
    assert order == spread_order(strata) != spread_order(strata, seed=1)
    # Not the same C of every gamma.
    assert len({i % 5 for i in order[:6]}) > 1


def test_a_target_is_met_by_ratio_choice_and_scores_together() -> None:
    def met(ratio: float, **facts: Any) -> bool | None:
        return Result("x", ratios=[ratio], **({"target": 10.0} | facts)).met

    assert met(10.0) is True
    assert met(9.99) is False
    assert met(20.0, same_choice=False) is False
    assert met(20.0, same_choice=True, difference=1e-8) is True
    assert met(20.0, difference=2e-8) is False
    assert met(20.0, difference=math.nan) is False
    assert met(20.0, target=None) is None
    assert Result("x", target=1.0, skipped="no data").met is None


def test_a_record_is_json_whatever_was_found() -> None:
    names = {"name", "ratio", "target", "cpu_seconds", "wall_seconds", "against", "extrapolated", "environment"}
    for result in (
        Result("x", skipped="no data"),
        Result("x", ratios=[2.0], difference=math.inf, ours=Seconds(1.0, 1.0)),
    ):
        record = json.loads(json.dumps(result.record("here"), allow_nan=False))
        assert names <= set(record)
    assert record["largest_difference"] > 1e300


def test_the_slope_of_a_power_is_its_exponent() -> None:
    sizes = [100, 200, 400]
    assert slope(sizes, [3e-9 * n**2.5 for n in sizes]) == pytest.approx(2.5)
    noisy = np.array([1.0, 2.0, 4.0]) * [1.1, 1.0, 1.1]
    assert slope([1, 2, 4], noisy.tolist()) == pytest.approx(1.0)

"""The arithmetic of the benchmark: rounds, medians, extrapolation, bounds; and the same work on
both sides.
"""

import json
import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmarks import measure, own_data, searches
from benchmarks.measure import Rounds, in_turn, make_record
from benchmarks.problems import Problem, digits, kernel_ridge, mackey_glass, search_of
from benchmarks.searches import Sides, compare, least_operations
from elmbench.datasets.description import describe
from elmbench.datasets.load import load_from_spec
from elmbench.datasets.user_data import UserData
from elmbench.evaluation.preprocessing import prepared_inputs
from elmbench.specs.grids import SearchGrid
from elmbench.specs.scaling import Scale

pytestmark = pytest.mark.exhaustive


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], Callable[[], float]]:
    """Make works that take so many seconds of a clock of the test's own."""
    now = [100.0]
    monkeypatch.setattr(measure, "cpu_seconds", lambda: now[0])

    def task(*seconds: float) -> Callable[[], float]:
        takes: Iterator[float] = iter([*seconds, *[seconds[-1]] * 10])

        def run() -> float:
            spent = next(takes)
            now[0] += spent
            return spent

        return run

    return task


def test_sides_are_measured_in_turn_five_times(clock: Callable[..., Any]) -> None:
    result = in_turn(clock(1.0, 2.0, 4.0, 1.0, 1.0), clock(6.0, 6.0, 6.0, 5.0, 5.0))
    assert result == Rounds([1, 2, 4, 1, 1], [6, 6, 6, 5, 5], 1.0, 6.0)
    one = make_record("x", "y", result)
    assert (one["ratio"], one["spread"], one["cpu_seconds"]) == (5, [1.5, 6], 1)


@pytest.mark.parametrize(("ours", "rounds"), [(15.0, 5), (15.1, 2)])
def test_rows_of_over_thirty_seconds_are_measured_twice(
    clock: Callable[..., Any], ours: float, rounds: int
) -> None:
    assert len(in_turn(clock(ours), clock(15.0)).ours) == rounds


def test_what_a_subset_takes_is_scaled(clock: Callable[..., Any]) -> None:
    one = make_record(
        "x", "y", in_turn(clock(1.0), clock(2.0), scale=484 / 22), subset="22 of 484"
    )
    assert one["ratio"] == one["against_cpu_seconds"] == pytest.approx(44.0)


def test_a_target_is_met_by_ratio_choice_and_scores_together() -> None:
    def met(ratio: float, **facts: Any) -> bool | None:
        return make_record(
            "x", "", Rounds([1.0], [ratio]), **({"target": 10.0} | facts)
        )["met"]

    assert met(10.0) is True
    assert met(9.99) is False
    assert met(20.0, same_choice=False) is False
    assert met(20.0, same_choice=True, largest_difference=1e-8) is True
    assert met(20.0, largest_difference=2e-8) is False
    assert met(20.0, largest_difference=math.nan) is False
    assert met(20.0, target=None) is None
    assert make_record("x", "", target=10.0, skipped="no data")["met"] is None


def test_the_share_of_the_bound_is_that_of_the_least_operations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(measure, "dgemm_rate", lambda: 1e9)
    assert make_record("x", "y", Rounds([4.0], [8.0]), operations=2e9)["share"] == 0.5
    rows = Problem(
        np.ones((9, 2)),
        np.ones(9),
        [(np.arange(6), np.arange(6, 9))] * 3,
        "nrmse",
        None,
    )
    # Of a fold: a third of the kernel matrix of all rows, a factor, two solutions and predictions.
    assert least_operations(rows, {"gamma": [1.0], "C": [1.0, 2.0]}) == 3 * (
        54 + 6**3 / 3 + 4 * (6**2 + 3 * 6)
    )
    # Eight nodes of six rows: the Gram matrix of the rows.
    nodes = (
        2 * 9 * 8 * 2
        + 6 * 8 * 6
        + 6**3 / 3
        + 4 * (6**2 + 3 * 8)
        + 4**3 / 3
        + 4 * (4**2 + 3 * 4)
    )
    assert least_operations(
        rows, {"n_hidden": [4, 8], "C": [1.0, 2.0]}
    ) == pytest.approx(3 * nodes)


def test_a_record_is_json_whatever_was_found() -> None:
    skipped, other = (
        make_record("x", "", skipped="no data"),
        make_record("x", "", Rounds([1.0], [2.0])),
    )
    infinite = make_record("x", "", Rounds([1.0], [2.0]), largest_difference=math.inf)
    assert skipped.keys() == other.keys() == infinite.keys()
    assert (
        json.loads(json.dumps([skipped, infinite], allow_nan=False))[1][
            "largest_difference"
        ]
        > 1e300
    )


KERNEL: dict[str, list[Any]] = {"gamma": [0.05, 2.0], "C": [0.01, 1.0, 100.0]}
NODES: dict[str, list[Any]] = {"n_hidden": [5, 90], "C": [0.01, 1.0, 100.0]}
SIDES = [
    (search_of("k-elm"), kernel_ridge, KERNEL),
    (search_of("k-elm"), search_of("k-elm", paths=False), KERNEL),
    (
        search_of("elm", random_state=0),
        search_of("elm", paths=False, random_state=0),
        NODES,
    ),
]


@pytest.mark.parametrize("kind", ["two", "real"])
@pytest.mark.parametrize(("ours", "theirs", "grid"), SIDES)
def test_sides_give_the_same_scores(
    ours: Any, theirs: Any, grid: dict[str, list[Any]], kind: str
) -> None:
    problem = digits(90) if kind == "two" else mackey_glass(90)
    every = SearchGrid(grid).candidates()
    scores = ours(problem, every)
    assert scores.shape == (6, 3)
    assert len(np.unique(scores)) > 4
    np.testing.assert_allclose(theirs(problem, every), scores, rtol=0, atol=1e-8)
    # The order is that of the candidates.
    np.testing.assert_allclose(
        theirs(problem, every[::-2]), scores[::-2], rtol=0, atol=1e-8
    )


def test_a_comparison_looks_at_the_candidates_that_both_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = digits(60)
    grid: dict[str, list[Any]] = {"gamma": [1, 2, 3], "C": [1, 2, 3, 4]}
    had: list[int] = []

    def ours(problem: Problem, some: list[dict[str, Any]]) -> np.ndarray:
        return np.array([[10.0 * c["gamma"] + c["C"]] * 3 for c in some])

    def theirs(problem: Problem, some: list[dict[str, Any]]) -> np.ndarray:
        had.append(len(some))
        return ours(problem, some) + 1e-10

    def facts(theirs: Any) -> tuple[Any, ...]:
        one = compare(problem, grid, Sides(ours, "other", theirs), "x")
        return one["subset"], one["same_choice"], one["largest_difference"]

    assert facts(theirs) == ("", True, pytest.approx(1e-10, rel=1e-4))
    assert had == [3] + [12] * 5
    had.clear()
    monkeypatch.setattr(searches, "LONG_SIDE", 0.0)
    assert facts(theirs) == (
        "3 of 12 candidates at random",
        True,
        pytest.approx(1e-10, rel=1e-4),
    )
    assert had == [3] * 6
    assert facts(lambda problem, some: -ours(problem, some))[1] is False


def test_rows_of_own_data_are_encoded_by_hand_as_on_a_fold(tmp_path: Path) -> None:
    """Both sides of the row make the same inputs."""
    path = tmp_path / "rows.csv"
    own_data._write_rows(path, 300)
    data = load_from_spec(describe(UserData(str(path))))
    frame = pd.read_csv(path).drop(columns="target")
    train = np.arange(240)
    scale = Scale.model_validate({"kind": "standard", "fit-on": "train"})
    ours = prepared_inputs(data.X, train, scale, data.encoded_columns)
    theirs = own_data._encode_by_hand(frame, train)
    n_numbers = theirs.shape[1] - 12
    assert ours.shape == theirs.shape
    np.testing.assert_allclose(ours[:, :n_numbers], theirs[:, :n_numbers], atol=1e-12)
    np.testing.assert_array_equal(ours[:, n_numbers:] > 0, theirs[:, n_numbers:] > 0)


def test_the_memory_of_a_command_counts_its_child_processes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(own_data, "LOOK_EVERY", 0.05)
    child = "import time; held = bytearray(100_000_000); time.sleep(1)"
    parent = (
        f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    )
    command = [sys.executable, "-c", f"{parent}; print('done')"]
    output, most_bytes = own_data._watch_memory(command)
    assert output == "done\n"
    assert 100e6 < most_bytes < 200e6


def test_a_command_that_fails_is_no_measurement() -> None:
    with pytest.raises(subprocess.CalledProcessError):
        own_data._watch_memory([sys.executable, "-c", "raise SystemExit(3)"])

"""The sides of the benchmark: that they evaluate the same thing, and what bounds count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks import searches
from benchmarks.problems import Problem, digits, kernel_ridge, mackey_glass, search_of
from benchmarks.searches import Sides, compare
from elmbench.specs.grids import candidates

pytestmark = pytest.mark.exhaustive

KERNEL: dict[str, list[Any]] = {"gamma": [0.05, 2.0], "C": [0.01, 1.0, 100.0]}
NODES: dict[str, list[Any]] = {"n_hidden": [5, 90], "C": [0.01, 1.0, 100.0]}
SIDES = [
    (search_of("k-elm"), kernel_ridge, KERNEL),
    (search_of("k-elm"), search_of("k-elm", paths=False), KERNEL),
    (search_of("elm", random_state=0), search_of("elm", paths=False, random_state=0), NODES),
]


@pytest.mark.parametrize("kind", ["two", "real"])
@pytest.mark.parametrize(("ours", "theirs", "grid"), SIDES)
def test_sides_give_the_same_scores(ours: Any, theirs: Any, grid: dict[str, list[Any]], kind: str) -> None:
    problem = digits(90) if kind == "two" else mackey_glass(90)
    every = candidates(grid)
    scores = ours(problem, every)
    assert scores.shape == (6, 3)
    assert len(np.unique(scores)) > 4
    np.testing.assert_allclose(theirs(problem, every), scores, rtol=0, atol=1e-8)
    # The order is that of the candidates.
    np.testing.assert_allclose(theirs(problem, every[::-2]), scores[::-2], rtol=0, atol=1e-8)


def test_a_comparison_looks_at_the_candidates_that_both_have(monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert facts(theirs) == ("3 of 12 candidates at random", True, pytest.approx(1e-10, rel=1e-4))
    assert had == [3] * 6
    assert facts(lambda problem, some: -ours(problem, some))[1] is False

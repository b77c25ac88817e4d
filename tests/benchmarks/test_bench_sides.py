"""The sides of the benchmark: that they evaluate the same thing, and what bounds count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.fits import ALD, BUDGET, FB, budget_bytes, dependency_bytes, touched_bytes
from benchmarks.problems import Problem, digits, kernel_ridge, mackey_glass, ridge_pipeline, search_of, series
from benchmarks.searches import Sides, compare
from benchmarks.tables import SUBSET, first_fold, thinned
from elmbench.specs.grids import candidates
from elmbench.work.search import Search

pytestmark = pytest.mark.exhaustive

KERNEL: dict[str, list[Any]] = {"gamma": [0.05, 2.0], "C": [0.01, 1.0, 100.0]}
NODES: dict[str, list[Any]] = {"n_hidden": [5, 90], "C": [0.01, 1.0, 100.0]}
SIDES = [
    (search_of("k-elm"), kernel_ridge, KERNEL),
    (search_of("k-elm"), search_of("k-elm", paths=False), KERNEL),
    (search_of("elm", random_state=0), ridge_pipeline, NODES),
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


def test_a_comparison_looks_at_the_candidates_that_both_have() -> None:
    problem = digits(60)
    grid: dict[str, list[Any]] = {"gamma": [1, 2, 3], "C": [1, 2, 3, 4]}
    had: list[int] = []

    def ours(problem: Problem, some: list[dict[str, Any]]) -> np.ndarray:
        return np.array([[10.0 * c["gamma"] + c["C"]] * 3 for c in some])

    def theirs(problem: Problem, some: list[dict[str, Any]]) -> np.ndarray:
        had.append(len(some))
        return ours(problem, some) + 1e-10

    def facts(theirs: Any, **limits: float) -> tuple[Any, ...]:
        one = compare(problem, grid, Sides(ours, "other", theirs), "x", **limits)
        return one["subset"], one["same_choice"], one["largest_difference"]

    assert facts(theirs) == ("", True, pytest.approx(1e-10, rel=1e-4))
    assert had == [3] + [12] * 5
    had.clear()
    assert facts(theirs, longest=0.0) == ("3 of 12 candidates at random", True, pytest.approx(1e-10, rel=1e-4))
    assert had == [3] * 6
    assert facts(lambda problem, some: -ours(problem, some))[1] is False


def test_bytes_of_the_online_models() -> None:
    X, y = series(40)
    touched, size = touched_bytes(FB(), budget_bytes, X, y)
    assert size == 40 < BUDGET
    assert touched == sum(16 * m**2 for m in range(1, 41))
    # Five rows far from each other join, and none of those that only repeat them.
    far = 10.0 * np.repeat(np.arange(5.0)[:, np.newaxis], 7, axis=1)
    touched, size = touched_bytes(ALD(), dependency_bytes, np.vstack([far, far, far]), np.arange(15.0))
    assert size == 5
    assert touched == sum(4 * m**2 for m in range(5)) + 10 * 24 * 5**2


def test_tables_are_those_of_the_first_fold_on_few_rows() -> None:
    works = first_fold("table4", 400, None)
    outer_folds = [work.outer_fold for work in works.values()]
    assert {(one.run, one.fold, one.dataset.rows) for one in outer_folds} == {(0, 0, 400)}
    assert {one.dataset.name for one in outer_folds} == {"wdbc"}
    searches = {work.model.name: work for work in works.values() if isinstance(work, Search)}
    assert {name: len(search.grid) for name, search in searches.items()} == {
        "elm": 19 * 8, "k-elm": 64, "fb-kos-elm": 8, "ald-kos-elm": 16,
    }  # fmt: skip
    for name, search in searches.items():
        single, share = thinned(search)
        assert single.paths is False
        some, every = single.grid.candidates(), search.grid.candidates()
        assert len(some) == share * len(every)
        assert share == (SUBSET / 8 if name in ("elm", "k-elm") else 1.0)
        assert [c for c in every if c in some] == some
        first = next(iter(search.grid.values))
        assert {c[first] for c in some} == {c[first] for c in every}

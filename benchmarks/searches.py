"""Searches of whole grids: elmbench against scikit-learn and against one fit each."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.measure import Measurement, in_turn, timed
from benchmarks.problems import Problem, digits, mackey_glass, wdbc
from benchmarks.row import Result, Row, measured
from benchmarks.sides import Side, bordered_solves, kernel_ridge, ridge_pipeline, search_of
from benchmarks.subset import LONG_SIDE, SUBSET_SECONDS, spread_order, subset_size
from elmbench.specs.grids import candidates
from elmbench.work.scoring import best

POWERS = [2.0**e for e in range(-8, 14)]
"""22 values of C or gamma: the grid of the KOS-ELM paper with every power."""

SIZES = list(range(100, 1001, 50))
"""19 values of L, the grid of the same paper."""

KERNEL_GRID: dict[str, list[Any]] = {"gamma": POWERS, "C": POWERS}
NODES_GRID: dict[str, list[Any]] = {"n_hidden": SIZES, "C": POWERS}
WIDE_GRID: dict[str, list[Any]] = {"gamma": [10.0**e for e in range(-10, 1)], "C": [10.0**e for e in range(-1, 11)]}
"""11 x 12 values, the grid of the EEM paper for SVM and LS-SVM."""


@dataclass(frozen=True)
class Compared:
    """A search by two sides, measured.

    `subset` says which candidates the other side had, where not all; of those that both had, `same_choice` tells
    whether both choose the same one, and `difference` is the largest between their scores.
    """

    measurement: Measurement
    subset: str
    same_choice: bool
    difference: float

    def result(self, **facts: Any) -> Result:
        """Return the line of the benchmark; `facts` are the attributes of `Result` that this does not determine."""
        compared = {"subset": self.subset, "same_choice": self.same_choice, "difference": self.difference}
        return measured(self.measurement, **compared, **facts)


def compare(
    problem: Problem,
    grid: dict[str, list[Any]],
    ours: Side,
    theirs: Side,
    longest: float = LONG_SIDE,
    allowed: float = SUBSET_SECONDS,
) -> Compared:
    """Measure a search by two sides, the second on a subset of the candidates where all would take too long.

    Of the first hyperparameter of the grid, each value has the same share of a subset; see `subset_size` for its size.
    """
    every = candidates(grid)
    first, strata = next(iter(grid)), [next(iter(candidate.values())) for candidate in every]
    order = spread_order(strata)
    # Also loads and compiles what either side needs.
    ours(problem, every[:2])
    pilot = order[:3]
    spent, _ = timed(lambda: theirs(problem, [every[i] for i in pilot]))
    size = subset_size(len(every), spent.wall / len(pilot), len(set(strata)), longest, allowed)
    chosen = sorted(order[:size])
    few = [every[i] for i in chosen]
    found = in_turn(lambda: ours(problem, every), lambda: theirs(problem, few), scale=len(every) / size)
    own, other = found.our_result[chosen], found.their_result
    subset = f"{size} of {len(every)} candidates at random, equally many of each {first}" if size < len(every) else ""
    return Compared(found, subset, best(own) == best(other), float(np.max(np.abs(own - other))))


def _thinned(grid: dict[str, list[Any]], trial: bool) -> dict[str, list[Any]]:
    return {name: values[::5] for name, values in grid.items()} if trial else grid


def _row(
    key: str,
    names: tuple[str, str],
    problem: Callable[[bool], Problem],
    grid: dict[str, list[Any]],
    sides: tuple[Side, Side],
    **facts: Any,
) -> Row:
    """Return the row of a search: what is searched and how the other side does it, both sides, a target or a note."""

    def run(trial: bool) -> Iterator[Result]:
        found = compare(problem(trial), _thinned(grid, trial), *sides)
        yield found.result(name=names[0], against=names[1], **facts)

    return Row(key, run)


def _wdbc(trial: bool) -> Problem:
    return wdbc()


def _series(trial: bool) -> Problem:
    return mackey_glass(300 if trial else 5000)


def _digits(trial: bool) -> Problem:
    return digits(150 if trial else 900)


_KERNEL_RIDGE, _PIPELINE = "GridSearchCV(KernelRidge)", "GridSearchCV(Pipeline(hidden nodes, Ridge))"
_CLONE = "clone and fit (`--no-paths`)"
_NODES = search_of("elm", random_state=0)
_ONE_BY_ONE = search_of("elm", paths=False, random_state=0)
_WDBC, _SERIES = "WDBC", "5,000 Mackey-Glass rows"
_PAIRS, _SIZES = "22 gamma x 22 C x 3 folds", "19 L x 22 C x 3 folds"
_WIDE = "900 digits, 11 gamma x 12 C x 3 folds"

ROWS = [
    _row(
        "k-elm-wdbc", (f"K-ELM, {_WDBC}, {_PAIRS}", _KERNEL_RIDGE),
        _wdbc, KERNEL_GRID, (search_of("k-elm"), kernel_ridge), target=30.0,
    ),
    _row(
        "k-elm-series", (f"K-ELM, {_SERIES}, {_PAIRS}", _KERNEL_RIDGE),
        _series, KERNEL_GRID, (search_of("k-elm"), kernel_ridge), target=12.0,
    ),
    _row("elm-wdbc", (f"ELM, {_WDBC}, {_SIZES}", _CLONE), _wdbc, NODES_GRID, (_NODES, _ONE_BY_ONE), target=30.0),
    _row("elm-wdbc-pipeline", (f"ELM, {_WDBC}, {_SIZES}", _PIPELINE), _wdbc, NODES_GRID, (_NODES, ridge_pipeline)),
    _row("elm-series", (f"ELM, {_SERIES}, {_SIZES}", _CLONE), _series, NODES_GRID, (_NODES, _ONE_BY_ONE), target=40.0),
    _row(
        "elm-series-pipeline", (f"ELM, {_SERIES}, {_SIZES}", _PIPELINE),
        _series, NODES_GRID, (_NODES, ridge_pipeline),
    ),
    _row(
        "ls-svm", (f"LS-SVM, {_WIDE}", "one fit a candidate (`--no-paths`)"),
        _digits, WIDE_GRID, (search_of("ls-svm"), search_of("ls-svm", paths=False)), target=6.0,
    ),
    _row(
        "ls-svm-solve",
        (f"LS-SVM, {_WIDE}", "kernels once a gamma, numpy.linalg.solve of the bordered system a candidate"),
        _digits, WIDE_GRID, (search_of("ls-svm"), bordered_solves),
        note="labels of nearly singular systems differ: LU loses their digits",
    ),
]  # fmt: skip

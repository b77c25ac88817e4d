"""Searches of whole grids: elmbench against scikit-learn and against one fit each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.measure import Measurement, in_turn, timed
from benchmarks.problems import Array, Problem, digits, mackey_glass, wdbc
from benchmarks.row import Result, Row, measured
from benchmarks.sides import Side, bordered_solves, kernel_ridge, ridge_pipeline, search_of, svc
from benchmarks.subset import LONG_SIDE, SUBSET_SECONDS, spread_order, subset_size
from elmbench.evaluation.search import best
from elmbench.specs.grids import candidates
from elmbench.specs.registry import find_model

POWERS = [2.0**e for e in range(-8, 14)]
"""22 values of C or gamma: the grid of the KOS-ELM paper with every power."""

SIZES = list(range(100, 1001, 50))
"""19 values of L, the grid of the same paper."""

KERNEL_GRID: dict[str, list[Any]] = {"gamma": POWERS, "C": POWERS}
NODES_GRID: dict[str, list[Any]] = {"n_hidden": SIZES, "C": POWERS}
WIDE_GRID: dict[str, list[Any]] = {
    "gamma": [10.0**e for e in range(-10, 1)],
    "C": [10.0**e for e in range(-1, 11)],
}
"""11 x 12 values, the grid of the EEM paper for SVM and LS-SVM."""


@dataclass(frozen=True)
class Comparison:
    """A search that two sides carry out.

    Attributes
    ----------
    name, against : str
        What is searched; how the other side does it.
    problem : callable
        Takes nothing and returns the data.
    grid : dict of str to list
        Values of the hyperparameters; of the first, each has the same share of a subset.
    ours, theirs : Side
    target : float or None
    note : str
    """

    name: str
    against: str
    problem: Callable[[], Problem]
    grid: dict[str, list[Any]]
    ours: Side
    theirs: Side
    target: float | None = None
    note: str = ""

    def run(self) -> Result:
        """Measure it."""
        found = compare(self.problem(), self.grid, self.ours, self.theirs)
        return measured(
            found.measurement,
            name=self.name,
            against=self.against,
            target=self.target,
            subset=found.subset,
            same_choice=found.same_choice,
            difference=found.difference,
            note=self.note,
        )


@dataclass(frozen=True)
class Compared:
    """A search by two sides, measured.

    Attributes
    ----------
    measurement : Measurement
    subset : str
        The candidates that the other side had, where not all.
    same_choice : bool
        Whether both choose the same of the candidates that both had.
    difference : float
        Largest difference between scores of these.
    """

    measurement: Measurement
    subset: str
    same_choice: bool
    difference: float


def compare(
    problem: Problem,
    grid: dict[str, list[Any]],
    ours: Side,
    theirs: Side,
    longest: float = LONG_SIDE,
    allowed: float = SUBSET_SECONDS,
) -> Compared:
    """Measure a search by two sides, the second on a subset of the candidates where all would take too long.

    Parameters
    ----------
    problem : Problem
    grid : dict of str to list
        Of the first hyperparameter, each value has the same share of a subset.
    ours, theirs : Side
    longest, allowed : float
        See `subset_size`.
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
    return Compared(found, subset, same_choice(own, other), float(np.max(np.abs(own - other))))


def same_choice(ours: Array, theirs: Array) -> bool:
    """Return whether two sides choose the same candidate.

    Parameters
    ----------
    ours, theirs : ndarray of shape (n_candidates, n_folds)
    """
    return best(ours) == best(theirs)


def _thinned(grid: dict[str, list[Any]], trial: bool) -> dict[str, list[Any]]:
    return {name: values[::5] for name, values in grid.items()} if trial else grid


def _row(
    key: str,
    name: str,
    against: str,
    problem: Callable[[bool], Problem],
    grid: dict[str, list[Any]],
    ours: Side,
    theirs: Side,
    **facts: Any,
) -> Row:
    def run(trial: bool) -> Iterator[Result]:
        yield Comparison(name, against, lambda: problem(trial), _thinned(grid, trial), ours, theirs, **facts).run()

    return Row(key, run)


def _series(trial: bool) -> Problem:
    return mackey_glass(300 if trial else 5000)


def _digits(trial: bool) -> Problem:
    return digits(150 if trial else 900)


def _svm(trial: bool) -> Iterator[Result]:
    name, against = "SVM, 900 digits, 11 gamma x 12 C x 3 folds", "GridSearchCV(SVC)"
    if not hasattr(find_model("svm").factory("classification"), "evaluate_grid"):
        yield Result(name, against, skipped="elmbench has no grid path for it: it is scikit-learn's SVC, fitted singly")
        return
    problem = _digits(trial)
    yield Comparison(
        name, against, lambda: problem, _thinned(WIDE_GRID, trial), search_of("svm"), svc, note=_SVM_NOTE
    ).run()


_SVM_NOTE = "the same libsvm on both sides; what is saved is the kernel"
_KERNEL_RIDGE, _PIPELINE = "GridSearchCV(KernelRidge)", "GridSearchCV(Pipeline(hidden nodes, Ridge))"
_CLONE = "clone and fit (`--no-paths`)"
_NODES = search_of("elm", random_state=0)
_NODES_ONE_BY_ONE = search_of("elm", paths=False, random_state=0)

ROWS = [
    _row(
        "k-elm-wdbc", "K-ELM, WDBC, 22 gamma x 22 C x 3 folds", _KERNEL_RIDGE,
        lambda trial: wdbc(), KERNEL_GRID, search_of("k-elm"), kernel_ridge, target=30.0,
    ),
    _row(
        "k-elm-series", "K-ELM, 5,000 Mackey-Glass rows, 22 gamma x 22 C x 3 folds", _KERNEL_RIDGE,
        _series, KERNEL_GRID, search_of("k-elm"), kernel_ridge, target=12.0,
    ),
    _row(
        "elm-wdbc", "ELM, WDBC, 19 L x 22 C x 3 folds", _CLONE,
        lambda trial: wdbc(), NODES_GRID, _NODES, _NODES_ONE_BY_ONE, target=30.0,
    ),
    _row(
        "elm-wdbc-pipeline", "ELM, WDBC, 19 L x 22 C x 3 folds", _PIPELINE,
        lambda trial: wdbc(), NODES_GRID, _NODES, ridge_pipeline,
    ),
    _row(
        "elm-series", "ELM, 5,000 Mackey-Glass rows, 19 L x 22 C x 3 folds", _CLONE,
        _series, NODES_GRID, _NODES, _NODES_ONE_BY_ONE, target=40.0,
    ),
    _row(
        "elm-series-pipeline", "ELM, 5,000 Mackey-Glass rows, 19 L x 22 C x 3 folds", _PIPELINE,
        _series, NODES_GRID, _NODES, ridge_pipeline,
    ),
    _row(
        "ls-svm", "LS-SVM, 900 digits, 11 gamma x 12 C x 3 folds", "one fit a candidate (`--no-paths`)",
        _digits, WIDE_GRID, search_of("ls-svm"), search_of("ls-svm", paths=False), target=8.0,
    ),
    _row(
        "ls-svm-solve", "LS-SVM, 900 digits, 11 gamma x 12 C x 3 folds",
        "kernels once a gamma, numpy.linalg.solve of the bordered system a candidate",
        _digits, WIDE_GRID, search_of("ls-svm"), bordered_solves,
        note="labels of nearly singular systems differ: LU loses their digits",
    ),
    Row("svm", _svm),
]  # fmt: skip

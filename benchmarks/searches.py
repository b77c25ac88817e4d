"""Searches of whole grids against scikit-learn and against one fit each."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV

from benchmarks.measure import Record, Run, in_turn, make_record, time_call
from benchmarks.problems import (
    Problem,
    Side,
    centres_pipeline,
    digits,
    kernel_ridge,
    mackey_glass,
    satimage,
    search_of,
    split_scores,
    wdbc,
)
from elmbench import PathSearchCV
from elmbench.errors import DataUnavailableError
from elmbench.models import KELMClassifier
from elmbench.specs.grids import SearchGrid
from elmbench.tasks.scoring import best

#: Seconds from which a side is measured on a subset of the candidates, for half of them.
LONG_SIDE = 60.0

Grid = dict[str, list[Any]]
#: 22 values of C or gamma: the grid of the KOS-ELM paper with every power.
POWERS = [2.0**e for e in range(-8, 14)]
KERNEL_GRID: Grid = {"gamma": POWERS, "C": POWERS}
NODES_GRID: Grid = {"n_hidden": list(range(100, 1001, 50)), "C": POWERS}
#: 11 x 12 values, the grid of the EEM paper for SVM and LS-SVM.
WIDE_GRID: Grid = {
    "gamma": [10.0**e for e in range(-10, 1)],
    "C": [10.0**e for e in range(-1, 11)],
}
#: Six numbers of centres, and the 36 ridges of the RKELM paper.
CENTRES_GRID: Grid = {
    "n_landmarks": [50, 100, 200, 400, 800, 1200],
    "C": [2.0**e for e in range(-5, 31)],
}


@dataclass(frozen=True)
class Sides:
    """A search by elmbench, the name of the other side, and its search."""

    ours: Side
    against: str
    theirs: Side


def compare(
    problem: Problem, grid: Grid, sides: Sides, name: str, **facts: Any
) -> Record:
    """Measure a search by two sides, the second one on a subset of the candidates if all take over
    `LONG_SIDE` seconds.

    Choice and scores are compared on the candidates of both. `facts` are other arguments of
    `make_record`.
    """
    points = SearchGrid(grid).candidates()
    order = np.random.default_rng(0).permutation(len(points))
    sides.ours(problem, points[:2])  # loads and compiles
    pilot = [points[i] for i in order[:3]]
    seconds, _ = time_call(lambda: sides.theirs(problem, pilot))
    cost = seconds / len(pilot)
    size = (
        len(points)
        if len(points) * cost <= LONG_SIDE
        else min(len(points), max(3, int(LONG_SIDE / 2 / cost)))
    )
    numbers = sorted(order[:size])
    sample = [points[i] for i in numbers]
    ours, theirs = (
        partial(sides.ours, problem, points),
        partial(sides.theirs, problem, sample),
    )
    rounds = in_turn(ours, theirs, scale=len(points) / size)
    our_scores, their_scores = rounds.our_result[numbers], rounds.their_result
    return make_record(
        name,
        sides.against,
        rounds,
        subset=f"{size} of {len(points)} candidates at random"
        if size < len(points)
        else "",
        same_choice=best(our_scores) == best(their_scores),
        largest_difference=float(np.max(np.abs(our_scores - their_scores))),
        **facts,
    )


def least_operations(problem: Problem, grid: Grid) -> float:
    """Return the operations that a search of a direct method cannot avoid, with all values of C at
    once.

    They are one Gram or kernel matrix a fold (of the most nodes, or for each gamma), one Cholesky
    factor for each size or gamma, and the solutions and predictions for each C.
    """
    n, d = problem.X.shape
    kernel, ridges = (
        "gamma" in grid,
        len(grid["C"]) * max(1, len(problem.labels or ()) - 1),
    )
    total = 0.0
    for train, test in problem.folds:
        sizes = (
            [len(train)] * len(grid["gamma"]) if kernel else next(iter(grid.values()))
        )
        total += (
            len(sizes) * n**2 * d / len(problem.folds)
            if kernel
            else 2 * n * max(sizes) * d
        )
        total += (
            0.0 if kernel else len(train) * max(sizes) * min(max(sizes), len(train))
        )
        for size in sizes:
            order = min(size, len(train))
            total += order**3 / 3 + 2 * ridges * (order**2 + len(test) * size)
    return total


def _search(
    name: str, sides: Sides, data: str, grid: Grid, target: float | None, trial: bool
) -> Iterator[Record]:
    """Measure a search over a whole grid, in a trial over a part of it."""
    try:
        problem = PROBLEMS[data](trial)
    except DataUnavailableError as error:
        yield make_record(name, sides.against, skipped=error.found)
        return
    if trial:
        grid = {
            parameter: values[:: 5 if len(values) > 6 else 3]
            for parameter, values in grid.items()
        }
    yield compare(
        problem,
        grid,
        sides,
        name,
        operations=least_operations(problem, grid),
        target=target,
    )


def _path_search(
    name: str, data: str, grid: Grid, target: float, trial: bool
) -> Iterator[Record]:
    """Measure `PathSearchCV` with four scorers."""

    def side(search: type[GridSearchCV], scoring: str) -> Side:
        return lambda problem, candidates: split_scores(
            search, KELMClassifier(), problem, candidates, scoring
        )

    for scoring in ("accuracy", "matthews_corrcoef", "f1", "roc_auc"):
        ours, theirs = (
            side(search, scoring) for search in (PathSearchCV, GridSearchCV)
        )
        sides = Sides(ours, "GridSearchCV of the same estimator", theirs)
        yield from _search(f"{name}, {scoring}", sides, data, grid, target, trial)


_K_ELM = Sides(search_of("k-elm"), "GridSearchCV(KernelRidge)", kernel_ridge)
_ELM = Sides(
    search_of("elm", random_state=0),
    "clone and fit",
    search_of("elm", paths=False, random_state=0),
)
_LS_SVM = Sides(
    search_of("ls-svm"), "one fit a candidate", search_of("ls-svm", paths=False)
)
_RKELM = Sides(
    search_of("rk-elm", gamma=0.5, random_state=0),
    "GridSearchCV(Pipeline(kernel at the same centres, Ridge))",
    centres_pipeline,
)
#: The rows of each data set, fewer in a trial.
PROBLEMS: dict[str, Callable[[bool], Problem]] = {
    "wdbc": lambda trial: wdbc(),
    "series": lambda trial: mackey_glass(300 if trial else 5000),
    "digits": lambda trial: digits(150 if trial else 900),
    "satimage": lambda trial: satimage(300 if trial else 4435),
}
_PAIRS, _SIZES, _ROWS = (
    "22 gamma x 22 C x 3 folds",
    "19 L x 22 C x 3 folds",
    "5,000 Mackey-Glass rows",
)

ROWS: dict[str, Run] = {
    "k-elm-wdbc": partial(_search, f"K-ELM, WDBC, {_PAIRS}", _K_ELM, "wdbc", KERNEL_GRID, 40.0),
    "k-elm-series": partial(_search, f"K-ELM, {_ROWS}, {_PAIRS}", _K_ELM, "series", KERNEL_GRID,
    40.0),
    "elm-wdbc": partial(_search, f"ELM, WDBC, {_SIZES}", _ELM, "wdbc", NODES_GRID, 40.0),
    "elm-series": partial(_search, f"ELM, {_ROWS}, {_SIZES}", _ELM, "series", NODES_GRID, 40.0),
    "ls-svm": partial(_search, "LS-SVM, 900 digits, 11 gamma x 12 C x 3 folds", _LS_SVM, "digits",
    WIDE_GRID, 6.0),
    "rk-elm-satimage": partial(
        _search, "RKELM, Satimage, 4,435 rows, 6 L x 36 ridges x 3 folds", _RKELM, "satimage",
        CENTRES_GRID, 30.0
    ),
    "path-search-wdbc": partial(_path_search, f"PathSearchCV, K-ELM, WDBC, {_PAIRS}", "wdbc",
    KERNEL_GRID, 20.0),
    "path-search-digits": partial(
        _path_search, "PathSearchCV, K-ELM, 900 digits, 6 gamma x 6 C x 3 folds", "digits",
        {"gamma": POWERS[::4], "C": POWERS[::4]}, 10.0,
    ),
}  # fmt: skip

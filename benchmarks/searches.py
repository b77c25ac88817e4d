"""Searches of whole grids against scikit-learn and against one fit each, and their growth."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV

from benchmarks.measure import Measurement, Result, Row, in_turn, measured, median_seconds, timed
from benchmarks.problems import (
    Problem,
    Side,
    centres_pipeline,
    classes,
    digits,
    kernel_ridge,
    mackey_glass,
    ridge_pipeline,
    search_of,
    split_scores,
    wdbc,
)
from elmbench import PathSearchCV, load_dataset
from elmbench.errors import DataUnavailableError
from elmbench.models import KELMClassifier
from elmbench.protocol.scaling import scale_columns
from elmbench.specs.grids import candidates
from elmbench.specs.protocol import Scale
from elmbench.work.scoring import best

LONG_SIDE, SUBSET_SECONDS = 60.0, 30.0
"""Seconds from which a side is measured on a subset of the candidates, and the time for the subset."""

LONG_POINT = 12.0
"""The same limit for a point of a scaling; its subset takes half as long."""

Grid = dict[str, list[Any]]
POWERS = [2.0**e for e in range(-8, 14)]
"""22 values of C or gamma: the grid of the KOS-ELM paper with every power."""
KERNEL_GRID: Grid = {"gamma": POWERS, "C": POWERS}
NODES_GRID: Grid = {"n_hidden": list(range(100, 1001, 50)), "C": POWERS}
WIDE_GRID: Grid = {"gamma": [10.0**e for e in range(-10, 1)], "C": [10.0**e for e in range(-1, 11)]}
"""11 x 12 values, the grid of the EEM paper for SVM and LS-SVM."""
CENTRES_GRID: Grid = {"n_landmarks": [50, 100, 200, 400, 800, 1200], "C": [2.0**e for e in range(-5, 31)]}
"""Six numbers of centres, and the 36 ridges of the RKELM paper."""


@dataclass(frozen=True)
class Compared:
    """A search by two sides, measured; choice and scores are compared on the candidates of both."""

    measurement: Measurement
    subset: str
    same_choice: bool
    difference: float

    def result(self, **facts: Any) -> Result:
        """Return the line of the benchmark; `facts` are the other attributes of `Result`."""
        facts |= {"subset": self.subset, "same_choice": self.same_choice, "difference": self.difference}
        return measured(self.measurement, **facts)


def compare(
    problem: Problem,
    grid: Grid,
    ours: Side,
    theirs: Side,
    longest: float = LONG_SIDE,
    allowed: float = SUBSET_SECONDS,
) -> Compared:
    """Measure a search by two sides, the second one on a subset of the candidates if all take too long."""
    every = candidates(grid)
    order = np.random.default_rng(0).permutation(len(every))
    ours(problem, every[:2])  # loads and compiles
    pilot = order[:3]
    spent, _ = timed(lambda: theirs(problem, [every[i] for i in pilot]))
    each = spent.wall / len(pilot)
    size = len(every) if len(every) * each <= longest else min(len(every), max(3, int(allowed / each)))
    chosen = sorted(order[:size])
    few = [every[i] for i in chosen]
    rounds = in_turn(lambda: ours(problem, every), lambda: theirs(problem, few), scale=len(every) / size)
    our_scores, their_scores = rounds.our_result[chosen], rounds.their_result
    subset = f"{size} of {len(every)} candidates at random" if size < len(every) else ""
    difference = float(np.max(np.abs(our_scores - their_scores)))
    return Compared(rounds, subset, best(our_scores) == best(their_scores), difference)


def least_operations(problem: Problem, grid: Grid) -> float:
    """Return the operations that a search of a direct method cannot avoid, with all values of C at once.

    They are one Gram or kernel matrix a fold (of the most nodes, or for each gamma), one Cholesky factor for each size
    or gamma, and the solutions and predictions for each C.
    """
    n, d = problem.X.shape
    kernel, ridges = "gamma" in grid, len(grid["C"]) * max(1, len(problem.labels or ()) - 1)
    total = 0.0
    for train, test in problem.folds:
        sizes = [len(train)] * len(grid["gamma"]) if kernel else next(iter(grid.values()))
        total += len(sizes) * n**2 * d / len(problem.folds) if kernel else 2 * n * max(sizes) * d
        total += 0.0 if kernel else len(train) * max(sizes) * min(max(sizes), len(train))
        for size in sizes:
            order = min(size, len(train))
            total += order**3 / 3 + 2 * ridges * (order**2 + len(test) * size)
    return total


def satimage(rows: int) -> Problem:
    """Return random rows of Satimage, scaled to [-1, 1]."""
    data = load_dataset("satimage", os.environ.get("ELMBENCH_DATA_DIR"))
    chosen = np.random.default_rng(0).permutation(len(data.y))[:rows]
    X = scale_columns(data.X, slice(None), Scale(range=(-1.0, 1.0)))[chosen]
    return classes(X, np.asarray(data.y)[chosen], "accuracy", tuple(range(6)))


def _row(
    key: str,
    name: str,
    against: str,
    problem: Callable[[bool], Problem],
    grid: Grid,
    ours: Side,
    theirs: Side,
    **facts: Any,
) -> Row:
    def run(trial: bool) -> Iterator[Result]:
        used = {parameter: values[:: 5 if len(values) > 6 else 3] for parameter, values in grid.items()}
        try:
            rows = problem(trial)
        except DataUnavailableError as error:
            yield Result(name, against, skipped=f"{error.found}")
            return
        values = used if trial else grid
        least = least_operations(rows, values)
        yield compare(rows, values, ours, theirs).result(name=name, against=against, operations=least, **facts)

    return Row(key, run)


def slope(x: Sequence[float], seconds: Sequence[float]) -> float:
    """Return the slope of the least-squares line through the points on logarithmic axes."""
    return float(np.polyfit(np.log(x), np.log(seconds), 1)[0])


def _scaling(
    key: str,
    name: str,
    against: str,
    axis: str,
    sizes: list[int],
    case: Callable[[int], tuple[Problem, Grid]],
    ours: Side,
    theirs: Side,
) -> Row:
    """Return the row of a search at several sizes, the first two divided by five in a trial.

    Its ratio is that of the largest size.
    """

    def run(trial: bool) -> Iterator[Result]:
        used = [max(size // 5, i + 1) for i, size in enumerate(sizes[:2])] if trial else sizes
        points: dict[str, Any] = {"axis": axis, "x": used, "ours": [], "theirs": []}
        for size in used:
            compared = compare(*case(size), ours, theirs, longest=LONG_POINT, allowed=LONG_POINT / 2)
            rounds = compared.measurement
            points["ours"].append(median_seconds(rounds.ours).cpu)
            points["theirs"].append((median_seconds(rounds.theirs) * rounds.scale).cpu)
        points |= {"slope": slope(used, points["ours"]), "slope_against": slope(used, points["theirs"])}
        slopes = f"slopes {points['slope']:.2f} and {points['slope_against']:.2f}"
        note = f"{slopes} over {axis} {used[0]:,} to {used[-1]:,}; the ratio is at the largest"
        yield compared.result(name=name, against=against, note=note, points=points)

    return Row(key, run)


def _path_search(key: str, name: str, problem: Callable[[bool], Problem], grid: Grid, target: float) -> Row:
    """Return the row of `PathSearchCV` with four scorers."""

    def side(search: type[GridSearchCV], scoring: str) -> Side:
        return lambda problem, candidates: split_scores(search, KELMClassifier(), problem, candidates, scoring)

    against = "GridSearchCV of the same estimator"
    rows = [
        _row(
            key, f"{name}, {scoring}", against, problem, grid,
            side(PathSearchCV, scoring), side(GridSearchCV, scoring), target=target,
        )
        for scoring in ("accuracy", "matthews_corrcoef", "f1", "roc_auc")
    ]  # fmt: skip
    return Row(key, lambda trial: chain.from_iterable(row.run(trial) for row in rows))


def _wdbc(trial: bool) -> Problem:
    return wdbc()


def _series(trial: bool) -> Problem:
    return mackey_glass(300 if trial else 5000)


def _digits(trial: bool) -> Problem:
    return digits(150 if trial else 900)


_KERNEL_RIDGE, _PIPELINE = "GridSearchCV(KernelRidge)", "GridSearchCV(Pipeline(hidden nodes, Ridge))"
_CLONE = "clone and fit"
_K_ELM, _LS_SVM, _ELM = search_of("k-elm"), search_of("ls-svm"), search_of("elm", random_state=0)
_ELM_ONE_BY_ONE = search_of("elm", paths=False, random_state=0)
_PAIRS, _SIZES = "22 gamma x 22 C x 3 folds", "19 L x 22 C x 3 folds"
_WIDE = "LS-SVM, 900 digits, 11 gamma x 12 C x 3 folds"
_ELM_WDBC, _ELM_SERIES = f"ELM, WDBC, {_SIZES}", f"ELM, 5,000 Mackey-Glass rows, {_SIZES}"

ROWS = [
    _row("k-elm-wdbc", f"K-ELM, WDBC, {_PAIRS}", _KERNEL_RIDGE, _wdbc, KERNEL_GRID, _K_ELM, kernel_ridge, target=40.0),
    _row(
        "k-elm-series", f"K-ELM, 5,000 Mackey-Glass rows, {_PAIRS}", _KERNEL_RIDGE,
        _series, KERNEL_GRID, _K_ELM, kernel_ridge, target=40.0,
    ),
    _row("elm-wdbc", _ELM_WDBC, _CLONE, _wdbc, NODES_GRID, _ELM, _ELM_ONE_BY_ONE, target=40.0),
    _row("elm-wdbc-pipeline", _ELM_WDBC, _PIPELINE, _wdbc, NODES_GRID, _ELM, ridge_pipeline),
    _row("elm-series", _ELM_SERIES, _CLONE, _series, NODES_GRID, _ELM, _ELM_ONE_BY_ONE, target=40.0),
    _row(
        "ls-svm", _WIDE, "one fit a candidate",
        _digits, WIDE_GRID, _LS_SVM, search_of("ls-svm", paths=False), target=6.0,
    ),
    _row(
        "rk-elm-satimage", "RKELM, Satimage, 4,435 rows, 6 L x 36 ridges x 3 folds",
        "GridSearchCV(Pipeline(kernel at the same centres, Ridge))", lambda trial: satimage(300 if trial else 4435),
        CENTRES_GRID, search_of("rk-elm", gamma=0.5, random_state=0), centres_pipeline, target=30.0,
    ),
    _path_search("path-search-wdbc", f"PathSearchCV, K-ELM, WDBC, {_PAIRS}", _wdbc, KERNEL_GRID, 20.0),
    _path_search(
        "path-search-digits", "PathSearchCV, K-ELM, 900 digits, 6 gamma x 6 C x 3 folds", _digits,
        {"gamma": POWERS[::4], "C": POWERS[::4]}, 10.0,
    ),
    _scaling(
        "scaling-rows", "K-ELM, 2 gamma x 22 C x 3 folds", _KERNEL_RIDGE, "rows", [500, 1000, 2000, 4000],
        lambda n: (mackey_glass(n), {"gamma": [2.0**-2, 2.0**2], "C": POWERS}), _K_ELM, kernel_ridge,
    ),
    _scaling(
        "scaling-nodes", "ELM, 4 L up to the largest x 22 C x 3 folds, 2,000 rows", "clone and fit", "largest L",
        [100, 200, 400, 800, 1600],
        lambda L: (mackey_glass(2000), {"n_hidden": [L // 4, L // 2, 3 * L // 4, L], "C": POWERS}),
        _ELM, _ELM_ONE_BY_ONE,
    ),
    _scaling(
        "scaling-candidates", "K-ELM, 1 gamma x values of C x 3 folds, 1,000 rows", _KERNEL_RIDGE, "candidates",
        [1, 4, 16, 64, 256],
        lambda count: (mackey_glass(1000), {"gamma": [1.0], "C": np.geomspace(2.0**-8, 2.0**13, count).tolist()}),
        _K_ELM, kernel_ridge,
    ),
]  # fmt: skip

"""How what a search takes grows with the rows, with the hidden nodes and with the candidates."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.measure import median_seconds
from benchmarks.problems import Problem, mackey_glass
from benchmarks.row import Result, Row
from benchmarks.searches import POWERS, compare
from benchmarks.sides import Side, kernel_ridge, search_of

LONG_POINT = 12.0
"""Seconds from which the other side of a point is measured on a subset of the candidates, for half as long."""


def slope(x: Sequence[float], seconds: Sequence[float]) -> float:
    """Return the slope of the least-squares line through the points on logarithmic axes."""
    return float(np.polyfit(np.log(x), np.log(seconds), 1)[0])


def _scaling(
    name: str,
    against: str,
    axis: str,
    sizes: list[int],
    case: Callable[[int], tuple[Problem, dict[str, list[Any]]]],
    ours: Side,
    theirs: Side,
) -> Result:
    """Measure both sides at every size; the ratio is that of the largest."""
    points: dict[str, Any] = {"axis": axis, "x": sizes, "ours": [], "theirs": []}
    for size in sizes:
        found = compare(*case(size), ours, theirs, longest=LONG_POINT, allowed=LONG_POINT / 2)
        points["ours"].append(median_seconds(found.measurement.ours).cpu)
        points["theirs"].append((median_seconds(found.measurement.theirs) * found.measurement.scale).cpu)
    points["slope"] = slope(sizes, points["ours"])
    points["slope_against"] = slope(sizes, points["theirs"])
    span = f"{axis} {sizes[0]:,} to {sizes[-1]:,}"
    note = f"slopes {points['slope']:.2f} and {points['slope_against']:.2f} over {span}; the ratio is at the largest"
    return found.result(name=name, against=against, note=note, points=points)


def _rows(trial: bool) -> Iterator[Result]:
    grid = {"gamma": [2.0**-2, 2.0**2], "C": POWERS}
    yield _scaling(
        "K-ELM, 2 gamma x 22 C x 3 folds", "GridSearchCV(KernelRidge)", "rows",
        [100, 200] if trial else [500, 1000, 2000, 4000],
        lambda n: (mackey_glass(n), grid), search_of("k-elm"), kernel_ridge,
    )  # fmt: skip


def _nodes(trial: bool) -> Iterator[Result]:
    problem = mackey_glass(200 if trial else 2000)
    yield _scaling(
        "ELM, 4 L up to the largest x 22 C x 3 folds, 2,000 rows", "clone and fit", "largest L",
        [20, 40] if trial else [100, 200, 400, 800, 1600],
        lambda size: (problem, {"n_hidden": [size // 4, size // 2, 3 * size // 4, size], "C": POWERS}),
        search_of("elm", random_state=0), search_of("elm", paths=False, random_state=0),
    )  # fmt: skip


def _candidates(trial: bool) -> Iterator[Result]:
    problem = mackey_glass(100 if trial else 1000)
    yield _scaling(
        "K-ELM, 1 gamma x values of C x 3 folds, 1,000 rows", "GridSearchCV(KernelRidge)", "candidates",
        [2, 4] if trial else [1, 4, 16, 64, 256],
        lambda count: (problem, {"gamma": [1.0], "C": np.geomspace(2.0**-8, 2.0**13, count).tolist()}),
        search_of("k-elm"), kernel_ridge,
    )  # fmt: skip


ROWS = [Row("scaling-rows", _rows), Row("scaling-nodes", _nodes), Row("scaling-candidates", _candidates)]

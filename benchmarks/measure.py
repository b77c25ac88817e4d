"""Processor times of two sides in turn, and the records of the benchmark."""

import gc
import math
import os
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
#: A line of the benchmark as `bench.json` has it, before its row and environment are added.
Record = dict[str, Any]
#: Measures a row and yields its records; True for a trial, which has small sizes.
Run = Callable[[bool], Iterable[Record]]

#: Seconds of a round, both sides together, from which a row is measured twice instead of
#: `MOST_ROUNDS` times.
LONG_ROUND, MOST_ROUNDS = 30.0, 5
#: Largest difference between scores that count as the same.
EQUAL = 1e-8


def cpu_seconds() -> float:
    """Return the processor time of this process and of its ended children so far."""
    children = os.times()
    return time.process_time() + children.children_user + children.children_system


def time_call(task: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor seconds of `work()` and its result."""
    gc.collect()
    start = cpu_seconds()
    result = task()
    return cpu_seconds() - start, result


@cache
def dgemm_rate() -> float:
    """Return the floating-point operations a second of the product of two matrices of 2,000 rows,
    the best of five.
    """
    A, B = (np.random.default_rng(i).random((2000, 2000)) for i in (0, 1))
    return 2 * 2000**3 / min(time_call(lambda: A @ B)[0] for _ in range(5))


@dataclass(frozen=True)
class Rounds:
    """The seconds of both sides, one a round, and the results of the first round."""

    ours: Sequence[float]
    theirs: Sequence[float]
    our_result: Any = None
    their_result: Any = None


def rounds_for(first: float) -> int:
    """Return the number of rounds of a row, from the seconds of the first one, both sides
    together.
    """
    return 2 if first > LONG_ROUND else MOST_ROUNDS


def in_turn(
    ours: Callable[[], Any], theirs: Callable[[], Any], *, scale: float = 1.0
) -> Rounds:
    """Measure two sides in turn, `theirs` first, for several rounds.

    The times of `theirs` are multiplied by `scale`, if it does only a part of the work.
    """
    their_seconds, their_result = time_call(theirs)
    our_seconds, our_result = time_call(ours)
    rounds = [(their_seconds, our_seconds)]
    for _ in range(rounds_for(their_seconds + our_seconds) - 1):
        rounds.append((time_call(theirs)[0], time_call(ours)[0]))
    return Rounds(
        [ours for _, ours in rounds],
        [scale * theirs for theirs, _ in rounds],
        our_result,
        their_result,
    )


def make_record(
    name: str,
    against: str,
    rounds: Rounds | None = None,
    *,
    operations: float | None = None,
    **facts: Any,
) -> Record:
    """Return a line of the benchmark; the ratio of a round is the time of the other side over ours.

    `operations`: the least floating-point operations of the work; their time at the rate of dgemm
    over ours is the `share` of the bound. `facts`: `target`, the ratio to reach; `subset`, the
    candidates that the other side was measured on, if not all; `same_choice`, True if both sides
    chose the same candidate; `largest_difference` between their scores; `note`; `skipped`, the
    reason why there are no `rounds`.
    """
    defaults = dict.fromkeys(("target", "same_choice", "largest_difference", "skipped"))
    facts = {"subset": "", "note": "", **defaults, **facts}
    result: Record = {"name": name, "against": against, "met": None, **facts}
    if rounds is None:
        return result | dict.fromkeys(
            ("ratio", "spread", "share", "cpu_seconds", "against_cpu_seconds")
        )
    ratios = [
        theirs / max(ours, 1e-6)
        for ours, theirs in zip(rounds.ours, rounds.theirs, strict=True)
    ]
    ratio, target, difference = (
        statistics.median(ratios),
        facts["target"],
        facts["largest_difference"],
    )
    if target is not None:
        result["met"] = (
            ratio >= target
            and facts["same_choice"] is not False
            and (difference or 0.0) <= EQUAL
        )
    if difference is not None and not math.isfinite(difference):
        result["largest_difference"] = 1e308  # JSON has no infinity
    seconds = {
        "cpu_seconds": statistics.median(rounds.ours),
        "against_cpu_seconds": statistics.median(rounds.theirs),
    }
    share = (
        None
        if operations is None
        else operations / dgemm_rate() / seconds["cpu_seconds"]
    )
    return (
        result
        | seconds
        | {"ratio": ratio, "spread": [min(ratios), max(ratios)], "share": share}
    )

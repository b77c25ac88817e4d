"""Times of two sides in turn, and the records of the benchmark."""

import gc
import math
import resource
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

#: Seconds of a round, both sides together, from which a row is measured twice instead of five times.
LONG_ROUND = 30.0
#: Largest difference between scores that count as the same.
EQUAL = 1e-8
#: Positions in an array of seconds: the processor time of this process and its ended children, and the wall time.
CPU, WALL = 0, 1


def cpu_seconds() -> float:
    """Return the processor time of this process and of its ended children so far."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def time_call(work: Callable[[], Any]) -> tuple[Array, Any]:
    """Return the seconds of `work()`, indexed by `CPU` and `WALL`, and its result."""
    gc.collect()
    wall, cpu = time.perf_counter(), cpu_seconds()
    result = work()
    return np.array([cpu_seconds() - cpu, time.perf_counter() - wall]), result


@cache
def dgemm_rate() -> float:
    """Return the floating-point operations a second of the product of two matrices of 2,000 rows, the best of five."""
    A, B = (np.random.default_rng(i).random((2000, 2000)) for i in (0, 1))
    return 2 * 2000**3 / min(time_call(lambda: A @ B)[0][CPU] for _ in range(5))


@cache
def copy_rate() -> float:
    """Return the bytes a second that a copy of a matrix of 5,000 rows reads and writes, the best of five."""
    source, target = np.ones((5000, 5000)), np.empty((5000, 5000))
    return 2 * source.nbytes / min(time_call(lambda: np.copyto(target, source))[0][CPU] for _ in range(5))


@dataclass(frozen=True)
class Rounds:
    """The seconds of both sides, of shape (n_rounds, 2), and the results of the first round."""

    ours: Array
    theirs: Array
    our_result: Any = None
    their_result: Any = None

    @property
    def ratios(self) -> list[float]:
        """The other side's processor time over ours, one a round: a slow minute of the machine cancels."""
        ratios: list[float] = (self.theirs[:, CPU] / self.ours[:, CPU]).tolist()
        return ratios


def rounds_for(first: float) -> int:
    """Return the number of rounds of a row, from the wall seconds of the first one, both sides together."""
    return 2 if first > LONG_ROUND else 5


def in_turn(ours: Callable[[], Any], theirs: Callable[[], Any], *, scale: float = 1.0) -> Rounds:
    """Measure two sides in turn, `theirs` first, for several rounds.

    The times of `theirs` are multiplied by `scale`, if it does only a part of the work.
    """
    their_seconds, their_result = time_call(theirs)
    our_seconds, our_result = time_call(ours)
    rounds = [(their_seconds, our_seconds)]
    for _ in range(rounds_for(their_seconds[WALL] + our_seconds[WALL]) - 1):
        rounds.append((time_call(theirs)[0], time_call(ours)[0]))
    times = np.array(rounds)
    return Rounds(times[:, 1], scale * times[:, 0], our_result, their_result)


def make_record(
    rounds: Rounds, name: str, against: str, *, operations: float | None = None, of_bound: bool = False, **facts: Any
) -> Record:
    """Return the record of two sides; `facts` are the other arguments of `record`.

    The share of the bound is that of `operations` at the rate of dgemm, or the ratio if the other side is the bound.
    """
    ours, theirs = (np.median(seconds, axis=0) for seconds in (rounds.ours, rounds.theirs))
    if of_bound:
        facts["share"] = statistics.median(rounds.ratios)
    elif operations is not None:
        facts["share"] = operations / dgemm_rate() / ours[CPU]
    return record(name, against, rounds.ratios, ours, theirs, **facts)


def record(
    name: str,
    against: str,
    ratios: Sequence[float] = (),
    ours: Array | None = None,
    theirs: Array | None = None,
    **facts: Any,
) -> Record:
    """Return a line of the benchmark.

    `ratios`: one a round, the time of the other side over ours; for a bound, the share of it that is reached. `ours`,
    `theirs`: median seconds; of the other side for all candidates, even if it was measured on a subset. `facts`:
    `target`, the ratio to reach; `subset`, the candidates that the other side was measured on, if not all;
    `same_choice`, True if both sides chose the same candidate; `largest_difference` between their scores; `share`, the
    least time of the work on this machine over that of elmbench; `note`; `points` of a scaling (`x`, `ours`, `theirs`,
    `slope`, `slope_against`, `axis`); `skipped`, the reason why it was not measured.
    """
    defaults = dict.fromkeys(("target", "same_choice", "largest_difference", "share", "points", "skipped"))
    facts = {"subset": "", "note": "", **defaults, **facts}
    ratio, target, difference = (
        statistics.median(ratios) if ratios else None,
        facts["target"],
        facts["largest_difference"],
    )
    met = None
    if target is not None and ratio is not None:
        met = ratio >= target and facts["same_choice"] is not False and (difference is None or difference <= EQUAL)
    if difference is not None and not math.isfinite(difference):
        facts["largest_difference"] = 1e308  # JSON has no infinity
    times = {
        f"{prefix}{kind}_seconds": None if seconds is None else float(seconds[i])
        for prefix, seconds in (("", ours), ("against_", theirs))
        for i, kind in enumerate(("cpu", "wall"))
    }
    spread = [min(ratios), max(ratios)] if ratios else None
    head = {"ratio": ratio, "met": met, "name": name, "against": against, "rounds": len(ratios), "spread": spread}
    return head | times | facts | {"extrapolated": bool(facts["subset"])}

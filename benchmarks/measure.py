"""Timing of two sides in turn."""

import gc
import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

LONG_ROUND = 30.0
"""Seconds of a round, both sides together, from which a row is measured twice instead of five times."""


@dataclass(frozen=True)
class Seconds:
    """What a piece of work took: `cpu` of this process and of those that it has waited for, and `wall`."""

    cpu: float
    wall: float

    def __add__(self, other: "Seconds") -> "Seconds":
        return Seconds(self.cpu + other.cpu, self.wall + other.wall)

    def __mul__(self, factor: float) -> "Seconds":
        return Seconds(self.cpu * factor, self.wall * factor)


def cpu_seconds() -> float:
    """Return the processor time of this process and of its ended children so far."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def timed(work: Callable[[], Any]) -> tuple[Seconds, Any]:
    """Return what `work()` takes, and what it returns."""
    gc.collect()
    wall, cpu = time.perf_counter(), cpu_seconds()
    found = work()
    return Seconds(cpu_seconds() - cpu, time.perf_counter() - wall), found


@dataclass
class Measurement:
    """The rounds of a row, one item of `ours` and of `theirs` each, and what the first round of either side returned.

    What the other side took stands for `scale` times as much.
    """

    scale: float = 1.0
    ours: list[Seconds] = field(default_factory=list)
    theirs: list[Seconds] = field(default_factory=list)
    our_result: Any = None
    their_result: Any = None

    @property
    def ratios(self) -> list[float]:
        """The other side's processor time over ours, a round each: neighbours in time, so a slow minute cancels."""
        return [self.scale * b.cpu / a.cpu for a, b in zip(self.ours, self.theirs, strict=True)]


def rounds_for(first: float) -> int:
    """Return how many rounds a row is measured for, by the wall seconds of the first one, both sides together."""
    return 2 if first > LONG_ROUND else 5


def in_turn(ours: Callable[[], Any], theirs: Callable[[], Any], *, scale: float = 1.0) -> Measurement:
    """Measure two sides one after the other, `theirs` first, again and again; for `scale` see `Measurement`."""
    found = Measurement(scale)
    while not found.ours or len(found.ours) < rounds_for(found.ours[0].wall + found.theirs[0].wall):
        seconds, result = timed(theirs)
        found.theirs.append(seconds)
        found.their_result = result if found.their_result is None else found.their_result
        seconds, result = timed(ours)
        found.ours.append(seconds)
        found.our_result = result if found.our_result is None else found.our_result
        del result
    return found


def median_seconds(rounds: list[Seconds]) -> Seconds:
    """Return the median processor time and the median wall time."""
    return Seconds(statistics.median(s.cpu for s in rounds), statistics.median(s.wall for s in rounds))

"""Timing of two sides in turn, and the rows and results of the benchmark."""

import gc
import math
import resource
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any

import numpy as np

LONG_ROUND = 30.0
"""Seconds of a round, both sides together, from which a row is measured twice instead of five times."""

EQUAL = 1e-8
"""Largest difference between scores that count as the same."""


@dataclass(frozen=True)
class Seconds:
    """Time of a piece of work: `cpu` of this process and its ended children, and `wall`."""

    cpu: float
    wall: float

    def __add__(self, other: "Seconds") -> "Seconds":
        return Seconds(self.cpu + other.cpu, self.wall + other.wall)

    def __sub__(self, other: "Seconds") -> "Seconds":
        return Seconds(self.cpu - other.cpu, self.wall - other.wall)

    def __mul__(self, factor: float) -> "Seconds":
        return Seconds(self.cpu * factor, self.wall * factor)


def cpu_seconds() -> float:
    """Return the processor time of this process and of its ended children so far."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def timed(work: Callable[[], Any]) -> tuple[Seconds, Any]:
    """Return the time of `work()` and its result."""
    gc.collect()
    wall, cpu = time.perf_counter(), cpu_seconds()
    result = work()
    return Seconds(cpu_seconds() - cpu, time.perf_counter() - wall), result


@cache
def dgemm_rate() -> float:
    """Return the floating-point operations a second of the product of two matrices of 2,000 rows, the best of five."""
    A, B = (np.random.default_rng(i).random((2000, 2000)) for i in (0, 1))
    return 2 * 2000**3 / min(timed(lambda: A @ B)[0].cpu for _ in range(5))


def median_seconds(rounds: list[Seconds]) -> Seconds:
    """Return the median processor time and the median wall time."""
    return Seconds(statistics.median(s.cpu for s in rounds), statistics.median(s.wall for s in rounds))


@dataclass
class Measurement:
    """The times of both sides in each round, and the results of the first round.

    The other side is extrapolated by `scale` if it was measured on a part of the work.
    """

    scale: float = 1.0
    ours: list[Seconds] = field(default_factory=list)
    theirs: list[Seconds] = field(default_factory=list)
    our_result: Any = None
    their_result: Any = None

    @property
    def ratios(self) -> list[float]:
        """The other side's processor time over ours, one a round: a slow minute of the machine cancels."""
        return [self.scale * b.cpu / a.cpu for a, b in zip(self.ours, self.theirs, strict=True)]


def rounds_for(first: float) -> int:
    """Return the number of rounds of a row, from the wall seconds of the first one, both sides together."""
    return 2 if first > LONG_ROUND else 5


def in_turn(ours: Callable[[], Any], theirs: Callable[[], Any], *, scale: float = 1.0) -> Measurement:
    """Measure two sides in turn, `theirs` first, for several rounds."""
    rounds = Measurement(scale)
    while not rounds.ours or len(rounds.ours) < rounds_for(rounds.ours[0].wall + rounds.theirs[0].wall):
        for work, times, name in ((theirs, rounds.theirs, "their_result"), (ours, rounds.ours, "our_result")):
            seconds, result = timed(work)
            times.append(seconds)
            if getattr(rounds, name) is None:
                setattr(rounds, name, result)
            del result
    return rounds


@dataclass(frozen=True)
class Result:
    """One line of the benchmark.

    Attributes
    ----------
    ratios : list of float
        One a round: the time of the other side over ours; for a bound, the share of it that is reached.
    ours, theirs : Seconds or None
        Medians; of the other side for all candidates, also if it was measured on a subset.
    target : float or None
        The ratio to reach.
    subset : str
        The candidates that the other side was measured on, if not all.
    same_choice : bool or None
        Whether both sides chose the same candidate.
    difference : float or None
        Largest difference between the scores of the two sides.
    share : float or None
        Time that the work takes at least on this machine, as a share of the time of elmbench.
    points : dict
        Of a scaling: `x`, `ours`, `theirs` (seconds), `slope`, `slope_against`, `axis`.
    skipped : str
        Reason why it was not measured.
    """

    name: str
    against: str = ""
    ratios: list[float] = field(default_factory=list)
    ours: Seconds | None = None
    theirs: Seconds | None = None
    target: float | None = None
    subset: str = ""
    same_choice: bool | None = None
    difference: float | None = None
    share: float | None = None
    note: str = ""
    points: dict[str, Any] = field(default_factory=dict)
    skipped: str = ""

    @property
    def ratio(self) -> float | None:
        return statistics.median(self.ratios) if self.ratios else None

    @property
    def met(self) -> bool | None:
        """True if the target is met with the same choice and equal scores; None without a target or measurement."""
        if self.target is None or self.ratio is None:
            return None
        equal = self.difference is None or self.difference <= EQUAL
        return self.ratio >= self.target and self.same_choice is not False and equal

    def record(self, environment: str) -> dict[str, Any]:
        """Return the line for JSON, with the machine and software; null if something does not apply."""
        record: dict[str, Any] = {"ratio": self.ratio, "met": self.met, "environment": environment}
        for name, value in asdict(self).items():
            if name in ("ours", "theirs"):
                prefix = "" if name == "ours" else "against_"
                record |= {f"{prefix}{kind}_seconds": value and value[kind] for kind in ("cpu", "wall")}
            elif name == "ratios":
                record |= {"rounds": len(value), "spread": [min(value), max(value)] if value else None}
            elif name == "difference":  # JSON has no infinity
                record["largest_difference"] = value if value is None or math.isfinite(value) else 1e308
            else:
                record[name] = (value or None) if name in ("points", "skipped") else value
        return record | {"extrapolated": bool(self.subset)}


def measured(rounds: Measurement, *, operations: float | None = None, of_bound: bool = False, **facts: Any) -> Result:
    """Return the result of a measurement; `facts` are the other attributes of `Result`.

    Its share of the bound is that of `operations` at the rate of dgemm, or the ratio if the other side is the bound.
    """
    ours, theirs = median_seconds(rounds.ours), median_seconds(rounds.theirs) * rounds.scale
    if of_bound:
        facts["share"] = statistics.median(rounds.ratios)
    elif operations is not None:
        facts["share"] = operations / dgemm_rate() / ours.cpu
    return Result(ratios=rounds.ratios, ours=ours, theirs=theirs, **facts)


@dataclass(frozen=True)
class Row:
    """Something to measure: its key on the command line, and a function that yields results of a trial or not."""

    key: str
    run: Callable[[bool], Iterable[Result]]

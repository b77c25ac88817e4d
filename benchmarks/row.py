"""A row of the benchmark and what is recorded of it."""

import math
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.measure import Measurement, Seconds, median_seconds

EQUAL = 1e-8
"""Largest difference between scores that count as the same."""


@dataclass(frozen=True)
class Result:
    """One line of the benchmark: what was measured, and against what.

    Attributes
    ----------
    ratios : list of float
        One a round: how many times as much the other side takes; of a bound, the share of it that is reached.
    ours, theirs : Seconds or None
        Medians; of the other side for all candidates, also where it was measured on a subset.
    target : float or None
        The ratio that was asked for.
    subset : str
        On what the other side was measured, where not on everything.
    same_choice : bool or None
        Whether both sides chose the same candidate.
    difference : float or None
        Largest difference between the scores of the two sides.
    points : dict
        Of a scaling: `x`, `ours`, `theirs` (seconds), `slope`, `slope_against`, `axis`.
    skipped : str
        Why it was not measured.
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
    note: str = ""
    points: dict[str, Any] = field(default_factory=dict)
    skipped: str = ""

    @property
    def ratio(self) -> float | None:
        return statistics.median(self.ratios) if self.ratios else None

    @property
    def met(self) -> bool | None:
        """Whether the target is met, by the same candidate and equal scores; None without a target or measurement."""
        if self.target is None or self.ratio is None:
            return None
        equal = self.difference is None or self.difference <= EQUAL
        return self.ratio >= self.target and self.same_choice is not False and equal

    def record(self, environment: str) -> dict[str, Any]:
        """Return the line as JSON has it, with the machine and software; what does not apply is null."""
        return {
            "name": self.name,
            "ratio": self.ratio,
            "target": self.target,
            "met": self.met,
            "cpu_seconds": self.ours.cpu if self.ours else None,
            "wall_seconds": self.ours.wall if self.ours else None,
            "against": self.against,
            "against_cpu_seconds": self.theirs.cpu if self.theirs else None,
            "against_wall_seconds": self.theirs.wall if self.theirs else None,
            "extrapolated": bool(self.subset),
            "subset": self.subset,
            "rounds": len(self.ratios),
            "spread": [min(self.ratios), max(self.ratios)] if self.ratios else None,
            "same_choice": self.same_choice,
            "largest_difference": _number(self.difference),
            "note": self.note,
            "points": self.points or None,
            "skipped": self.skipped or None,
            "environment": environment,
        }


def _number(value: float | None) -> float | None:
    """Return what JSON can hold; a difference that is not finite is larger than any."""
    return value if value is None or math.isfinite(value) else 1e308


def measured(measurement: Measurement, **facts: Any) -> Result:
    """Return the result of a measurement; `facts` are the attributes of `Result` that it does not determine."""
    theirs = median_seconds(measurement.theirs) * measurement.scale
    return Result(ratios=measurement.ratios, ours=median_seconds(measurement.ours), theirs=theirs, **facts)


@dataclass(frozen=True)
class Row:
    """Something to measure: its key on the command line, and what yields results, given whether it is a trial."""

    key: str
    run: Callable[[bool], Iterable[Result]]

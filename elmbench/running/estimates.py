"""Estimates of the duration of work: a formula for each model, corrected by the work that has ended."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

from elmbench.specs.limits import Limits
from elmbench.work.base import Work

#: A kind of work, a model and a data set: the formula is wrong by much the same factor for all such work.
Group = tuple[str, str, str]
#: The least seconds that are counted for some work.
_LEAST = 1e-3
#: Work that exceeds its estimate is expected to take this share of its elapsed time in addition.
_OVERDUE = 0.3


class Estimates:
    """Estimated seconds of each piece of work.

    `works`: by key. `limits`: by key; work ends at its time limit, or at once if its model needs more memory than the
    limit. `formula`: seconds by the formula of the model alone, by key; for the order of work and for shares.
    """

    def __init__(self, works: Mapping[str, Work], limits: Mapping[str, Limits]) -> None:
        self.formula = {key: max(_limited_seconds(work, limits[key]), _LEAST) for key, work in works.items()}
        self.groups: dict[str, Group] = {
            key: (work.kind, work.model_name, work.data.name if work.data is not None else "")
            for key, work in works.items()
        }
        self._unknown = {self.groups[key] for key, work in works.items() if not work.has_formula}
        #: Seconds of ended work, and seconds by its formula, by group and by kind and model.
        self._durations: dict[tuple[str, ...], tuple[float, float]] = {}

    def note(self, key: str, seconds: float) -> None:
        """Record the duration of some work."""
        group = self.groups[key]
        for name in (group, group[:2]):
            actual, formula = self._durations.get(name, (0.0, 0.0))
            self._durations[name] = actual + max(seconds, _LEAST), formula + self.formula[key]

    def factor(self, group: Group) -> float | None:
        """Return the ratio of real to formula seconds of the work of a group that has ended, else of its model, else 1.

        None if the model has no formula and none of its work has ended.
        """
        if durations := self._durations.get(group) or self._durations.get(group[:2]):
            actual, formula = durations
            return actual / formula
        return None if group in self._unknown else 1.0

    def seconds(self, key: str) -> float | None:
        """Return the estimated seconds of some work; None if its model has no formula and no such work has ended."""
        factor = self.factor(self.groups[key])
        return None if factor is None else factor * self.formula[key]


def _limited_seconds(work: Work, limits: Limits) -> float:
    """Return the rough seconds of some work under its limits; 0 if it cannot run."""
    try:
        if limits.memory is not None and work.memory_over(limits.memory):
            return 0.0
        return min(work.seconds(), limits.seconds or float("inf"))
    except Exception:  # noqa: BLE001 - the model refuses its parameters, which ends its cell and no other
        return 0.0


class RemainingTime:
    """The remaining time of a run, from the work that has ended.

    `estimates`: receives the durations of the run's work. `todo`: keys of the work to be done. `clock`: returns the
    time in seconds.
    """

    def __init__(self, estimates: Estimates, todo: Iterable[str], clock: Callable[[], float] = time.monotonic) -> None:
        self._estimates = estimates
        self._clock = clock
        self._start_time = clock()
        self._running: dict[str, float] = {}
        #: The seconds by the formula of waiting work, by group and key.
        self._waiting: dict[Group, dict[str, float]] = {}
        for key in todo:
            self._waiting.setdefault(estimates.groups[key], {})[key] = estimates.formula[key]

    @property
    def elapsed_time(self) -> float:
        """Seconds since the run began."""
        return self._clock() - self._start_time

    def start(self, key: str) -> None:
        """Record that some work has begun."""
        self._waiting.get(self._estimates.groups[key], {}).pop(key, None)
        self._running[key] = self._clock()

    def end(self, key: str) -> None:
        """Record that some work has ended."""
        self.start(key)
        del self._running[key]

    def estimate(self, workers: int) -> tuple[float, bool]:
        """Return the remaining seconds on this number of workers, and False if models of unknown duration are left out.

        If there is no worker yet, the seconds are those of one.
        """
        seconds, complete = 0.0, True
        for group, formulas in self._waiting.items():
            factor = self._estimates.factor(group)
            seconds += (factor or 0.0) * sum(formulas.values())
            complete = complete and not (formulas and factor is None)
        for key, start_time in self._running.items():
            factor, spent = self._estimates.factor(self._estimates.groups[key]), self._clock() - start_time
            expected = (factor or 0.0) * self._estimates.formula[key]
            seconds += max(expected - spent, _OVERDUE * spent)
            complete = complete and factor is not None
        return seconds / max(workers, 1), complete

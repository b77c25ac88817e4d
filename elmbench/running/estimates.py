"""Estimates of the duration of work: a formula for each model, corrected by the work that has ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain

from elmbench.specs.limits import Limits
from elmbench.work.base import Work

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
        #: The formula is wrong by much the same factor for all work of a kind, a model and a data set.
        self._groups = {
            key: (work.kind, work.model_name, work.data.name if work.data is not None else "")
            for key, work in works.items()
        }
        self._unknown = {self._groups[key] for key, work in works.items() if not work.has_formula}
        #: Seconds of ended work, and seconds by its formula, by group and by kind and model.
        self._durations: dict[tuple[str, ...], tuple[float, float]] = {}

    def note(self, key: str, seconds: float) -> None:
        """Record the duration of some work."""
        group = self._groups[key]
        for name in (group, group[:2]):
            actual, formula = self._durations.get(name, (0.0, 0.0))
            self._durations[name] = actual + max(seconds, _LEAST), formula + self.formula[key]

    def seconds(self, key: str) -> float | None:
        """Return the estimated seconds of some work: by its formula, corrected by the ended work of its group or model.

        None if its model has no formula and no such work has ended.
        """
        group = self._groups[key]
        if durations := self._durations.get(group) or self._durations.get(group[:2]):
            actual, formula = durations
            return self.formula[key] * actual / formula
        return None if group in self._unknown else self.formula[key]

    def remaining(self, waiting: Iterable[str], running: Mapping[str, float], workers: int) -> tuple[float, bool]:
        """Return the remaining seconds of a run, and False if models of unknown duration are left out.

        `waiting`: keys of work that has not begun. `running`: seconds since the start of work, by key. `workers`: their
        number; if there is none yet, the seconds are those of one.
        """
        total, is_complete = 0.0, True
        for key, spent in chain(((key, 0.0) for key in waiting), running.items()):
            seconds = self.seconds(key)
            total += max((seconds or 0.0) - spent, _OVERDUE * spent)
            is_complete = is_complete and seconds is not None
        return total / max(workers, 1), is_complete


def _limited_seconds(work: Work, limits: Limits) -> float:
    """Return the rough seconds of some work under its limits; 0 if it cannot run."""
    try:
        if limits.memory is not None and work.memory_over(limits.memory):
            return 0.0
        return min(work.seconds(), limits.seconds or float("inf"))
    except Exception:  # noqa: BLE001 - the model refuses its parameters, which ends its cell and no other
        return 0.0

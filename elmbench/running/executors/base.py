"""The seam between a run and where its work is done: what any executor offers, and what comes back from it."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

if TYPE_CHECKING:
    from elmbench.specs.limits import Limits
    from elmbench.work.base import Result, Work

#: Seconds of work beside which the time counts that it takes to store a result.
SHORT = 0.25


@dataclass(frozen=True)
class Done:
    """The outcome of some work.

    `result`: of the work, also where it failed or reached a limit. `seconds`: that the work took. `before`: seconds
    until it could begin: to start a worker and to load the data. `environment`: what it was done with, where that is
    not this machine; empty where it is.
    """

    result: Result
    seconds: float = 0.0
    before: float = 0.0
    environment: Mapping[str, Any] = field(default_factory=dict)


class Executor(Protocol):
    """Takes work and yields what comes of it; a context manager, which ends with all that it has started."""

    @property
    def width(self) -> int:
        """The number of tasks that it takes at a time now, at least 1: workers may join and leave."""

    @property
    def workers(self) -> int:
        """The number of tasks that are worked on at the same time, at least 1."""

    @property
    def fixed(self) -> bool:
        """True if the number of workers is fixed."""

    @property
    def deserted(self) -> bool:
        """True if there is no worker now; workers may still join."""

    @property
    def memory(self) -> int:
        """The default memory limit of a task in bytes."""

    def warm(self) -> None:
        """Start what takes a while before there is work."""

    def submit(self, work: Work, inputs: Mapping[str, Result], limits: Limits) -> Future[Done]:
        """Start some work.

        `inputs`: results of the work that it needs, by key.
        """

    def __enter__(self) -> Self:
        """Return itself."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End at once, with whatever runs."""

"""The seam between a run and where its work is done: what any executor offers, and what comes back from it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

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


class Executor(ABC):
    """Takes work and yields what comes of it; a context manager, which ends with all that it has started.

    `deserted` is True while there is no worker; workers may still join.
    """

    #: True if the number of workers is fixed.
    fixed: ClassVar[bool] = False
    #: Seconds that the latest task took.
    _lately = float("inf")

    @property
    @abstractmethod
    def workers(self) -> int:
        """The number of tasks that are worked on at the same time, at least 1."""

    @property
    @abstractmethod
    def memory(self) -> int:
        """The default memory limit of a task in bytes."""

    @property
    def deserted(self) -> bool:
        return False

    @property
    def width(self) -> int:
        """The number of tasks that it accepts at a time: two for each worker while tasks are short, else one.

        The worker begins it while the result of the one before is kept.
        """
        return self.workers * (2 if self._lately < SHORT else 1)

    @abstractmethod
    def warm(self) -> None:
        """Start what takes a while before there is work."""

    @abstractmethod
    def submit(self, work: Work, inputs: Mapping[str, Result], limits: Limits) -> Future[Done]:
        """Start some work; `inputs` are the results of the work that it needs, by key."""

    @abstractmethod
    def end(self) -> None:
        """End at once, with all running work."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

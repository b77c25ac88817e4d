"""The interface of executors, and the settings of a run as a worker receives them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

from elmbench.specs.limits import Limits

if TYPE_CHECKING:
    from elmbench.work.base import Result, Work

#: Tasks are short below this number of seconds: the time to store a result then matters.
SHORT = 0.25
#: A request for work in the types of JSON; `asked_of` makes it.
Asked = dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """Settings of a run.

    `jobs`: worker processes. `plugins`: plug-in files, loaded by every worker that needs them. `blas_threads`: in every
    worker. It changes the last digits of some results: it is recorded with each cell, but does not belong to its key,
    so stored results are used for any number of threads. `limits`: for all work; they replace those of the experiment.
    `environment`: hash of the environment of this machine in the store. `memory`: default memory limit in bytes; None
    for a job's share of this machine.
    """

    jobs: int = 1
    data_dir: str | None = None
    plugins: tuple[str, ...] = ()
    blas_threads: int = 1
    limits: Limits = field(default_factory=Limits)
    environment: str = ""
    memory: int | None = None


@dataclass(frozen=True)
class Done:
    """The outcome of some work.

    `result`: of the work, even if it failed or reached a limit. `seconds`: its duration. `before`: seconds until it
    could begin, to start a worker and to load the data. `environment`: of the machine that did the work; empty for this
    one.
    """

    result: Result
    seconds: float = 0.0
    before: float = 0.0
    environment: Mapping[str, Any] = field(default_factory=dict)


class Executor(ABC):
    """A context manager that runs work, and ends all that it has started."""

    #: True if the number of workers is fixed.
    fixed: ClassVar[bool] = False
    #: Seconds of the latest task.
    _lately = float("inf")

    @property
    @abstractmethod
    def workers(self) -> int:
        """The number of tasks that run at the same time, at least 1."""

    @property
    @abstractmethod
    def memory(self) -> int:
        """The default memory limit of a task in bytes."""

    @property
    def deserted(self) -> bool:
        """True while there is no worker; workers may still join."""
        return False

    @property
    def width(self) -> int:
        """The number of tasks that it accepts at a time: two for each worker while tasks are short, else one.

        The worker begins the second one while the result of the first is stored.
        """
        return self.workers * (2 if self._lately < SHORT else 1)

    @abstractmethod
    def warm(self) -> None:
        """Start a worker before there is work, which takes a while."""

    @abstractmethod
    def submit(self, work: Work, inputs: Mapping[str, Result], limits: Limits) -> Future[Done]:
        """Start some work; `inputs` are the results of the work that it needs, by key."""

    @abstractmethod
    def end(self) -> None:
        """End the executor and all running work at once."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

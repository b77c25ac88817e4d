"""Executors run the tasks of a plan: on this machine, or on the workers of a dask scheduler.

An executor is added by a file with a class that derives from `Executor`, and an entry in `ENGINES`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from elmbench.errors import ElmbenchError, option, unknown_name
from elmbench.lazy import load_object
from elmbench.specs.limits import Limits

if TYPE_CHECKING:
    from elmbench.tasks.base import Result, Task

#: The class of each executor.
ENGINES = {
    "local": "elmbench.execution.executors.local:LocalExecutor",
    "dask": "elmbench.execution.executors.dask:DaskExecutor",
}


class Load(NamedTuple):
    """The model, data and code that a worker loads before it runs a task."""

    #: The name of the model; empty if there is none.
    model: str = ""
    #: The key of the content that names the data; empty if there are none.
    dataset: str = ""
    #: See `Task.outside_code`.
    outside_code: str = ""


@dataclass(frozen=True)
class PackedTask:
    """A task and its inputs, packed for a worker."""

    #: The task, which a worker can read once it has loaded the plug-ins.
    pickled_task: bytes
    #: The results of the tasks that it needs, by key.
    inputs: Mapping[str, Result]
    load: Load


@dataclass(frozen=True)
class Settings:
    """Settings of a run.

    `jobs`: worker processes. `plugins`: plug-in files, loaded by every worker that needs them.
    `blas_threads`: in every worker. It changes the last digits of some results: it is recorded with
    each cell, but does not belong to its key, so stored results are used for any number of threads.
    `limits`: for all tasks; they replace those of the experiment. `memory`: default memory limit in
    bytes; None for a job's share of this machine.
    """

    jobs: int = 1
    data_dir: str | None = None
    plugins: tuple[str, ...] = ()
    blas_threads: int = 1
    limits: Limits = field(default_factory=Limits)
    memory: int | None = None


@dataclass(frozen=True)
class Answer:
    """The answer of a worker: the outcome of a task.

    `result`: of the task, even if it failed or reached a limit. `seconds`: its duration, without
    that of the start of a worker and of loading the data. `environment`: of the machine that ran
    the task; empty for this one.
    """

    result: Result
    seconds: float = 0.0
    environment: Mapping[str, Any] = field(default_factory=dict)


class Executor(AbstractContextManager["Executor"]):
    """A context manager that runs tasks, and ends all that it has started when it is left."""

    #: True if the number of workers is fixed.
    fixed: ClassVar[bool] = False
    #: True if its arguments are the settings and the address of a scheduler, instead of the
    #: settings alone.
    has_scheduler: ClassVar[bool] = False

    @property
    @abstractmethod
    def workers(self) -> int:
        """The number of tasks that run at the same time.

        It is 0 while there is no worker, but some may join.
        """

    @property
    def memory(self) -> int | None:
        """The default memory limit of a task in bytes.

        None leaves it to the caller, who gives each job an equal share of this machine.
        """
        return None

    @abstractmethod
    def warm(self) -> None:
        """Start a worker in the background before there are tasks.

        For a scheduler, connect to it.
        """

    @abstractmethod
    def submit(
        self, task: Task, inputs: Mapping[str, Result], limits: Limits
    ) -> Future[Answer]:
        """Start a task, and return the future of its answer at once.

        `inputs`: {key: result} of the tasks that it needs. `limits`: of time and memory, for this
        task. A task that fails or reaches a limit has an answer too, and raises nothing.
        """

    @abstractmethod
    def end(self) -> None:
        """End the executor and all running tasks at once."""

    def __exit__(self, *_: object) -> None:
        self.end()


def executor_of(
    engine: str, settings: Settings, scheduler: str | None = None
) -> Executor:
    """Return a new executor of a kind; its workers start later.

    `engine`: "local" or "dask". `scheduler`: address of a dask scheduler, such as
    `tls://host:8786`; None for other engines. Raises ElmbenchError if there is no such engine, dask
    has no scheduler, or another engine has one.
    """
    if engine not in ENGINES:
        raise unknown_name("engine", engine, list(ENGINES), "elmbench run --help")
    executor = load_object(ENGINES[engine])
    if executor.has_scheduler != (scheduler is not None):
        raise ElmbenchError(
            f"the engine {engine} is given {'without' if scheduler is None else 'with'} "
            f"{option('scheduler')}",
            expected="the address of a scheduler with --engine dask, and with it only",
            next_step=f"elmbench run ... --engine dask --scheduler {scheduler or 'tls://HOST:8786'}",
        )
    return executor(settings) if scheduler is None else executor(settings, scheduler)

"""Worker processes on this machine, one for each job."""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import TYPE_CHECKING, Self

from elmbench.running.executors.base import SHORT, Done
from elmbench.running.executors.sandbox import Sandbox, Settings
from elmbench.running.limits import share_of_memory
from elmbench.specs.limits import Limits

if TYPE_CHECKING:
    from elmbench.work.base import Result, Work


class LocalExecutor:
    """A pool of threads, each of which owns a worker process; a context manager.

    `workers`: how many tasks it works on at a time. `memory`: a worker's share of the machine's memory in bytes.
    `fixed`, `deserted`: its workers are started as they are needed: always, and never.
    """

    fixed = True
    deserted = False

    def __init__(self, settings: Settings) -> None:
        self.workers = settings.jobs
        self.memory = share_of_memory(settings.jobs)
        self._sandboxes = [Sandbox(settings) for _ in range(settings.jobs)]
        #: The idle ones; the latest to become idle, which has loaded its data, is the next to work.
        self._idle = self._sandboxes.copy()
        self._pool = ThreadPoolExecutor(settings.jobs)
        #: Seconds that a piece of work has taken lately.
        self._lately = float("inf")

    @property
    def width(self) -> int:
        """The number of tasks that it takes at a time now: if work is short, one more waits for each worker.

        The worker begins it while the result of the one before is kept.
        """
        return self.workers * (2 if self._lately < SHORT else 1)

    def warm(self) -> None:
        """Start a worker before there is work for it."""
        self._idle[-1].warm()

    def submit(self, work: Work, inputs: Mapping[str, Result], limits: Limits) -> Future[Done]:
        """Start some work; see `Executor`."""
        return self._pool.submit(self._run, work, inputs, limits)

    def _run(self, work: Work, inputs: Mapping[str, Result], limits: Limits) -> Done:
        sandbox = self._idle.pop()
        started = time.monotonic()
        try:
            result = sandbox.run(work, inputs, limits)
        finally:
            self._idle.append(sandbox)
        self._lately = time.monotonic() - started - sandbox.before
        return Done(result, self._lately, sandbox.before)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Ending the workers first lets the threads that wait for them return.
        self._pool.shutdown(wait=False, cancel_futures=True)
        for sandbox in self._sandboxes:
            sandbox.stop()
        self._pool.shutdown(wait=True)

"""Worker processes on this machine, one for each job."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import TYPE_CHECKING

from elmbench.execution.executors import Answer, Executor, Settings
from elmbench.execution.executors.sandbox import Sandbox, best_sandbox, task_of
from elmbench.specs.limits import Limits

if TYPE_CHECKING:
    from elmbench.tasks.base import Result, Work


class LocalExecutor(Executor):
    """A pool of threads, each with a worker process that starts when it is needed."""

    fixed = True

    def __init__(self, settings: Settings) -> None:
        self._sandboxes = [Sandbox(settings) for _ in range(settings.jobs)]
        #: The idle sandboxes. Of several whose workers can do some work equally well, the last one
        #: to become idle does it, because it has loaded its data.
        self._idle = self._sandboxes.copy()
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(settings.jobs)

    @property
    def workers(self) -> int:
        return len(self._sandboxes)

    def warm(self) -> None:
        # In a thread: an interrupt of the main thread would leave a worker behind that has no owner
        # yet.
        self._pool.submit(self._idle[-1].warm)

    def submit(
        self, work: Work, inputs: Mapping[str, Result], limits: Limits
    ) -> Future[Answer]:
        # The thread of the pool sees the plug-ins of the comparison.
        return self._pool.submit(copy_context().run, self._run, work, inputs, limits)

    def _run(self, work: Work, inputs: Mapping[str, Result], limits: Limits) -> Answer:
        """Do some work in an idle sandbox."""
        task = task_of(work, inputs)
        with self._lock:
            sandbox = best_sandbox(self._idle, task)
            self._idle.remove(sandbox)
        try:
            return sandbox.ask(task, limits)
        finally:
            self._idle.append(sandbox)

    def end(self) -> None:
        """End the workers first, so that the threads that wait for them return."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        for sandbox in self._sandboxes:
            sandbox.stop()
        self._pool.shutdown(wait=True)

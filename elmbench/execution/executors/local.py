"""Worker processes on this machine, one for each job."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import TYPE_CHECKING

from elmbench.execution.executors import Answer, Executor, Settings
from elmbench.execution.executors.limited_worker import (
    LimitedWorker,
    best_worker,
    pack_task,
)
from elmbench.specs.limits import Limits

if TYPE_CHECKING:
    from elmbench.tasks.base import Result, Task


class LocalExecutor(Executor):
    """A pool of threads, each with a worker process that starts when it is needed."""

    fixed = True

    def __init__(self, settings: Settings) -> None:
        self._limited_workers = [LimitedWorker(settings) for _ in range(settings.jobs)]
        #: The idle workers. Of several whose workers can run a task equally well, the last one
        #: to become idle runs it, because it has loaded its data.
        self._idle = self._limited_workers.copy()
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(settings.jobs)

    @property
    def workers(self) -> int:
        """The number of worker processes, one for each job."""
        return len(self._limited_workers)

    def warm(self) -> None:
        """Start the process of one worker, the one that gets the first task, in the background."""
        # In a thread: an interrupt of the main thread would leave a worker behind that has no owner
        # yet.
        self._pool.submit(self._idle[-1].warm)

    def submit(
        self, task: Task, inputs: Mapping[str, Result], limits: Limits
    ) -> Future[Answer]:
        """Start a task in a thread of the pool, which waits for its worker process.

        Return the future of its answer. `inputs`: {key: result} of the tasks that it needs.
        """
        # The thread of the pool sees the plug-ins of the comparison.
        return self._pool.submit(copy_context().run, self._run, task, inputs, limits)

    def _run(self, task: Task, inputs: Mapping[str, Result], limits: Limits) -> Answer:
        """Run a task in the best idle worker, wait for its answer, and make the worker idle again.

        It is called in a thread of the pool, which has as many threads as there are workers, so
        that one is idle. `inputs`: {key: result} of the tasks that it needs.
        """
        packed = pack_task(task, inputs)
        with self._lock:
            worker = best_worker(self._idle, packed)
            self._idle.remove(worker)
        try:
            return worker.ask(packed, limits)
        finally:
            self._idle.append(worker)

    def end(self) -> None:
        """End all workers and their tasks, and wait for the threads.

        The workers end first, so that the threads that wait for them return. Tasks that have not
        begun are cancelled.
        """
        self._pool.shutdown(wait=False, cancel_futures=True)
        for worker in self._limited_workers:
            worker.stop()
        self._pool.shutdown(wait=True)

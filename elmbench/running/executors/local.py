"""Worker processes on this machine, one for each job."""

import threading
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

from elmbench.running.executors.sandbox import Sandbox, Settings
from elmbench.specs.limits import Limits
from elmbench.work.base import Result, Work


class LocalExecutor:
    """A pool of threads, each of which owns a worker process; a context manager.

    Attributes
    ----------
    width : int
        How many tasks it works on at a time.
    """

    def __init__(self, settings: Settings) -> None:
        self.width = settings.jobs
        self._settings = settings
        self._local = threading.local()
        self._owned: list[Sandbox] = []
        self._pool = ThreadPoolExecutor(settings.jobs)

    def submit(self, work: Work, inputs: Mapping[str, Result], limits: Limits) -> Future[Result]:
        """Start some work; the future's result is that of the work, also where it failed or reached a limit."""
        return self._pool.submit(self._run, work, inputs, limits)

    def _run(self, work: Work, inputs: Mapping[str, Result], limits: Limits) -> Result:
        if not hasattr(self._local, "sandbox"):
            self._local.sandbox = Sandbox(self._settings)
            self._owned.append(self._local.sandbox)
        result: Result = self._local.sandbox.run(work, inputs, limits)
        return result

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Ending the workers first lets the threads that wait for them return.
        self._pool.shutdown(wait=False, cancel_futures=True)
        for sandbox in self._owned:
            sandbox.stop()
        self._pool.shutdown(wait=True)

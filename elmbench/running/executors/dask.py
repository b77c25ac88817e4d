"""Work on the workers of dask.distributed: on this machine, or wherever a scheduler has them.

Only this and `dask_worker` know of dask. A worker may join or leave at any time. Work that is lost with its worker is
done again by another one: the scheduler counts how often, and gives it up after the fourth time (its setting
`distributed.scheduler.allowed-failures`, 3).
"""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from elmbench.errors import ElmbenchError
from elmbench.running.environment import version_of_code
from elmbench.running.executors.base import Done
from elmbench.running.executors.dask_worker import Task, dask_setup, do_tasks, end_run
from elmbench.running.executors.sandbox import Settings, asked_of
from elmbench.running.limits import share_of_memory
from elmbench.specs.limits import Limits
from elmbench.work.base import key_of

if TYPE_CHECKING:
    from elmbench.work.base import Result, Work

#: Seconds between two looks at how many workers there are.
_LOOK_EVERY = 1.0
#: Seconds within which a scheduler must answer.
_PATIENCE = 30
#: Seconds of work that one worker is given at a time where it is short, and how many pieces at most: each time costs
#: milliseconds.
_TOGETHER, _MOST = 0.25, 20
#: Seconds that work waits for more to come.
_GATHER = 0.002


@dataclass(frozen=True)
class _Asked:
    """Work that waits for the scheduler: where its result is expected, and what it will take in seconds."""

    answer: Future[Done]
    task: Task
    seconds: float


class DaskExecutor:
    """Workers of a scheduler, or as many on this machine as there are jobs; a context manager.

    Parameters
    ----------
    scheduler : str, optional
        Address of a scheduler, such as `tls://host:8786`. Without one a scheduler and workers are started here, which
        only this machine can reach.
    """

    fixed = False

    def __init__(self, settings: Settings, scheduler: str | None = None) -> None:
        self._settings = settings
        self._scheduler = scheduler
        self._run = secrets.token_hex(8)
        self._code = version_of_code()
        self._sender = ThreadPoolExecutor(1)
        self._connected: Future[tuple[Any, Any]] | None = None
        self._threads, self._looked = settings.jobs, float("-inf")
        #: What has not been handed to the scheduler yet; whether that is about to happen.
        self._waiting: list[_Asked] = []
        self._sending = False
        self._lock = threading.Lock()
        #: Seconds that a piece of work has taken lately.
        self._lately = float("inf")
        #: Futures of dask's: it forgets what nobody holds.
        self._held: set[Any] = set()

    def warm(self) -> None:
        """Connect to the scheduler, or start one with its workers; nothing waits for it yet."""
        if self._connected is None:
            self._connected = self._sender.submit(self._connect)

    def _connect(self) -> tuple[Any, Any]:
        """Return a client, and the cluster where it was started here."""
        try:
            from distributed import Client, LocalCluster
        except ImportError as error:
            raise ElmbenchError(
                f"dask.distributed cannot be imported: {error}",
                expected="the extra `dask` of elmbench",
                next_step="pip install 'elmbench[dask]'",
            ) from error
        if self._scheduler is None:
            cluster = LocalCluster(
                n_workers=self._settings.jobs,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                memory_limit=share_of_memory(self._settings.jobs),
                silence_logs="CRITICAL",
                preload=[dask_setup.__module__],
            )
            return Client(cluster, set_as_default=False), cluster
        try:
            return Client(self._scheduler, set_as_default=False, timeout=_PATIENCE), None
        except (OSError, ValueError, TypeError) as error:
            raise ElmbenchError(
                f"no scheduler answers at {self._scheduler}: {error}",
                expected="the address of a dask scheduler, and its certificates where it is tls://",
                next_step="dask scheduler --host 127.0.0.1, then: dask worker 127.0.0.1:8786",
            ) from error

    @property
    def client(self) -> Any:
        """The client of dask."""
        self.warm()
        assert self._connected is not None
        return self._connected.result()[0]

    @property
    def width(self) -> int:
        """How many threads the workers have that are there now, at least 1; of short work, more at once."""
        together = min(int(_TOGETHER / max(self._lately, 1e-3)), _MOST)
        # While a worker is at some of it, more waits there.
        return self.workers * max(1, 2 * together)

    @property
    def workers(self) -> int:
        """How many threads the workers have that are there now, at least 1."""
        return max(1, self._threads_now())

    @property
    def deserted(self) -> bool:
        """Whether no worker has joined the scheduler, or all have left it."""
        return not self._threads_now()

    def _threads_now(self) -> int:
        if time.monotonic() - self._looked > _LOOK_EVERY:
            self._threads = sum(self._asked(self.client.nthreads).values())
            self._looked = time.monotonic()
        return self._threads

    @property
    def memory(self) -> int:
        """The largest share of memory that a thread of a worker has; that of this machine where there is none yet."""
        if self._scheduler is None:
            return share_of_memory(self._settings.jobs)
        workers = self._asked(self.client.scheduler_info)["workers"].values()
        shares = [share_of_memory(worker["nthreads"], worker["memory_limit"]) for worker in workers]
        return max(shares, default=share_of_memory(self._settings.jobs))

    def _asked(self, question: Any) -> Any:
        try:
            return question()
        except OSError as error:
            raise self._gone(error) from error

    def submit(self, work: Work, inputs: Mapping[str, Result], limits: Limits, seconds: float) -> Future[Done]:
        """Start some work; see `Executor`."""
        self.warm()
        answer: Future[Done] = Future()
        answer.set_running_or_notify_cancel()
        with self._lock:
            self._waiting.append(_Asked(answer, Task(asked_of(work, inputs), limits), max(seconds, self._lately)))
            if not self._sending:
                self._sending = True
                self._sender.submit(self._send)
        return answer

    def _send(self) -> None:
        """Hand all that waits to the scheduler, short work together, in a thread of its own."""
        time.sleep(_GATHER)
        with self._lock:
            waiting, self._waiting, self._sending = self._waiting, [], False
        try:
            client = self.client
            for together in _batches(waiting, self.workers):
                self._send_batch(client, together)
        except Exception as error:  # noqa: BLE001 - of whatever kind, the run has to hear of it
            for asked in waiting:
                if not asked.answer.done():
                    asked.answer.set_exception(self._error(error))

    def _send_batch(self, client: Any, together: list[_Asked]) -> None:
        """Hand work to one worker, to be done one after the other.

        Work that a run which has been killed had begun, and a worker is still at, is not begun anew: it has the same
        name.
        """
        own = self._settings
        settings = Settings(1, own.data_dir and os.path.abspath(own.data_dir), own.plugins, own.blas_threads)
        tasks = [asked.task for asked in together]
        said = [[task.asked, task.limits.seconds, task.limits.memory] for task in tasks]
        name = key_of([said, settings.data_dir, own.plugins, own.blas_threads, self._code])
        remote = client.submit(do_tasks, tasks, settings, self._code, self._run, key=f"elmbench-{name}")
        self._held.add(remote)
        remote.add_done_callback(partial(self._keep, together))

    def _keep(self, together: list[_Asked], remote: Any) -> None:
        """Take what has come of some work, in a thread of dask's."""
        from distributed import KilledWorker

        try:
            found: list[Done] = remote.result()
            self._lately = sum(done.seconds + done.before for done in found) / max(len(found), 1)
            for asked, done in zip(together, found, strict=True):
                asked.answer.set_result(done)
        except KilledWorker as error:
            if len(together) > 1:
                # It takes one to kill a worker: each shows alone whether it was the one.
                self._sender.submit(self._send_apart, together)
                return
            reason = f"its worker died {error.allowed_failures + 1} times, the last one {error.last_worker.address}"
            together[0].answer.set_result(Done({"status": "failed", "reason": reason}))
        except (Exception, CancelledError) as error:  # noqa: BLE001 - of whatever kind, the run has to hear of it
            for asked in together:
                if not asked.answer.done():
                    asked.answer.set_exception(self._error(error))
        finally:
            self._held.discard(remote)

    def _send_apart(self, together: list[_Asked]) -> None:
        for asked in together:
            self._send_batch(self.client, [asked])

    def _error(self, error: BaseException) -> BaseException:
        return error if isinstance(error, ElmbenchError) else self._gone(error)

    def _gone(self, error: BaseException) -> ElmbenchError:
        return ElmbenchError(
            f"the scheduler{f' {self._scheduler}' if self._scheduler else ''} does not answer any more: {error}",
            expected="one that lives as long as the run",
            next_step="start it and its workers again, then run again: what has ended is stored",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._sender.shutdown(wait=True, cancel_futures=True)
        if self._connected is None or self._connected.exception() is not None:
            return
        client, cluster = self._connected.result()
        with suppress(Exception):  # a scheduler or workers that have gone have nothing left to end
            client.run(end_run, self._run, on_error="ignore")
        with suppress(Exception):
            client.close(timeout=_PATIENCE)
        if cluster is not None:
            with suppress(Exception):
                cluster.close(timeout=_PATIENCE)


def _batches(waiting: list[_Asked], threads: int) -> Iterator[list[_Asked]]:
    """Yield work that is to be done together: short, and no more of it than leaves some for each thread."""
    most = min(_MOST, -(-len(waiting) // threads))
    batch: list[_Asked] = []
    for asked in waiting:
        if batch and (len(batch) == most or sum(one.seconds for one in [*batch, asked]) > _TOGETHER):
            yield batch
            batch = []
        batch.append(asked)
    if batch:
        yield batch

"""Work on the workers of dask.distributed: on this machine, or wherever a scheduler has them.

Only this module and `dask_worker` know dask. Workers may join and leave at any time, and the scheduler gives lost work
to another worker. It blames the death of a worker on everything that the worker was given. This module counts only the
deaths during the work itself, and gives work up when these exceed what the scheduler allows (its setting
`distributed.scheduler.allowed-failures`, 3 by default).
"""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections import Counter
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
from elmbench.running.executors.dask_worker import BEGUN, Task, dask_setup, do_tasks, end_run
from elmbench.running.executors.sandbox import Settings, asked_of
from elmbench.running.limits import share_of_memory
from elmbench.specs.limits import Limits
from elmbench.work.base import key_of

if TYPE_CHECKING:
    from elmbench.work.base import Result, Work

#: Seconds between two counts of the workers.
_LOOK_EVERY = 1.0
#: Seconds within which a scheduler must answer.
_PATIENCE = 30
#: Seconds after which a run ends if all workers of its own cluster have died and none has restarted.
_DESERTED = 900.0
#: Largest batch of short work: its seconds and its number of tasks. Each batch costs milliseconds.
_TOGETHER, _MOST = 0.25, 20
#: Seconds that work waits for more work to share its batch.
_GATHER = 0.002


@dataclass
class _Asked:
    """A task for the scheduler.

    Attributes
    ----------
    answer : Future
        Receives the result.
    seconds : float
        Expected duration.
    retries : int
        Number of submissions after the first.
    deaths : int
        Number of workers that died during this task, apart from deaths during a batch.
    """

    answer: Future[Done]
    task: Task
    seconds: float
    retries: int = 0
    deaths: int = 0


class DaskExecutor:
    """Workers of a scheduler, or one worker on this machine for each job; a context manager.

    Parameters
    ----------
    scheduler : str, optional
        Address of a scheduler, such as `tls://host:8786`. By default, the executor starts a scheduler and workers that
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
        #: The last time at which there was a worker.
        self._manned = float("inf")
        #: Tasks that are not submitted yet; True while the sender is about to submit them.
        self._waiting: list[_Asked] = []
        self._sending = False
        self._lock = threading.Lock()
        #: Seconds that recent tasks took.
        self._lately = float("inf")
        #: Futures of dask, which forgets results without a holder.
        self._held: set[Any] = set()
        #: Number of times that workers have begun a batch, by its key.
        self._begun: Counter[str] = Counter()

    def warm(self) -> None:
        """Connect to the scheduler, or start one with its workers, in the background."""
        if self._connected is None:
            self._connected = self._sender.submit(self._connect)

    def _connect(self) -> tuple[Any, Any]:
        """Return a client, and the cluster if this executor has started one."""
        try:
            from distributed import Client
        except ImportError as error:
            raise ElmbenchError(
                f"dask.distributed cannot be imported: {error}",
                expected="the extra `dask` of elmbench",
                next_step="pip install 'elmbench[dask]'",
            ) from error
        cluster = None if self._scheduler else self._start_cluster()
        try:
            client = Client(cluster or self._scheduler, set_as_default=False, timeout=_PATIENCE)
        except (OSError, ValueError, TypeError) as error:
            raise ElmbenchError(
                f"no scheduler answers at {self._scheduler}: {error}",
                expected="the address of a dask scheduler, and its certificates for tls://",
                next_step="dask scheduler --host 127.0.0.1, then: dask worker 127.0.0.1:8786",
            ) from error
        client.subscribe_topic(BEGUN, lambda event: self._begun.update([event[1]]))
        return client, cluster

    def _start_cluster(self) -> Any:
        import dask.config
        from distributed import LocalCluster

        # The processes that dask starts would import a user's `types.py` of the current folder in place of Python's.
        dask.config.set({"distributed.nanny.pre-spawn-environ.PYTHONSAFEPATH": "1"})
        try:
            return LocalCluster(
                n_workers=self._settings.jobs,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                memory_limit=share_of_memory(self._settings.jobs),
                silence_logs="CRITICAL",
                preload=[dask_setup.__module__],
            )
        except (RuntimeError, OSError) as error:
            raise ElmbenchError(
                f"dask cannot start its workers on this machine: {error}",
                expected=f"room for {self._settings.jobs} processes that may open ports of 127.0.0.1",
                next_step="run again with fewer --jobs or with --engine local",
            ) from error

    def _connection(self) -> tuple[Any, Any]:
        self.warm()
        assert self._connected is not None
        return self._connected.result()

    @property
    def width(self) -> int:
        """The number of tasks that the workers take now, at least 1: their threads, and more if tasks are short."""
        together = min(int(_TOGETHER / max(self._lately, 1e-3)), _MOST)
        # One batch waits at each worker while the worker does another.
        return self.workers * max(1, 2 * together)

    @property
    def workers(self) -> int:
        """The number of threads of the present workers, at least 1."""
        return max(1, self._threads_now())

    @property
    def deserted(self) -> bool:
        """True if there is no worker."""
        return not self._threads_now()

    def _threads_now(self) -> int:
        now = time.monotonic()
        if now - self._looked > _LOOK_EVERY:
            client, cluster = self._connection()
            self._threads = sum(self._asked(client.nthreads).values())
            self._looked = now
            if self._threads:
                self._manned = now
            if cluster is not None:
                self._staff(cluster, now)
        return self._threads

    def _staff(self, cluster: Any, now: float) -> None:
        """Replace workers that dask has dropped: it drops those that take more than 15 seconds to restart."""
        if now - self._manned > _DESERTED:
            raise ElmbenchError(
                f"all workers on this machine have died, and none has restarted within {_DESERTED:g} s",
                expected=f"{self._settings.jobs} workers of dask",
                next_step="run again with fewer --jobs or with --engine local: finished work is stored",
            )
        if self._threads < self._settings.jobs:
            cluster.scale(self._settings.jobs)

    @property
    def memory(self) -> int:
        """The largest share of memory of a worker's thread; without workers, the share of a job on this machine."""
        if self._scheduler is None:
            return share_of_memory(self._settings.jobs)
        workers = self._asked(self._connection()[0].scheduler_info)["workers"].values()
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
        """Submit the waiting tasks to the scheduler, short ones in batches; runs in the sender's thread."""
        time.sleep(_GATHER)
        with self._lock:
            waiting, self._waiting, self._sending = self._waiting, [], False
        try:
            for together in _batches(waiting, self.workers):
                self._send_batch(together)
        except Exception as error:  # noqa: BLE001 - the run has to hear of every error
            self._fail(waiting, error)

    def _send_batch(self, together: list[_Asked]) -> None:
        """Submit tasks that one worker does one after the other.

        Their key depends on their content only, so a run continues what a worker still does for a killed run.
        """
        own = self._settings
        settings = Settings(1, own.data_dir and os.path.abspath(own.data_dir), own.plugins, own.blas_threads)
        tasks = [asked.task for asked in together]
        content = [[task.asked, task.limits.seconds, task.limits.memory] for task in tasks]
        name = key_of([content, settings.data_dir, own.plugins, own.blas_threads, self._code])
        key = f"elmbench-{name}-{together[0].retries}"
        client, _ = self._connection()
        remote = client.submit(do_tasks, tasks, settings, self._code, self._run, key=key)
        self._held.add(remote)
        remote.add_done_callback(partial(self._keep, together))

    def _keep(self, together: list[_Asked], remote: Any) -> None:
        """Pass on the results of a batch; runs in a thread of dask."""
        from distributed import KilledWorker

        try:
            results: list[Done] = remote.result()
            self._lately = sum(done.seconds + done.before for done in results) / max(len(results), 1)
            for asked, done in zip(together, results, strict=True):
                asked.answer.set_result(done)
        except KilledWorker as error:
            self._blame(together, self._begun.pop(remote.key, 0), error)
        except (Exception, CancelledError) as error:  # noqa: BLE001 - the run has to hear of every error
            self._fail(together, error)
        finally:
            self._held.discard(remote)

    def _blame(self, together: list[_Asked], deaths: int, error: Any) -> None:
        """Give up a task that has killed too many workers; submit again, each alone, the tasks of all other batches."""
        if len(together) == 1:
            together[0].deaths += deaths
            if together[0].deaths > error.allowed_failures:
                reason = f"its worker died {together[0].deaths} times, the last one {error.last_worker.address}"
                together[0].answer.set_result(Done({"status": "failed", "reason": reason}))
                return
        for asked in together:
            asked.retries += 1
        self._sender.submit(self._send_apart, together)

    def _send_apart(self, together: list[_Asked]) -> None:
        try:
            for asked in together:
                self._send_batch([asked])
        except Exception as error:  # noqa: BLE001 - the run has to hear of every error
            self._fail(together, error)

    def _fail(self, together: list[_Asked], error: BaseException) -> None:
        for asked in together:
            if not asked.answer.done():
                asked.answer.set_exception(error if isinstance(error, ElmbenchError) else self._gone(error))

    def _gone(self, error: BaseException) -> ElmbenchError:
        return ElmbenchError(
            f"the scheduler{f' {self._scheduler}' if self._scheduler else ''} does not answer any more: {error}",
            expected="a scheduler that lives as long as the run",
            next_step="start it and its workers again, then run again: finished work is stored",
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
    """Yield batches: short in all, and small enough to leave some work for each thread."""
    most = min(_MOST, -(-len(waiting) // threads))
    batch: list[_Asked] = []
    for asked in waiting:
        if batch and (len(batch) == most or sum(one.seconds for one in [*batch, asked]) > _TOGETHER):
            yield batch
            batch = []
        batch.append(asked)
    if batch:
        yield batch

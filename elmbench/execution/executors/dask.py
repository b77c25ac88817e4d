"""The executor for the workers of a dask.distributed scheduler, and its tasks on them.

Only this module knows dask. Workers may join and leave at any time, and the scheduler gives lost
tasks to another worker. It gives up a task after the deaths of more workers than its setting
`distributed.scheduler.allowed-failures`, 3 by default. It blames a death on everything that the
worker was given, so a run submits no more tasks than there are threads.

A dask process has one limited worker for each of its busy threads and reuses it for the next task.
So data are loaded once, and a model runs in its own process, within its limits. These workers end
with their dask process, even if it is killed.
"""

import multiprocessing.util
import os
import platform
import secrets
import threading
import time
from collections.abc import Mapping
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from typing import Any

from elmbench.errors import ElmbenchError
from elmbench.execution.environment import describe_environment, version_of_code
from elmbench.execution.executors import Answer, Executor, PackedTask, Settings
from elmbench.execution.executors.limited_worker import (
    LimitedWorker,
    best_worker,
    pack_task,
)
from elmbench.execution.processes import available_memory
from elmbench.specs.limits import Limits
from elmbench.tasks.base import Result, Task, key_of

#: Seconds between two counts of the workers.
_LOOK_EVERY = 1.0
#: Seconds within which a scheduler must answer.
_PATIENCE = 30


class DaskExecutor(Executor):
    """Workers of a scheduler at an address such as `tls://host:8786`."""

    has_scheduler = True

    def __init__(self, settings: Settings, scheduler: str) -> None:
        self._settings = settings
        self._scheduler = scheduler
        self._run = secrets.token_hex(8)
        self._sender = ThreadPoolExecutor(1)
        self._connected: Future[Any] | None = None
        self._threads = 0
        self._look_time = float("-inf")

    def warm(self) -> None:
        """Connect to the scheduler in the background."""
        self._connected = self._connected or self._sender.submit(self._connect)

    def _connect(self) -> Any:
        """Return a client of the scheduler; raise ElmbenchError if it or dask cannot be reached."""
        try:
            from distributed import Client
        except ImportError as error:
            raise ElmbenchError(
                f"dask.distributed cannot be imported: {error}",
                expected="the extra `dask` of elmbench",
                next_step="pip install 'elmbench[dask]'",
            ) from error
        try:
            return Client(self._scheduler, set_as_default=False, timeout=_PATIENCE)
        except (OSError, ValueError, TypeError) as error:
            raise ElmbenchError(
                f"no scheduler answers at {self._scheduler}: {error}",
                expected="the address of a dask scheduler, and its certificates for tls://",
                next_step="dask scheduler --host 127.0.0.1, then: dask worker 127.0.0.1:8786",
            ) from error

    def _client(self) -> Any:
        """Return the client of the scheduler, once it is connected.

        It connects on the first call. Raises ElmbenchError if that fails.
        """
        self.warm()
        assert self._connected is not None
        return self._connected.result()

    def _ask(self, name: str) -> Any:
        """Return the result of a method of the client, which is called without arguments.

        `name`: that of the method, such as `nthreads`. Raises ElmbenchError if the scheduler has
        gone.
        """
        try:
            return getattr(self._client(), name)()
        except OSError as error:
            raise self._scheduler_error(error) from error

    @property
    def workers(self) -> int:
        """The number of threads of all present workers, looked up at most once a second.

        Raises ElmbenchError if the scheduler cannot be reached.
        """
        now = time.monotonic()
        if now - self._look_time > _LOOK_EVERY:
            self._threads = sum(self._ask("nthreads").values())
            self._look_time = now
        return self._threads

    @property
    def memory(self) -> int | None:
        """The largest share of a worker's memory limit for one of its threads, in bytes.

        None without workers.
        """
        workers = self._ask("scheduler_info")["workers"].values()
        shares = (
            (worker["memory_limit"] or available_memory()) // worker["nthreads"]
            for worker in workers
        )
        return max(shares, default=None)

    def submit(
        self, task: Task, inputs: Mapping[str, Result], limits: Limits
    ) -> Future[Answer]:
        """Start a task on a worker of the scheduler, through the sender's thread.

        Return the future of its answer at once; it has an ElmbenchError if the scheduler cannot be
        reached. `inputs`: {key: result} of the tasks that it needs.
        """
        self.warm()
        answer: Future[Answer] = Future()
        answer.set_running_or_notify_cancel()
        self._sender.submit(self._send, answer, task, pack_task(task, inputs), limits)
        return answer

    def _send(
        self, answer: Future[Answer], task: Task, packed: PackedTask, limits: Limits
    ) -> None:
        """Submit a task to the scheduler, and let `answer` receive its outcome.

        It runs in the sender's thread. The task's key for dask depends on its content only, so a
        run takes over tasks that workers still do for a killed run. An error becomes the outcome of
        `answer`.
        """
        run = self._settings
        code = version_of_code()
        settings = Settings(
            1,
            run.data_dir and os.path.abspath(run.data_dir),
            run.plugins,
            run.blas_threads,
        )
        spec = task.data.spec if task.data is not None else None
        content = [
            [
                task.key,
                spec and spec.model_dump(mode="json", by_alias=True),
                packed.inputs,
            ],
            [limits.seconds, limits.memory],
            settings.data_dir,
            run.plugins,
            run.blas_threads,
            code,
        ]
        try:
            call = do_task, packed, limits, settings, code, self._run
            remote = self._client().submit(*call, key=f"elmbench-{key_of(content)}")
        except Exception as error:  # noqa: BLE001 - the run has to hear of every error
            self._fail(answer, error)
        else:
            remote.add_done_callback(partial(self._set_answer, answer))

    def _set_answer(self, answer: Future[Answer], remote: Any) -> None:
        """Set the outcome of a task as that of `answer`; runs in a thread of dask.

        `remote`: the future of dask, which has ended. Repeated deaths of its worker become a failed
        result; any other error becomes that of `answer`.
        """
        from distributed import KilledWorker

        try:
            answer.set_result(remote.result())
        except KilledWorker as error:
            reason = (
                f"its worker died {error.allowed_failures + 1} times, the last one "
                f"{error.last_worker.address}"
            )
            answer.set_result(Answer({"status": "failed", "reason": reason}))
        except (Exception, CancelledError) as error:  # noqa: BLE001 - the run has to hear of every error
            self._fail(answer, error)

    def _fail(self, answer: Future[Answer], error: BaseException) -> None:
        """Set an error as the outcome of `answer`.

        An ElmbenchError is set as it is, another error as that of a lost scheduler.
        """
        answer.set_exception(
            error if isinstance(error, ElmbenchError) else self._scheduler_error(error)
        )

    def _scheduler_error(self, error: BaseException) -> ElmbenchError:
        """Return the error for a scheduler that does not answer any more."""
        return ElmbenchError(
            f"the scheduler {self._scheduler} does not answer any more: {error}",
            expected="a scheduler that lives as long as the run",
            next_step="start it and its workers again, then run again: finished work is stored",
        )

    def end(self) -> None:
        """End the run's tasks on the workers, and close the connection.

        If no connection was made, nothing happens.
        """
        self._sender.shutdown(wait=True, cancel_futures=True)
        if self._connected is None or self._connected.exception() is not None:
            return
        client = self._connected.result()
        # A scheduler or workers that have gone have nothing left to end.
        with suppress(Exception):
            client.run(_end_run, self._run, on_error="ignore")
        with suppress(Exception):
            client.close(timeout=_PATIENCE)


# --- On a worker

_lock = threading.Lock()
#: The limited workers of this process: the idle ones, and the busy ones with their runs.
_idle: list[LimitedWorker] = []
_busy: dict[LimitedWorker, str] = {}
#: The runs that have ended: none of their tasks begins.
_ended: set[str | None] = set()


def do_task(
    packed: PackedTask, limits: Limits, settings: Settings, code: str, run: str
) -> Answer:
    """Run a task in a limited worker of this process, a worker of dask, and return its answer.

    A limit of memory above this process's share for one thread is lowered to that share. `code`:
    the version of elmbench that planned the run. `run`: the name of the run, for `_end_run`. If
    this machine has not the folder of the data, that of ELMBENCH_DATA_DIR is used. Raises
    ElmbenchError if this machine has a different version of elmbench.
    """
    from distributed import get_worker

    if code != version_of_code():
        raise ElmbenchError(
            f"the worker {platform.node()} has elmbench {version_of_code()}",
            expected=f"elmbench {code}, the version that plans the run",
            next_step="install the same version everywhere, restart the workers, then run again",
        )
    if settings.data_dir is not None and not os.path.isdir(settings.data_dir):
        # Another machine may have the files in another folder; their checksum is compared in any
        # case.
        settings = replace(settings, data_dir=os.environ.get("ELMBENCH_DATA_DIR"))
    worker = get_worker()
    share = Limits(
        memory=(worker.memory_manager.memory_limit or available_memory())
        // worker.state.nthreads
    )
    environment = _environment(settings.blas_threads)
    _become_parent()
    limited_worker = _take_worker(settings, run, packed)
    try:
        return replace(
            limited_worker.ask(packed, limits.narrower(share)), environment=environment
        )
    finally:
        with _lock:
            if _busy.pop(limited_worker) not in _ended:
                _idle.append(limited_worker)


def _take_worker(settings: Settings, run: str, packed: PackedTask) -> LimitedWorker:
    """Return a limited worker with these settings for a task, and mark it as busy with a run.

    It is the best idle one, or a new one if none is idle. Idle workers with other settings are
    ended; so is the worker itself if its run has ended.
    """
    with _lock:
        unusable = [worker for worker in _idle if worker.settings != settings]
        for worker in unusable:
            _idle.remove(worker)
        if _idle:
            taken = best_worker(_idle, packed)
            _idle.remove(taken)
        else:
            taken = LimitedWorker(settings)
        _busy[taken] = run
        if run in _ended:
            unusable.append(taken)
    for worker in unusable:
        worker.stop()
    return taken


def _end_run(run: str | None = None) -> None:
    """End the limited workers of a run, and all idle ones; no more tasks of the run begin.

    `run`: the name of the run; None for all runs.
    """
    with _lock:
        _ended.add(run)
        ended = [
            *_idle,
            *(
                limited_worker
                for limited_worker, its_run in _busy.items()
                if run in (None, its_run)
            ),
        ]
        _idle.clear()
    for limited_worker in ended:
        limited_worker.stop()


@cache
def _become_parent() -> None:
    """Allow this process to start processes: dask's workers are daemons, which may not.

    When it ends, it then ends all limited workers first.
    """
    multiprocessing.current_process().daemon = False
    # Before it ends, a process of multiprocessing waits for its children.
    multiprocessing.util.Finalize(None, _end_run, exitpriority=100)


@cache
def _environment(blas_threads: int) -> Mapping[str, Any]:
    """Return the description of this machine and its software, computed once.

    It has the keys of `describe_environment`, `blas_threads` and `machine`, its name.
    """
    return describe_environment() | {
        "blas_threads": blas_threads,
        "machine": platform.node(),
    }

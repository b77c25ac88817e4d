"""A worker process within its limits of time and memory, which are enforced here, from the side of
its owner.

Each job of a run owns a pool of one process, so the death of a worker ends only its own task. The
pool is loky's: it notices the end of a process, knows its exit code and kills its descendants.
Unlike concurrent.futures and pebble, it does not import the caller's main module into the worker,
so a script need not guard its calls. `elmbench.specs.limits` reads the limits.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import secrets
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any

import psutil
from loky.process_executor import ProcessPoolExecutor, ShutdownExecutorError

from elmbench.errors import describe_error
from elmbench.evaluation.content import content_of
from elmbench.execution.executors import Answer, Load, PackedTask, Settings, worker
from elmbench.execution.processes import (
    MARK,
    descendant_ids,
    end_in_words,
    end_marked,
    guarded_mark,
    held_bytes,
    lives,
)
from elmbench.specs.limits import Limits, byte_text

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

    from elmbench.tasks.base import Result, Task

_environment = threading.Lock()
#: Seconds between two checks of the time and the memory of a worker.
_INTERVAL = 0.05
#: The least time limit in seconds for loading plug-ins, model and data.
_LOADING = 60.0
#: The result of a task that was running when its worker was stopped.
STOPPED = {"status": "failed", "reason": "the run was stopped"}
#: Seconds to wait for the exit code of a worker that has ended.
_EXIT_CODE = 30.0
#: The prefixes of the variables that limit the threads of linear algebra libraries.
_LIBRARIES = ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMEXPR")


@contextlib.contextmanager
def _no_daemon() -> Iterator[None]:
    """Let this process start processes during a `with` block, even as a daemon.

    It may be a daemon of multiprocessing.
    """
    process = multiprocessing.current_process()
    is_daemon = process.daemon
    process.daemon = False
    try:
        yield
    finally:
        process.daemon = is_daemon


@contextlib.contextmanager
def _safe_start() -> Iterator[None]:
    """Let Python processes that start during a `with` block start safely.

    They import no files of the current folder, and are not ended by Ctrl-C. A terminal sends Ctrl-C
    to them too, also before they can ignore it. One of them is a tracker of semaphores, which would
    print a warning if this process was killed.

    A process of a pool of multiprocessing is a daemon, which may not start processes, because they
    would outlive it. Workers do not: a guard ends them with their owner.
    """
    mask = getattr(signal, "pthread_sigmask", None)
    with _environment, _no_daemon():
        filters = (
            os.environ.get("PYTHONWARNINGS"),
            "ignore:resource_tracker:UserWarning",
        )
        variables = {
            "PYTHONSAFEPATH": "1",
            "PYTHONWARNINGS": ",".join(filter(None, filters)),
        }
        previous = {name: os.environ[name] for name in variables if name in os.environ}
        os.environ.update(variables)
        if mask:
            resource_tracker.ensure_running()  # its start would unblock the signal
            signals = mask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            if mask:
                mask(signal.SIG_SETMASK, signals)
            for name in variables:
                del os.environ[name]
            os.environ.update(previous)


class _Ended(Exception):
    """The end of a worker without an answer.

    `result`: the result of its task. `begun`: False if the worker never started. Further `values`
    are added to the result.
    """

    def __init__(
        self, status: str, reason: str, begun: bool = True, **values: float
    ) -> None:
        super().__init__(reason)
        self.begun = begun
        self.result = {"status": status, "reason": reason, **values}


class _WorkerProcess:
    """A worker process in a pool of its own.

    `held`: its memory in bytes at the last check, with its descendants'. `outside_code`: the code
    from outside that has run in it (see `Task.outside_code`); empty if none has.
    """

    def __init__(self, blas_threads: int) -> None:
        self.mark = f"{guarded_mark()}-{secrets.token_hex(4)}"
        self.loaded = Load()
        self.outside_code = ""
        self.held = 0
        self._killed = False
        self._process: BaseProcess | None = None
        # Only our memory limit ends a worker: loky's own check is switched off.
        env = {MARK: self.mark, "LOKY_MAX_MEMORY_LEAK_SIZE": "1e18"}
        env |= {f"{name}_NUM_THREADS": str(blas_threads) for name in _LIBRARIES}
        with _safe_start():
            self._pool = ProcessPoolExecutor(1, initializer=worker.begin, env=env)
            self._number = self._pool.submit(os.getpid)

    def wait_until_ready(self) -> None:
        """Wait until the process has started, and set its number, the process id.

        Raises `_Ended` if the process has ended meanwhile.
        """
        if self._process is None:
            self.number = self._result(self._number)
            try:
                self._system = psutil.Process(self.number)
            except psutil.NoSuchProcess as error:
                raise self._death() from error
            children = {child.pid: child for child in multiprocessing.active_children()}
            # Its parent may not have collected a process that has ended.
            if self.number not in children or not lives(self._system):
                raise self._death()
            self._process = children[self.number]

    def lives(self) -> bool:
        """Return True until the process has ended, also while it starts."""
        return self._process is None or lives(self._system)

    def ask(
        self, function: Any, packed: PackedTask, settings: Settings, limits: Limits
    ) -> Any:
        """Run `function` for a task in the process, wait for it and return its result.

        `function`: `load_inputs` or `run_task` of the module `worker`, which also takes the
        settings and the memory limit. The process must be ready (see `wait_until_ready`). Raises
        `_Ended` if it reaches a limit of time or memory, or ends.
        """
        start_time = time.monotonic()
        next_look = start_time
        try:
            answer = self._pool.submit(function, packed, settings, limits.memory)
        except (BrokenProcessPool, RuntimeError) as error:
            raise self._death() from error
        while not wait([answer], _INTERVAL).done:
            now = time.monotonic()
            # A process that the worker has forked keeps loky from noticing its end.
            if not self.lives():
                raise self._death()
            if limits.seconds is not None and now - start_time > limits.seconds:
                raise _Ended("timeout", f"> {limits.seconds:g} s", limit=limits.seconds)
            if limits.memory is not None and now >= next_look:
                self._check_memory(limits.memory)
                # Checks take a tenth of the time at most.
                spent = time.monotonic() - now
                next_look = now + 10 * spent
        return self._result(answer)

    def _check_memory(self, limit: int) -> None:
        """Set `held`, the bytes that the process and its descendants hold.

        Raises `_Ended` if they are more than `limit`.
        """
        self.held = held_bytes(self.number, limit)
        if self.held > limit:
            reason = f"grew to {byte_text(self.held)}; the limit is {byte_text(limit)}"
            raise _Ended("out-of-memory", reason, limit=limit)

    def can_take(self, needed: Load, limit: int | None) -> bool:
        """Return True if the process can run a task that needs the load `needed`.

        The process must live. It must have run no code from outside, or the same as the task's
        (`outside_code`). Unless it has loaded `needed` already, an earlier task must have left it
        no child processes. It must hold at most half of `limit` (bytes; None for no limit).
        """
        if not self.lives():
            return False
        # Code from outside may have changed the libraries that it shares with a later task.
        if self.outside_code not in ("", needed.outside_code):
            return False
        has_other_load = self.loaded not in (Load(), needed)
        # Child processes cannot be ended alone: a later model that uses them would miss them.
        if has_other_load and descendant_ids(self.number):
            return False
        if limit is None:
            return True
        half = limit // 2
        if self.held > half:
            self.held = held_bytes(self.number, half)
        return self.held <= half

    def _result(self, answer: Future[Any]) -> Any:
        """Return the result of a call in the process, and wait for it; raise `_Ended` if it failed.

        `answer`: the future of the call. The call fails if the process dies or its result cannot be
        sent.
        """
        try:
            return answer.result()
        except (BrokenProcessPool, ShutdownExecutorError) as error:
            raise self._death() from error
        except (
            BaseException
        ) as error:  # a model may raise anything; Ctrl-C does not reach this thread
            raise _Ended(
                "failed", f"no answer of the worker process: {describe_error(error)}"
            ) from error

    def _death(self) -> _Ended:
        """Return, but do not raise, the error for a process that has ended.

        The reason of the error has the exit code if it is known; this method waits for the code for
        up to 30 seconds. A process that ended before it was ready has an error with `begun` False.
        """
        if self._process is None and not self._killed:
            return _Ended(
                "failed", "the worker process ended before it could begin", begun=False
            )
        # The thread of the pool that collects the exit code may not have run yet.
        give_up = time.monotonic() + _EXIT_CODE
        while (
            self._process is not None
            and not self._killed
            and time.monotonic() < give_up
        ):
            if (code := self._process.exitcode) is not None:
                return _Ended("failed", end_in_words(code))
            time.sleep(_INTERVAL)
        return _Ended("failed", "the worker process ended")

    def end(self) -> None:
        """Kill the process and its descendants, and end its pool."""
        self._killed = True
        end_marked(self.mark)
        self._pool.shutdown(kill_workers=True)


def pack_task(task: Task, inputs: Mapping[str, Result]) -> PackedTask:
    """Return a task packed for a worker, with the names of what the worker loads for it.

    `inputs`: {key: result} of the tasks that it needs.
    """
    from elmbench.tasks.base import key_of

    dataset = key_of(content_of(task.data)) if task.data is not None else ""
    return PackedTask(
        pickled_task=pickle.dumps(task),
        inputs=dict(inputs),
        load=Load(
            model=task.model_name, dataset=dataset, outside_code=task.outside_code
        ),
    )


class LimitedWorker:
    """A worker that keeps its limits: its process is ended at a limit.

    The process starts when it is first needed and again after its end, until the worker is stopped.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._worker: _WorkerProcess | None = None
        # One thread may stop the worker while another starts its process.
        self._lock = threading.Lock()
        self._stopped = False

    def warm(self) -> None:
        """Start the process, unless there is one or the worker is stopped.

        It does not wait for the start. The imports of the process take seconds, so this is worth
        doing before there are tasks.
        """
        with self._lock:
            if self._worker is None and not self._stopped:
                self._worker = _WorkerProcess(self.settings.blas_threads)

    def start_cost(self, packed: PackedTask) -> int:
        """Return 0, 1 or 2: how costly it is for this worker to begin a task.

        0: the worker has run the same code from outside as the task, or none, like the task. 1: it
        has to start, or has run no code from outside yet. 2: its process must be replaced.
        """
        current = self._worker
        if current is None:
            return 1
        if current.outside_code == packed.load.outside_code:
            return 0
        return 2 if current.outside_code else 1

    def ask(self, packed: PackedTask, limits: Limits, restarts: int = 1) -> Answer:
        """Run a task and return its answer, also if it reaches a limit or its process dies.

        The status is then `timeout`, `out-of-memory` or `failed`.

        The process is started or replaced if necessary. Loading the data has a time limit of at
        least a minute, and does not count to the seconds of the answer. `restarts`: how many times
        a process that dies while it starts is replaced. If the worker has been stopped, the result
        is a failure that says so.
        """
        start = time.monotonic()
        current = self._worker
        needed = packed.load
        if current is not None and not current.can_take(needed, limits.memory):
            self._end_worker()
        self.warm()
        current = self._worker
        if current is None:
            return Answer(STOPPED)
        try:
            current.wait_until_ready()
            failure: Result | None = None
            if current.loaded != needed:
                loading = (
                    limits
                    if limits.seconds is None
                    else replace(limits, seconds=max(limits.seconds, _LOADING))
                )
                current.outside_code = needed.outside_code or current.outside_code
                failure = current.ask(
                    worker.load_inputs, packed, self.settings, loading
                )
                current.loaded = Load() if failure else needed
            start = time.monotonic()
            return Answer(
                failure or current.ask(worker.run_task, packed, self.settings, limits),
                time.monotonic() - start,
            )
        except _Ended as end:
            if self._stopped:
                return Answer(STOPPED)
            self._end_worker()
            if restarts and not end.begun:
                return self.ask(packed, limits, restarts - 1)
            return Answer(end.result, time.monotonic() - start)

    def _end_worker(self) -> None:
        """End the process at once, with its task and descendants; the next task starts another."""
        with self._lock:
            process = self._worker
            self._worker = None
        if process is not None:
            process.end()

    def stop(self) -> None:
        """End the worker for good: later tasks fail."""
        self._stopped = True
        self._end_worker()


def best_worker(idle: Sequence[LimitedWorker], packed: PackedTask) -> LimitedWorker:
    """Return the idle worker with the least `start_cost` for a task; of several, the last.

    `idle`: at least one; it is not changed.
    """
    return min(reversed(idle), key=lambda worker: worker.start_cost(packed))

"""What a worker of dask does with a task: it hands it to a sandbox, as a run on one machine would.

A process of dask's has one sandbox for each of its threads that is at work, kept from one task to the next: data are
loaded once, and a model runs in a process of its own, within its limits. They end with their process, however it ends.
"""

from __future__ import annotations

import os
import platform
import signal
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from elmbench.errors import ElmbenchError
from elmbench.running.environment import describe_environment, version_of_code
from elmbench.running.executors.base import Done
from elmbench.running.executors.sandbox import Sandbox, Settings
from elmbench.running.limits import share_of_memory
from elmbench.specs.limits import Limits


class Sandboxes:
    """The sandboxes of a process: those at work, by the run that they work for, and those that wait for more."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[Sandbox] = []
        self._busy: dict[Sandbox, str] = {}
        self._ended: set[str] = set()

    def take(self, settings: Settings, run: str) -> Sandbox:
        """Return a sandbox with these settings; those that wait with others are ended."""
        with self._lock:
            others = [box for box in self._idle if box.settings != settings]
            self._idle = [box for box in self._idle if box.settings == settings]
            box = self._idle.pop() if self._idle else Sandbox(settings)
            self._busy[box] = run
        for other in others:
            other.stop()
        return box

    def give_back(self, box: Sandbox) -> None:
        """Keep a sandbox for the next task."""
        with self._lock:
            del self._busy[box]
            self._idle.append(box)

    def end(self, run: str) -> None:
        """End what works for a run, and what waits."""
        with self._lock:
            self._ended.add(run)
            ended = [*self._idle, *(box for box, own in self._busy.items() if own == run)]
            self._idle = []
        for box in ended:
            box.stop()

    def has_ended(self, run: str) -> bool:
        """Tell whether a run has been ended: nothing more of it is to begin."""
        with self._lock:
            return run in self._ended


_sandboxes = Sandboxes()


class Task(NamedTuple):
    """One task of a run: what is asked for, as `asked_of` makes it, and what it may take."""

    asked: dict[str, Any]
    limits: Limits


def do_tasks(tasks: list[Task], settings: Settings, code: str, run: str) -> list[Done]:
    """Do some tasks of a run in a sandbox of this process, one after the other.

    A task may take no more memory than this process's share for one thread, whatever its limits say.

    Parameters
    ----------
    code : str
        The version of the suite that plans the run.
    run : str
        A name of the run, for `end_run`.

    Raises
    ------
    ElmbenchError
        If the suite is of another version here.
    """
    if code != version_of_code():
        raise ElmbenchError(
            f"the worker {platform.node()} has elmbench {version_of_code()}",
            expected=f"elmbench {code}, as where the run is planned",
            next_step="install the same version everywhere, start the workers again, then run again",
        )
    if settings.data_dir is not None and not os.path.isdir(settings.data_dir):
        # Another machine may keep the files elsewhere; their checksum is compared all the same.
        settings = replace(settings, data_dir=os.environ.get("ELMBENCH_DATA_DIR"))
    environment, memory = _environment(settings.blas_threads), Limits(memory=own_share())
    box = _sandboxes.take(settings, run)
    found = []
    try:
        for asked, limits in tasks:
            if _sandboxes.has_ended(run):
                break
            started = time.monotonic()
            result = box.ask(asked, limits.narrower(memory))
            found.append(Done(result, time.monotonic() - started - box.before, box.before, environment))
    finally:
        _sandboxes.give_back(box)
    return found


def dask_setup(worker: object) -> None:
    """Leave Ctrl-C to the run, whose end ends this worker of its own too: it reaches all processes of a terminal.

    Dask calls this in a worker that is started with this module as its `preload`.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def end_run(run: str) -> None:
    """End whatever this process does for a run, and what waits for more."""
    _sandboxes.end(run)


def own_share() -> int:
    """Return the bytes that one thread of this worker of dask may take."""
    from distributed import get_worker

    worker = get_worker()
    return share_of_memory(worker.state.nthreads, worker.memory_manager.memory_limit)


@cache
def _environment(blas_threads: int) -> Mapping[str, Any]:
    return describe_environment() | {"blas_threads": blas_threads, "machine": platform.node()}

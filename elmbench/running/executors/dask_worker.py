"""Tasks on a dask worker, which passes them to a sandbox, as a run on one machine does.

A dask process has one sandbox for each of its busy threads and reuses it for the next task. So data are loaded once,
and a model runs in its own process, within its limits. Sandboxes end with their dask process, even if it is killed.
"""

from __future__ import annotations

import multiprocessing.util
import os
import platform
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from elmbench.errors import ElmbenchError
from elmbench.running.environment import describe_environment, version_of_code
from elmbench.running.executors.base import Asked, Done, Settings
from elmbench.running.executors.sandbox import STOPPED, Sandbox
from elmbench.running.processes import share_of_memory
from elmbench.specs.limits import Limits

#: Topic of the scheduler's events under which a worker logs the key of each task that it begins.
BEGUN = "elmbench-begun"

_lock = threading.Lock()
#: The sandboxes of this process: the idle ones, and the busy ones with their runs.
_idle: list[Sandbox] = []
_busy: dict[Sandbox, str] = {}
#: The runs that have ended: none of their tasks begins.
_ended: set[str | None] = set()


def do_task(asked: Asked, limits: Limits, settings: Settings, code: str, run: str) -> Done:
    """Run a task in a sandbox of this process.

    A limit of memory above this process's share for one thread is lowered to that share.

    `asked`: a request, as `asked_of` makes it. `code`: version of elmbench that planned the run. `run`: name of the
    run, for `end_run`. Raises ElmbenchError if this machine has another version of elmbench.
    """
    from distributed import get_worker

    if code != version_of_code():
        raise ElmbenchError(
            f"the worker {platform.node()} has elmbench {version_of_code()}",
            expected=f"elmbench {code}, the version that plans the run",
            next_step="install the same version everywhere, start the workers again, then run again",
        )
    if settings.data_dir is not None and not os.path.isdir(settings.data_dir):
        # Another machine may have the files in another folder; their checksum is compared in any case.
        settings = replace(settings, data_dir=os.environ.get("ELMBENCH_DATA_DIR"))
    worker = get_worker()
    worker.log_event(BEGUN, worker.get_current_task())
    share = Limits(memory=share_of_memory(worker.state.nthreads, worker.memory_manager.memory_limit))
    environment = _environment(settings.blas_threads)
    _become_parent()
    box = _take(settings, run)
    try:
        if run in _ended:
            return Done(dict(STOPPED))
        started = time.monotonic()
        result = box.ask(asked, limits.narrower(share))
        return Done(result, time.monotonic() - started - box.before, box.before, environment)
    finally:
        with _lock:
            if _busy.pop(box) not in _ended:
                _idle.append(box)


def _take(settings: Settings, run: str) -> Sandbox:
    """Return a sandbox with these settings, which is busy now; end the idle ones with other settings."""
    with _lock:
        others = [box for box in _idle if box.settings != settings]
        _idle[:] = [box for box in _idle if box.settings == settings]
        box = _idle.pop() if _idle else Sandbox(settings)
        _busy[box] = run
    for other in others:
        other.stop()
    return box


def end_run(run: str | None = None) -> None:
    """End the sandboxes of a run, by default of all runs, and the idle ones; no more tasks of the run begin."""
    with _lock:
        _ended.add(run)
        ended = [*_idle, *(box for box, its_run in _busy.items() if run in (None, its_run))]
        _idle.clear()
    for box in ended:
        box.stop()


@cache
def _become_parent() -> None:
    """Allow this process to start processes: dask's workers are daemons, which may not."""
    multiprocessing.current_process().daemon = False
    # Before it ends, a process of multiprocessing waits for its children.
    multiprocessing.util.Finalize(None, end_run, exitpriority=100)


@cache
def _environment(blas_threads: int) -> Mapping[str, Any]:
    return describe_environment() | {"blas_threads": blas_threads, "machine": platform.node()}

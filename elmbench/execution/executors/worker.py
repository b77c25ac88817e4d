"""The functions that run in a worker process."""

import gc
import os
import pickle
import signal
import sys
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elmbench.execution.executors import PackedTask, Settings
    from elmbench.tasks.base import Result, Task

#: The modules that a worker imports before it has a task, because their imports take seconds.
SLOW_MODULES = (
    "elmbench.execution.attempt",
    "elmbench.models.baselines",
    "elmbench.tasks.fit",
    "elmbench.tasks.nested_search",
)


def begin() -> None:
    """Set up this worker process.

    Discard what it prints, ignore Ctrl-C, start a session of its own, adopt orphans and import the
    slow modules.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        os.setsid()  # a signal to the process group of a model does not reach the run
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(null, descriptor)
    if sys.platform == "linux":
        from elmbench.execution import linux

        linux.adopt_orphans()
    gc.disable()
    for module in SLOW_MODULES:
        import_module(module)
    gc.freeze()
    gc.enable()


def load_inputs(
    packed: "PackedTask", settings: "Settings", memory: int | None
) -> "Result | None":
    """Load the plug-ins, the model and the data of a task into this worker process.

    Return None, or a result with the status "failed" or "out-of-memory" and its reason if that
    fails. Plug-ins are loaded only for a task with code from outside. `memory`: the limit in bytes,
    which the owner of the process enforces; None for no limit.
    """
    from elmbench.execution.attempt import catch_failures, preload
    from elmbench.tasks.base import Context

    def load() -> "Result":
        """Load what the task needs, and return an empty result."""
        if packed.load.outside_code:
            _load_plugins(settings.plugins)
        preload(_unpack(packed), context)
        return {}

    context = Context(settings.data_dir, memory)
    result = catch_failures(load, context)
    return None if result["status"] == "ok" else result


@cache
def _load_plugins(paths: tuple[str, ...]) -> None:
    """Load the plug-in files at these paths, once in this process."""
    from elmbench.registry.plugins import load_plugin

    for path in paths:
        load_plugin(path)


def run_task(
    packed: "PackedTask", settings: "Settings", memory: int | None
) -> "Result":
    """Run a task in this process and return its result, also of a failure (see `attempt`).

    `memory`: the limit in bytes; None for no limit. A fit that would need more by its model's
    estimate is refused here; the owner of the process ends it at the limit.
    """
    from elmbench.execution.attempt import attempt
    from elmbench.tasks.base import Context

    context = Context(settings.data_dir, memory)
    return attempt(_unpack(packed), packed.inputs, context, settings.blas_threads)


def _unpack(packed: "PackedTask") -> "Task":
    """Return the task that is pickled in a packed task.

    Raises ElmbenchError if its class is from a plug-in file that has been edited: the name of the
    plug-in's module holds the digest of its code.
    """
    from elmbench.errors import ElmbenchError

    try:
        task: Task = pickle.loads(packed.pickled_task)
    except (ImportError, AttributeError) as error:
        problem = f"a plug-in has changed since the run was planned ({error})"
        raise ElmbenchError(problem, next_step="run again") from error
    return task

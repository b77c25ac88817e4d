"""The execution of one task; every failure becomes a result."""

import contextlib
import json
import traceback
import warnings
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from elmbench.errors import ElmbenchError, describe_error, message_of
from elmbench.evaluation.folds import load_rows
from elmbench.execution.store import SEARCH_FAILED
from elmbench.numerics.threads import libraries
from elmbench.registry import BUILT_IN, find_model, model_version
from elmbench.tasks.base import Context, ModelRef, Result, Task
from elmbench.tasks.fit import warm_up
from elmbench.terminal import escape

#: The statuses that a task may end with by itself. `LimitedWorker` enforces the time limits.
STATUSES = ("ok", "diverged", "out-of-memory", "failed")


def preload(task: Task, context: Context) -> None:
    """Import the model of a task and load its data, so that neither counts as time of the task.

    The rows stay cached in this process. A built-in model is also fitted once, on 40 random rows,
    so that its code is compiled. For a task without data, nothing happens. Raises ElmbenchError if
    the data or the model have changed since the task was planned; data that each run draws anew are
    not compared.
    """
    if task.data is None:
        return
    data = load_rows(task.data, context.data_dir)
    spec = task.data.spec
    if spec is None or spec.redraw is None:
        _check_unchanged(
            data.name,
            f"checksum {data.checksum[:12]}",
            f"checksum {task.data.checksum[:12]}",
        )
    model = getattr(task, "model", None)
    if isinstance(model, ModelRef) and spec is not None:
        entry = find_model(model.name)
        factory = entry.factory(spec.task)
        # A worker that starts late may read a plug-in file that has been edited meanwhile.
        _check_unchanged(entry.name, model_version(entry, spec.task), model.version)
        if model.name in BUILT_IN:
            X = np.random.default_rng(0).random((40, 3))
            y = (
                np.where(X[:, 0] > 0.5, 1, -1)
                if spec.task == "classification"
                else X[:, 0]
            )
            # No search is timed while the model is imported and compiled.
            warm_up(factory, {}, X, y)


def _check_unchanged(name: str, state: str, planned: str) -> None:
    """Raise ElmbenchError unless the present state of a model or data set is the planned one.

    `name`: the model or data set. `state` and `planned`: texts such as a version or a checksum.
    """
    if state != planned:
        problem = f"{name} has changed since the run was planned ({state})"
        raise ElmbenchError(problem, expected=planned, next_step="run again")


def attempt(
    task: Task, inputs: Mapping[str, Result], context: Context, blas_threads: int = 1
) -> Result:
    """Run a task in this process, and return its result or its failure.

    `inputs`: {key: result} of the tasks that it needs. If one of them did not end ok, the task is
    not run and has its status. `blas_threads`: threads of the linear algebra library meanwhile.
    Only KeyboardInterrupt is raised.

    The result is in the types of JSON: `status` and `reason`; with status "ok" also the values of
    the task; `warnings`, the first five, each once, in alphabetical order; `solvers`, the number of
    uses of each solver and of failed bounds, if there were any.
    """
    failure = next(
        (result for result in inputs.values() if result["status"] != "ok"), None
    )
    if failure is not None:
        # One prefix is enough for a chain of searches and choices.
        return {
            "status": failure["status"],
            "reason": SEARCH_FAILED + failure["reason"].removeprefix(SEARCH_FAILED),
        }
    threads = libraries().limit(limits=blas_threads)
    folder = contextlib.chdir(".")
    # What a model changes here, such as the working folder, does not reach the task after it.
    with (
        warnings.catch_warnings(record=True) as caught,
        threads,
        folder,
        np.errstate(all="warn", under="ignore"),
    ):
        warnings.simplefilter("default")
        result = catch_failures(partial(task.run, inputs, context), context)
    messages = sorted(
        {
            printable(describe_error(w.message))
            for w in caught
            if isinstance(w.message, Warning)
        }
    )
    # A plug-in's model may count with the integers of numpy.
    solvers = {name: int(count) for name, count in sorted(context.solvers.items())}
    return (
        result | {"warnings": messages[:5]} | ({"solvers": solvers} if solvers else {})
    )


def catch_failures(action: Callable[[], Result], context: Context) -> Result:
    """Return the result of an action in the types of JSON, with `status` and `reason`.

    The status is "ok" and the reason empty unless the result of the action has others. An error, or
    a result that is not valid, becomes a result of status "failed" (with a `traceback` unless it is
    an ElmbenchError) or "out-of-memory" (with the limit of `context` in bytes). Only
    KeyboardInterrupt is raised.
    """
    try:
        result: Result = json.loads(
            json.dumps({"status": "ok", "reason": ""} | action())
        )
        if result.get("status") not in STATUSES or not isinstance(
            result.get("reason"), str
        ):
            expected = f"expected a result with a reason and a status among {', '.join(STATUSES)}"
            raise ValueError(f"{expected}, got {result}")
        return result
    except MemoryError as error:
        reason = printable(message_of(error)) or "the machine has no more memory"
        return {
            "status": "out-of-memory",
            "reason": reason,
            "limit": context.memory_limit,
        }
    except ElmbenchError as error:
        return {"status": "failed", "reason": printable(message_of(error))}
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a model may raise anything; it ends its own cell and no other
        trace = printable(traceback.format_exc(limit=-6), 5000)
        return {
            "status": "failed",
            "reason": printable(describe_error(error)),
            "traceback": trace,
        }


def printable(text: str, longest: int = 500) -> str:
    """Return the first `longest` characters of a text, safe for a file or terminal.

    Each unsafe character is replaced by an escape, so that the result may be longer.
    """
    return escape(text[:longest])

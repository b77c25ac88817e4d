"""One unit of work, done so that no failure leaves as an exception."""

import contextlib
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from elmbench.errors import ElmbenchError
from elmbench.protocol.folds import load_rows
from elmbench.running.answers import check_answer
from elmbench.work.base import Context, Result, Work

#: What the reason of work starts with that could not be done for want of what it needs.
BEFORE = "the search before it: "


def preload(work: Work, context: Context) -> None:
    """Load the data of some work, so that what follows is the work's own time.

    Raises
    ------
    ElmbenchError
        If they are not those that the work was planned with.
    """
    if work.data is None:
        return
    data, planned = load_rows(work.data, context.data_dir), work.data.checksum
    redrawn = work.data.spec is not None and work.data.spec.redraw is not None
    if not redrawn and data.checksum != planned:
        raise ElmbenchError(
            f"{data.name} has changed since the run was planned (checksum {data.checksum[:12]})",
            expected=f"the data with checksum {planned[:12]}",
            next_step="run again",
        )


def attempt(work: Work, inputs: Mapping[str, Result], context: Context, blas_threads: int = 1) -> Result:
    """Do some work in this process.

    Parameters
    ----------
    inputs : mapping of str to dict
        Results of the work that it needs, by key.
    blas_threads : int
        Threads of the linear algebra library meanwhile.

    Returns
    -------
    dict
        `status` and `reason`; with status "ok" also what the work yields; `warnings` that arose, each once; `solvers`,
        how often each way of solving was taken and how often a bound failed, where any was.
    """
    failed = failed_before(inputs)
    return failed or judged(work, produced(work, inputs, context, blas_threads), context)


def failed_before(inputs: Mapping[str, Result]) -> Result | None:
    """Return the result of work that cannot be done for want of what it needs; None where it can."""
    failed = next((result for result in inputs.values() if result["status"] != "ok"), None)
    if failed is None:
        return None
    # Said once, however many searches and choices lead to one another.
    return {"status": failed["status"], "reason": BEFORE + failed["reason"].removeprefix(BEFORE)}


def produced(work: Work, inputs: Mapping[str, Result], context: Context, blas_threads: int = 1) -> Result:
    """Do that part of some work which runs a model; return what `attempt` does, not measured yet."""
    with warnings.catch_warnings(record=True) as caught, _libraries(len(sys.modules)).limit(limits=blas_threads):
        warnings.simplefilter("default")
        result = _guarded(lambda: work.produce(inputs, context), context)
    messages = sorted({f"{w.category.__name__}: {w.message}" for w in caught})
    solvers = {"solvers": dict(sorted(context.solvers.items()))} if context.solvers else {}
    return result | {"warnings": messages[:5]} | solvers


def judged(work: Work, result: Result, context: Context) -> Result:
    """Return a result with what is measured of it; one of which nothing can be made has failed."""
    return _guarded(lambda: _measured(work, result, context), context)


def _measured(work: Work, result: Result, context: Context) -> Result:
    check_answer(result)
    return work.judge(result, context) if result["status"] == "ok" else result


def _guarded(action: Callable[[], Result], context: Context) -> Result:
    try:
        return action()
    except MemoryError as error:
        reason = str(error) or "the machine has no more memory"
        return {"status": "out-of-memory", "reason": reason, "limit": context.memory_limit}
    except ElmbenchError as error:
        return {"status": "failed", "reason": str(error)}
    except Exception as error:  # noqa: BLE001 - a model may raise anything; it ends its own cell and no other
        return {
            "status": "failed",
            "reason": f"{type(error).__name__}: {error}",
            "traceback": traceback.format_exc(limit=-6),
        }


def warm_up(factory: Callable[..., Any], task: str) -> None:
    """Fit a model to a few made-up rows in one thread, so that what it imports and compiles is there from then on.

    Parameters
    ----------
    factory : callable
    task : {"classification", "regression"}
    """
    X = np.random.default_rng(0).random((40, 3))
    y = np.where(X[:, 0] > 0.5, 1, -1) if task == "classification" else X[:, 0]
    # Several threads would be missing in a copy of this process. What fails here fails again where it counts.
    with contextlib.suppress(Exception), warnings.catch_warnings(), _libraries(len(sys.modules)).limit(limits=1):
        warnings.simplefilter("ignore")
        factory().fit(X, y).predict(X)


def find_libraries() -> None:
    """Look for the libraries with threads of their own, so that a copy of this process need not: it takes a while."""
    _libraries(len(sys.modules))


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> ThreadpoolController:
    """Return the libraries with threads of their own; looked for again only where modules have come in since."""
    return ThreadpoolController()

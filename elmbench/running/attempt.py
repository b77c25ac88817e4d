"""One unit of work, done so that no failure leaves as an exception."""

import sys
import traceback
import warnings
from collections.abc import Mapping
from functools import lru_cache

from threadpoolctl import ThreadpoolController

from elmbench.errors import ElmbenchError
from elmbench.protocol.folds import load_rows
from elmbench.work.base import Context, Result, Work

#: What the reason of work starts with that could not be done for want of what it needs.
BEFORE = "the search before it: "
#: How work may end.
STATUSES = ("ok", "diverged", "timeout", "out-of-memory", "failed", "unavailable")


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
    """Do some work.

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
    failed = next((result for result in inputs.values() if result["status"] != "ok"), None)
    if failed is not None:
        # Said once, however many searches and choices lead to one another.
        return {"status": failed["status"], "reason": BEFORE + failed["reason"].removeprefix(BEFORE)}
    with warnings.catch_warnings(record=True) as caught, _libraries(len(sys.modules)).limit(limits=blas_threads):
        warnings.simplefilter("default")
        try:
            result = work.run(inputs, context)
        except MemoryError as error:
            reason = str(error) or "the machine has no more memory"
            result = {"status": "out-of-memory", "reason": reason, "limit": context.memory_limit}
        except ElmbenchError as error:
            result = {"status": "failed", "reason": str(error)}
        except Exception as error:  # noqa: BLE001 - a model may raise anything; it ends its own cell and no other
            result = {
                "status": "failed",
                "reason": f"{type(error).__name__}: {error}",
                "traceback": traceback.format_exc(limit=-6),
            }
    messages = sorted({f"{w.category.__name__}: {w.message}" for w in caught})
    solvers = {"solvers": dict(sorted(context.solvers.items()))} if context.solvers else {}
    return result | {"warnings": messages[:5]} | solvers


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> ThreadpoolController:
    """Return the libraries with threads of their own; looked for again only where modules have come in since."""
    return ThreadpoolController()

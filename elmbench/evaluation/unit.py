"""One unit of work, from its declaration to what the store keeps; no failure leaves this module as an exception."""

from __future__ import annotations

import traceback
import warnings
from typing import Any

from threadpoolctl import threadpool_limits

from elmbench.errors import ElmbenchError
from elmbench.evaluation.cell import evaluate_cell
from elmbench.evaluation.correlation import correlate
from elmbench.evaluation.description import describe
from elmbench.evaluation.divergence import choose_by_divergence, evaluate_divergence
from elmbench.evaluation.folds import load_for
from elmbench.evaluation.memory import memory_budget
from elmbench.evaluation.search import solvers_of_unit
from elmbench.evaluation.selection import choose, evaluate_curve, evaluate_outer, search_and_evaluate, search_inner
from elmbench.specs.datasets import load_dataset_specs

#: What the reason of a unit starts with that could not run for want of one that it needs.
BEFORE = "the search before it: "
#: How a unit may end.
STATUSES = ("ok", "diverged", "timeout", "out-of-memory", "failed", "unavailable")


def preload(unit: dict[str, Any], data_dir: str | None) -> None:
    """Load the data of a unit, so that what follows is the unit's own time.

    Raises
    ------
    ElmbenchError
        If they are not those that the unit was planned with.
    """
    data = load_for(unit["dataset"], data_dir)
    planned = unit["dataset"]["identity"]
    if load_dataset_specs().find(data.name).redraw is None and data.checksum != planned:
        raise ElmbenchError(
            f"{data.name} has changed since the run was planned (checksum {data.checksum[:12]})",
            expected=f"the data with checksum {planned[:12]}",
            next_step="run again",
        )


def run_unit(
    unit: dict[str, Any],
    inputs: dict[str, dict[str, Any]],
    data_dir: str | None,
    *,
    blas_threads: int = 1,
    memory_limit: int | None = None,
) -> dict[str, Any]:
    """Run one unit.

    Parameters
    ----------
    unit : dict
        Kind "search" (inner folds), "grid" (one outer fold), "pass" (both at once), "divergence" (of the training
        part's projections), "choice" (over the outer folds, or by a divergence), "cell", "curve" (over the values of
        one hyperparameter), "correlation" (of a divergence and its leading term) or "description" (of the data), and
        what determines its value.
    inputs : dict of str to dict
        Results of the units that it needs, by key.
    data_dir : str or None
        Folder of data files.
    blas_threads : int
        Threads of the linear algebra library while it runs.
    memory_limit : int or None
        Bytes; a fit that would need more by the model's own estimate is refused.

    Returns
    -------
    dict
        `status` and `reason`; with status "ok" also what the unit yields (a pass: under `search` and `grid` what these
        yield); `warnings` that arose, each once; `solvers`, how often each way of solving was taken and how often a
        bound failed, where any was.
    """
    failed = next((result for result in inputs.values() if result["status"] != "ok"), None)
    if failed is not None:
        # Said once, however many searches and choices lead to one another.
        return {"status": failed["status"], "reason": BEFORE + failed["reason"].removeprefix(BEFORE)}
    with (
        warnings.catch_warnings(record=True) as caught,
        threadpool_limits(limits=blas_threads),
        solvers_of_unit() as solvers,
    ):
        warnings.simplefilter("default")
        try:
            with memory_budget(memory_limit):
                result = _run(unit, inputs, data_dir)
        except MemoryError as error:
            reason = str(error) or "the machine has no more memory"
            result = {"status": "out-of-memory", "reason": reason, "limit": memory_limit}
        except ElmbenchError as error:
            result = {"status": "failed", "reason": str(error)}
        except Exception as error:  # noqa: BLE001 - a model may raise anything; it ends its own cell and no other
            result = {
                "status": "failed",
                "reason": f"{type(error).__name__}: {error}",
                "traceback": traceback.format_exc(limit=-6),
            }
    messages = sorted({f"{w.category.__name__}: {w.message}" for w in caught})
    return result | {"warnings": messages[:5]} | ({"solvers": dict(sorted(solvers.items()))} if solvers else {})


def _run(unit: dict[str, Any], inputs: dict[str, dict[str, Any]], data_dir: str | None) -> dict[str, Any]:
    given_from, chosen_from = unit.get("given"), unit.get("chosen")
    nothing: dict[str, Any] = {"params": {}, "seconds": 0.0}
    given = inputs[given_from] if given_from else nothing
    match unit["kind"]:
        case "cell":
            chosen = inputs[chosen_from] if chosen_from else nothing
            return evaluate_cell(unit, chosen["params"], chosen["seconds"], data_dir)
        case "description":
            return describe(load_for(unit["dataset"], data_dir))
        case "correlation":
            return correlate(unit, data_dir)
        case "curve":
            return {"status": "ok", "reason": "", **evaluate_curve(unit, data_dir)}
        case "pass":
            return {"status": "ok", "reason": "", **search_and_evaluate(unit, data_dir)}
        case "search":
            found = search_inner(unit, given["params"], data_dir)
        case "grid":
            found = evaluate_outer(unit, given["params"], data_dir)
        case "divergence":
            found = evaluate_divergence(unit, given["params"], data_dir)
        case "choice":
            evaluated = [result for key, result in inputs.items() if key != given_from]
            if "criterion" in unit:
                found = choose_by_divergence(unit, evaluated[0], given["params"])
            else:
                found = choose(unit, evaluated, given["params"])
        case kind:
            raise ValueError(f"expected a kind of unit that is known, got {kind!r} instead")
    return {"status": "ok", "reason": "", **found, "seconds": found["seconds"] + given["seconds"]}

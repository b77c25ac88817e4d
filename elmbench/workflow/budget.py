"""A comparison within a time limit: cheap models first, and every second value of a grid if time is short."""

import math
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path

from elmbench.running.executors.base import Executor
from elmbench.running.executors.local import LocalExecutor
from elmbench.specs.limits import parse_duration
from elmbench.workflow.comparison import Comparison, prepare_comparison
from elmbench.workflow.prepare import PreparedRun, RunOptions
from elmbench.workflow.until_told import affordable


def spend(
    asked: Comparison,
    options: RunOptions,
    results_dir: Path,
    budget: str,
    carry_out: Callable[[PreparedRun, Executor], object],
    clock: Callable[[], float] = time.monotonic,
) -> PreparedRun:
    """Compute as much of a comparison as fits a time limit, and return the plan of that part, which is complete.

    A model whose grid is too expensive, or of unknown duration, is searched on every second value of its grid. The
    whole grid takes its place if there is time for it afterwards. A later call resumes from the stored results.

    `budget`: a duration, such as "10min". No work begins after it, and running work is stopped then. `carry_out`:
    carries out a plan on an executor.
    """
    end = clock() + parse_duration(budget)
    again = replace(options, until=end, retry=False)
    reason, remark = f"the budget of {budget} is spent; the same command goes on", f"for the budget of {budget}"

    def plan(models: Mapping[str, set[str]], options: RunOptions = again) -> PreparedRun:
        whole, halved = (models.get(kind, set()) for kind in ("whole", "halved"))
        left_out = dict.fromkeys(columns.difference(whole, halved), reason)
        halves = dict.fromkeys(halved, f"every second value of its grid, {remark}")
        return prepare_comparison(replace(asked, left_out=left_out, halved=halves), options, results_dir)

    first = prepare_comparison(asked, again, results_dir)
    ((resolved, _),), known = first.tables, first.estimates
    columns = set(resolved.spec.models)
    tried: dict[str, set[str]] = {"whole": set(), "halved": set()}
    ended: dict[str, set[str]] = {"whole": set(), "halved": set()}
    while True:
        left = max(0.0, end - clock()) * options.settings.jobs
        for kind in tried:
            waiting = columns - tried[kind] - ended[kind] - ended["whole"]
            planned = plan({kind: waiting})
            planned.estimates.learn(known)
            costs = _costs(planned, waiting)
            unknown = [model for model, cost in costs.items() if math.isinf(cost)] if left else []
            if batch := affordable(costs, left) or {*unknown[: kind == "halved"]}:
                break
        else:
            return plan(ended)
        tried[kind] |= batch
        models = {name: known | batch if name == kind else known - batch for name, known in ended.items()}
        if (run := plan(models, replace(again, retry=options.retry))).todo:
            with LocalExecutor(options.settings) as executor:
                carry_out(run, executor)
            run.store.close()
        done = plan(models)
        known = done.estimates
        ended[kind] |= batch - _unfinished_models(done)
        ended["halved"] -= ended["whole"]


def _costs(run: PreparedRun, models: Collection[str]) -> dict[str, float]:
    """Return the seconds of the remaining work of each model on one core, infinite if unknown."""
    costs = dict.fromkeys(sorted(models), 0.0)
    for line in run.cost_by_entry():
        if line["model"] in costs:
            costs[line["model"]] += math.inf if line["seconds"] is None else line["seconds"]
    return costs


def _unfinished_models(run: PreparedRun) -> set[str]:
    return {line["model"] for line in run.cost_by_entry() if line["to_run"]}

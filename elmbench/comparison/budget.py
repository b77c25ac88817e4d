"""Comparisons within a time limit: cheap models come first, and the others are left out if time is
short.
"""

import math
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from pathlib import Path

from elmbench.comparison.request import ComparisonRequest, describe_data, plan_comparison
from elmbench.runs.prepare import PreparedRun, RunOptions, needed_work
from elmbench.specs.limits import parse_duration


def run_within_budget(
    comparison: ComparisonRequest,
    options: RunOptions,
    results_dir: Path,
    budget: str,
    carry_out: Callable[[PreparedRun], object],
) -> PreparedRun:
    """Compute as much of a comparison as fits a time limit, and return the plan of that part, which
    is complete.

    Cheap models come first. A later call resumes from the stored results.

    `budget`: a duration, such as "10min". No work begins after it, and running work is stopped
    then. `carry_out`: carries out a plan.
    """
    options = replace(options, until=time.monotonic() + parse_duration(budget))
    specs = describe_data(comparison.data)
    run = plan_comparison(comparison, specs, options, results_dir)
    _put_cheap_models_first(run)
    if run.todo and time.monotonic() < options.until:
        carry_out(run)
    options = replace(options, retry=False)
    rest = plan_comparison(comparison, specs, options, results_dir)
    unfinished = {line["model"] for line in rest.cost_by_entry() if line["to_run"]}
    reason = f"the budget of {budget} is spent; the same command goes on"
    left_out = dict.fromkeys(unfinished, reason)
    finished = replace(comparison, left_out=left_out)
    return plan_comparison(finished, specs, options, results_dir)


def _put_cheap_models_first(run: PreparedRun) -> None:
    """Order the work of a run by the cost of its models; those of unknown duration come last."""
    costs: defaultdict[str, float] = defaultdict(float)
    for line in run.cost_by_entry():
        costs[line["model"]] += math.inf if line["seconds"] is None else line["seconds"]
    keys: dict[str, list[str]] = {
        model: [] for model in sorted(costs, key=lambda name: costs[name])
    }
    for _, plan in run.tables:
        for cell in plan.cells:
            keys[cell.model].append(cell.key)
    works = (work for key in chain(*keys.values()) for work in needed_work(key, run.works))
    todo = set(run.todo)
    run.todo = [key for key in dict.fromkeys(work.key for work in works) if key in todo]

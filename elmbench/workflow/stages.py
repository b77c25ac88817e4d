"""Runs in stages: comparisons within a time limit, and runs whose first stage determines the number of runs.

A comparison computes cheap models first, and leaves others out if time is short. A run in two stages follows Stein's
rule (1945, docs/verdicts.md): the deviation of the first runs alone, never their mean, determines how many more
separate the models, so the intervals keep their level, and a second call chooses the same number.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from elmbench.errors import ElmbenchError
from elmbench.layouts import layout_of
from elmbench.reporting.cells import cells_frame
from elmbench.reporting.figures import ComparedFigure, compared_figures
from elmbench.reporting.results import Results
from elmbench.reporting.summary import MeasuredCells, summarise
from elmbench.reporting.verdicts import FEWEST_RUNS, runs_to_tell
from elmbench.running.executors import Executor
from elmbench.running.executors.local import LocalExecutor
from elmbench.specs.limits import parse_duration
from elmbench.specs.profiles import Resolved
from elmbench.work.plan import Plan
from elmbench.workflow.comparison import Comparison, prepare_comparison
from elmbench.workflow.prepare import PreparedRun, RunOptions, prepare, prepare_tables

#: A data set of a table (experiment, data set), or a model on it (experiment, data set, column).
Unit = tuple[str, ...]


def affordable(costs: Mapping[Unit, float], seconds: float) -> set[Unit]:
    """Return the cheapest units that fit half of the time, or one unit that fits all of it.

    Half, because later estimates use the times that are measured meanwhile.
    """
    batch = set[Unit]()
    total = 0.0
    for unit, cost in sorted(costs.items(), key=lambda item: item[1]):
        total += cost
        if total > (seconds / 2 if batch else seconds):
            break
        batch.add(unit)
    return batch


def run_within_budget(
    comparison: Comparison,
    options: RunOptions,
    results_dir: Path,
    budget: str,
    carry_out: Callable[[PreparedRun, Executor], object],
) -> PreparedRun:
    """Compute as much of a comparison as fits a time limit, and return the plan of that part, which is complete.

    Cheap models come first, and models of unknown duration one by one. A later call resumes from the stored results.

    `budget`: a duration, such as "10min". No work begins after it, and running work is stopped then. `carry_out`:
    carries out a plan on an executor.
    """
    end = time.monotonic() + parse_duration(budget)
    budget_options = replace(options, until=end, retry=False)
    reason = f"the budget of {budget} is spent; the same command goes on"

    def plan(models: set[str], options: RunOptions = budget_options) -> PreparedRun:
        left_out = dict.fromkeys(columns - models, reason)
        return prepare_comparison(replace(comparison, left_out=left_out), options, results_dir)

    state = prepare_comparison(comparison, budget_options, results_dir)
    ((resolved, _),) = state.tables
    columns = set(resolved.spec.models)
    attempts, ended = set[str](), set[str]()
    while True:
        time_left = max(0.0, end - time.monotonic()) * options.settings.jobs
        planned = plan(columns - attempts)
        planned.estimates.learn(state.estimates)
        costs = _costs(planned, [(model,) for model in sorted(columns - attempts)], math.inf)
        unknown = [model for model, cost in costs.items() if math.isinf(cost)] if time_left else []
        if not (batch := {model for (model,) in affordable(costs, time_left)} or {model for (model,) in unknown[:1]}):
            return plan(ended)
        attempts |= batch
        if (run := plan(ended | batch, replace(budget_options, retry=options.retry))).todo:
            with LocalExecutor(options.settings) as executor:
                carry_out(run, executor)
            run.store.close()
        state = plan(ended | batch)
        ended |= batch - {line["model"] for line in state.cost_by_entry() if line["to_run"]}


def _costs(plan: PreparedRun, units: Collection[Unit], unknown: float) -> dict[Unit, float]:
    """Return the estimated seconds of the remaining work of each unit on one core.

    The units are models, data sets of tables, or models on them. `unknown`: the seconds of work of unknown duration.
    """
    costs = dict.fromkeys(units, 0.0)
    for line in plan.cost_by_entry():
        entry = line["experiment"], line["dataset"], line["model"]
        for unit in {entry, entry[:2], entry[2:]} & costs.keys():
            costs[unit] += unknown if line["seconds"] is None else line["seconds"]
    return costs


@dataclass(frozen=True)
class Outlook:
    """The number of runs that the published figures need.

    `runs`: the total number of runs of each model that needs more than those of the first stage. `enough`, `more`,
    `never`: the figures for which the first runs suffice, those that need more runs, and those for which no number of
    runs suffices. `seconds`: estimated seconds of the further runs that are not stored yet, from the times of the first
    runs.
    """

    runs: dict[Unit, int]
    enough: int
    more: int
    never: int
    seconds: float

    def record(self) -> dict[str, Any]:
        """Return the outlook for JSON."""
        names = "experiment", "dataset", "model", "runs"
        return asdict(self) | {"runs": [dict(zip(names, (*unit, n), strict=True)) for unit, n in self.runs.items()]}


class TwoStages:
    """A run in two stages.

    `options`: the number of runs is that of the first stage, three by default.

    `size`: the number of runs in the first stage. `first`: the first stage. `rest`: the work that there was no time
    for; None if all was done.

    Raises ElmbenchError if the first stage has fewer than three runs, or if stored results are to be recomputed.
    """

    def __init__(self, options: RunOptions, results_dir: Path) -> None:
        self.size = options.request.runs or FEWEST_RUNS
        if self.size < FEWEST_RUNS:
            raise ElmbenchError(
                f"--until-told has a first stage of --runs {self.size}",
                expected=f"{FEWEST_RUNS} runs or more, for a deviation",
                next_step=f"give --runs {FEWEST_RUNS}, or leave it out",
            )
        if options.retry or options.force:
            raise ElmbenchError(
                "--until-told is given with --retry or --force",
                expected="one of them",
                next_step="run with --retry or --force first, then with --until-told",
            )
        self.options = replace(options, request=replace(options.request, runs=self.size, first_runs=self.size))
        self.results_dir = results_dir
        self.first = prepare(self.options, results_dir)
        self.datasets = {
            (resolved.file.id, cell.dataset) for resolved, plan in self.first.tables for cell in plan.cells
        }
        self.rest: PreparedRun | None = None

    def run(
        self,
        carry_out: Callable[[PreparedRun], list[Results]],
        on_outlook: Callable[[Outlook], None] = lambda outlook: None,
        seconds: float = math.inf,
    ) -> list[Results]:
        """Run both stages and return the tables.

        `carry_out`: carries out a plan and writes its tables. `on_outlook`: called after the first stage. `seconds`:
        time after which no more work begins, by the estimates. The cheapest work is done first.
        """
        end = time.monotonic() + seconds

        def stage(
            units: Collection[Unit], plan: Callable[[Iterable[Unit]], PreparedRun]
        ) -> tuple[set[Unit], list[Results] | None]:
            """Carry out as many units as there is time for; return them, and the tables that the last plan wrote."""
            part = set[Unit]()
            tables: list[Results] | None = None
            while waiting := set(units) - part:
                time_left = max(0, end - time.monotonic()) * self.options.settings.jobs
                batch = waiting if math.isinf(time_left) else affordable(_costs(plan(units), waiting, 0.0), time_left)
                if not batch:
                    break
                part |= batch
                prepared = plan(part)
                tables = carry_out(prepared) if prepared.todo else None
            return part, tables

        datasets, _ = stage(self.datasets, self.plan)
        outlook = self.outlook()
        on_outlook(outlook)

        def plan_runs(models: Iterable[Unit]) -> PreparedRun:
            return self.plan(datasets, {model: outlook.runs[model] for model in models})

        models, tables = stage(outlook.runs, plan_runs)
        if len(datasets) < len(self.datasets) or len(models) < len(outlook.runs):
            self.rest = self.plan(self.datasets, outlook.runs)
        # The tables are written even if nothing was left to compute, but only once.
        return carry_out(plan_runs(models)) if tables is None else tables

    def outlook(self) -> Outlook:
        """Return the number of runs that the figures need, from the stored results of the first stage."""
        runs: Counter[Unit] = Counter()
        needs: list[float] = []
        for resolved, plan in self.first.tables:
            for figure in self._figures(resolved, plan):
                needs.append(runs_to_tell(figure.draws, figure.printed) or math.inf)
                unit = resolved.file.id, figure.dataset, figure.model
                if self.size < needs[-1] < math.inf:
                    runs[unit] = max(runs[unit], int(needs[-1]))
        enough, never = sum(need <= self.size for need in needs), needs.count(math.inf)
        further = self.plan({unit[:2] for unit in runs}, runs)
        seconds = further.seconds_on(self.options.settings.jobs)
        return Outlook(dict(runs), enough, len(needs) - enough - never, never, seconds)

    def _figures(self, resolved: Resolved, plan: Plan) -> Iterator[ComparedFigure]:
        """Yield the figures of a table that the first stage has measured."""
        values = [measure.column for measure in layout_of(resolved).values(resolved)]
        self.first.store.refresh()
        cells = cells_frame(plan.cells, self.first.store, values, resolved)
        if len(cells):
            measured = MeasuredCells(cells, resolved)
            summary = summarise(measured)
            figures = compared_figures(summary[summary["published"].notna()], measured)
            yield from (figure for figure in figures if figure.draws.runs == self.size)

    def plan(self, datasets: Iterable[Unit], runs: Mapping[Unit, int] | None = None) -> PreparedRun:
        """Plan the first stage on these data sets, with this number of runs for each of these models."""
        requests = []
        for resolved, plan in self.first.tables:
            for name in dict.fromkeys(cell.dataset for cell in plan.cells):
                if (resolved.file.id, name) in datasets:
                    request = replace(self.options.request, datasets=(name,))
                    requests.append((resolved, request))
                    for unit, n in (runs or {}).items():
                        if unit[:2] == (resolved.file.id, name):
                            # As in the first stage: the other columns can change how a model is chosen.
                            entry = [cell for cell in plan.cells if (cell.dataset, cell.model) == unit[1:]]
                            select: Any = tuple(dict.fromkeys(cell.select for cell in entry))
                            extra = replace(
                                request, models=unit[2:], select=select, runs=n, with_baselines=False, grids={}
                            )
                            requests.append((resolved, extra))
        return prepare_tables(self.options, requests, self.results_dir)

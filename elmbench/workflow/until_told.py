"""Runs in two stages: the deviation of the first runs determines how many more separate the models (docs/verdicts.md).

This is Stein's rule (1945). The number of runs depends on the deviation of the first runs alone, never on their mean,
so the intervals keep their level, and a second call chooses the same number.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from elmbench.errors import ElmbenchError
from elmbench.layouts import layout_of
from elmbench.reporting.cells import Order, cells_frame
from elmbench.reporting.figures import ComparedFigure, compared_figures
from elmbench.reporting.results import Results
from elmbench.reporting.summary import MeasuredCells, summarise
from elmbench.reporting.verdicts import FEWEST_RUNS, runs_to_tell
from elmbench.specs.profiles import Resolved
from elmbench.work.plan import Plan
from elmbench.workflow.prepare import PreparedRun, RunOptions, prepare, prepare_tables

#: A data set of a table (experiment, data set), or a model on it (experiment, data set, column).
Unit = tuple[str, ...]
Key = TypeVar("Key")


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


class TwoStages:
    """A run in two stages.

    `options`: the number of runs is that of the first stage, three by default.

    `size`: the number of runs in the first stage. `first`: the first stage. `left`: the work that there was no time
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
        self.left: PreparedRun | None = None

    def run(
        self,
        carry_out: Callable[[PreparedRun], list[Results]],
        on_outlook: Callable[[Outlook], None] = lambda outlook: None,
        seconds: float = math.inf,
        clock: Callable[[], float] = time.monotonic,
    ) -> list[Results]:
        """Run both stages and return the tables.

        `carry_out`: carries out a plan and writes its tables. `on_outlook`: called after the first stage. `seconds`:
        time after which no more work begins, by the estimates. The cheapest work is done first.
        """
        end = clock() + seconds
        datasets, _ = self._spend(self.datasets, self.plan, carry_out, lambda: end - clock())
        outlook = self.outlook()
        on_outlook(outlook)

        def more(models: Iterable[Unit]) -> PreparedRun:
            return self.plan(datasets, {model: outlook.runs[model] for model in models})

        models, tables = self._spend(outlook.runs, more, carry_out, lambda: end - clock())
        if len(datasets) < len(self.datasets) or len(models) < len(outlook.runs):
            self.left = self.plan(self.datasets, outlook.runs)
        # The tables are written even if nothing was left to compute, but only once.
        return carry_out(more(models)) if tables is None else tables

    @property
    def datasets(self) -> set[Unit]:
        """The data sets of all tables."""
        return {(resolved.file.id, cell.dataset) for resolved, plan in self.first.tables for cell in plan.cells}

    def _spend(
        self,
        units: Iterable[Unit],
        plan: Callable[[Iterable[Unit]], PreparedRun],
        carry_out: Callable[[PreparedRun], list[Results]],
        time_left: Callable[[], float],
    ) -> tuple[set[Unit], list[Results] | None]:
        """Carry out as many units as there is time for; return them, and the tables that the last plan wrote."""
        units, done = set(units), set[Unit]()
        tables: list[Results] | None = None
        while units - done:
            seconds = max(0, time_left()) * self.options.settings.jobs
            batch = units if math.isinf(seconds) else affordable(self._costs(plan(units), units - done), seconds)
            if not batch:
                break
            done |= batch
            prepared = plan(done)
            tables = carry_out(prepared) if prepared.todo else None
        return done, tables

    @staticmethod
    def _costs(plan: PreparedRun, units: set[Unit]) -> dict[Unit, float]:
        """Return the estimated seconds of each unit on one core."""
        costs = dict.fromkeys(units, 0.0)
        for line in plan.cost_by_entry():
            entry = line["experiment"], line["dataset"], line["model"]
            for unit in units & {entry, entry[:2]}:
                costs[unit] += line["seconds"] or 0.0  # unknown until some of it has ended
        return costs

    def outlook(self) -> Outlook:
        """Return the number of runs that the figures need, from the stored results of the first stage."""
        runs: Counter[Unit] = Counter()
        needs: list[float] = []
        for resolved, plan in self.first.tables:
            for figure in self._figures(resolved, plan):
                apart = math.inf if figure.printed.apart is None else figure.printed.apart
                needs.append(runs_to_tell(figure.draws, figure.printed, apart) or math.inf)
                unit = resolved.file.id, figure.dataset, figure.model
                if self.size < needs[-1] < math.inf:
                    runs[unit] = max(runs[unit], int(needs[-1]))
        enough, never = sum(need <= self.size for need in needs), needs.count(math.inf)
        further = self.plan({unit[:2] for unit in runs}, runs)
        seconds = further.seconds_on(self.options.settings.jobs)
        return Outlook(dict(runs), enough, len(needs) - enough - never, never, seconds)

    def _figures(self, resolved: Resolved, plan: Plan) -> Iterator[ComparedFigure]:
        """Yield the compared figures with the draws of the first stage."""
        values = [measure.column for measure in layout_of(resolved).values(resolved)]
        self.first.store.refresh()
        cells = cells_frame(plan.cells, self.first.store, values, Order(resolved))
        if len(cells):
            measured = MeasuredCells(cells, resolved)
            summary = summarise(measured)
            for figure in compared_figures(summary[summary["published"].notna()], measured):
                if figure.draws.runs == self.size:
                    yield figure

    def plan(self, datasets: Iterable[Unit], runs: Mapping[Unit, int] | None = None) -> PreparedRun:
        """Plan the first stage on these data sets, with this number of runs for each of these models."""
        wanted = []
        for resolved, plan in self.first.tables:
            request = self.options.request
            for name in dict.fromkeys(cell.dataset for cell in plan.cells):
                if (resolved.file.id, name) not in datasets:
                    continue
                wanted.append((resolved, replace(request, datasets=(name,))))
                more: dict[int, list[str]] = {}
                for (experiment, dataset, model), n in (runs or {}).items():
                    if (experiment, dataset) == (resolved.file.id, name):
                        more.setdefault(n, []).append(model)
                for n, models in more.items():
                    one = replace(request, datasets=(name,), models=tuple(models), runs=n)
                    wanted.append((resolved, replace(one, with_baselines=False, grids={})))
        return prepare_tables(self.options, wanted, self.results_dir)


def affordable(costs: Mapping[Key, float], seconds: float) -> set[Key]:
    """Return the cheapest units that fit half of the time, or one unit that fits all of it.

    Half, because later estimates use the times that are measured meanwhile.
    """
    batch: set[Key] = set()
    total = 0.0
    for unit, cost in sorted(costs.items(), key=lambda item: item[1]):
        total += cost
        if total > (seconds / 2 if batch else seconds):
            break
        batch.add(unit)
    return batch

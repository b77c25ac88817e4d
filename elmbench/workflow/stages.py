"""Runs in stages: comparisons within a time limit, and runs whose first stage determines the number
of runs.

A comparison computes cheap models first, and leaves others out if time is short. A run in two
stages follows Stein's rule (1945, docs/verdicts.md): the deviation of the first runs alone, never
their mean, determines how many more separate the models, so the intervals keep their level, and a
second call chooses the same number.
"""

import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from elmbench.errors import ElmbenchError
from elmbench.layouts import layout_of
from elmbench.reporting.cells import cells_frame
from elmbench.reporting.figures import ComparedFigure, compared_figures
from elmbench.reporting.results import Results
from elmbench.reporting.summary import MeasuredCells, summarise
from elmbench.reporting.verdicts import FEWEST_RUNS, runs_to_tell
from elmbench.specs.limits import parse_duration
from elmbench.specs.profiles import Resolved
from elmbench.work.plan import Plan
from elmbench.workflow.comparison import Comparison, prepare_comparison
from elmbench.workflow.prepare import PreparedRun, RunOptions, needed_work, prepare, prepare_tables

#: A data set of a table (experiment, data set), or a model on it (experiment, data set, column).
Unit = tuple[str, ...]


def _unit_of(line: Mapping[str, Any], parts: slice) -> Unit:
    return (line["experiment"], line["dataset"], line["model"])[parts]


def put_cheap_work_first(run: PreparedRun, parts: slice) -> None:
    """Order the work of a run by the cost of its units, which are these parts of (experiment, data
    set, column).

    Units of unknown duration come last.
    """
    costs: defaultdict[Unit, float] = defaultdict(float)
    for line in run.cost_by_entry():
        costs[_unit_of(line, parts)] += math.inf if line["seconds"] is None else line["seconds"]
    keys: dict[Unit, list[str]] = {unit: [] for unit in sorted(costs, key=lambda unit: costs[unit])}
    for resolved, plan in run.tables:
        for cell in plan.cells:
            entry: Unit = resolved.file.id, cell.dataset, cell.model
            keys[entry[parts]].append(cell.key)
    works = (work for key in chain(*keys.values()) for work in needed_work(key, run.works))
    todo = set(run.todo)
    run.todo = [key for key in dict.fromkeys(work.key for work in works) if key in todo]


def unfinished_units(run: PreparedRun, parts: slice) -> set[Unit]:
    """Return the units that have work left; see `put_cheap_work_first`."""
    return {_unit_of(line, parts) for line in run.cost_by_entry() if line["to_run"]}


def run_within_budget(
    comparison: Comparison,
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
    run = prepare_comparison(comparison, options, results_dir)
    put_cheap_work_first(run, slice(2, 3))
    if run.todo and time.monotonic() < options.until:
        carry_out(run)
    options = replace(options, retry=False)
    rest = unfinished_units(prepare_comparison(comparison, options, results_dir), slice(2, 3))
    reason = f"the budget of {budget} is spent; the same command goes on"
    left_out = {model: reason for (model,) in rest}
    return prepare_comparison(replace(comparison, left_out=left_out), options, results_dir)


@dataclass(frozen=True)
class Outlook:
    """The number of runs that the published figures need.

    `runs`: the total number of runs of each model that needs more than those of the first stage.
    `enough`, `more`, `never`: the figures for which the first runs suffice, those that need more
    runs, and those for which no number of runs suffices. `seconds`: estimated seconds of the
    further runs that are not stored yet, from the times of the first runs.
    """

    runs: dict[Unit, int]
    enough: int
    more: int
    never: int
    seconds: float

    def record(self) -> dict[str, Any]:
        """Return the outlook for JSON."""
        names = "experiment", "dataset", "model", "runs"
        return asdict(self) | {
            "runs": [dict(zip(names, (*unit, n), strict=True)) for unit, n in self.runs.items()]
        }


class TwoStages:
    """A run in two stages.

    `options`: the number of runs is that of the first stage, three by default.

    `size`: the number of runs in the first stage. `first`: the first stage. `rest`: the work that
    there was no time for; None if all was done.

    Raises ElmbenchError if the first stage has fewer than three runs, or if stored results are to
    be recomputed.
    """

    def __init__(self, options: RunOptions, results_dir: Path) -> None:
        self.size = options.request.runs or FEWEST_RUNS
        if self.size < FEWEST_RUNS:
            problem = f"--until-told has a first stage of --runs {self.size}"
            expected = f"{FEWEST_RUNS} runs or more, for a deviation"
            raise ElmbenchError(
                problem, expected=expected, next_step=f"give --runs {FEWEST_RUNS}, or leave it out"
            )
        if options.retry or options.force:
            problem = "--until-told is given with --retry or --force"
            next_step = "run with --retry or --force first, then with --until-told"
            raise ElmbenchError(problem, expected="one of them", next_step=next_step)
        self.options = replace(
            options, request=replace(options.request, runs=self.size, first_runs=self.size)
        )
        self.results_dir = results_dir
        self.first = prepare(self.options, results_dir)
        self.datasets = {
            (table.file.id, cell.dataset)
            for table, plan in self.first.tables
            for cell in plan.cells
        }
        self.rest: PreparedRun | None = None

    def run(
        self,
        carry_out: Callable[[PreparedRun, bool], list[Results]],
        on_outlook: Callable[[Outlook], None] = lambda outlook: None,
        seconds: float = math.inf,
    ) -> list[Results]:
        """Run both stages and return the tables.

        `carry_out`: carries out a plan; it writes the tables if its second argument is true.
        `on_outlook`: called after the first stage. `seconds`: time after which no work begins;
        running work is stopped then. Cheap work comes first, and tables show complete data sets and
        models only.
        """
        end = time.monotonic() + seconds
        self.options = replace(self.options, until=end)
        self._run_until(end, self.plan(self.datasets), slice(2), carry_out)
        datasets = self.datasets - unfinished_units(self.plan(self.datasets), slice(2))
        outlook = self.outlook()
        on_outlook(outlook)
        models = outlook.runs
        if end < math.inf:
            self._run_until(end, self.plan(datasets, models), slice(3), carry_out)
            unfinished = unfinished_units(self.plan(datasets, models), slice(3))
            models = {unit: n for unit, n in models.items() if unit not in unfinished}
        results = carry_out(self.plan(datasets, models), True)
        rest = self.plan(self.datasets, outlook.runs)
        self.rest = rest if rest.todo else None
        return results

    def _run_until(
        self,
        end: float,
        run: PreparedRun,
        parts: slice,
        carry_out: Callable[[PreparedRun, bool], object],
    ) -> None:
        if end < math.inf:
            put_cheap_work_first(run, parts)
        if run.todo and time.monotonic() < end:
            carry_out(run, end == math.inf)

    def outlook(self) -> Outlook:
        """Return the number of runs that the figures need, from the stored results of the first
        stage.
        """
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
        """Plan the first stage on these data sets, with this number of runs for each of these
        models.
        """
        requests = []
        for resolved, plan in self.first.tables:
            for name in dict.fromkeys(cell.dataset for cell in plan.cells):
                if (resolved.file.id, name) in datasets:
                    request = replace(self.options.request, datasets=(name,))
                    requests.append((resolved, request))
                    for unit, n in (runs or {}).items():
                        if unit[:2] == (resolved.file.id, name):
                            # As in the first stage: the other columns can change how a model is
                            # chosen.
                            entry = [
                                cell
                                for cell in plan.cells
                                if (cell.dataset, cell.model) == unit[1:]
                            ]
                            select: Any = tuple(dict.fromkeys(cell.select for cell in entry))
                            extra = replace(
                                request, models=unit[2:], runs=n, with_baselines=False, grids={}
                            )
                            requests.append((resolved, replace(extra, select=select)))
        return prepare_tables(self.options, requests, self.results_dir)

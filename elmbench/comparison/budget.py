"""Comparisons within a time limit, by successive halving: all models learn few rows, and the
promising ones learn more.

The idea is that of scikit-learn's `HalvingGridSearchCV` with the number of rows as its resource.
Every model is tested on all test rows, so that the results of different steps can be compared.
"""

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path

from elmbench.comparison.request import (
    TUNE_ROWS,
    ComparisonRequest,
    describe_data,
    plan_comparison,
)
from elmbench.evaluation.score_comparison import DUMMY
from elmbench.metrics import less_is_better
from elmbench.registry import find_model
from elmbench.results.cells import cells_frame
from elmbench.runs.prepare import PreparedRun, RunOptions, needed_work
from elmbench.specs.datasets import DatasetSpec
from elmbench.specs.limits import parse_duration
from elmbench.tasks.fit import Fit

#: Each step has this many times the rows of the one before.
_FACTOR = 4
#: The least rows of a step. A search on fewer rows than `TUNE_ROWS` would differ from step to step.
_LEAST_ROWS = 2 * TUNE_ROWS
#: The share of the models that go on to the next step, and their least number.
_PROMISING = 0.5
_LEAST_PROMISING = 3
#: The share of the remaining time that work may take by its estimate.
_USABLE = 0.7


def run_within_budget(
    comparison: ComparisonRequest,
    options: RunOptions,
    results_dir: Path,
    budget: str,
    carry_out: Callable[[PreparedRun], object],
) -> PreparedRun:
    """Compute as much of a comparison as fits a time limit, and return the plan of that part, which
    is complete.

    Each model is planned with the most training rows that it has learnt. A later call resumes from
    the stored results.

    `budget`: a duration, such as "10min". No work begins after it, and running work is stopped
    then. `carry_out`: carries out a plan.
    """
    options = replace(options, until=time.monotonic() + parse_duration(budget))
    specs = describe_data(comparison.data)
    race = _Race(
        comparison=comparison,
        specs=specs,
        options=options,
        results_dir=results_dir,
        carry_out=carry_out,
    )
    race.run()
    unfinished = [model for model in race.models if model not in race.learnt]
    reason = f"the budget of {budget} is spent; the same command goes on"
    finished = replace(
        comparison,
        left_out=dict.fromkeys(unfinished, reason),
        train_rows={
            model: n_rows for model, n_rows in race.learnt.items() if n_rows < race.steps[-1]
        },
    )
    return plan_comparison(finished, specs, replace(options, retry=False), results_dir)


@dataclass
class _Race:
    """The steps of a comparison within its time limit.

    Attributes
    ----------
    comparison : ComparisonRequest
    specs : sequence of DatasetSpec
    options : RunOptions
        `until` is the end of the time.
    results_dir : path
    carry_out : callable
        Carries out a plan.
    learnt : dict of str to int
        The most training rows of a fold that each model has learnt, in all folds.
    seconds : dict of str to float
        The seconds of all fits and predictions of each model with these rows.
    """

    comparison: ComparisonRequest
    specs: Sequence[DatasetSpec]
    options: RunOptions
    results_dir: Path
    carry_out: Callable[[PreparedRun], object]
    learnt: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def run(self) -> None:
        """Compare all models on few rows, the promising ones on more, and then the others."""
        contenders = self.models
        for n_rows in self.steps:
            self._compare(contenders, n_rows)
            contenders = self._promising(n_rows)
        self._compare(self.models, self.steps[-1])

    @cached_property
    def models(self) -> list[str]:
        """The models that run on any of the data sets."""
        ((_, plan),) = self._whole.tables
        return list(dict.fromkeys(cell.model for cell in plan.cells))

    @cached_property
    def steps(self) -> list[int]:
        """The training rows of a fold at each step in ascending order; all of them at the last."""
        n_rows = max(
            (
                work.outer_fold.n_train
                for work in self._whole.works.values()
                if isinstance(work, Fit)
            ),
            default=0,
        )
        steps = [n_rows]
        while steps[0] // _FACTOR >= _LEAST_ROWS:
            steps.insert(0, steps[0] // _FACTOR)
        return steps

    @cached_property
    def _whole(self) -> PreparedRun:
        """The plan of all models with all rows."""
        return self._plan(self.comparison)

    def _plan(self, comparison: ComparisonRequest) -> PreparedRun:
        return plan_comparison(comparison, self.specs, self.options, self.results_dir)

    def _plan_of(self, models: Iterable[str], n_rows: int) -> PreparedRun:
        """Return the plan of some models, and of the dummy, with some training rows."""
        planned = {*models, DUMMY}
        others = [model for model in self.models if model not in planned]
        train_rows = dict.fromkeys(planned, n_rows) if n_rows < self.steps[-1] else {}
        return self._plan(
            replace(self.comparison, left_out=dict.fromkeys(others, "later"), train_rows=train_rows)
        )

    def _compare(self, models: Sequence[str], n_rows: int) -> None:
        """Compare the models that can end in time, and note which have ended."""
        chosen = self._that_can_end(models, n_rows)
        run = self._plan_of(chosen, n_rows)
        # At first, each model that ends has a result; later, models share the rows of a fold.
        run.todo = _by_model(run) if n_rows == self.steps[0] else _by_fold(run)
        if run.todo and time.monotonic() < self.options.until:
            self.carry_out(run)
        self._note_ended(n_rows, chosen)

    def _that_can_end(self, models: Sequence[str], n_rows: int) -> list[str]:
        """Return the models that together can end in time, by what they took with fewer rows.

        A model whose results are stored, or that has learnt nothing yet, is always among them.
        """
        workers = self.options.settings.jobs
        left = _USABLE * workers * (self.options.until - time.monotonic())
        costs = {model: self._expected_seconds(model, n_rows) for model in models}
        stored = self._ended(self._plan_of(models, n_rows))
        chosen = []
        for model in sorted(costs, key=lambda name: costs[name]):
            cost = 0.0 if model in stored else costs[model]
            if cost <= left or model not in self.seconds:
                chosen.append(model)
                left -= cost
        return chosen

    def _expected_seconds(self, model: str, n_rows: int) -> float:
        """Return the expected seconds of the fits and predictions of a model with some rows."""
        if model not in self.seconds:
            return 0.0
        before = self.learnt[model]
        fits = [
            work
            for work in self._whole.works.values()
            if isinstance(work, Fit) and work.model.name == model
        ]
        formula = {rows: sum(fit.seconds_of(rows) for fit in fits) for rows in (before, n_rows)}
        is_known = find_model(model).cost is not None
        growth = n_rows / before
        if is_known:
            growth = max(growth, formula[n_rows] / formula[before])
        else:
            growth **= 2
        return growth * self.seconds[model]

    def _ended(self, run: PreparedRun) -> set[str]:
        """Return the models of a plan whose cells have all ended."""
        unfinished = {line["model"] for line in run.cost_by_entry() if line["to_run"]}
        ((_, plan),) = run.tables
        return {cell.model for cell in plan.cells} - unfinished

    def _note_ended(self, n_rows: int, models: Iterable[str]) -> None:
        """Note the rows and the seconds of the models whose cells have all ended."""
        run = self._plan_of(models, n_rows)
        ((resolved, plan),) = run.tables
        frame = cells_frame(plan.cells, run.store, [], resolved)
        is_ok = frame["status"] == "ok"
        for model in self._ended(run):
            is_of_model = frame["model"] == model
            # A model that fails with more rows keeps its result with fewer.
            if model in self.learnt and not is_ok[is_of_model].all():
                continue
            self.learnt[model] = n_rows
            times = frame.loc[is_of_model, ["fit_seconds", "predict_seconds"]]
            self.seconds[model] = float(times.astype(float).sum().sum())

    def _promising(self, n_rows: int) -> list[str]:
        """Return the better models of those that have learnt some number of rows."""
        models = [model for model, rows in self.learnt.items() if rows == n_rows and model != DUMMY]
        ranks = self._mean_ranks(self._plan_of(models, n_rows))
        best = sorted(ranks, key=lambda model: (ranks[model], model))
        return best[: max(_LEAST_PROMISING, math.ceil(_PROMISING * len(best)))]

    def _mean_ranks(self, run: PreparedRun) -> Mapping[str, float]:
        """Return the mean rank of each model of a plan over the data sets."""
        ((resolved, plan),) = run.tables
        metrics = {spec.name: resolved.metric_of(spec.name) for spec in self.specs}
        names = list(dict.fromkeys(metrics.values()))
        frame = cells_frame(plan.cells, run.store, names, resolved)
        frame = frame[(frame["status"] == "ok") & (frame["model"] != DUMMY)]
        ranks: dict[str, list[float]] = {}
        for dataset, cells in frame.groupby("dataset"):
            metric = metrics[str(dataset)]
            means = cells.groupby("model")[metric].mean().astype(float)
            for model, rank in means.rank(ascending=less_is_better(metric)).items():
                ranks.setdefault(str(model), []).append(float(rank))
        return {model: sum(values) / len(values) for model, values in ranks.items()}


def _by_model(run: PreparedRun) -> list[str]:
    """Return the work to do, model by model: the cheapest model of each family, and then the
    others.
    """
    costs = _estimated_costs(run)
    first = _cheapest_of_families(costs)
    order = {model: position for position, model in enumerate(dict.fromkeys((*first, *costs)))}
    ((_, plan),) = run.tables
    cells = sorted(plan.cells, key=lambda cell: order[cell.model])
    return _todo_in_order(run, [cell.key for cell in cells])


def _estimated_costs(run: PreparedRun) -> dict[str, float]:
    """Return the estimated seconds of each model, the smallest first; infinite if they are
    unknown.
    """
    costs: dict[str, float] = {}
    for line in run.cost_by_entry():
        seconds = math.inf if line["seconds"] is None else line["seconds"]
        costs[line["model"]] = costs.get(line["model"], 0.0) + seconds
    return dict(sorted(costs.items(), key=lambda item: item[1]))


def _cheapest_of_families(costs: Mapping[str, float]) -> list[str]:
    """Return the first model of each family with a known cost; `costs` has the cheapest first.

    The models of a family have the same formula for their cost.
    """
    first: dict[object, str] = {}
    for model in costs:
        formula = find_model(model).cost
        if formula is not None:
            first.setdefault(formula, model)
    return list(first.values())


def _by_fold(run: PreparedRun) -> list[str]:
    """Return the work to do, fold by fold, because the models share the prepared rows of a fold."""
    ((_, plan),) = run.tables
    cells = sorted(plan.cells, key=lambda cell: (cell.dataset, cell.run, cell.fold))
    return _todo_in_order(run, [cell.key for cell in cells])


def _todo_in_order(run: PreparedRun, keys: Iterable[str]) -> list[str]:
    """Return the work to do in the order of these cells, each after the work that it needs."""
    works = chain.from_iterable(needed_work(key, run.works) for key in keys)
    todo = set(run.todo)
    return [key for key in dict.fromkeys(work.key for work in works) if key in todo]

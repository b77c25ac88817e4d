"""Comparisons within a budget of time, by successive halving: all models learn few rows, and the
promising ones learn more.

The idea is that of scikit-learn's `HalvingGridSearchCV` with the number of rows as its resource.
Every model is tested on the same test rows, so that the results of different steps can be compared.
"""

import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path

import pandas as pd

from elmbench.comparison.defaults import TUNE_ROWS
from elmbench.comparison.request import (
    ComparisonRequest,
    WatchData,
    describe_data,
    plan_comparison,
)
from elmbench.errors import ElmbenchError, wording
from elmbench.metrics import less_is_better
from elmbench.registry import find_model
from elmbench.registry.built_in import DUMMY
from elmbench.results.cells import cells_frame
from elmbench.runs.prepare import PreparedRun, RunOptions, needed_tasks
from elmbench.specs.datasets import DatasetSpec
from elmbench.specs.limits import parse_duration
from elmbench.tasks.fit import Fit
from elmbench.tasks.plan import Cell

#: Each step has this many times the rows of the one before.
_FACTOR = 4
#: The least rows of a step. A search on fewer rows than `TUNE_ROWS` would differ from step to step.
_LEAST_ROWS = 2 * TUNE_ROWS
#: The share of the models that go on to the next step, and their least number.
_PROMISING = 0.5
_LEAST_PROMISING = 3
#: The share of the remaining time that a task may take by its estimate.
_USABLE = 0.7
#: The budget that is advised if reading takes too long: this many times the seconds of reading.
_LEAST_BUDGET = 10
#: The most test rows of a fold. The standard error of an accuracy is then below .002 in a fold, and
#: more rows would cost the time in which models learn.
_MOST_TEST_ROWS = 100_000


def run_within_budget(
    comparison: ComparisonRequest,
    options: RunOptions,
    results_dir: Path,
    budget: str,
    carry_out: Callable[[PreparedRun], object],
    watch: WatchData = iter,
) -> PreparedRun:
    """Compute as much of a comparison as fits a budget of time; return its plan.

    The plan is that of the computed part: each model with the most training rows that it has
    learnt. Models that have not ended are left out, with the reason. A later call resumes from the
    stored results.

    `options`: its `until` is not used. `budget`: a duration, such as "10min", for the whole
    command; tasks end early enough for the tables to be written. `carry_out`: computes a plan and
    stores the results. `watch`: yields the data that it is given, and shows that they are read
    meanwhile.

    Raises ElmbenchError if the data take most of the budget, and no results are stored yet.
    """
    start_time = time.monotonic()
    comparison = replace(comparison, test_rows=_MOST_TEST_ROWS)
    specs = describe_data(watch(comparison.data))
    reading_seconds = time.monotonic() - start_time
    # The tables, with all predictions, are written in about the time in which data are read.
    until = start_time + parse_duration(budget) - reading_seconds
    race = _Race(
        comparison=comparison,
        specs=specs,
        options=replace(options, until=until),
        results_dir=results_dir,
        carry_out=carry_out,
    )
    if race.has_no_results and time.monotonic() >= until:
        raise _too_little_time(specs, budget, reading_seconds)
    race.run()
    unfinished = [model for model in race.models if model not in race.learnt]
    reason = f"the budget of {budget} is spent; the same command goes on"
    finished = replace(
        comparison,
        left_out=dict.fromkeys(unfinished, reason),
        train_rows={
            model: n_rows
            for model, n_rows in race.learnt.items()
            if n_rows < race.rows_of_steps[-1]
        },
    )
    return plan_comparison(finished, specs, replace(options, retry=False), results_dir)


def _too_little_time(
    specs: Sequence[DatasetSpec], budget: str, reading_seconds: float
) -> ElmbenchError:
    """Return the error for a budget that leaves no time for models.

    `specs`: of the data that were read. `budget`: as the user typed it. `reading_seconds`: the time
    that reading took, by which a longer budget is advised.
    """
    titles = ", ".join(spec.title for spec in specs)
    n_minutes = math.ceil(_LEAST_BUDGET * reading_seconds / 60)
    option_text = wording(f"--budget {n_minutes}min", f'budget="{n_minutes}min"')
    return ElmbenchError(
        f"reading {titles} took {reading_seconds:.0f} s of the budget of {budget}",
        expected="time to fit models, and to write their predictions",
        next_step=f"{option_text}, or give fewer rows",
    )


@dataclass
class _Race:
    """The steps of a comparison within its budget.

    Attributes
    ----------
    comparison : ComparisonRequest
    specs : sequence of DatasetSpec
    options : RunOptions
        `until` is the end of the time for tasks.
    results_dir : path
    carry_out : callable
        Computes a plan and stores the results.
    learnt : dict of str to int
        The most training rows of a fold that each model has learnt, in all folds.
    seconds : dict of str to float
        The seconds of all fits and predictions of each model with these rows.
    other_seconds : dict of str to float
        The other seconds of its tasks, most of which prepare the rows.
    """

    comparison: ComparisonRequest
    specs: Sequence[DatasetSpec]
    options: RunOptions
    results_dir: Path
    carry_out: Callable[[PreparedRun], object]
    learnt: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    other_seconds: dict[str, float] = field(default_factory=dict)

    def run(self) -> None:
        """Compare all models on few rows, promising ones on more, and then the others on as many
        rows as the time allows.

        It fills `learnt` and `seconds`. It stops computing when the time is over.
        """
        contenders: Sequence[str] = self.models
        for n_rows in self.rows_of_steps:
            ranked = self._compare(contenders, n_rows)
            contenders = _promising(ranked)
        # What has failed at a step is not repeated.
        self.options = replace(self.options, retry=False)
        learnt_before: dict[str, int] | None = None
        while learnt_before != self.learnt:
            learnt_before = dict(self.learnt)
            # Estimates are better after more rows, so time may be left for a further round.
            for n_rows in reversed(self.rows_of_steps[1:]):
                others = [
                    model for model in self.models if self.learnt.get(model, 0) < n_rows
                ]
                self._compare(others, n_rows)

    @cached_property
    def models(self) -> list[str]:
        """The models that run on any of the data sets."""
        ((_, plan),) = self._whole.tables
        return list(dict.fromkeys(cell.model for cell in plan.cells))

    @property
    def has_no_results(self) -> bool:
        """True if no work of the comparison is stored."""
        return len(self._whole.todo) == len(self._whole.tasks)

    @cached_property
    def rows_of_steps(self) -> list[int]:
        """The numbers of training rows of a fold at the steps, ascending.

        The last step has all rows. Each other one has a quarter of the next, but at least 4000;
        with few rows, there is one step.
        """
        all_rows = max((fit.outer_fold.n_train for fit in self._fits), default=0)
        descending = [all_rows]
        fewer = all_rows // _FACTOR
        while fewer >= _LEAST_ROWS:
            descending.append(fewer)
            fewer //= _FACTOR
        return descending[::-1]

    @cached_property
    def _whole(self) -> PreparedRun:
        """The plan of all models with all rows."""
        return self._plan(self.comparison)

    @property
    def _fits(self) -> list[Fit]:
        """The fits of all models with all rows."""
        return [task for task in self._whole.tasks.values() if isinstance(task, Fit)]

    def _plan(self, comparison: ComparisonRequest) -> PreparedRun:
        """Plan a comparison of the data of this race."""
        return plan_comparison(comparison, self.specs, self.options, self.results_dir)

    def _plan_of(self, models: Iterable[str], n_rows: int) -> PreparedRun:
        """Return the plan of some models and the dummy; the other models are left out.

        `n_rows`: the most training rows of each fold; if it is that of the last step, the rows are
        not limited.
        """
        planned = {*models, DUMMY}
        others = [model for model in self.models if model not in planned]
        train_rows = (
            dict.fromkeys(planned, n_rows) if n_rows < self.rows_of_steps[-1] else {}
        )
        return self._plan(
            replace(
                self.comparison,
                left_out=dict.fromkeys(others, "later"),
                train_rows=train_rows,
            )
        )

    def _compare(self, models: Sequence[str], n_rows: int) -> list[str]:
        """Compute the models that can end in time, on at most `n_rows` training rows of each fold.

        `models`: those to compute, to which the dummy is added. Models whose cells have all ended
        are recorded in `learnt` and `seconds`. Those among them that have a cell that ended ok are
        returned, the best first, without the dummy.
        """
        run = self._plan_of(models, n_rows)
        can_end = self._choose_affordable(models, run, n_rows)
        chosen = {DUMMY, *can_end}
        # At first, each model that ends has a result; later, models share the rows of a fold.
        is_first_step = n_rows == self.rows_of_steps[0]
        cells = _order_by_model(run) if is_first_step else _order_by_fold(run)
        chosen_cells = [cell for cell in cells if cell.model in chosen]
        run.todo = _keys_to_do(run, chosen_cells)
        if run.todo and time.monotonic() < self.options.until:
            self.carry_out(run)
        return self._note_ended(run, n_rows)

    def _choose_affordable(
        self, models: Sequence[str], run: PreparedRun, n_rows: int
    ) -> list[str]:
        """Return those of `models` that together can end in time, the cheapest first.

        Their costs follow from their seconds with fewer rows. A model whose results are stored
        costs nothing; one that has learnt nothing yet is always chosen. `run`: the plan of the
        models. `n_rows`: the most training rows of a fold in it.
        """
        workers = self.options.settings.jobs
        seconds_left = self.options.until - time.monotonic()
        usable_seconds = _USABLE * workers * seconds_left
        unfinished = {cost.model for cost in run.cost_by_group() if cost.to_run}
        costs = dict.fromkeys(models, 0.0)
        for model in unfinished.intersection(models):
            costs[model] = self._expected_seconds(model, n_rows)
        chosen = []
        for model in sorted(costs, key=costs.__getitem__):
            cost = costs[model]
            is_unknown = model not in self.seconds
            if is_unknown or cost <= usable_seconds:
                chosen.append(model)
                usable_seconds -= cost
        return chosen

    def _expected_seconds(self, model: str, n_rows: int) -> float:
        """Return the expected seconds of a model with `n_rows` rows: of its fits and predictions,
        and of the preparation of the rows, which grows with training and test rows.

        They are 0 for a model that has learnt nothing yet.
        """
        if model not in self.seconds:
            return 0.0
        n_test = max(fit.outer_fold.n_test for fit in self._fits)
        growth = (n_rows + n_test) / (self.learnt[model] + n_test)
        preparation_seconds = growth * self.other_seconds[model]
        return preparation_seconds + self._expected_fit_seconds(model, n_rows)

    def _expected_fit_seconds(self, model: str, n_rows: int) -> float:
        """Return the expected seconds of all fits and predictions of a model with `n_rows` rows.

        They grow from those with fewer rows by the model's cost formula, at least in proportion to
        the rows, or with their square without a formula. The model has learnt some rows.
        """
        rows_before = self.learnt[model]
        growth = n_rows / rows_before
        if find_model(model).cost is None:
            return growth**2 * self.seconds[model]
        formula_before = 0.0
        formula_now = 0.0
        for fit in self._fits:
            if fit.model.name == model:
                formula_before += fit.seconds_of(rows_before)
                formula_now += fit.seconds_of(n_rows)
        growth_by_formula = formula_now / formula_before
        return max(growth, growth_by_formula) * self.seconds[model]

    def _note_ended(self, run: PreparedRun, n_rows: int) -> list[str]:
        """Record the models of a plan whose cells have all ended; return those that can be ranked.

        They are recorded in `learnt`, with `n_rows`, and in `seconds` and `other_seconds`; a model
        that fails keeps its record with fewer rows. Those among them that have a cell that ended ok
        are returned, without the dummy, the best mean rank first, equal ones by name.
        """
        ((resolved, plan),) = run.tables
        metrics = {spec.name: resolved.metric_of(spec.name) for spec in self.specs}
        metric_names = list(dict.fromkeys(metrics.values()))
        frame = cells_frame(plan.cells, run.store, metric_names, resolved)
        n_planned = Counter(cell.model for cell in plan.cells)
        ended = set()
        for name, cells in frame.groupby("model"):
            model = str(name)
            if len(cells) < n_planned[model]:
                continue
            ended.add(model)
            # A model that fails with more rows keeps its result with fewer.
            is_ok = (cells["status"] == "ok").all()
            has_learnt_more = n_rows > self.learnt.get(model, 0)
            if model not in self.learnt or (is_ok and has_learnt_more):
                self.learnt[model] = n_rows
                self.seconds[model] = _seconds_of(cells)
                records = [run.store.get(key) or {} for key in cells["key"]]
                all_seconds = sum(record.get("seconds", 0.0) for record in records)
                self.other_seconds[model] = max(all_seconds - self.seconds[model], 0.0)
        is_ranked = frame["model"].isin(ended - {DUMMY})
        ranks = _mean_ranks(frame[is_ranked], metrics)
        return sorted(ranks, key=lambda model: (ranks[model], model))


def _seconds_of(cells: pd.DataFrame) -> float:
    """Return the sum of the seconds of the fits and predictions of some cells.

    `cells`: lines of `cells.csv`, of which those without times do not count. Nor do searches.
    """
    times = cells[["fit_seconds", "predict_seconds"]]
    return float(times.astype(float).sum().sum())


def _mean_ranks(cells: pd.DataFrame, metrics: Mapping[str, str]) -> dict[str, float]:
    """Return {model: mean of its ranks over the data sets}, by its cells that ended ok.

    The best rank is 1. Data sets without such a cell of the model do not count; a model without any
    is left out. `cells`: lines of `cells.csv`. `metrics`: {data set: metric that ranks}.
    """
    is_ok = cells["status"] == "ok"
    ranks = [
        _ranks_of_means(group, metrics[str(dataset)])
        for dataset, group in cells[is_ok].groupby("dataset")
    ]
    if not ranks:
        return {}
    by_model = pd.concat(ranks).groupby(level=0, sort=False)
    means = by_model.mean()
    return {str(model): float(rank) for model, rank in means.items()}


def _ranks_of_means(cells: pd.DataFrame, metric: str) -> "pd.Series[float]":
    """Return a series of the rank of each model by its mean of a metric, 1 for the best.

    Its index is the model. Equal models share the mean of their ranks; those without a mean come
    last. `cells`: lines of `cells.csv` of one data set, with a column `metric`, of which more or
    less is better.
    """
    scores = cells.groupby("model")[metric]
    means = scores.mean().astype(float)
    return means.rank(ascending=less_is_better(metric), na_option="bottom")


def _promising(ranked: Sequence[str]) -> Sequence[str]:
    """Return the first half of the models (rounded up), but at least three, or all if fewer.

    `ranked`: the models, the best first.
    """
    share = math.ceil(_PROMISING * len(ranked))
    n_promising = max(_LEAST_PROMISING, share)
    return ranked[:n_promising]


def _order_by_model(run: PreparedRun) -> list[Cell]:
    """Return the planned cells model by model, the cheapest model of each family first.

    Then come the other models. Both are in ascending order of their estimated seconds. The models
    of a family have the same formula for their cost.
    """
    costs = _estimated_costs(run)
    first = _cheapest_of_families(costs)
    order = {
        model: position
        for position, model in enumerate(dict.fromkeys((*first, *costs)))
    }
    ((_, plan),) = run.tables
    return sorted(plan.cells, key=lambda cell: order[cell.model])


def _estimated_costs(run: PreparedRun) -> dict[str, float]:
    """Return {model: estimated seconds} of the remaining tasks, the smallest first.

    All models of the plan are there: 0 if nothing remains, infinite if the seconds are unknown.
    """
    costs: defaultdict[str, float] = defaultdict(float)
    for group in run.cost_by_group():
        seconds = group.seconds
        if seconds is None:
            seconds = math.inf
        costs[group.model] += seconds
    ascending = sorted(costs, key=costs.__getitem__)
    return {model: costs[model] for model in ascending}


def _cheapest_of_families(costs: Mapping[str, float]) -> list[str]:
    """Return the first model of each family, that is, of each formula for the cost.

    `costs`: {model: seconds}, the cheapest first. Models without a formula are left out.
    """
    first: dict[object, str] = {}
    for model in costs:
        formula = find_model(model).cost
        if formula is not None:
            first.setdefault(formula, model)
    return list(first.values())


def _order_by_fold(run: PreparedRun) -> list[Cell]:
    """Return the planned cells by data set, run and fold, not by model.

    The models then share the prepared rows of a fold.
    """
    ((_, plan),) = run.tables
    return sorted(plan.cells, key=lambda cell: (cell.dataset, cell.run, cell.fold))


def _keys_to_do(run: PreparedRun, cells: Iterable[Cell]) -> list[str]:
    """Return the keys of the tasks that some cells need and that are still to run.

    They are in the order of the cells, each once. The task of a cell stands before those that it
    needs.
    """
    tasks = chain.from_iterable(needed_tasks(cell.key, run.tasks) for cell in cells)
    todo = set(run.todo)
    return [key for key in dict.fromkeys(task.key for task in tasks) if key in todo]

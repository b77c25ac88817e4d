"""The plan of a run, from a user's request. Nothing is computed or written here."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NoReturn, get_args

from elmbench.datasets.load import Identities
from elmbench.errors import DataUnavailableError, ElmbenchError, unknown_name, wording
from elmbench.execution.engine import Estimates, find_pending
from elmbench.execution.executors import Settings
from elmbench.execution.processes import available_memory
from elmbench.execution.store import Store
from elmbench.results.folders import FigureFormat
from elmbench.runs.user_specs import TABLE_ENDINGS, add_table
from elmbench.runs.validate import check_experiment
from elmbench.specs.catalogue import find_experiment, load_catalogue
from elmbench.specs.experiment_file import ExperimentFile
from elmbench.specs.experiments import PROFILES
from elmbench.specs.limits import Limits, parse_limits
from elmbench.specs.profiles import Resolved, resolve
from elmbench.specs.protocol import Selection
from elmbench.tables import add_metrics
from elmbench.tables.planning import make_plan
from elmbench.tasks.base import Task
from elmbench.tasks.fit import Fit
from elmbench.tasks.plan import Plan, RunRequest


@dataclass(frozen=True)
class RunOptions:
    """A request of `elmbench run` or `elmbench compare`.

    Attributes
    ----------
    experiments : tuple of str
        Ids or aliases, or YAML files of a user's own tables.
    paper : str, optional
        Run every experiment of this paper.
    everything : bool
        Run every experiment.
    profile : str
        "ci", "fast" or "paper"; a comparison has "compare".
    readings : dict of str to str
        Values of readings by id.
    metrics : tuple of str
        Shown beside the tables' own metrics.
    request : RunRequest
        The parts of the tables to run, and changes of their protocols.
    settings : Settings
        Of the workers.
    retry : bool
        Repeat tasks that did not end ok.
    force : bool
        Repeat all tasks.
    command : str
        The command that the tables name; empty for an `elmbench run` made from these options.
    whole : bool
        Show only the cells of this request, and none of earlier requests.
    until : float
        The time of `time.monotonic` at which the run ends, even if tasks are left.
    figure_format : str
        The format of figures: "png" for PNG only, or another one beside it.
    """

    experiments: tuple[str, ...] = ()
    paper: str | None = None
    everything: bool = False
    profile: str = "fast"
    readings: dict[str, str] = field(default_factory=dict)
    metrics: tuple[str, ...] = ()
    request: RunRequest = field(default_factory=RunRequest)
    settings: Settings = field(default_factory=Settings)
    retry: bool = False
    force: bool = False
    command: str = ""
    whole: bool = False
    until: float = math.inf
    figure_format: FigureFormat = "png"

    @property
    def many_tables(self) -> bool:
        """True if the request is for all tables, or for all of a paper."""
        return self.everything or self.paper is not None


@dataclass
class GroupCost:
    """The planned work of a group of cells: those of a data set and a column of a table.

    Attributes
    ----------
    experiment, dataset, model : str
        The id of the table, the data set and the column.
    cells : int
        The number of cells.
    to_run, unavailable : int
        The cells that still have to run, and those whose data are missing.
    fits : int
        The fits of the remaining tasks.
    seconds : float or None
        The estimated seconds of the remaining tasks; None if some are unknown.
    """

    experiment: str
    dataset: str
    model: str
    cells: int = 0
    to_run: int = 0
    unavailable: int = 0
    fits: int = 0
    seconds: float | None = 0.0

    def add(self, fits: int, seconds: float | None) -> None:
        """Add the fits and seconds of a remaining task to the sums.

        `seconds`: None if the duration is unknown, and then the sum is None from now on.
        """
        self.fits += fits
        if seconds is None or self.seconds is None:
            self.seconds = None
        else:
            self.seconds += seconds


@dataclass
class PreparedRun:
    """A run that has been planned; nothing is computed yet.

    Attributes
    ----------
    options : RunOptions
    results_dir : path
    store : Store
    tables : list of (Resolved, Plan)
        Each table with its planned cells and tasks.
    tasks : dict of str to Task
        The tasks of all tables by key, each once.
    limits : dict of str to Limits
        The limits of each task by key: those of the run, else of the table, else a worker's
        share of the memory.
    todo : list of str
        Keys of the tasks to run: those without a usable result in the store.
    estimates : Estimates
        Of the durations of all tasks, corrected by those in the store.
    """

    options: RunOptions
    results_dir: Path
    store: Store
    tables: list[tuple[Resolved, Plan]]

    def __post_init__(self) -> None:
        self.tasks: dict[str, Task] = {}
        for _, plan in self.tables:
            self.tasks |= plan.tasks
        self.limits = self._limits()
        self.todo = find_pending(
            self.tasks,
            self.limits,
            self.store,
            retry=self.options.retry,
            force=self.options.force,
        )
        self.estimates = Estimates(self.tasks, self.limits)
        self._note_stored_durations()

    def _limits(self) -> dict[str, Limits]:
        """Return {key: limits} of the tasks of all tables.

        A limit of time or memory is that of the run, else of the table, whose searches may have
        their own; without a limit of memory, it is a worker's share of the memory. A time without
        any limit stays unlimited. Of a task that tables share, the larger limit counts.
        """
        settings = self.options.settings
        share = Limits(memory=settings.memory or available_memory() // settings.jobs)
        limits: dict[str, Limits] = {}
        for resolved, plan in self.tables:
            fit_limits = parse_limits(resolved.spec.limit)
            search_limits = parse_limits(resolved.spec.search_limit).complete(
                fit_limits
            )
            of_fits = settings.limits.complete(fit_limits).complete(share)
            of_searches = settings.limits.complete(search_limits).complete(share)
            for key, task in plan.tasks.items():
                limit = of_fits if isinstance(task, Fit) else of_searches
                # A task that two tables share has the more generous limit.
                limits[key] = limit.wider(limits[key]) if key in limits else limit
        return limits

    def _note_stored_durations(self) -> None:
        """Correct the estimates by the durations of stored tasks that ended ok.

        Tasks that are run again are left out.
        """
        stored = self.tasks.keys() - set(self.todo)
        for key in stored:
            record = self.store.get(key)
            if record is None:
                continue
            ended_ok = record["result"]["status"] == "ok"
            seconds = record.get("seconds")
            if ended_ok and seconds:
                self.estimates.note(key, seconds)

    @property
    def timed_tasks(self) -> list[str]:
        """The keys of the tasks to run that take time, which the displays of progress count."""
        return [key for key in self.todo if not self.tasks[key].immediate]

    def seconds_on(self, workers: int) -> float:
        """Return the rough seconds of the remaining tasks on `workers` workers.

        They are at least those of the longest task. Tasks of models of unknown duration count as 0.
        `workers`: at least 1.
        """
        seconds = sum(self.estimates.seconds(key) or 0.0 for key in self.todo)
        return max(seconds / workers, self.longest)

    @property
    def longest(self) -> float:
        """The estimated seconds of the longest remaining task; 0 if there is none.

        More workers cannot make a run shorter. Tasks of unknown duration do not count.
        """
        return max(
            (self.estimates.seconds(key) or 0.0 for key in self.todo), default=0.0
        )

    @property
    def unknown(self) -> list[str]:
        """The names of the models of unknown duration in the remaining tasks, sorted."""
        return sorted(
            {
                self.tasks[key].model_name
                for key in self.todo
                if self.estimates.seconds(key) is None
            }
        )

    def count_cells(self) -> dict[str, int]:
        """Return the numbers of different cells as {"planned": n, "to_run": n, "unavailable": n}.

        `to_run` and `unavailable`, whose data are missing, are parts of `planned`. Cells of several
        tables that share a task count once; unavailable ones, which have no task, all count.
        """
        cells = [cell for _, plan in self.tables for cell in plan.cells]
        keys = {cell.key for cell in cells if not cell.unavailable}
        missing = sum(bool(cell.unavailable) for cell in cells)
        return {
            "planned": len(keys) + missing,
            "to_run": len(keys.intersection(self.todo)),
            "unavailable": missing,
        }

    def cost_by_group(self) -> list[GroupCost]:
        """Return the planned work of each data set and column of each table.

        The order is that of the plan. A task that several of them need is counted once, for the
        first.
        """
        todo = set(self.todo)
        # A task that several groups need is counted for the first of them.
        uncounted = set(self.todo)
        costs: dict[tuple[str, str, str], GroupCost] = {}
        for resolved, plan in self.tables:
            for cell in plan.cells:
                group = (resolved.file.id, cell.dataset, cell.model)
                cost = costs.setdefault(group, GroupCost(*group))
                cost.cells += 1
                cost.unavailable += bool(cell.unavailable)
                cost.to_run += cell.key in todo
                for task in needed_tasks(cell.key, plan.tasks):
                    if task.key not in uncounted:
                        continue
                    uncounted.discard(task.key)
                    seconds = self.estimates.seconds(task.key)
                    cost.add(task.number_of_fits, seconds)
        return list(costs.values())


def needed_tasks(key: str, tasks: dict[str, Task]) -> Iterator[Task]:
    """Yield the task of a key, and then all tasks that it needs, directly or not, some repeatedly.

    `tasks`: all tasks by key. An empty key, of a cell without data, yields nothing.
    """
    if key:
        yield tasks[key]
        for name in tasks[key].needs:
            yield from needed_tasks(name, tasks)


def _check_one_choice(options: RunOptions) -> None:
    """Raise ElmbenchError if tables are requested in two ways: by name, by --paper or by --all."""
    choices = []
    if options.experiments:
        choices.append(" ".join(options.experiments))
    if options.paper is not None:
        choices.append(f"--paper {options.paper}")
    if options.everything:
        choices.append("--all")
    if len(choices) > 1:
        raise ElmbenchError(
            f"{' and '.join(choices)} are given together",
            expected="tables by name, or --paper KEY, or --all",
            next_step="give one of them",
        )


def _check_names(options: RunOptions, catalogue: Mapping[str, ExperimentFile]) -> None:
    """Raise ElmbenchError if the profile, a selection or the paper of a request does not exist.

    `catalogue`: all tables by id, whose papers are the ones that exist.
    """
    if options.profile not in PROFILES:
        _refuse_name("profile", options.profile, PROFILES)
    selections = get_args(Selection)
    for name in options.request.select:
        if name not in selections:
            _refuse_name("selection", name, selections)
    papers = sorted({file.spec.paper for file in catalogue.values()})
    if options.paper is not None and options.paper not in papers:
        raise unknown_name("paper", options.paper, papers, "elmbench list experiments")


def _refuse_name(kind: str, name: str, known: Iterable[str]) -> NoReturn:
    """Raise the error for an unknown profile or selection; never return.

    `kind`: "profile" or "selection". `known`: the names that exist.
    """
    raise unknown_name(kind, name, list(known), "elmbench run --help")


def find_experiments(options: RunOptions) -> list[ExperimentFile]:
    """Return the requested experiments, each once.

    For all tables, or all of a paper, those without the requested profile are left out, perhaps all
    of them; a table that is named is returned even without it. A YAML file of a user's own table is
    added to the suite. Raises ElmbenchError if none is named, tables are requested in two ways, or
    a name, profile, selection or paper does not exist.
    """
    catalogue = load_catalogue()
    _check_one_choice(options)
    _check_names(options, catalogue)
    if options.many_tables:
        return [
            file
            for file in catalogue.values()
            if options.profile in file.profiles
            and file.spec.paper == (options.paper or file.spec.paper)
        ]
    if not options.experiments:
        problem = "no experiment is named"
        expected = "one or more ids, or --paper KEY, or --all"
        raise ElmbenchError(
            problem, expected=expected, next_step="elmbench list experiments"
        )
    names = options.experiments
    files = [
        add_table(Path(name)) if name.endswith(TABLE_ENDINGS) else find_experiment(name)
        for name in names
    ]
    return list({file.id: file for file in files}.values())


def prepare_run(options: RunOptions, results_dir: Path) -> PreparedRun:
    """Plan a run; compute and write nothing.

    Raises ElmbenchError if something in the request does not exist or fits no table, or if a data
    file is bad, and DataUnavailableError if a named data set has no file.
    """
    requests = _requests_of_tables(options)
    if not requests:
        problem = "no table has these data sets under this profile"
        raise ElmbenchError(
            problem,
            expected="data sets of the tables",
            next_step="elmbench list experiments",
        )
    _check_readings(options, [resolved.file for resolved, _ in requests])
    run = prepare_tables(options, requests, results_dir)
    for (resolved, plan), (_, request) in zip(run.tables, requests, strict=True):
        _check_requested_data(resolved, request, plan)
        _check_published_parameters(resolved, request, plan)
    return run


def _requests_of_tables(options: RunOptions) -> list[tuple[Resolved, RunRequest]]:
    """Return [(table, request)] of the requested tables, under their profile and readings.

    The readings of a table are those of the request that it has; others are ignored here. Requested
    metrics are added to each table. If all tables, or all of a paper, are requested with named data
    sets, a request has only those that the table uses, and tables without any are left out. Raises
    ElmbenchError if a user's own table is not valid.
    """
    requests = []
    for file in find_experiments(options):
        # The tests check the tables of the suite.
        if not file.is_of_suite:
            check_experiment(file)
        readings = {
            name: value
            for name, value in options.readings.items()
            if name in file.spec.readings
        }
        resolved = resolve(file, options.profile, readings)
        request = options.request
        if options.many_tables and request.datasets:
            request = replace(
                request, datasets=_datasets_of_table(resolved, request.datasets)
            )
            if not request.datasets:
                continue
        requests.append((add_metrics(resolved, options.metrics), request))
    return requests


def _datasets_of_table(resolved: Resolved, names: Iterable[str]) -> tuple[str, ...]:
    """Return the requested data sets that a table uses, by the suite's names, in the given order.

    `names`: may be aliases; an unknown one raises ElmbenchError. Data sets under the profile or in
    the whole file count.
    """
    used = {*resolved.file.spec.datasets, *resolved.spec.datasets}
    suite_names = (resolved.dataset(name).name for name in names)
    return tuple(name for name in suite_names if name in used)


def _check_readings(options: RunOptions, files: Sequence[ExperimentFile]) -> None:
    """Raise ElmbenchError if a requested reading belongs to no requested table.

    `files`: the requested tables, at least one.
    """
    for name, value in options.readings.items():
        if not any(name in file.spec.readings for file in files):
            # Says which readings it has.
            resolve(files[0], options.profile, {name: value})


def _check_requested_data(resolved: Resolved, request: RunRequest, plan: Plan) -> None:
    """Raise DataUnavailableError if a data set that the user names has no file.

    `request`: of this table; without names of data sets, nothing is checked. `plan`: its cells say
    which data are missing.
    """
    names = {resolved.dataset(name).name for name in request.datasets}
    for cell in plan.cells:
        if cell.unavailable and cell.dataset in names:
            problem, _, step = cell.unavailable.partition("; ")
            expected = "a file for each data set that is named"
            raise DataUnavailableError(
                problem, expected=expected, next_step=step or None
            )


def _check_published_parameters(
    resolved: Resolved, request: RunRequest, plan: Plan
) -> None:
    """Raise ElmbenchError if only published hyperparameters are requested, and there are none.

    These are the selection "published". A plan without cells passes.
    """
    if request.select != ("published",) or not plan.cells:
        return
    if any(cell.select == "published" for cell in plan.cells):
        return
    raise ElmbenchError(
        f"{resolved.file.id} has no printed hyperparameters of these models on these data sets",
        expected="columns that the paper prints them for",
        next_step=wording(
            "leave --select out, or give --select nested",
            'leave select out, or give ["nested"]',
        ),
    )


def prepare_tables(
    options: RunOptions, requests: list[tuple[Resolved, RunRequest]], results_dir: Path
) -> PreparedRun:
    """Plan a run of tables under their profile and readings, each with its request.

    `options`: the settings that all tables share; its experiments and request are not used.
    `requests`: [(table, request)]. Raises ElmbenchError if a data file is bad.
    """
    identities = Identities(options.settings.data_dir)
    tables = [
        (resolved, make_plan(resolved, request, identities))
        for resolved, request in requests
    ]
    return PreparedRun(options, results_dir, Store(results_dir), tables)

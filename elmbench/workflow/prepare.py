"""The plan of a run, from a user's request. Nothing is computed or written here."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from elmbench.errors import DataUnavailableError, ElmbenchError, unknown_name
from elmbench.layouts import with_metrics
from elmbench.running.engine import effective_limits, pending
from elmbench.running.estimates import Estimates
from elmbench.running.executors.base import Settings
from elmbench.running.planning import make_plan
from elmbench.running.store import Store
from elmbench.specs.catalogue import PROFILES, ExperimentFile, find_experiment, load_catalogue
from elmbench.specs.limits import Limits, parse_limits
from elmbench.specs.profiles import Resolved, resolve
from elmbench.work.base import Work
from elmbench.work.fit import Fit
from elmbench.work.plan import Plan, Request
from elmbench.workflow.user_specs import add_table, is_table_file


@dataclass(frozen=True)
class RunOptions:
    """A request of `elmbench run`.

    `experiments`: ids or aliases, or YAML files of a user's own tables. `paper`: every experiment of this paper.
    `everything`: every experiment. `metrics`: shown beside the tables' own metrics. `retry`, `force`: as for `pending`.
    `clean_times`: time the fits of the cells one by one. `command`: the command that the tables name, if it is not
    `elmbench run`. `whole`: show only these cells, and none of earlier requests. `until`: the time of `time.monotonic`
    at which the run ends, even if work is left.
    """

    experiments: tuple[str, ...] = ()
    paper: str | None = None
    everything: bool = False
    profile: str = "fast"
    readings: dict[str, str] = field(default_factory=dict)
    metrics: tuple[str, ...] = ()
    request: Request = field(default_factory=Request)
    settings: Settings = field(default_factory=Settings)
    retry: bool = False
    force: bool = False
    clean_times: bool = False
    command: str = ""
    whole: bool = False
    until: float = math.inf


@dataclass
class PreparedRun:
    """A run that has been planned.

    `works`: the work of all tables by key, each once. `limits`: by key. `todo`: keys of the work to be done.
    `estimates`: of all work, from the durations in the store.
    """

    options: RunOptions
    results_dir: Path
    store: Store
    tables: list[tuple[Resolved, Plan]]
    works: dict[str, Work]
    limits: dict[str, Limits]
    todo: list[str]
    estimates: Estimates

    def seconds_on(self, workers: int) -> float:
        """Return the rough seconds of the remaining work, without models of unknown duration."""
        seconds = sum(self.estimates.seconds(key) or 0.0 for key in self.todo)
        return max(seconds / workers, self.longest)

    @property
    def longest(self) -> float:
        """The seconds of the longest remaining search or fit: more workers cannot make a run shorter."""
        return max((self.estimates.seconds(key) or 0.0 for key in self.todo), default=0.0)

    @property
    def unknown(self) -> list[str]:
        """The models of unknown duration in the remaining work."""
        return sorted({self.works[key].model_name for key in self.todo if self.estimates.seconds(key) is None})

    def count_cells(self) -> dict[str, int]:
        """Return the number of planned cells, of those still to run, and of those whose data are missing.

        A cell that several tables show counts once.
        """
        cells = [cell for _, plan in self.tables for cell in plan.cells]
        keys = {cell.key for cell in cells if not cell.unavailable}
        unavailable = sum(bool(cell.unavailable) for cell in cells)
        return {
            "planned": len(keys) + unavailable,
            "to_run": len(keys.intersection(self.todo)),
            "unavailable": unavailable,
        }

    def cost_by_entry(self) -> list[dict[str, Any]]:
        """Return the plan of each data set and column of each table, with the remaining fits and seconds.

        Seconds are None if they are unknown.
        """
        todo = set(self.todo)
        left = set(todo)
        lines: dict[tuple[str, str, str], dict[str, Any]] = {}
        for resolved, plan in self.tables:
            for cell in plan.cells:
                entry = (resolved.file.id, cell.dataset, cell.model)
                line = lines.setdefault(
                    entry,
                    dict(zip(("experiment", "dataset", "model"), entry, strict=True))
                    | {"cells": 0, "to_run": 0, "unavailable": 0, "fits": 0, "seconds": 0.0},
                )
                line["cells"] += 1
                line["unavailable"] += bool(cell.unavailable)
                line["to_run"] += cell.key in todo
                for work in _with_needs(cell.key, plan.works):
                    # Work that several entries need is counted for the first of them.
                    if work.key in left:
                        left.discard(work.key)
                        line["fits"] += work.number_of_fits
                        seconds = self.estimates.seconds(work.key)
                        line["seconds"] = None if None in (seconds, line["seconds"]) else line["seconds"] + seconds
        return list(lines.values())


def _with_needs(key: str, works: dict[str, Work]) -> Iterator[Work]:
    if key:
        yield works[key]
        for name in works[key].needs:
            yield from _with_needs(name, works)


def chosen_experiments(options: RunOptions) -> list[ExperimentFile]:
    """Return the requested experiments.

    Raises ElmbenchError if none is named, or one does not exist.
    """
    catalogue = load_catalogue()
    if options.experiments and (options.everything or options.paper is not None):
        other = "--all" if options.everything else f"--paper {options.paper}"
        raise ElmbenchError(
            f"{' '.join(options.experiments)} is named beside {other}",
            expected="tables by name, or --paper KEY, or --all",
            next_step="give one of them",
        )
    if options.profile not in PROFILES:
        raise unknown_name("profile", options.profile, list(PROFILES), "elmbench run --help")
    if options.everything or options.paper is not None:
        papers = sorted({file.spec.paper for file in catalogue.values()})
        if options.paper is not None and options.paper not in papers:
            raise unknown_name("paper", options.paper, papers, "elmbench list experiments")
        return [
            file
            for file in catalogue.values()
            if options.profile in file.profiles and file.spec.paper == (options.paper or file.spec.paper)
        ]
    if not options.experiments:
        raise ElmbenchError(
            "no experiment is named",
            expected="one or more ids, or --paper KEY, or --all",
            next_step="elmbench list experiments",
        )
    files = [add_table(Path(name)) if is_table_file(name) else find_experiment(name) for name in options.experiments]
    return list({file.id: file for file in files}.values())


def prepare(options: RunOptions, results_dir: Path) -> PreparedRun:
    """Plan a run.

    Raises ElmbenchError if something in the request does not exist, or a data file is bad.
    """
    files = chosen_experiments(options)
    if options.everything or options.paper:
        files = [f for f in files if not options.request.datasets or _request_of(options, f).datasets]
    if not files:
        raise ElmbenchError(
            "no table has these data sets under this profile",
            expected="data sets of the tables",
            next_step="elmbench list experiments",
        )
    for name in options.readings:
        if not any(name in file.spec.readings for file in files):
            resolve(files[0], options.profile, {name: options.readings[name]})
    wanted = []
    for file in files:
        readings = {k: v for k, v in options.readings.items() if k in file.spec.readings}
        resolved = with_metrics(resolve(file, options.profile, readings), options.metrics)
        wanted.append((resolved, _request_of(options, file)))
    run = prepare_tables(options, wanted, results_dir)
    for (resolved, plan), (_, request) in zip(run.tables, wanted, strict=True):
        _refuse_absent(plan, resolved, request)
        _refuse_unprinted(plan, resolved, request)
    return run


def prepare_tables(options: RunOptions, wanted: list[tuple[Resolved, Request]], results_dir: Path) -> PreparedRun:
    """Plan a run of resolved tables, each with its request; see `prepare`.

    If a table has several requests, the last one for a model on a data set counts.
    """
    store = Store(results_dir)
    tables: list[tuple[Resolved, Plan]] = []
    works: dict[str, Work] = {}
    declared: dict[str, Limits] = {}
    for resolved, request in wanted:
        plan = make_plan(resolved, request)
        if tables and tables[-1][0] is resolved:
            tables[-1][1].update(plan)
        else:
            tables.append((resolved, plan))
        works |= plan.works
        # Work that two tables share has the more generous limit.
        for key, limit in _declared_limits(resolved, plan).items():
            declared[key] = limit.wider(declared.get(key, limit))
    limits = effective_limits(works, declared, options.settings)
    todo = pending(works, limits, store, retry=options.retry, force=options.force)
    estimates = Estimates(works, limits)
    for key in works.keys() - set(todo):
        record = store.get(key)
        if record is not None and record.get("seconds") and record["result"]["status"] == "ok":
            estimates.note(key, record["seconds"])
    return PreparedRun(options, results_dir, store, tables, works, limits, todo, estimates)


def _refuse_absent(plan: Plan, resolved: Resolved, request: Request) -> None:
    """Raise ElmbenchError if a data set that the user named is missing."""
    named = {resolved.dataset(name).name for name in request.datasets}
    for cell in plan.cells:
        if cell.unavailable and cell.dataset in named:
            problem, _, next_step = cell.unavailable.partition("; ")
            raise DataUnavailableError(problem, expected="the data that are named", next_step=next_step or None)


def _refuse_unprinted(plan: Plan, resolved: Resolved, request: Request) -> None:
    """Raise ElmbenchError if published hyperparameters are requested, but the paper prints none for these cells."""
    if request.select == ("published",) and plan.cells and all(cell.select != "published" for cell in plan.cells):
        problem = f"{resolved.file.id} has no printed hyperparameters of these models on these data sets"
        next_step = "leave --select out, or give --select nested"
        raise ElmbenchError(problem, expected="columns that the paper prints them for", next_step=next_step)


def _declared_limits(resolved: Resolved, plan: Plan) -> dict[str, Limits]:
    """Return the limits that the file of a table declares for its work."""
    fit = parse_limits(resolved.spec.limit)
    search = parse_limits(resolved.spec.search_limit).over(fit)
    return {key: fit if isinstance(work, Fit) else search for key, work in plan.works.items()}


def _request_of(options: RunOptions, file: ExperimentFile) -> Request:
    """Return the request for one table: its own ones of the requested data sets."""
    request = options.request
    if not (options.everything or options.paper) or not request.datasets:
        return request
    resolved = resolve(file, options.profile)
    known = {*file.spec.datasets, *resolved.spec.datasets}
    wanted = (resolved.dataset(name).name for name in request.datasets)
    return replace(request, datasets=tuple(name for name in wanted if name in known))

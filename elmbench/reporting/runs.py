"""A run from the request to the written tables: plan, run what is missing, write."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from elmbench.errors import ElmbenchError, unknown_name
from elmbench.execution.engine import Event, Settings, effective_limits, pending, run_units
from elmbench.execution.environment import describe_environment
from elmbench.execution.estimate import estimated_seconds, number_of_fits
from elmbench.execution.plan import make_plan
from elmbench.execution.store import Store
from elmbench.execution.units import Plan, Request, Unit, needs
from elmbench.reporting.results import Results, write_results
from elmbench.specs.catalogue import PROFILES, ExperimentFile, find_experiment, load_catalogue
from elmbench.specs.datasets import load_dataset_specs
from elmbench.specs.limits import Limits, parse_limits
from elmbench.specs.profiles import Resolved, resolve


@dataclass(frozen=True)
class RunOptions:
    """What `elmbench run` is asked for.

    Attributes
    ----------
    experiments : tuple of str
        Ids or aliases.
    paper : str or None
        Every experiment of this paper.
    everything : bool
        Every experiment.
    profile : str
    readings : dict of str to str
    request : Request
    settings : Settings
    retry, force : bool
        As for `pending`.
    """

    experiments: tuple[str, ...] = ()
    paper: str | None = None
    everything: bool = False
    profile: str = "fast"
    readings: dict[str, str] = field(default_factory=dict)
    request: Request = field(default_factory=Request)
    settings: Settings = field(default_factory=Settings)
    retry: bool = False
    force: bool = False


@dataclass
class PreparedRun:
    """A run that has been planned.

    Attributes
    ----------
    options : RunOptions
    results_dir : Path
    store : Store
    tables : list of (Resolved, Plan)
    units : dict of str to dict
        The units of all tables, each once.
    limits : dict of str to Limits
        By unit.
    todo : list of str
        Keys of those that have to run.
    """

    options: RunOptions
    results_dir: Path
    store: Store
    tables: list[tuple[Resolved, Plan]]
    units: dict[str, Unit]
    limits: dict[str, Limits]
    todo: list[str]

    @property
    def seconds(self) -> float:
        """What is left to run takes about so long on the jobs that were asked for."""
        work = [estimated_seconds(self.units[key]) for key in self.todo]
        return max(sum(work) / self.options.settings.jobs, max(work, default=0.0))

    def cells(self) -> dict[str, int]:
        """Return how many cells are planned, how many still have to run and how many lack their data.

        A cell that several tables show counts once.
        """
        rows = [row for _, plan in self.tables for row in plan.rows]
        keys = {row.key for row in rows if not row.unavailable}
        unavailable = sum(bool(row.unavailable) for row in rows)
        return {
            "planned": len(keys) + unavailable,
            "to_run": len(keys.intersection(self.todo)),
            "unavailable": unavailable,
        }


def chosen_experiments(options: RunOptions) -> list[str]:
    """Return the ids of the experiments that are asked for.

    Raises
    ------
    ElmbenchError
        If none is, or one does not exist.
    """
    catalogue = load_catalogue()
    if options.profile not in PROFILES:
        raise unknown_name("profile", options.profile, list(PROFILES), "elmbench run --help")
    if options.everything or options.paper is not None:
        papers = sorted({file.spec.paper for file in catalogue.values()})
        if options.paper is not None and options.paper not in papers:
            raise unknown_name("paper", options.paper, papers, "elmbench list experiments")
        return [
            file.id
            for file in catalogue.values()
            if options.profile in file.profiles and file.spec.paper == (options.paper or file.spec.paper)
        ]
    if not options.experiments:
        raise ElmbenchError(
            "no experiment is named",
            expected="one or more ids, or --paper KEY, or --all",
            next_step="elmbench list experiments",
        )
    return list(dict.fromkeys(find_experiment(name).id for name in options.experiments))


def prepare(options: RunOptions, results_dir: Path) -> PreparedRun:
    """Plan a run; nothing is computed or written.

    Raises
    ------
    ElmbenchError
        If something that is asked for does not exist, or a data file is bad.
    """
    files = [find_experiment(name) for name in chosen_experiments(options)]
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
    store = Store(results_dir)
    tables: list[tuple[Resolved, Plan]] = []
    units: dict[str, Unit] = {}
    declared: dict[str, Limits] = {}
    for file in files:
        readings = {k: v for k, v in options.readings.items() if k in file.spec.readings}
        resolved = resolve(file, options.profile, readings)
        plan = make_plan(resolved, _request_of(options, file))
        tables.append((resolved, plan))
        units |= plan.units
        # A unit that two tables share may take what the more generous one allows.
        for key, said in _declared(resolved, plan).items():
            declared[key] = said.wider(declared.get(key, said))
    limits = effective_limits(units, declared, options.settings)
    todo = pending(units, limits, store, retry=options.retry, force=options.force)
    return PreparedRun(options, results_dir, store, tables, units, limits, todo)


def _declared(resolved: Resolved, plan: Plan) -> dict[str, Limits]:
    """Return what a table's file says that its units may take."""
    fit = parse_limits(resolved.spec.limit)
    search = parse_limits(resolved.spec.search_limit).over(fit)
    return {key: fit if unit["kind"] == "cell" else search for key, unit in plan.units.items()}


def _request_of(options: RunOptions, file: ExperimentFile) -> Request:
    """Return the request for one table: of many tables, each takes the data sets that it has."""
    request = options.request
    if not (options.everything or options.paper) or not request.datasets:
        return request
    wanted = [load_dataset_specs().find(name).name for name in request.datasets]
    known = {*file.spec.datasets, *resolve(file, options.profile).spec.datasets}
    return replace(request, datasets=tuple(name for name in wanted if name in known))


def execute(run: PreparedRun, on_event: Callable[[Event], None] = lambda event: None) -> list[Results]:
    """Run what is missing and write the tables; after Ctrl-C too, with what has arrived.

    Raises
    ------
    WriteError
        If the results folder cannot be written.
    KeyboardInterrupt
        After the tables have been written.
    """
    for resolved, plan in run.tables:
        run.store.add_rows(resolved.profile, resolved.file.id, plan.rows, command_of(resolved, run.options))
    environment = run.store.put_environment(_environment(run.options.settings)) if run.todo else ""
    settings = replace(run.options.settings, environment=environment)
    try:
        run_units(run.units, run.todo, run.limits, run.store, settings, on_event)
    except KeyboardInterrupt:
        _write(run)
        raise
    return _write(run)


def _environment(settings: Settings) -> dict[str, Any]:
    return describe_environment() | {"blas_threads": settings.blas_threads}


def _write(run: PreparedRun) -> list[Results]:
    return [write_results(resolved, run.store, run.results_dir) for resolved, _ in run.tables]


def command_of(resolved: Resolved, options: RunOptions) -> str:
    """Return the command that asks for these cells, without what does not change them."""
    words = ["elmbench", "run", resolved.file.id, "--profile", resolved.profile]
    request = options.request
    for flag, values in (("-d", request.datasets), ("-m", request.models), ("--select", request.select)):
        for value in values:
            words += [flag, value]
    if request.runs is not None:
        words += ["--runs", str(request.runs)]
    for reading in filter(None, resolved.reading.split(";")):
        words += ["--reading", reading]
    if request.with_baselines:
        words.append("--with-baselines")
    if not request.paths:
        words.append("--no-paths")
    for path in options.settings.plugins:
        # By its name: where it lies is of one machine.
        words += ["--plugin", Path(path).name]
    return shlex.join(words)


def cost_by_table(run: PreparedRun) -> list[dict[str, Any]]:
    """Return what is planned for each data set and column of each table, with the fits and seconds still to do."""
    todo = set(run.todo)
    counted: set[str] = set()
    lines: dict[tuple[str, str, str], dict[str, Any]] = {}
    for resolved, plan in run.tables:
        for row in plan.rows:
            place = (resolved.file.id, row.dataset, row.model)
            line = lines.setdefault(
                place,
                {
                    **dict(zip(("experiment", "dataset", "model"), place, strict=True)),
                    "cells": 0,
                    "to_run": 0,
                    "unavailable": 0,
                    "fits": 0,
                    "seconds": 0.0,
                },
            )
            line["cells"] += 1
            line["unavailable"] += bool(row.unavailable)
            line["to_run"] += row.key in todo
            for key in _with_needs(row.key, plan.units):
                if key in todo and key not in counted:
                    counted.add(key)
                    line["fits"] += number_of_fits(plan.units[key])
                    line["seconds"] += estimated_seconds(plan.units[key])
    return list(lines.values())


def _with_needs(key: str, units: dict[str, Unit]) -> Iterator[str]:
    if key:
        yield key
        for name in needs(units[key]):
            yield from _with_needs(name, units)

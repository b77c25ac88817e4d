"""Running a plan: units start as soon as what they need is there, and each result is kept the moment it arrives."""

from __future__ import annotations

import heapq
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from elmbench.evaluation.unit import run_unit
from elmbench.execution.limits import allows_more, machine_memory
from elmbench.execution.passes import as_pass, limits_of_pass, partners, parts_of
from elmbench.execution.sandbox import Sandbox
from elmbench.execution.store import Store
from elmbench.execution.units import Unit, needs
from elmbench.specs.limits import Limits


@dataclass(frozen=True)
class Event:
    """Something that the user may want to see.

    Attributes
    ----------
    kind : {"start", "end"}
    key : str
    unit : dict
    result : dict or None
        What the unit yielded, at its end.
    """

    kind: str
    key: str
    unit: Unit
    result: dict[str, Any] | None = None


@dataclass(frozen=True)
class Settings:
    """How a plan is run; nothing here changes a result.

    Attributes
    ----------
    jobs : int
        Worker processes.
    data_dir : str or None
    plugins : tuple of str
    blas_threads : int
        In every worker.
    limits : Limits
        For every unit, in place of what its experiment says.
    environment : str
        Hash of the environment, as the store knows it.
    """

    jobs: int = 1
    data_dir: str | None = None
    plugins: tuple[str, ...] = ()
    blas_threads: int = 1
    limits: Limits = field(default_factory=Limits)
    environment: str = ""


def effective_limits(units: dict[str, Unit], declared: dict[str, Limits], settings: Settings) -> dict[str, Limits]:
    """Return the limits of every unit: the run's own, else the experiment's, else the memory of the machine.

    Parameters
    ----------
    units : dict of str to dict
    declared : dict of str to Limits
        What the experiments say, by unit.
    settings : Settings
    """
    machine = Limits(memory=machine_memory())
    return {key: settings.limits.over(declared.get(key, Limits())).over(machine) for key in units}


def pending(
    units: dict[str, Unit], limits: dict[str, Limits], store: Store, *, retry: bool = False, force: bool = False
) -> list[str]:
    """Return the keys of the units that have to run, in the order of the plan.

    Parameters
    ----------
    units : dict of str to dict
    limits : dict of str to Limits
        A unit that was stopped by a limit runs again where this one is larger.
    store : Store
    retry : bool
        Run again what ended other than ok.
    force : bool
        Run everything again.
    """
    if force:
        return list(units)
    todo = []
    rerun: set[str] = set()
    for key, unit in units.items():
        result = store.result(key)
        again = result is None or (retry and result["status"] != "ok") or allows_more(limits[key], result)
        # What rests on a result that is computed again is computed again.
        if again or rerun.intersection(needs(unit)):
            todo.append(key)
            rerun.add(key)
    return todo


def run_units(
    units: dict[str, Unit],
    todo: list[str],
    limits: dict[str, Limits],
    store: Store,
    settings: Settings,
    on_event: Callable[[Event], None] = lambda event: None,
) -> None:
    """Run the units of `todo` and keep their results in the store.

    Parameters
    ----------
    units : dict of str to dict
        The plan's units by key.
    todo : list of str
        As `pending` returns it.
    limits : dict of str to Limits
        By unit.
    store : Store
    settings : Settings
    on_event : callable
        Called in this thread at the start and end of every unit.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C, after the workers have been ended; every result that had arrived is in the store.
    WriteError
        If a result cannot be kept; the run stops.
    """
    waiting = _Waiting(units, todo)
    partner = partners(units, todo)
    with _sandboxes(settings) as (pool, run):
        running: dict[Future[dict[str, Any]], tuple[str, ...]] = {}
        try:
            while waiting or running:
                while len(running) < settings.jobs and (key := waiting.pop_ready()) is not None:
                    inputs = {name: store.result(name) for name in needs(units[key])}
                    on_event(Event("start", key, units[key]))
                    if units[key]["kind"] == "choice":
                        result = run_unit(units[key], inputs, settings.data_dir)  # type: ignore[arg-type]
                        _keep(key, result, units, store, settings, on_event)
                        waiting.done(key)
                    elif key in partner and waiting.take(partner[key]):
                        on_event(Event("start", partner[key], units[partner[key]]))
                        unit, both = as_pass(units, key, partner[key])
                        running[pool.submit(run, unit, {}, limits_of_pass(limits, both))] = both
                    else:
                        running[pool.submit(run, units[key], inputs, limits[key])] = (key,)
                for future in wait(running, return_when=FIRST_COMPLETED).done if running else ():
                    results = parts_of(running[future], future.result())
                    for key in running[future]:
                        if key in results:
                            _keep(key, results[key], units, store, settings, on_event)
                            waiting.done(key)
                        else:
                            partner.pop(key)
                            waiting.give_back(key)
                    running.pop(future)
        except KeyboardInterrupt:
            for future, keys in running.items():
                if future.done():
                    for key, result in parts_of(keys, future.result()).items():
                        store.put(key, units[key], result, settings.environment)
            raise


def _keep(
    key: str,
    result: dict[str, Any],
    units: dict[str, Unit],
    store: Store,
    settings: Settings,
    on_event: Callable[[Event], None],
) -> None:
    store.put(key, units[key], result, settings.environment)
    on_event(Event("end", key, units[key], result))


class _Waiting:
    """Units that have not started, those whose inputs are there first, in the order of the plan."""

    def __init__(self, units: dict[str, Unit], todo: list[str]) -> None:
        self._position = {key: i for i, key in enumerate(todo)}
        self._missing = {key: {n for n in needs(units[key]) if n in self._position} for key in todo}
        self._dependents: dict[str, list[str]] = defaultdict(list)
        for key, names in self._missing.items():
            for name in names:
                self._dependents[name].append(key)
        self._keys = todo
        self._ready = [self._position[key] for key in todo if not self._missing[key]]
        heapq.heapify(self._ready)
        self._left = len(todo)
        self._taken: set[str] = set()

    def __bool__(self) -> bool:
        return self._left > 0

    def pop_ready(self) -> str | None:
        """Return the first unit that can start; None where there is none."""
        while self._ready:
            key = self._keys[heapq.heappop(self._ready)]
            if key not in self._taken:
                self._left -= 1
                self._taken.add(key)
                return key
        return None

    def take(self, key: str) -> bool:
        """Take a unit that waits for nothing out of its turn; tell whether it was still there."""
        if key in self._taken:
            return False
        self._left -= 1
        self._taken.add(key)
        return True

    def give_back(self, key: str) -> None:
        """Put a unit that was taken among those that can start again."""
        self._left += 1
        self._taken.discard(key)
        heapq.heappush(self._ready, self._position[key])

    def done(self, key: str) -> None:
        for dependent in self._dependents[key]:
            self._missing[dependent].discard(key)
            if not self._missing[dependent]:
                heapq.heappush(self._ready, self._position[dependent])


@contextmanager
def _sandboxes(
    settings: Settings,
) -> Iterator[tuple[ThreadPoolExecutor, Callable[[Unit, dict[str, Any], Limits], dict[str, Any]]]]:
    """Yield a pool of threads, each of which owns a worker process, and the function that runs a unit in one."""
    local = threading.local()
    owned: list[Sandbox] = []

    def run(unit: Unit, inputs: dict[str, Any], limits: Limits) -> dict[str, Any]:
        if not hasattr(local, "sandbox"):
            local.sandbox = Sandbox(settings.plugins, settings.data_dir)
            owned.append(local.sandbox)
        return local.sandbox.run(unit, inputs, limits, settings.blas_threads)

    pool = ThreadPoolExecutor(settings.jobs)
    try:
        yield pool, run
    finally:
        # Ending the workers first lets the threads that wait for them return.
        pool.shutdown(wait=False, cancel_futures=True)
        for sandbox in owned:
            sandbox.stop()
        pool.shutdown(wait=True)

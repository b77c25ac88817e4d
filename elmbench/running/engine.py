"""Running a plan: a task starts as soon as its inputs exist, and each result is stored when it arrives."""

import math
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import InitVar, dataclass
from typing import Literal

from elmbench.errors import ElmbenchError
from elmbench.running.attempt import attempt
from elmbench.running.estimates import Estimates
from elmbench.running.executors.base import Done, Executor
from elmbench.running.executors.local import LocalExecutor
from elmbench.running.executors.settings import Settings
from elmbench.running.limits import allows_more, share_of_memory
from elmbench.running.records import SYNC_EVERY
from elmbench.running.store import CLEAN, Store
from elmbench.running.work_queue import WorkQueue
from elmbench.specs.limits import Limits
from elmbench.work.base import Context, Result, Work


@dataclass(frozen=True)
class Event:
    """An event of a run, for its display.

    Its kind is "no-workers" if work is started and there is no worker. The end of work has a `result`.
    """

    kind: Literal["start", "end", "no-workers"]
    work: Work
    result: Result | None = None


OnEvent = Callable[[Event], None]


def effective_limits(keys: Iterable[str], declared: Mapping[str, Limits], settings: Settings) -> dict[str, Limits]:
    """Return the limits of all work: the run's own, else the experiment's, else a worker's share of the memory.

    `declared`: what the experiments say, by key.
    """
    machine = Limits(memory=settings.memory or share_of_memory(settings.jobs))
    return {key: settings.limits.over(declared.get(key, Limits())).over(machine) for key in keys}


def pending(
    works: Mapping[str, Work], limits: Mapping[str, Limits], store: Store, *, retry: bool = False, force: bool = False
) -> list[str]:
    """Return the keys of the work to be done, in the order of the plan.

    `limits`: work that reached a limit is repeated if this one is larger. `retry`: repeat all work that did not end ok.
    `force`: repeat all work.
    """
    if force:
        return list(works)
    todo = []
    again: set[str] = set()
    for key, work in works.items():
        result = store.result(key)
        stopped = result is not None and ((retry and result["status"] != "ok") or allows_more(limits[key], result))
        # Work that depends on a recomputed result is recomputed.
        if result is None or stopped or again.intersection(work.needs):
            todo.append(key)
            again.add(key)
    return todo


@dataclass
class Run:
    """The work to be done, and the store of its results.

    `works` and `limits`, by key, are those of the whole plan; `on_event` is called in this thread at the start and end
    of all work. The `executor`, by default workers of this machine, is ended with the run. The run records the
    durations of its work in `estimates`. `until` is the time of `time.monotonic` at which it ends, even if work is
    left.
    """

    works: Mapping[str, Work]
    limits: Mapping[str, Limits]
    store: Store
    settings: Settings
    on_event: OnEvent = lambda event: None
    executor: Executor | None = None
    estimates: Estimates = None  # type: ignore[assignment]  # those of all work
    until: float = math.inf

    def __post_init__(self) -> None:
        self.estimates = self.estimates or Estimates(self.works, self.limits)

    def run(self, todo: list[str], clean: Collection[str] = ()) -> None:
        """Do the work of these keys and store its results.

        `clean`: keys of fits to be timed one by one after all other work, unless the store has such times. Raises
        KeyboardInterrupt on Ctrl-C, after the end of the workers; every result that has arrived is stored. Raises
        WriteError if a result cannot be stored; the run stops.
        """
        if not todo and not self._to_time_again(clean):
            return
        with self.executor or LocalExecutor(self.settings) as executor:
            alone = bool(clean) and executor.fixed and executor.workers == 1
            _Running(self, todo, executor, frozenset(clean if alone else ()), 1 if alone else None).go_on()
            if again := self._to_time_again(clean):
                _Running(self, again, executor, frozenset(again), 1).go_on()

    def _to_time_again(self, fits: Iterable[str]) -> list[str]:
        """Return the fits that ended ok, but ran beside other work."""
        results = ((key, self.store.result(key)) for key in fits)
        return [key for key, one in results if one and one["status"] == "ok" and CLEAN not in one]

    def put(self, work: Work, result: Result, done: Done) -> None:
        """Store a result."""
        elsewhere = done.environment
        environment = self.store.put_environment(dict(elsewhere)) if elsewhere else self.settings.environment
        self.store.put(work, result, environment, done.seconds)


@dataclass
class _Running:
    """The state of a run.

    Fits whose keys are in `clean` have clean times. At most `at_most` pieces of work run at a time.
    """

    plan: Run
    todo: InitVar[list[str]]
    executor: Executor
    clean: Collection[str] = ()
    at_most: int | None = None

    def __post_init__(self, todo: list[str]) -> None:
        self.store, self.on_event = self.plan.store, self.plan.on_event
        # A single worker follows the order of the plan, because neighbours share their data.
        in_turn = self.at_most == 1 or (self.executor.fixed and self.executor.workers == 1)
        self.queue = WorkQueue(self.plan.works, todo, None if in_turn else self.plan.estimates.formula)
        self.running: dict[Future[Done], Work] = {}

    def go_on(self) -> None:
        """Do all the work."""
        try:
            while self.queue and (self.running or not self._is_over()):
                while self._has_room() and not self._is_over():
                    key = self.queue.pop()
                    if key is None:
                        break
                    self._start(self.plan.works[key])
                self._wait()
        except (KeyboardInterrupt, ElmbenchError):
            for future, work in self.running.items():
                if future.done() and future.exception() is None:
                    self.plan.put(work, future.result().result, future.result())
            raise
        finally:
            self.store.sync()

    def _wait(self) -> None:
        """Wait for a result of a worker and store it; meanwhile, wait for the disk."""
        if self.running and self.executor.deserted:
            self.on_event(Event("no-workers", next(iter(self.running.values()))))
        # With a timeout, to sync the disk and to notice new workers.
        for future in wait(self.running, SYNC_EVERY, FIRST_COMPLETED).done:
            # Work counts as running until it is stored, so an interrupt in between loses nothing.
            self._finish(self.running[future], future.result())
            del self.running[future]
        self.store.sync(at_once=False)

    def _is_over(self) -> bool:
        return time.monotonic() >= self.plan.until

    def _has_room(self) -> bool:
        return len(self.running) < (self.at_most or self.executor.width)

    def _start(self, work: Work) -> None:
        inputs = {key: self.store.result(key) or {} for key in work.needs}
        self.on_event(Event("start", work))
        if work.immediate:
            self._finish(work, Done(attempt(work, inputs, Context(self.plan.settings.data_dir))))
        else:
            limits = self.plan.limits[work.key]
            if math.isfinite(self.plan.until):
                limits = limits.narrower(Limits(max(self.plan.until - time.monotonic(), 0.1)))
            self.running[self.executor.submit(work, inputs, limits)] = work

    def _finish(self, work: Work, done: Done) -> None:
        result = done.result | ({CLEAN: True} if work.key in self.clean else {})
        self.plan.put(work, result, done)
        if not work.immediate:
            self.plan.estimates.note(work.key, done.seconds)
        self.on_event(Event("end", work, result))
        self.queue.done(work.key)

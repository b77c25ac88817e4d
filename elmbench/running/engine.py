"""Running a plan: tasks start as soon as what they need is there, and each result is kept the moment it arrives.

Runs on one results folder share the work: each claims a task before it starts it, leaves what another one has claimed,
and takes over the result when it is there.
"""

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
from elmbench.running.executors.sandbox import Settings
from elmbench.running.leases import Leases
from elmbench.running.limits import allows_more, share_of_memory
from elmbench.running.records import SYNC_EVERY
from elmbench.running.store import CLEAN, Store
from elmbench.running.tasks import Task, TaskQueue, as_tasks
from elmbench.specs.limits import Limits
from elmbench.work.base import Context, Result, Work

#: Seconds between two looks at what other runs have done, while there is nothing else to do.
_LOOK_EVERY = 0.25


@dataclass(frozen=True)
class Event:
    """Something that the user may want to see.

    `kind` ({"start", "end", "elsewhere", "no-workers"}): "elsewhere" if another run is computing it now; its end
    follows. "no-workers" each time that there is no worker for the work that has been started. `result`: what the work
    yielded, at its end. `other`: where another run computes or has computed it, that run: its machine and process.
    """

    kind: Literal["start", "end", "elsewhere", "no-workers"]
    work: Work
    result: Result | None = None
    other: str = ""


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
    """Return the keys of the work that has to be done, in the order of the plan.

    `limits`: work that was stopped by a limit is done again where this one is larger. `retry`: do again what ended
    other than ok. `force`: do everything again.
    """
    if force:
        return list(works)
    todo = []
    again: set[str] = set()
    for key, work in works.items():
        result = store.result(key)
        stopped = result is not None and ((retry and result["status"] != "ok") or allows_more(limits[key], result))
        # What rests on a result that is computed again is computed again.
        if result is None or stopped or again.intersection(work.needs):
            todo.append(key)
            again.add(key)
    return todo


@dataclass
class Run:
    """The work that is to be done, and where its results go.

    `works` and `limits`, by key, are those of the whole plan; `on_event` is called in this thread at the start and end
    of all work. The `executor`, by default workers of this machine, is ended with the run. The run notes in `estimates`
    how long its work took. `until` is the time of `time.monotonic` at which it ends, whatever is left to do.
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
        """Do the work of these keys and keep its results in the store.

        `clean`: keys of fits that are to be timed with nothing of this or another run beside them: one after the other,
        after all else, unless they have been timed so before. Raises KeyboardInterrupt on Ctrl-C, after the workers
        have been ended; every result that had arrived is in the store. Raises WriteError if a result cannot be kept;
        the run stops.
        """
        if not todo and not self._unclean(clean):
            return
        with self.store.leases() as leases, self.executor or LocalExecutor(self.settings) as executor:
            alone = bool(clean) and executor.fixed and executor.workers == 1
            _Running(self, todo, executor, leases, frozenset(clean if alone else ()), 1 if alone else None).go_on()
            if again := self._unclean(clean):
                _Running(self, again, executor, leases, frozenset(again), 1, repeat=True).go_on()

    def _unclean(self, fits: Iterable[str]) -> list[str]:
        """Return those fits that ended ok, but beside others."""
        results = ((key, self.store.result(key)) for key in fits)
        return [key for key, one in results if one and one["status"] == "ok" and CLEAN not in one]

    def put(self, work: Work, result: Result, done: Done) -> None:
        """Keep a result that has come with others or alone."""
        elsewhere = done.environment
        environment = self.store.put_environment(dict(elsewhere)) if elsewhere else self.settings.environment
        self.store.put(work, result, environment, self.share(work, done))

    def share(self, work: Work, done: Done) -> float:
        """Return the seconds of some work that was done alone or with others."""
        if "parts" not in done.result:
            return done.seconds
        formula = self.estimates.formula
        return done.seconds * formula[work.key] / sum(formula[key] for key in done.result["parts"])


@dataclass
class _Running:
    """A run under way.

    Fits whose keys are in `clean` have clean times if no other run is at work. No more than `at_most` tasks are begun
    at a time. With `repeat`, work is done whose result is stored.
    """

    plan: Run
    todo: InitVar[list[str]]
    executor: Executor
    leases: Leases
    clean: Collection[str] = ()
    at_most: int | None = None
    repeat: bool = False

    def __post_init__(self, todo: list[str]) -> None:
        self.store, self.on_event = self.plan.store, self.plan.on_event
        # One after the other, tasks keep the order of the plan: neighbours share their data.
        in_turn = self.at_most == 1 or (self.executor.fixed and self.executor.workers == 1)
        tasks = as_tasks(self.plan.works, todo)
        self.queue = TaskQueue(tasks, None if in_turn else self.plan.estimates.formula)
        self.running: dict[Future[Done], Task] = {}
        #: What other runs are computing, by the keys.
        self.elsewhere: dict[tuple[str, ...], Task] = {}

    def go_on(self) -> None:
        """Do all the work."""
        try:
            while self.queue and (self.running or not self._is_over()):
                while self._has_room() and not self._is_over():
                    task = self.queue.pop()
                    if task is None:
                        break
                    self._begin(task)
                self._wait()
        except (KeyboardInterrupt, ElmbenchError):
            for future, task in self.running.items():
                if future.done() and future.exception() is None:
                    done = future.result()
                    for key, result in task.results(done.result).items():
                        self.plan.put(self.plan.works[key], result, done)
            raise
        finally:
            self.store.sync()

    def _wait(self) -> None:
        """Wait for a result, of a worker here or of another run, and keep it; meanwhile, for the disk."""
        if self.running:
            # Not for ever: the disk is waited for, and workers may have joined.
            pause = _LOOK_EVERY if self.elsewhere else SYNC_EVERY
            if self.executor.deserted:
                self.on_event(Event("no-workers", next(iter(self.running.values())).work))
            for future in wait(self.running, pause, FIRST_COMPLETED).done:
                # It counts as under way until it is kept: an interrupt in between loses nothing.
                self._finish(self.running[future], future.result())
                del self.running[future]
        elif self.elsewhere:
            time.sleep(_LOOK_EVERY)
        self.store.sync(at_once=False)
        for task in list(self.elsewhere.values()):
            if self._has_room():
                self._begin(task)

    def _is_over(self) -> bool:
        return time.monotonic() >= self.plan.until

    def _has_room(self) -> bool:
        return len(self.running) < (self.at_most or self.executor.width)

    def _begin(self, task: Task) -> None:
        """Start a task, unless another run has done it or is at it."""
        keys = tuple(part.key for part in task.parts)
        if task.work.immediate:
            self._start(task)
            return
        other = self.leases.take(keys)
        # Only now: what another run has just stored it does not claim any more.
        if not self.repeat and self.store.arrived(keys):
            self.leases.drop(keys)
            self._take_over(task)
        elif other is None:
            self.elsewhere.pop(keys, None)
            self._start(task)
        elif keys not in self.elsewhere:
            self.elsewhere[keys] = task
            for part in task.parts:
                self.on_event(Event("elsewhere", part, other=other))

    def _start(self, task: Task) -> None:
        inputs = {key: self.store.result(key) or {} for key in task.work.needs}
        for part in task.parts:
            self.on_event(Event("start", part))
        if task.work.immediate:
            self._finish(task, Done(attempt(task.work, inputs, Context(self.plan.settings.data_dir))))
        else:
            limits = task.limits(self.plan.limits)
            if math.isfinite(self.plan.until):
                limits = limits.narrower(Limits(max(self.plan.until - time.monotonic(), 0.1)))
            self.running[self.executor.submit(task.work, inputs, limits)] = task

    def _take_over(self, task: Task) -> None:
        """Take what another run has stored for a task's own result."""
        keys = tuple(part.key for part in task.parts)
        self.elsewhere.pop(keys, None)
        for part in task.parts:
            self.on_event(Event("end", part, self.store.result(part.key), other="another run"))
        self.queue.done(task)

    def _finish(self, task: Task, done: Done) -> None:
        results = task.results(done.result)
        if not results:
            self.queue.take_apart(task)
            return
        for part in task.parts:
            seconds = self.plan.share(part, done)
            if part.key in self.clean and not self.leases.others:
                results[part.key] = results[part.key] | {CLEAN: True}
            self.plan.put(part, results[part.key], done)
            if not task.work.immediate:
                self.plan.estimates.note(part.key, seconds)
            self.on_event(Event("end", part, results[part.key]))
        self.leases.drop([part.key for part in task.parts])
        self.queue.done(task)

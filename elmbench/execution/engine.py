"""Running a plan: work starts as soon as its inputs exist, and each result is stored; and how long
that will take.
"""

import heapq
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import nullcontext
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import chain
from typing import Literal

from elmbench.errors import ElmbenchError
from elmbench.execution.attempt import attempt
from elmbench.execution.environment import describe_environment
from elmbench.execution.executors import Answer, Executor, Settings
from elmbench.execution.executors.local import LocalExecutor
from elmbench.execution.store import Store
from elmbench.specs.limits import Limits
from elmbench.tasks.base import Context, Result, Work

#: Seconds between two looks for new workers.
_LOOK_EVERY = 1.0
#: The least seconds that are counted for some work.
_LEAST = 1e-3
#: Work that exceeds its estimate is expected to take this share of its elapsed time in addition.
_OVERDUE = 0.3


@dataclass(frozen=True)
class Event:
    """An event of a run, for its display.

    Its kind is "no-workers" if work is started and there is no worker. The end of work has a
    `result`, unless the end of the run stopped it.
    """

    kind: Literal["start", "end", "no-workers"]
    work: Work
    result: Result | None = None


OnEvent = Callable[[Event], None]


def find_pending(
    works: Mapping[str, Work],
    limits: Mapping[str, Limits],
    store: Store,
    *,
    retry: bool = False,
    force: bool = False,
) -> list[str]:
    """Return the keys of the work to be done, in the order of the plan.

    `limits`: work that reached a limit is repeated if this one is larger. `retry`: repeat all work
    that did not end ok. `force`: repeat all work.
    """
    if force:
        return list(works)
    todo: dict[str, None] = {}
    for key, work in works.items():
        result = store.result(key) or {"status": "missing"}
        repeat = result["status"] == "missing" or (retry and result["status"] != "ok")
        if result.get("limit") is not None:
            now = (
                limits[key].seconds
                if result["status"] == "timeout"
                else limits[key].memory
            )
            repeat = repeat or now is None or now > result["limit"]
        # Work that depends on a recomputed result is recomputed.
        if repeat or not todo.keys().isdisjoint(work.needs):
            todo[key] = None
    return list(todo)


class Estimates:
    """Estimated seconds of each piece of work.

    `works`: by key. `limits`: by key; work ends at its time limit, or at once if its model needs
    more memory than the limit. `formula`: seconds by the formula of the model alone, by key; for
    the order of work and for shares.
    """

    def __init__(self, works: Mapping[str, Work], limits: Mapping[str, Limits]) -> None:
        self.formula = {
            key: max(_limited_seconds(work, limits[key]), _LEAST)
            for key, work in works.items()
        }
        #: The formula is wrong by much the same factor for all work of a kind, a model and a data
        #: set.
        self._groups = {
            key: (
                work.kind,
                work.model_name,
                work.data.name if work.data is not None else "",
            )
            for key, work in works.items()
        }
        self._unknown = {
            self._groups[key] for key, work in works.items() if not work.has_formula
        }
        #: Seconds of ended work, and seconds by its formula, by group and by kind and model.
        self._durations: dict[tuple[str, ...], tuple[float, float]] = {}

    def note(self, key: str, seconds: float) -> None:
        """Record the duration of some work."""
        group = self._groups[key]
        for name in (group, group[:2]):
            actual, formula = self._durations.get(name, (0.0, 0.0))
            self._durations[name] = (
                actual + max(seconds, _LEAST),
                formula + self.formula[key],
            )

    def seconds(self, key: str) -> float | None:
        """Return the estimated seconds of some work: by its formula, corrected by the ended work of
        its group or model.

        None if its model has no formula and no such work has ended.
        """
        group = self._groups[key]
        seconds = self.formula[key]
        for name in (group, group[:2]):
            if name in self._durations:
                actual, formula = self._durations[name]
                return seconds * actual / formula
        return None if group in self._unknown else seconds

    def remaining(
        self, waiting: Iterable[str], running: Mapping[str, float], workers: int
    ) -> tuple[float, bool]:
        """Return the remaining seconds of a run, and False if models of unknown duration are left
        out.

        `waiting`: keys of work that has not begun. `running`: seconds since the start of work, by
        key. `workers`: their number; if there is none yet, the seconds are those of one.
        """
        total = 0.0
        is_complete = True
        for key, spent in chain(((key, 0.0) for key in waiting), running.items()):
            seconds = self.seconds(key)
            total += max((seconds or 0.0) - spent, _OVERDUE * spent)
            is_complete = is_complete and seconds is not None
        return total / max(workers, 1), is_complete


def _limited_seconds(work: Work, limits: Limits) -> float:
    """Return the rough seconds of some work under its limits; 0 if it cannot run."""
    try:
        if limits.memory is not None and work.exceeds_memory(limits.memory):
            return 0.0
        return min(work.seconds(), limits.seconds or float("inf"))
    except Exception:  # noqa: BLE001 - the model refuses its parameters, which ends its cell and no other
        return 0.0


@dataclass
class Run:
    """The work to be done, and the store of its results.

    `works`, `limits` and `estimates`, by key, are those of the whole plan; the run adds durations
    to the estimates. `on_event` is called in this thread at the start and end of all work. The
    caller ends its `executor`; by default, workers of this machine do the work, and end with the
    run. `until`: time of `time.monotonic` at which the run ends, even if work is left.
    """

    works: Mapping[str, Work]
    limits: Mapping[str, Limits]
    store: Store
    settings: Settings
    estimates: Estimates
    on_event: OnEvent = lambda event: None
    executor: Executor | None = None
    until: float = math.inf

    def run(self, todo: list[str]) -> None:
        """Do the work of these keys and store its results.

        Raises KeyboardInterrupt on Ctrl-C; every result that has arrived is stored. Raises
        WriteError if a result cannot be stored; the run stops.
        """
        if not todo:
            return
        environment = describe_environment() | {
            "blas_threads": self.settings.blas_threads
        }
        self._environment = self.store.put_environment(environment)
        with (
            nullcontext(self.executor)
            if self.executor
            else LocalExecutor(self.settings) as executor
        ):
            self._do(executor, todo)

    def _do(self, executor: Executor, todo: list[str]) -> None:
        """Do the work of these keys."""
        has_end = self.until < math.inf
        # A single worker follows the order of the plan, because neighbours share their data.
        in_order = has_end or (executor.fixed and executor.workers == 1)
        self._queue = WorkQueue(
            self.works, todo, None if in_order else self.estimates.formula
        )
        self._running: dict[Future[Answer], Work] = {}
        # Work with the same code from outside is grouped, but a budget has an order of its own. A
        # single worker begins with the suite's own models, because any model can follow them.
        self._is_grouped = not has_end
        self._idle_codes = [""] if in_order and self._is_grouped else []
        try:
            while self._queue and (self._running or not self._is_over()):
                self._fill_workers(executor)
                if self._running and not executor.workers:
                    self.on_event(
                        Event("no-workers", next(iter(self._running.values())))
                    )
                self._collect_answers()
        except (KeyboardInterrupt, ElmbenchError):
            self._store_arrived()
            raise

    def _is_over(self) -> bool:
        """Return whether the time of the run is over."""
        return time.monotonic() >= self.until

    def _fill_workers(self, executor: Executor) -> None:
        """Start work until every worker is busy, no work is ready or the time is over."""
        width = max(executor.workers, 1)
        while len(self._running) < width and not self._is_over():
            key = self._queue.pop(self._idle_codes)
            if key is None:
                return
            self._start(executor, self.works[key])

    def _start(self, executor: Executor, work: Work) -> None:
        """Hand work to a worker; immediate work is done here."""
        inputs = {name: self.store.result(name) or {} for name in work.needs}
        self.on_event(Event("start", work))
        if work.immediate:
            result = attempt(work, inputs, Context(self.settings.data_dir))
            self._finish(work, Answer(result))
            return
        self._take_idle_worker(work)
        limits = self.limits[work.key].narrower(self._remaining_limits())
        future = executor.submit(work, inputs, limits)
        self._running[future] = work

    def _take_idle_worker(self, work: Work) -> None:
        """Remove the idle worker that takes this work: one that has run its code, or the last."""
        if self._idle_codes:
            code = work.outside_code
            self._idle_codes.remove(
                code if code in self._idle_codes else self._idle_codes[-1]
            )

    def _remaining_limits(self) -> Limits:
        """Return the limits that the end of the run sets."""
        if math.isinf(self.until):
            return Limits()
        return Limits(max(self.until - time.monotonic(), 0.1))

    def _collect_answers(self) -> None:
        """Wait for work that ends, for a short time, and finish it."""
        for future in wait(self._running, _LOOK_EVERY, FIRST_COMPLETED).done:
            work = self._running[future]
            # Work counts as running until it is stored, so an interrupt in between loses nothing.
            self._finish(work, future.result())
            del self._running[future]
            if self._is_grouped:
                self._idle_codes.append(work.outside_code)

    def _finish(self, work: Work, answer: Answer) -> None:
        """Store the answer to some work and release the work that depends on it."""
        if answer.result["status"] == "timeout" and self._is_over():
            self.on_event(Event("end", work))  # stopped, and not at a limit of its own
            return
        self._put(work, answer)
        if not work.immediate:
            self.estimates.note(work.key, answer.seconds)
        self.on_event(Event("end", work, answer.result))
        self._queue.mark_done(work.key)

    def _store_arrived(self) -> None:
        """Store the answers that arrived before an interrupt or error."""
        for future, work in self._running.items():
            if future.done() and future.exception() is None:
                self._put(work, future.result())

    def _put(self, work: Work, answer: Answer) -> None:
        """Store the answer to some work."""
        environment = (
            self.store.put_environment(dict(answer.environment))
            if answer.environment
            else self._environment
        )
        self.store.put(work, answer.result, environment, answer.seconds)


class WorkQueue:
    """The work that has not ended, by key; `pop` returns work whose inputs are ready.

    `todo`: keys of the work to do. `seconds`: rough durations; work with the longest chain of
    dependent work comes first. With None, work comes in the order of `todo`.
    """

    def __init__(
        self,
        works: Mapping[str, Work],
        todo: Iterable[str],
        seconds: Mapping[str, float] | None,
    ) -> None:
        self._works = works
        self._number = {key: i for i, key in enumerate(todo)}
        graph = {
            key: [name for name in works[key].needs if name in self._number]
            for key in self._number
        }
        #: The duration of each piece of work together with the longest chain that depends on it.
        self._lengths = dict.fromkeys(graph, 0.0)
        if seconds is not None:
            for key in reversed(graph):  # what depends on work follows it
                self._lengths[key] += seconds[key]
                for need in graph[key]:
                    self._lengths[need] = max(self._lengths[need], self._lengths[key])
        self._sorter = TopologicalSorter(graph)
        self._sorter.prepare()
        self.mark_done = self._sorter.done
        #: A heap of the work that can start, for each code from outside and, with the key None, for
        #: immediate work: minus the length of the chain, the number and the key.
        self._ready: dict[str | None, list[tuple[float, int, str]]] = {}

    def __bool__(self) -> bool:
        return self._sorter.is_active()

    def pop(self, idle_codes: Sequence[str] = ()) -> str | None:
        """Return the key of the next work that can start; None if there is none.

        `idle_codes`: the code from outside that each idle worker has run. Work with that of the
        last one comes first, because other work may need a new worker. Immediate work comes before
        it, because it may release such work.
        """
        for key in self._sorter.get_ready():
            work = self._works[key]
            code = None if work.immediate else work.outside_code
            entry = -self._lengths[key], self._number[key], key
            heapq.heappush(self._ready.setdefault(code, []), entry)
        heaps = {code: heap for code, heap in self._ready.items() if heap}
        if not heaps:
            return None
        first = min(heaps, key=lambda code: heaps[code][0])
        code = next(
            (code for code in (None, *reversed(idle_codes)) if code in heaps), first
        )
        return heapq.heappop(heaps[code])[2]

"""Running a plan: a task starts as soon as its inputs exist, and each result is stored; and how
long that will take.
"""

import heapq
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import nullcontext
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Literal

from elmbench.errors import ElmbenchError
from elmbench.execution.attempt import attempt
from elmbench.execution.environment import describe_environment
from elmbench.execution.executors import Answer, Executor, Settings
from elmbench.execution.executors.local import LocalExecutor
from elmbench.execution.store import Store
from elmbench.specs.limits import Limits
from elmbench.tasks.base import Context, Result, Task

#: Seconds between two looks for new workers.
_LOOK_EVERY = 1.0
#: The least seconds that are counted for a task.
_LEAST = 1e-3
#: A task that exceeds its estimate is expected to take this share of its elapsed time in addition.
_OVERDUE = 0.3


@dataclass(frozen=True)
class Event:
    """An event of a run, for its display.

    `kind`: "start" or "end" of a task, or "no-workers", repeatedly while tasks have been started
    but there is no worker; `task` is then one of them. `result`: of a task that ended; None if the
    end of the run stopped it.
    """

    kind: Literal["start", "end", "no-workers"]
    task: Task
    result: Result | None = None


OnEvent = Callable[[Event], None]


def find_pending(
    tasks: Mapping[str, Task],
    limits: Mapping[str, Limits],
    store: Store,
    *,
    retry: bool = False,
    force: bool = False,
) -> list[str]:
    """Return the keys of the tasks to run, in the order of the plan.

    These are the tasks without a result in the store, and those that need a task to run. `tasks`:
    the plan, {key: task}; a task follows those that it needs. `limits`: {key: limits of the task};
    a task that reached a limit is repeated if this one is larger or None. `retry`: True to repeat
    all tasks that did not end ok; otherwise only those with a larger limit are repeated. `force`:
    True to repeat all tasks of the plan.
    """
    if force:
        return list(tasks)
    todo: dict[str, None] = {}
    for key, task in tasks.items():
        result = store.result(key) or {"status": "missing"}
        repeat = result["status"] == "missing" or (retry and result["status"] != "ok")
        if result.get("limit") is not None:
            now = (
                limits[key].seconds
                if result["status"] == "timeout"
                else limits[key].memory
            )
            repeat = repeat or now is None or now > result["limit"]
        # A task that depends on a recomputed result is recomputed.
        if repeat or not todo.keys().isdisjoint(task.needs):
            todo[key] = None
    return list(todo)


class Estimates:
    """Estimated seconds of each task.

    `tasks`: by key. `limits`: by key; a task ends at its time limit, or at once if its model needs
    more memory than the limit. `formula`: seconds by the formula of the model alone, by key; for
    the order of tasks and for shares.
    """

    def __init__(self, tasks: Mapping[str, Task], limits: Mapping[str, Limits]) -> None:
        self.formula = {
            key: max(_limited_seconds(task, limits[key]), _LEAST)
            for key, task in tasks.items()
        }
        #: The formula is wrong by much the same factor for all tasks of a kind, a model and a data
        #: set.
        self._groups = {
            key: (
                task.kind,
                task.model_name,
                task.data.name if task.data is not None else "",
            )
            for key, task in tasks.items()
        }
        self._unknown = {
            self._groups[key] for key, task in tasks.items() if not task.has_formula
        }
        #: Seconds of ended tasks, and seconds by its formula, by group and by kind and model.
        self._durations: dict[tuple[str, ...], tuple[float, float]] = {}

    def note(self, key: str, seconds: float) -> None:
        """Add the seconds of the ended task `key`, which correct the estimates of similar tasks.

        These are the tasks of the same kind and model; those of the same data set count first.
        """
        group = self._groups[key]
        kind_and_model = group[:2]
        for name in (group, kind_and_model):
            actual, formula = self._durations.get(name, (0.0, 0.0))
            actual += max(seconds, _LEAST)
            formula += self.formula[key]
            self._durations[name] = (actual, formula)

    def seconds(self, key: str) -> float | None:
        """Return the estimated seconds of the task `key`.

        They are those of its formula, corrected by ended tasks of the same kind, model and data
        set, or else of the same kind and model. It is None if its model has no formula and no such
        task has ended.
        """
        group = self._groups[key]
        seconds = self.formula[key]
        kind_and_model = group[:2]
        for name in (group, kind_and_model):
            if name in self._durations:
                actual, formula = self._durations[name]
                return seconds * actual / formula
        if group in self._unknown:
            return None
        return seconds

    def remaining(
        self, waiting: Iterable[str], running: Mapping[str, float], workers: int
    ) -> tuple[float, bool]:
        """Return the remaining seconds of a run, and True if no task is left out of them.

        A task is left out if it is of a model of unknown duration. A running task takes at least
        0.3 of its elapsed time in addition. `waiting`: keys of tasks that have not begun.
        `running`: {key of a running task: seconds since its start}. `workers`: their number, which
        divides the seconds; 0 counts as one.
        """
        spent_by_key = dict.fromkeys(waiting, 0.0)
        spent_by_key.update(running)
        total = 0.0
        is_complete = True
        for key, spent in spent_by_key.items():
            seconds = self.seconds(key)
            if seconds is None:
                is_complete = False
                seconds = 0.0
            total += max(seconds - spent, _OVERDUE * spent)
        n_workers = max(workers, 1)
        return total / n_workers, is_complete


def _limited_seconds(task: Task, limits: Limits) -> float:
    """Return the seconds of a task by the formula of its model, at most its time limit.

    It is 0 if the task needs more memory than the limit, or its model refuses the parameters.
    """
    try:
        if limits.memory is not None and task.exceeds_memory(limits.memory):
            return 0.0
        return min(task.seconds(), limits.seconds or float("inf"))
    except Exception:  # noqa: BLE001 - the model refuses its parameters, which ends its cell and no other
        return 0.0


@dataclass
class Run:
    """The tasks to run, and the store of their results.

    `tasks`, `limits` and `estimates`, by key, are those of the whole plan; the run adds durations
    to the estimates. `on_event` is called in this thread with each `Event`. The caller ends its
    `executor`; by default, workers of this machine run the tasks, and end with the
    run. `until`: time of `time.monotonic` at which the run ends, even if tasks are left.
    """

    tasks: Mapping[str, Task]
    limits: Mapping[str, Limits]
    store: Store
    settings: Settings
    estimates: Estimates
    on_event: OnEvent = lambda event: None
    executor: Executor | None = None
    until: float = math.inf

    def run(self, todo: list[str]) -> None:
        """Run the tasks with the keys `todo`, and store their results.

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
            self._run_tasks(executor, todo)

    def _run_tasks(self, executor: Executor, todo: list[str]) -> None:
        """Run tasks in an executor until all have ended or the time of the run is over.

        `todo`: their keys. The queue and the running tasks are attributes of this object, which it
        sets. Answers that have arrived are stored even after an interrupt or an ElmbenchError,
        which are raised.
        """
        has_end = self.until < math.inf
        # A single worker follows the order of the plan, because neighbours share their data.
        in_order = has_end or (executor.fixed and executor.workers == 1)
        self._queue = WorkQueue(
            self.tasks, todo, None if in_order else self.estimates.formula
        )
        self._running: dict[Future[Answer], Task] = {}
        # Tasks with the same code from outside are grouped, but a budget has an order of its own. A
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
        """Return True if the time at which the run ends has come."""
        return time.monotonic() >= self.until

    def _fill_workers(self, executor: Executor) -> None:
        """Start ready tasks until every worker is busy, none is ready or the time is over.

        Immediate tasks run here, in this process. Without workers, one task is handed to the
        executor, and waits there.
        """
        width = max(executor.workers, 1)
        while len(self._running) < width and not self._is_over():
            key = self._queue.pop(self._idle_codes)
            if key is None:
                return
            self._start(executor, self.tasks[key])

    def _start(self, executor: Executor, task: Task) -> None:
        """Hand a task to a worker, or run an immediate one here and store its result.

        It reports the start of the task, and takes the inputs of the task from the store.
        """
        inputs = {name: self.store.result(name) or {} for name in task.needs}
        self.on_event(Event("start", task))
        if task.immediate:
            context = Context(self.settings.data_dir)
            result = attempt(task, inputs, context)
            self._finish(task, Answer(result))
            return
        self._take_idle_worker(task)
        time_left = self._remaining_limits()
        limits = self.limits[task.key].narrower(time_left)
        future = executor.submit(task, inputs, limits)
        self._running[future] = task

    def _take_idle_worker(self, task: Task) -> None:
        """Remove one entry of `_idle_codes`: that of the idle worker that takes this task.

        It is one that has run the code from outside of the task, or the last one. Without entries,
        nothing happens.
        """
        if not self._idle_codes:
            return
        code = task.outside_code
        if code not in self._idle_codes:
            code = self._idle_codes[-1]
        self._idle_codes.remove(code)

    def _remaining_limits(self) -> Limits:
        """Return the time left until the end of the run as limits, at least 0.1 s.

        There are no limits if the run has no end.
        """
        if math.isinf(self.until):
            return Limits()
        return Limits(max(self.until - time.monotonic(), 0.1))

    def _collect_answers(self) -> None:
        """Wait for up to a second until a task ends, and finish all tasks that have ended.

        Finishing stores the answer and releases the dependent tasks. The worker's code is noted as
        idle.
        """
        for future in wait(self._running, _LOOK_EVERY, FIRST_COMPLETED).done:
            task = self._running[future]
            # A task counts as running until it is stored, so an interrupt in between loses nothing.
            self._finish(task, future.result())
            del self._running[future]
            if self._is_grouped:
                self._idle_codes.append(task.outside_code)

    def _finish(self, task: Task, answer: Answer) -> None:
        """Store the answer to a task, report its end and release the tasks that depend on it.

        A task that the end of the run stopped is reported without a result; it is not stored and
        releases none. The duration corrects the estimates unless the task is immediate.
        """
        is_timeout = answer.result["status"] == "timeout"
        # A task that the end of the run has stopped did not reach a limit of its own.
        if is_timeout and self._is_over():
            self.on_event(Event("end", task))
            return
        self._put(task, answer)
        if not task.immediate:
            self.estimates.note(task.key, answer.seconds)
        self.on_event(Event("end", task, answer.result))
        self._queue.mark_done(task.key)

    def _store_arrived(self) -> None:
        """Store the answers of tasks that have ended, after an interrupt or error.

        Tasks that are still running, or whose executor failed, are left out.
        """
        for future, task in self._running.items():
            if future.done() and future.exception() is None:
                self._put(task, future.result())

    def _put(self, task: Task, answer: Answer) -> None:
        """Store the answer to a task with its environment.

        It is that of this machine unless the answer describes another, which is then stored too.
        """
        environment = self._environment
        if answer.environment:
            description = dict(answer.environment)
            environment = self.store.put_environment(description)
        self.store.put(task, answer.result, environment, answer.seconds)


class WorkQueue:
    """The tasks that have not ended, by key; `pop` returns one whose inputs are ready.

    `todo`: keys of the tasks to run. `seconds`: rough durations; the task with the longest chain of
    dependent tasks comes first. With None, tasks come in the order of `todo`.
    """

    def __init__(
        self,
        tasks: Mapping[str, Task],
        todo: Iterable[str],
        seconds: Mapping[str, float] | None,
    ) -> None:
        self._tasks = tasks
        self._number = {key: i for i, key in enumerate(todo)}
        graph = {
            key: [name for name in tasks[key].needs if name in self._number]
            for key in self._number
        }
        #: The duration of each task together with the longest chain that depends on it.
        self._lengths = dict.fromkeys(graph, 0.0)
        if seconds is not None:
            # A task follows the tasks that it needs.
            for key, needs in reversed(graph.items()):
                self._lengths[key] += seconds[key]
                length = self._lengths[key]
                for need in needs:
                    self._lengths[need] = max(self._lengths[need], length)
        self._sorter = TopologicalSorter(graph)
        self._sorter.prepare()
        self.mark_done = self._sorter.done
        #: A heap of the tasks that can start, for each code from outside and, with the key None,
        #: for immediate tasks: minus the length of the chain, the number and the key.
        self._ready: dict[str | None, list[tuple[float, int, str]]] = {}

    def __bool__(self) -> bool:
        """Return True while a task has not been marked as done."""
        return self._sorter.is_active()

    def pop(self, idle_codes: Sequence[str] = ()) -> str | None:
        """Remove the next task that can start, and return its key; None if there is none.

        `idle_codes`: the code from outside that each idle worker has run; empty for none. A task
        with the code of the last one comes first, because other tasks may need a new worker.
        Immediate tasks come before it, because they may release such tasks.
        """
        for key in self._sorter.get_ready():
            self._add_ready(key)
        heaps = {code: heap for code, heap in self._ready.items() if heap}
        if not heaps:
            return None
        preferred_codes = [None, *reversed(idle_codes)]
        matching = [heaps[code] for code in preferred_codes if code in heaps]
        # Heaps compare by their first entries.
        heap = matching[0] if matching else min(heaps.values())
        _, _, next_key = heapq.heappop(heap)
        return next_key

    def _add_ready(self, key: str) -> None:
        """Add the task `key`, whose inputs are ready, to the heap of its code from outside."""
        task = self._tasks[key]
        code = None if task.immediate else task.outside_code
        length = self._lengths[key]
        number = self._number[key]
        heap = self._ready.setdefault(code, [])
        heapq.heappush(heap, (-length, number, key))

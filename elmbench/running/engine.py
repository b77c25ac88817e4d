"""Running a plan: tasks start as soon as what they need is there, and each result is kept the moment it arrives."""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import Literal

from elmbench.running.attempt import attempt
from elmbench.running.executors.local import LocalExecutor
from elmbench.running.executors.sandbox import Settings
from elmbench.running.limits import allows_more, machine_memory
from elmbench.running.store import Store
from elmbench.running.tasks import Task, TaskQueue, as_tasks
from elmbench.specs.limits import Limits
from elmbench.work.base import Context, Result, Work


@dataclass(frozen=True)
class Event:
    """Something that the user may want to see.

    Attributes
    ----------
    kind : {"start", "end"}
    result : dict or None
        What the work yielded, at its end.
    """

    kind: Literal["start", "end"]
    work: Work
    result: Result | None = None


OnEvent = Callable[[Event], None]


def effective_limits(keys: Iterable[str], declared: Mapping[str, Limits], settings: Settings) -> dict[str, Limits]:
    """Return the limits of all work: the run's own, else the experiment's, else the memory of the machine.

    Parameters
    ----------
    declared : mapping of str to Limits
        What the experiments say, by key.
    """
    machine = Limits(memory=machine_memory())
    return {key: settings.limits.over(declared.get(key, Limits())).over(machine) for key in keys}


def pending(
    works: Mapping[str, Work], limits: Mapping[str, Limits], store: Store, *, retry: bool = False, force: bool = False
) -> list[str]:
    """Return the keys of the work that has to be done, in the order of the plan.

    Parameters
    ----------
    limits : mapping of str to Limits
        Work that was stopped by a limit is done again where this one is larger.
    retry : bool
        Do again what ended other than ok.
    force : bool
        Do everything again.
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


class Run:
    """The work that is to be done, and where its results go.

    Parameters
    ----------
    works : mapping of str to Work
        All of the plan, by key.
    limits : mapping of str to Limits
        By key.
    on_event : callable
        Called in this thread at the start and end of all work.
    """

    def __init__(
        self,
        works: Mapping[str, Work],
        limits: Mapping[str, Limits],
        store: Store,
        settings: Settings,
        on_event: OnEvent = lambda event: None,
    ) -> None:
        self.works = works
        self.limits = limits
        self.store = store
        self.settings = settings
        self.on_event = on_event

    def run(self, todo: list[str]) -> None:
        """Do the work of these keys and keep its results in the store.

        Raises
        ------
        KeyboardInterrupt
            On Ctrl-C, after the workers have been ended; every result that had arrived is in the store.
        WriteError
            If a result cannot be kept; the run stops.
        """
        queue = TaskQueue(as_tasks(self.works, todo))
        running: dict[Future[Result], Task] = {}
        with LocalExecutor(self.settings) as executor:
            try:
                while queue or running:
                    while len(running) < executor.width and (task := queue.pop()) is not None:
                        self._start(task, executor, running, queue)
                    for future in wait(running, return_when=FIRST_COMPLETED).done if running else ():
                        self._finish(running[future], future.result(), queue)
                        del running[future]
            except KeyboardInterrupt:
                for future, task in running.items():
                    if future.done():
                        for key, result in task.results(future.result()).items():
                            self._put(self.works[key], result)
                raise

    def _start(
        self, task: Task, executor: LocalExecutor, running: dict[Future[Result], Task], queue: TaskQueue
    ) -> None:
        inputs = {key: self.store.result(key) or {} for key in task.work.needs}
        for part in task.parts:
            self.on_event(Event("start", part))
        if task.work.immediate:
            self._finish(task, attempt(task.work, inputs, Context(self.settings.data_dir)), queue)
        else:
            running[executor.submit(task.work, inputs, task.limits(self.limits))] = task

    def _finish(self, task: Task, result: Result, queue: TaskQueue) -> None:
        results = task.results(result)
        if not results:
            queue.take_apart(task)
            return
        for part in task.parts:
            self._put(part, results[part.key])
            self.on_event(Event("end", part, results[part.key]))
        queue.done(task)

    def _put(self, work: Work, result: Result) -> None:
        self.store.put(work, result, self.settings.environment)

"""Tasks of workers: single work, or a search and the evaluation of its grid joined in one pass."""

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter

from elmbench.specs.limits import Limits
from elmbench.work.base import Result, Work
from elmbench.work.search import Search
from elmbench.work.shared_pass import SharedPass


@dataclass(frozen=True)
class Task:
    """Work that a worker does at a time.

    `parts`: the planned work whose results it yields.
    """

    work: Work
    parts: tuple[Work, ...]

    def limits(self, limits: Mapping[str, Limits]) -> Limits:
        """Return what it may take: joined work what each may take alone."""
        first, *others = (limits[part.key] for part in self.parts)
        for other in others:
            first = first.narrower(other)
        return first

    def results(self, result: Result) -> dict[str, Result]:
        """Return the results of the parts by key.

        Joined work that ended other than ok has none: its parts are to be done alone, so that each ends as it would
        have without the other.
        """
        if len(self.parts) == 1:
            return {self.parts[0].key: result}
        if result["status"] != "ok":
            return {}
        return {key: part | {"warnings": result["warnings"]} for key, part in result["parts"].items()}


def as_tasks(works: Mapping[str, Work], todo: Iterable[str]) -> list[Task]:
    """Return the tasks that work which is to be done makes, in its order.

    A search that takes nothing over and the evaluation of the same grid are joined where both are to be done.
    """
    todo = list(todo)
    waiting = set(todo)
    searches = [work for key in todo if isinstance(work := works[key], Search) and work.given is None]
    passes = {search.key: SharedPass(search) for search in searches}
    pairs = {key: joined.evaluation.key for key, joined in passes.items()}
    pairs = {search: evaluation for search, evaluation in pairs.items() if evaluation in waiting}
    search_of = {evaluation: search for search, evaluation in pairs.items()}
    tasks: dict[str, Task] = {}
    for key in todo:
        search = search_of.get(key, key)
        if search in pairs:
            tasks.setdefault(search, Task(passes[search], (works[search], works[pairs[search]])))
        else:
            tasks[key] = Task(works[key], (works[key],))
    return list(tasks.values())


class TaskQueue:
    """Tasks that have not ended; those whose inputs are ready come in order.

    `seconds`: rough duration of each part, by key: the task with the longest chain of work that waits for it comes
    first. By default, tasks come in the order of the plan.
    """

    def __init__(self, tasks: list[Task], seconds: Mapping[str, float] | None = None) -> None:
        self._tasks = tasks
        self._number = {part.key: i for i, task in enumerate(tasks) for part in task.parts}
        needed = [{key for part in task.parts for key in part.needs} for task in tasks]
        graph = {i: {self._number[key] for key in keys if key in self._number} for i, keys in enumerate(needed)}
        self._lengths = {} if seconds is None else self._chains(graph, seconds)
        self._sorter = TopologicalSorter(graph)
        self._sorter.prepare()
        #: A heap of tasks that can start: minus the length of the chain, and the number.
        self._ready: list[tuple[float, int]] = []
        self._apart: list[Task] = []
        self._left = dict.fromkeys(graph, 1)

    def _chains(self, graph: Mapping[int, Iterable[int]], seconds: Mapping[str, float]) -> dict[int, float]:
        """Return the duration of each task and of the longest chain that waits for it."""
        after = dict.fromkeys(graph, 0.0)
        lengths: dict[int, float] = {}
        for i in reversed(list(TopologicalSorter(graph).static_order())):
            lengths[i] = sum(seconds[part.key] for part in self._tasks[i].parts) + after[i]
            for before in graph[i]:
                after[before] = max(after[before], lengths[i])
        return lengths

    def __bool__(self) -> bool:
        return self._sorter.is_active()

    def pop(self) -> Task | None:
        """Return the next task that can start; None if all others wait."""
        for number in self._sorter.get_ready():
            heapq.heappush(self._ready, (-self._lengths.get(number, 0.0), number))
        if self._apart:
            return self._apart.pop(0)
        return self._tasks[heapq.heappop(self._ready)[1]] if self._ready else None

    def take_apart(self, task: Task) -> None:
        """Queue the parts of a joined task as single tasks, before anything else."""
        self._left[self._number[task.parts[0].key]] = len(task.parts)
        self._apart += [Task(part, (part,)) for part in task.parts]

    def done(self, task: Task) -> None:
        """Release what waits for the results of a task."""
        number = self._number[task.parts[0].key]
        self._left[number] -= 1
        if self._left[number] == 0:
            self._sorter.done(number)

"""What a worker is asked for: single work, or a search and the evaluation of its grid joined in one pass."""

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter

from elmbench.running.estimates import Estimates
from elmbench.specs.limits import Limits
from elmbench.work.base import Result, Work
from elmbench.work.search import Search
from elmbench.work.shared_pass import SharedPass

#: What has been measured so many times as often changes the order of what waits.
_NEWS = 1.1


@dataclass(frozen=True)
class Task:
    """Work that a worker does at a time.

    Attributes
    ----------
    parts : tuple of Work
        The planned work whose results it yields.
    """

    work: Work
    parts: tuple[Work, ...]

    def limits(self, limits: Mapping[str, Limits]) -> Limits:
        """Return what it may take: joined work what each may take alone."""
        first, *others = (limits[part.key] for part in self.parts)
        for other in others:
            first = first.narrower(other)
        return first

    def seconds(self, estimates: Estimates) -> float:
        """Return what it will take."""
        return sum(estimates.seconds(part.key) for part in self.parts)

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
    """Tasks that have not ended: of those whose inputs are there, the first of the plan or the longest comes first.

    Parameters
    ----------
    estimates : Estimates
        Of all work.
    """

    def __init__(self, tasks: list[Task], estimates: Estimates) -> None:
        self._tasks = tasks
        self._estimates = estimates
        self._place = {part.key: i for i, task in enumerate(tasks) for part in task.parts}
        needed = [{key for part in task.parts for key in part.needs} for task in tasks]
        graph = {i: {self._place[key] for key in keys if key in self._place} for i, keys in enumerate(needed)}
        self._lengths = self._with_what_waits(graph)
        self._sorter = TopologicalSorter(graph)
        self._sorter.prepare()
        #: Places in the plan of those that can start, a heap: each behind what it ranks by.
        self._ready: list[tuple[float, int]] = []
        self._by_length = False
        self._noted = estimates.noted
        self._apart: list[Task] = []
        self._left = dict.fromkeys(graph, 1)

    def _with_what_waits(self, graph: Mapping[int, Iterable[int]]) -> dict[int, float]:
        """Return the seconds of each task and of the longest chain that waits for it, as the cost model says."""
        after = dict.fromkeys(graph, 0.0)
        lengths: dict[int, float] = {}
        for i in reversed(list(TopologicalSorter(graph).static_order())):
            lengths[i] = sum(self._estimates.said[part.key] for part in self._tasks[i].parts) + after[i]
            for before in graph[i]:
                after[before] = max(after[before], lengths[i])
        return lengths

    def __bool__(self) -> bool:
        return self._sorter.is_active()

    def pop(self, *, longest: bool = False) -> Task | None:
        """Return a task that can start; None where there is none now.

        Parameters
        ----------
        longest : bool, default=False
            The one that, with what waits for it, will take the longest, instead of the first one of the plan.
        """
        for place in self._sorter.get_ready():
            heapq.heappush(self._ready, (self._rank(place), place))
        if self._apart:
            return self._apart.pop(0)
        if longest != self._by_length or (longest and self._estimates.noted > _NEWS * self._noted):
            self._by_length, self._noted = longest, self._estimates.noted
            self._ready = [(self._rank(place), place) for _, place in self._ready]
            heapq.heapify(self._ready)
        return self._tasks[heapq.heappop(self._ready)[1]] if self._ready else None

    def _rank(self, place: int) -> float:
        """Return what a task, with what waits for it, will take, below zero; equal for all in the order of the plan."""
        if not self._by_length:
            return 0.0
        like = self._estimates.likes[self._tasks[place].parts[0].key]
        return -self._estimates.factor(like) * self._lengths[place]

    def take_apart(self, task: Task) -> None:
        """Have the parts of a joined task done alone, before anything else."""
        self._left[self._place[task.parts[0].key]] = len(task.parts)
        self._apart += [Task(part, (part,)) for part in task.parts]

    def done(self, task: Task) -> None:
        """Note that the results of a task are there: what waits for them can start."""
        place = self._place[task.parts[0].key]
        self._left[place] -= 1
        if self._left[place] == 0:
            self._sorter.done(place)

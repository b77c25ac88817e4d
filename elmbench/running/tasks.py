"""What a worker is asked for: single work, or a search and the evaluation of its grid joined in one pass."""

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter

from elmbench.running.estimates import Estimates, Like
from elmbench.specs.limits import Limits
from elmbench.work.base import Result, Work
from elmbench.work.search import Search
from elmbench.work.shared_pass import SharedPass


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
        #: Those that can start: in the order of the plan, and of like ones the longest first.
        self._ready: list[int] = []
        self._longest: dict[Like, list[tuple[float, int]]] = {}
        self._started: set[int] = set()
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
            heapq.heappush(self._ready, place)
            like = self._estimates.likes[self._tasks[place].parts[0].key]
            heapq.heappush(self._longest.setdefault(like, []), (-self._lengths[place], place))
        if self._apart:
            return self._apart.pop(0)
        place = self._pop_longest() if longest else self._pop_first()
        if place is None:
            return None
        self._started.add(place)
        return self._tasks[place]

    def _pop_first(self) -> int | None:
        while self._ready:
            if (place := heapq.heappop(self._ready)) not in self._started:
                return place
        return None

    def _pop_longest(self) -> int | None:
        best: tuple[float, int, Like] | None = None
        for like, heap in list(self._longest.items()):
            while heap and heap[0][1] in self._started:
                heapq.heappop(heap)
            if not heap:
                del self._longest[like]
                continue
            length, place = heap[0]
            best = min(best or (0.0, len(self._tasks), like), (length * self._estimates.factor(like), place, like))
        if best is None:
            return None
        return heapq.heappop(self._longest[best[2]])[1]

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

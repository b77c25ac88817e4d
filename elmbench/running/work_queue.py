"""The order in which work starts."""

import heapq
from collections.abc import Iterable, Mapping
from graphlib import TopologicalSorter

from elmbench.work.base import Work


class WorkQueue:
    """The work that has not ended, by key; `pop` returns work whose inputs are ready.

    `todo`: keys of the work to do. `seconds`: rough durations; work with the longest chain of dependent work comes
    first. By default, work comes in the order of `todo`.
    """

    def __init__(
        self, works: Mapping[str, Work], todo: Iterable[str], seconds: Mapping[str, float] | None = None
    ) -> None:
        self._number = {key: i for i, key in enumerate(todo)}
        graph = {key: [name for name in works[key].needs if name in self._number] for key in self._number}
        self._lengths = {} if seconds is None else _chains(graph, seconds)
        self._sorter = TopologicalSorter(graph)
        self._sorter.prepare()
        #: A heap of work that can start: minus the length of the chain, the number and the key.
        self._ready: list[tuple[float, int, str]] = []

    def __bool__(self) -> bool:
        return self._sorter.is_active()

    def pop(self) -> str | None:
        """Return the key of the next work that can start; None if there is none."""
        for key in self._sorter.get_ready():
            heapq.heappush(self._ready, (-self._lengths.get(key, 0.0), self._number[key], key))
        return heapq.heappop(self._ready)[2] if self._ready else None

    def done(self, key: str) -> None:
        """Release the work that depends on ended work."""
        self._sorter.done(key)


def _chains(graph: Mapping[str, Iterable[str]], seconds: Mapping[str, float]) -> dict[str, float]:
    """Return the duration of each piece of work together with the longest chain that depends on it."""
    after = dict.fromkeys(graph, 0.0)
    lengths: dict[str, float] = {}
    for key in reversed(list(TopologicalSorter(graph).static_order())):
        lengths[key] = seconds[key] + after[key]
        for before in graph[key]:
            after[before] = max(after[before], lengths[key])
    return lengths

"""How long a run will go on: by what has ended in it, and by the cost model where nothing like it has.

Workers have to be started, and data loaded, before work can begin: that is counted too.
"""

from __future__ import annotations

import heapq
import time
from collections import defaultdict
from collections.abc import Callable, Iterable

from elmbench.running.estimates import Estimates, Like
from elmbench.running.tasks import Task, TaskQueue

#: Seconds from a worker's start to its first work, and before each later one, until they have been measured.
START, BEFORE = 3.0, 0.02
#: How many pieces of work the guess of `BEFORE` counts for.
_GUESSED = 5
#: What runs longer than it should is thought to run on for this part of the time that it has run.
_LONGER = 0.3
#: Of more pieces of work than this it matters little how they fall to the workers.
_MANY = 200


class TimeLeft:
    """The time that a run has left.

    Parameters
    ----------
    estimates : Estimates
        Of all work; whoever runs it notes there what it has taken.
    todo : iterable of str
        Keys of the work that has to be done.
    clock : callable
        Returns the time in seconds.
    """

    def __init__(self, estimates: Estimates, todo: Iterable[str], clock: Callable[[], float] = time.monotonic) -> None:
        self._estimates = estimates
        self._clock = clock
        self._begun = clock()
        self._waiting = set(todo)
        #: Seconds of all that waits by the cost model, of like work together.
        self._said: defaultdict[Like, float] = defaultdict(float)
        for key in self._waiting:
            self._said[estimates.likes[key]] += estimates.said[key]
        self._running: dict[str, float] = {}
        self._before: list[float] = []

    @property
    def elapsed(self) -> float:
        """Seconds since the run began."""
        return self._clock() - self._begun

    def start(self, key: str) -> None:
        """Note that some work has been begun, here or by another run."""
        if key in self._waiting:
            self._waiting.discard(key)
            self._said[self._estimates.likes[key]] -= self._estimates.said[key]
        self._running[key] = self._clock()

    def end(self, key: str, before: float | None = None) -> None:
        """Note that some work has ended.

        Parameters
        ----------
        before : float, optional
            Seconds until it could begin, where it was done here.
        """
        self.start(key)
        del self._running[key]
        if before is not None:
            self._before.append(before)

    def seconds(self, workers: int) -> float:
        """Return how many seconds are left with so many workers."""
        # The first work of each worker has waited for its start.
        later = self._before[workers:]
        before = (sum(later) + _GUESSED * BEFORE) / (len(later) + _GUESSED)
        starting = 0.0 if self._before else max(0.0, START - self.elapsed)
        now = self._clock()
        busy = []
        for key, started in self._running.items():
            spent = max(0.0, now - started - (START if starting else 0.0))
            busy.append(max(self._estimates.seconds(key) + before - spent, _LONGER * spent))
        if len(self._waiting) + len(busy) > _MANY:
            waiting = sum(self._estimates.factor(like) * said for like, said in self._said.items())
            return starting + (sum(busy) + waiting + before * len(self._waiting)) / workers
        rest = sorted((self._estimates.seconds(key) + before for key in self._waiting), reverse=True)
        return starting + _end_of([*busy, *rest], workers)


def _end_of(lengths: list[float], workers: int) -> float:
    """Return when the last of some work ends that is begun in this order, each piece as soon as a worker is free."""
    free = [0.0] * workers
    for seconds in lengths:
        heapq.heapreplace(free, free[0] + seconds)
    return max(free)


def makespan(tasks: list[Task], estimates: Estimates, workers: int) -> float:
    """Return how many seconds a run takes, the longest of what can start always first.

    What waits for other work is taken into account, and the time that workers need before they can begin.
    """
    queue = TaskQueue(tasks, estimates)
    running: list[tuple[float, int, Task]] = []
    now, number = START if tasks else 0.0, 0
    while queue:
        while len(running) < workers and (task := queue.pop(longest=True)) is not None:
            number += 1
            takes = 0.0 if task.work.immediate else BEFORE + task.seconds(estimates)
            heapq.heappush(running, (now + takes, number, task))
        now, _, ended = heapq.heappop(running)
        queue.done(ended)
    return now

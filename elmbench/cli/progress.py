"""Live progress: a bar with the time left on a terminal; of a run, also a line every few seconds elsewhere."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self

from elmbench.cli.state import state

if TYPE_CHECKING:
    from elmbench.running.engine import Event
    from elmbench.running.executors import Executor
    from elmbench.specs.catalogue import ExperimentFile
    from elmbench.workflow.prepare import PreparedRun

#: Seconds between two lines where there is no terminal.
_LINE_EVERY = 5
#: The most characters that describe the current work.
_WIDEST = 46


class RunProgress:
    """The display of a run's progress, a context manager; `on_event` receives the run's events.

    `executor`: knows the number of workers.
    """

    def __init__(self, run: PreparedRun, quiet: bool, executor: Executor) -> None:
        from elmbench.running.estimates import RemainingTime

        self.quiet = quiet or not run.todo
        self.executor = executor
        work = [key for key in run.todo if not run.works[key].immediate]
        self.remaining = RemainingTime(run.estimates, work)
        self.all, self.done = len(work), 0
        # The rest is preparatory work, such as searches.
        self.cells = {cell.key for _, plan in run.tables for cell in plan.cells}.intersection(run.todo)
        self.endings: Counter[str] = Counter()
        self._table = {key: resolved.file.id for resolved, plan in reversed(run.tables) for key in plan.works}
        self._deserted = False
        self._last_line = 0.0
        self._bar: Any = None

    def __enter__(self) -> Self:
        if not self.quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            self._bar = Progress(
                TextColumn("{task.fields[cells]} cells"),
                BarColumn(bar_width=20),
                # Brackets in the name of a data set are not markup.
                TextColumn("{task.percentage:>3.0f} %  {task.fields[left]}  {task.fields[now]}", markup=False),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.add_task("", total=1.0, cells=f"0/{len(self.cells)}", left="", now="")
            self._bar.start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
        if not self.quiet and kind is None:
            ended = ", ".join(f"{n} {status}" for status, n in self.endings.items()) or "none ended"
            print(f"{self.endings.total()} cells in {duration(self.remaining.elapsed_time)}: {ended}", file=sys.stderr)

    def on_event(self, event: Event) -> None:
        """Update the display at the start or end of some work."""
        key = event.work.key
        if event.kind == "no-workers":
            if not (self._deserted or self.quiet):
                self._deserted = True
                # Printed through the bar's console, which owns standard error while the bar is live.
                print("the scheduler has no worker: the run waits for one", file=sys.stderr, flush=True)
            return
        if not event.work.immediate and event.kind == "end":
            self.remaining.end(key)
            self.done += 1
        elif not event.work.immediate:
            self.remaining.start(key)
        if event.result is not None and key in self.cells:
            self.endings[event.result["status"]] += 1
        elapsed = self.remaining.elapsed_time
        if self.quiet or (self._bar is None and elapsed - self._last_line <= _LINE_EVERY):
            return
        seconds, is_complete = self.remaining.estimate(self.executor.workers)
        if is_complete:
            times = f"{duration(elapsed)}, about {duration(seconds)} left"
        else:
            rest = f"at least {duration(seconds)} left" if seconds >= 1 else "time left unknown"
            times = f"{duration(elapsed)}, {rest}"
        share = self.done / max(self.all, 1)
        cells, table = f"{self.endings.total()}/{len(self.cells)}", self._table.get(key, "")
        if self._bar is not None:
            now = f"{table}: {event.work.label}"[:_WIDEST]
            self._bar.update(self._bar.task_ids[0], completed=share, cells=cells, left=times, now=now)
        else:
            self._last_line = elapsed
            print(f"{cells} cells, {100 * share:.0f} %, {times}; {table}", file=sys.stderr, flush=True)


def show_progress(tables: Sequence[ExperimentFile]) -> Iterable[ExperimentFile]:
    """Return tables that show on a terminal, while they are iterated over, how many are done and the time left."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    hidden = state.silent or len(tables) < 2 or not console.is_terminal
    return track(tables, "tables", console=console, transient=True, disable=hidden)


def duration(seconds: float) -> str:
    """Return a duration in words."""
    if seconds < 90:
        return f"{math.ceil(seconds)} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"

"""Live progress of a run: a bar with the time left on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from elmbench.running.engine import Event
    from elmbench.workflow.prepare import PreparedRun


class RunProgress:
    """Shows how far a run is; a context manager whose `on_event` takes the run's events.

    The time left goes by estimated cost, so that a few slow cells at the end do not come as a surprise.
    """

    def __init__(self, run: PreparedRun, quiet: bool) -> None:
        self.quiet = quiet or not run.todo
        self.cost = {key: max(run.seconds_of(key), 1e-3) for key in run.todo}
        self.total = sum(self.cost.values())
        self.jobs = run.options.settings.jobs
        # All other work leads to that of the cells.
        self.shown = {cell.key for _, plan in run.tables for cell in plan.cells}.intersection(run.todo)
        self.done_cost = 0.0
        self.done_cells = 0
        self.endings: Counter[str] = Counter()
        #: Cells that other runs on the same folder have computed meanwhile.
        self.done_elsewhere = 0
        self._others: set[str] = set()
        self.started = self.last_line = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        if not self.quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            self._bar = Progress(
                TextColumn("{task.fields[cells]} cells"),
                BarColumn(bar_width=20),
                # Brackets in the name of a data set are no markup.
                TextColumn("{task.percentage:>3.0f} %  {task.fields[left]}  {task.fields[now]}", markup=False),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task("", total=self.total, **self._fields(""))
            self._bar.start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
        if not self.quiet and kind is None:
            ended = ", ".join(f"{n} {status}" for status, n in self.endings.items())
            shared = f"; {self.done_elsewhere} of them by another run" if self.done_elsewhere else ""
            took = duration(time.monotonic() - self.started)
            print(f"{self.done_cells} cells in {took}: {ended}{shared}", file=sys.stderr)

    def on_event(self, event: Event) -> None:
        """Take note of the start or end of some work."""
        if event.kind == "end" and event.result is not None:
            self.done_cost += self.cost[event.work.key]
            if event.work.key in self.shown:
                self.done_cells += 1
                self.endings[event.result["status"]] += 1
                self.done_elsewhere += bool(event.other)
        if self.quiet:
            return
        if event.kind == "elsewhere":
            self._say_other(event.other)
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done_cost, **self._fields(event.work.label))
        elif time.monotonic() - self.last_line > 5:
            self.last_line = time.monotonic()
            share = f"{100 * self.done_cost / self.total:.0f} %"
            print(f"{self.done_cells}/{len(self.shown)} cells, {share}, {self._left()}", file=sys.stderr, flush=True)

    def _say_other(self, name: str) -> None:
        if name not in self._others:
            self._others.add(name)
            text = f"another run ({name}) works on the same results folder: what it computes is taken over"
            if self._bar is not None:
                self._bar.console.print(text, markup=False)
            else:
                print(text, file=sys.stderr, flush=True)

    def _fields(self, now: str) -> dict[str, str]:
        return {"cells": f"{self.done_cells}/{len(self.shown)}", "left": self._left(), "now": now[:34]}

    def _left(self) -> str:
        elapsed = time.monotonic() - self.started
        if self.done_cost < 0.03 * self.total:
            return f"about {duration(self.total / self.jobs)} in all"
        return f"about {duration(elapsed * (self.total / self.done_cost - 1))} left"


def duration(seconds: float) -> str:
    """Return a duration as people say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"

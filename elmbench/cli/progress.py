"""Live progress of commands: a bar with the time left on a terminal; for a run, also a line every
few seconds elsewhere.

`elmbench.compare` has a bar of its own for Python (`elmbench.comparison.python_progress`).
"""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self

from elmbench.cli.options import state
from elmbench.errors import amount
from elmbench.terminal import escape

if TYPE_CHECKING:
    from elmbench.datasets.user_data import UserData
    from elmbench.execution.engine import Event
    from elmbench.execution.executors import Executor
    from elmbench.runs.prepare import PreparedRun
    from elmbench.specs.catalogue import Watch
    from elmbench.specs.experiment_file import ExperimentFile
    from elmbench.tasks.base import Task

#: Seconds between two lines where there is no terminal.
_LINE_EVERY = 5


class CommandProgress:
    """The live display of a run for a command, on standard error; a context manager.

    It shows the cells that have ended, the time left and the table: as a bar on a terminal,
    elsewhere as lines. At the end it prints the number of cells by status. Pass its `on_event` to
    the run.

    Parameters
    ----------
    run : PreparedRun
    quiet : bool
        True to print nothing.
    executor : Executor
        Its number of workers is used for the time left.
    """

    def __init__(self, run: PreparedRun, quiet: bool, executor: Executor) -> None:
        from rich.progress import BarColumn, Progress, TextColumn

        from elmbench.cli.console import EscapingConsole

        console = EscapingConsole(sys.stderr)
        self.quiet = quiet or not run.todo
        self.executor = executor
        timed_tasks = run.timed_tasks
        self.estimates = run.estimates
        self._waiting = dict.fromkeys(timed_tasks)
        self._running: dict[str, float] = {}
        self._start_time = time.monotonic()
        # The rest is preparatory work, such as searches.
        self.cells = {
            cell.key for _, plan in run.tables for cell in plan.cells
        }.intersection(run.todo)
        self.endings: Counter[str] = Counter()
        self._table = {
            key: resolved.file.id
            for resolved, plan in reversed(run.tables)
            for key in plan.tasks
        }
        self._is_without_workers = False
        self._bar = Progress(
            BarColumn(bar_width=20),
            # Brackets in the name of a data set are not markup.
            TextColumn("{task.percentage:>3.0f} %  {task.description}", markup=False),
            console=console,
            transient=True,
            disable=self.quiet
            or not (
                sys.stderr.isatty() and console.is_interactive
            ),  # false for TERM=dumb
        )
        self._task = self._bar.add_task("", total=max(len(timed_tasks), 1))
        self._next_text = self._start_time
        if self._bar.disable:
            self._next_text += _LINE_EVERY

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self._bar.stop()
        if self.quiet or kind is not None:
            return
        endings = [f"{n} {status}" for status, n in self.endings.items()]
        text = ", ".join(endings) or "none ended"
        n_cells = amount(self.endings.total(), "cell")
        seconds = time.monotonic() - self._start_time
        print(f"{n_cells} in {duration(seconds)}: {text}", file=sys.stderr)

    def on_event(self, event: Event) -> None:
        """Update the display at the start or end of a task.

        For an event of the kind "no-workers", which may be repeated, print once that the scheduler
        has no worker.
        """
        if event.kind == "no-workers":
            self._report_no_workers()
            return
        now = time.monotonic()
        if not event.task.immediate:
            self._move(event, now)
        if event.result is not None and event.task.key in self.cells:
            self.endings[event.result["status"]] += 1
        is_last = not (self._waiting or self._running or self._bar.disable)
        if not self.quiet and (now >= self._next_text or is_last):
            self._show(event.task, now)

    def _report_no_workers(self) -> None:
        """Print on standard error that the scheduler has no worker, the first time only.

        Nothing is printed if the display is quiet.
        """
        if self._is_without_workers or self.quiet:
            return
        self._is_without_workers = True
        # Printed through the bar's console, which owns standard error while the bar is live.
        print(
            "the scheduler has no worker: the run waits for one",
            file=sys.stderr,
            flush=True,
        )

    def _move(self, event: Event, now: float) -> None:
        """Note that a task has started or ended; advance the bar at its end.

        At its start, the task moves from the waiting to the running ones; at its end, it is in
        neither. `now`: a time of `time.monotonic`.
        """
        key = event.task.key
        self._waiting.pop(key, None)
        if event.kind == "start":
            self._running[key] = now
        else:
            self._running.pop(key, None)
        self._bar.advance(self._task, event.kind == "end")

    def _show(self, task: Task, now: float) -> None:
        """Show the number of ended cells, the times spent and left, and the table of a task.

        The bar also shows `task`, which has just started or ended. Without a bar, a line is
        printed. The time of the next text is set. `now`: a time of `time.monotonic`.
        """
        n_ended = f"{self.endings.total()}/{len(self.cells)} cells"
        spent = duration(now - self._start_time)
        table = self._table.get(task.key, "")
        text = f"{n_ended}, {spent}, {self._time_left(now)}; {table}"
        if self._bar.disable:
            print(
                f"{self._bar.tasks[0].percentage:.0f} %, {text}",
                file=sys.stderr,
                flush=True,
            )
            self._next_text = now + _LINE_EVERY
        else:
            self._bar.update(self._task, description=escape(f"{text}: {task.label}"))
            # In runs of very many cells, texts take a tenth of the time at most.
            self._next_text = now + 10 * (time.monotonic() - now)

    def _time_left(self, now: float) -> str:
        """Return the estimated time left, such as "about 5 min left".

        If some durations are unknown, it is "at least 5 min left", or "time left unknown" below a
        second. `now`: a time of `time.monotonic`.
        """
        running = {key: now - start_time for key, start_time in self._running.items()}
        seconds, is_complete = self.estimates.remaining(
            self._waiting, running, self.executor.workers
        )
        if is_complete:
            return f"about {duration(seconds)} left"
        return (
            f"at least {duration(seconds)} left"
            if seconds >= 1
            else "time left unknown"
        )


@contextmanager
def show_tables(passes: int = 1) -> Iterator[Watch]:
    """Show a bar with the time left while a command goes through tables; a context manager.

    The bar is shown on a terminal only, for two tables or more, and neither with --quiet nor with
    --json. The value of the `with` statement is a function that yields the tables that it is given,
    and advances the bar after each. The command must call it first with all tables, and at most
    `passes` times.
    """
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    from elmbench.cli.console import EscapingConsole

    console = EscapingConsole(sys.stderr)
    progress = Progress(
        TextColumn("tables"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
        console=console,
        transient=True,
        disable=state.silent or not console.is_interactive,
    )
    bar = progress.add_task("", total=None, visible=False)

    def watch(tables: Sequence[ExperimentFile]) -> Iterator[ExperimentFile]:
        if progress.tasks[bar].total is None:
            progress.update(bar, total=passes * len(tables), visible=len(tables) > 1)
        for table in tables:
            yield table
            progress.advance(bar)

    with progress:
        yield watch


def show_reading(data: Iterable[UserData]) -> Iterator[UserData]:
    """Yield each of a user's data sets, and show that it is being read.

    The text is shown until the next data set is asked for.
    """
    for one in data:
        with show_wait(f"reading {one.title or one.location}{size_of(one.location)}"):
            yield one


def size_of(location: str | Path) -> str:
    """Return the size of a file to follow its name, such as " (12.3 MB)", with a space in front.

    Empty if `location` is not an existing file, such as openml:ID.
    """
    from rich.filesize import decimal

    path = os.path.expanduser(location)
    return f" ({decimal(os.path.getsize(path))})" if os.path.isfile(path) else ""


@contextmanager
def show_wait(text: str) -> Iterator[None]:
    """Show a text while the block runs; a context manager.

    On a terminal it is shown all the time, elsewhere as one line on standard error after five
    seconds; never with --quiet or --json.
    """
    from rich.text import Text

    from elmbench.cli.console import EscapingConsole

    console = EscapingConsole(sys.stderr)
    if state.silent:
        yield
    elif console.is_interactive:
        with console.status(Text(text)):
            yield
    else:
        options = {"file": sys.stderr, "flush": True}
        timer = threading.Timer(_LINE_EVERY, print, [f"{text} ..."], options)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


def duration(seconds: float) -> str:
    """Return a duration in words, such as "12 s", "5 min" or "2.5 h".

    Seconds are rounded up and used below 90 s, minutes below 90 min.
    """
    if seconds < 90:
        return f"{math.ceil(seconds)} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"

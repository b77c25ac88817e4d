"""The progress bar of `elmbench.compare`, for a Python prompt or a notebook.

The commands have a display of their own (`elmbench.cli.progress`): it names cells and tables,
estimates the time left and prints lines if there is no terminal.
"""

import sys
from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeVar

from elmbench.execution.engine import Event, OnEvent
from elmbench.execution.executors import Executor
from elmbench.runs.prepare import PreparedRun

T = TypeVar("T")


class PythonProgress:
    """A bar that counts the tasks of a comparison, without words on it; a context manager.

    Parameters
    ----------
    run : PreparedRun
        Its tasks to run that take time are counted; without any, there is no bar.
    shown : bool or None
        None to show it in a terminal and in a notebook only.
    """

    def __init__(self, run: PreparedRun, shown: bool | None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeRemainingColumn as TimeLeft

        console = Console(file=sys.stderr)
        if shown is None:
            shown = console.is_interactive or console.is_jupyter
        self._timed_tasks = set(run.timed_tasks)
        self._bar = Progress(
            TextColumn("comparing", markup=False),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TimeLeft(),
            console=console,
            transient=console.is_interactive,
            disable=not (shown and self._timed_tasks),
        )
        self._task = self._bar.add_task("", total=len(self._timed_tasks))

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def on_event(self, event: Event) -> None:
        """Advance the bar if a counted task has ended; ignore other events."""
        if event.kind == "end" and event.task.key in self._timed_tasks:
            self._bar.advance(self._task)


def with_progress(
    carry_out: Callable[[PreparedRun, OnEvent, Executor | None], T],
    run: PreparedRun,
    on_event: OnEvent | None,
    shown: bool | None,
) -> T:
    """Carry out a plan with a progress bar; return the result of `carry_out`.

    `carry_out`: `execute` or `compute`, called as `carry_out(run, on_event, None)`. `on_event`:
    also receives the events; None for none. `shown`: True or False to show the bar or not; None to
    show it in a terminal and in a notebook only. It is never shown if the plan has no task that
    takes time.
    """
    with PythonProgress(run, shown) as bar:

        def report(event: Event) -> None:
            bar.on_event(event)
            if on_event is not None:
                on_event(event)

        return carry_out(run, report, None)

"""The bar of a download on the terminal."""

import sys
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TransferSpeedColumn

from elmbench.terminal import unescaped


class DownloadBar:
    """A bar that pooch fills: it sets `total` and calls `update`, `reset` and `close`."""

    def __init__(self) -> None:
        console = Console(file=unescaped(sys.stderr))
        self._bar = Progress(
            BarColumn(), DownloadColumn(), TransferSpeedColumn(), console=console
        )
        self._task = self._bar.add_task("", total=None)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    @property
    def total(self) -> float | None:
        """The number of bytes; None if the server does not give it."""
        return self._bar.tasks[0].total

    @total.setter
    def total(self, size: int) -> None:
        self._bar.update(self._task, total=size or None)

    def update(self, size: int) -> None:
        """Count `size` more bytes."""
        self._bar.advance(self._task, size)

    def reset(self) -> None:
        """Count from the beginning again, if the total is known.

        pooch does so at the end and then adds the total.
        """
        if self.total is not None:
            self._bar.update(self._task, completed=0)

    def close(self) -> None:
        """Do nothing: the bar ends with its context."""

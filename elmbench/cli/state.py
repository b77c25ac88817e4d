"""Options of the whole app, and output."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elmbench.files import RESULTS_DIR

if TYPE_CHECKING:
    from rich.console import Console

    from elmbench.reporting.folders import ResultsDirs


@dataclass
class State:
    """The options of the whole app; plug-ins by their absolute paths."""

    named_results_dir: Path | None = None
    data_dir: str | None = None
    plugins: tuple[str, ...] = ()
    quiet: bool = False
    as_json: bool = False
    debug: bool = False
    _console: Console | None = field(default=None, repr=False)

    @property
    def results_dir(self) -> Path:
        """The folder that results are written to."""
        return self.named_results_dir or Path(RESULTS_DIR)

    @property
    def results_dirs(self) -> ResultsDirs:
        """The folders that tables are read from: the named one, or else the user's and then the committed one."""
        from elmbench.reporting.folders import ResultsDirs, committed_results

        return ResultsDirs(self.results_dir, None if self.named_results_dir else committed_results())

    @property
    def console(self) -> Console:
        """The standard output; it is 80 columns wide if it is not a terminal."""
        if self._console is None:
            from rich.console import Console

            width = None if os.isatty(1) or "COLUMNS" in os.environ else 80
            self._console = Console(width=width, highlight=False, soft_wrap=False)
        return self._console

    @property
    def width(self) -> int:
        """The width of tables in characters: that of the terminal, at most 80."""
        return min(80, self.console.width)

    @property
    def silent(self) -> bool:
        """True if nothing but results and errors is printed."""
        return self.quiet or self.as_json

    def emit(self, content: Any, text: Any = None) -> None:
        """Print `content` as JSON with `--json`, else `text` (a string or anything that rich prints)."""
        if self.as_json:
            # Printed figures are decimals.
            print(json.dumps(content, indent=1, default=lambda v: float(v) if isinstance(v, Decimal) else str(v)))
        elif text is not None:
            self.console.print(text, markup=not isinstance(text, str))

    def say(self, *lines: str) -> None:
        """Print lines for people; not with `-q` or `--json`."""
        for line in () if self.silent else lines:
            self.console.print(line, markup=False)

    def remark(self, text: str) -> None:
        """Print a line for people on standard error, apart from what may go to a file; not with `-q` or `--json`."""
        if not self.silent:
            print(text, file=sys.stderr)


#: The one state of the process.
state = State()

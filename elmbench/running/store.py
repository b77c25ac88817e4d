"""The store of results, and of the cells that were requested of each table.

It is a log of JSON lines and not a database: a result is written once and read whole, never queried. Each process
appends to its own file, so simultaneous runs, even on several machines, and kills do not affect other runs. SQLite's
write-ahead log needs shared memory, which cluster file systems lack. See `elmbench.running.records`.

Layout below the root: `records/*.log`, the log; a lock. Reading it never runs code.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elmbench.files import lock_file
from elmbench.running.records import Records

if TYPE_CHECKING:
    from elmbench.work.base import Result, Work
    from elmbench.work.plan import Cell

#: Key in the result of a fit that was timed alone.
CLEAN = "clean"
#: The beginning of the reason why work fails whose search has failed.
SEARCH_FAILED = "the search before it: "


class Store(Records):
    """The results and the tables of one results folder; the store is its `.store`."""

    def __init__(self, results_dir: Path) -> None:
        self.root = results_dir / ".store"
        super().__init__(self.root / "records")

    # --- Results

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the record of some work; None without an intact one."""
        record: dict[str, Any] | None = self.last(f"unit:{key}")
        return record

    def result(self, key: str) -> dict[str, Any] | None:
        """Return the result of some work; None if it has not run."""
        record = self.get(key)
        return record["result"] if record else None

    def put(self, work: Work, result: Result, environment: str, seconds: float = 0.0) -> None:
        """Store a result with its work, its environment and its duration.

        It survives the death of the process at once. Raises WriteError if it cannot be written.
        """
        record = {"key": work.key, "unit": work.content(), "result": result, "environment": environment}
        self.append(f"unit:{work.key}", record | ({"seconds": seconds} if seconds else {}))

    def put_environment(self, environment: dict[str, Any]) -> str:
        """Store a description of software and machine; return its hash."""
        from elmbench.work.base import key_of

        name = key_of(environment)[:16]
        if self.last(f"environment:{name}") is None:
            self.append(f"environment:{name}", environment)
        return name

    def environment(self, name: str) -> dict[str, Any]:
        """Return the environment with a hash; only the hash if its description is lost."""
        content: dict[str, Any] | None = self.last(f"environment:{name}")
        return content or {"hash": name}

    # --- Tables

    def cells(self, profile: str, experiment: str) -> list[Cell]:
        """Return every cell that was requested of a table under a profile and is not stale."""
        cells: dict[tuple[Any, ...], Cell] = {}
        for request, _ in self.requests(profile, experiment):
            cells = _merge(cells, request)
        return list(cells.values())

    def commands(self, profile: str, experiment: str) -> list[str]:
        """Return the commands that requested these cells, each once, oldest first."""
        commands = [command for _, command in self.requests(profile, experiment)]
        return list(reversed(dict.fromkeys(reversed(commands))))

    def has_command(self, command: str) -> bool:
        """Return True if this command line has requested some table."""
        return any(command in self.commands(profile, experiment) for experiment, profile in self.tables())

    @property
    def change_time(self) -> float:
        """The time of the last change of the log, in seconds since 1970; 0 without a log."""
        return max((path.stat().st_mtime for path in self.folder.glob("*.log")), default=0.0)

    def tables(self) -> list[tuple[str, str]]:
        """Return the experiment and profile of every requested table, in no order."""
        names = (name.removeprefix("table:").partition("/") for name in self.names("table:"))
        return [(experiment, profile) for profile, _, experiment in names]

    def requests(self, profile: str, experiment: str) -> list[tuple[list[Cell], str]]:
        """Return the cells and the command of each valid request for a table, oldest first."""
        from elmbench.work.plan import Cell

        requests = self.all(f"table:{profile}/{experiment}")
        first = max((number for number, request in enumerate(requests) if request.get("whole")), default=0)
        return [([Cell(*values) for values in request["cells"]], request["command"]) for request in requests[first:]]

    def add_cells(
        self, profile: str, experiment: str, cells: Iterable[Cell], command: str, whole: bool = False
    ) -> None:
        """Record a request for cells of a table, with its command.

        They replace the same cells with another key, and cells of the same entry with another protocol, grid, data or
        model version. A request is one record, so requests of other runs stay. A `whole` request hides all requests
        before it.
        """
        cells = list(cells)
        previous = {_position(cell): cell for cell in self.cells(profile, experiment)}
        updated = _merge({} if whole else previous, cells)
        if updated == previous and self.commands(profile, experiment)[-1:] == [command]:
            return
        content: dict[str, Any] = {"command": command, "cells": [list(asdict(cell).values()) for cell in cells]}
        if whole:
            content["whole"] = True
        # Stored twice: results can be recomputed, but one damaged line must not lose a request.
        for _ in range(2):
            self.append(f"table:{profile}/{experiment}", content)

    # --- Simultaneous runs

    @contextlib.contextmanager
    def writing_tables(self) -> Iterator[None]:
        """Lock the tables against other runs and read their results, so that the last writer has everything."""
        with lock_file(self.root / "tables.lock"):
            self.refresh()
            yield


def _merge(present: dict[tuple[Any, ...], Cell], cells: Iterable[Cell]) -> dict[tuple[Any, ...], Cell]:
    """Return the cells of a table, by position, with those of a new request."""
    # Cells whose data are missing now may have results from before; these stay.
    cells = [cell for cell in cells if not (cell.unavailable and _position(cell) in present)]
    current = {_entry(cell): cell.family for cell in cells if not cell.unavailable}
    datasets = {cell.dataset for cell in cells if not cell.unavailable}
    others = {
        position: cell
        for position, cell in present.items()
        if current.get(_entry(cell), cell.family) == cell.family and not (cell.unavailable and cell.dataset in datasets)
    }
    return others | {_position(cell): cell for cell in cells}


def _entry(cell: Cell) -> tuple[str, ...]:
    """Return what the cells of all runs and folds of a model on a data set have in common."""
    return cell.dataset, cell.model, cell.select, cell.reading


def _position(cell: Cell) -> tuple[Any, ...]:
    return (*_entry(cell), cell.run, cell.fold)

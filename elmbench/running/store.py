"""The store: what has been computed, and which cells each table was asked for.

Why a log of JSON lines and not a database: a result is written once and read whole, never queried; each process appends
to a file of its own, so neither runs side by side, on several machines too, nor a kill disturb the others; SQLite's
write-ahead log asks for shared memory that cluster file systems lack. See `elmbench.running.records`.

Layout below the root: `records/*.log`, the log; `runs/*`, what living runs compute now; locks; `damaged`, lines of the
log that were found not to be as written. Nothing here can run code when it is read.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from elmbench.errors import ElmbenchError
from elmbench.files import sweep
from elmbench.running.leases import Leases, claims, locked
from elmbench.running.records import Records

if TYPE_CHECKING:
    from elmbench.work.base import Result, Work
    from elmbench.work.plan import Cell

_Entry = TypeVar("_Entry")
#: What the result of a fit says that was timed with nothing beside it.
CLEAN = "clean"


class Store:
    """What has been computed, below one results folder.

    Parameters
    ----------
    results_dir : Path
        The results folder; the store is its `.store`.
    """

    def __init__(self, results_dir: Path) -> None:
        self.root = results_dir / ".store"
        self.records = Records(self.root / "records")

    # --- Results

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the record of a unit, or None where there is none (or none that is as it was written)."""
        record: dict[str, Any] | None = self.records.get(_unit(key))
        return record

    def result(self, key: str) -> dict[str, Any] | None:
        """Return what a unit yielded, or None where it has not run."""
        record = self.get(key)
        return record["result"] if record else None

    def put(self, work: Work, result: Result, environment: str, seconds: float = 0.0) -> None:
        """Keep what some work yielded, with the work itself, the environment that it was done in and what it took.

        It outlives the process at once. Of results that arrive within a second the disk is waited for together, here or
        in `sync`.

        Raises
        ------
        WriteError
            If it cannot be written.
        ElmbenchError
            If the store has been deleted since it was opened.
        """
        record: dict[str, Any] = {"key": work.key, "unit": work.content(), "result": result, "environment": environment}
        if seconds:
            record["seconds"] = seconds
        self.put_record(record)

    def put_record(self, record: Mapping[str, Any]) -> None:
        """Keep a record of a unit as `get` returns it; see `put`."""
        self.records.append(_unit(record["key"]), record)
        self.sync(at_once=False)

    def sync(self, *, at_once: bool = True) -> None:
        """Wait until all that was kept is on the disk; with `at_once` False, not if that was done within a second."""
        self.records.sync(at_once=at_once)

    @property
    def unsynced(self) -> bool:
        """Whether something was kept that a failure of the machine, though no kill, could still take away."""
        return self.records.unsynced

    def close(self) -> None:
        """Wait for the disk and close the file that results were appended to; the store can be used again."""
        self.records.close()

    def arrived(self, keys: Iterable[str]) -> bool:
        """Tell whether another run has stored the results of all these units since the store was opened."""
        self.records.refresh()
        return all(_unit(key) in self.records.arrived for key in keys)

    def put_environment(self, environment: dict[str, Any]) -> str:
        """Keep a description of software and machine; return its hash."""
        from elmbench.work.base import key_of

        name = key_of(environment)[:16]
        if self.records.get(f"environment:{name}") is None:
            self.records.append(f"environment:{name}", environment)
        return name

    def environment(self, name: str) -> dict[str, Any]:
        """Return the environment of that hash; nothing but the hash where its description has been lost."""
        content: dict[str, Any] | None = self.records.get(f"environment:{name}")
        return content or {"hash": name}

    # --- Which cells a table has

    def cells(self, profile: str, experiment: str) -> list[Cell]:
        """Return every cell that was ever asked for of a table under a profile and is not stale."""
        kept: dict[tuple[Any, ...], Cell] = {}
        for cells, _ in self.requests(profile, experiment):
            kept = _added(kept, cells)
        return list(kept.values())

    def commands(self, profile: str, experiment: str) -> list[str]:
        """Return the commands that asked for these cells, each once, oldest first."""
        found: dict[str, None] = {}
        for _, command in self.requests(profile, experiment):
            found.pop(command, None)
            found[command] = None
        return list(found)

    def tables(self) -> list[tuple[str, str]]:
        """Return the experiment and profile of every table that was asked for, in no order."""
        places = (name.removeprefix("table:").partition("/") for name in self.records.names("table:"))
        return [(experiment, profile) for profile, _, experiment in places]

    def requests(self, profile: str, experiment: str) -> list[tuple[list[Cell], str]]:
        """Return the cells of each request for a table that still counts, and its command, oldest first."""
        from elmbench.work.plan import Cell

        found = self.records.all(_table(profile, experiment))
        first = max((place for place, one in enumerate(found) if one.get("whole")), default=0)
        found = found[first:]
        return [([self._entry(Cell, values) for values in one["cells"]], one["command"]) for one in found]

    def add_cells(
        self, profile: str, experiment: str, cells: Iterable[Cell], command: str, whole: bool = False
    ) -> None:
        """Record that a table has these cells, and the command that asked for them.

        Those that stand for the same entry with another key are replaced; those whose entry has changed since (another
        protocol, grid, data or model version) are dropped. What other runs ask for meanwhile stays: a request is one
        record, and the cells of a table are what all requests come to, one after the other. A `whole` request is all
        that a table has: what was asked for before it is not shown any more.
        """
        cells = list(cells)
        present = {_place(cell): cell for cell in self.cells(profile, experiment)}
        if whole and set(present) - {_place(cell) for cell in cells}:
            present = {}
        if self.commands(profile, experiment)[-1:] == [command] and _added(present, cells) == present:
            return
        content: dict[str, Any] = {"command": command, "cells": [list(asdict(cell).values()) for cell in cells]}
        if whole:
            content["whole"] = True
        # Twice: results can be computed anew, but what was asked for would be lost with one damaged line.
        for _ in range(2):
            self.records.append(_table(profile, experiment), content)

    def _entry(self, kind: Callable[..., _Entry], values: Sequence[Any]) -> _Entry:
        try:
            return kind(*values)
        except TypeError:
            raise ElmbenchError(
                f"a record in {self.root} is of another version of elmbench: it has {len(values)} values",
                expected="a store of this version",
                next_step="use the version that wrote it, or give another folder with --results-dir",
            ) from None

    # --- Runs side by side

    def leases(self) -> Leases:
        """Return what a run says that it computes; see `Leases`."""
        return Leases(self.root)

    def under_way(self) -> set[str]:
        """Return the keys of what living runs compute now."""
        return set().union(*claims(self.root).values())

    @contextlib.contextmanager
    def writing_tables(self) -> Iterator[None]:
        """Keep other runs from writing tables, and show what they have stored: the last to write has everything."""
        with locked(self.root / "tables.lock"):
            self.records.refresh()
            yield

    def mend(self) -> int:
        """Set damaged records aside, unless another run is at work, and sweep what killed processes left half-written.

        Returns
        -------
        int
            How many are left.
        """
        sweep(self.root)
        if self.damaged:
            with self.leases() as leases:
                if not leases.others:
                    self.records.set_aside_damage()
        return self.damaged

    @property
    def damaged(self) -> int:
        """How many records were found that are not as they were written."""
        self.records.refresh()
        return self.records.damaged.total()


def _unit(key: str) -> str:
    return f"unit:{key}"


def _table(profile: str, experiment: str) -> str:
    return f"table:{profile}/{experiment}"


def _added(present: dict[tuple[Any, ...], Cell], cells: Iterable[Cell]) -> dict[tuple[Any, ...], Cell]:
    """Return the cells of a table, by place, after a request for some."""
    # Cells whose data are not here now may have run when they were: what they gave then stays.
    cells = [cell for cell in cells if not (cell.unavailable and _place(cell) in present)]
    current = {_entry(cell): cell.family for cell in cells if not cell.unavailable}
    here = {cell.dataset for cell in cells if not cell.unavailable}
    kept = {
        place: cell
        for place, cell in present.items()
        # Of data that have come, nothing says any more that they are not here.
        if current.get(_entry(cell), cell.family) == cell.family and not (cell.unavailable and cell.dataset in here)
    }
    return kept | {_place(cell): cell for cell in cells}


def _entry(cell: Cell) -> tuple[str, ...]:
    return cell.dataset, cell.model, cell.select, cell.reading


def _place(cell: Cell) -> tuple[Any, ...]:
    return (*_entry(cell), cell.run, cell.fold)

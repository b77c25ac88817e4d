"""The store: one file a unit of work, written atomically, named by the unit's key.

Why files and not a database: a unit is written once and read whole, never queried; a rename is atomic on every local
and network file system, where SQLite's write-ahead log asks for shared memory that cluster file systems lack; several
machines write into one folder without a lock, and merging two stores is copying files; a kill at any moment loses the
unit under way and nothing else. What a database would bring, an index of what belongs to which table, is one small
file a table.

Layout below the root: `units/<2 digits>/<key>.json`, `index/<profile>/<paper>/<table>.json`,
`environments/<hash>.json`. JSON everywhere: nothing here can run code when it is read.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from elmbench.errors import ElmbenchError
from elmbench.files import write_atomically
from elmbench.work.base import Result, Work, key_of
from elmbench.work.plan import Cell


class Store:
    """What has been computed, below one results folder.

    Parameters
    ----------
    results_dir : Path
        The results folder; the store is its `.store`.
    """

    def __init__(self, results_dir: Path) -> None:
        self.root = results_dir / ".store"

    def _unit_path(self, key: str) -> Path:
        return self.root / "units" / key[:2] / f"{key}.json"

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the record of a unit, or None where there is none (or none that can be read)."""
        try:
            record = json.loads(self._unit_path(key).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        whole = isinstance(record, dict) and record.get("key") == key and isinstance(record.get("result"), dict)
        return record if whole and "status" in record["result"] else None

    def result(self, key: str) -> dict[str, Any] | None:
        """Return what a unit yielded, or None where it has not run."""
        record = self.get(key)
        return record["result"] if record else None

    def put(self, work: Work, result: Result, environment: str) -> None:
        """Keep what some work yielded, with the work itself and the environment that it was done in.

        Raises
        ------
        WriteError
            If it cannot be written.
        """
        record = {"key": work.key, "unit": work.content(), "result": result, "environment": environment}
        write_atomically(self._unit_path(work.key), json.dumps(record, sort_keys=True))

    def put_environment(self, environment: dict[str, Any]) -> str:
        """Keep a description of software and machine; return its hash."""
        name = key_of(environment)[:16]
        path = self.root / "environments" / f"{name}.json"
        if not path.is_file():
            write_atomically(path, json.dumps(environment, indent=1, sort_keys=True))
        return name

    def environment(self, name: str) -> dict[str, Any]:
        """Return the environment of that hash; nothing but the hash where its description has been lost."""
        try:
            content: dict[str, Any] = json.loads((self.root / "environments" / f"{name}.json").read_text("utf-8"))
        except (OSError, ValueError):
            return {"hash": name}
        return content

    def _index_path(self, profile: str, experiment: str) -> Path:
        return self.root / "index" / profile / f"{experiment}.json"

    def _index(self, profile: str, experiment: str) -> dict[str, Any]:
        path = self._index_path(profile, experiment)
        try:
            content: dict[str, Any] = json.loads(path.read_text("utf-8"))
            return {"commands": list(content["commands"]), "cells": [Cell(**cell) for cell in content["rows"]]}
        except (FileNotFoundError, NotADirectoryError):
            return {"commands": [], "cells": []}
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise ElmbenchError(
                f"cannot read {path}: {error}",
                expected="the list of a table's cells, as elmbench writes it",
                next_step="delete that file and run again: what has been computed is kept elsewhere",
            ) from error

    def cells(self, profile: str, experiment: str) -> list[Cell]:
        """Return every cell that was ever asked for of a table under a profile and is not stale."""
        return list(self._index(profile, experiment)["cells"])

    def commands(self, profile: str, experiment: str) -> list[str]:
        """Return the commands that asked for these cells, each once, oldest first."""
        return list(self._index(profile, experiment)["commands"])

    def add_cells(self, profile: str, experiment: str, cells: Iterable[Cell], command: str) -> None:
        """Record that a table has these cells, and the command that asked for them.

        Those that stand for the same entry with another key are replaced; those whose entry has changed since (another
        protocol, grid, data or model version) are dropped.
        """
        present = {_place(cell): cell for cell in self.cells(profile, experiment)}
        # Cells whose data are not here now may have run when they were: what they gave then stays.
        cells = [cell for cell in cells if not (cell.unavailable and _place(cell) in present)]
        current = {_entry(cell): cell.family for cell in cells if not cell.unavailable}
        kept = {place: cell for place, cell in present.items() if current.get(_entry(cell), cell.family) == cell.family}
        kept |= {_place(cell): cell for cell in cells}
        commands = [c for c in self.commands(profile, experiment) if c != command] + [command]
        index = {"commands": commands, "rows": [asdict(cell) for cell in kept.values()]}
        write_atomically(self._index_path(profile, experiment), json.dumps(index))


def _entry(cell: Cell) -> tuple[str, ...]:
    return cell.dataset, cell.model, cell.select, cell.reading


def _place(cell: Cell) -> tuple[Any, ...]:
    return (*_entry(cell), cell.run, cell.fold)

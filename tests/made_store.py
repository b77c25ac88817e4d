"""Contents of a store in tests, and the store after damage, loss or writes of another process."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from elmbench.execution.store import Store
from elmbench.specs.grids import SearchGrid
from elmbench.tasks.oracle_choice import Choice
from elmbench.tasks.plan import Cell

WORK = Choice(SearchGrid({"C": [1.0]}), None, ("a",))
OTHER = Choice(SearchGrid({"C": [2.0]}), None, ("a",))
KEY = WORK.key
RESULT = {"status": "ok", "reason": "", "measured": {"mcc": 0.25}, "warnings": ["ü"]}


def cell(**changes: Any) -> Cell:
    """A cell that a table was asked for."""
    entry = Cell("wdbc", "ELM", 0, 0, "nested", "", key="k0", family="f1")
    return replace(entry, **changes)


def again(store: Store) -> Store:
    """The store as another process opens it."""
    return Store(store.root.parent)


def log_files(store: Store) -> list[Path]:
    """The files of a store's log."""
    return sorted((store.root / "records").glob("*.log"))


def log(store: Store) -> Path:
    """The only file of a store's log."""
    (path,) = log_files(store)
    return path


def lines_of(store: Store, what: str = "unit:") -> list[bytes]:
    """Return the lines of a store's log whose names start so."""
    lines = [
        line
        for path in log_files(store)
        for line in path.read_bytes().splitlines(keepends=True)
    ]
    return [line for line in lines if line[65:].startswith(what.encode())]


def lose(store: Store, key: str) -> Store:
    """Take a unit's result out of a store; return the store as it is found then."""
    for path in log_files(store):
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(
            b"".join(
                line
                for line in lines
                if not line[65:].startswith(f"unit:{key} ".encode())
            )
        )
    return Store(store.root.parent)


def in_a_child(action: Callable[[], None]) -> int:
    """Run something in a forked process; return its number."""
    process = os.fork()
    if process == 0:
        try:
            action()
        finally:
            os._exit(0)
    return process

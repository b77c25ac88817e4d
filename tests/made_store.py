"""A store as damage or loss leaves it."""

from __future__ import annotations

from pathlib import Path

from elmbench.running.store import Store


def log_files(store: Store) -> list[Path]:
    """The files of a store's log."""
    return sorted((store.root / "records").glob("*.log"))


def lines_of(store: Store, what: str = "unit:") -> list[bytes]:
    """The lines of a store's log of which the names start so."""
    lines = [line for path in log_files(store) for line in path.read_bytes().splitlines(keepends=True)]
    return [line for line in lines if line[65:].startswith(what.encode())]


def lose(store: Store, key: str) -> Store:
    """Take a unit's result out of a store; return the store as it is found then."""
    for path in log_files(store):
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(line for line in lines if not line[65:].startswith(f"unit:{key} ".encode())))
    return Store(store.root.parent)

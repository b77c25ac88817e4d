"""Claims of runs that share the work of one results folder.

Each run locks a file of its own, `runs/<machine>-<process>-...`, as long as it lives; the file lists its current work.
The lock ends with its process, however that ends. If a file system has no locks, nothing is claimed: nothing is lost
then, but work may be done twice.
"""

import contextlib
import os
import secrets
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Self

from filelock import lock_descriptor

from elmbench.files import cannot_read, cannot_write, this_process

#: Seconds between two attempts to take a lock that another process has.
_INTERVAL = 0.002
#: The first byte of a run's file is locked, and Windows lets no other process read it.
_LOCKED = 1


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file, which is created if it is missing; wait for it as long as it takes.

    Raises WriteError if the file cannot be created.
    """
    descriptor = _create(path, os.O_CREAT | os.O_RDWR)
    try:
        _lock(descriptor)
        yield
    finally:
        os.close(descriptor)


def _create(path: Path, flags: int) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, flags, 0o666)
    except OSError as error:
        raise cannot_write(path, error) from error


def _lock(descriptor: int) -> None:
    with contextlib.suppress(OSError):  # a file system without locks
        lock_descriptor(descriptor, poll_interval=_INTERVAL)


class Leases:
    """The claims of this run and of others; a context manager.

    `root`: the store. `others`: the keys that each other run had claimed at the last look, by the names of these runs.
    """

    def __init__(self, root: Path) -> None:
        self.others: dict[str, set[str]] = {}
        self._root = root
        self._lock = root / "leases.lock"
        self._path = (root / "runs").absolute() / f"{this_process()}-{secrets.token_hex(4)}"
        self._claimed: set[str] = set()
        self._descriptor = -1

    def __enter__(self) -> Self:
        with locked(self._lock):
            self._descriptor = _create(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR)
            _lock(self._descriptor)
            self._look_at_others()
        return self

    def __exit__(self, *_: object) -> None:
        # In a folder that has turned read-only the file stays: without its lock it counts as of a run that has died.
        os.close(self._descriptor)
        with contextlib.suppress(OSError):
            self._path.unlink()

    def take(self, keys: Collection[str]) -> str | None:
        """Claim work; if another run has claimed any of it, claim nothing and return that run's name."""
        with locked(self._lock):
            self._look_at_others()
            for name, claimed in self.others.items():
                if not claimed.isdisjoint(keys):
                    return name
            self._claimed.update(keys)
            self._write()
        return None

    def drop(self, keys: Collection[str]) -> None:
        """Give up a claim once the results are in the store; others see it at this run's next claim."""
        self._claimed.difference_update(keys)

    def _write(self) -> None:
        content = b"\n" * _LOCKED + "".join(f"{key}\n" for key in sorted(self._claimed)).encode()
        try:
            os.ftruncate(self._descriptor, 0)
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            os.write(self._descriptor, content)
        except OSError as error:
            raise cannot_write(self._path, error) from error

    def _look_at_others(self) -> None:
        self.others = {name: keys for name, keys in claims(self._root).items() if name != self._path.name}


def claims(root: Path) -> dict[str, set[str]]:
    """Return the claimed keys of each living run on a store, by the runs' names; delete the files of dead runs."""
    claimed: dict[str, set[str]] = {}
    folder = (root / "runs").absolute()
    try:
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            with contextlib.suppress(FileNotFoundError):  # it has just ended
                if _has_died(path):
                    with contextlib.suppress(OSError):  # in a folder that is read-only
                        path.unlink()
                else:
                    with path.open("rb", buffering=0) as stream:
                        stream.seek(_LOCKED)
                        claimed[path.name] = set(stream.read().decode(errors="replace").split())
    except OSError as error:
        raise cannot_read(Path(error.filename or folder), error) from error
    return claimed


def _has_died(path: Path) -> bool:
    """Return True if nobody holds the lock of a run's file."""
    try:
        descriptor = os.open(path, os.O_RDWR)
    except PermissionError:  # in a folder of another user
        return False
    try:
        return lock_descriptor(descriptor, blocking=False)
    except OSError:  # a file system without locks
        return True
    finally:
        os.close(descriptor)

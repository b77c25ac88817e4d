"""A log of records, in which each process appends to a file of its own.

A line is a SHA-256 of its rest, a name and JSON. Each file has one writer, so no two processes disturb each other, on
any file system. A kill loses at most the line under way, and merging two logs is copying files. The last record of a
name counts: files are numbered in the order of their beginning. Their names also hold the format of their records.
"""

import contextlib
import errno
import hashlib
import json
import os
import re
import secrets
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from elmbench.errors import ElmbenchError, ElmbenchWarning
from elmbench.files import cannot_read, cannot_write, this_process, write_atomically

#: Seconds between two waits for the disk.
SYNC_EVERY = 1.0
#: Format of the records. Increase it when this version cannot read the records of the version before, or the reverse.
FORMAT = 1
_HASH = 64
#: Name of a file. Files of format 1 may lack the format.
_FILE = re.compile(r"[^.].*?(?:\.v(\d+))?\.log")
#: Records of fewer bytes than this stay in memory once they have been read, so many of them.
_SMALL, _KEPT = 8192, 4096


class Place(NamedTuple):
    """Where a record stands: the name of its file, its first byte and its length without the end of the line."""

    file: str
    start: int
    length: int


class Records:
    """The records in a folder; what other processes append shows after `refresh`.

    Attributes
    ----------
    damaged : Counter of str
        Lines that are not as they were written, by file. A last line without an end is none of them: its writer was
        stopped, or has not ended it yet.
    arrived : set of str
        Names of the records that other processes have appended since the folder was first looked into.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.damaged: Counter[str] = Counter()
        self.arrived: set[str] = set()
        self._places: dict[str, list[Place]] = {}
        self._read: dict[str, int] = {}
        self._small: dict[Place, Any] = {}
        self._looked = False
        self._own: _OwnFile | None = None

    # --- Reading

    def refresh(self) -> None:
        """Take note of what has been appended since the last time."""
        for path, size in _files(self.folder):
            if size > self._read.get(path.name, 0) and (self._own is None or path.name != self._own.path.name):
                self._scan(path)
        self._looked = True

    def _scan(self, path: Path) -> None:
        start = self._read.get(path.name, 0)
        try:
            with open(path, "rb") as stream:
                stream.seek(start)
                for line in stream:
                    if not line.endswith(b"\n"):
                        break
                    self._note(path.name, start, line[:-1])
                    start += len(line)
        except FileNotFoundError:
            return
        except OSError as error:
            raise cannot_read(path, error) from error
        self._read[path.name] = start

    def _note(self, file: str, start: int, line: bytes) -> None:
        name = _name_of(line)
        if name is None:
            self.damaged[file] += 1
            return
        self._add(name, Place(file, start, len(line)))
        if self._looked:
            self.arrived.add(name)

    def _add(self, name: str, place: Place) -> None:
        places = self._places.setdefault(name, [])
        places.append(place)
        places.sort()

    def get(self, name: str) -> Any:
        """Return the content of the last record of a name; None where there is none that is as it was written."""
        self._look()
        content = self._last(name)
        if content is None and name in self._places:
            # It is not where it was: it has been damaged since, or another process has set damaged lines aside.
            self._look_again()
            content = self._last(name)
        return content

    def _last(self, name: str) -> Any:
        places = self._places.get(name, ())
        return next((content for place in reversed(places) if (content := self._at(place)) is not None), None)

    def names(self, prefix: str) -> list[str]:
        """Return the names of records that begin so."""
        self._look()
        return [name for name in self._places if name.startswith(prefix)]

    def all(self, name: str) -> list[Any]:
        """Return the contents of all records of a name, the first one first."""
        self._look()
        found = [self._at(place) for place in self._places.get(name, ())]
        return [content for content in found if content is not None]

    def _look(self) -> None:
        if not self._looked:
            self.refresh()

    def _at(self, place: Place) -> Any:
        if place in self._small:
            return self._small[place]
        path = self.folder / place.file
        try:
            with open(path, "rb") as stream:
                stream.seek(place.start)
                line = stream.read(place.length)
        except FileNotFoundError:
            raise _gone(path) from None
        except OSError as error:
            raise cannot_read(path, error) from error
        if _name_of(line) is None:
            return None
        content = json.loads(line.split(b" ", 2)[2])
        if place.length < _SMALL:
            if len(self._small) >= _KEPT:
                self._small.clear()
            self._small[place] = content
        return content

    # --- Writing

    def append(self, name: str, content: Any) -> None:
        """Append a record. It outlives this process at once, and a failure of the machine after `sync`.

        Raises
        ------
        WriteError
            If it cannot be written; the log is as it was before.
        ElmbenchError
            If the folder has been deleted meanwhile.
        """
        self._look()
        body = f"{name} {json.dumps(content, sort_keys=True, allow_nan=True)}".encode()
        line = hashlib.sha256(body).hexdigest().encode() + b" " + body
        if self._own is None:
            self._own = _OwnFile(self.folder)
        start = self._own.write(line + b"\n")
        self._add(name, Place(self._own.path.name, start, len(line)))

    @property
    def unsynced(self) -> bool:
        """Whether something was appended that a failure of the machine could still take away."""
        return self._own is not None and self._own.unsynced

    def sync(self, *, at_once: bool = True) -> None:
        """Wait until what was appended is on the disk: one wait for several records.

        Parameters
        ----------
        at_once : bool, default=True
            False leaves it for later where the last wait was less than `SYNC_EVERY` ago.
        """
        if self._own is not None:
            self._own.sync(at_once=at_once)

    def close(self) -> None:
        """Wait for the disk and end the file of this process; the next record begins another."""
        own, self._own = self._own, None
        if own is not None:
            self._read[own.path.name] = own.length
            try:
                own.sync()
            finally:
                own.close()

    def set_aside_damage(self) -> None:
        """Move damaged lines out of the log, to a file `damaged` beside its folder.

        Raises
        ------
        WriteError
            If these files cannot be written.
        """
        for file in list(self.damaged):
            path = self.folder / file
            try:
                lines = [(line + b"\n", _name_of(line) is not None) for line in path.read_bytes().split(b"\n") if line]
                with open(self.folder.parent / "damaged", "ab") as stream:
                    stream.writelines(line for line, whole in lines if not whole)
            except OSError as error:
                raise cannot_write(self.folder.parent / "damaged", error) from error
            write_atomically(path, b"".join(line for line, whole in lines if whole))
        self._look_again()

    def _look_again(self) -> None:
        for known in (self.damaged, self._places, self._read, self._small):
            known.clear()
        self._looked = False
        self._look()
        if self._own is not None:
            self._scan(self._own.path)


def _files(folder: Path) -> list[tuple[Path, int]]:
    """Return the files of a log with their sizes, in the order of their numbers; warn about files of other formats."""
    files = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if not (name := _FILE.fullmatch(entry.name)):
                    continue
                if int(name[1] or 1) == FORMAT:
                    files.append((folder / entry.name, entry.stat().st_size))
                else:
                    warnings.warn(
                        f"{folder / entry.name} is ignored: it has format {name[1]}, this version of elmbench reads "
                        f"format {FORMAT}. Update elmbench to use it",
                        ElmbenchWarning,
                        stacklevel=2,
                    )
    except NotADirectoryError:  # writing there is refused
        return []
    except OSError as error:
        # A store that does not exist is empty; a link to nothing is an error.
        nearest = next(path for path in (folder, *folder.parents) if os.path.lexists(path))
        if isinstance(error, FileNotFoundError) and nearest != folder and nearest.is_dir():
            return []
        raise cannot_read(Path(error.filename or folder), error) from error
    return sorted(files)


def _name_of(line: bytes) -> str | None:
    """Return the name of a record; None where its hash is not that of the rest."""
    body = line[_HASH + 1 :]
    if line[_HASH : _HASH + 1] != b" " or hashlib.sha256(body).hexdigest().encode() != line[:_HASH]:
        return None
    return body.split(b" ", 1)[0].decode()


class _OwnFile:
    """The file that this process appends to, begun with its first record."""

    def __init__(self, folder: Path) -> None:
        numbers = (re.match(r"\d+", path.name) for path, _ in _files(folder))
        number = max((int(found[0]) for found in numbers if found), default=0) + 1
        self.path = folder / f"{number:06d}-{this_process()}-{secrets.token_hex(4)}.v{FORMAT}.log"
        self.length = 0
        self.unsynced = False
        self._synced = float("-inf")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND, 0o666)
        except OSError as error:
            raise cannot_write(self.path, error) from error

    def write(self, line: bytes) -> int:
        """Append a line; return where it begins."""
        self._check()
        start = self.length
        try:
            written = 0
            while written < len(line):
                written += os.write(self._descriptor, line[written:])
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, start)
            raise cannot_write(self.path, error) from error
        self.length += len(line)
        self.unsynced = True
        return start

    def sync(self, *, at_once: bool = True) -> None:
        if not at_once and (not self.unsynced or time.monotonic() - self._synced < SYNC_EVERY):
            return
        self._check()
        if not self.unsynced:
            return
        try:
            os.fsync(self._descriptor)
            if self._synced < 0:
                _sync_name(self.path)
        except OSError as error:
            raise cannot_write(self.path, error) from error
        self.unsynced = False
        self._synced = time.monotonic()

    def _check(self) -> None:
        """Refuse to go on where the file has been deleted or cut: what was appended would be lost unnoticed."""
        own = os.fstat(self._descriptor)
        try:
            there = os.stat(self.path)
        except OSError:
            raise _gone(self.path) from None
        if (own.st_dev, own.st_ino) != (there.st_dev, there.st_ino) or own.st_size < self.length:
            raise _gone(self.path)

    def close(self) -> None:
        os.close(self._descriptor)


def _sync_name(path: Path) -> None:
    """Have the name of a new file on the disk too; not every file system knows how."""
    descriptor = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EBADF, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def _gone(path: Path) -> ElmbenchError:
    return ElmbenchError(
        f"{path} has been deleted or cut while it was in use",
        expected="a store that nothing else changes during a run",
        next_step="run again: what is missing is computed",
    )

"""A log of records, in which each process appends to a file of its own.

A line is a SHA-256 of its rest, a name and JSON. Each file has one writer, so processes do not interfere with each
other on any file system. A kill loses at most the current line, and logs are merged by copying files. The last record
of a name counts: files are numbered in the order of their creation. Their names also contain the format of their
records.
"""

import contextlib
import hashlib
import json
import os
import re
import secrets
import warnings
from bisect import insort
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from elmbench.errors import ElmbenchWarning
from elmbench.files import cannot_read, cannot_write, this_process

#: Format of the records. Increase it when this version cannot read the records of the version before, or the reverse.
FORMAT = 2
_HASH = 64
#: Name of a file, with its number and the format.
_FILE = re.compile(r"(\d+)[^.]*\.v(\d+)\.log")


class Line(NamedTuple):
    """The file of a record, its first byte and its length without the end of the line."""

    file: str
    start: int
    length: int


class Records:
    """The records in a folder; `refresh` shows what other processes have appended.

    `n_damaged`: number of damaged lines, which are ignored. An incomplete last line is not damaged: its writer was
    killed, or is still writing.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        #: The file of this process, None before the first record, and its descriptor.
        self._path: Path | None = None
        self._descriptor = -1
        self.n_damaged = 0
        self._lines: dict[str, list[Line]] = {}
        #: Number of bytes by file that `_lines` covers.
        self._read: dict[str, int] = {}
        self._looked = False

    # --- Reading

    def refresh(self) -> None:
        """Read the names of the lines that have been appended since the last call."""
        for path in _files(self.folder):
            start = self._read.get(path.name, 0)
            try:
                with open(path, "rb") as stream:
                    stream.seek(start)
                    for line in stream:
                        if not line.endswith(b"\n"):
                            break
                        name = _name_of(line[:-1])
                        if name is None:
                            self.n_damaged += 1
                        else:
                            insort(self._lines.setdefault(name, []), Line(path.name, start, len(line) - 1))
                        start += len(line)
            except OSError as error:
                raise cannot_read(path, error) from error
            self._read[path.name] = start
        self._looked = True

    def last(self, name: str) -> Any:
        """Return the content of the last intact record of a name; None without one."""
        return next(self._latest_first(name), None)

    def all(self, name: str) -> list[Any]:
        """Return the contents of all intact records of a name, the oldest first."""
        return list(self._latest_first(name))[::-1]

    def _latest_first(self, name: str) -> Iterator[Any]:
        """Yield the readable contents under a name, the latest first."""
        contents = (self._content(line) for line in reversed(self._all_lines().get(name, [])))
        return (content for content in contents if content is not None)

    def names(self, prefix: str) -> list[str]:
        """Return the names of records with a prefix."""
        return [name for name in self._all_lines() if name.startswith(prefix)]

    def _all_lines(self) -> dict[str, list[Line]]:
        if not self._looked:
            self.refresh()
        return self._lines

    def _content(self, line: Line) -> Any:
        """Read the content of a line from its file; None if the line is damaged."""
        path = self.folder / line.file
        try:
            with open(path, "rb") as stream:
                stream.seek(line.start)
                text = stream.read(line.length)
        except OSError as error:
            raise cannot_read(path, error) from error
        return None if _name_of(text) is None else json.loads(text.split(b" ", 2)[2])

    # --- Writing

    def append(self, name: str, content: Any) -> None:
        """Append a record. It survives the death of this process at once, and a failure of the machine after `close`.

        Raises WriteError if it cannot be written; the log is unchanged then.
        """
        self._all_lines()
        body = f"{name} {json.dumps(content, sort_keys=True, allow_nan=True)}".encode()
        line = hashlib.sha256(body).hexdigest().encode() + b" " + body + b"\n"
        path = self._path or self._open()
        start, written = self._read.get(path.name, 0), 0
        try:
            while written < len(line):
                written += os.write(self._descriptor, line[written:])
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, start)
            raise cannot_write(path, error) from error
        insort(self._lines.setdefault(name, []), Line(path.name, start, len(line) - 1))
        self._read[path.name] = start + len(line)

    def _open(self) -> Path:
        """Create a log file of this process with the next free number."""
        names = (_FILE.fullmatch(path.name) for path in _files(self.folder))
        number = max((int(name[1]) for name in names if name), default=0) + 1
        path = self.folder / f"{number:06d}-{this_process()}-{secrets.token_hex(4)}.v{FORMAT}.log"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND, 0o666)
        except OSError as error:
            raise cannot_write(path, error) from error
        self._path = path
        return path

    def close(self) -> None:
        """Write all records to the disk and close the file of this process; the next record starts a new file."""
        if self._path is None:
            return
        path, self._path = self._path, None
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            raise cannot_write(path, error) from error
        finally:
            os.close(self._descriptor)


def _files(folder: Path) -> list[Path]:
    """Return the files of a log in the order of their numbers; warn about files of other formats."""
    try:
        names = sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):  # a store without records; writing there is refused
        return []
    except OSError as error:
        raise cannot_read(folder, error) from error
    files = []
    for name in names:
        match = _FILE.fullmatch(name)
        if match and int(match[2]) == FORMAT:
            files.append(folder / name)
        elif match:
            remedy = "Update elmbench" if int(match[2]) > FORMAT else "Run again: its results are computed again"
            text = f"{folder / name} is ignored: it has format {match[2]}, this version of elmbench reads"
            warnings.warn(f"{text} format {FORMAT}. {remedy}", ElmbenchWarning, stacklevel=2)
    return files


def _name_of(line: bytes) -> str | None:
    """Return the name of a record; None if its hash does not match."""
    body = line[_HASH + 1 :]
    if line[_HASH : _HASH + 1] != b" " or hashlib.sha256(body).hexdigest().encode() != line[:_HASH]:
        return None
    return body.split(b" ", 1)[0].decode()

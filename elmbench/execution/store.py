"""The store of results, and of the cells that were requested of each table.

It is a log of JSON lines and not a database: a result is written once and read whole, never
queried. Each process appends to its own file, so simultaneous runs, even on several machines, and
kills do not affect other runs. SQLite's write-ahead log needs shared memory, which cluster file
systems lack. Reading it never runs code.

Layout below the root: `records/*.log`, the log; a lock. A line is a SHA-256 of its rest, a name and
JSON, separated by spaces. A name is `unit:KEY` for the result of a task, `environment:HASH` for the
software and machine, `table:PROFILE/EXPERIMENT` for a request of cells; `execution/records.py`
defines the form of the JSON of each. A kill loses at most the current line, and logs are merged by
copying files. The last record of a name counts: files are numbered in the order of their creation.
Their names also contain the format of their records.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import warnings
from bisect import insort
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elmbench.errors import ElmbenchWarning
from elmbench.files import (
    cannot_read,
    cannot_write,
    check_regular,
    lock_file,
    process_name,
)

if TYPE_CHECKING:
    from elmbench.tasks.base import Result, Task
    from elmbench.tasks.plan import Cell

#: Format of the records. Increase it when this version cannot read the records of the version
#: before, or the reverse.
STORE_FORMAT = 3
#: The beginning of the reason why a task fails whose search has failed.
SEARCH_FAILED = "the search before it: "
_HASH = 64
#: Flags of a log file of this process. Without the last one, which only Windows has, line ends
#: change.
_FLAGS = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0)
#: Name of a record. That of a request has the profile, the paper (or `own`) and the table.
_NAME = re.compile(
    r"(?!table:).*|table:(ci|fast|paper|compare)(/(?!\.)[^/\\\x00-\x1f]+){2}"
)
#: Name of a file, with its number and the format.
_FILE = re.compile(r"(\d+)[^.]*\.v(\d+)\.log")


class Store:
    """The results and the tables of one results folder; the store is its `.store`.

    `refresh` shows what other processes have appended.
    """

    def __init__(self, results_dir: Path) -> None:
        self.root = results_dir / ".store"
        self.folder = self.root / "records"
        #: The file of this process, None before the first record, and its descriptor.
        self._path: Path | None = None
        self._descriptor = -1
        #: The file and first byte of damaged lines.
        self._damaged: set[tuple[str, int]] = set()
        #: The file, first byte and length (without the end of the line) of the records of each
        #: name, the oldest first.
        self._lines: dict[str, list[tuple[str, int, int]]] = {}
        #: The hashes of the lines whose content has the form of its kind.
        self._valid: set[bytes] = set()
        #: Number of bytes by file that `_lines` covers.
        self._read: dict[str, int] = {}
        self.refresh()

    @property
    def n_damaged(self) -> int:
        """The number of damaged lines so far, which are ignored.

        A line is damaged if its checksum is wrong, or its content has not the form of its kind; the
        latter is noticed only when it is read. An incomplete last line is not damaged: its writer
        was killed, or is still writing.
        """
        return len(self._damaged)

    # --- Records

    def refresh(self) -> None:
        """Read the names of the lines that any process has appended since the last call.

        Raises ElmbenchError if a file cannot be read. A damaged line is counted; an incomplete last
        one is read at a later call.
        """
        for path in self._files():
            start = self._read.get(path.name, 0)
            try:
                check_regular(path)
                with open(path, "rb") as stream:
                    stream.seek(start)
                    for line in stream:
                        if not line.endswith(b"\n"):
                            break
                        name = _name_of(line[:-1])
                        if name is None:
                            self._damaged.add((path.name, start))
                        else:
                            insort(
                                self._lines.setdefault(name, []),
                                (path.name, start, len(line) - 1),
                            )
                        start += len(line)
            except OSError as error:
                raise cannot_read(path, error) from error
            self._read[path.name] = start

    def _files(self) -> list[Path]:
        """Return the files of the log in the order of their numbers; none without a folder.

        Files of other formats are left out, with a warning. Raises ElmbenchError if the folder
        cannot be read.
        """
        try:
            names = sorted(os.listdir(self.folder))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise cannot_read(self.folder, error) from error
        files = []
        for name in names:
            match = _FILE.fullmatch(name)
            if match and int(match[2]) == STORE_FORMAT:
                files.append(self.folder / name)
            elif match:
                remedy = (
                    "Update elmbench"
                    if int(match[2]) > STORE_FORMAT
                    else "Run again: its results are computed again"
                )
                text = (
                    f"{self.folder / name} is ignored: it has format {match[2]}, this version of "
                    "elmbench reads"
                )
                warnings.warn(
                    f"{text} format {STORE_FORMAT}. {remedy}",
                    ElmbenchWarning,
                    stacklevel=2,
                )
        return files

    def _latest_first(self, name: str) -> Iterator[Any]:
        """Yield the contents of the intact records of a name, the latest first.

        `name`: such as `unit:KEY`. A record without the form of its kind is counted as damaged.
        Raises ElmbenchError if a file cannot be read.
        """
        for file, start, length in reversed(self._lines.get(name, [])):
            try:
                with open(self.folder / file, "rb") as stream:
                    stream.seek(start)
                    text = stream.read(length)
            except OSError as error:
                raise cannot_read(self.folder / file, error) from error
            if _name_of(text) is None:
                continue
            content = self._content_of(text)
            if content is None:
                self._damaged.add((file, start))
            else:
                yield content

    def _content_of(self, line: bytes) -> Any:
        """Return the content of a line of the log; None if it has not the form of its kind.

        `line`: its bytes without the end of the line; their checksum is right. The form of a line
        is checked once.
        """
        from elmbench.execution.records import content_of_line

        if line[:_HASH] in self._valid:
            return json.loads(line[_HASH + 1 :].partition(b" ")[2])
        content = content_of_line(line)
        if content is not None:
            self._valid.add(line[:_HASH])
        return content

    def _last(self, name: str) -> dict[str, Any] | None:
        """Return the content of the latest intact record of a name such as `unit:KEY`.

        None if there is none.
        """
        return next(self._latest_first(name), None)

    def append(self, name: str, content: Any) -> None:
        """Append a record to the log file of this process, which is created if necessary.

        `name`: such as `unit:KEY`. `content`: in the types of JSON. The record survives the death
        of this process at once, and a failure of the machine after `close`. Raises WriteError if it
        cannot be written; the log is unchanged then.
        """
        line = _line_of(name, content)
        n_bytes = len(line)
        path = self._path or self._open()
        start = self._read.get(path.name, 0)
        n_written = 0
        try:
            while n_written < n_bytes:
                rest = line[n_written:]
                n_written += os.write(self._descriptor, rest)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, start)
            raise cannot_write(path, error) from error
        # The end of the line is no part of the record.
        location = (path.name, start, n_bytes - 1)
        locations = self._lines.setdefault(name, [])
        insort(locations, location)
        self._read[path.name] = start + n_bytes

    def _open(self) -> Path:
        """Create the log file of this process, with the next free number, and return its path.

        Raises WriteError if that fails.
        """
        names = (_FILE.fullmatch(path.name) for path in self._files())
        number = max((int(name[1]) for name in names if name), default=0) + 1
        path = (
            self.folder
            / f"{number:06d}-{process_name()}-{secrets.token_hex(4)}.v{STORE_FORMAT}.log"
        )
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(path, _FLAGS, 0o666)
        except OSError as error:
            raise cannot_write(path, error) from error
        self._path = path
        return path

    def close(self) -> None:
        """Write all records to the disk and close the file of this process.

        The next record starts a new file. Without a file, nothing happens. Raises WriteError if the
        disk refuses the records.
        """
        if self._path is None:
            return
        path = self._path
        self._path = None
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            raise cannot_write(path, error) from error
        finally:
            os.close(self._descriptor)

    # --- Results

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the latest intact record of a task, by the task's key; None without one.

        Its keys are `key`, `unit` (the content of the task), `needs` (keys of tasks), `fits` (the
        number of fits or None), `result`, `environment` (its hash) and perhaps `seconds`.
        """
        return self._last(f"unit:{key}")

    def result(self, key: str) -> dict[str, Any] | None:
        """Return the result of the task `key`; None if there is no intact record."""
        record = self.get(key)
        return record["result"] if record else None

    def put(
        self, task: Task, result: Result, environment: str, seconds: float = 0.0
    ) -> None:
        """Store a result with its task, its environment and its duration in seconds.

        `environment`: the hash that `put_environment` returns. A duration of 0 is left out of the
        record. The record names the keys of the tasks that are needed and the number of fits, so
        that a report reads them without the task. Raises WriteError if it cannot be written.
        """
        record: dict[str, Any] = {
            "key": task.key,
            "unit": task.content(),
            "needs": list(task.needs),
            "fits": _number_of_fits(task),
            "result": result,
            "environment": environment,
        }
        if seconds:
            record["seconds"] = seconds
        self.append(f"unit:{task.key}", record)

    def put_environment(self, environment: dict[str, Any]) -> str:
        """Store a description of software and machine, unless it is there; return its hash.

        `environment`: any dict in the types of JSON. The hash has 16 hexadecimal digits.
        """
        from elmbench.tasks.base import key_of

        name = key_of(environment)[:16]
        if self._last(f"environment:{name}") is None:
            self.append(f"environment:{name}", environment)
        return name

    def environment(self, name: str) -> dict[str, Any]:
        """Return the description of software and machine with the hash `name`.

        If it is missing, return {'hash': name}.
        """
        return self._last(f"environment:{name}") or {"hash": name}

    # --- Tables

    def cells(
        self, profile: str, experiment: str, latest: Iterable[Cell] = ()
    ) -> list[Cell]:
        """Return every cell that was requested of a table under a profile and is not outdated.

        A cell is outdated if a later request has other settings for its group, or if it was
        unavailable and its data set has data now. `latest`: cells that count as the last request,
        after all stored ones. `profile`: such as "ci". `experiment`: the id of the table.
        """
        cells: dict[tuple[Any, ...], Cell] = {}
        for request in (
            *(cells for cells, _ in self.requests(profile, experiment)),
            latest,
        ):
            cells = _merge_request(cells, request)
        return list(cells.values())

    def commands(self, profile: str, experiment: str) -> list[str]:
        """Return the commands that requested cells of the table `experiment` under a profile, each
        once.

        The order is that of their last request, oldest first.
        """
        commands = [command for _, command in self.requests(profile, experiment)]
        return list(reversed(dict.fromkeys(reversed(commands))))

    def has_command(self, command: str) -> bool:
        """Return True if a command with exactly this text has requested cells of any table."""
        return any(
            command in self.commands(profile, experiment)
            for experiment, profile in self.tables()
        )

    def tables(self) -> list[tuple[str, str]]:
        """Return (experiment, profile) of every table that has requests, in no order."""
        names = (
            name.partition("/") for name in self._lines if name.startswith("table:")
        )
        return [
            (experiment, profile.removeprefix("table:"))
            for profile, _, experiment in names
        ]

    def requests(self, profile: str, experiment: str) -> list[tuple[list[Cell], str]]:
        """Return the cells and the command of each request for a table, oldest first.

        Requests before the last `whole` one (see `add_cells`) are left out. Each item is (cells,
        command). `profile`: such as "ci". `experiment`: the id of the table.
        """
        from elmbench.tasks.plan import Cell

        requests = []
        for request in self._latest_first(f"table:{profile}/{experiment}"):
            # Earlier versions stored further values at the end of a cell.
            cells = [Cell(*values[: len(fields(Cell))]) for values in request["cells"]]
            requests.append((cells, request["command"]))
            if request.get("whole"):
                break
        return requests[::-1]

    def add_cells(
        self,
        profile: str,
        experiment: str,
        cells: Iterable[Cell],
        command: str,
        whole: bool = False,
    ) -> None:
        """Record a request for cells of a table, with its command, unless it changes nothing.

        The cells replace the same cells with another key, and cells of the same group with another
        protocol, grid, data or model version. A request is one record, so requests of other runs
        stay. `experiment`: the id of the table. `whole`: True if the cells are all of the table,
        and hide all requests before; else earlier cells stay beside them. Raises WriteError if it
        cannot be written.
        """
        cells = list(cells)
        previous = {cell.position: cell for cell in self.cells(profile, experiment)}
        updated = _merge_request({} if whole else previous, cells)
        last_commands = self.commands(profile, experiment)[-1:]
        if updated == previous and last_commands == [command]:
            return
        content: dict[str, Any] = {
            "command": command,
            "cells": [list(asdict(cell).values()) for cell in cells],
        }
        if whole:
            content["whole"] = True
        # Stored twice: results can be recomputed, but one damaged line must not lose a request.
        for _ in range(2):
            self.append(f"table:{profile}/{experiment}", content)

    @contextlib.contextmanager
    def writing_tables(self) -> Iterator[None]:
        """Lock the tables against other runs for the duration of a `with` block.

        The store is refreshed first, so that the last writer has everything.
        """
        with lock_tables(self.root.parent):
            self.refresh()
            yield


def lock_tables(results_dir: Path) -> AbstractContextManager[None]:
    """Return the lock of the tables of a results folder, a context manager.

    A process that writes files of tables holds it meanwhile.
    """
    return lock_file(results_dir / ".store" / "tables.lock")


def _number_of_fits(task: Task) -> int | None:
    """Return the number of models that a task fits.

    It is None if the kind of the task, which may be a plug-in's, does not give a number from 0 to
    2^63 - 1.
    """
    try:
        fits = int(task.number_of_fits)
    except Exception:  # noqa: BLE001 - code from outside may raise anything; its result is stored
        return None
    return fits if 0 <= fits < 2**63 else None


def _line_of(name: str, content: Any) -> bytes:
    """Return the line of a record as bytes, with the end of the line.

    It has the SHA-256 of the rest, the name, and `content` as JSON, separated by spaces.
    """
    text = json.dumps(content, sort_keys=True, allow_nan=True)
    body = f"{name} {text}".encode()
    digest = hashlib.sha256(body).hexdigest()
    return digest.encode() + b" " + body + b"\n"


def _name_of(line: bytes) -> str | None:
    """Return the name of the record in a line of the log, such as `unit:KEY`.

    It is None if the SHA-256 at the beginning of the line is not that of the rest, or the name is
    not valid. `line`: without the end of the line.
    """
    written_hash = line[:_HASH]
    body = line[_HASH + 1 :]
    actual_hash = hashlib.sha256(body).hexdigest()
    has_separator = line[_HASH : _HASH + 1] == b" "
    if not has_separator or actual_hash.encode() != written_hash:
        return None
    first_word, _, _ = body.partition(b" ")
    with contextlib.suppress(UnicodeDecodeError):
        name = first_word.decode()
        return name if _NAME.fullmatch(name) else None
    return None


def _merge_request(
    present: dict[tuple[Any, ...], Cell], cells: Iterable[Cell]
) -> dict[tuple[Any, ...], Cell]:
    """Return {position: cell} of a table after a new request for `cells`.

    `present`: {position: cell} before (see `Cell.position`); unchanged. Cells of a group whose
    settings the request changes are dropped, and so are unavailable ones whose data are here now. A
    requested cell whose data are missing does not replace a present one.
    """
    requested = {cell.position: cell for cell in cells}
    available = [cell for cell in requested.values() if not cell.unavailable]
    families = {cell.group: cell.family for cell in available}
    datasets = {cell.dataset for cell in available}
    merged = {}
    for position, cell in present.items():
        current_family = families.get(cell.group, cell.family)
        is_outdated = current_family != cell.family
        has_data_now = bool(cell.unavailable) and cell.dataset in datasets
        if not is_outdated and not has_data_now:
            merged[position] = cell
    for position, cell in requested.items():
        # Cells whose data are missing now may have results from before; these stay.
        if not cell.unavailable or position not in present:
            merged[position] = cell
    return merged

"""Files that are there whole or not at all, the cache folder, and the order of names with
numbers.
"""

import contextlib
import errno
import json
import os
import platform
import re
import secrets
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from elmbench.errors import ElmbenchError, ElmbenchWarning, option

#: The default results folder, which git ignores in a checkout.
RESULTS_DIR = "elmbench-results"
#: The file of a project of one's own (see `elmbench.specs.project`).
PROJECT_FILE = "elmbench.toml"
#: The name of an unfinished file: that of the file, its writer (see `process_name`), random digits.
_PARTIAL = re.compile(
    r"\..*\.(?P<machine>\w+)-(?P<process>\d+)\.[0-9a-f]{8}\.part", re.DOTALL
)
#: Seconds after which an unfinished file of another machine is considered abandoned.
_ABANDONED = 86_400.0
#: Seconds by which the time of a file may differ from the clock of its writer.
_CLOCK_ERROR = 60.0
#: Seconds between two attempts to take a lock, before the wait for it is announced, and before it
#: is given up.
_LOCK_POLL = 0.02
_LOCK_PATIENCE = 2.0
_LOCK_LIMIT = 300.0


class WriteError(ElmbenchError):
    """A file cannot be written: the disk is full, or permission is missing."""


@contextlib.contextmanager
def replace_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path for the block to write; the file then replaces `path`.

    If the block fails, the temporary file, which is beside `path`, is deleted, and an earlier file
    stays unchanged. Simultaneous writers have temporary files of their own, and the last one wins.
    The folder is created, and unfinished files of killed processes in it are deleted. Raises
    WriteError if the file cannot be written.
    """
    partial = partial_path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        delete_abandoned(path.parent)
        try:
            yield partial
            with open(
                partial, "rb+"
            ) as stream:  # some systems flush only what is open for writing
                os.fsync(stream.fileno())
            os.replace(partial, path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from error


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all, text by `encode_text`; a missing folder is created.

    Raises WriteError if it cannot be written.
    """
    with replace_file(path) as partial:
        partial.write_bytes(
            encode_text(content) if isinstance(content, str) else content
        )


def encode_text(text: str) -> bytes:
    """Return a text in UTF-8, with its own line ends.

    Names of files may have bytes that are not UTF-8, which Python reads as surrogates; they become
    escapes.
    """
    return text.encode("utf-8", "backslashreplace")


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file.

    It is empty if the file is missing or damaged, or holds no object.
    """
    try:
        check_regular(path)
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def read_text(path: Path, *, expected: str, next_step: str) -> str:
    """Return the content of a text file in UTF-8.

    Raises ElmbenchError, with the expected file and the next step, if it cannot be read.
    """
    try:
        check_regular(path)
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", "") or error
        raise ElmbenchError(
            f"cannot read {path}: {reason}", expected=expected, next_step=next_step
        ) from error


def check_regular(path: Path) -> None:
    """Raise OSError if a path leads to a FIFO, a socket or a device: a reader may wait for ever."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))


def check_outputs(
    outputs: Sequence[tuple[str, Path]], inputs: Iterable[Path | str]
) -> None:
    """Raise ElmbenchError if a file to be written is an input or a different output, by any link.

    `outputs`: each option with the path that it names. `inputs`: paths of data; other names, such
    as those of data sets, do no harm.
    """
    paths = [expand_home(name) for name in inputs if str(name)]
    for number, (name, output) in enumerate(outputs):
        others = [(path, "the input") for path in paths]
        others += [(path, f"the file of {other}") for other, path in outputs[:number]]
        for path, role in others:
            if _is_same_file(output, path):
                raise ElmbenchError(
                    f"{name} would write {output}, which is {role} {path}",
                    expected="a file that the command does not use",
                    next_step=f"give {name} another name",
                )


def _is_same_file(first: Path, second: Path) -> bool:
    """Return True if two paths lead to the same file, which need not exist."""
    try:
        return first.samefile(second)
    except OSError:
        return os.path.realpath(first) == os.path.realpath(second)


def check_folder(path: Path) -> None:
    """Raise WriteError if no file can be created beside `path`, which is to be written later.

    The folder of the file is created if it is missing; the file is not.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise cannot_write(path, error) from error


def cannot_write(path: Path, error: OSError) -> WriteError:
    """Return the error for a file that cannot be written, to be raised."""
    return WriteError(
        f"cannot write {path}: {error.strerror or error}",
        expected="a folder that can be written, on a disk with room",
        next_step=f"free some room, or give another file or {option('results-dir')}, then run "
        "again: it resumes",
    )


def cannot_read(path: Path, error: OSError) -> ElmbenchError:
    """Return the error for a part of the store that cannot be read, to be raised."""
    return ElmbenchError(
        f"cannot read {path}: {error.strerror or error}",
        expected="the store of an earlier run",
        next_step=f"make it readable, or give another {option('results-dir')}",
    )


def partial_path(path: Path) -> Path:
    """Return a new path for an unfinished file or folder beside `path`; nothing is created.

    Its name has that of this process, so that `delete_abandoned` can delete it later.
    """
    return path.with_name(f".{path.name}.{process_name()}.{secrets.token_hex(4)}.part")


def delete_abandoned(folder: Path) -> None:
    """Delete the unfinished files and folders in a folder whose processes have ended.

    They have the names of `partial_path`. Those of another machine are deleted once they are a day
    old. An unreadable or missing folder is skipped; after an error, the rest of a folder stays.
    """
    # Missing, unreadable, or another process sweeps too.
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            partial = _PARTIAL.fullmatch(path.name)
            if partial is None or not _is_abandoned(
                path, partial["machine"], partial["process"]
            ):
                continue
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def _is_abandoned(path: Path, machine: str, process: str) -> bool:
    """Return True if the process that wrote an unfinished file has ended.

    `machine`, `process`: the name and the process number in the name of the file. On another
    machine, True if the file is older than a day. If the process may not be inspected, False.
    """
    written = path.stat().st_mtime
    if machine != machine_name():
        return time.time() - written > _ABANDONED
    import psutil

    try:
        # The number of an ended process may belong to a new one, which started after the file.
        return _start_time(int(process)) > written + _CLOCK_ERROR
    except psutil.NoSuchProcess:
        return True
    except psutil.AccessDenied:
        return False


def _start_time(process: int) -> float:
    """Return the time at which a process has started, in seconds since the epoch.

    `process`: its number. Raises an error of psutil if it has ended or may not be inspected.
    """
    import psutil

    if process == os.getpid():
        return _own_start_time(process)
    return psutil.Process(process).create_time()


@cache
def _own_start_time(process: int) -> float:
    """Return the start time of this process, from a cache.

    `process`: its number, which changes in a fork, so that the cached time is not used there.
    """
    import psutil

    return psutil.Process(process).create_time()


@contextlib.contextmanager
def lock_file(path: Path) -> Iterator[None]:
    """Hold the lock of a file during the block; the file is created if it is missing.

    Without locks in the file system, the block runs unlocked. Raises ElmbenchError if another
    process holds it for minutes, after a warning, and WriteError if the file cannot be created.
    """
    try:
        check_regular(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o666)
    except OSError as error:
        raise cannot_write(path, error) from error
    try:
        with contextlib.suppress(OSError):
            _wait_for_lock(descriptor, path)
        yield
    finally:
        os.close(descriptor)


def _wait_for_lock(descriptor: int, path: Path) -> None:
    """Wait for the lock of an open file and take it; warn after `_LOCK_PATIENCE` seconds.

    Raises ElmbenchError after `_LOCK_LIMIT` seconds, OSError on a file system without locks.
    """
    from filelock import lock_descriptor

    start = time.monotonic()
    is_announced = False
    while not lock_descriptor(descriptor, blocking=False):
        waited = time.monotonic() - start
        if waited > _LOCK_LIMIT:
            raise ElmbenchError(
                f"another process holds the lock {path} for more than {_LOCK_LIMIT:g} s",
                expected="a process that writes its tables and ends",
                next_step="end it (`lsof` or `fuser` on the lock shows it), then run again: the "
                "results are stored",
            )
        if waited > _LOCK_PATIENCE and not is_announced:
            is_announced = True
            text = f"waiting for another process, which holds the lock {path}"
            warnings.warn(
                f"{text}, for at most {_LOCK_LIMIT:g} s", ElmbenchWarning, stacklevel=2
            )
        time.sleep(_LOCK_POLL)


def open_standard_streams() -> None:
    """Open the null device in place of each standard stream that was closed at the start.

    Otherwise the next file to be opened gets its number, and messages to standard error are written
    into that file.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest free one, which is the missing one.
            number = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(number, True)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115


def process_name() -> str:
    """Return the name of this machine and the number of this process, such as "host-1234"."""
    return f"{machine_name()}-{os.getpid()}"


def machine_name() -> str:
    """Return the first 40 characters of the name of this machine, for names of files.

    Underscores replace other characters than letters and digits.
    """
    return (re.sub(r"\W+", "_", platform.node()) or "machine")[:40]


def cache_folder() -> Path:
    """Return the folder for files that can be fetched or made again; it may not exist yet.

    It is `ELMBENCH_CACHE_DIR`, or else the user's cache folder.
    """
    import platformdirs

    folder = os.environ.get("ELMBENCH_CACHE_DIR")
    return expand_home(
        folder or platformdirs.user_cache_dir("elmbench", appauthor=False)
    )


def expand_home(path: str | Path) -> Path:
    """Return a path with the home folder in place of `~`.

    As in a shell, `~name` of an unknown user stays.
    """
    return Path(os.path.expanduser(path))


def real_path(path: str | Path) -> Path:
    """Return the absolute path without links, the home folder in place of `~`.

    A link that leads to itself stays. The path need not exist.
    """
    # Path.resolve raises an error for such a link in some versions of Python.
    return Path(os.path.realpath(expand_home(path)))


def counting_order(name: str) -> list[tuple[str, int, str]]:
    """Return a sort key of a name that compares the numbers in it by value.

    So table10 comes after table9. Leading zeros do not count.
    """
    parts = re.findall(r"(\D*)0*(\d*)", name)
    return [(word, len(digits), digits) for word, digits in parts]


def find_project_file(folder: Path) -> Path | None:
    """Return the `elmbench.toml` in a folder or in the nearest folder above.

    It is None if there is none. `folder`: an absolute path; the folders above a relative one are
    not searched.
    """
    candidates = (parent / PROJECT_FILE for parent in (folder, *folder.parents))
    return next((file for file in candidates if file.is_file()), None)

"""Processes and their descendants: the memory that they hold, and their end.

A model may start processes, which may outlive it and leave its session. The system lists the
descendants of a process. A process whose parents have ended is recognised by an environment
variable that each one inherits.
"""

import atexit
import contextlib
import os
import secrets
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import psutil

#: The environment variable that names the worker that a process belongs to.
MARK = "ELMBENCH_WORKER"
#: Seconds to wait for processes to end.
_PATIENCE = 5.0


def machine_memory() -> int:
    """Return the machine's physical memory in bytes, also inside of a container."""
    return int(psutil.virtual_memory().total)


def available_memory() -> int:
    """Return the memory in bytes that this process may use.

    It is that of the machine, or less in a container or a batch job.
    """
    memory = machine_memory()
    if sys.platform == "linux":
        from elmbench.execution import linux

        return min(memory, linux.memory_limit() or memory)
    return memory


def descendant_ids(process: int) -> list[int]:
    """Return the ids of the descendants of a process, given by its id; none if it has ended.

    On Linux, this avoids psutil, which looks at every process.
    """
    if sys.platform == "linux":
        from elmbench.execution import linux

        with contextlib.suppress(OSError):
            children = linux.children(process)
            return children + [
                grandchild for child in children for grandchild in descendant_ids(child)
            ]
    with contextlib.suppress(psutil.Error):
        return [
            child.pid
            for child in psutil.Process(process).children(recursive=True)
            if lives(child)
        ]
    return []


def held_bytes(process: int, enough: int) -> int:
    """Return the memory in bytes that a process, given by its id, and its descendants hold.

    `enough`: if the sum exceeds this number of bytes, shared pages are divided among the processes,
    which is slow; else they count fully for each.
    """
    family = [process, *descendant_ids(process)]
    total = sum(map(_bytes_of, family))
    return (
        total
        if total <= enough or len(family) == 1
        else sum(_bytes_of(pid, proportional=True) for pid in family)
    )


def _bytes_of(process: int, *, proportional: bool = False) -> int:
    """Return the memory in bytes of a process, given by its id; 0 if it has ended.

    `proportional`: count its share of the pages that it shares with others, or none of them if the
    system does not report the share; else they count fully.
    """
    with contextlib.suppress(psutil.Error):
        if not proportional:
            return int(psutil.Process(process).memory_info().rss)
        full = psutil.Process(process).memory_full_info()
        return int(getattr(full, "pss", full.uss))
    return 0


def end_marked(mark: str) -> None:
    """Kill all processes of this user whose mark begins with a text, and their descendants.

    The mark is the environment variable `ELMBENCH_WORKER`. This is repeated until none is left or
    five seconds have passed, since they may start others meanwhile.
    """
    give_up = time.monotonic() + _PATIENCE
    while time.monotonic() < give_up:
        marks = {process: _mark_of(process) for process in psutil.process_iter()}
        survivors = [
            process
            for process, its_mark in marks.items()
            if its_mark and its_mark.startswith(mark)
        ]
        if not survivors and None not in marks.values():
            return
        for process in survivors:
            for pid in (*descendant_ids(process.pid), process.pid):
                with contextlib.suppress(psutil.Error):
                    psutil.Process(pid).kill()
        time.sleep(0.001)


def _mark_of(process: psutil.Process) -> str | None:
    """Return the mark of a process: the value of its variable `ELMBENCH_WORKER`.

    It is "" if it has none or has ended, and None if it cannot be read yet. While a process
    replaces its program (exec), its environment and its command line are empty.
    """
    with contextlib.suppress(psutil.Error, OSError):
        environment = process.environ()
        starts = not environment and not process.cmdline()
        if environment := environment or process.environ():
            return environment.get(MARK, "") if lives(process) else ""
        return None if starts else ""
    return ""


def lives(process: psutil.Process) -> bool:
    """Return True if a process exists and is not a zombie."""
    with contextlib.suppress(psutil.Error):
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    return False


def guarded_mark() -> str:
    """Return the mark for processes that end with this one.

    They must have it as their environment variable `ELMBENCH_WORKER`, which their children inherit.
    All processes with this mark are killed when this process ends, even by SIGKILL. The first call
    starts a guard, a separate process, so a model that holds the interpreter lock cannot block it.
    A fork of this process has a mark and a guard of its own.
    """
    return _guarded_mark(os.getpid())


@cache
def _guarded_mark(owner: int) -> str:
    """Return a new mark, and start the guard that kills the processes with it when `owner` ends.

    `owner`: the id of this process, which distinguishes it from its forks in the cache.
    """
    mark = f"{owner}-{secrets.token_hex(8)}"
    package = str(Path(__file__).resolve().parents[2])
    guard = subprocess.Popen(
        [sys.executable, "-P", "-m", __name__, mark],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env=os.environ
        | {
            "PYTHONPATH": os.pathsep.join(
                filter(None, (package, os.environ.get("PYTHONPATH")))
            )
        },
        # what ends the processes of a terminal does not end the guard before them
        start_new_session=True,
    )
    # The guard is told, because the end of its input alone might wait for a fork of the owner.
    atexit.register(lambda: guard.communicate(b"\n") if os.getpid() == owner else None)
    return mark


def end_in_words(code: int) -> str:
    """Return the end of a process in words, such as that a signal killed it.

    `code`: its exit code, which is negative after a signal.
    """
    if code >= 0:
        return f"the worker process ended by itself with exit code {code}"
    names = {member.value: f" ({member.name})" for member in signal.Signals}
    return f"the worker process died by signal {-code}{names.get(-code, '')}"


if __name__ == "__main__":
    sys.stdin.buffer.read(1)
    end_marked(sys.argv[1])

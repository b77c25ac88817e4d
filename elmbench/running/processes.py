"""Processes and all that they have started: what memory they hold, and their end.

A model may start processes of its own, which may leave their session and outlive the one that started them. They are
found in two ways: below a process that orphans are handed to, which Linux has, and by a variable of the environment
that each inherits.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import psutil

#: The variable that tells which worker a process belongs to.
MARK = "ELMBENCH_WORKER"
#: Seconds after which processes that do not end are given up.
_PATIENCE = 5.0
#: An option of `prctl`.
_SET_PARENT_DEATH_SIGNAL = 1


def descendants(process: int) -> list[psutil.Process]:
    """Return what a process has started, what that has started and so on; nothing where it has ended."""
    with contextlib.suppress(psutil.Error):
        return [one for one in psutil.Process(process).children(recursive=True) if _lives(one)]
    return []


def _offspring(process: int) -> list[int]:
    """Return roughly what `descendants` does, the ended ones too: Linux lists the children of a thread.

    To find them all psutil reads of every process on the machine which one it was started by. The short list may lack
    one while another of them ends: enough for what is looked at again and again.
    """
    found = []
    try:
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/children", encoding="ascii") as stream:
                found += [int(word) for word in stream.read().split()]
    except ProcessLookupError:
        return []
    except OSError:  # a system without such lists, or a process that has ended
        return [one.pid for one in descendants(process)]
    return found + [below for child in found for below in _offspring(child)]


def held_bytes(process: int, enough: int) -> int:
    """Return how much memory a process and its descendants hold.

    Parameters
    ----------
    enough : int
        Pages that several share are counted once only where counting them for each would come to more than this: to
        tell them apart takes the system longer.
    """
    found = [process, *_offspring(process)]
    total = sum(_resident(one) for one in found)
    return total if total <= enough or len(found) == 1 else sum(_own_share(one) for one in found)


def _resident(process: int) -> int:
    with contextlib.suppress(psutil.Error):
        return int(psutil.Process(process).memory_info().rss)
    return 0


def _own_share(process: int) -> int:
    """Return the memory of a process, of what it shares with n others the (n+1)th part."""
    with contextlib.suppress(psutil.Error):
        full = psutil.Process(process).memory_full_info()
        return int(getattr(full, "pss", full.uss))
    return 0


def end_family(process: subprocess.Popen[bytes], mark: str) -> None:
    """Kill a process and all that it has started, whatever that has made of its session or its parent.

    Parameters
    ----------
    mark : str
        The value of `MARK` in its environment.
    """
    # Itself last: as long as it is there, orphans are handed to it.
    end_descendants(process.pid)
    process.kill()
    process.wait()
    _end_all(lambda: list(_marked(mark)))


def end_descendants(process: int) -> None:
    """Kill all that a process has started."""
    _end_all(lambda: descendants(process))
    if process == os.getpid():
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _end_all(found: Callable[[], list[psutil.Process]]) -> None:
    """Kill what is found until nothing is: it may start others meanwhile, which is given up after a while."""
    given_up = time.monotonic() + _PATIENCE
    while (left := found()) and time.monotonic() < given_up:
        for one in left:
            with contextlib.suppress(psutil.Error):
                one.kill()
        time.sleep(0.001)


def _lives(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error):
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    return False


def _marked(mark: str) -> Iterator[psutil.Process]:
    """Yield the living processes of this user that carry a mark."""
    user = os.getuid()
    for one in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if one.uids().real == user and one.environ().get(MARK) == mark and _lives(one):
                yield one


def ask_linux(option: int, value: int) -> None:
    """Set an option of this process where there is `prctl`; elsewhere do nothing."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def take_orphans() -> None:
    """Have descendants whose parents end handed to this process, not to the system's first one."""
    set_child_subreaper = 36
    ask_linux(set_child_subreaper, 1)


def end_with_parent() -> None:
    """Have this process end, even in the middle of compiled code, when the one that started it does."""
    ask_linux(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)


def go_on_without_parent() -> None:
    """Have this process go on, if it is stopped by then, when the one that started it ends."""
    ask_linux(_SET_PARENT_DEATH_SIGNAL, signal.SIGCONT)


def name_of_signal(number: int) -> str:
    """Return the number of a signal and its name where it has one."""
    try:
        return f"{number} ({signal.Signals(number).name})"
    except ValueError:
        return str(number)


def last_words(descriptor: int, since: int) -> str:
    """Return the last line that was written to a file after its first `since` bytes, after a colon; or nothing."""
    size = os.fstat(descriptor).st_size
    start = max(since, size - 2000)
    text = os.pread(descriptor, size - start, start).decode(errors="replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f": {lines[-1]}" if lines else ""


class MemoryWatch:
    """The memory of a process and its descendants, looked at often but never for more than a tenth of the time.

    Parameters
    ----------
    interval : float
        Seconds between two looks at least.

    Attributes
    ----------
    last : int
        Bytes at the last look.
    """

    def __init__(self, process: int, interval: float) -> None:
        self.last = 0
        self._process = process
        self._interval = interval
        self._next = time.monotonic() + interval

    def due(self) -> bool:
        """Tell whether it is time to look again."""
        return time.monotonic() >= self._next

    def look(self, enough: int) -> int:
        """Return the bytes; `enough` as for `held_bytes`."""
        started = time.monotonic()
        self.last = held_bytes(self._process, enough)
        now = time.monotonic()
        self._next = now + max(self._interval, 10 * (now - started))
        return self.last

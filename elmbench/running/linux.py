"""Features of Linux: a process adopts orphans, and the kernel lists the children of a process."""

import ctypes
import os

_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Adopt orphaned descendants: they become children of this process, not of the system's first
    one.
    """
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children(process: int) -> list[int]:
    """Return the children of a process, within microseconds; one may be missing while another one
    ends.

    Raises OSError if the kernel has no such lists, or the process has ended.
    """
    numbers: list[int] = []
    for thread in os.listdir(f"/proc/{process}/task"):
        with open(f"/proc/{process}/task/{thread}/children", encoding="ascii") as stream:
            numbers += map(int, stream.read().split())
    return numbers

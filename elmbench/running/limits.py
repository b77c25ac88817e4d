"""What enforcing limits needs to know of results, processes and the machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from elmbench.specs.limits import Limits


def allows_more(limits: Limits, result: dict[str, Any]) -> bool:
    """Tell whether a unit that ended by a limit would have more room now.

    Parameters
    ----------
    limits : Limits
        Those of the run that is planned.
    result : dict
        What the store holds: `status`, and `limit` in seconds or bytes.
    """
    name = {"timeout": "seconds", "out-of-memory": "memory"}.get(result["status"])
    if name is None or result.get("limit") is None:
        return False
    now = getattr(limits, name)
    return now is None or now > result["limit"]


def machine_memory() -> int | None:
    """Return the machine's memory in bytes, or None where it cannot be found out."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None


def resident_bytes(process: int) -> int:
    """Return how much memory a process holds; 0 where that cannot be found out."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")

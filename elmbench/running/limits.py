"""Comparisons of limits with results and with the machine."""

from typing import Any

import psutil

from elmbench.specs.limits import Limits


def allows_more(limits: Limits, result: dict[str, Any]) -> bool:
    """Return True if work that reached a limit has a larger one now.

    `limits`: of the planned run. `result`: the stored one, with `status`, and `limit` in seconds or bytes.
    """
    name = {"timeout": "seconds", "out-of-memory": "memory"}.get(result["status"])
    if name is None or result.get("limit") is None:
        return False
    now = getattr(limits, name)
    return now is None or now > result["limit"]


def machine_memory() -> int:
    """Return the machine's memory in bytes."""
    return int(psutil.virtual_memory().total)


def share_of_memory(workers: int, memory: int | None = None) -> int:
    """Return the bytes of each worker's share of some memory, by default of the machine's."""
    return (memory or machine_memory()) // workers

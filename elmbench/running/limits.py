"""Limits compared with results and with the machine."""

from typing import Any

import psutil

from elmbench.specs.limits import Limits


def allows_more(limits: Limits, result: dict[str, Any]) -> bool:
    """Return True if work that ended by a limit has a larger one now.

    `limits`: those of the run that is planned. `result`: what the store holds: `status`, and `limit` in seconds or
    bytes.
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
    """Return the bytes for each of some workers that may together take so much, or all that the machine has."""
    return (memory or machine_memory()) // workers

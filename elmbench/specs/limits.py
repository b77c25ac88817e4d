"""Limits of time and memory for one task, and their notation.

They are enforced in `elmbench.execution.executors.limited_worker`. The default of `compare` is in
`elmbench.comparison.defaults.DEFAULT_LIMIT`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from elmbench.errors import ElmbenchError, wording

_TIME = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_MEMORY = {"kb": 1e3, "mb": 1e6, "gb": 1e9, "kib": 2**10, "mib": 2**20, "gib": 2**30}


@dataclass(frozen=True)
class Limits:
    """Limits of a task; None for no limit."""

    #: Wall time, after the data have been loaded.
    seconds: float | None = None
    #: Bytes of the process that runs the task.
    memory: int | None = None
    #: The text that they were read from; empty for a combination.
    text: str = field(default="", compare=False)

    def complete(self, defaults: Limits) -> Limits:
        """Return these limits, each that is None replaced by that of `defaults`."""
        return self._combine(
            defaults, lambda limit, default: default if limit is None else limit
        )

    def wider(self, other: Limits) -> Limits:
        """Return the larger limit of both, for time and for memory, without a text.

        There is no limit (None) if one of them has none.
        """
        return self._combine(other, lambda a, b: None if None in (a, b) else max(a, b))

    def narrower(self, other: Limits) -> Limits:
        """Return the smaller limit of both, for time and for memory, without a text.

        No limit (None) counts as the largest.
        """
        return self._combine(
            other,
            lambda *values: min(
                (value for value in values if value is not None), default=None
            ),
        )

    def _combine(self, other: Limits, choose: Callable[[Any, Any], Any]) -> Limits:
        """Return limits of which each is `choose(ours, theirs)`, without a text.

        `choose` is called for the seconds and for the bytes; each argument may be None.
        """
        return Limits(
            choose(self.seconds, other.seconds), choose(self.memory, other.memory)
        )


def parse_limits(text: str) -> Limits:
    """Return the limits of a text such as `time=600s,memory=4GB`; a part that it lacks is no limit.

    A time without a unit is in seconds; memory needs a unit. The empty text has no limits. Raises
    ElmbenchError if the text cannot be read, has a part twice or a limit of 0.
    """
    limits: dict[str, float] = {}
    for part in filter(None, (word.strip() for word in text.split(","))):
        match = re.fullmatch(r"(time|memory)=([0-9]+(?:\.[0-9]+)?) *([a-zA-Z]*)", part)
        units = _TIME if match and match[1] == "time" else _MEMORY
        if (
            match is None
            or match[1] in limits
            or match[3].lower() not in units
            or float(match[2]) <= 0
        ):
            forms = (
                "time=NUMBER[s|min|h] or memory=NUMBER{MB|GB|MiB|GiB}, each once, separated by a "
                "comma"
            )
            example = wording(
                "--limit time=600s,memory=4GB", "limit='time=600s,memory=4GB'"
            )
            raise ElmbenchError(
                f"the limit {part!r} cannot be read", expected=forms, next_step=example
            )
        limits[match[1]] = float(match[2]) * units[match[3].lower()]
    memory = limits.get("memory")
    return Limits(limits.get("time"), None if memory is None else int(memory), text)


def parse_duration(text: str) -> float:
    """Return the seconds of a duration, a `text` such as `30min`, `2h` or `90`.

    It may be 0. Raises ElmbenchError if it cannot be read.
    """
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) *([a-z]*)", text)
    if match is None or match[2] not in _TIME:
        forms = "NUMBER[s|min|h]"
        example = wording("--budget 30min", "budget='30min'")
        raise ElmbenchError(
            f"the duration {text!r} cannot be read", expected=forms, next_step=example
        )
    return float(match[1]) * _TIME[match[2]]


def byte_text(size: float) -> str:
    """Return a number of bytes in GB (of 10^9) or MB with three digits, such as '1.5 GB'."""
    return f"{size / 1e9:.3g} GB" if size >= 1e9 else f"{size / 1e6:.3g} MB"

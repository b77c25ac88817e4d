"""How often each way of solving was taken, in this process: a record for the reader of results, which changes none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

_counts: Counter[str] = Counter()


def count(what: str, times: int = 1) -> None:
    """Add to the record.

    Parameters
    ----------
    what : str
        A solver, or a bound that failed.
    times : int, default=1
        Usually the number of systems, each of which is a candidate on a fold.
    """
    if times:
        _counts[what] += times


@contextmanager
def counted() -> Iterator[dict[str, int]]:
    """Yield a dictionary that holds, once the block has ended, what was counted within it."""
    before = _counts.copy()
    found: dict[str, int] = {}
    try:
        yield found
    finally:
        found.update({what: n - before[what] for what, n in sorted(_counts.items()) if n > before[what]})


@contextmanager
def uncounted() -> Iterator[None]:
    """Leave out of the record what happens within the block."""
    before = _counts.copy()
    try:
        yield
    finally:
        _counts.clear()
        _counts.update(before)

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
    before = recorded()
    found: dict[str, int] = {}
    try:
        yield found
    finally:
        found.update(since(before))


def recorded() -> dict[str, int]:
    """Return the record as it stands, for `since`."""
    return dict(_counts)


def since(before: dict[str, int]) -> dict[str, int]:
    """Return what was counted since the record was `before`; costs next to nothing where that is nothing."""
    if dict.__eq__(_counts, before):
        return {}
    return {what: n - before.get(what, 0) for what, n in sorted(_counts.items()) if n > before.get(what, 0)}


@contextmanager
def uncounted() -> Iterator[None]:
    """Leave out of the record what happens within the block."""
    before = _counts.copy()
    try:
        yield
    finally:
        _counts.clear()
        _counts.update(before)

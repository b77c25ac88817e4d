"""From stored cells to tables and verdicts."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

T = TypeVar("T")
Key = TypeVar("Key", bound=Hashable)


def group_by(items: Iterable[T], key: Callable[[T], Key]) -> dict[Key, list[T]]:
    """Return items in groups of an equal key, both in the order of the items."""
    groups: dict[Key, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups

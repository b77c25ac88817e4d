"""The files of cells and predictions, and the folders that they are in."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

T = TypeVar("T")
Key = TypeVar("Key", bound=Hashable)


def group_by(items: Iterable[T], key: Callable[[T], Key]) -> dict[Key, list[T]]:
    """Return items as lists by their key: {key of item: [items]}.

    `key`: computes the key of an item. The keys and the items keep the order of the items.
    """
    groups: dict[Key, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups

"""Which candidates a slow side is measured on, where all of them would take too long."""

from collections.abc import Sequence
from typing import Any

import numpy as np

LONG_SIDE = 60.0
"""Seconds from which a side is measured on a subset of the candidates."""

SUBSET_SECONDS = 30.0
"""What the subset may take."""


def subset_size(
    total: int, seconds_each: float, strata: int, longest: float = LONG_SIDE, allowed: float = SUBSET_SECONDS
) -> int:
    """Return on how many candidates a side is measured.

    All, `total`, where they take no more than `longest` seconds at `seconds_each`; else as many as `allowed` seconds
    are enough for, a multiple of `strata`, the number of groups that are to have the same share, and at least one of
    each.
    """
    if total * seconds_each <= longest:
        return total
    return min(total, strata * max(1, int(allowed / seconds_each / strata)))


def spread_order(strata: Sequence[Any], seed: int = 0) -> list[int]:
    """Return candidate numbers in random order, such that the first ones are shared equally by the strata.

    With the group of each candidate, such as its gamma, the first k * m numbers hold k of each of m groups of a grid.
    """
    random = np.random.default_rng(seed)
    groups = list(dict.fromkeys(strata))
    members = [random.permutation([i for i, group in enumerate(strata) if group == g]).tolist() for g in groups]
    order: list[int] = []
    for turn in range(max(map(len, members))):
        present = [own[turn] for own in members if turn < len(own)]
        order += random.permutation(present).tolist()
    return order

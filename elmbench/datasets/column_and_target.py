"""Warnings about a column and the target: it gives the target away, or looks like a group."""

from collections.abc import Iterator
from math import lgamma, log
from shlex import quote
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.datasets.column_kinds import HEAD, ID_NAME
from elmbench.errors import wording

#: A column looks like a group if each of its values has one target, and chance would do so with at
#: most this probability.
_CHANCE = 1e-6
#: So few values of an identifier are no groups.
_FEW_GROUPS = 20


def about_target(
    name: str,
    values: NDArray[Any],
    *,
    codes: NDArray[np.int64] | None,
    target: NDArray[np.int64],
    numbers: NDArray[np.float64] | None,
    is_nominal: bool,
    grouped: bool,
) -> Iterator[str]:
    """Yield a warning if a column gives the target away or looks like a group, or both.

    `name`, `values`: of the column. `codes`, `target`: a number from 0 for each row, the same for
    equal values of the column or the target; `codes` is None for a column of fractions. `numbers`:
    the targets of a regression, else None. `is_nominal`: True if the column holds words, which give
    the target away by their codes only. `grouped`: True if the user has named groups, so that none
    are advised.
    """
    is_group = f"{name!r} looks like a group"
    groups = wording(f"--groups {quote(name)}", "give it as groups")
    keeping = wording(f"{groups} keeps", f"{groups} to keep")
    n_values = 0 if codes is None else codes.max() + 1
    if codes is not None and _each_has_one_target(codes, target, is_nominal=is_nominal):
        n_targets = len(np.unique(target))
        gives_away = n_values <= 2 * n_targets
        if not gives_away and not grouped:
            reason = f"each of its {n_values} values has one target"
            yield f"{is_group}, as {reason}: {groups}"
    else:
        gives_away = not is_nominal and _gives_target_away(values, target, numbers)
        if codes is not None and not grouped and _names_groups(name, codes):
            reason = f"it is named like an identifier, and its {n_values} values repeat"
            yield f"{is_group}, as {reason}: {keeping} each in one fold"
    if gives_away:
        drop = wording(f"--drop {quote(name)}", "leave it out")
        yield f"{name!r} alone gives the target away: {drop} if it is known only afterwards"


def _names_groups(name: str, codes: NDArray[np.int64]) -> bool:
    """Return True if the column `name` is named like an identifier, and its values repeat.

    It must have more than 20 values of two rows or more on average. `codes`: a number from 0 for
    each row, the same for equal values.
    """
    return bool(ID_NAME.search(name) and are_many_and_repeat(codes))


def are_many_and_repeat(codes: NDArray[np.int64]) -> bool:
    """Return True if a column has more than 20 values of two rows or more on average.

    `codes`: a number from 0 for each row, the same for equal values of the column.
    """
    n_values = codes.max() + 1
    return bool(_FEW_GROUPS < n_values <= len(codes) / 2)


def _each_has_one_target(
    codes: NDArray[np.int64], target: NDArray[np.int64], *, is_nominal: bool
) -> bool:
    """Return True if rows with equal values of a column have equal targets, hardly by chance.

    `codes`, `target`: a number from 0 for each row, the same for equal values of the column or the
    target. False if the column has more distinct values than half of the rows, unless it holds
    words. `is_nominal`: True if it does.
    """
    n_values = codes.max() + 1
    repeats = is_nominal or n_values <= len(target) / 2
    return bool(repeats) and each_has_one_value(codes, target)


def each_has_one_value(codes: NDArray[np.int64], others: NDArray[np.int64]) -> bool:
    """Return True if rows with equal codes have equal values of another column, hardly by chance.

    `codes`, `others`: a number from 0 for each row, the same for equal values of the columns.
    """
    n_rows = len(others)
    sizes = np.bincount(codes)
    pairs = np.unique(codes * n_rows + others)
    if len(pairs) != len(sizes):
        return False
    shares = np.bincount(others) / n_rows
    return _chance_of_one_target(sizes, shares) < log(_CHANCE)


def _gives_target_away(
    values: NDArray[np.float64],
    classes: NDArray[np.int64],
    numbers: NDArray[np.float64] | None,
) -> bool:
    """Return True if a column of numbers alone gives the target away.

    In a regression, abs(correlation) of the column and `numbers`, the targets, is above 1 - 1e-9.
    In a classification, `numbers` is None, and the classes occupy separate ranges of the column,
    hardly by chance. `classes`: the number of each row's class, from 0; not used in a regression.
    False if a value of the column is missing or infinite.
    """
    if not np.isfinite(values).all():
        return False
    if numbers is None:
        return _separates(values, classes)
    correlation = np.corrcoef(values, numbers)[0, 1]
    return bool(abs(correlation) > 1 - 1e-9)


def _chance_of_one_target(
    sizes: NDArray[np.int64], shares: NDArray[np.float64]
) -> float:
    """Return the logarithm of the probability that each value has a single target by chance.

    It is -inf if the probability for one value is too small for a float. `sizes`: the number of
    rows of each value of a column. `shares`: the share of each target in all rows.
    """
    distinct_sizes, counts = np.unique(sizes, return_counts=True)
    chances = np.power.outer(shares, distinct_sizes).sum(axis=0)
    with np.errstate(divide="ignore"):  # a probability that is too small for a float
        return float(counts @ np.log(chances))


def _separates(values: NDArray[np.float64], target: NDArray[np.int64]) -> bool:
    """Return True if the classes occupy separate ranges of a column's values, hardly by chance.

    `values`: finite. `target`: the number of each row's class, from 0.
    """
    # Few rows settle most columns.
    head = values[:HEAD]
    head_target = target[:HEAD]
    if _do_classes_overlap(head, head_target):
        return False
    if _do_classes_overlap(values, target):
        return False
    sizes = np.bincount(target)
    # The share of the orders of all rows in which each class stays together.
    log_orders_of_classes = lgamma(len(sizes) + 1)
    log_orders_within_classes = sum(lgamma(size + 1) for size in sizes)
    log_orders = lgamma(len(target) + 1)
    log_chance = log_orders_of_classes + log_orders_within_classes - log_orders
    return log_chance < log(_CHANCE)


def _do_classes_overlap(values: NDArray[np.float64], target: NDArray[np.int64]) -> bool:
    """Return True if the ranges (smallest to largest value) of two classes overlap or touch.

    `target`: the number of each row's class, from 0. A class without rows overlaps none.
    """
    n_classes = int(target.max()) + 1
    smallest = np.full(n_classes, np.inf)
    largest = np.full(n_classes, -np.inf)
    np.minimum.at(smallest, target, values)
    np.maximum.at(largest, target, values)
    # In the order of their smallest values, only neighbours need to be compared.
    order = np.argsort(smallest)
    starts = smallest[order]
    ends = largest[order]
    reaches_next = starts[1:] <= ends[:-1]
    return bool(reaches_next.any())

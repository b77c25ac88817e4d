"""Warnings about a user's rows, each with the next command."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from math import lgamma, log
from shlex import quote
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from elmbench.datasets.sources.file import TARGETS
from elmbench.datasets.table import Table, few, label_words, to_numbers
from elmbench.datasets.values import unit_of
from elmbench.errors import amount, option, wording
from elmbench.specs.datasets import RowColumns

#: A column looks like a group if each of its values has one target, and chance would do so with at
#: most this probability.
_CHANCE = 1e-6
#: All larger floats are whole.
_LARGEST_WHOLE = 2.0**52
#: The most columns that a warning names.
_SHOWN = 5


def warnings_of(
    table: Table, task: str, grouped: bool, dates: Collection[str], is_guessed: bool
) -> Iterator[str]:
    """Yield warnings about the rows of a table.

    Columns of dates are not checked against the target. `is_guessed`: neither the target nor the
    task was given.
    """
    if task == "regression" and is_guessed and table.target_name not in ("", *TARGETS):
        text = (
            f"no target is named, so the last column, {table.target_name!r}, is the target of a "
            "regression"
        )
        yield f"{text}: --target COLUMN or --task classification to change that"
    if task == "classification":
        words = label_words(table.target)
        labels = sorted({*words} - {None})
        if table.n_train is not None and (
            new := sorted({*words[table.n_train :]} - {*words[: table.n_train], None})
        ):
            yield f"no training row has these labels of held-out rows: {few(new, 4)}: correct them"
        spellings = Counter(label.casefold() for label in labels)
        if same := [label for label in labels if spellings[label.casefold()] > 1]:
            yield (
                f"labels that differ in case alone are different classes: {few(same, 4)}: correct "
                "them"
            )
    for name, words in [*table.nominal.items(), (table.target_name, table.target)]:
        if (
            words.dtype == object
            and name not in {*table.words, *dates}
            and (word := unit_of(words))
        ):
            problem = f"{name!r} is categorical, as its numbers have a unit ({word!r})"
            words_option = wording(f"--words {quote(name)}", "astype('category')")
            yield f"{problem}: write plain numbers, or {words_option} if it holds categories"
    if sp.issparse(table.X):
        return
    columns = {name: _codes(table.column(name)) for name in table.names}
    numbers = to_numbers(table.target) if task == "regression" else None
    target = _codes(label_words(table.target) if numbers is None else numbers)
    n = len(target)
    constant = [name for name, codes in columns.items() if codes.max() == 0]
    yield from _drop("constant", constant)
    first: dict[Hashable, str] = {}
    copies = {}
    for name in table.names:
        key = tuple(table.nominal[name]) if name in table.nominal else table.column(name).tobytes()
        if first.setdefault(key, name) != name and name not in constant:
            copies[name] = first[key]
    yield from _drop(
        f"the same as {few([*map(repr, dict.fromkeys(copies.values()))], _SHOWN)}", list(copies)
    )
    whole = [
        name
        for name, codes in columns.items()
        if codes.max() == n - 1 and _is_whole(table.column(name))
    ]
    yield from _drop("a different whole number in each row, such as an ID", whole)
    for name in table.names:
        if name not in {*constant, *whole, *dates, *copies}:
            yield from _about_target(table, name, columns[name], target, numbers, grouped)
    repeated = n - len({row.tobytes() for row in np.column_stack([*columns.values(), target])})
    if repeated:
        rows = f"{repeated} of {n} rows repeat{'s' * (repeated == 1)} another row"
        yield f"{rows}, and may be in training and test: remove duplicates"


def split_warnings(
    columns: Mapping[str, NDArray[Any]], n_train: int | None, names: RowColumns
) -> Iterator[str]:
    """Yield warnings if groups or times contradict a user's own test part or folds.

    `columns`: the groups, times and folds by field of `Dataset`. `n_train`: the rows of the
    training part, if there is a test part; `names`: of the columns.
    """
    numbers = columns.get("groups", columns.get("times"))
    if numbers is None or (n_train is None and "folds" not in columns):
        return
    # `parts`: the number of the test part of each row; -1 for rows that are always training rows.
    way = option("fold")
    noun = "test rows"
    parts = columns.get("folds")
    if n_train is not None:
        way = option("test")
        noun = "held-out rows"
        parts = np.where(np.arange(len(numbers)) < n_train, -1, 0)
    assert parts is not None
    is_test = parts >= 0
    if "groups" in columns:
        groups = columns["groups"]
        parts_of = np.unique(np.column_stack([groups, parts]), axis=0)[:, 0]
        shared = np.intersect1d(groups[is_test], np.flatnonzero(np.bincount(parts_of) > 1))
        if len(shared):
            text = (
                f"{len(shared)} of {amount(len(np.unique(groups[is_test])), 'group')} of "
                f"{noun} (column {names.groups!r}) have training rows as well"
            )
            yield f"{text}: leave {way} or {option('groups')} out, or correct the parts"
    if "times" in columns:
        times = columns["times"]
        early = int(np.sum(times[is_test] <= _last_times_of_others(times, parts)[is_test]))
        if early:
            text = (
                f"{early} of {int(is_test.sum())} {noun} (column {names.ordered_by!r}) are not "
                "later than all rows that their model learns"
            )
            yield f"{text}: leave {way} or {option('time-order')} out, or correct the parts"


def _last_times_of_others(times: NDArray[np.int64], parts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return, for each row, the last time of the rows of other parts."""
    numbers, part_of = np.unique(parts, return_inverse=True)
    last = np.full(len(numbers), -1)
    np.maximum.at(last, part_of, times)
    latest, *others = np.argsort(-last, kind="stable")
    of_others = np.full(len(numbers), last[latest])
    of_others[latest] = last[others[0]] if others else -1
    return np.asarray(of_others[part_of], dtype=np.int64)


def _about_target(
    table: Table,
    name: str,
    codes: NDArray[np.int64],
    target: NDArray[np.int64],
    numbers: Any,
    grouped: bool,
) -> Iterator[str]:
    """Yield a warning if a column gives the target away or looks like a group. `numbers`: targets
    of a regression.
    """
    sizes = np.bincount(codes)
    values = table.column(name)
    repeats = name in table.nominal or (len(sizes) <= len(target) / 2 and _is_whole(values))
    each_has_one = repeats and len(np.unique(codes * len(target) + target)) == len(sizes)
    if each_has_one and _chance_of_one_target(sizes, np.bincount(target) / len(target)) < log(
        _CHANCE
    ):
        gives_away = len(sizes) <= 2 * len(np.unique(target))
        if not gives_away and not grouped:
            problem = (
                f"{name!r} looks like a group, as each of its {len(sizes)} values has one target"
            )
            yield f"{problem}: {wording(f'--groups {quote(name)}', 'give it as groups')}"
    elif name in table.nominal or not np.isfinite(values).all():
        gives_away = False
    elif numbers is None:
        gives_away = _separates(values, target)
    else:
        gives_away = bool(abs(np.corrcoef(values, numbers)[0, 1]) > 1 - 1e-9)
    if gives_away:
        drop = wording(f"--drop {quote(name)}", "leave it out")
        yield f"{name!r} alone gives the target away: {drop} if it is known only afterwards"


def _chance_of_one_target(sizes: NDArray[np.int64], shares: NDArray[np.float64]) -> float:
    """Return the logarithm of the probability that each value, of `sizes` rows, has a single target
    by chance.
    """
    different, counts = np.unique(sizes, return_counts=True)
    with np.errstate(divide="ignore"):  # a probability that is too small for a float
        return float(counts @ np.log(np.power.outer(shares, different).sum(axis=0)))


def _separates(values: NDArray[np.float64], target: NDArray[np.int64]) -> bool:
    """Return True if thresholds of one column separate all classes, and not by chance."""
    import pandas as pd

    ends = pd.Series(values).groupby(target).agg(["min", "max"]).sort_values("min").to_numpy()
    if (ends[1:, 0] <= ends[:-1, 1]).any():
        return False
    sizes = np.bincount(target)
    return lgamma(len(sizes) + 1) + sum(lgamma(size + 1) for size in sizes) - lgamma(
        len(target) + 1
    ) < log(_CHANCE)


def _drop(kind: str, names: Sequence[str]) -> Iterator[str]:
    """Yield the advice to drop columns, if there are any, because they are of this kind."""
    if names:
        more = f" and {len(names) - _SHOWN} more" * (len(names) > _SHOWN)
        verb = "is" if len(names) == 1 else "are each"
        options = " ".join(f"--drop {quote(name)}" for name in names[:_SHOWN])
        step = wording(options, f"leave {'it' if len(names) == 1 else 'them'} out")
        yield f"{', '.join(map(repr, names[:_SHOWN]))}{more} {verb} {kind}: {step}"


def _codes(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return a number for each row, the same for equal values."""
    import pandas as pd

    return pd.factorize(values, use_na_sentinel=False)[0].astype(np.int64)


def _is_whole(values: NDArray[Any]) -> bool:
    if values.dtype == object:
        return False
    numbers = values[~np.isnan(values)]
    return bool((np.abs(numbers) < _LARGEST_WHOLE).all() and (numbers == np.round(numbers)).all())

"""Warnings about the columns of a user's features, and about repeated rows."""

import math
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from shlex import quote
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.datasets.column_and_target import (
    about_target,
    are_many_and_repeat,
    each_has_one_value,
)
from elmbench.datasets.column_kinds import (
    HEAD,
    is_code_name,
    is_constant,
    is_whole,
    value_codes,
)
from elmbench.datasets.table import Table, few, to_numbers
from elmbench.errors import wording

#: The number of columns whose weighted sum is compared between rows, and the ratio of two weights.
_FRACTIONS = 4
_WEIGHT = math.pi  # No power of it is a sum of fractions of others.
#: The most columns that a warning names.
_SHOWN = 5
#: With more columns, such as pixels, none is compared with all others.
_MOST_COLUMNS = 100
#: A column that determines as many others looks like a group.
_FEWEST_DETERMINED = 2


class _Features:
    """The columns of dense features of a table, by name.

    Attributes
    ----------
    values : dict of arrays
        {name: values of the column, of shape (n,)}.
    nominal : collection of str
        The names of the columns of words.
    """

    def __init__(self, table: Table) -> None:
        self.values = {name: table.column(name) for name in table.names}
        self.nominal: Collection[str] = table.nominal
        self._codes: dict[str, NDArray[np.int64]] = {}
        self._head_codes: dict[str, NDArray[np.int64]] = {}

    @cached_property
    def whole(self) -> set[str]:
        """The names of the columns of whole numbers."""
        return {name for name, column in self.values.items() if is_whole(column)}

    def may_repeat(self, name: str) -> bool:
        """Return True for a column, `name`, of words or whole numbers, whose values may repeat."""
        return name in self.nominal or name in self.whole

    def codes(self, name: str) -> NDArray[np.int64]:
        """Return a number for each row, of shape (n,), the same for equal values of a column.

        `name`: of the column. Numbers count from 0; missing values are equal. The result is cached.
        """
        # Once a column, and not for the columns that need none: each takes as long as its reading.
        if name not in self._codes:
            self._codes[name] = value_codes(self.values[name])
        return self._codes[name]

    def determines(self, name: str, other: str) -> bool:
        """Return True if rows with equal values of the column `name` agree in the column `other`.

        That is, they have equal values of `other` too, and this is hardly chance. Missing values
        are equal. The converse need not be true.
        """
        # Few rows settle most columns.
        codes = self._codes_of_head(name)
        order = np.argsort(codes, kind="stable")
        others = self._codes_of_head(other)[order]
        repeats = np.diff(codes[order]) == 0
        differs = np.diff(others) != 0
        if (repeats & differs).any():
            return False
        return each_has_one_value(self.codes(name), self.codes(other))

    def _codes_of_head(self, name: str) -> NDArray[np.int64]:
        """Return a number for each of the first rows, as `codes` does; the result is cached.

        `name`: of the column.
        """
        if name not in self._head_codes:
            self._head_codes[name] = value_codes(self.values[name][:HEAD])
        return self._head_codes[name]


def about_columns(
    table: Table,
    task: str,
    grouped: bool,
    dates: Collection[str],
    left_out: Iterable[NDArray[Any]] = (),
) -> Iterator[str]:
    """Yield warnings about columns of dense features, and about repeated rows.

    Columns may be constant, copies, identifiers or codes, give the target away or look like groups.
    Groups that other columns show are sought among at most 100 columns. `task`: "classification" or
    "regression". `grouped`: True if the user has named groups, so that none are advised. `dates`:
    names of the columns of dates and text, which are not checked against the target. `left_out`:
    the values, of shape (n,), of columns that are no features; rows that differ there do not repeat
    each other.
    """
    features = _Features(table)
    numbers = to_numbers(table.target) if task == "regression" else None
    target = value_codes(table.labels if numbers is None else numbers)
    constant = [name for name, column in features.values.items() if is_constant(column)]
    copies = _copies(features.values, {*constant})
    identifiers = _identifiers(features, len(target))
    originals = [repr(name) for name in dict.fromkeys(copies.values())]
    yield from _advise_to_drop("constant", constant)
    yield from _advise_to_drop(f"the same as {few(originals, _SHOWN)}", list(copies))
    yield from _advise_to_drop(
        "a different whole number in each row, such as an ID", identifiers
    )
    explained = {*constant, *identifiers, *dates, *copies}
    for name, values in features.values.items():
        if name in explained:
            continue
        if name in features.whole and is_code_name(name):
            yield _advice_on_code(name)
        codes = features.codes(name) if features.may_repeat(name) else None
        advice = [
            *about_target(
                name,
                values,
                codes=codes,
                target=target,
                numbers=numbers,
                is_nominal=name in features.nominal,
                grouped=grouped,
            )
        ]
        yield from advice
        may_be_entity = codes is not None and not advice and not grouped
        if may_be_entity and len(features.values) <= _MOST_COLUMNS:
            yield from _about_entity(name, features, explained)
    yield from _about_equal_rows(features, target, left_out)


def _about_entity(
    name: str, features: _Features, explained: Collection[str]
) -> Iterator[str]:
    """Yield a warning if the column `name` looks like a group by the columns that it determines.

    It must have more than 20 values of two rows or more on average. The rows of each value, such as
    a person, have one value of two other columns, such as the sex and the age. If one of these
    determines the other, as a city does its country, both count as one. `explained`: the columns
    that are not compared, such as constants.
    """
    codes = features.codes(name)
    if not are_many_and_repeat(codes):
        return
    determined: list[str] = []
    for other in features.values:
        if other == name or other in explained:
            continue
        if not features.determines(name, other):
            continue
        is_level = any(
            features.determines(former, other) or features.determines(other, former)
            for former in determined
        )
        if not is_level:
            determined.append(other)
    if len(determined) < _FEWEST_DETERMINED:
        return
    first, second = determined[:_FEWEST_DETERMINED]
    n_values = codes.max() + 1
    reason = f"each of its {n_values} values has one {first!r} and one {second!r}"
    keeping = wording(f"--groups {quote(name)} keeps", "give it as groups to keep")
    yield f"{name!r} looks like a group, as {reason}: {keeping} each in one fold"


def _identifiers(features: _Features, n_rows: int) -> list[str]:
    """Return the names of the columns of whole numbers that differ in each of the `n_rows` rows.

    `features`: the columns. Each is likely an identifier.
    """
    return [
        name
        for name in features.values
        if name in features.whole and features.codes(name).max() == n_rows - 1
    ]


def _advice_on_code(name: str) -> str:
    """Return a warning about the column `name` of numbers that is named like a code."""
    words = wording(f"--words {quote(name)}", "astype('category')")
    problem = f"{name!r} is named like a code, but its values are read as numbers"
    return f"{problem}: {words} if they are categories"


def _about_equal_rows(
    features: _Features,
    target: NDArray[np.int64],
    left_out: Iterable[NDArray[Any]],
) -> Iterator[str]:
    """Yield a warning if some rows repeat others in all columns and in the target.

    `target`: a number for each row that is the same for equal targets. `left_out`: the values of
    the columns that are no features, such as names.
    """
    # Columns of fractions first: few of them already distinguish most rows.
    names = sorted(features.values, key=features.may_repeat)
    numbers = [features.values[name] for name in names if name not in features.nominal]
    if _distinguish_rows(numbers[:_FRACTIONS]):
        return
    codes = chain(map(features.codes, names), [target], map(value_codes, left_out))
    yield from _about_repeated_rows(codes, len(target))


def _distinguish_rows(columns: Sequence[NDArray[np.float64]]) -> bool:
    """Return True if a weighted sum of these columns differs in each row, so that no row repeats.

    False proves nothing; no columns give False. Equal rows have equal sums, as these are computed
    value by value. `columns`: each of shape (n,).
    """
    import pandas as pd

    if not columns:
        return False
    n_rows = len(columns[0])
    sums = np.zeros(n_rows)
    weight = 1.0
    for values in columns:
        sums += weight * values
        weight *= _WEIGHT
    return len(pd.unique(sums)) == n_rows


def _about_repeated_rows(
    columns: Iterable[NDArray[np.int64]], n_rows: int
) -> Iterator[str]:
    """Yield a warning if some rows repeat others.

    `columns`: for each column, a number from 0 for each row that is the same for equal values and
    below `n_rows`.
    """
    n_repeated = _n_repeated(columns, n_rows)
    if n_repeated:
        verb = "repeats" if n_repeated == 1 else "repeat"
        problem = f"{n_repeated} of {n_rows} rows {verb} another row"
        yield f"{problem}, and may be in training and test: remove duplicates"


def _copies(columns: Mapping[str, NDArray[Any]], constant: set[str]) -> dict[str, str]:
    """Return {column that repeats an earlier one: the first such column}.

    `columns`: {name: values}. `constant`: names of constant columns, which are left out.
    """
    by_head: dict[Hashable, list[str]] = {}
    for name, values in columns.items():
        head = _content(values[:HEAD])
        by_head.setdefault(head, []).append(name)
    originals: dict[str, str] = {}
    for names in by_head.values():
        if len(names) > 1:
            originals |= _first_of_equal(names, columns)
    return {
        name: originals[name]
        for name in columns
        if originals.get(name, name) != name and name not in constant
    }


def _first_of_equal(
    names: Iterable[str], columns: Mapping[str, NDArray[Any]]
) -> dict[str, str]:
    """Return {name: the first of `names` whose column has the same values}, which may be itself.

    `columns`: {name: values}.
    """
    first: dict[Hashable, str] = {}
    return {name: first.setdefault(_content(columns[name]), name) for name in names}


def _content(values: NDArray[Any]) -> Hashable:
    """Return a hashable form of the values of a column, equal for equal columns.

    In columns of floats, NaN equals itself, but 0.0 and -0.0 differ.
    """
    return tuple(values) if values.dtype == object else values.tobytes()


def _advise_to_drop(kind: str, names: Sequence[str]) -> Iterator[str]:
    """Yield the advice to drop the named columns; nothing if there are none.

    `kind`: the reason, such as 'constant', which ends a sentence that begins with their names. Of
    many names, the first ones are shown.
    """
    if not names:
        return
    shown = names[:_SHOWN]
    listing = ", ".join(map(repr, shown))
    n_hidden = len(names) - len(shown)
    if n_hidden:
        listing += f" and {n_hidden} more"
    options = " ".join(f"--drop {quote(name)}" for name in shown)
    if len(names) == 1:
        yield f"{listing} is {kind}: {wording(options, 'leave it out')}"
    else:
        yield f"{listing} are each {kind}: {wording(options, 'leave them out')}"


def _n_repeated(columns: Iterable[NDArray[np.int64]], n_rows: int) -> int:
    """Return the number of rows that repeat an earlier row in all columns.

    `columns`: at least one; for each, a number from 0 for each row that is the same for equal
    values and below `n_rows`.
    """
    import pandas as pd

    rows = np.zeros(n_rows, dtype=np.int64)
    n_distinct = 1
    for codes in columns:
        # The codes of the columns so far, and of this one, are below the number of rows.
        rows, distinct = pd.factorize(rows * n_rows + codes)
        n_distinct = len(distinct)
        if n_distinct == n_rows:
            break
    return n_rows - n_distinct

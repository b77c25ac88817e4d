"""Warnings about a user's rows, each with the next command."""

import math
import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from math import lgamma, log
from shlex import quote
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from elmbench.datasets.sources.file import TARGETS
from elmbench.datasets.table import Table, few, is_missing, to_numbers
from elmbench.datasets.user_files.number_text import number_with_unit
from elmbench.errors import amount, option, wording
from elmbench.specs.datasets import RowColumns

#: A column looks like a group if each of its values has one target, and chance would do so with at
#: most this probability.
_CHANCE = 1e-6
#: All larger floats are whole.
_LARGEST_WHOLE = 2.0**52
#: Whole numbers that fill this share of their decade are codes.
_FILLED = 0.85
#: More classes than this with fewer rows than this on average are codes.
_MANY_CLASSES = 20
_FEW_ROWS = 10
#: The first values of a column, which often decide.
_HEAD = 1000
#: The number of columns whose weighted sum is compared between rows, and the ratio of two weights.
_FRACTIONS = 4
_WEIGHT = math.pi  # No power of it is a sum of fractions of others.
#: The name of a column of codes or identifiers.
CODE_NAME = re.compile(
    r"(?i)(^|[\W_])(id|zip|zip ?code|postcode|plz|code)$|(?<=[a-z])I[Dd]$"
)
#: The name of a column of identifiers, such as patient_id or userId.
ID_NAME = re.compile(r"(?i:(^|[\W_])id$)|(?<=[a-z])I[Dd]$")
#: The most columns that a warning names.
_SHOWN = 5


def warnings_of(
    table: Table, task: str, grouped: bool, dates: Collection[str], is_guessed: bool
) -> Iterator[str]:
    """Yield warnings about the rows of a user's table, each with the option that helps.

    `task`: "classification" or "regression". `grouped`: True if the user has named groups, so that
    none are advised. `dates`: names of the columns of dates and text, which are not checked against
    the target. `is_guessed`: True if neither the target nor the task was given. Features of sparse
    rows are not checked.
    """
    if is_guessed:
        yield from _about_guessed_coordinate(table)
    if task == "regression" and is_guessed:
        yield from _about_guessed_target(table)
    if task == "regression":
        yield from _about_target_of_numbers(table)
    if task == "classification":
        yield from _about_labels(table)
        yield from _about_many_classes(table)
    yield from _about_units(table, dates)
    if not sp.issparse(table.X):
        yield from _about_columns(table, task, grouped, dates)


def _about_guessed_coordinate(table: Table) -> Iterator[str]:
    """Yield a warning if the target is named y, and there are columns x and z.

    It may then be one of three coordinates.
    """
    if table.target_name == "y" and {"x", "z"} <= {*table.names}:
        yield (
            "the column 'y' is the target by its name, though it may be a coordinate like 'x' and "
            "'z': --target COLUMN names another one"
        )


def _about_guessed_target(table: Table) -> Iterator[str]:
    """Yield a warning if the target of a regression was guessed to be the last column.

    `table`: of a regression whose target the user has not named. There is no warning if the column
    has no name, or a usual one of targets, such as `label`.
    """
    name = table.target_name
    if name and name not in TARGETS:
        guess = f"the last column, {name!r}, is the target of a regression"
        next_step = "--target COLUMN or --task classification to change that"
        yield f"no target is named, so {guess}: {next_step}"


def _about_target_of_numbers(table: Table) -> Iterator[str]:
    """Yield a warning if a target of whole numbers looks like codes or identifiers.

    It does if it numbers the rows, is named like a code, or fills most of a decade such as 100 to
    999. `table`: of a regression. At most one warning.
    """
    numbers = to_numbers(table.target)
    if numbers is None or not _is_whole(numbers):
        return
    present = numbers[~np.isnan(numbers)]
    n_distinct = len(np.unique(present))
    is_counter = n_distinct == len(present) and np.ptp(present) == len(present) - 1
    reason = ""
    if is_counter:
        reason = "it numbers the rows"
    elif CODE_NAME.search(table.target_name):
        reason = "its name says so and its values are whole numbers"
    elif _fills_a_decade(present):
        reason = f"its numbers all have {len(str(int(present[0])))} digits"
    if reason:
        target = wording("--target COLUMN", "give another y")
        classes = f"{option('task')}{wording(' ', '=')}classification"
        yield (
            f"the target {table.target_name!r} looks like a code or an identifier, as {reason}: "
            f"{target}, or {classes} if it holds classes"
        )


def _fills_a_decade(numbers: NDArray[np.float64]) -> bool:
    """Return True for whole numbers of equally many digits, three or more, that fill their range.

    They spread over more than 85 % of it, such as 100 to 999. Quantities hardly ever do. `numbers`:
    at least one, none missing.
    """
    smallest = numbers.min()
    largest = numbers.max()
    # The decade of the smallest number, such as 100 to 999.
    logarithm = np.log10(max(smallest, 1))
    start = 10.0 ** np.floor(logarithm)
    is_one_decade = smallest >= start and largest < 10 * start
    has_three_digits = start >= 100
    least_range = _FILLED * 9 * start
    number_range = largest - smallest
    is_filled = number_range > least_range
    return bool(is_one_decade and has_three_digits and is_filled)


def _about_many_classes(table: Table) -> Iterator[str]:
    """Yield a warning if a target has more than 20 classes of fewer than 10 rows on average.

    `table`: of a classification; missing labels are no class.
    """
    words = table.labels
    n_classes = len(set(words) - {None})
    n_rows = len(words)
    if n_classes > _MANY_CLASSES and n_classes * _FEW_ROWS > n_rows:
        target = wording("--target COLUMN", "give another y")
        per_class = f"{n_rows / n_classes:.0f} rows each on average"
        yield (
            f"the target {table.target_name!r} looks like a code or an identifier, as it has "
            f"{n_classes} classes of {per_class}: {target}"
        )


def _about_labels(table: Table) -> Iterator[str]:
    """Yield warnings about labels of held-out rows that no training row has, and about spellings.

    The second warns of labels that differ in case alone. Each of the two is yielded at most once.
    """
    words = table.labels
    labels = sorted(set(words) - {None})
    n_train = table.n_train
    if n_train is not None:
        trained = {*words[:n_train], None}
        held_out = set(words[n_train:])
        new = sorted(held_out - trained)
        if new:
            yield f"no training row has these labels of held-out rows: {few(new, 4)}: correct them"
    spellings = Counter(label.casefold() for label in labels)
    same = [label for label in labels if spellings[label.casefold()] > 1]
    if same:
        problem = "labels that differ in case alone are different classes"
        yield f"{problem}: {few(same, 4)}: correct them"


def _about_units(table: Table, dates: Collection[str]) -> Iterator[str]:
    """Yield a warning for each column of words, or target, that holds numbers with a unit.

    Columns that the user declares as words are not examined, nor are those in `dates` (dates and
    text).
    """
    known_words = {*table.words, *dates}
    target = (table.target_name, table.target)
    for name, words in [*table.nominal.items(), target]:
        are_words = words.dtype == object and name not in known_words
        if not are_words:
            continue
        example = number_with_unit(words)
        if example:
            problem = (
                f"{name!r} is categorical, as its numbers have a unit ({example!r})"
            )
            words_option = wording(f"--words {quote(name)}", "astype('category')")
            yield f"{problem}: write plain numbers, or {words_option} if it holds categories"


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

    @cached_property
    def whole(self) -> set[str]:
        """The names of the columns of whole numbers."""
        return {name for name, column in self.values.items() if _is_whole(column)}

    def may_repeat(self, name: str) -> bool:
        """Return True for a column of words or whole numbers, whose values may repeat."""
        return name in self.nominal or name in self.whole

    def codes(self, name: str) -> NDArray[np.int64]:
        """Return a number for each row, of shape (n,), the same for equal values of a column.

        `name`: of the column. Numbers count from 0; missing values are equal. The result is cached.
        """
        # Once a column, and not for the columns that need none: each takes as long as its reading.
        if name not in self._codes:
            self._codes[name] = _codes(self.values[name])
        return self._codes[name]


def _about_columns(
    table: Table, task: str, grouped: bool, dates: Collection[str]
) -> Iterator[str]:
    """Yield warnings about columns of dense features, and about repeated rows.

    Columns may be constant, copies, identifiers or codes, give the target away or look like groups.
    `task`: "classification" or "regression". `grouped`: True if the user has named groups, so that
    none are advised. `dates`: names of the columns of dates and text, which are not checked against
    the target.
    """
    features = _Features(table)
    numbers = to_numbers(table.target) if task == "regression" else None
    target = _codes(table.labels if numbers is None else numbers)
    constant = [
        name for name, column in features.values.items() if _is_constant(column)
    ]
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
        if name in features.whole and _is_code_name(name):
            yield _advice_on_code(name)
        yield from _about_target(
            name,
            values,
            codes=features.codes(name) if features.may_repeat(name) else None,
            target=target,
            numbers=numbers,
            is_nominal=name in features.nominal,
            grouped=grouped,
        )
    yield from _about_equal_rows(features, target)


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
    """Return a warning about a column of numbers that is named like a code."""
    words = wording(f"--words {quote(name)}", "astype('category')")
    problem = f"{name!r} is named like a code, but its values are read as numbers"
    return f"{problem}: {words} if they are categories"


def _about_equal_rows(features: _Features, target: NDArray[np.int64]) -> Iterator[str]:
    """Yield a warning if some rows repeat others in all features and in the target.

    `target`: a number for each row that is the same for equal targets.
    """
    # Columns of fractions first: few of them already distinguish most rows.
    names = sorted(features.values, key=features.may_repeat)
    numbers = [features.values[name] for name in names if name not in features.nominal]
    if _distinguish_rows(numbers[:_FRACTIONS]):
        return
    codes = chain(map(features.codes, names), [target])
    yield from _about_repeated_rows(codes, len(target))


def _is_code_name(name: str) -> bool:
    """Return True for the name of a column of codes, such as zip.

    False for identifiers, such as id, and for all other names.
    """
    return bool(CODE_NAME.search(name) and not ID_NAME.search(name))


def _is_constant(values: NDArray[Any]) -> bool:
    """Return True if all values of a column are equal, or all are missing."""
    head = values[:_HEAD]
    if len(head) < len(values) and not _is_constant(head):
        return False
    missing = is_missing(values)
    if missing.any():
        return bool(missing.all())
    first = values[0]
    is_first = np.equal(values, first)
    return bool(is_first.all())


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
        head = _content(values[:_HEAD])
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

    NaN equals itself in columns of floats.
    """
    return tuple(values) if values.dtype == object else values.tobytes()


def split_warnings(
    columns: Mapping[str, NDArray[Any]], n_train: int | None, names: RowColumns
) -> Iterator[str]:
    """Yield warnings if groups or times contradict a user's own test part or folds.

    `columns`: the arrays of shape (n,) under the keys `groups`, `times` and `folds`, as in
    `Dataset`; any may be absent. `n_train`: the number of training rows, which come first; None
    without a test part. `names`: the user's names of the columns.
    """
    n_rows = len(columns.get("groups", columns.get("times", ())))
    if n_rows == 0 or (n_train is None and "folds" not in columns):
        return
    # `parts`: the number of the test part of each row; -1 for rows that are always training rows.
    if n_train is None:
        way = option("fold")
        noun = "test rows"
        parts = columns["folds"]
    else:
        way = option("test")
        noun = "held-out rows"
        parts = np.where(np.arange(n_rows) < n_train, -1, 0)
    is_tested = parts >= 0
    if "groups" in columns:
        groups = columns["groups"]
        tested = np.unique(groups[is_tested])
        in_several_parts = _groups_in_several_parts(groups, parts)
        n_shared = len(np.intersect1d(tested, in_several_parts))
        if n_shared:
            shared = f"{n_shared} of {amount(len(tested), 'group')} of {noun}"
            problem = f"{shared} (column {names.groups!r}) have training rows as well"
            yield f"{problem}: leave {way} or {option('groups')} out, or correct the parts"
    if "times" in columns:
        times = columns["times"]
        last_learnt = _last_times_of_others(times, parts)
        is_early = is_tested & (times <= last_learnt)
        n_early = int(is_early.sum())
        if n_early:
            n_tested = int(is_tested.sum())
            early = f"{n_early} of {n_tested} {noun}"
            expected = "later than all rows that their model learns"
            problem = f"{early} (column {names.ordered_by!r}) are not {expected}"
            yield f"{problem}: leave {way} or {option('time-order')} out, or correct the parts"


def _groups_in_several_parts(
    groups: NDArray[np.int64], parts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the numbers of the groups that have rows in more than one part, in ascending order.

    `groups`, `parts`: the number of each row's group and part, of shape (n,).
    """
    pairs = np.unique(np.column_stack([groups, parts]), axis=0)
    n_parts_of = np.bincount(pairs[:, 0])
    return np.flatnonzero(n_parts_of > 1)


def _last_times_of_others(
    times: NDArray[np.int64], parts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return, for each row, the last time of the rows in all other parts, of shape (n,).

    -1 if there are no other parts. `times`: at least 0. `parts`: the number of each row's part.
    """
    numbers, part_of = np.unique(parts, return_inverse=True)
    n_parts = len(numbers)
    last_of_part = np.full(n_parts, -1)
    np.maximum.at(last_of_part, part_of, times)
    latest_part = np.argmax(last_of_part)
    latest = last_of_part[latest_part]
    rest = np.delete(last_of_part, latest_part)
    second_latest = np.max(rest, initial=-1)
    # The other parts of all but the latest part include the latest.
    last_of_others = np.full(n_parts, latest)
    last_of_others[latest_part] = second_latest
    by_row = last_of_others[part_of]
    return np.asarray(by_row, dtype=np.int64)


def _about_target(
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

    `codes`, `target`: a number from 0 for each row, the same for equal values of the column or the
    target; `codes` is None for a column of fractions. `numbers`: the targets of a regression, else
    None. `is_nominal`: True if the column holds words. `grouped`: True if the user has named
    groups, so that none are advised.
    """
    is_group = f"{name!r} looks like a group"
    groups = wording(f"--groups {quote(name)}", "give it as groups")
    n_values = 0 if codes is None else codes.max() + 1
    if codes is not None and _each_has_one_target(codes, target, is_nominal=is_nominal):
        n_targets = len(np.unique(target))
        gives_away = n_values <= 2 * n_targets
        if not gives_away and not grouped:
            reason = f"each of its {n_values} values has one target"
            yield f"{is_group}, as {reason}: {groups}"
    else:
        gives_away = not is_nominal and _determines(values, target, numbers)
        if codes is not None and not grouped and _names_groups(name, codes):
            reason = f"it is named like an identifier, and its {n_values} values repeat"
            yield f"{is_group}, as {reason}: {groups} keeps each in one fold"
    if gives_away:
        drop = wording(f"--drop {quote(name)}", "leave it out")
        yield f"{name!r} alone gives the target away: {drop} if it is known only afterwards"


def _names_groups(name: str, codes: NDArray[np.int64]) -> bool:
    """Return True if a column is named like an identifier, and its values repeat.

    It must have more than 20 values of two rows or more on average. `codes`: a number from 0 for
    each row, the same for equal values.
    """
    n_values = codes.max() + 1
    return bool(ID_NAME.search(name) and _MANY_CLASSES < n_values <= len(codes) / 2)


def _each_has_one_target(
    codes: NDArray[np.int64], target: NDArray[np.int64], *, is_nominal: bool
) -> bool:
    """Return True if rows with equal values of a column have equal targets, hardly by chance.

    `codes`, `target`: a number from 0 for each row, the same for equal values of the column or the
    target. False if the column has more distinct values than half of the rows, unless it holds
    words. `is_nominal`: True if it does.
    """
    n_rows = len(target)
    sizes = np.bincount(codes)
    repeats = is_nominal or len(sizes) <= n_rows / 2
    if not repeats:
        return False
    pairs = np.unique(codes * n_rows + target)
    if len(pairs) != len(sizes):
        return False
    shares = np.bincount(target) / n_rows
    return _chance_of_one_target(sizes, shares) < log(_CHANCE)


def _determines(
    values: NDArray[np.float64],
    target: NDArray[np.int64],
    numbers: NDArray[np.float64] | None,
) -> bool:
    """Return True if a column of numbers alone gives the target away.

    It is a linear function of the targets of a regression, `numbers`, or its thresholds separate
    all classes (`numbers` is None). `target`: the number of each row's class, from 0. False if a
    value is missing or infinite.
    """
    if not np.isfinite(values).all():
        return False
    if numbers is None:
        return _separates(values, target)
    correlation = np.corrcoef(values, numbers)[0, 1]
    return bool(abs(correlation) > 1 - 1e-9)


def _chance_of_one_target(
    sizes: NDArray[np.int64], shares: NDArray[np.float64]
) -> float:
    """Return the logarithm of the probability that each value has a single target by chance.

    `sizes`: the number of rows of each value of a column. `shares`: the share of the rows of each
    target.
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
    head = values[:_HEAD]
    head_target = target[:_HEAD]
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

    `target`: the number of each row's class, from 0.
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


def _advise_to_drop(kind: str, names: Sequence[str]) -> Iterator[str]:
    """Yield the advice to drop the named columns; nothing if there are none.

    `kind`: the reason, such as 'constant', which ends a sentence that begins with their names.
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


def _codes(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return a number for each row, of shape (n,), the same for equal values.

    Numbers count from 0 in the order of first appearance; missing values are equal and get the last
    number.
    """
    import pandas as pd

    codes, distinct = pd.factorize(values)  # -1 for a missing value
    # With `use_na_sentinel`, pandas would take twice as long.
    codes[codes < 0] = len(distinct)
    return codes.astype(np.int64, copy=False)


def _n_repeated(columns: Iterable[NDArray[np.int64]], n_rows: int) -> int:
    """Return the number of rows that repeat an earlier row in all columns.

    `columns`: for each column, a number from 0 for each row that is the same for equal values and
    below `n_rows`.
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


def _is_whole(values: NDArray[Any]) -> bool:
    """Return True if all present values of a column are whole numbers, exact as floats.

    False for words; True if all are NaN.
    """
    if values.dtype == object:
        return False
    head = values[:_HEAD]
    has_more = len(head) < len(values)
    if has_more and not _is_whole(head):
        return False
    numbers = values[~np.isnan(values)]
    is_exact = np.abs(numbers) < _LARGEST_WHOLE
    is_whole = numbers == np.round(numbers)
    return bool(is_exact.all() and is_whole.all())

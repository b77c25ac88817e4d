"""Warnings about a user's rows, each with the next command."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from shlex import quote
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from elmbench.datasets.column_advice import about_columns
from elmbench.datasets.column_kinds import CODE_NAME, is_whole
from elmbench.datasets.sources.file import TARGETS
from elmbench.datasets.table import Table, few, to_numbers
from elmbench.datasets.user_files.number_text import number_with_unit
from elmbench.errors import amount, option, wording
from elmbench.specs.datasets import RowColumns

#: Whole numbers that fill this share of their decade are codes.
_FILLED = 0.85
#: More classes than this with fewer rows than this on average are codes.
_MANY_CLASSES = 20
_FEW_ROWS = 10


def warnings_of(
    table: Table,
    task: str,
    grouped: bool,
    dates: Collection[str],
    is_guessed: bool,
    left_out: Iterable[NDArray[Any]] = (),
) -> Iterator[str]:
    """Yield warnings about the rows of a user's table, each with the option that helps.

    `task`: "classification" or "regression". `grouped`: True if the user has named groups, so that
    none are advised. `dates`: names of the columns of dates and text, which are not checked against
    the target. `is_guessed`: True if neither the target nor the task was given. `left_out`: the
    values of the columns that are no features, by which rows may differ. Features of sparse rows
    are not checked.
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
        yield from about_columns(table, task, grouped, dates, left_out)


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

    It does if its values are consecutive numbers, each once, if it is named like a code, or if it
    fills most of a decade such as 100 to 999. `table`: of a regression. At most one warning.
    """
    numbers = to_numbers(table.target)
    if numbers is None or not is_whole(numbers):
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
        classes = wording("--task classification", "task='classification'")
        yield (
            f"the target {table.target_name!r} looks like a code or an identifier, as {reason}: "
            f"{target}, or {classes} if it holds classes"
        )


def _fills_a_decade(numbers: NDArray[np.float64]) -> bool:
    """Return True for whole numbers of equally many digits, three or more, that fill their decade.

    They spread over more than 85 % of one such as 100 to 999. Quantities hardly ever do.
    `numbers`: at least one, none missing.
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


def split_warnings(
    columns: Mapping[str, NDArray[Any]], n_train: int | None, names: RowColumns
) -> Iterator[str]:
    """Yield warnings if groups or times contradict a user's own test part or folds.

    `columns`: the arrays of shape (n,) under the keys `groups`, `times` and `folds`; any may be
    absent. `folds` has the number of the fold that tests each row, -1 if none does; it counts only
    if `n_train` is None. `n_train`: the number of training rows, which come first; None without a
    test part. `names`: the user's names of the columns.
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

    `groups`, `parts`: the number of each row's group (from 0) and part (-1 is one, too), of shape
    (n,).
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

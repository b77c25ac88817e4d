"""The reasons to refuse a user's rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from elmbench.datasets.table import (
    Table,
    few,
    is_missing,
    is_number,
    label_word,
    label_words,
    to_numbers,
)
from elmbench.datasets.user_data import UserData
from elmbench.datasets.user_files.number_text import looks_numeric
from elmbench.errors import amount, option, wording
from elmbench.numerics.arrays import LARGEST
from elmbench.specs.datasets import LearningTask

#: Fewer rows than this are refused.
FEWEST_ROWS = 20
#: Words are names, neither categories nor classes, if more than this share of them are distinct.
MOST_DIFFERENT = 0.5
#: Sparse rows become dense if they have at most this many values, zeros included.
DENSE_VALUES = 2e7


class Fault(NamedTuple):
    """A reason to refuse rows, as the three parts of an `ElmbenchError`."""

    #: What is wrong, as the end of a sentence that begins with the name of the file.
    problem: str
    expected: str
    next_step: str


@dataclass(frozen=True, kw_only=True)
class DescribedRows:
    """Rows of a user's file that are to be checked, and the settings that were detected for them.

    `request` holds the settings that the user gave.
    """

    table: Table
    request: UserData
    task: LearningTask
    #: The labels of a classification in their order; none for a regression.
    labels: Sequence[str]
    #: The columns that cannot be features, by the reason.
    left_out: Mapping[str, Sequence[str]]


def first_fault(rows: DescribedRows) -> Fault | None:
    """Return the first reason to refuse the rows, or None if they can be used."""
    faults = (find(rows) for find in _CHECKS)
    return next(filter(None, faults), None)


def stays_sparse(table: Table) -> bool:
    """Return True if the rows of a table are sparse and have more than 20 million values.

    They are too many to become dense; zeros count.
    """
    n_rows, n_columns = table.X.shape
    return bool(sp.issparse(table.X) and n_rows * n_columns > DENSE_VALUES)


def missing_columns(table: Table) -> list[str]:
    """Return the names of the columns with missing values, in the order of the table.

    Missing texts do not count. Sparse rows are allowed.
    """
    if sp.issparse(table.X):
        _, columns = _missing_values(table)
    else:
        has_missing = [_has_missing_values(table, name) for name in table.names]
        columns = np.flatnonzero(has_missing)
    distinct = np.unique(columns)
    return [table.names[column] for column in distinct]


def _has_missing_values(table: Table, name: str) -> bool:
    """Return True if the column `name` of a table with dense rows has a missing value.

    A column of text has none, because a missing text counts as an empty one.
    """
    if name in table.text:
        return False
    values = table.column(name)
    if values.dtype == object:
        return bool(is_missing(values).any())
    return bool(np.isnan(values).any())


def _missing_values(table: Table) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows and the columns of all missing values, two arrays of equal length.

    Both hold positions. Missing texts do not count.
    """
    if not sp.issparse(table.X):
        rows, columns = np.nonzero(table.missing())
        return rows, columns
    # Entries that are not stored are zero.
    entries = table.X.tocoo()
    is_missing = np.isnan(entries.data)
    rows = entries.row[is_missing]
    columns = entries.col[is_missing]
    return rows.astype(np.intp), columns.astype(np.intp)


def _few_rows(rows: DescribedRows) -> Fault | None:
    """Return the fault of fewer than 20 rows; None if there are enough."""
    n_rows = len(rows.table.target)
    if n_rows >= FEWEST_ROWS:
        return None
    return Fault(f" has {n_rows} rows", f"{FEWEST_ROWS} rows or more", "add rows")


def _no_column_left(rows: DescribedRows) -> Fault | None:
    """Return the fault of a table all of whose columns are left out, with the first reason.

    None if there is a column, or if `rows.left_out` names none (see `_no_feature`).
    """
    if rows.table.X.shape[1] > 0:
        return None
    for reason, names in rows.left_out.items():
        if names:
            problem = f": no column is left: of {', '.join(names)} {reason}"
            return Fault(
                problem, "a column of numbers or categories", "correct the data"
            )
    return None


def _no_feature(rows: DescribedRows) -> Fault | None:
    """Return the fault of rows without features, for any reason; None if there are features."""
    n_rows, n_columns = rows.table.X.shape
    if n_columns > 0:
        return None
    if rows.request.drop:
        next_step = "leave fewer columns out"
    else:
        next_step = wording(
            "add columns, or name the separator of a text by --sep", "add columns"
        )
    return Fault(f" has {n_rows} rows of {n_columns} features", "a feature", next_step)


def _missing_targets(rows: DescribedRows) -> Fault | None:
    """Return the fault of rows with a missing target; None without such rows.

    The advice is to skip them if they are fewer than half, else to name another target.
    """
    table = rows.table
    n_rows = len(table.target)
    n_missing = int(is_missing(table.target).sum())
    if n_missing == 0:
        return None
    column = f" {table.target_name!r}" if table.target_name else ""
    can_skip_them = 2 * n_missing < n_rows
    return Fault(
        problem=f": the target{column} is missing in {n_missing} of {n_rows} rows",
        expected="a target in every row",
        next_step="--drop-missing-target skips them"
        if can_skip_them
        else _another_target(),
    )


def _huge_value(rows: DescribedRows) -> Fault | None:
    """Return the fault of the first column with a value that is infinite or cannot be squared.

    None without one. Only columns of numbers are looked at.
    """
    columns = _columns_of_huge_values(rows.table.X)
    if not len(columns):
        return None
    column = rows.table.names[columns.min()]
    drop = wording(f"--drop {quote(column)}", "leave the column out")
    return Fault(
        problem=f": a value in the column {column!r} is infinite or too large to be squared",
        expected=f"magnitudes up to {LARGEST:g}",
        next_step=f"correct the data, or {drop}",
    )


def _columns_of_huge_values(X: Any) -> NDArray[np.intp]:
    """Return the positions of the columns with a magnitude above `LARGEST`, in ascending order.

    Such a value cannot be squared. `X`: dense or sparse rows; NaN does not count.
    """
    if sp.issparse(X):
        _, columns = (abs(X) > LARGEST).nonzero()
        return np.unique(columns)
    # Column by column: a mask of all values would take an eighth of their memory.
    are_huge = [bool((np.abs(values) > LARGEST).any()) for values in X.T]
    return np.flatnonzero(are_huge)


def _missing_features(rows: DescribedRows) -> Fault | None:
    """Return the fault of missing values that must not be imputed; None if none is missing or all
    may be imputed.

    The user may forbid it, and it is not done in sparse rows that are too many to become dense.
    """
    can_impute = not stays_sparse(rows.table)
    if can_impute and rows.request.impute:
        return None
    missing_rows, _ = _missing_values(rows.table)
    if not len(missing_rows):
        return None
    n_values = amount(len(missing_rows), "missing value")
    n_rows = amount(len(np.unique(missing_rows)), "row")
    columns = few(missing_columns(rows.table), 5)
    if can_impute:
        refusal = wording("--no-impute", "impute=False")
        next_step = (
            f"correct the data, or leave {refusal} out to impute from the training rows"
        )
    else:
        next_step = "correct the data: sparse rows of this size are not imputed"
    return Fault(
        f": {n_values} in {n_rows} ({columns})", "a value in every field", next_step
    )


def _single_class(rows: DescribedRows) -> Fault | None:
    """Return the fault of a classification with fewer than two labels; None otherwise."""
    if rows.task != "classification" or len(rows.labels) >= 2:
        return None
    label = rows.labels[0] if rows.labels else None
    problem = f": every row has the target {label!r}"
    return Fault(problem, "two classes or more", _another_target())


def _many_classes(rows: DescribedRows) -> Fault | None:
    """Return the fault of a classification with more than half as many different labels as rows.

    None without it, or if the user has named the task.
    """
    n_rows = len(rows.table.target)
    n_labels = len(rows.labels)
    if rows.request.task or n_labels <= MOST_DIFFERENT * n_rows:
        return None
    labels = f"{n_labels} different labels in {n_rows} rows, such as {rows.labels[0]!r}"
    return Fault(
        problem=f": the target has {labels}",
        expected="classes of several rows, or numbers",
        next_step=f"write plain numbers, or {_another_target()}",
    )


def _constant_target(rows: DescribedRows) -> Fault | None:
    """Return the fault of a regression whose targets do not vary, or have variance 0 or infinity.

    None without one, for a target of words, and for a classification. A missing target counts as
    such a fault; `_missing_targets` is checked before.
    """
    targets = to_numbers(rows.table.target) if rows.task == "regression" else None
    if targets is None:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        varies = np.ptp(targets) > 0 and 0 < targets.var() < np.inf
    if varies:
        return None
    faults = "constant, infinite, too large or too small"
    problem = f": the target is {faults}, such as {targets[0]:g}"
    return Fault(problem, "finite numbers that differ", _another_target())


def _words_in_regression(rows: DescribedRows) -> Fault | None:
    """Return the fault of a regression whose target holds words; None without one."""
    target = rows.table.target
    if rows.task != "regression" or to_numbers(target) is not None:
        return None
    present = [word for word in label_words(target) if word is not None]
    words = [word for word in present if not is_number(word)]
    example = min(words, key=looks_numeric)
    return Fault(
        problem=f": the target of a regression holds {example!r}",
        expected="numbers",
        next_step=f"leave {option('task')} out, or {_another_target()}",
    )


def _unknown_positive(rows: DescribedRows) -> Fault | None:
    """Return the fault of a positive class, named by the user, that is not one of two labels.

    None if it is one of two, or if none is named.
    """
    labels = rows.labels
    positive = label_word(rows.request.positive)
    has_two_classes = len(labels) == 2
    if not positive or (has_two_classes and positive in labels):
        return None
    named = f"{rows.request.positive!r} is named as the positive class"
    return Fault(
        problem=f": {named} of {len(labels) or 'no'} classes",
        expected=" or ".join(labels)
        if has_two_classes
        else "a target with two classes",
        next_step=f"correct {option('positive')} or leave it out",
    )


def _another_target() -> str:
    """Return the advice to name another target, in the words of the command line or of Python."""
    return wording("name another column with --target", "give another y")


#: What is checked first is reported first.
_CHECKS: tuple[Callable[[DescribedRows], Fault | None], ...] = (
    _few_rows,
    _no_column_left,
    _no_feature,
    _missing_targets,
    _huge_value,
    _missing_features,
    _single_class,
    _many_classes,
    _constant_target,
    _words_in_regression,
    _unknown_positive,
)

"""The spec of a user's data, as for the data sets of the suite."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import scipy.sparse as sp

from elmbench.datasets.advice import warnings_of
from elmbench.datasets.dates import read_dates
from elmbench.datasets.local_files import local_file, name_of
from elmbench.datasets.prepare import category_order
from elmbench.datasets.sources.file import FileSource
from elmbench.datasets.table import Table, label_word, label_words, to_numbers
from elmbench.datasets.user_table import TARGETS, read_user_file, sorted_by, take_row_columns, with_date_features
from elmbench.errors import ElmbenchError
from elmbench.specs.datasets import DatasetSpec, Shape

Task = Literal["classification", "regression"]
#: A target of whole numbers holds labels if it has at most this many distinct ones.
MOST_CLASSES = 20
#: A column of words holds names, not categories, if more than this share of them are distinct.
MOST_DIFFERENT = 0.5
#: The reasons to leave out a column.
_EMPTY, _NAMES = "all values are missing", "nearly every row has a word of its own"
#: Options that `FileSource` also has.
FILE_OPTIONS = ("drop", "words", "separator", "decimal", "header", "drop_missing_target", "test")
#: Floats represent all whole numbers up to this one.
_EXACT = 2**53
#: Sparse rows become dense if they have at most this many values, zeros included.
DENSE_VALUES = 2e7


@dataclass(frozen=True)
class UserData:
    """A user's data, and the options that were given for them (see also `FileSource`).

    Attributes
    ----------
    location : str
        A path, `openml:ID` or `sklearn:NAME`.
    target : str
        Name of the target column; detected if empty.
    task : {"classification", "regression"} or None
        None to detect it from the target.
    groups, ordered_by : str or None
        Names of columns, see `DatasetSpec`.
    impute : bool
        Impute missing values.
    day_first : bool or None
        Settles whether the date 1/2/2023 is in February or in January, if no value does.
    drop, words : tuple of str
        Columns that are not features; columns of categories, even if they look like numbers.
    separator, decimal : str
        Marks of a text table; detected if empty.
    header : bool or None
        True if line 1 of a text table holds the names of the columns; None to detect it.
    drop_missing_target : bool
        Leave out rows without a target.
    test : str
        Path of a file of held-out rows.
    fold, weights : str or None
        Names of columns, see `DatasetSpec`.
    positive : str
        The label of the positive class, for metrics such as precision; by default, the last one.
    """

    location: str
    target: str = ""
    task: Task | None = None
    groups: str | None = None
    ordered_by: str | None = None
    impute: bool = False
    day_first: bool | None = None
    drop: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    separator: str = ""
    decimal: Literal["", ".", ","] = ""
    header: bool | None = None
    drop_missing_target: bool = False
    test: str = ""
    fold: str | None = None
    weights: str | None = None
    positive: str = ""


def describe(asked: UserData) -> DatasetSpec:
    """Return the spec of a user's data; its notes list the detected settings and warnings.

    Raises ElmbenchError if the data cannot be read or used.
    """
    path, title, target = local_file(asked.location, asked.target)
    options = {name: getattr(asked, name) for name in FILE_OPTIONS}
    if asked.test:
        options["test"] = str(local_file(asked.test)[0])
    source = FileSource(kind="file", path=str(path), target=target, **options)
    table = read_user_file(source, asked.groups, asked.fold)
    settings = []
    if asked.ordered_by is not None:
        table, ends = sorted_by(table, asked.ordered_by, asked.day_first)
        settings.append(f"sorted by {asked.ordered_by}, {ends}")
    table, columns = take_row_columns(table, asked)
    if table.n_train is not None:
        settings.append(f"{len(table.target) - table.n_train} held-out rows of {Path(asked.test).name}")
    if "fold" in columns:
        settings.append(f"{columns['fold'].max() + 1} outer folds, of the column {asked.fold}")
    if asked.weights is not None:
        settings.append(f"fits are weighted by {asked.weights}, metrics are not")
    dates = _date_columns(table, asked)
    left_out = _left_out(table, dates)
    names = [name for group in left_out.values() for name in group]
    table = table.columns(np.array([name not in names for name in table.names], dtype=bool))
    task = asked.task or _task_of(table)
    raw = table
    table = with_date_features(table, dates, asked.day_first)
    _check(table, asked, title, left_out)
    counts = Counter(label_words(table.target)) if task == "classification" else Counter()
    labels = sorted(counts, key=category_order)
    if task == "classification":
        _check_labels(table, labels, title)
    positive = _positive(asked, labels, title)
    column = f"the column {table.target_name!r}" if table.target_name else "the file's own target"
    kind = f"classification, {len(labels)} classes" if labels else "regression"
    detected = [f"{kind} of {column} ({'as given' if asked.task else 'detected by its values'})"]
    detected += [f"the positive class is {label}" for label in positive]
    if table.nominal:
        words = _few([table.names[position] for position in sorted(table.nominal)])
        settings.append(f"words, encoded on each training part: {words}")
    if dates:
        settings.append(f"dates, replaced by their parts and the days since the first: {', '.join(dates)}")
    settings += [f"left out, as {reason}: {', '.join(group)}" for reason, group in left_out.items() if group]
    n, d = table.X.shape
    outside = len({asked.groups, asked.fold, asked.weights, asked.ordered_by} - {None})
    split = None if table.n_train is None else (table.n_train, n - table.n_train)
    missing = not sp.issparse(table.X) and bool(np.isnan(table.X).any())
    if filled := [] if sp.issparse(table.X) else np.flatnonzero(table.missing().any(axis=0)).tolist():
        settings.append(f"missing values, filled in on each training part: {_few([table.names[i] for i in filled])}")
    changes = {"target": table.target_name or target, "drop": (*asked.drop, *names), "dates": dates}
    return DatasetSpec(
        name=name_of(asked.location),
        title=title,
        task=task,
        positive=positive,
        shape=Shape(instances=n, features=d, classes={label: counts[label] for label in labels} or None, split=split),
        sparse=sp.issparse(table.X) and n * d > DENSE_VALUES,
        by_fold=bool(table.nominal) or (missing and asked.impute),
        groups=asked.groups,
        fold=asked.fold,
        weights=asked.weights,
        ordered_by=asked.ordered_by,
        day_first=asked.day_first,
        sources=(source.model_copy(update=changes),),
        citation=f"the user's own data; {outside} columns are not features" if outside else "the user's own data",
        notes=(
            "; ".join([*detected, *settings]),
            *table.notes,
            *(f"warning: {text}" for text in _warnings(raw, dates, asked, task, is_named=bool(target))),
        ),
    )


def _warnings(table: Table, dates: Collection[str], asked: UserData, task: Task, is_named: bool) -> Iterator[str]:
    if not sp.issparse(table.X):
        yield from warnings_of(table, task, asked.groups is not None, dates)
    if task == "regression" and not (asked.task or is_named) and table.target_name not in ("", *TARGETS):
        text = f"the target is the last column, {table.target_name!r}, and its numbers are a regression's"
        yield f"{text}: --target COLUMN or --task classification for another one"


def _few(names: Sequence[str], most: int = 8) -> str:
    return ", ".join(names[:most]) + ", ..." * (len(names) > most)


def _left_out(table: Table, dates: Collection[str]) -> dict[str, list[str]]:
    """Return the columns that cannot be features, by the reason."""
    reasons: dict[str, list[str]] = {_EMPTY: [], _NAMES: []}
    for position, name in enumerate(() if sp.issparse(table.X) else table.names):
        if name in dates:
            continue
        words = table.nominal.get(position)
        known = [word for word in words if word is not None] if words is not None else []
        if np.isnan(table.X[:, position]).all() and not known:
            reasons[_EMPTY].append(name)
        elif len(known) > 20 and len(set(known)) > MOST_DIFFERENT * len(known):
            reasons[_NAMES].append(name)
    return reasons


def _date_columns(table: Table, asked: UserData) -> tuple[str, ...]:
    columns = [(table.names[position], words) for position, words in sorted(table.nominal.items())]
    return tuple(
        name
        for name, words in columns
        if name not in asked.words and read_dates(words, asked.day_first, name) is not None
    )


def _task_of(table: Table) -> Task:
    """Return the task of a target: classification for words and for few different whole numbers."""
    values = to_numbers(table.target)
    if values is None:
        return "classification"
    n_labels = len(set(label_words(table.target)))
    whole = bool((values == np.round(values)).all())
    return "classification" if whole and n_labels <= min(MOST_CLASSES, len(values) // 3) else "regression"


def _positive(asked: UserData, labels: list[str], title: str) -> tuple[str, ...]:
    """Return the positive one of two labels; none for more labels or a regression."""
    positive = label_word(asked.positive)
    if positive and (len(labels) != 2 or positive not in labels):
        problem = f"{title}: {asked.positive!r} is named as the positive class of {len(labels) or 'no'} classes"
        expected = f"{labels[0]} or {labels[1]}" if len(labels) == 2 else "a target with two classes"
        raise ElmbenchError(problem, expected=expected, next_step="correct --positive or leave it out")
    return (positive or labels[-1],) if len(labels) == 2 else ()


def _check_labels(table: Table, labels: list[str], title: str) -> None:
    if len(labels) < 2:
        problem = f"{title}: every row has the target {labels[0] if labels else None!r}"
        raise ElmbenchError(problem, expected="two classes or more", next_step="name another column with --target")
    if table.target.dtype.kind == "f" and np.abs(table.target).max() >= _EXACT:
        problem = f"{title}: the file holds labels of {_EXACT} and more as floats, which do not represent them exactly"
        raise ElmbenchError(problem, expected="integers or words", next_step="write them as words, such as to CSV")


def _check(table: Table, asked: UserData, title: str, left_out: dict[str, list[str]]) -> None:
    for reason, names in left_out.items():
        if names and not table.X.shape[1]:
            problem = f"{title}: no column is left: of {', '.join(names)} {reason}"
            raise ElmbenchError(problem, expected="a column of numbers or categories", next_step="correct the file")
    if table.X.shape[0] < 20 or table.X.shape[1] < 1:
        problem = f"{title} has {table.X.shape[0]} rows of {table.X.shape[1]} features"
        raise ElmbenchError(problem, expected="20 rows and a feature", next_step="add rows or columns")
    without_target = sum(value is None or value != value for value in table.target)
    if without_target:
        problem = f"{title}: the target is missing in {without_target} of {len(table.target)} rows"
        raise ElmbenchError(problem, expected="a target in every row", next_step="--drop-missing-target skips them")
    if sp.issparse(table.X):
        return
    missing = table.missing()
    if np.isinf(table.X).any():
        column = table.names[int(np.isinf(table.X).any(axis=0).argmax())]
        problem = f"{title}: an infinite value in the column {column!r}"
        raise ElmbenchError(problem, expected="finite numbers", next_step="correct the file")
    if missing.any() and not asked.impute:
        shown = _few([table.names[position] for position in np.flatnonzero(missing.any(axis=0))], most=5)
        n_rows = int(missing.any(axis=1).sum())
        raise ElmbenchError(
            f"{title}: {int(missing.sum())} values are missing, in {n_rows} rows (columns {shown})",
            expected="a value in every field",
            next_step="--impute replaces them, by the rows of each training part, or correct the file",
        )

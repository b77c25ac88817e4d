"""A user's file as a table, with its special columns: the order, groups, folds, weights and dates."""

import re
from collections.abc import Collection
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from elmbench.datasets.dates import Dates, features_of, read_dates, span
from elmbench.datasets.numbers import with_numbers
from elmbench.datasets.parts import join_parts
from elmbench.datasets.prepare import category_order
from elmbench.datasets.readers import COMPRESSIONS, FORMATS, compression_of, read_table
from elmbench.datasets.table import Table, label_words
from elmbench.datasets.text import Layout
from elmbench.errors import ElmbenchError, closest, first_line
from elmbench.specs.datasets.user_file import UserFile

#: Names of the default target column; without these, it is the last one.
TARGETS = ("target", "class", "label", "y")
_OTHER_ENDINGS = {"tsv": "csv", "txt": "csv", "libsvm": "svm", "svmlight": "svm", "pq": "parquet"}
#: The name of a column in a file without a header.
_UNNAMED = re.compile(r"x\d+")
#: Largest unpacked size of a file: this many bytes plus this many times its own size.
MOST_AT_LEAST, MOST_TIMES = 100_000_000, 500


def read_user_file(source: UserFile, *words: str | None) -> Table:
    """Return the rows of a user's file; `words` are further columns whose values keep their spelling.

    Raises ElmbenchError if the file is missing, cannot be read, or lacks a named column.
    """
    path = Path(source.path)
    if not path.is_file():
        problem = f"{path} is {'not a regular file' if path.exists() else 'not there'}"
        raise ElmbenchError(problem, expected="a file of rows", next_step="check the path")
    table = _read_file(source, path, words)
    return _with_test_part(table, source, words) if source.test else table


def _read_file(source: UserFile, path: Path, words: Collection[str | None]) -> Table:
    layout = Layout(source.separator, source.decimal, source.header, {*source.words, *filter(None, words)})
    most = MOST_AT_LEAST + MOST_TIMES * path.stat().st_size
    choose = partial(_target, source, path)
    table = read_table(path, choose, form=_form_of(path), layout=layout, sparse=True, most=most)
    dropped = [_position(table, name) for name in source.drop]
    table = table.columns(np.array([position not in dropped for position in range(len(table.names))]))
    for name in set(source.words) - {table.target_name}:
        _position(table, name)
    table = with_numbers(table, source.decimal, layout.words)
    known = np.array([value is not None and value == value for value in table.target])
    if not source.drop_missing_target or known.all():
        return table
    return table.rows(known).remarked(f"{int((~known).sum())} of {len(known)} rows have no target and are left out")


def header_of(names: Collection[str]) -> bool | None:
    """Return True if a file with columns of these names has a header; None if it must be detected."""
    return None if all(_UNNAMED.fullmatch(name) for name in names) else True


def _with_test_part(train: Table, source: UserFile, words: Collection[str | None]) -> Table:
    """Return the training rows followed by the rows of the test file, with the same columns."""
    kinds = [*words, *(train.names[position] for position in train.nominal)]
    target = train.target_name or source.target
    header = source.header if source.header is not None else header_of(train.names)
    changes = {"path": source.test, "test": "", "drop": (), "words": (), "target": target, "header": header}
    test = read_user_file(source.model_copy(update=changes), *kinds)
    if sp.issparse(test.X):  # whose last features may be zero in all rows
        test.X.resize(test.X.shape[0], train.X.shape[1])
        test = replace(test, names=train.names)
    order = [_position(test, name) for name in train.names]
    test = test.columns(np.array(order))
    odd = next((test.names[position] for position in test.nominal if position not in train.nominal), None)
    if odd is not None:
        word = next(filter(None, test.nominal[test.names.index(odd)]), None)
        problem = f"{test.origin}: the column {odd!r} holds {word!r}"
        raise ElmbenchError(
            problem, expected=f"numbers, as in {train.origin}", next_step=f"--words {odd}, or --drop it"
        )
    rows = [np.arange(len(part.target)) if part.positions is None else part.positions for part in (train, test)]
    return replace(join_parts(train, test), positions=np.concatenate(rows))


def _form_of(path: Path) -> str:
    """Return the format of a file by its ending."""
    form = path.name.removesuffix(compression_of(path)).rsplit(".", 1)[-1].lower()
    form = _OTHER_ENDINGS.get(form, form)
    if form not in (*FORMATS, "xlsx"):
        endings = ", ".join(f".{form}" for form in (*FORMATS, "xlsx", *_OTHER_ENDINGS))
        expected = f"a name that ends in {endings}, perhaps followed by {', '.join(filter(None, COMPRESSIONS))}"
        raise ElmbenchError(f"{path}: unknown kind of file", expected=expected, next_step="convert it, such as to CSV")
    return form


def _target(source: UserFile, path: Path, names: list[str]) -> str:
    if isinstance(source.target, int):
        return names[source.target]
    if not source.target:
        return next((name for name in TARGETS if name in names), names[-1])
    if source.target not in names:
        raise _no_column(path, source.target, names)
    return source.target


def _no_column(path: Path | str, name: str, names: list[str]) -> ElmbenchError:
    """Return the error for a missing column."""
    guess = closest(name, names)
    hint = f" (did you mean {guess!r}?)" if guess else ""
    shown = ", ".join(names[:12]) + (f", ... ({len(names)} columns)" if len(names) > 12 else "")
    return ElmbenchError(
        f"{path} has no column {name!r}{hint}",
        expected=f"one of {shown}",
        next_step="name a column of the file (--sep, --header and --no-header change how columns are read)",
    )


def _position(table: Table, name: str) -> int:
    if name not in table.names:
        raise _no_column(table.origin, name, list(table.names))
    return table.names.index(name)


def take_column(table: Table, name: str) -> tuple[Table, NDArray[Any]]:
    """Return a table without one of its columns, and that column as numbers or words."""
    position = _position(table, name)
    return table.columns(np.arange(len(table.names)) != position), table.column(position)


def sorted_by(table: Table, name: str, day_first: bool | None = None) -> tuple[Table, str]:
    """Sort the rows by a column of numbers or dates; return them without that column, and its first and last value.

    Raises ElmbenchError if values are missing, neither numbers nor dates, or ambiguous dates.
    """
    table, values = take_column(table, name)
    if any(value is None or value != value for value in values):
        problem = f"{table.origin}: the column {name!r}, which the rows are sorted by, has missing values"
        raise ElmbenchError(problem, expected="a value in every row", next_step="complete or remove these rows")
    if values.dtype == object:
        values = _dates_of(table, name, values, day_first)
        ends = span(values)
    else:
        ends = f"{values.min():.12g} to {values.max():.12g}"
    # Test rows remain below training rows.
    part = np.arange(len(values)) >= (len(values) if table.n_train is None else table.n_train)
    return table.taken(np.lexsort((values, part))), ends


def _dates_of(table: Table, name: str, words: NDArray[np.object_], day_first: bool | None) -> Dates:
    dates = read_dates(words, day_first, name)
    if dates is not None:
        return dates
    odd = next((word for word in words if read_dates([word], True) is None), words[0])
    raise ElmbenchError(
        f"{table.origin}: the column {name!r}, which the rows are sorted by, holds {odd!r}",
        expected="numbers, or dates in one format",
        next_step="write its values as YYYY-MM-DD, or as numbers that rise with time",
    )


def with_date_features(table: Table, names: Collection[str], day_first: bool | None = None) -> Table:
    """Return a table whose columns of dates are replaced by columns of numbers, such as `day.month`."""
    for name in names:
        table, words = take_column(table, name)
        dates = read_dates(words, day_first, name)
        if dates is None:
            problem = f"{table.origin}: the column {name!r} holds {next(filter(None, words), None)!r}"
            raise ElmbenchError(problem, expected="dates in one format", next_step="correct the file")
        features = features_of(dates)
        X = np.column_stack([table.X, *features.values()])
        table = replace(table, X=X, names=(*table.names, *(f"{name}.{part}" for part in features)))
    return table


def take_row_columns(table: Table, spec: Any) -> tuple[Table, dict[str, NDArray[Any]]]:
    """Return a table without its columns of groups, folds and weights, and these columns by the field of the spec.
    Raises ElmbenchError if a value is missing, or a weight is invalid.
    """
    columns = {}
    for field, read in (("groups", _group_numbers), ("fold", _fold_numbers), ("weights", _weights)):
        name = getattr(spec, field)
        if name is None:
            continue
        table, values = take_column(table, name)
        missing = sum(value is None or value != value for value in values)
        what = field.removesuffix("s")
        if missing:
            problem = f"{table.origin}: the {what} is missing in {missing} of {len(values)} rows"
            next_step = f"complete the column {name!r}, or remove these rows from the file"
            raise ElmbenchError(problem, expected=f"a {what} in every row", next_step=next_step)
        try:
            columns[field] = read(values)
        except ValueError as error:
            problem = f"{table.origin}: the column {name!r} holds {first_line(error)}"
            raise ElmbenchError(problem, expected="weights of 0 or more", next_step="correct the file") from error
    return table, columns


def _weights(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return the weights of rows; raise ValueError with the first invalid one."""
    odd = [value for value in values if isinstance(value, str) or not 0 <= value < np.inf]
    if odd or not any(values):
        raise ValueError(str(odd[0]) if odd else "no weight above 0")
    return values.astype(np.float64)


def _fold_numbers(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return the fold of each row, from 0 in the order of the values; -1 for rows that are always training rows."""
    words = label_words(values)
    folds = sorted(set(words) - {"-1"}, key=category_order)
    return np.array([-1 if word == "-1" else folds.index(word) for word in words], dtype=np.int64)


def _group_numbers(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return a number for each row, the same for rows of equal values."""
    words = np.array([str(word) for word in label_words(values)])
    return np.unique(words, return_inverse=True)[1].astype(np.int64)


def with_numbered_categories(table: Table) -> Table:
    """Return a table whose nominal columns hold the number of each category, NaN if missing."""
    if not table.nominal:
        return table
    X = np.array(table.X)
    for position, words in table.nominal.items():
        numbers = {word: float(i) for i, word in enumerate(sorted({word for word in words if word is not None}))}
        X[:, position] = [np.nan if word is None else numbers[word] for word in words]
    return replace(table, X=X)

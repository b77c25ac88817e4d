"""A user's file, as a source: its rows, and its special columns: the order, groups, folds, weights
and dates.
"""

import re
from collections import Counter, OrderedDict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from shlex import quote
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from pydantic import Field, PrivateAttr

from elmbench.datasets.part_files import COMPRESSIONS, FORMATS
from elmbench.datasets.parts import join_parts
from elmbench.datasets.preparation_steps import category_order
from elmbench.datasets.readers import form_of, read_table
from elmbench.datasets.sources.base import (
    Source,
    SourceRequest,
    State,
    hash_of,
    hashes_of,
)
from elmbench.datasets.table import (
    Table,
    are_codes,
    few,
    have_equal_digits,
    is_missing,
    is_placeholder,
    label_words,
    to_numbers,
)
from elmbench.datasets.user_files.dates import dates_in, read_dates, span
from elmbench.datasets.user_files.missing_words import (
    present_words,
    without_missing_words,
)
from elmbench.datasets.user_files.values import with_numbers
from elmbench.errors import ElmbenchError, closest, first_line, wording
from elmbench.specs.datasets import RowColumns
from elmbench.specs.datasets.source_registry import FileOptions

#: Names of the default target column; without these, it is the last one.
TARGETS = ("target", "class", "label", "y")
_OTHER_ENDINGS = {
    "tsv": "csv",
    "txt": "csv",
    "data": "csv",
    "libsvm": "svm",
    "svmlight": "svm",
    "pq": "parquet",
}
#: The name of a column in a file without a header.
_UNNAMED = re.compile(r"x\d+")
#: The tables of the last files that this process has described, by a hash of their sources, so that
#: they are not read again.
_described_tables: OrderedDict[str, Table] = OrderedDict()
#: The most tables that are kept.
_MOST_DESCRIBED = 4


class FileSource(Source, FileOptions):
    """A file of your own."""

    #: The kind of source.
    kind: Literal["file"]
    #: The file, relative to the YAML file that names it.
    path: str
    #: The name of the target column, or its position from 0 (-1: the last one). If it is empty: a
    #: column called target, class, label or y, else the last one.
    target: str | int = "target"
    #: The format of each column of dates, by name.
    dates: dict[str, str] = Field(default_factory=dict)
    #: The hashes of the file and of the test file; other contents are rejected.
    sha256: tuple[str, ...] = ()
    #: The file of the rows that processes share (see `elmbench.datasets.mapped_rows`), if there is
    #: one.
    _shared: Path | None = PrivateAttr(None)

    @property
    def title(self) -> str:
        """The name of the file, without its folder."""
        return Path(self.path).name

    def status(self, request: SourceRequest) -> tuple[State, str] | None:
        """Return "file" and its path; None if it does not exist."""
        return ("file", self.path) if Path(self.path).exists() else None

    def files(self, request: SourceRequest) -> tuple[Path, ...]:
        """Return the path of the file, and of the file of test rows if there is one."""
        return tuple(map(Path, filter(None, (self.path, self.test))))

    def checksum(self, request: SourceRequest) -> str:
        """Return a hash of the options and the files.

        Raises ElmbenchError if a file has changed since it was described.
        """
        hashes = hashes_of(self.files(request))
        if self.sha256 and self.sha256 != tuple(digest for _, digest in hashes):
            problem = f"{self.path} has changed since its rows were described"
            raise ElmbenchError(
                problem,
                expected="a file that stays as it is",
                next_step="run the command again",
            )
        return hash_of(
            [self.model_dump(mode="json"), [(str(path), sha) for path, sha in hashes]]
        )

    def load(self, request: SourceRequest) -> Table:
        """Return the rows of the file, with its columns of dates.

        It is the cached table if this process has described the file with these options; else the
        file is read again.
        """
        table = _described_tables.get(_hash_of_rows(self, request.spec))
        if table is not None:
            return table
        return with_dates(read_user_file(self, request.spec), self.dates)

    def share(self, path: Path) -> None:
        """Set `path` as the file with the prepared rows of this source, which processes share."""
        self._shared = path

    @property
    def shared(self) -> Path | None:
        """The file with the prepared rows of this source; None if there is none on this machine."""
        if self._shared is None or not self._shared.is_file():
            return None
        return self._shared


def keep_table(table: Table, source: FileSource, spec: RowColumns) -> None:
    """Cache the table of a source for `FileSource.load` in this process.

    Nothing is cached if the source has no hash of its file. The oldest of more than four tables is
    dropped. `spec`: the columns of groups, folds, weights and order.
    """
    if not source.sha256:
        return
    _described_tables[_hash_of_rows(source, spec)] = table
    if len(_described_tables) > _MOST_DESCRIBED:
        _described_tables.popitem(last=False)


def forget_table(source: FileSource, spec: RowColumns) -> None:
    """Free the memory of a table that `keep_table` has cached; do nothing if there is none.

    `spec`: the columns of groups, folds, weights and order, as for `keep_table`.
    """
    _described_tables.pop(_hash_of_rows(source, spec), None)


def _hash_of_rows(source: FileSource, spec: RowColumns) -> str:
    """Return a hash of what determines the rows of a source.

    These are its options, with the hash of its file, and the columns of groups, folds, weights and
    order in `spec`.
    """
    columns = spec.model_dump(mode="json", include=set(RowColumns.model_fields))
    return hash_of([source.model_dump(mode="json"), columns])


def read_user_file(
    source: FileSource,
    spec: RowColumns | None = None,
    features: Sequence[str] = (),
    has_target: bool = True,
    decimal: str = "",
    signs: Mapping[str, str] = MappingProxyType({}),
) -> Table:
    """Return the rows of a user's file, followed by the rows of `source.test` if there are any.

    Rows without a target are dropped if `source.drop_missing_target`. `spec`: the columns of
    groups, folds, weights and order, which are neither target nor dropped; they stay in the table.
    None: there are none. `features`: the only columns to take, in this order; by default all.
    Sparse rows keep all columns in any case. `has_target`: False for new rows. `decimal`: the
    decimal mark of the training rows, for a source that names none; a note then warns of numbers
    that the other mark reads differently. `signs`: {name of a column: the sign, such as $, of its
    numbers in the training rows}.

    Raises ElmbenchError if the file cannot be read or lacks a named column, or if two options name
    the same column.
    """
    is_assumed = bool(decimal) and not source.decimal
    if is_assumed:
        source = source.model_copy(update={"decimal": decimal})
    path = Path(source.path)
    if not path.is_file():
        problem = (
            f"{path} {'is not a regular file' if path.exists() else 'does not exist'}"
        )
        raise ElmbenchError(
            problem, expected="a file of rows", next_step="check the path"
        )
    path, form = _path_and_form(path)
    spec = spec or RowColumns()
    _check_options(source, spec)
    # Groups and folds keep their spelling.
    words = set(filter(None, (*source.words, *source.text, spec.groups, spec.fold)))
    table = read_table(
        path,
        partial(_choose_target, source, _special_columns(source, spec))
        if has_target
        else _no_target,
        form=form,
        layout=source.model_copy(update={"words": words}),
        sparse=True,
        has_target=has_target,
    )
    origin = wording("", "test" if features else getattr(spec, "title", ""))
    if origin:
        table = replace(table, origin=origin)
    if features and not sp.issparse(table.X):
        table = _only_features(table, features)
    check_columns(table, source.drop)
    table = table.drop_columns(source.drop)
    check_columns(table, {*source.words} - {table.target_name, *source.drop})
    check_columns(table, source.text)
    table = replace(table, text=frozenset(source.text))
    table = with_numbers(
        _with_codes(table), source.decimal, is_assumed=is_assumed, signs=signs
    )
    if source.drop_missing_target:
        table = _drop_missing_targets(table)
    return _append_test_part(table, source, spec) if source.test else table


def read_words(source: FileSource, names: Collection[str]) -> dict[str, NDArray[Any]]:
    """Return {name: values of shape (n,)} of the columns `names` of a user's file, in this order.

    Text keeps its spelling, without surrounding spaces; None is a missing value. Raises
    ElmbenchError if the file cannot be read or lacks a column.
    """
    path, form = _path_and_form(Path(source.path))
    table = read_table(
        path,
        _no_target,
        form=form,
        layout=source.model_copy(update={"words": {*names}}),
        sparse=True,
        has_target=False,
    )
    for name in names:
        if name not in table.index:
            error = _no_column(table.origin, name, table.names)
            error.next_step = "name a column of the file, or give --sep"
            raise error
    return {name: table.column(name) for name in names}


def _special_columns(source: FileSource, spec: RowColumns) -> tuple[str | None, ...]:
    """Return the names of the columns that are neither the target nor features.

    They are dropped ones, groups, folds, weights and order, with None for each that is not named.
    """
    return (*set(source.drop), spec.groups, spec.fold, spec.weights, spec.ordered_by)


def _check_options(source: FileSource, spec: RowColumns) -> None:
    """Raise ElmbenchError if two of the user's options name the same column.

    The options are target, dropped columns, groups, folds, weights and order. A column may be
    dropped twice, and a target that is given by its position is not compared.
    """
    uses: Counter[str | int | None] = Counter(
        [source.target, *_special_columns(source, spec)]
    )
    for column, times in uses.items():
        if times > 1 and column:
            problem = f"{times} options name the column {column!r}"
            raise ElmbenchError(
                problem,
                expected="one option for a column",
                next_step="correct one of them",
            )


def _no_target(names: list[str]) -> str:
    """Return "" for any names of columns: new rows have no target."""
    return ""


def _only_features(table: Table, features: Sequence[str]) -> Table:
    """Return the table of the columns `features`, in this order.

    Raises ElmbenchError if one is missing.
    """
    lacking = [name for name in features if name not in table.index]
    if lacking:
        n_lacking = f"{len(lacking)} of {len(features)} columns"
        raise ElmbenchError(
            f"{table.origin} lacks {n_lacking}: {few(lacking, 8)}",
            expected="those of the training rows",
            next_step=_step_for_lacking_columns(table, lacking, features),
        )
    return table.columns(features)


def _step_for_lacking_columns(
    table: Table, lacking: Sequence[str], features: Sequence[str]
) -> str:
    """Return the next step for rows that lack the columns `lacking`, some or all of `features`.

    If they lack all of them, and the fields of `table` have a separator, it may be a wrong one.
    """
    lacks_all = len(lacking) == len(features)
    if lacks_all and table.separator:
        return wording("add them, or give --sep", "add them")
    return "add them"


def _with_codes(table: Table) -> Table:
    """Return the table with columns of codes, such as 007, marked as categories, and with remarks.

    They are added to `words` and become `codes`. Words such as `unknown` become missing there.
    Columns that the user declares as words stay.
    """
    codes = [
        name
        for name, words in table.nominal.items()
        if name not in table.words and are_codes(words)
    ]
    if codes:
        remark = (
            f"codes with leading zeros are categories, not numbers: {few(codes, 8)}"
        )
        table = _without_missing_words(table, codes)
        table = table.add_remark(remark, *_remarks_on_placeholders(table, codes))
    return replace(table, words=table.words.union(codes), codes=frozenset(codes))


def _remarks_on_placeholders(table: Table, codes: Iterable[str]) -> Iterator[str]:
    """Yield a warning for each of the columns `codes` with numbers such as -999 among its codes."""
    for name in codes:
        words = present_words(table.nominal[name])
        if have_equal_digits(words):
            continue
        placeholders = [*map(repr, sorted(filter(is_placeholder, words)))]
        yield (
            f"warning: {name!r} holds {few(placeholders, 4)} beside codes with leading zeros, as a "
            "category like them: leave the field empty if the code is missing"
        )


def _without_missing_words(table: Table, names: Iterable[str]) -> Table:
    """Return the table with None for words such as `unknown` in the columns `names` of words."""
    columns = {name: without_missing_words(table.nominal[name]) for name in names}
    return replace(table, nominal=table.nominal | columns)


def _drop_missing_targets(table: Table) -> Table:
    """Return the table without rows that lack a target, and with a remark if there are any."""
    missing = is_missing(table.target)
    if not missing.any():
        return table
    with_target = table.rows(~missing)
    remark = f"rows without a target, left out: {missing.sum()} of {len(missing)}"
    return with_target.add_remark(remark)


def _path_and_form(path: Path) -> tuple[Path, str]:
    """Return a path and its format, such as csv, svm or xlsx, by its ending.

    The path is the given one if its ending names a known format, else that of the linked file.
    Raises ElmbenchError if neither does.
    """
    for name in (path, path.resolve()):
        form = form_of(name)
        form = _OTHER_ENDINGS.get(form, form)
        if form in (*FORMATS, "xlsx"):
            return name, form
    endings = ", ".join(f".{form}" for form in (*FORMATS, "xlsx", *_OTHER_ENDINGS))
    compressions = ", ".join(filter(None, COMPRESSIONS))
    raise ElmbenchError(
        f"{path}: unknown kind of file",
        expected=f"a name that ends in {endings}, perhaps followed by {compressions}",
        next_step="unpack or convert it, such as to CSV",
    )


def header_of(names: Collection[str]) -> bool | None:
    """Return True if columns of these names come from a header of a text file.

    None, which asks for detection, if all are x0, x1, ..., the names of columns without a header.
    """
    return None if all(_UNNAMED.fullmatch(name) for name in names) else True


def _append_test_part(train: Table, source: FileSource, spec: RowColumns) -> Table:
    """Return the training rows followed by the rows of the test file, `source.test`.

    It is read with the columns, kinds and decimal mark of the training rows. Of its notes, only the
    warnings stay. `positions` count from 0 in each file. Raises ElmbenchError if a column is
    missing, or one of numbers holds words there.
    """
    target = train.target_name or source.target
    header = source.header if source.header is not None else header_of(train.names)
    words = tuple(train.nominal)
    changes = {
        "path": source.test,
        "test": "",
        "target": target,
        "drop": (),
        "words": words,
        "header": header,
    }
    test = read_user_file(
        source.model_copy(update=changes),
        spec,
        train.names,
        decimal=train.decimal,
        signs=train.signs,
    )
    test = _without_missing_words(test, train.codes)
    if sp.issparse(test.X):  # whose last features may be zero in all rows
        test.X.resize(test.X.shape[0], train.X.shape[1])
        test = replace(test, names=train.names)
    for name in [name for name in test.nominal if name not in train.nominal]:
        numbers = to_numbers(test.nominal[name])  # only the test rows look like codes
        if numbers is None:
            word = next(filter(None, test.nominal[name]), None)
            problem = f"{test.origin}: the column {name!r} holds {word!r}"
            next_step = wording(
                f"--words {quote(name)}, or --drop it",
                "astype('category'), or leave it out",
            )
            raise ElmbenchError(
                problem, expected=f"numbers, as in {train.origin}", next_step=next_step
            )
        test = test.with_numbers({name: numbers})
    rows = [
        np.arange(len(part.target)) if part.positions is None else part.positions
        for part in (train, test)
    ]
    joined = replace(join_parts(train, test), positions=np.concatenate(rows))
    return joined.add_remark(*test.warnings)


def _choose_target(
    source: FileSource, used: Collection[str | None], names: list[str]
) -> str:
    """Return the name of the target among the `names` of the columns.

    It is the user's choice, a name or position, else the first of `TARGETS` or the last column that
    is not in `used`; if all are in `used`, they all count. Raises ElmbenchError if the named column
    does not exist, and IndexError if there is none at the position.
    """
    target = source.target
    if isinstance(target, int):
        return names[target]
    if not target:
        free = [name for name in names if name not in used] or names
        usual = [name for name in TARGETS if name in free]
        return usual[0] if usual else free[-1]
    if target not in names:
        path = str(Path(source.path))
        raise _no_column(path, target, names)
    return target


def _no_column(origin: str, name: str, names: Sequence[str]) -> ElmbenchError:
    """Return the error for a column `name` that a file, `origin`, lacks.

    `names`: the columns of the file. It suggests the most similar of them, or one option for each
    of several names that commas separate.
    """
    parts = [part.strip() for part in name.split(",")]
    steps = "name a column, remove lines above the header, or give --sep, --header or --no-header"
    next_step = (
        f"give the option once for each of {', '.join(parts)}"
        if {*parts} <= {*names}
        else steps
    )
    guess = closest(name, list(names))
    hint = f" (did you mean {guess!r}?)" if guess else ""
    return ElmbenchError(
        f"{origin} has no column {name!r}{hint}",
        expected=f"one of {few(names, 12)}"
        + (f" ({len(names)} columns)" if len(names) > 12 else ""),
        next_step=next_step,
    )


def check_columns(table: Table, names: Iterable[str]) -> None:
    """Raise ElmbenchError if a table lacks a feature with one of these names."""
    for name in names:
        if name not in table.index:
            raise _no_column(table.origin, name, table.names)


def _take_column(table: Table, name: str) -> tuple[Table, NDArray[Any]]:
    """Return the table without the column `name`, and the values of this column, of shape (n,).

    Raises ElmbenchError if there is none.
    """
    check_columns(table, [name])
    return table.drop_columns([name]), table.column(name)


def _sort_by_column(
    table: Table, name: str, day_first: bool | None
) -> tuple[Table, NDArray[np.int64], str]:
    """Sort the rows of each part by the column `name` of numbers or dates.

    Equal values keep their order. Returns the sorted table without that column; a number from 0 for
    each sorted row that rises with its value there, the same for equal values, in both parts; and
    the first and last value of all rows as 'FIRST to LAST'. `day_first`: True if 1/2/2023 is in
    February, False if in January; used only if no value decides. None: ElmbenchError is then
    raised. Raises ElmbenchError if a value is missing or neither a number nor a date.
    """
    table, values = _take_column(table, name)
    title = f"{table.origin}: the column {name!r}, which the rows are sorted by,"
    values = values.astype(np.float64) if are_codes(values) else values
    if (
        values.dtype == object
        and (dates := read_dates(values, day_first, name)) is not None
    ):
        values = dates
    if is_missing(values).any():
        next_step = "complete or remove these rows"
        raise ElmbenchError(
            f"{title} has missing values",
            expected="a value in every row",
            next_step=next_step,
        )
    if values.dtype == object:
        problem = (
            f"{title} holds "
            f"{next((word for word in values if read_dates([word], True) is None), values[0])!r}"
        )
        next_step = "write its values as YYYY-MM-DD, or as numbers that rise with time"
        raise ElmbenchError(
            problem, expected="numbers, or dates in one format", next_step=next_step
        )
    ends = (
        span(values)
        if values.dtype.kind == "M"
        else f"{values.min():.12g} to {values.max():.12g}"
    )
    # Test rows remain below training rows.
    part = np.arange(len(values)) >= (
        len(values) if table.n_train is None else table.n_train
    )
    order = np.lexsort((values, part))
    times = np.unique(values[order], return_inverse=True)[1].astype(np.int64)
    return table.rows(order), times, ends


def with_dates(table: Table, formats: Mapping[str, str]) -> Table:
    """Return the table with the columns of `formats` marked as dates.

    `formats`: {name: format of the dates}. Their words stay, missing ones become None. Columns of
    dates that it does not name are dates no longer. Raises ElmbenchError if a word is not a date in
    the format of its column.
    """
    if not formats and not table.dates:
        return table
    check_columns(table, formats)
    for name, form in formats.items():
        try:
            dates_in(table.column(name), form)
        except ValueError as error:
            raise ElmbenchError(
                f"{table.origin}: the column {name!r}: {first_line(error)}",
                expected=f"dates in the format {form}",
                next_step="correct the data",
            ) from error
    return replace(_without_missing_words(table, formats), dates=dict(formats))


def take_row_columns(
    table: Table, spec: RowColumns
) -> tuple[Table, dict[str, Any], str]:
    """Return a table without the columns that are not features, these columns, and a range.

    The rows are sorted by the column of their order. The columns are {field of `Dataset`: array of
    shape (n,)} with those of `times`, `groups`, `folds` and `weights` that are named. Times and
    groups are numbers, the same for rows of equal values. Folds are numbered from 0 in the order of
    their values; -1 marks rows that are always training rows. The range is 'FIRST to LAST' of the
    order; empty without one.

    Raises ElmbenchError if one of these columns is absent or has missing values.
    """
    ends = ""
    columns: dict[str, Any] = {}
    if spec.ordered_by is not None:
        table, columns["times"], ends = _sort_by_column(
            table, spec.ordered_by, spec.day_first
        )
    named = {"groups": spec.groups, "folds": spec.fold, "weights": spec.weights}
    numbers_of = {"groups": _numbers_of_groups, "folds": _numbers_of_folds}
    for field, name in named.items():
        if name is None:
            continue
        table, values = _take_column(table, name)
        missing = is_missing(values)
        what = field.removesuffix("s")
        if missing.any():
            share = f"{missing.sum()} of {len(values)} rows"
            raise ElmbenchError(
                f"{table.origin}: the {what} is missing in {share}",
                expected=f"a {what} in every row",
                next_step=f"complete the column {name!r}, or remove these rows",
            )
        if field == "weights":
            columns[field] = _checked_weights(
                values, f"{table.origin}: the column {name!r}"
            )
        else:
            columns[field] = numbers_of[field](label_words(values))
    return table, columns, ends


def _numbers_of_groups(words: NDArray[np.object_]) -> NDArray[np.int64]:
    """Return the number of each row's group, of shape (n,), from 0.

    Groups are numbered in alphabetical order. `words`: the group of each row, none missing.
    """
    return np.unique(words.astype(str), return_inverse=True)[1].astype(np.int64)


def _numbers_of_folds(words: NDArray[np.object_]) -> NDArray[np.int64]:
    """Return the number of each row's fold, from 0: numbers ascending, then names.

    -1 for the word '-1', which marks rows that are always training rows.
    """
    folds = sorted(set(words) - {"-1"}, key=category_order)
    numbers = {fold: number for number, fold in enumerate(folds)}
    return np.array([numbers.get(word, -1) for word in words], dtype=np.int64)


def _checked_weights(values: NDArray[Any], origin: str) -> NDArray[np.float64]:
    """Return the weights of rows as floats, of shape (n,).

    Raises ElmbenchError, which begins with `origin`, unless they are finite, not negative and not
    all 0. `values`: floats or words; codes such as 07 count as numbers.
    """
    if are_codes(values):
        values = values.astype(np.float64)
    refused = [
        value for value in values if isinstance(value, str) or not 0 <= value < np.inf
    ]
    if refused or not any(values):
        raise ElmbenchError(
            f"{origin} holds {refused[0] if refused else 'no weight above 0'}",
            expected="weights of 0 or more",
            next_step="correct the data",
        )
    return values.astype(np.float64)

"""The description of a user's data: their spec, the detected settings and the warnings."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from elmbench.datasets.advice import split_warnings, warnings_of
from elmbench.datasets.dataset import TEXT_FEATURES
from elmbench.datasets.faults import (
    MOST_DIFFERENT,
    DescribedRows,
    first_fault,
    missing_columns,
    stays_sparse,
)
from elmbench.datasets.preparation_steps import category_order
from elmbench.datasets.sources.base import hashes_of
from elmbench.datasets.sources.file import (
    FileSource,
    keep_table,
    read_user_file,
    take_row_columns,
    with_dates,
)
from elmbench.datasets.table import Table, few, is_missing, label_word, to_numbers
from elmbench.datasets.user_data import LocalFile, UserData, local_file, name_of
from elmbench.datasets.user_files.dates import date_format, dates_in
from elmbench.datasets.user_files.number_text import looks_numeric, number_with_unit
from elmbench.errors import ElmbenchError, shortened, wording
from elmbench.specs.datasets import DatasetSpec, LearningTask, RowColumns, Shape
from elmbench.specs.datasets.source_registry import FileOptions

#: A target of whole numbers holds labels if it has at most this many distinct ones.
MOST_CLASSES = 20
#: The first values of a column, which often decide.
_HEAD = 1000
#: The reasons to leave out a column.
_EMPTY = "all values are missing"
_UNITS = "the numbers have a unit (write plain numbers to keep them)"
_NAMES = "most of the words are different"
#: A column of at most this many words is never left out as names.
_FEW_WORDS = 20
#: Texts have this many words on average; names have fewer.
_WORDS_OF_TEXT = 3
#: The most columns that a note names.
_SHOWN = 8


def describe(request: UserData) -> DatasetSpec:
    """Return the spec of a user's data; its notes list the detected settings and warnings.

    A named data set that is not cached is fetched. The table that was read is kept for the runs of
    this process. Raises ElmbenchError if the data cannot be read or used.
    """
    file = local_file(request.location, request.target)
    title = request.title or file.title
    source = _source_of(request, file)
    hashes = tuple(digest for _, digest in hashes_of(map(Path, _paths(source))))
    read = read_user_file(source, request)
    full, columns, ends = take_row_columns(read, request)
    dates = _date_formats(full, request)
    left_out = _columns_to_leave_out(full, dates)
    names_left_out = [name for group in left_out.values() for name in group]
    raw = full.drop_columns(names_left_out)
    task = request.task or _task_of(raw)
    table = with_dates(raw, dates)
    single_dates = [name for name in dates if _is_single_date(table, name)]
    table = table.drop_columns(single_dates)
    classes = _classes_of(table, task)
    labels = list(classes)
    rows = DescribedRows(
        table=table, request=request, task=task, labels=labels, left_out=left_out
    )
    _, _, part = full.origin.partition(source.path)
    _check_rows(rows, f"{title}{part}")
    shape = _shape_of(table, classes)
    positive: tuple[str, ...] = ()
    if len(labels) == 2:
        positive = (label_word(request.positive) or _default_positive(shape),)
    settings = [
        *_target_settings(rows, positive),
        *_row_settings(full, columns, ends, request),
        *_feature_settings(full, table, left_out),
    ]
    about_columns = warnings_of(
        raw,
        task,
        grouped=request.groups is not None,
        dates={*dates, *raw.text},
        is_guessed=not request.task and file.target == "",
        left_out=map(full.column, names_left_out),
    )
    warnings = [*_row_warnings(full, columns, request), *about_columns]
    described_source = source.model_copy(
        update={
            "target": table.target_name or file.target,
            "drop": (*request.drop, *names_left_out, *single_dates),
            "dates": dict(table.dates),
            "sha256": hashes,
        }
    )
    kept = with_dates(read.drop_columns({*names_left_out, *single_dates}), table.dates)
    keep_table(kept, described_source, request)
    return DatasetSpec(
        **request.model_dump(include=set(RowColumns.model_fields)),
        name=name_of(request.location),
        title=title,
        task=task,
        positive=positive,
        shape=shape,
        sparse=stays_sparse(table),
        by_fold=bool(table.nominal or missing_columns(table)),
        sources=(described_source,),
        citation="the user's own data",
        notes=(
            "; ".join(settings),
            *table.notes,
            *(f"{name} has a single date and is left out" for name in single_dates),
            *(f"warning: {text}" for text in warnings),
        ),
    )


def _check_rows(rows: DescribedRows, title: str) -> None:
    """Raise ElmbenchError if a user's rows cannot be used, for the first reason.

    `title`: of the data in the message, with the sheet or the file of held-out rows.
    """
    fault = first_fault(rows)
    if fault is not None:
        problem = f"{title}{fault.problem}"
        raise ElmbenchError(problem, expected=fault.expected, next_step=fault.next_step)


def _shape_of(table: Table, classes: dict[str, int | None]) -> Shape:
    """Return the counts of rows, features and labels, and the sizes of the given parts.

    `classes`: {label: number of rows}, empty for a regression. Without given parts, `split` is
    None.
    """
    n_rows, n_columns = table.X.shape
    split = None
    if table.n_train is not None:
        split = (table.n_train, n_rows - table.n_train)
    return Shape(
        instances=n_rows, features=n_columns, classes=classes or None, split=split
    )


def _source_of(request: UserData, file: LocalFile) -> FileSource:
    """Return the request as the source of its file.

    Fetches the held-out rows if they are a named data set that is not cached.
    """
    options = request.model_dump(include=set(FileOptions.model_fields))
    if request.test:
        options["test"] = str(local_file(request.test).path)
    return FileSource(kind="file", path=str(file.path), target=file.target, **options)


def _paths(source: FileSource) -> Iterator[str]:
    """Yield the path of a source, and of its file of test rows if there is one."""
    yield source.path
    if source.test:
        yield source.test


def _date_formats(table: Table, request: UserData) -> dict[str, str]:
    """Return {name: format} of the columns of words that hold dates alone, beside missing values.

    The format is in the notation of pandas, or "ISO8601". Digits alone, such as 2023, are not
    dates, and columns in `table.words` or `table.text` are not examined. If all values of a column
    are such as 1/2/2023, the setting `day_first` of `request` decides: True for 1 February, False
    for 2 January. Raises ElmbenchError if it is None or does not decide.
    """
    formats = {}
    for name, words in table.nominal.items():
        if name in table.words or name in table.text:
            continue
        form = date_format(words, request.day_first, name)
        if form is not None:
            formats[name] = form
    return formats


def _is_single_date(table: Table, name: str) -> bool:
    """Return True if all dates of a column are equal; missing ones do not count. False without any.

    `name`: a column of the table that has a format of dates.
    """
    dates = dates_in(table.nominal[name], table.dates[name])
    return len(np.unique(dates[~np.isnat(dates)])) == 1


def _columns_to_leave_out(table: Table, dates: Collection[str]) -> dict[str, list[str]]:
    """Return {reason in words: names of the columns that cannot be features}; lists may be empty.

    They are columns without values, columns of names, columns of different numbers with a unit, and
    columns of text that the user has not declared. Columns of numbers, of dates (named in `dates`)
    and of declared text stay unless they are empty. Sparse rows keep all columns.
    """
    text_reason = (
        f"text ({wording('--text COLUMN', 'text=[...]')} makes features of its words)"
    )
    reasons: dict[str, list[str]] = {
        _EMPTY: [],
        text_reason: [],
        _UNITS: [],
        _NAMES: [],
    }
    if sp.issparse(table.X):
        return reasons
    for name in table.names:
        values = table.column(name)
        if _is_empty(values):
            reasons[_EMPTY].append(name)
        elif name not in table.nominal or name in dates or name in table.text:
            continue
        elif _are_names(values):
            reason = text_reason if _are_texts(values[~is_missing(values)]) else _NAMES
            if number_with_unit(values):
                reason = _UNITS
            reasons[reason].append(name)
    return reasons


def _is_empty(values: NDArray[Any]) -> bool:
    """Return True if all values of a column are missing."""
    head = values[:_HEAD]
    return bool(is_missing(head).all() and is_missing(values).all())


def _are_names(values: NDArray[Any]) -> bool:
    """Return True if the words of a column look like names, such as those of persons.

    It must have more than 20 words, and more than half of them must be distinct. `values`: a word
    for each row; missing ones (None or NaN) do not count.
    """
    if len(set(values)) <= MOST_DIFFERENT * _FEW_WORDS:
        return False
    words = values[~is_missing(values)]
    n_distinct = len(set(words))
    return len(words) > _FEW_WORDS and n_distinct > MOST_DIFFERENT * len(words)


def _are_texts(values: NDArray[Any]) -> bool:
    """Return True if the texts `values` of a column, none missing, have three words or more on
    average.
    """
    n_words = sum(len(value.split()) for value in values)
    return n_words >= _WORDS_OF_TEXT * len(values)


def _task_of(table: Table) -> LearningTask:
    """Return the task that is detected from the values of a target.

    Classification for words, and for whole numbers with at most 20 distinct ones and at most a
    third as many as rows. Otherwise, and if a number is missing, regression.
    """
    values = to_numbers(table.target)
    if values is None:
        return "classification"
    are_whole = np.isfinite(values) & (values == np.round(values))
    if not are_whole.all():
        return "regression"
    n_labels = len(set(table.labels))
    most_labels = min(MOST_CLASSES, len(values) // 3)
    return "classification" if n_labels <= most_labels else "regression"


def _classes_of(table: Table, task: LearningTask) -> dict[str, int | None]:
    """Return {label: number of rows}, numbers in ascending order and then words.

    Empty for a regression. Rows without a target do not count. `task`: "regression" or
    "classification".
    """
    if task != "classification":
        return {}
    counts = Counter(table.labels)
    labels = sorted(counts.keys() - {None}, key=category_order)
    return {label: counts[label] for label in labels}


def _default_positive(shape: Shape) -> str:
    """Return the label of the smaller of two classes if it is rare, else the last label.

    `shape`: has both labels with their numbers of rows. Rare: at most a fifth of an average class.
    """
    if shape.has_rare_class:
        return min(shape.labels, key=lambda label: shape.count([label]) or 0)
    return shape.labels[-1]


def _origin_of_task(rows: DescribedRows) -> str:
    """Return a text on how the task was chosen.

    It names the option for a regression if more than two classes are numbers.
    """
    if rows.request.task:
        return "as given"
    are_numbers = len(rows.labels) > 2 and all(map(looks_numeric, rows.labels))
    if not are_numbers:
        return "detected by its values"
    regression = wording("--task regression", "task='regression'")
    return f"detected by its values; {regression} if their order counts"


def _target_settings(rows: DescribedRows, positive: Sequence[str]) -> Iterator[str]:
    """Yield texts that name the task with its target, and the positive class if there is one.

    `positive`: the label of the positive class as the only item, or empty.
    """
    name = rows.table.target_name
    target = f"the column {name!r}" if name else "the target"
    kind = (
        f"classification, {len(rows.labels)} classes" if rows.labels else "regression"
    )
    yield f"{kind} of {target} ({_origin_of_task(rows)})"
    for label in positive:
        setting = f"the positive class is {label}"
        if not rows.request.positive and label != rows.labels[-1]:
            setting += f", the rare one ({wording('--positive', 'positive=...')} names another)"
        yield setting


def _row_settings(
    table: Table, columns: Mapping[str, NDArray[Any]], ends: str, request: UserData
) -> Iterator[str]:
    """Yield texts on how rows are ordered, split and weighted; none if they are not.

    `columns`: {`groups`, `times`, `folds` or `weights`: values of shape (n,)}, as
    `take_row_columns` returns them. `ends`: the first and last value of the order as 'FIRST to
    LAST', empty if rows are not ordered. `request`: has the user's names of the columns.
    """
    if ends:
        yield f"sorted by {request.ordered_by}, {ends}"
    if table.n_train is not None:
        file = wording(f" of {Path(request.test).name}", "")
        yield f"{len(table.target) - table.n_train} held-out rows{file}"
    if "folds" in columns:
        yield f"{_n_folds(columns)} outer folds, of the column {request.fold}"
    if request.weights is not None:
        yield f"fits are weighted by {request.weights}, metrics are not"


def _row_warnings(
    table: Table, columns: Mapping[str, NDArray[Any]], request: UserData
) -> Iterator[str]:
    """Yield warnings about the user's folds, groups, times and held-out rows.

    `columns`: {`groups`, `times`, `folds` or `weights`: values of shape (n,)}, as
    `take_row_columns` returns them; any key may be absent. Groups and times are not compared with
    held-out rows that a program gives. `request`: has the user's names of the columns.
    """
    n_rows = len(table.target)
    if "folds" in columns and 2 * _n_folds(columns) > n_rows:
        problem = f"{request.fold!r} makes {_n_folds(columns)} folds of {n_rows} rows"
        next_step = "name a column of few different values, unless each row is to be left out once"
        yield f"{problem}: {next_step}"
    # A program gives no groups and times of its held-out rows.
    if table.n_train is None or wording("shell", ""):
        yield from split_warnings(columns, table.n_train, request)


def _n_folds(columns: Mapping[str, NDArray[Any]]) -> int:
    """Return the number of outer folds: the largest value of `columns["folds"]`, plus 1."""
    return int(columns["folds"].max()) + 1


def _feature_settings(
    full: Table, table: Table, left_out: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """Yield texts on how columns become features.

    `full`: the table with the columns that are left out; `table`: without them. `left_out`:
    {reason in words: names of the columns left out}.
    """
    words = [name for name in table.nominal if name not in {*table.dates, *table.text}]
    if words:
        yield f"categories, one-hot encoded on each training part: {few(words, _SHOWN)}"
    if table.text:
        texts = few([name for name in table.names if name in table.text], _SHOWN)
        yield f"text, its hashed words reduced to at most {TEXT_FEATURES} features: {texts}"
    if table.dates:
        dates = ", ".join(table.dates)
        yield f"dates, replaced by their parts and the days since the first: {dates}"
    for reason, names_left_out in left_out.items():
        if names_left_out:
            shown = [_with_example(full, name) for name in names_left_out]
            yield f"left out, as {reason}: {few(shown, _SHOWN)}"
    missing = missing_columns(table)
    if missing:
        refusal = wording("--no-impute", "impute=False")
        columns = few(missing, _SHOWN)
        yield f"missing values, imputed from the training rows ({refusal} rejects them): {columns}"


def _with_example(table: Table, name: str) -> str:
    """Return the name of a column and its first word that is not a number, as 'NAME (WORD)'.

    A long word is shortened. The name alone for a column without such a word.
    """
    for word in table.nominal.get(name, ()):
        if word and not looks_numeric(word):
            return f"{name} ({shortened(word)})"
    return name

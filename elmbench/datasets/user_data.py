"""A user's data: a path, data of OpenML or scikit-learn in the cache, or arrays of a program; and
their spec.
"""

import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from shlex import quote
from typing import Any
from unicodedata import normalize
from zlib import crc32

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from elmbench.datasets.advice import split_warnings, warnings_of
from elmbench.datasets.prepare import category_order
from elmbench.datasets.sources.base import fetch_job, hashes_of
from elmbench.datasets.sources.file import (
    FileSource,
    expand_dates,
    read_user_file,
    take_row_columns,
)
from elmbench.datasets.sources.openml import OpenMLSource
from elmbench.datasets.table import (
    Table,
    few,
    is_missing,
    is_number,
    label_word,
    label_words,
    to_frame,
    to_numbers,
)
from elmbench.datasets.values import looks_numeric, read_dates
from elmbench.errors import ElmbenchError, amount, option, unknown_name, wording
from elmbench.files import cache_folder, replace_file
from elmbench.numerics.arrays import LARGEST
from elmbench.specs.datasets import DatasetSpec, RowColumns, Shape
from elmbench.specs.datasets.sources import FileOptions
from elmbench.specs.protocol import Task

#: A target of whole numbers holds labels if it has at most this many distinct ones.
MOST_CLASSES = 20
#: Words are names, neither categories nor classes, if more than this share of them are distinct.
MOST_DIFFERENT = 0.5
#: The reasons to leave out a column.
_EMPTY = "all values are missing"
_NAMES = "most of the words are different (write quantities as plain numbers to keep them)"
#: Sparse rows become dense if they have at most this many values, zeros included.
DENSE_VALUES = 2e7
#: Longest name of a data set, in characters: three of them are the name of a folder.
_LONGEST_NAME = 60
#: More digits are no number of a data set, and perhaps too many for Python.
_OPENML_ID = re.compile(r"\d{1,18}", re.ASCII)
_ENDING = re.compile(
    r"(\.(csv|tsv|txt|xlsx|svm|libsvm|svmlight|arff|npz|parquet|pq))?(\.(gz|bz2|xz))?$", re.I
)


class UserData(FileOptions, RowColumns):
    """A user's data, and the options that were given for them.

    `location`: a path, `openml:ID` or `sklearn:NAME`. `target`: name or position of the target
    column; detected if empty. `task`: None to detect it from the target. `impute`: impute missing
    values. `positive`: the label of the positive class, for metrics such as precision; by default,
    the last one. `title`: by default, the location.
    """

    location: str
    title: str = ""
    target: str | int = ""
    task: Task | None = None
    impute: bool = False
    positive: str = ""

    def __init__(
        self, location: str, target: str | int = "", task: Task | None = None, **options: Any
    ) -> None:
        super().__init__(**options | {"location": location, "target": target, "task": task})


def describe(request: UserData) -> DatasetSpec:
    """Return the spec of a user's data; its notes list the detected settings and warnings.

    Raises ElmbenchError if the data cannot be read or used.
    """
    path, title, target = local_file(request.location, request.target)
    title = request.title or title
    options = request.model_dump(include=set(FileOptions.model_fields))
    if request.test:
        options["test"] = str(local_file(request.test)[0])
    source = FileSource(kind="file", path=str(path), target=target, **options)
    files = filter(None, (source.path, source.test))
    hashes = tuple(digest for _, digest in hashes_of(map(Path, files)))
    full, columns, ends = take_row_columns(read_user_file(source, request), request)
    settings = [f"sorted by {request.ordered_by}, {ends}"] if ends else []
    if full.n_train is not None:
        file = wording(f" of {Path(request.test).name}", "")
        settings.append(f"{len(full.target) - full.n_train} held-out rows{file}")
    warnings: list[str] = []
    if "folds" in columns:
        n_folds = int(columns["folds"].max()) + 1
        settings.append(f"{n_folds} outer folds, of the column {request.fold}")
        if 2 * n_folds > len(full.target):
            rows = f"{request.fold!r} makes {n_folds} folds of {len(full.target)} rows"
            warnings.append(
                f"{rows}: name a column of few different values, unless each row is to be left out "
                "once"
            )
    # A program gives no groups and times of its held-out rows.
    if full.n_train is None or wording("shell", ""):
        warnings += split_warnings(columns, full.n_train, request)
    if request.weights is not None:
        settings.append(f"fits are weighted by {request.weights}, metrics are not")
    dates = tuple(
        name
        for name, words in full.nominal.items()
        if name not in full.words and read_dates(words, request.day_first, name) is not None
    )
    left_out = _left_out(full, dates)
    names = [name for group in left_out.values() for name in group]
    raw = full.drop_columns(names)
    task = request.task or _task_of(raw)
    table = expand_dates(raw, dates, request.day_first)
    counts = Counter(label_words(table.target)) if task == "classification" else Counter()
    labels = sorted(counts.keys() - {None}, key=category_order)
    for problem, expected, next_step in _faults(table, request, task, labels, left_out):
        others = full.origin.partition(str(path))[2]  # a sheet, or a file of held-out rows
        raise ElmbenchError(f"{title}{others}{problem}", expected=expected, next_step=next_step)
    positive = ((label_word(request.positive) or labels[-1]),) if len(labels) == 2 else ()
    column = f"the column {table.target_name!r}" if table.target_name else "the target"
    kind = f"classification, {len(labels)} classes" if labels else "regression"
    detected = [f"{kind} of {column} ({'as given' if request.task else 'detected by its values'})"]
    detected += [f"the positive class is {label}" for label in positive]
    if table.nominal:
        settings.append(f"words, encoded on each training part: {few([*table.nominal], 8)}")
    if dates:
        settings.append(
            f"dates, replaced by their parts and the days since the first: {', '.join(dates)}"
        )
    examples = {
        name: next((word for word in words if word and not looks_numeric(word)), "")
        for name, words in full.nominal.items()
    }
    for reason, group in left_out.items():
        listing = few(
            [f"{name} ({examples[name]})" if examples.get(name) else name for name in group], 8
        )
        settings += [f"left out, as {reason}: {listing}"] if group else []
    missing = _missing_columns(table)
    if missing:
        settings.append(f"missing values, filled in on each training part: {few(missing, 8)}")
    n, d = table.X.shape
    is_guessed = not request.task and target == ""
    warnings += warnings_of(raw, task, request.groups is not None, dates, is_guessed)
    changes = {
        "target": table.target_name or target,
        "drop": (*request.drop, *names),
        "dates": dates,
        "sha256": hashes,
    }
    return DatasetSpec(
        **request.model_dump(include=set(RowColumns.model_fields)),
        name=name_of(request.location),
        title=title,
        task=task,
        positive=positive,
        shape=Shape(
            instances=n,
            features=d,
            classes={label: counts[label] for label in labels} or None,
            split=None if table.n_train is None else (table.n_train, n - table.n_train),
        ),
        sparse=sp.issparse(table.X) and n * d > DENSE_VALUES,
        by_fold=bool(table.nominal or missing),
        sources=(source.model_copy(update=changes),),
        citation="the user's own data",
        notes=(
            "; ".join([*detected, *settings]),
            *table.notes,
            *(f"warning: {text}" for text in warnings),
        ),
    )


def _left_out(table: Table, dates: Collection[str]) -> dict[str, list[str]]:
    """Return the columns that cannot be features, by the reason."""
    reasons: dict[str, list[str]] = {_EMPTY: [], _NAMES: []}
    for name in () if sp.issparse(table.X) else table.names:
        values = table.column(name)
        are_words = name in table.nominal and name not in dates
        present = values[~is_missing(values)]
        if not len(present):
            reasons[_EMPTY].append(name)
        elif are_words and len(present) > 20 and len({*present}) > MOST_DIFFERENT * len(present):
            reasons[_NAMES].append(name)
    return reasons


def _missing_values(table: Table) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the row and the column of each missing value."""
    if not sp.issparse(table.X):
        rows, columns = np.nonzero(table.missing())
        return rows, columns
    X = table.X.tocoo()
    missing = np.isnan(X.data)
    return X.row[missing].astype(np.intp), X.col[missing].astype(np.intp)


def _missing_columns(table: Table) -> list[str]:
    return [table.names[position] for position in np.unique(_missing_values(table)[1])]


def _task_of(table: Table) -> Task:
    """Return the task of a target: classification for words and for few different whole numbers."""
    values = to_numbers(table.target)
    if values is None:
        return "classification"
    n_labels = len(set(label_words(table.target)))
    whole = bool((np.isfinite(values) & (values == np.round(values))).all())
    return (
        "classification"
        if whole and n_labels <= min(MOST_CLASSES, len(values) // 3)
        else "regression"
    )


def _faults(
    table: Table,
    request: UserData,
    task: Task,
    labels: Sequence[str],
    left_out: Mapping[str, Sequence[str]],
) -> Iterator[tuple[str, str, str]]:
    """Yield the reasons to refuse the rows: what is wrong with them, the expectation and the next
    step.
    """
    n, d = table.X.shape
    another = wording("name another column with --target", "give another y")
    if n < 20:
        yield f" has {n} rows", "20 rows or more", "add rows"
    for reason, names in left_out.items():
        if names and not d:
            problem = f": no column is left: of {', '.join(names)} {reason}"
            yield problem, "a column of numbers or categories", "correct the data"
    if d < 1:
        next_step = wording("add columns, or name the separator of a text by --sep", "add columns")
        yield (
            f" has {n} rows of {d} features",
            "a feature",
            "leave fewer columns out" if request.drop else next_step,
        )
    n_missing = is_missing(table.target).sum()
    if n_missing:
        column = f" {table.target_name!r}" if table.target_name else ""
        problem = f": the target{column} is missing in {n_missing} of {n} rows"
        next_step = "--drop-missing-target skips them" if 2 * n_missing < n else another
        yield problem, "a target in every row", next_step
    huge = (abs(table.X) > LARGEST).nonzero()[1]
    if len(huge):
        column = table.names[huge.min()]
        problem = f": a value in the column {column!r} is infinite or too large to be squared"
        next_step = (
            f"correct the data, or {wording(f'--drop {quote(column)}', 'leave the column out')}"
        )
        yield problem, f"magnitudes up to {LARGEST:g}", next_step
    rows, positions = _missing_values(table)
    stays_sparse = sp.issparse(table.X) and n * d > DENSE_VALUES
    if len(rows) and (stays_sparse or not request.impute):
        counts = f"{amount(len(rows), 'missing value')} in {amount(len({*rows}), 'row')}"
        columns = few([table.names[position] for position in np.unique(positions)], 5)
        impute = wording("--impute", "impute=True")
        next_step = (
            f"{impute} replaces them, by the rows of each training part, or correct the data"
        )
        if stays_sparse:
            next_step = "correct the data: sparse rows of this size are not imputed"
        yield f": {counts} ({columns})", "a value in every field", next_step
    if task == "classification" and len(labels) < 2:
        problem = f": every row has the target {labels[0] if labels else None!r}"
        yield problem, "two classes or more", another
    if not request.task and len(labels) > MOST_DIFFERENT * n:
        problem = (
            f": the target has {len(labels)} different labels in {n} rows, such as {labels[0]!r}"
        )
        yield problem, "classes of several rows, or numbers", f"write plain numbers, or {another}"
    targets = to_numbers(table.target) if task == "regression" else None
    if targets is not None:
        with np.errstate(over="ignore", invalid="ignore"):
            varies = np.ptp(targets) > 0 and 0 < targets.var() < np.inf
        if not varies:
            problem = (
                ": the target is constant, infinite, too large or too small, such as "
                f"{targets[0]:g}"
            )
            yield problem, "finite numbers that differ", another
    if task == "regression" and targets is None:
        words = [
            word for word in label_words(table.target) if word is not None and not is_number(word)
        ]
        next_step = f"leave {option('task')} out, or {another}"
        yield (
            f": the target of a regression holds {min(words, key=looks_numeric)!r}",
            "numbers",
            next_step,
        )
    positive = label_word(request.positive)
    if positive and (len(labels) != 2 or positive not in labels):
        problem = (
            f": {request.positive!r} is named as the positive class of {len(labels) or 'no'} "
            "classes"
        )
        expected = (
            f"{labels[0]} or {labels[1]}" if len(labels) == 2 else "a target with two classes"
        )
        yield problem, expected, f"correct {option('positive')} or leave it out"


def local_file(location: str, target: str | int = "") -> tuple[Path, str, str | int]:
    """Return the file of a path, `openml:ID` or `sklearn:NAME`, its title and its target column."""
    kind, _, name = location.partition(":")
    if kind not in ("openml", "sklearn") or not name:
        # A link keeps its own name, as that of the file behind it may lack an ending.
        path = Path(os.path.expanduser(location))
        return Path(os.path.realpath(path.parent), path.name), path.name, target
    if kind == "openml" and not _OPENML_ID.fullmatch(name):
        problem = f"{location!r} is not an OpenML data set"
        raise ElmbenchError(
            problem, expected="openml: and a number", next_step="look it up on openml.org"
        )
    folder = cache_folder() / "own"
    release = version("scikit-learn") if kind == "sklearn" else ""
    # The file of OpenML's data has the named target as `target`, that of scikit-learn's has every
    # column.
    named, column = (str(target), "target") if kind == "openml" else ("", target or "target")
    stem = "-".join(filter(None, (kind, slug(name), slug(named) if named else "", release)))
    for cached in (folder / f"{stem}.parquet", folder / f"{stem}.npz"):
        if cached.is_file():
            return cached, location, column
    if kind == "sklearn":
        return _write_bunch(name, folder, stem), location, column
    source = OpenMLSource(kind="openml", id=int(name), target=named or None)
    with fetch_job(0) as job:
        table = source.fetch(replace(job, layout=FileOptions()))["all"]
    return table.write(folder, stem), location, column


def _write_bunch(name: str, folder: Path, stem: str) -> Path:
    """Write a data set of scikit-learn, with the names of its classes, to a file; return the
    file.
    """
    from sklearn import datasets

    names = ["breast_cancer", "diabetes", "digits", "iris", "wine"]
    if name not in names:
        raise unknown_name("scikit-learn data set", name, names, "elmbench compare sklearn:wine")
    bunch = getattr(datasets, f"load_{name}")(as_frame=True)
    labels = (
        np.asarray(bunch.target_names)[bunch.target] if "target_names" in bunch else bunch.target
    )
    return write_arrays(bunch.data, labels, folder, stem, {})


def write_arrays(
    X: Any, y: Any, folder: Path, name: str, extra: dict[str, Any], target: str = "target"
) -> Path:
    """Write the rows and targets of a program, and `extra` columns such as groups, to a file;
    return the file.

    `target`: the name of the column of targets.
    """
    import pandas as pd

    X = X if sp.issparse(X) else to_frame(X)
    targets = np.asarray(y)
    if targets.dtype.kind not in "biuf":
        targets = targets.astype(str).astype(object)
    if targets.ndim != 1 or targets.shape[0] != X.shape[0]:
        problem = f"X has {X.shape[0]} rows and y the shape {targets.shape}"
        raise ElmbenchError(problem, expected="one target a row", next_step="give y as a vector")
    if sp.issparse(X):
        if extra:
            raise ElmbenchError(
                "sparse rows with groups or an order",
                expected="dense rows",
                next_step="X.toarray()",
            )
        return Table.of_numbers(sp.csr_matrix(X, dtype=np.float64), targets, name).write(
            folder, name
        )
    for column, times in Counter(X).items():
        if times > 1:
            problem = f"X has the column {column!r} twice"
            raise ElmbenchError(
                problem, expected="column names that differ", next_step=f"rename {column!r}"
            )
    path = folder / f"{name}.parquet"
    columns = {name: _storable(column) for name, column in X.items()}
    frame = pd.DataFrame(columns).assign(**extra, **{target: targets}).reset_index(drop=True)
    # A Parquet file has no numbers in another byte order or of more than 8 bytes.
    types = {
        name: dtype
        for name, dtype in frame.dtypes.items()
        if isinstance(dtype, np.dtype) and dtype.kind in "iuf"
    }
    with replace_file(path) as partial:
        frame.astype({name: f"{dtype.kind}8" for name, dtype in types.items()}).to_parquet(
            partial, index=False
        )
    return path


def _storable(column: Any) -> Any:
    """Return a column with values that a Parquet file holds; intervals, periods and mixed objects
    become words.
    """
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.rename_categories(str)
    if hasattr(column, "sparse"):
        return column.sparse.to_dense()
    return (
        column
        if column.dtype.kind in "biufM"
        else column.map(str, na_action="ignore").astype(object)
    )


def name_of(location: str) -> str:
    """Return the name of the data set of a path, `openml:ID` or `sklearn:NAME`."""
    kind, _, name = location.partition(":")
    if kind in ("openml", "sklearn") and name:
        return f"{kind}-{short_slug(name)}"
    return short_slug(_ENDING.sub("", Path(location).name))


def short_slug(name: str) -> str:
    """Return the slug of the beginning of a name: a folder may be named after three of them."""
    return slug(name[:_LONGEST_NAME])


def slug(name: str) -> str:
    """Return a name in small letters, digits and hyphens, with a checksum if it has letters of
    other alphabets.
    """
    letters = normalize("NFKD", name.lower())
    words = (
        re.sub(r"[^a-z0-9]+", "-", letters.encode("ascii", "ignore").decode()).strip("-") or "data"
    )
    return (
        words
        if name.isascii()
        else f"{words}-{crc32(letters.encode('utf-8', 'surrogatepass')):08x}"
    )

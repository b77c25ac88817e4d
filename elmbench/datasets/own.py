"""A data set of a user's own: what its file says of it, so that it can be asked for as those of the suite are."""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from elmbench.datasets.advice import warnings_of
from elmbench.datasets.dates import read_dates
from elmbench.datasets.prepare import category_order
from elmbench.datasets.receipts import write_table
from elmbench.datasets.sources import fetch_from
from elmbench.datasets.sources.fetching import FetchJob
from elmbench.datasets.sources.own_file import TARGETS, read_own, sorted_by, take_column, with_date_features
from elmbench.datasets.table import Table, label_words, to_numbers
from elmbench.errors import ElmbenchError, first_line, unknown_name
from elmbench.files import cache_folder, replacing
from elmbench.specs.datasets import DatasetSpec, Shape
from elmbench.specs.datasets.sources import FileSource, OpenMLSource

Task = Literal["classification", "regression"]
#: Whole numbers of no more different values are labels.
MOST_CLASSES = 20
#: A column of words of which more than this share differ from all others is a name, not a category.
MOST_DIFFERENT = 0.5
#: Characters of a data set's name: three of them are the name of a folder.
_LONGEST_NAME = 60
#: Endings of what is kept of rows from elsewhere: of dense ones, of sparse ones.
_FORMS = ("parquet", "npz")
#: How many bytes a file from elsewhere may have, once it is unpacked.
MOST_BYTES = 2_000_000_000
#: Floats tell whole numbers apart below this one.
_EXACT = 2**53
#: Sparse rows of no more values in all, zeros included, become dense.
DENSE_VALUES = 2e7


@dataclass(frozen=True)
class OwnData:
    """What a user says of a file.

    Attributes
    ----------
    place : str
        A path, `openml:ID` or `sklearn:NAME`.
    target : str
        The name of the target column; empty where it is to be found.
    task : {"classification", "regression"} or None
        None where it is to be found.
    groups, ordered_by : str or None
        Columns, see `DatasetSpec`.
    impute : bool
        Whether missing values are filled in.
    day_first : bool or None
        Settles whether the date 1/2/2023 is in February or in January, if no value does.
    drop : tuple of str
        Columns that are not features.
    words : tuple of str
        Columns of categories, even if they look like numbers.
    separator, decimal : str
        Of a text table; detected if empty.
    header : bool or None
        Whether line 1 of a text table holds the names of the columns; None to detect it.
    drop_missing_target : bool
        Whether rows without a target are left out.
    """

    place: str
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


def describe(own: OwnData, cache_dir: Path | str | None = None) -> DatasetSpec:
    """Return the spec of a user's own data; its notes say what was found.

    Raises
    ------
    ElmbenchError
        If it cannot be read or used: among others, if values are missing and are not to be filled in.
    """
    path, title, target = _file_of(own, cache_dir)
    source = FileSource(
        kind="file",
        path=str(path),
        target=target,
        drop=own.drop,
        words=own.words,
        separator=own.separator,
        decimal=own.decimal,
        header=own.header,
        drop_missing_target=own.drop_missing_target,
    )
    table = read_own(source, own.groups)
    how = f"the column {table.target_name!r}" if table.target_name else "the file's own target"
    source = source.model_copy(update={"target": table.target_name or target})
    ends = ""
    if own.ordered_by is not None:
        table, ends = sorted_by(table, own.ordered_by, own.day_first)
    if own.groups is not None:
        table, groups = take_column(table, own.groups)
        _check_groups(groups, own.groups, title)
    left_out = _left_out(table)
    dates = _dates_of(table, own)
    names = [*(name for group in left_out.values() for name in group if name not in dates)]
    source = source.model_copy(update={"drop": (*own.drop, *names), "dates": dates})
    table = table.columns(np.array([name not in names for name in table.names]))
    task = own.task or _task_of(table)
    of_rows = table.columns(np.array([name not in dates for name in table.names]))
    table = with_date_features(table, dates, own.day_first)
    _check(table, own, title, left_out)
    counts = Counter(label_words(table.target)) if task == "classification" else Counter()
    labels = sorted(counts, key=category_order)
    if task == "classification":
        _check_labels(table, labels, title)
    n, d = table.X.shape
    kind = f"classification, {len(labels)} classes" if labels else "regression"
    said = [f"{kind} of {how} ({'as asked' if own.task else 'found by its values'})"]
    if table.nominal:
        words = ", ".join(table.names[place] for place in sorted(table.nominal)[:8]) + ", ..." * (
            len(table.nominal) > 8
        )
        said.append(f"words, encoded on each training part: {words}")
    if ends:
        said.append(f"sorted by {own.ordered_by}, {ends}")
    if dates:
        said.append(f"dates, replaced by their parts and the days since the first: {', '.join(dates)}")
    for reason, group in left_out.items():
        if group := [name for name in group if name not in dates]:
            said.append(f"left out, as {reason}: {', '.join(group)}")
    warned = [] if sp.issparse(table.X) else [*warnings_of(of_rows, task, own.groups is not None)]
    if task == "regression" and not (own.task or target) and table.target_name not in ("", *TARGETS):
        text = f"the target is the last column, {table.target_name!r}, and its numbers are a regression's"
        warned.append(f"{text}: --target COLUMN or --task classification for another one")
    sparse = sp.issparse(table.X) and n * d > DENSE_VALUES
    outside = len({own.groups, own.ordered_by} - {None})
    missing = not sp.issparse(table.X) and bool(np.isnan(table.X).any())
    return DatasetSpec(
        name=_name_of(own.place),
        title=title,
        task=task,
        positive=(labels[-1],) if len(labels) == 2 else (),
        shape=Shape(instances=n, features=d, classes={label: counts[label] for label in labels} or None),
        sparse=sparse,
        by_fold=bool(table.nominal) or (missing and own.impute),
        groups=own.groups,
        ordered_by=own.ordered_by,
        day_first=own.day_first,
        sources=(source,),
        citation=f"data of the user's own; {outside} columns are no features" if outside else "data of the user's own",
        notes=("; ".join(said), *table.notes, *(f"warning: {text}" for text in warned)),
    )


def write_arrays(X: Any, y: Any, folder: Path, name: str, extra: dict[str, Any]) -> Path:
    """Write rows and targets that a program holds to a file, and return it.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n, d)
    y : array-like of shape (n,)
    extra : dict of str to array-like
        Further columns, such as groups.
    """
    import pandas as pd

    targets = np.asarray(y)
    if targets.ndim != 1 or targets.shape[0] != X.shape[0]:
        found = f"X has {X.shape[0]} rows and y the shape {targets.shape}"
        raise ElmbenchError(found, expected="one target a row", next_step="give y as a vector")
    if sp.issparse(X):
        if extra:
            raise ElmbenchError("sparse rows with groups or an order", expected="dense rows", next_step="X.toarray()")
        path = folder / f"{name}.npz"
        with replacing(path) as partial:
            write_table(Table.of_numbers(sp.csr_matrix(X, dtype=np.float64), _target_array(targets), name), partial)
        return path
    frame = X.copy() if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X)).rename(columns="x{}".format)
    frame.columns = [str(column) for column in frame.columns]
    path = folder / f"{name}.parquet"
    frame = frame.assign(**extra, target=targets).reset_index(drop=True)
    with replacing(path) as partial:
        frame.to_parquet(partial, index=False)
    return path


def _target_array(targets: Any) -> Any:
    return targets if targets.dtype.kind in "biuf" else targets.astype(str).astype(object)


def _file_of(own: OwnData, cache_dir: Path | str | None) -> tuple[Path, str, str]:
    """Return the file of a place, its title, and the target column; what is no file is brought into the cache."""
    kind, _, name = own.place.partition(":")
    if kind not in ("openml", "sklearn") or not name:
        try:
            path = Path(own.place).expanduser().resolve()
        except (OSError, RuntimeError, ValueError) as error:
            found = f"{own.place!r} leads nowhere: {first_line(error)}"
            raise ElmbenchError(found, expected="the path of a file", next_step="correct the path") from error
        return path, path.name, own.target
    folder = cache_folder(cache_dir) / "own"
    stem = f"{kind}-{slug(name)}{'-' + slug(own.target) if own.target else ''}"
    if kind == "sklearn":
        return _keep(_of_scikit_learn(name), folder, stem), f"sklearn:{name}", "target"
    if not name.isdigit():
        found = f"{own.place!r} is no data set of OpenML"
        raise ElmbenchError(found, expected="openml: and a number", next_step="look it up on openml.org")
    kept = [path for form in _FORMS if (path := folder / f"{stem}.{form}").is_file()]
    if not kept:
        source = OpenMLSource(kind="openml", id=int(name), target=own.target or None)
        parts = fetch_from(source, FetchJob(0, folder / "downloads", MOST_BYTES)).parts
        table = parts["all"]
        assert isinstance(table, Table)
        kept = [_keep(table, folder, stem)]
    return kept[0], f"openml:{name}", "target"


def _keep(table: Table, folder: Path, stem: str) -> Path:
    """Write rows into the cache, sparse ones as they are; return the file."""
    path = folder / f"{stem}.{_FORMS[sp.issparse(table.X)]}"
    with replacing(path) as partial:
        write_table(table, partial)
    return path


def _of_scikit_learn(name: str) -> Table:
    from sklearn import datasets

    load = getattr(datasets, f"load_{name}", None)
    known = ["breast_cancer", "diabetes", "digits", "iris", "wine"]
    if load is None or name not in known:
        raise unknown_name("data set of scikit-learn", name, known, "elmbench compare sklearn:wine")
    bunch = load()
    target = np.asarray(bunch.target)
    if "target_names" in bunch:
        target = np.asarray(bunch.target_names).astype(str).astype(object)[target]
    names = tuple(str(column) for column in bunch.feature_names)
    return Table(np.array(bunch.data, dtype=np.float64), names, target, f"scikit-learn {name}")


def _left_out(table: Table) -> dict[str, list[str]]:
    """Return the columns that cannot be features, by the reason."""
    empty, names = [], []
    if sp.issparse(table.X):
        return {}
    for place, name in enumerate(table.names):
        if place not in table.nominal:
            if np.isnan(table.X[:, place]).all():
                empty.append(name)
            continue
        known = [word for word in table.nominal[place] if word is not None]
        if not known:
            empty.append(name)
        elif len(known) > 20 and len(set(known)) > MOST_DIFFERENT * len(known):
            names.append(name)
    return {"all values are missing": empty, "nearly every row has a word of its own": names}


def _dates_of(table: Table, own: OwnData) -> tuple[str, ...]:
    """Return the columns that hold dates."""
    columns = [(table.names[place], words) for place, words in sorted(table.nominal.items())]
    return tuple(
        name for name, words in columns if name not in own.words and read_dates(words, own.day_first, name) is not None
    )


def _task_of(table: Table) -> Task:
    """Return the task of a target: words and few whole numbers are labels."""
    values = to_numbers(table.target)
    if values is None:
        return "classification"
    n_labels = len(set(label_words(table.target)))
    whole = bool((values == np.round(values)).all())
    return "classification" if whole and n_labels <= min(MOST_CLASSES, len(values) // 3) else "regression"


def _check_groups(groups: NDArray[Any], column: str, title: str) -> None:
    missing = sum(group is None or group != group for group in groups)
    if missing:
        found = f"{title}: the group is missing in {missing} of {len(groups)} rows"
        next_step = f"complete the column {column!r}, or remove these rows from the file"
        raise ElmbenchError(found, expected="a group in every row", next_step=next_step)


def _check_labels(table: Table, labels: list[str], title: str) -> None:
    if len(labels) < 2:
        found = f"{title}: every row has the target {labels[0] if labels else None!r}"
        raise ElmbenchError(found, expected="two classes or more", next_step="name another column with --target")
    if table.target.dtype.kind == "f" and np.abs(table.target).max() >= _EXACT:
        found = f"{title}: the file holds labels of {_EXACT} and more as floats, which cannot be told apart"
        raise ElmbenchError(found, expected="integers or words", next_step="write them as words, such as to CSV")


def _check(table: Table, own: OwnData, title: str, left_out: dict[str, list[str]]) -> None:
    for reason, names in left_out.items():
        if names and not table.X.shape[1]:
            found = f"{title}: no column is left: of {', '.join(names)} {reason}"
            raise ElmbenchError(found, expected="a column of numbers or categories", next_step="correct the file")
    if table.X.shape[0] < 20 or table.X.shape[1] < 1:
        found = f"{title} has {table.X.shape[0]} rows of {table.X.shape[1]} features"
        raise ElmbenchError(found, expected="20 rows and a feature", next_step="add rows or columns")
    without = sum(value is None or value != value for value in table.target)
    if without:
        found = f"{title}: the target is missing in {without} of {len(table.target)} rows"
        raise ElmbenchError(found, expected="a target in every row", next_step="--drop-missing-target leaves them out")
    if sp.issparse(table.X):
        return
    gone = np.isnan(table.X)
    for place, words in table.nominal.items():
        gone[:, place] = [word is None for word in words]
    if np.isinf(table.X).any():
        column = table.names[int(np.isinf(table.X).any(axis=0).argmax())]
        found = f"{title}: an infinite value in the column {column!r}"
        raise ElmbenchError(found, expected="finite numbers", next_step="correct the file")
    if gone.any() and not own.impute:
        columns = [table.names[place] for place in np.flatnonzero(gone.any(axis=0))]
        shown = ", ".join(columns[:5]) + (", ..." if len(columns) > 5 else "")
        raise ElmbenchError(
            f"{title}: {int(gone.sum())} values are missing, in {int(gone.any(axis=1).sum())} rows (columns {shown})",
            expected="a value in every field",
            next_step="--impute fills them in by what each training part has, or correct the file",
        )


def _name_of(place: str) -> str:
    kind, _, name = place.partition(":")
    if kind in ("openml", "sklearn") and name:
        return f"{kind}-{short_slug(name)}"
    name = Path(place).name
    stem = re.sub(r"(\.(csv|svm|libsvm|svmlight|arff|npz|parquet|pq))?(\.(gz|bz2|xz))?$", "", name, flags=re.I)
    return short_slug(stem)


def short_slug(name: str) -> str:
    """Return what `slug` makes of the beginning of a name, for a folder that may be named after three of them."""
    return slug(name[:_LONGEST_NAME])


def slug(name: str) -> str:
    """Return a name in small letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "data"

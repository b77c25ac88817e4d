"""A user's data: a path, data of OpenML or scikit-learn in the cache, or arrays of a program."""

import os
import re
from collections import Counter
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import normalize
from zlib import crc32

import numpy as np
import scipy.sparse as sp

from elmbench.datasets.sources.base import fetch_job
from elmbench.datasets.sources.openml import OpenMLSource
from elmbench.datasets.table import Table, to_frame
from elmbench.errors import ElmbenchError, unknown_name
from elmbench.files import cache_folder, expand_home, replace_file
from elmbench.specs.datasets import LearningTask, RowColumns
from elmbench.specs.datasets.source_registry import FileOptions

#: Longest name of a data set, in characters: three of them are the name of a folder.
_LONGEST_NAME = 60
#: More digits are no number of a data set, and perhaps too many for Python.
_OPENML_ID = re.compile(r"\d{1,18}", re.ASCII)
_ENDING = re.compile(
    r"(\.(csv|tsv|txt|data|xlsx|svm|libsvm|svmlight|arff|npz|parquet|pq))?(\.(gz|bz2|xz))?$",
    re.I,
)


class UserData(FileOptions, RowColumns):
    """A user's data, and the options that were given for them."""

    #: A path, `openml:ID` or `sklearn:NAME`.
    location: str
    #: By default, the location.
    title: str = ""
    #: The name or the position of the target column; detected if empty.
    target: str | int = ""
    #: None to detect it from the target.
    task: LearningTask | None = None
    #: False to reject missing values instead of imputing them.
    impute: bool = True
    #: The label of the positive class, for metrics such as precision; by default, the rare one, or
    #: else the last one.
    positive: str = ""

    def __init__(
        self,
        location: str,
        target: str | int = "",
        task: LearningTask | None = None,
        **options: Any,
    ) -> None:
        super().__init__(
            **options | {"location": location, "target": target, "task": task}
        )


#: The data sets that come with scikit-learn.
OF_SKLEARN = ("breast_cancer", "diabetes", "digits", "iris", "wine")


class LocalFile(NamedTuple):
    """The file of a user's data on this machine."""

    path: Path
    #: The name of the file, or the location if it is in the cache.
    title: str
    #: The name or the position of its target column; detected if empty.
    target: str | int


def local_file(location: str, target: str | int = "") -> LocalFile:
    """Return the file of a path, `openml:ID` or `sklearn:NAME`, with its title and target.

    `location`: the path or name. A named data set is fetched or written if it is not cached; the
    file of a path may not exist. `target`: the name of its target column, or for a path also the
    position; if empty, the target that the named data set declares, or "" for a path. Raises
    ElmbenchError for an unknown name, and for one such as `iris` that lacks `sklearn:`.
    """
    kind, _, name = location.partition(":")
    if kind == "openml" and name:
        return _openml_file(name, location, str(target))
    if kind == "sklearn" and name:
        return _sklearn_file(name, location, target)
    # A link keeps its own name, as that of the file behind it may lack an ending.
    path = expand_home(location)
    path = Path(os.path.realpath(path.parent), path.name)
    if path.parent == Path("/dev") or path.is_relative_to("/proc"):
        # A link such as /dev/stdin leads somewhere else in a worker process.
        real_path = Path(os.path.realpath(path))
        path = real_path if real_path.is_file() else path
    if location in OF_SKLEARN and not path.exists():
        raise ElmbenchError(
            f"{path} does not exist",
            expected="a file of rows",
            next_step=f"sklearn:{location} is the data set of scikit-learn",
        )
    return LocalFile(path, path.name, target)


def _openml_file(name: str, location: str, target: str) -> LocalFile:
    """Return the cached file of an OpenML data set, which is fetched on first use.

    `name`: its number as text; `location`: the same after `openml:`. The column `target` of the
    file holds the target column that the argument `target` names, by default OpenML's.
    """
    if not _OPENML_ID.fullmatch(name):
        raise ElmbenchError(
            f"{location!r} is not an OpenML data set",
            expected="openml: and a number",
            next_step="look it up on openml.org",
        )
    named = slug(target) if target else ""
    stem = "-".join(part for part in ("openml", slug(name), named) if part)
    folder = cache_folder() / "own"
    path = _cached_file(folder, stem)
    if path is None:
        source = OpenMLSource(kind="openml", id=int(name), target=target or None)
        with fetch_job(0) as job:
            table = source.fetch(replace(job, layout=FileOptions()))["all"]
        path = table.write(folder, stem)
    return LocalFile(path, location, "target")


def _sklearn_file(name: str, location: str, target: str | int) -> LocalFile:
    """Return the cached file of a data set of scikit-learn, written on first use.

    `name`: such as `wine`; `location`: the same after `sklearn:`. The column `target` of the file
    holds the default target; the argument `target` names another column as the target.
    """
    parts = ["sklearn", slug(name), version("scikit-learn")]
    stem = "-".join(filter(None, parts))
    folder = cache_folder() / "own"
    path = _cached_file(folder, stem)
    if path is None:
        path = _write_bunch(name, folder, stem)
    return LocalFile(path, location, target or "target")


def _cached_file(folder: Path, stem: str) -> Path | None:
    """Return the file `stem`.parquet, or else `stem`.npz, in a folder; None if there is none."""
    for ending in ("parquet", "npz"):
        path = folder / f"{stem}.{ending}"
        if path.is_file():
            return path
    return None


def _write_bunch(name: str, folder: Path, stem: str) -> Path:
    """Write the data set `name` of scikit-learn to `folder`/`stem`.parquet; return the path.

    Classes are written by their names. Raises ElmbenchError for an unknown name.
    """
    from sklearn import datasets

    if name not in OF_SKLEARN:
        names = [*OF_SKLEARN]
        raise unknown_name(
            "scikit-learn data set", name, names, "elmbench compare sklearn:wine"
        )
    bunch = getattr(datasets, f"load_{name}")(as_frame=True)
    labels = bunch.target
    if "target_names" in bunch:
        labels = np.asarray(bunch.target_names)[bunch.target]
    return write_arrays(bunch.data, labels, folder, stem, extra={})


def write_arrays(
    X: Any,
    y: Any,
    folder: Path,
    name: str,
    extra: dict[str, Any],
    target: str = "target",
) -> Path:
    """Write the rows and targets of a program to `folder`/`name`.parquet; return the path.

    Sparse rows become `folder`/`name`.npz. `X`: a data frame, an array, lists or sparse rows. `y`:
    a vector; targets that are neither numbers nor booleans become text, None becomes 'None'.
    `extra`: {name: array of shape (n,)} of further columns, such as groups. `target`: the name of
    the column of targets, not used for sparse rows. Both replace columns of `X` with their names.
    Raises ElmbenchError if the shapes do not fit, a column of `X` appears twice, or sparse rows
    have extra columns.
    """
    import pandas as pd

    X = X if sp.issparse(X) else to_frame(X)
    targets = np.asarray(y)
    if targets.dtype.kind not in "biuf":
        targets = targets.astype(str).astype(object)
    if targets.ndim != 1 or targets.shape[0] != X.shape[0]:
        problem = f"X has {X.shape[0]} rows and y the shape {targets.shape}"
        raise ElmbenchError(
            problem, expected="one target a row", next_step="give y as a vector"
        )
    if sp.issparse(X):
        if extra:
            raise ElmbenchError(
                "sparse rows with groups or an order",
                expected="dense rows",
                next_step="X.toarray()",
            )
        return Table.of_numbers(
            sp.csr_matrix(X, dtype=np.float64), targets, name
        ).write(folder, name)
    for column, times in Counter(X).items():
        if times > 1:
            problem = f"X has the column {column!r} twice"
            raise ElmbenchError(
                problem,
                expected="column names that differ",
                next_step=f"rename {column!r}",
            )
    path = folder / f"{name}.parquet"
    columns = {name: _storable(column) for name, column in X.items()}
    frame = (
        pd.DataFrame(columns)
        .assign(**extra, **{target: targets})
        .reset_index(drop=True)
    )
    # A Parquet file has no numbers in another byte order or of more than 8 bytes.
    types = {
        name: dtype
        for name, dtype in frame.dtypes.items()
        if isinstance(dtype, np.dtype) and dtype.kind in "iuf"
    }
    with replace_file(path) as partial:
        frame.astype(
            {name: f"{dtype.kind}8" for name, dtype in types.items()}
        ).to_parquet(partial, index=False)
    return path


def _storable(column: Any) -> Any:
    """Return a column of pandas with values that a Parquet file holds.

    Numbers, booleans, dates and missing values stay, sparse columns become dense, and all other
    values become text; a categorical column stays one, with categories of text.
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
    """Return a short name for the data of a location, in small letters, digits and hyphens.

    It is the name of a file without its endings, or `openml-ID` or `sklearn-NAME`.
    """
    kind, _, name = location.partition(":")
    if kind in ("openml", "sklearn") and name:
        return f"{kind}-{short_slug(name)}"
    return short_slug(_ENDING.sub("", Path(location).name))


def short_slug(name: str) -> str:
    """Return the slug of the first 60 characters of a name, so that a folder can have three."""
    return slug(name[:_LONGEST_NAME])


def slug(name: str) -> str:
    """Return a name in small letters, digits and hyphens; 'data' if nothing is left.

    A name with other than ASCII characters ends in a checksum.
    """
    letters = normalize("NFKD", name.lower())
    words = (
        re.sub(r"[^a-z0-9]+", "-", letters.encode("ascii", "ignore").decode()).strip(
            "-"
        )
        or "data"
    )
    return (
        words
        if name.isascii()
        else f"{words}-{crc32(letters.encode('utf-8', 'surrogatepass')):08x}"
    )

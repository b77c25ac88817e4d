"""Local files of a user's data: a path, data of OpenML or scikit-learn in the cache, or arrays of a program."""

import re
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from elmbench.datasets.download import FetchJob
from elmbench.datasets.fetch import download_folder
from elmbench.datasets.sources.openml import OpenMLSource
from elmbench.datasets.table import Table
from elmbench.errors import ElmbenchError, first_line, unknown_name
from elmbench.files import cache_folder, replacing

#: Longest name of a data set, in characters: three of them are the name of a folder.
_LONGEST_NAME = 60
_ENDING = re.compile(r"(\.(csv|tsv|txt|xlsx|svm|libsvm|svmlight|arff|npz|parquet|pq))?(\.(gz|bz2|xz))?$", re.I)
#: Largest download, in bytes of the unpacked content.
MOST_BYTES = 2_000_000_000


def local_file(location: str, target: str = "") -> tuple[Path, str, str]:
    """Return the file of a path, `openml:ID` or `sklearn:NAME`, its title and the name of its target column."""
    kind, _, name = location.partition(":")
    if kind not in ("openml", "sklearn") or not name:
        try:
            path = Path(location).expanduser().resolve()
        except (OSError, RuntimeError, ValueError) as error:
            problem = f"{location!r} is not a path: {first_line(error)}"
            raise ElmbenchError(problem, expected="the path of a file", next_step="correct the path") from error
        return path, path.name, target
    if kind == "openml" and not name.isdigit():
        problem = f"{location!r} is not an OpenML data set"
        raise ElmbenchError(problem, expected="openml: and a number", next_step="look it up on openml.org")
    folder = cache_folder() / "own"
    release = version("scikit-learn") if kind == "sklearn" else ""
    stem = "-".join(filter(None, (kind, slug(name), target and slug(target), release)))
    for cached in (folder / f"{stem}.parquet", folder / f"{stem}.npz"):
        if cached.is_file():
            return cached, location, "target"
    if kind == "sklearn":
        return _write_bunch(name, folder, stem), location, "target"
    source = OpenMLSource(kind="openml", id=int(name), target=target or None)
    with download_folder() as downloads:
        table = source.fetch(FetchJob(0, MOST_BYTES, downloads))["all"]
    return table.write(folder, stem), location, "target"


def _write_bunch(name: str, folder: Path, stem: str) -> Path:
    """Write a data set of scikit-learn, with the names of its classes, to a file; return the file."""
    from sklearn import datasets

    known = ["breast_cancer", "diabetes", "digits", "iris", "wine"]
    if name not in known:
        raise unknown_name("data set of scikit-learn", name, known, "elmbench compare sklearn:wine")
    bunch = getattr(datasets, f"load_{name}")(as_frame=True)
    labels = np.asarray(bunch.target_names)[bunch.target] if "target_names" in bunch else bunch.target
    return write_arrays(bunch.data, labels, folder, stem, {})


def write_arrays(X: Any, y: Any, folder: Path, name: str, extra: dict[str, Any]) -> Path:
    """Write the rows and targets of a program, and `extra` columns such as groups, to a file; return the file."""
    import pandas as pd

    targets = np.asarray(y)
    if targets.ndim != 1 or targets.shape[0] != X.shape[0]:
        problem = f"X has {X.shape[0]} rows and y the shape {targets.shape}"
        raise ElmbenchError(problem, expected="one target a row", next_step="give y as a vector")
    if sp.issparse(X):
        if extra:
            raise ElmbenchError("sparse rows with groups or an order", expected="dense rows", next_step="X.toarray()")
        if targets.dtype.kind not in "biuf":
            targets = targets.astype(str).astype(object)
        return Table.of_numbers(sp.csr_matrix(X, dtype=np.float64), targets, name).write(folder, name)
    if X.ndim > 2:
        raise ElmbenchError(f"X has the shape {X.shape}", expected="rows and columns", next_step="reshape X")
    frame = X.copy() if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X)).rename(columns="x{}".format)
    frame.columns = [str(column) for column in frame.columns]
    for column, times in Counter([*frame.columns, *extra, "target"]).items():
        if times > 1:
            problem = f"X has the column {column!r} {'and y has that name' if column == 'target' else 'twice'}"
            raise ElmbenchError(problem, expected="column names that differ", next_step=f"rename {column!r}")
    path = folder / f"{name}.parquet"
    frame = frame.assign(**extra, target=targets).reset_index(drop=True)
    with replacing(path) as partial:
        frame.to_parquet(partial, index=False)
    return path


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
    """Return a name in small letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "data"

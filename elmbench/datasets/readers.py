"""Read one file of rows: CSV, LIBSVM text, ARFF, NumPy archive or Parquet, compressed or not.

A reader never guesses: what it cannot read raises, naming the file, what is found and what is expected. No pickle
is ever loaded.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from elmbench.datasets.columns import columns_of, csv_columns, to_table
from elmbench.datasets.table import Table
from elmbench.errors import ElmbenchError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def read_table(path: Path, targets: tuple[str, ...], n_features: int | None, sparse: bool) -> Table:
    """Read a file of rows.

    Parameters
    ----------
    path : Path
        `<name>.<csv|svm|arff|npz|parquet>`, perhaps followed by `.gz`, `.bz2` or `.xz`.
    targets : tuple of str
        Names that the target column may have, likeliest first.
    n_features : int or None
        Width of the rows of a LIBSVM file, whose last features may be zero everywhere.
    sparse : bool
        Whether the rows of a LIBSVM file are kept sparse.

    Returns
    -------
    Table

    Raises
    ------
    ElmbenchError
        If the file is empty, cut short, unreadable, or has no target, two columns of one name, or no row.
    """
    parts = path.name.split(".")
    form = parts[-2] if f".{parts[-1]}" in _OPENERS else parts[-1]
    try:
        if form == "svm":
            return _read_svm(path, n_features, sparse)
        content = _content(path)
        if form == "csv":
            return _read_csv(content, path, targets)
        if form == "arff":
            return _read_arff(content, path, targets)
        if form == "npz":
            return _read_npz(content, path)
        return _read_parquet(content, path, targets)
    except ElmbenchError:
        raise
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error, lzma.LZMAError) as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: Exception) -> ElmbenchError:
    """Build the error for a file that is there but cannot be read."""
    said = str(error).strip().splitlines()
    return ElmbenchError(
        f"{path} cannot be read: {said[0] if said else type(error).__name__}",
        expected="a complete file in the format that its name says",
        next_step=f"replace {path.name}, or remove it to use the next source",
    )


def _content(path: Path) -> bytes:
    with _OPENERS.get(path.suffix, open)(path, "rb") as stream:
        content: bytes = stream.read()
    if not content.strip():
        raise _empty(path)
    return content


def _empty(path: Path) -> ElmbenchError:
    return ElmbenchError(
        f"{path} is empty",
        expected="rows of data",
        next_step=f"replace {path.name}, or remove it to use the next source",
    )


def _read_csv(content: bytes, path: Path, targets: tuple[str, ...]) -> Table:
    import csv

    head = content.split(b"\n", 1)[0].decode("utf-8-sig")
    names = [name.strip() for name in next(csv.reader([head.rstrip("\r")]), [])]
    target = target_position(names, targets, path)
    return to_table(names, csv_columns(content, len(names), header=True, text=(target,)), target, str(path))


def _read_svm(path: Path, n_features: int | None, sparse: bool) -> Table:
    from sklearn.datasets import load_svmlight_file

    if path.stat().st_size == 0:
        raise _empty(path)
    with _OPENERS.get(path.suffix, open)(path, "rb") as stream:  # line by line: the text may not fit into memory
        X, y = load_svmlight_file(stream, n_features=n_features, zero_based=False)
    X = X if sparse else X.toarray()
    return Table(X, tuple(f"x{place}" for place in range(X.shape[1])), y, str(path))


def _read_arff(content: bytes, path: Path, targets: tuple[str, ...]) -> Table:
    import arff  # type: ignore[import-untyped]  # liac-arff, which the openml client reads ARFF with

    try:
        parsed = arff.loads(content.decode("utf-8"))
    except arff.ArffException as error:
        raise unreadable(path, error) from error
    names = [str(name) for name, _ in parsed["attributes"]]
    target = target_position(names, targets, path)
    rows = parsed["data"]
    columns = [np.array([row[place] for row in rows], dtype=object) for place in range(len(names))]
    for place, (_, kind) in enumerate(parsed["attributes"]):
        if not isinstance(kind, list) and kind.upper() in ("NUMERIC", "REAL", "INTEGER"):
            columns[place] = columns[place].astype(np.float64)
    return to_table(names, columns, target, str(path))


def _read_npz(content: bytes, path: Path) -> Table:
    # The keys: ours (X, y), Ding's (data, label), pictures (images, target), and SciPy's for sparse rows.
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        keys = set(arrays.files)
        label = next((key for key in ("target", "y", "label") if key in keys), None)
        if label is None:
            raise ElmbenchError(
                f"{path} holds the arrays {', '.join(sorted(keys))}: no target",
                expected="an array `target` (or y, label) beside `X` (or data, images)",
                next_step=f"add it to {path.name}",
            )
        target = np.asarray(arrays[label])
        X: Any
        if {"data", "indices", "indptr", "shape"} <= keys:
            X = sp.csr_matrix((arrays["data"], arrays["indices"], arrays["indptr"]), shape=tuple(arrays["shape"]))
            X = X.astype(np.float64)
        else:
            key = next((key for key in ("X", "data", "images") if key in keys), None)
            if key is None:
                raise ElmbenchError(
                    f"{path} holds the arrays {', '.join(sorted(keys))}: no features",
                    expected="an array `X` (or data, images) beside the target",
                    next_step=f"add it to {path.name}",
                )
            X = np.asarray(arrays[key], dtype=np.float64)
            X = X.reshape(len(X), -1)
    if X.shape[0] != len(target):
        raise ElmbenchError(
            f"{path} holds {X.shape[0]} rows of features and {len(target)} targets",
            expected="one target a row",
            next_step=f"replace {path.name}",
        )
    target = target.ravel().astype(str).astype(object) if target.dtype.kind in "USO" else target.ravel().astype(float)
    return Table(X, tuple(f"x{place}" for place in range(X.shape[1])), target, str(path))


def _read_parquet(content: bytes, path: Path, targets: tuple[str, ...]) -> Table:
    import pyarrow.parquet as pq

    table = pq.ParquetFile(io.BytesIO(content), pre_buffer=False).read(use_threads=False)
    names = [str(name) for name in table.column_names]
    target = target_position(names, targets, path)
    frame = table.to_pandas(use_threads=False, ignore_metadata=True)
    return to_table(names, columns_of(frame), target, str(path))


def target_position(names: list[str], targets: tuple[str, ...], path: Path) -> int:
    """Return the position of the target column.

    Raises
    ------
    ElmbenchError
        If a name stands twice, or no column is the target.
    """
    seen: dict[str, int] = {}
    for place, name in enumerate(names):
        if name in seen:
            raise ElmbenchError(
                f"{path}: the column {name!r} stands twice (columns {seen[name] + 1} and {place + 1})",
                expected="column names that differ",
                next_step=f"rename or remove one of the two in {path.name}",
            )
        seen[name] = place
    for target in targets:
        if target in seen:
            return seen[target]
    shown = ", ".join(names[:5]) + (f", ... ({len(names)} columns)" if len(names) > 5 else "")
    raise ElmbenchError(
        f"{path} has no target column: its columns are {shown}",
        expected=" or ".join(repr(target) for target in targets),
        next_step=f"name the target column {targets[0]!r} in the header of {path.name}",
    )

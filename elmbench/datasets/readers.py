"""Read one file of rows: CSV, LIBSVM text, ARFF, NumPy archive or Parquet, compressed or not.

A reader never guesses: of what it cannot read it says the file, what is found and what is expected. No pickle is ever
loaded.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from elmbench.datasets.table import Table
from elmbench.errors import ElmbenchError

if TYPE_CHECKING:
    import pandas as pd

_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_MISSING = ["?", "", "NaN", "nan", "NA"]
#: A function from the names of the columns to that of the target.
ChooseTarget = Callable[[list[str]], str]
_QUOTED = re.compile(rb'"[^"]*"')


def read_table(path: Path, choose: ChooseTarget, n_features: int | None = None, sparse: bool = False) -> Table:
    """Read a file of rows, `<name>.<csv|svm|arff|npz|parquet>`, perhaps followed by `.gz`, `.bz2` or `.xz`.

    Of the rows of a LIBSVM file, `n_features` is the width, as the last features may be zero everywhere, and `sparse`
    whether they are kept sparse.

    Raises
    ------
    ElmbenchError
        If the file is empty, cut short, unreadable, or has no target, two columns of one name, or no row.
    """
    form = path.name.removesuffix(compression_of(path)).rsplit(".", 1)[-1]
    try:
        with _OPENERS.get(path.suffix, open)(path, "rb") as stream:
            if form == "svm":
                return _read_svm(stream, path, n_features, sparse)
            content: bytes = stream.read()
        if not content.strip():
            raise _bad(path, "is empty", "rows of data")
        if form == "npz":
            return _read_npz(content, path)
        return {"csv": _read_csv, "arff": _read_arff, "parquet": _read_parquet}[form](content, path, choose)
    except ElmbenchError:
        raise
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error, lzma.LZMAError) as error:
        raise _unreadable(path, error) from error


def compression_of(path: PurePath) -> str:
    """Return the ending that says how a file is compressed, or nothing."""
    return path.suffix if path.suffix in _OPENERS else ""


def _unreadable(path: Path, error: Exception) -> ElmbenchError:
    said = str(error).strip().splitlines() or [type(error).__name__]
    return _bad(path, f"cannot be read: {said[0]}", "a complete file in the format that its name says")


def _bad(path: Path, found: str, expected: str) -> ElmbenchError:
    next_step = f"replace {path.name}, or remove it to use the next source"
    return ElmbenchError(f"{path} {found}", expected=expected, next_step=next_step)


def _read_csv(content: bytes, path: Path, choose: ChooseTarget) -> Table:
    head = content.split(b"\n", 1)[0].decode("utf-8-sig")
    names = [name.strip() for name in next(csv.reader([head.rstrip("\r")]), [])]
    target = _target_position(names, choose, path)
    columns = csv_columns(content, len(names), header=True, text=(target,))
    return Table.of_columns(names, columns, target, str(path))


def csv_columns(content: bytes, n_columns: int, *, header: bool, text: tuple[int, ...] = ()) -> list[NDArray[Any]]:
    """Return the columns of a CSV text: float64 (NaN where missing), or str (None where missing).

    Parameters
    ----------
    content : bytes
        UTF-8. A missing value is an empty field, `?`, `NA`, `NaN` or `nan`.
    n_columns : int
        Number of fields that every line must have.
    text : tuple of int
        Positions of columns that are kept as they are spelled, even if every field is a number.

    Raises
    ------
    ValueError
        If a line has another number of fields, or the text is not UTF-8.
    """
    import pandas as pd

    # pandas fills up short lines without a word, so the fields are counted here.
    for number, line in enumerate(io.BytesIO(content), start=1):
        n_fields = _QUOTED.sub(b"", line).count(b",") + 1
        if n_fields != n_columns and line.strip():
            raise ValueError(f"expected {n_columns} fields, found {n_fields} in line {number}")
    # Not by Arrow's reader or Arrow's strings: threads of that reader outlive the interpreter, and abort its exit.
    with pd.option_context("mode.string_storage", "python"):
        frame = pd.read_csv(
            io.BytesIO(content),
            header=0 if header else None,
            names=list(range(n_columns)),
            index_col=False,
            dtype=dict.fromkeys(text, object),
            na_values=_MISSING,
            keep_default_na=False,
            engine="c",
            low_memory=False,
        )
        return _columns_of(frame)


def _columns_of(frame: pd.DataFrame) -> list[NDArray[Any]]:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    arrays: list[NDArray[Any]] = []
    for _, column in frame.items():
        if is_numeric_dtype(column) and not is_bool_dtype(column):
            arrays.append(np.asarray(column, dtype=np.float64))
        else:
            missing = column.isna()
            words = [None if gone else _word(value) for value, gone in zip(column, missing, strict=True)]
            arrays.append(np.array(words, dtype=object))
    return arrays


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool | np.bool_) else str(value)


def _read_svm(stream: Any, path: Path, n_features: int | None, sparse: bool) -> Table:
    from sklearn.datasets import load_svmlight_file

    if path.stat().st_size == 0:
        raise _bad(path, "is empty", "rows of data")
    # From the stream, line by line: the text may not fit into memory.
    X, y = load_svmlight_file(stream, n_features=n_features, zero_based=False)
    return Table.of_numbers(X if sparse else X.toarray(), y, str(path))


def _read_arff(content: bytes, path: Path, choose: ChooseTarget) -> Table:
    import arff  # type: ignore[import-untyped]  # liac-arff, which the openml client reads ARFF with

    try:
        parsed = arff.loads(content.decode("utf-8"))
    except arff.ArffException as error:
        raise _unreadable(path, error) from error
    names = [str(name) for name, _ in parsed["attributes"]]
    target = _target_position(names, choose, path)
    columns = [np.array([row[place] for row in parsed["data"]], dtype=object) for place in range(len(names))]
    for place, (_, kind) in enumerate(parsed["attributes"]):
        if not isinstance(kind, list) and kind.upper() in ("NUMERIC", "REAL", "INTEGER"):
            columns[place] = columns[place].astype(np.float64)
    return Table.of_columns(names, columns, target, str(path))


def _read_npz(content: bytes, path: Path) -> Table:
    # The names: ours (X, target), Ding's (data, label), pictures (images, target), and SciPy's for sparse rows.
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        target = _array(arrays, path, "target", ("target", "y", "label"))
        X: Any
        if {"data", "indices", "indptr", "shape"} <= set(arrays.files):
            X = sp.csr_matrix((arrays["data"], arrays["indices"], arrays["indptr"]), shape=tuple(arrays["shape"]))
            X = X.astype(np.float64)
        else:
            X = _array(arrays, path, "features", ("X", "data", "images")).astype(np.float64)
            X = X.reshape(len(X), -1)
    if X.shape[0] != len(target):
        raise _bad(path, f"holds {X.shape[0]} rows of features and {len(target)} targets", "one target a row")
    target = target.ravel().astype(str).astype(object) if target.dtype.kind in "USO" else target.ravel().astype(float)
    return Table.of_numbers(X, target, str(path))


def _array(arrays: Any, path: Path, what: str, names: tuple[str, ...]) -> NDArray[Any]:
    found = next((name for name in names if name in arrays.files), None)
    if found is None:
        held = ", ".join(sorted(arrays.files))
        raise _bad(path, f"holds the arrays {held}: no {what}", f"an array {' or '.join(names)}")
    return np.asarray(arrays[found])


def _read_parquet(content: bytes, path: Path, choose: ChooseTarget) -> Table:
    import pyarrow.parquet as pq

    table = pq.ParquetFile(io.BytesIO(content), pre_buffer=False).read(use_threads=False)
    names = [str(name) for name in table.column_names]
    target = _target_position(names, choose, path)
    frame = table.to_pandas(use_threads=False, ignore_metadata=True)
    return Table.of_columns(names, _columns_of(frame), target, str(path))


def _target_position(names: list[str], choose: ChooseTarget, path: Path) -> int:
    seen: dict[str, int] = {}
    for place, name in enumerate(names):
        if name in seen:
            found = f"{path}: the column {name!r} stands twice (columns {seen[name] + 1} and {place + 1})"
            next_step = f"rename or remove one of the two in {path.name}"
            raise ElmbenchError(found, expected="column names that differ", next_step=next_step)
        seen[name] = place
    return seen[choose(names)]

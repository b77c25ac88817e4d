"""Readers of files of rows: CSV, LIBSVM text, ARFF, NumPy archives, Parquet and Excel, compressed
or not.

An error names the file, the problem and the expectation. No pickle is loaded.
"""

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from math import prod
from pathlib import Path, PurePath
from typing import IO, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from elmbench.datasets.table import MOST_COLUMNS, Table, few, target_of
from elmbench.datasets.unpacking import check_members, check_unpacked_size, read_limited
from elmbench.datasets.user_files.arff_files import read_arff, read_sparse_arff
from elmbench.datasets.user_files.parquet_columns import read_columns
from elmbench.datasets.user_files.text_files import (
    PUBLIC,
    ChooseTarget,
    read_text_table,
)
from elmbench.datasets.user_files.workbooks import read_workbook
from elmbench.errors import ElmbenchError, first_line
from elmbench.specs.datasets.source_registry import FileOptions

_OPENERS: dict[str, Callable[..., Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
}
#: Name of the column of query ids of LIBSVM text.
QUERY = "qid"
#: Parts of SciPy's sparse matrices.
_CSR = ("data", "indices", "indptr", "shape")


def read_table(
    path: Path,
    choose: ChooseTarget,
    *,
    form: str = "",
    layout: FileOptions = PUBLIC,
    n_features: int | None = None,
    sparse: bool = False,
    has_target: bool = True,
) -> Table:
    """Read a file of rows; raise ElmbenchError if it is empty, damaged or not a regular file.

    `choose`: takes the names of the columns, and returns that of the target; not for LIBSVM files
    and NumPy archives, whose target is fixed. `form`: the format, one of csv, svm, npz, xlsx,
    parquet, arff and sparse-arff; by default, that of the file's ending. `layout`: options of a
    user's file. In a public file (the default), columns of number text are numbers, even those that
    an ARFF or Parquet file declares as categories. `n_features`: width of the rows of a LIBSVM
    file, whose last features may be zero everywhere. `sparse`: True to keep rows of a LIBSVM file
    or of a NumPy archive sparse; else they become dense. Rows of sparse ARFF stay sparse in any
    case. `has_target`: False for a NumPy archive of new rows, which may lack the target.
    """
    form = form or form_of(path)
    try:
        if not path.is_file():
            raise ValueError("it is not a regular file")
        compression = compression_of(path).lower()
        with _OPENERS.get(compression, open)(path, "rb") as stream:
            if form == "svm" and path.stat().st_size:
                # Public sparse data sets may be larger than the limit, and than the memory.
                is_limited = compression and layout is not PUBLIC
                rows = io.BytesIO(read_limited(stream, path)) if is_limited else stream
                table = _read_svm(rows, path, n_features, layout)
                return table if sparse else replace(table, X=table.X.toarray())
            is_text = form in ("csv", "arff", "sparse-arff")
            content = read_limited(stream, path, is_text=is_text)
        if not content or content.isspace():
            raise bad_file(path, "is empty", "rows of data")
        if form == "npz":
            _check_arrays(content, path)
            return read_arrays(content, str(path), sparse, has_target)
        readers = {
            "csv": read_text_table, "xlsx": read_workbook, "parquet": _read_parquet,
            "arff": read_arff, "sparse-arff": read_sparse_arff,
        }  # fmt: skip
        return readers[form](content, path, choose, layout)
    except ElmbenchError:
        raise
    except Exception as error:  # a parser may fail in any way on a damaged file
        message = first_line(error)
        if isinstance(error, LookupError | TypeError | AttributeError | StopIteration):
            message = f"its parser fails ({type(error).__name__}: {message})"
        expected = "a complete file in the format that its name says"
        raise bad_file(path, f"cannot be read: {message}", expected) from error


def compression_of(path: PurePath) -> str:
    """Return the ending of a compressed file, such as .gz, in its own case; else an empty text."""
    return path.suffix if path.suffix.lower() in _OPENERS else ""


def form_of(path: PurePath) -> str:
    """Return the ending of a file in lower case and without its point, such as 'csv' for a.CSV.gz.

    An ending of a compression is skipped. Without an ending, it is the whole name.
    """
    return path.name.removesuffix(compression_of(path)).rpartition(".")[2].lower()


def bad_file(path: Path, problem: str, expected: str) -> ElmbenchError:
    """Return the error for a file that must be corrected or replaced.

    `problem`: what is wrong, as the end of a sentence that begins with the path. `expected`: the
    right content.
    """
    return ElmbenchError(
        f"{path} {problem}",
        expected=expected,
        next_step=f"correct or replace {path.name}",
    )


def _read_svm(
    stream: IO[bytes], path: Path, n_features: int | None, layout: FileOptions
) -> Table:
    """Return the table of LIBSVM text with sparse rows, and features numbered from 1 in the text.

    `n_features`: width of the rows; None for the largest number in the text. Query ids are the
    first column if `layout.words` names `qid`; else a note warns of them. Raises ElmbenchError for
    a feature 0, or if only some rows have a query id. `stream`: the unpacked text. `path`: the
    file, for the table and errors.
    """
    from sklearn.datasets import load_svmlight_file

    # From the stream, because the text may not fit into memory.
    try:
        X, y, queries = load_svmlight_file(
            stream, n_features=n_features, zero_based=False, query_id=True
        )
    except ValueError as error:
        if "Invalid index 0" not in str(error):
            raise
        problem = f"{path} numbers its features from 0"
        next_step = "write it by dump_svmlight_file(zero_based=False)"
        raise ElmbenchError(
            problem, expected="numbers from 1, as LIBSVM has them", next_step=next_step
        ) from error
    table = Table.of_numbers(X, y, str(path))
    if QUERY not in layout.words:
        note = f"warning: query ids are not read, so each row counts by itself: --groups {QUERY}"
        return table.add_remark(note) if len(queries) else table
    if len(queries) != len(y):
        raise ElmbenchError(
            f"{path} has a query id ({QUERY}) in {len(queries)} of {len(y)} rows",
            expected=f"{QUERY}:NUMBER after the target of every row",
            next_step=f"correct {path.name}, or leave {QUERY} out",
        )
    return replace(
        table,
        X=sp.hstack([queries[:, None], X], format="csr"),
        names=(QUERY, *table.names),
    )


def _check_arrays(content: bytes, path: Path) -> None:
    """Raise ElmbenchError if the arrays of a NumPy archive are too large, as bytes or as floats.

    Also if one has more than `MOST_COLUMNS` columns. Content that is no archive is left to its
    reader.
    """
    check_members(content, path, "write it by numpy.savez, without compression")
    if not zipfile.is_zipfile(io.BytesIO(content)):
        return
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        shapes = [_shape_of(archive, name) for name in archive.namelist()]
    n_values = sum(prod(shape) for shape in shapes)
    check_unpacked_size(8 * n_values, content, path, "leave columns or rows out")
    n_columns = max((prod(shape[1:]) for shape in shapes if len(shape) > 1), default=0)
    if n_columns > MOST_COLUMNS:
        raise ElmbenchError(
            f"{path} has {n_columns:,} columns",
            expected=f"at most {MOST_COLUMNS:,} columns",
            next_step="save wider data as LIBSVM text (.svm), or as the parts of a CSR matrix",
        )


def _shape_of(archive: zipfile.ZipFile, name: str) -> tuple[int, ...]:
    """Return the shape of the array `name` of an archive by its header; () for another member."""
    with archive.open(name) as stream, suppress(ValueError):
        version = np.lib.format.read_magic(stream)
        if version == (1, 0):
            return np.lib.format.read_array_header_1_0(stream)[0]
        if version == (2, 0):
            return np.lib.format.read_array_header_2_0(stream)[0]
    return ()


def read_arrays(
    content: bytes, origin: str, sparse: bool = True, has_target: bool = True
) -> Table:
    """Return the table of a NumPy archive of features, dense or as the parts of a CSR matrix.

    The names of its arrays are ours (X, target), Ding's (data, label), those of pictures (images,
    target), or SciPy's for sparse rows (data, indices, indptr, shape). A row with more dimensions,
    such as a picture, is flattened. `origin`: of the rows, for the table. `sparse`: True to keep
    sparse rows sparse; else they become dense. `has_target`: False to ignore the target, which new
    rows lack; all targets are then None. Raises ValueError if a part is missing or does not fit the
    others. `content`: of the archive.
    """
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            arrays = {name: np.asarray(file[name]) for name in file.files}
    except (
        ValueError,
        TypeError,
    ) as error:  # other content, a single array, or objects, which are pickled
        raise ValueError(
            "it is not an archive of arrays of numbers or words"
        ) from error
    if arrays.keys() >= set(_CSR):
        X: Any = _sparse_matrix(arrays)
        X = X if sparse else X.toarray()
    else:
        X = _named_array(arrays, "features", ("X", "data", "images")).astype(np.float64)
        if X.ndim < 2:
            raise ValueError(
                f"its features are an array of {X.ndim} dimensions, not of rows and columns"
            )
        X = X.reshape(len(X), -1)
    if not has_target:
        return Table.of_numbers(X, np.full(X.shape[0], None), origin)
    target = _named_array(arrays, "target", ("target", "y", "label"))
    if target.ndim == 0 or target.size != len(target) or X.shape[0] != len(target):
        raise ValueError(
            f"it holds {X.shape[0]} rows of features and {target.size} targets, not one target a "
            "row"
        )
    target = target.ravel()
    if target.dtype.kind in "US":
        target = target.astype(str).astype(object)
    elif target.dtype.kind in "bf":
        target = target.astype(np.float64)
    return Table.of_numbers(X, target, origin)


def _named_array(
    arrays: dict[str, NDArray[Any]], what: str, names: tuple[str, ...]
) -> NDArray[Any]:
    """Return the first of the arrays that has one of `names`, which are tried in order.

    `arrays`: {name: array}. `what`: its meaning in the message. Raises ValueError if there is none,
    or if it does not hold numbers or words.
    """
    name = next((name for name in names if name in arrays), None)
    if name is None:
        contents = ", ".join(sorted(arrays))
        raise ValueError(
            f"its arrays are {contents}: no {what}, which must be called {' or '.join(names)}"
        )
    if arrays[name].dtype.kind not in "biufUS":
        raise ValueError(
            f"its array {name} holds {arrays[name].dtype}, not numbers or words"
        )
    return arrays[name]


def _sparse_matrix(arrays: dict[str, NDArray[Any]]) -> sp.csr_matrix:
    """Return the CSR matrix, with sorted indices, of the arrays of an NPZ file.

    `arrays`: {name: array} with `data`, `indices`, `indptr` and `shape`. Raises ValueError if they
    do not make a valid matrix.
    """
    data, *indices, shape = (arrays[name] for name in _CSR)
    if data.dtype.kind not in "biuf" or any(
        part.dtype.kind not in "iu" for part in (*indices, shape)
    ):
        raise ValueError(
            "the indices of its sparse matrix are not integers, or its values are not numbers"
        )
    X = sp.csr_matrix((data.astype(np.float64), *indices), shape=tuple(map(int, shape)))
    X.check_format(full_check=True)  # compiled code trusts the indices
    X.sort_indices()
    if not X.has_canonical_format:
        raise ValueError("a row of its sparse matrix has two values of one feature")
    return X


def _read_parquet(
    content: bytes, path: Path, choose: ChooseTarget, layout: FileOptions
) -> Table:
    """Return the table of a Parquet file; an index of pandas without a name is left out.

    `choose`: takes the names of the columns and returns that of the target. Columns of lists or
    records become empty, with a remark. Raises ElmbenchError if the target or, in a public file,
    any column holds them, or the file is too large.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pq.ParquetFile(io.BytesIO(content), pre_buffer=False)
    n_values = file.metadata.num_rows * file.metadata.num_columns
    check_unpacked_size(
        8 * n_values, content, path, "leave columns out, or save it as CSV"
    )
    nested = {
        field.name: field.type
        for field in file.schema_arrow
        if pa.types.is_nested(field.type)
    }
    metadata = file.schema_arrow.pandas_metadata or {}
    # The index of pandas is stored last; without a name, it is left out.
    names = [
        name
        for name in file.schema_arrow.names
        if not name.startswith("__index_level_")
    ]
    target = target_of(
        sorted(names, key=lambda name: name not in metadata.get("index_columns", ())),
        choose,
        path,
    )
    for name in nested if layout is PUBLIC else nested.keys() & {target}:
        raise bad_file(
            path,
            f"holds {nested[name]} in the column {name!r}",
            "a number or a word in each field",
        )
    table = read_columns(content, path, [name for name in names if name not in nested])
    frame = table.to_pandas(
        use_threads=False, ignore_metadata=True, integer_object_nulls=True
    )
    frame[[*nested]] = None
    if layout is PUBLIC:
        return Table.of_frame(frame, target, str(path))
    categories = {
        column["name"]
        for column in metadata.get("columns", ())
        if column["pandas_type"] == "categorical"
    }
    frame = frame.astype(dict.fromkeys(categories & {*frame}, "category"))
    rows = Table.of_frame(frame, target, str(path), layout.words)
    return (
        rows.add_remark(
            f"columns of lists or records are not read: {few([*nested], 8)}"
        )
        if nested
        else rows
    )

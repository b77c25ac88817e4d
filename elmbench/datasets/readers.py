"""Read one file of rows: CSV, LIBSVM text, ARFF, NumPy archive or Parquet, compressed or not.

A reader never guesses: an error names the file, what was found and what was expected. No pickle is loaded, and no more
is unpacked than the data set can hold.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import math
import re
import stat
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path, PurePath
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elmbench.datasets.npz import read_npz
from elmbench.datasets.table import BYTES_OF_A_NAME, Table, check_size
from elmbench.errors import ElmbenchError, first_line

if TYPE_CHECKING:
    import pandas as pd

_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
#: Bytes that are read at a time.
_PIECE = 1 << 24
_MISSING = ["?", "", "NaN", "nan", "NA"]
#: A function from the names of the columns to that of the target.
ChooseTarget = Callable[[list[str]], str]
#: A function from the content of a file, its path, the choice of the target and the most bytes to the rows.
Reader = Callable[[bytes, Path, ChooseTarget, int | None], Table]
#: A parser takes seconds for so many columns, and minutes for ten times as many.
_MOST_COLUMNS = 100_000
_QUOTED = re.compile(rb'"[^"]*"')
_KINDS = {
    stat.S_ISDIR: "directory",
    stat.S_ISFIFO: "pipe",
    stat.S_ISSOCK: "socket",
    stat.S_ISCHR: "device",
    stat.S_ISBLK: "device",
}


def read_table(
    path: Path,
    choose: ChooseTarget,
    n_features: int | None = None,
    sparse: bool = False,
    most: int | None = None,
    form: str = "",
    readers: Mapping[str, Reader] | None = None,
) -> Table:
    """Read a file of rows, `<name>.<csv|svm|arff|npz|parquet>`, perhaps followed by `.gz`, `.bz2` or `.xz`.

    Parameters
    ----------
    path : Path
    choose : callable
        Chooses the target column.
    n_features : int, optional
        Width of the rows of a LIBSVM file: their last features may be zero everywhere.
    sparse : bool
        Whether rows of a LIBSVM file stay sparse.
    most : int, optional
        Largest number of bytes of the unpacked content.
    form : str
        Format, if the name does not end in it.
    readers : mapping of str to callable, optional
        Readers of formats in place of, or beside, the usual ones.

    Raises
    ------
    ElmbenchError
        If the file is empty, cut short, unreadable, too large or not a regular file, or has no target, no row, or two
        columns of one name.
    """
    form = form or path.name.removesuffix(compression_of(path)).rsplit(".", 1)[-1]
    try:
        _check_kind(path)
        with _OPENERS.get(path.suffix, open)(path, "rb") as stream:
            if form == "svm":
                return _read_svm(stream, path, n_features, sparse, most)
            content = read_at_most(stream, most)
        check_size(len(content), most)
        if not content.strip():
            raise _bad(path, "is empty", "rows of data")
        if form == "npz":
            return read_npz(content, str(path), most, sparse)
        return ({"csv": _read_csv, "arff": read_arff, "parquet": read_parquet} | dict(readers or {}))[form](
            content, path, choose, most
        )
    except ElmbenchError:
        raise
    except Exception as error:  # a parser of a damaged file fails in any way that it likes
        raise _unreadable(path, error) from error


def unpacked_bytes(n_rows: int, n_features: int, sparse: bool) -> int:
    """Return the largest size of a file of rows: 32 bytes for each value, and a megabyte."""
    # No sparse set of the papers has more than 4,000 values in a row on average.
    return 1_000_000 + 32 * n_rows * (1 + (min(n_features, 8_000) if sparse else n_features))


def _check_kind(path: Path) -> None:
    """Raise ValueError unless a path is a regular file: a read of a pipe or a device may never end."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode):
        kind = next((name for is_kind, name in _KINDS.items() if is_kind(mode)), "special file")
        raise ValueError(f"it is a {kind}, not a regular file")


def read_at_most(stream: IO[bytes], most: int | None) -> bytes:
    """Return the content of a stream, cut after `most` + 1 bytes.

    It is read in pieces: a stream reserves memory for all bytes that it is asked for.
    """
    pieces: list[bytes] = []
    left = math.inf if most is None else most + 1
    while left > 0 and (piece := stream.read(int(min(left, _PIECE)))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def compression_of(path: PurePath) -> str:
    """Return the ending of a compressed file, such as .gz; nothing if it is not compressed."""
    return path.suffix if path.suffix in _OPENERS else ""


def _unreadable(path: Path, error: Exception) -> ElmbenchError:
    said = first_line(error)
    if isinstance(error, LookupError | TypeError | AttributeError | StopIteration):
        # A parser that had not thought of this says something of itself, not of the file.
        said = f"its parser gives up ({type(error).__name__}: {said})"
    return _bad(path, f"cannot be read: {said}", "a complete file in the format that its name says")


def _bad(path: Path, found: str, expected: str) -> ElmbenchError:
    return ElmbenchError(f"{path} {found}", expected=expected, next_step=f"correct or replace {path.name}")


def _read_csv(content: bytes, path: Path, choose: ChooseTarget, most: int | None) -> Table:
    if b"\r" in content.replace(b"\r\n", b""):
        raise ValueError("it has line ends of CR alone, not LF or CR LF")
    head = content.split(b"\n", 1)[0].decode("utf-8-sig")
    names = [name.strip() for name in next(csv.reader([head.rstrip("\r")]), [])]
    check_size(BYTES_OF_A_NAME * len(names), most)
    target = target_position(names, choose, path)
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
        return columns_of(frame)


def columns_of(frame: pd.DataFrame) -> list[NDArray[Any]]:
    """Return the columns of a data frame: integers, floats, or objects that are str, None if missing."""
    from pandas.api.types import is_bool_dtype, is_integer_dtype, is_numeric_dtype

    arrays: list[NDArray[Any]] = []
    for _, column in frame.items():
        if is_integer_dtype(column):
            arrays.append(np.asarray(column))
        elif is_numeric_dtype(column) and not is_bool_dtype(column):
            arrays.append(np.asarray(column, dtype=np.float64))
        else:
            missing = column.isna()
            words = [None if gone else _word(value) for value, gone in zip(column, missing, strict=True)]
            arrays.append(np.array(words, dtype=object))
    return arrays


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool | np.bool_) else str(value)


class _Lines:
    """The lines of a stream of at most `most` bytes."""

    def __init__(self, stream: Any, most: int | None) -> None:
        self.read = stream.read
        self._stream = stream
        self._most = most

    def __iter__(self) -> Iterator[bytes]:
        n_bytes = 0
        longest = -1 if self._most is None else self._most + 1
        while line := self._stream.readline(longest):
            n_bytes += len(line)
            check_size(n_bytes, self._most)
            yield line


def _read_svm(stream: Any, path: Path, n_features: int | None, sparse: bool, most: int | None) -> Table:
    from sklearn.datasets import load_svmlight_file

    if path.stat().st_size == 0:
        raise _bad(path, "is empty", "rows of data")
    # From the stream, line by line: the text may not fit into memory.
    X, y = load_svmlight_file(_Lines(stream, most), n_features=n_features, zero_based=False)
    check_size(BYTES_OF_A_NAME * X.shape[1], most)
    if not sparse:
        check_size(8 * X.shape[0] * X.shape[1], most)
        X = X.toarray()
    return Table.of_numbers(X, y, str(path))


def read_arff(content: bytes, path: Path, choose: ChooseTarget, most: int | None, words: Collection[str] = ()) -> Table:
    """Read ARFF; the columns that `words` names are words in any case."""
    import arff  # type: ignore[import-untyped]  # liac-arff, which the openml client reads ARFF with

    parsed = arff.loads(content.decode("utf-8"))
    names = [str(name) for name, _ in parsed["attributes"]]
    target = target_position(names, choose, path)
    columns = [np.array([row[place] for row in parsed["data"]], dtype=object) for place in range(len(names))]
    for place, (_, kind) in enumerate(parsed["attributes"]):
        if not isinstance(kind, list) and kind.upper() in ("NUMERIC", "REAL", "INTEGER"):
            columns[place] = columns[place].astype(np.float64)
    return Table.of_columns(names, columns, target, str(path), words)


def read_parquet(
    content: bytes, path: Path, choose: ChooseTarget, most: int | None, words: Collection[str] = ()
) -> Table:
    """Read Parquet; the columns that `words` names are words in any case."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pq.ParquetFile(io.BytesIO(content), pre_buffer=False)
    # A column of one repeated value takes next to no room in the file, whatever its length.
    check_size(8 * file.metadata.num_rows * file.metadata.num_columns, most)
    for field in file.schema_arrow:
        if pa.types.is_nested(field.type):
            raise _bad(path, f"holds {field.type} in the column {field.name!r}", "a number or a word in each field")
    table = file.read(use_threads=False)
    names = [str(name) for name in table.column_names]
    target = target_position(names, choose, path)
    frame = table.to_pandas(use_threads=False, ignore_metadata=True, integer_object_nulls=True)
    return Table.of_columns(names, columns_of(frame), target, str(path), words)


def target_position(names: list[str], choose: ChooseTarget, path: Path) -> int:
    """Return the position of the target; raise ElmbenchError for a name given twice, or too many columns."""
    if len(names) > _MOST_COLUMNS:
        found, expected = f"{path} has {len(names):,} columns", f"at most {_MOST_COLUMNS:,} columns"
        raise ElmbenchError(found, expected=expected, next_step="save wider data as LIBSVM text (.svm)")
    seen: dict[str, int] = {}
    for place, name in enumerate(names):
        if name in seen:
            found = f"{path}: the column {name!r} appears twice (columns {seen[name] + 1} and {place + 1})"
            next_step = f"rename or remove one of the two in {path.name}"
            raise ElmbenchError(found, expected="column names that differ", next_step=next_step)
        seen[name] = place
    return seen[choose(names)]

"""Columns of a Parquet file, whose words are measured before they fill the memory."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from elmbench.datasets.unpacking import check_unpacked_size

if TYPE_CHECKING:
    import pyarrow as pa

_NEXT_STEP = "leave columns of long words out"


def read_columns(content: bytes, path: Path, names: list[str]) -> pa.Table:
    """Read the columns `names` of a Parquet file; raise ElmbenchError if their data are too large.

    A file may hold a word once that thousands of rows repeat. Words are therefore read as
    dictionaries, and become words of each row if all of them fit into memory.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pq.ParquetFile(io.BytesIO(content), pre_buffer=False)
    groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
    check_unpacked_size(
        sum(group.total_byte_size for group in groups), content, path, _NEXT_STEP
    )
    schema = file.schema_arrow  # made anew at each access
    words = {name for name in names if _holds_words(schema.field(name).type)}
    file = pq.ParquetFile(
        io.BytesIO(content), pre_buffer=False, read_dictionary=sorted(words)
    )
    table = file.read(names, use_threads=False)
    check_unpacked_size(
        sum(map(_n_bytes_of_words, table.columns)), content, path, _NEXT_STEP
    )
    columns = [
        _without_dictionary(column) if name in words else column
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]
    return pa.table(columns, names=table.column_names)


def _holds_words(kind: pa.DataType) -> bool:
    """Return True for a type of text or bytes."""
    import pyarrow as pa

    texts = (pa.string(), pa.large_string(), pa.string_view())
    return kind in (*texts, pa.binary(), pa.large_binary(), pa.binary_view())


def _n_bytes_of_words(column: pa.ChunkedArray) -> int:
    """Return the bytes of the words of all rows of a dictionary column, repeats included.

    0 for any other column.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    is_dictionary = pa.types.is_dictionary(column.type)
    if not is_dictionary or not _holds_words(column.type.value_type):
        return 0
    lengths = (
        pc.binary_length(part.dictionary).take(part.indices) for part in column.chunks
    )
    return sum(pc.sum(part).as_py() or 0 for part in lengths)


def _without_dictionary(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a dictionary column of words as a plain column of large strings or large bytes."""
    import pyarrow as pa

    is_binary = pa.types.is_binary(column.type.value_type)
    return column.cast(pa.large_binary() if is_binary else pa.large_string())

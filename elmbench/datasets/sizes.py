"""Limits on the sizes of unpacked data."""

from typing import IO

#: Bytes that are read at a time.
_PIECE = 1 << 24
#: Least bytes of a column's name: sparse rows may claim more columns than fit into memory.
_BYTES_OF_A_NAME = 32


def check_size(n_bytes: int, most: int | None) -> None:
    """Raise ValueError if something takes more than the `most` bytes that the data set can have."""
    if most is not None and n_bytes > most:
        raise ValueError(f"it holds more than the {most / 1e6:.1f} MB that the data set can have")


def check_columns(n_columns: int, most: int | None) -> None:
    """Raise ValueError if the names of so many columns take more than `most` bytes."""
    check_size(_BYTES_OF_A_NAME * n_columns, most)


def unpacked_bytes(n_rows: int, n_features: int, sparse: bool) -> int:
    """Return the largest size of a file of rows: 32 bytes for each value, and a megabyte."""
    # No sparse data set of the papers has more than 4,000 values a row on average.
    return 1_000_000 + 32 * n_rows * (1 + (min(n_features, 8_000) if sparse else n_features))


def read_at_most(stream: IO[bytes], most: int | None) -> bytes:
    """Return the content of a stream; raise ValueError if it has more than `most` bytes.

    It is read in pieces, because a stream reserves memory for all requested bytes.
    """
    pieces: list[bytes] = []
    n_bytes = 0
    while piece := stream.read(_PIECE if most is None else min(_PIECE, most + 1)):
        n_bytes += len(piece)
        check_size(n_bytes, most)
        pieces.append(piece)
    return b"".join(pieces)

"""Limits of what a compressed file may unpack to, so that a small file cannot fill the memory, and
of a line of text.
"""

import io
import zipfile
from pathlib import Path
from typing import IO

from elmbench.errors import ElmbenchError

#: A file may unpack to this number of bytes, or to this multiple of its size.
MOST_BYTES = 2**30
MOST_RATIO = 20
#: A line of text may have this number of bytes.
MOST_LINE_BYTES = 2**26
_BLOCK = 2**20


def read_limited(stream: IO[bytes], path: Path, *, is_text: bool = False) -> bytes:
    """Return the whole content of a stream, the unpacked file at `path`.

    Raises ElmbenchError if it unpacks to more than 1 GiB and 20 times the size of the file, or,
    with `is_text`, if a line is longer than 64 MiB.
    """
    content = io.BytesIO()
    size = path.stat().st_size
    line_start = 0
    while block := stream.read(_BLOCK):
        last_break = max(block.rfind(b"\n"), block.rfind(b"\r"))
        if last_break >= 0:
            line_start = content.tell() + last_break
        content.write(block)
        if content.tell() > _limit(size):
            raise _too_large(path, size, "unpack it, and name the unpacked file")
        if is_text and content.tell() - line_start > MOST_LINE_BYTES:
            raise ElmbenchError(
                f"{path} has a line of more than {MOST_LINE_BYTES:,} bytes",
                expected=f"lines of at most {MOST_LINE_BYTES:,} bytes",
                next_step=f"correct or replace {path.name}",
            )
    return content.getvalue()


def check_members(content: bytes, path: Path, next_step: str) -> None:
    """Raise ElmbenchError if the members of a zip archive, such as a workbook, are too large.

    Other content is left to its reader. `path`: the file; `next_step`: the advice, for the error.
    """
    if not zipfile.is_zipfile(io.BytesIO(content)):
        return
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        check_unpacked_size(
            sum(member.file_size for member in archive.infolist()),
            content,
            path,
            next_step,
        )


def check_unpacked_size(
    n_bytes: int, content: bytes, path: Path, next_step: str
) -> None:
    """Raise ElmbenchError if a file of this `content` unpacks to too many bytes, `n_bytes`.

    `path`: the file; `next_step`: the advice, for the error.
    """
    if n_bytes > _limit(len(content)):
        raise _too_large(path, len(content), next_step)


def _limit(size: int) -> int:
    """Return the most bytes that a file of `size` bytes may unpack to: 1 GiB, or 20 times its size.

    The larger of both counts.
    """
    return max(MOST_BYTES, MOST_RATIO * size)


def _too_large(path: Path, size: int, next_step: str) -> ElmbenchError:
    """Return the error for a file that unpacks to too many bytes.

    `size`: of the file, in bytes. `next_step`: the advice.
    """
    return ElmbenchError(
        f"{path} has {size:,} bytes and unpacks to more than {_limit(size):,}",
        expected=f"at most {MOST_BYTES:,} bytes, or {MOST_RATIO} times the size of the file",
        next_step=next_step,
    )
